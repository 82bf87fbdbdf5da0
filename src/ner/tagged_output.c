/*
 * Files that tagging writes.
 */
#include "ner/tagged_output.h"

#include "core/number.h"

plx_status plx__ner_output_open(plx__ner_output *out, plx_context *ctx, const char *tagged, const char *values)
{
    *out = (plx__ner_output){0};
    if (tagged) PLX_TRY(plx__outfile_open(&out->tagged, ctx, tagged));
    out->has_tagged = tagged != NULL;
    if (values) PLX_TRY(plx__outfile_open(&out->values, ctx, values));
    out->has_values = values != NULL;
    return PLX_OK;
}

plx_status plx__ner_output_commit(plx__ner_output *out, plx_context *ctx)
{
    if (out->has_values) PLX_TRY(plx__outfile_commit(&out->values, ctx));
    return out->has_tagged ? plx__outfile_commit(&out->tagged, ctx) : PLX_OK;
}

void plx__ner_output_abort(plx__ner_output *out)
{
    if (out->has_tagged) plx__outfile_abort(&out->tagged);
    if (out->has_values) plx__outfile_abort(&out->values);
}

void plx__ner_output_flush(plx__ner_output *out)
{
    if (out->has_tagged) fflush(out->tagged.file);
    if (out->has_values) fflush(out->values.file);
}

void plx__ner_put_header(plx__ner_output *out, const char *const *names, plx_index count)
{
    if (!out->has_values) return;
    fputc('#', out->values.file);
    for (plx_index k = 0; k < count; k++) fprintf(out->values.file, " %s", names[k]);
    fputc('\n', out->values.file);
}

plx_status plx__ner_put_tagged(plx__ner_output *out, plx_context *ctx, const plx__conll *part, plx_index s,
                               const plx__ner_mark *guess, plx__ner_scheme scheme, const plx__ner_types *types)
{
    plx__ner_mark before = plx__ner_outside();
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    FILE *to = out->tagged.file;
    if (!out->has_tagged) return PLX_OK;
    for (plx_index i = part->sentences[s]; i < part->sentences[s + 1]; i++) {
        plx__ner_mark now = guess[i - part->sentences[s]];
        const char *tag = NULL;
        PLX_TRY(plx__ner_tag_text(&tag, plx__scratch(ctx), types, plx__ner_to_scheme(now, before, scheme)));
        for (plx_index c = 0; c < part->n_columns; c++) {
            fputs(part->columns[c][i], to);
            fputc(part->has_tab ? '\t' : ' ', to);
        }
        fputs(tag, to);
        fputc('\n', to);
        before = now;
    }
    fputc('\n', to);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

void plx__ner_put_values(plx__ner_output *out, const plx__conll *part, plx_index s, const double *values,
                         plx_index count)
{
    char number[PLX__NUMBER_BYTES];
    FILE *to = out->values.file;
    if (!out->has_values) return;
    if (out->begun) fputc('\n', to);
    out->begun = true;
    for (plx_index i = part->sentences[s]; i < part->sentences[s + 1]; i++) {
        fputs(part->columns[0][i], to);
        for (plx_index k = 0; k < count; k++) {
            plx__print_double(number, *values++);
            fputc(' ', to);
            fputs(number, to);
        }
        fputc('\n', to);
    }
}
