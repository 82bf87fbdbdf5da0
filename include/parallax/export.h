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

#endif
