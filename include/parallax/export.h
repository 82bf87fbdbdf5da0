/**
 * @file parallax/export.h
 * @brief Compiler marks used by the other headers. Nothing here is meant to be called.
 */
#ifndef PARALLAX_EXPORT_H
#define PARALLAX_EXPORT_H

#if defined(__GNUC__)
#define PLX_PUBLIC_SYMBOL __attribute__((visibility("default")))
#define PLX_NODISCARD __attribute__((warn_unused_result))
#define PLX_PRINTF(text, first) __attribute__((__format__(__printf__, text, first)))
#else
#define PLX_PUBLIC_SYMBOL
#define PLX_NODISCARD
#define PLX_PRINTF(text, first)
#endif

/** Marks what the shared library exports; everything else is hidden. */
#define PLX_API PLX_PUBLIC_SYMBOL

/** Marks a function that may still change or go in any version. A call of it is a compiler warning unless the program
 * defines PLX_ALLOW_EXPERIMENTAL before including Parallax. */
#if defined(__GNUC__) && !defined(PLX_ALLOW_EXPERIMENTAL)
#define PLX_EXPERIMENTAL __attribute__((deprecated("experimental: define PLX_ALLOW_EXPERIMENTAL to use it")))
#else
#define PLX_EXPERIMENTAL
#endif

/** Marks a function that a later version will drop, with what to use instead. A call of it is a compiler warning unless
 * the program defines PLX_NO_DEPRECATION before including Parallax. */
#if defined(__GNUC__) && !defined(PLX_NO_DEPRECATION)
#define PLX_DEPRECATED(instead) __attribute__((deprecated(instead)))
#else
#define PLX_DEPRECATED(instead)
#endif

#endif
