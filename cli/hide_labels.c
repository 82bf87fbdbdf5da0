/*
 * Hiding labels. A hidden label is still known to the user, so it serves as truth when there is no other.
 */
#include "hide_labels.h"

#include <stdlib.h>

static int relabel(plx_dataset **out, cli_session *s, const plx_dataset *data, const uint8_t *chosen,
                   const char **texts)
{
    plx_split_label_texts(texts, data, chosen);
    int code = cli_fail(s, plx_dataset_relabel(out, s->ctx, data, texts));
    if (code || plx_dataset_has_truth(data) || !plx_dataset_has_labels(data)) return code;
    for (plx_index i = 0; i < plx_dataset_samples(data); i++) texts[i] = plx_dataset_label(data, i);
    return cli_fail(s, plx_dataset_set_truth(*out, s->ctx, texts));
}

int cli_hide_labels(plx_dataset **out, cli_session *s, const plx_dataset *data, const char *spec)
{
    plx_index n = plx_dataset_samples(data);
    uint8_t *chosen = calloc((size_t)n, sizeof *chosen);
    const char **texts = calloc((size_t)n, sizeof *texts);
    int code = CLI_DONE;
    *out = NULL;
    if (!chosen || !texts) code = cli_fail_text(s, "out of memory");
    if (!code) code = cli_fail(s, plx_split_labels(chosen, s->ctx, data, spec));
    if (!code) code = relabel(out, s, data, chosen, texts);
    if (code) {
        plx_dataset_destroy(*out);
        *out = NULL;
    }
    free(chosen);
    free(texts);
    return code;
}
