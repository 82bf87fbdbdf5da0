/*
 * JSON has <, > and & in texts only, where an escape means the same; so escaping the printed document is enough.
 */
#include "report/page.h"

#include <string.h>

#include "core/file.h"

static const char marker[] = "@@PARALLAX_REPORT_DATA@@";

/* Is one of U+2028 and U+2029 at p? Both are E2 80 A8 and A9 in UTF-8. */
static bool is_separator(const char *p)
{
    return (unsigned char)p[0] == 0xe2 && (unsigned char)p[1] == 0x80 && ((unsigned char)p[2] | 1) == 0xa9;
}

void plx__page_escape(FILE *to, const char *json)
{
    for (const char *p = json; *p; p++) {
        if (*p == '<' || *p == '>' || *p == '&') fprintf(to, "\\u%04x", (unsigned char)*p);
        else if (is_separator(p)) {
            fprintf(to, "\\u20%02x", (unsigned char)p[2] - 0x80);
            p += 2;
        } else fputc(*p, to);
    }
}

plx_status plx__page_write(plx_context *ctx, const json_t *data, const char *path)
{
    size_t size = 0;
    const char *page = plx__page_bytes(&size), *json = NULL, *at = NULL;
    plx__outfile out;
    if (size == 0)
        PLX_FAIL(ctx, PLX_E_UNSUPPORTED,
                 "this build has no HTML report; install Node 18 or newer with npm and build again with "
                 "-DPLX_REPORT=ON");
    at = memmem(page, size, marker, sizeof marker - 1);
    if (!at) PLX_FAIL(ctx, PLX_E_INTERNAL, "the page of the report has no place for data");
    PLX_TRY(plx__json_print_line(&json, plx__scratch(ctx), data));
    PLX_TRY(plx__outfile_open(&out, ctx, path));
    fwrite(page, 1, (size_t)(at - page), out.file);
    plx__page_escape(out.file, json);
    at += sizeof marker - 1;
    fwrite(at, 1, (size_t)(page + size - at), out.file);
    return plx__outfile_commit(&out, ctx);
}
