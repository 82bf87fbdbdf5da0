/**
 * @file parallax/status.h
 * @brief What a call that can fail returns.
 *
 * A status says who must act; the sentence that names the culprit and the
 * remedy is in the context: plx_context_error().
 */
#ifndef PARALLAX_STATUS_H
#define PARALLAX_STATUS_H

#include "parallax/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Outcome of every call that can fail. Values are stable; new ones are appended. */
typedef enum plx_status {
    PLX_OK = 0,
    PLX_E_NOMEM = -1,       /**< out of memory, over the memory limit, or a size overflowed */
    PLX_E_ARG = -2,         /**< an argument or parameter value is not allowed */
    PLX_E_DATA = -3,        /**< the data cannot be used (shape, NaN, labels) */
    PLX_E_NUMERIC = -4,     /**< the arithmetic broke down */
    PLX_E_CANCELLED = -5,   /**< a callback or plx_context_cancel() asked to stop */
    PLX_E_IO = -6,          /**< a file could not be opened, read or written */
    PLX_E_FORMAT = -7,      /**< a file is not what it should be */
    PLX_E_UNSUPPORTED = -8, /**< a valid request this method or build cannot serve */
    PLX_E_INTERNAL = -9,    /**< a fault of the library itself: please report it */
    PLX_E_DEVICE = -10      /**< the device asked for is not there, or failed */
} plx_status;

/**
 * Short name of a status, e.g. "PLX_E_DATA".
 *
 * Errors: none; "PLX_E_?" for an unknown value.
 * Ownership: a static text.
 * Threads: any.
 * Cost: O(1).
 */
PLX_API const char *plx_status_name(plx_status status);

#ifdef __cplusplus
}
#endif
#endif
