/*
 * Members of a model in its file.
 */
#ifndef PLX_API_PORTFOLIO_FILE_H
#define PLX_API_PORTFOLIO_FILE_H

#include "api/model_file.h"
#include "api/portfolio_impl.h"

/* `body` writes one model; `load` reads one. */
typedef plx_status (*plx__member_load_fn)(plx_model **out, const struct plx__h5 *f);

plx_status plx__portfolio_save(const struct plx__h5 *f, const plx__portfolio *p, plx__model_body_fn body);
/* The classes and arrays of `whole` were read. */
plx_status plx__portfolio_load(plx_model *whole, const struct plx__h5 *f, plx__member_load_fn load);

#endif
