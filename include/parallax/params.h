/**
 * @file parallax/params.h
 * @brief Settings of a method, checked when they are set.
 *
 * Lifetime: owned by the caller, freed with plx_params_destroy(). plx_fit() copies what it needs.
 * Threads: one at a time while setting; read-only afterwards.
 */
#ifndef PARALLAX_PARAMS_H
#define PARALLAX_PARAMS_H

#include "parallax/context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct plx_params plx_params;

/**
 * @name Settings
 *
 * Threads: as the context passed in; one thread at a time while setting.
 */

/**
 * All defaults of a method.
 *
 * @param[out] out    NULL on failure.
 * @retval PLX_E_ARG  an argument is NULL, or there is no such method: the message names the nearest
 *
 * Ownership: the caller's; free it with plx_params_destroy() before the context.
 * Cost: O(1).
 */
PLX_API PLX_NODISCARD plx_status plx_params_create(plx_params **out, plx_context *ctx, const char *method);

/**
 * Free settings. NULL is allowed.
 *
 * Errors: none.
 * Ownership: texts read from the settings go with them.
 * Cost: O(1).
 */
PLX_API void plx_params_destroy(plx_params *params);

/**
 * Set `key` (or `key.VIEW`, for one view) from text. The last setting of a key wins.
 *
 * @retval PLX_E_ARG  an argument is NULL, unknown key (the message names the nearest), a value that cannot be read or is
 *                    out of range
 *
 * Ownership: key and value are copied.
 * Cost: O(parameters of the method + settings made so far).
 */
PLX_API PLX_NODISCARD plx_status plx_params_set(plx_params *params, plx_context *ctx, const char *key,
                                                const char *value);

/**
 * The same with a number: plx_params_set() of its shortest exact text.
 *
 * @retval PLX_E_ARG  as plx_params_set()
 *
 * Ownership: the key is copied.
 * Cost: as plx_params_set().
 */
PLX_API PLX_NODISCARD plx_status plx_params_set_real(plx_params *params, plx_context *ctx, const char *key,
                                                     double value);

/**
 * The same with a whole number.
 *
 * @retval PLX_E_ARG  as plx_params_set()
 *
 * Ownership: the key is copied.
 * Cost: as plx_params_set().
 */
PLX_API PLX_NODISCARD plx_status plx_params_set_int(plx_params *params, plx_context *ctx, const char *key,
                                                    int64_t value);

/**
 * Value of a key as text, default included.
 *
 * Errors: none; NULL for an unknown key or NULL.
 * Ownership: borrowed from the settings until the key is set again.
 * Threads: any number, once all is set.
 * Cost: O(parameters of the method + settings made so far).
 */
PLX_API const char *plx_params_get(const plx_params *params, const char *key);

#ifdef __cplusplus
}
#endif
#endif
