/*
 * The document stands between the tags of the page's data element; escapes in it are JSON's own.
 */
#include <string.h>

#include "core/file.h"
#include "report/figures.h"

static const char opening[] = "<script type=\"application/json\" id=\"data\">", closing[] = "</script>";

plx_status plx__page_read(json_t **out, plx_context *ctx, const char *path)
{
    plx__bytes bytes;
    PLX_TRY(plx__bytes_read(&bytes, ctx, path));
    const char *begin = memmem(bytes.data, bytes.size, opening, sizeof opening - 1), *end = NULL;
    plx_status st = PLX_OK;
    if (begin) {
        begin += sizeof opening - 1;
        end = memmem(begin, (size_t)(bytes.data + bytes.size - begin), closing, sizeof closing - 1);
    }
    if (end) st = plx__json_read_text(out, ctx, path, begin, (size_t)(end - begin));
    else st = plx__fail(ctx, PLX_E_FORMAT, "%s: not a report, the page that the library writes", path);
    plx__bytes_free(&bytes, ctx);
    return st;
}
