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

/** All defaults of a method. @retval PLX_E_ARG unknown method: the message names the nearest */
PLX_API PLX_NODISCARD plx_status plx_params_create(plx_params **out, plx_context *ctx, const char *method);

/** NULL is allowed. */
PLX_API void plx_params_destroy(plx_params *params);

/**
 * Set `key` (or `key.VIEW`, for one view) from text. The last setting of a key wins.
 * @retval PLX_E_ARG  unknown key (the message names the nearest), a value that cannot be read or is out of range
 */
PLX_API PLX_NODISCARD plx_status plx_params_set(plx_params *params, plx_context *ctx, const char *key,
                                                const char *value);
PLX_API PLX_NODISCARD plx_status plx_params_set_real(plx_params *params, plx_context *ctx, const char *key,
                                                     double value);
PLX_API PLX_NODISCARD plx_status plx_params_set_int(plx_params *params, plx_context *ctx, const char *key,
                                                    int64_t value);

/** Value of a key as text, default included; NULL: unknown key. Borrowed. */
PLX_API const char *plx_params_get(const plx_params *params, const char *key);

#ifdef __cplusplus
}
#endif
#endif
