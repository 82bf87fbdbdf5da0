/*
 * The HTML file: the bundled page with the data of a report in the place of its marker.
 */
#ifndef PLX_REPORT_PAGE_H
#define PLX_REPORT_PAGE_H

#include <stdio.h>

#include "core/json.h"

/* The bundled page; size 0: this build has none. */
const char *plx__page_bytes(size_t *size);

/* JSON inside an element of a page: <, >, & and the two line separators of Unicode are written as \uNNNN, so that
 * nothing in it can end the element or begin another. */
void plx__page_escape(FILE *to, const char *json);

/* PLX_E_UNSUPPORTED where this build has no page. */
plx_status plx__page_write(plx_context *ctx, const json_t *data, const char *path);

#endif
