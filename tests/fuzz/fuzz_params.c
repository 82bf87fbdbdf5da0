/*
 * The reader of settings. The first byte chooses the method, every further line is key=value. What was accepted must be
 * kept word for word, be copied, and be refused or accepted again the same way.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "api/model_impl.h"
#include "methods/registry.h"

static void set_line(plx_params *p, plx_context *ctx, char *line)
{
    char *value = strchr(line, '=');
    if (!value) return;
    *value++ = '\0';
    plx_status st = plx_params_set(p, ctx, line, value);
    FUZZ_CHECK(st == PLX_OK || st == PLX_E_ARG || st == PLX_E_NOMEM);
    FUZZ_CHECK((st == PLX_OK) == !plx_context_error(ctx)[0]);
    FUZZ_CHECK(!strchr(plx_context_error(ctx), '\n'));
    if (st != PLX_OK) return;
    const char *kept = plx_params_get(p, line);
    FUZZ_CHECK(kept && strcmp(kept, value) == 0);
    FUZZ_CHECK(plx_params_set(p, ctx, line, value) == PLX_OK);
}

/* A model made with the settings holds the same texts. */
static void copy_settings(const plx_params *p, plx_context *ctx, const plx__method *method)
{
    plx_model *m = NULL;
    plx__call_begin(ctx);
    plx_status st = plx__call_end(ctx, plx__model_create(&m, ctx, method, p));
    FUZZ_CHECK(st == PLX_OK || st == PLX_E_NOMEM);
    for (const plx__setting *s = p->first; m && s; s = s->next) {
        char key[512];
        snprintf(key, sizeof key, "%s%s%.400s", s->spec->name, s->view ? "." : "", s->view ? s->view : "");
        if (!s->view || strlen(s->view) <= 400) FUZZ_CHECK(strcmp(plx_model_param(m, key), s->value.text) == 0);
    }
    plx_model_destroy(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    plx_context *ctx = NULL;
    plx_params *p = NULL;
    if (size < 2) return 0;
    o.threads = 1;
    o.memory_limit = 64 << 20;
    o.arena_block = 1;
    const plx__method *method = plx__method_at(data[0] % plx__method_count());
    char *text = malloc(size);
    if (!text || plx_context_create(&ctx, &o) != PLX_OK || plx_params_create(&p, ctx, method->name) != PLX_OK) abort();
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    for (char *line = text; line;) {
        char *next = strchr(line, '\n');
        if (next) *next++ = '\0';
        set_line(p, ctx, line);
        line = next;
    }
    copy_settings(p, ctx, method);
    plx_params_destroy(p);
    plx_context_destroy(ctx);
    free(text);
    return 0;
}
