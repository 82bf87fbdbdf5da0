/*
 * plx_compare and what it gives.
 */
#include <math.h>
#include <string.h>

#include "api/api_args.h"
#include "api/compare_impl.h"
#include "core/file.h"

/* ---- running ---- */

static plx_status take_options(plx_compare_options *to, plx_context *ctx, const plx_compare_options *given)
{
    *to = (plx_compare_options)PLX_COMPARE_OPTIONS_INIT;
    return plx__take_options(to, sizeof *to, ctx, given, "PLX_COMPARE_OPTIONS_INIT");
}

/* What others predicted is read first: a slip there shows at once. */
static plx_status measure_guests(plx__compare_work *w)
{
    for (plx_index e = 0; e < w->c->n_entries; e++)
        if (w->c->entry[e].file) PLX_TRY(plx__guest_measure(w->c, w->ctx, w->data, e));
    return PLX_OK;
}

static plx_status run(plx__compare_work *w, const plx_compare_options *o)
{
    PLX_TRY(measure_guests(w));
    PLX_TRY(plx__journal_open(&w->journal, w->ctx, o->journal, o->resume != 0));
    PLX_TRY(plx__compare_run_all(w));
    return plx__comparison_summarise(w->c, w->ctx);
}

static plx_status compare(plx_comparison **out, plx_context *ctx, const plx_dataset *const *data, plx_index n_data,
                          const plx_compare_options *options)
{
    plx_compare_options o;
    PLX_TRY(take_options(&o, ctx, options));
    for (plx_index i = 0; i < n_data; i++)
        if (plx__dataset_divided(data[i]))
            PLX_FAIL(ctx, PLX_E_ARG, "data set %lld is divided among ranks; read it whole", (long long)i + 1);
    plx__compare_work w = {.ctx = ctx, .data = data, .n_data = n_data, .directories = o.directories};
    PLX_TRY(plx__comparison_create(&w.c, ctx, data, n_data, &o));
    w.jobs = plx__compare_jobs(o.jobs, o.threads);
    w.threads = o.threads;
    w.run_limit = o.run_limit;
    plx_status st = run(&w, &o);
    plx__journal_close(w.journal);
    if (st == PLX_OK) *out = w.c;
    else plx__comparison_destroy(w.c);
    return st;
}

plx_status plx_compare(plx_comparison **out, plx_context *ctx, const plx_dataset *const *data, plx_index n_data,
                       const plx_compare_options *options)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, compare(out, ctx, data, n_data, options), PLX__ARG(out), PLX__ARG(data), PLX__COUNT(n_data));
}

static plx_status splits(plx_context *ctx, const plx_dataset *const *data, plx_index n_data,
                         const plx_compare_options *options, const char *directory)
{
    plx_compare_options o;
    plx_comparison *c = NULL;
    PLX_TRY(take_options(&o, ctx, options));
    PLX_TRY(plx__comparison_create(&c, ctx, data, n_data, &o));
    plx_status st = plx__splits_write(ctx, c, data, directory);
    plx__comparison_destroy(c);
    return st;
}

plx_status plx_compare_splits(plx_context *ctx, const plx_dataset *const *data, plx_index n_data,
                              const plx_compare_options *options, const char *directory)
{
    PLX__CALL(ctx, splits(ctx, data, n_data, options, directory), PLX__ARG(data), PLX__COUNT(n_data),
              PLX__ARG(directory));
}

void plx_comparison_destroy(plx_comparison *comparison) { plx__comparison_destroy(comparison); }

/* ---- reading ---- */

plx_index plx_comparison_blocks(const plx_comparison *c) { return c ? c->n_blocks : 0; }
plx_index plx_comparison_entries(const plx_comparison *c) { return c ? c->n_entries : 0; }
plx_index plx_comparison_metrics(const plx_comparison *c) { return c ? c->n_metrics : 0; }
plx_index plx_comparison_runs(const plx_comparison *c) { return c ? c->runs : 0; }
plx_index plx_comparison_resumed(const plx_comparison *c) { return c ? c->resumed : 0; }

plx_index plx_comparison_failed(const plx_comparison *c)
{
    plx_index failed = 0;
    for (plx_index i = 0; c && i < c->n_blocks * c->n_entries * c->runs; i++) failed += c->measured[i].reason != NULL;
    return failed;
}

static bool within(plx_index i, plx_index count) { return i >= 0 && i < count; }

const char *plx_comparison_block(const plx_comparison *c, plx_index block)
{
    return c && within(block, c->n_blocks) ? c->block[block].name : NULL;
}

const char *plx_comparison_entry(const plx_comparison *c, plx_index entry)
{
    return c && within(entry, c->n_entries) ? c->entry[entry].name : NULL;
}

const char *plx_comparison_metric(const plx_comparison *c, plx_index metric)
{
    return c && within(metric, c->n_metrics) ? c->metric[metric] : NULL;
}

double plx_comparison_value(const plx_comparison *c, plx_index metric, plx_index block, plx_index entry, plx_index run)
{
    if (!c || !within(metric, c->n_metrics) || !within(block, c->n_blocks) || !within(entry, c->n_entries) ||
        !within(run, c->runs))
        return NAN;
    return plx__measured_value(plx__measured_of(c, block, entry, run), c->metric[metric]);
}

plx_status plx_comparison_get(plx_compared *out, const plx_comparison *c, plx_index metric, plx_index block,
                              plx_index entry)
{
    if (!out || out->struct_size < sizeof out->struct_size || out->struct_size > sizeof *out || !c ||
        !within(metric, c->n_metrics) || !within(block, c->n_blocks) || !within(entry, c->n_entries))
        return PLX_E_ARG;
    const plx__tally *cell = plx__tally_of(c, metric, block, entry);
    plx__expense x = plx__expense_of(c, block, entry);
    plx_compared full = {.struct_size = out->struct_size,
                         .runs = cell->runs,
                         .mean = cell->mean,
                         .sd = cell->sd,
                         .best = cell->best,
                         .level = cell->level,
                         .p = cell->p,
                         .p_holm = cell->p_holm,
                         .rank = c->rank[metric * c->n_entries + entry],
                         .seconds = x.seconds,
                         .cpu = x.cpu,
                         .memory = x.memory};
    full.reason = plx__tally_reason(c, block, entry, &full.failed);
    memcpy(out, &full, out->struct_size);
    return PLX_OK;
}

/* ---- writing ---- */

plx_status plx_compare_format_parse(plx_compare_format *out, const char *name)
{
    static const struct {
        const char *name;
        plx_compare_format format;
    } known[] = {{"text", PLX_COMPARE_TEXT},   {"txt", PLX_COMPARE_TEXT},    {"json", PLX_COMPARE_JSON},
                 {"csv", PLX_COMPARE_CSV},     {"md", PLX_COMPARE_MARKDOWN}, {"markdown", PLX_COMPARE_MARKDOWN},
                 {"latex", PLX_COMPARE_LATEX}, {"tex", PLX_COMPARE_LATEX}};
    if (!out || !name) return PLX_E_ARG;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0) {
            *out = known[i].format;
            return PLX_OK;
        }
    return PLX_E_ARG;
}

static plx_status write_part(plx_context *ctx, const plx_comparison *c, plx_compare_format format,
                             plx_compare_part part, const char *path)
{
    const char *text = NULL;
    PLX_TRY(plx__comparison_render(&text, ctx, c, format, part));
    return plx__write_text_file(ctx, path, text);
}

plx_status plx_comparison_write(plx_context *ctx, const plx_comparison *comparison, plx_compare_format format,
                                plx_compare_part part, const char *path)
{
    PLX__CALL(ctx, write_part(ctx, comparison, format, part, path), PLX__ARG(comparison), PLX__ARG(path));
}
