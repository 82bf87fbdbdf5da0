/*
 * Reading .h5mu and .h5ad files into a data set.
 */
#include <string.h>

#include "core/text.h"
#include "data/divided.h"
#include "io/h5_impl.h"
#include "io/h5mu_impl.h"
#include "io/matrix_kind.h"

/* ---- values ---- */

/* Rows of the modality to the rows of their samples; samples without the modality stay empty. */
static plx_status spread_dense(plx_mat *out, plx__arena *arena, const plx__h5mu_reader *r, const plx__modality *m,
                               const plx_mat *x)
{
    PLX_TRY(plx__arena_mat(out, arena, r->n, x->cols));
    for (plx_index i = 0; i < x->rows; i++)
        if (m->sample[i] >= 0)
            memcpy(out->data + m->sample[i] * out->ld, x->data + i * x->ld, (size_t)x->cols * sizeof(double));
    return PLX_OK;
}

static plx_status spread_sparse(plx_csr *out, plx__arena *arena, const plx__h5mu_reader *r, const plx__modality *m,
                                const plx_csr *x)
{
    PLX_TRY(plx__arena_csr(out, arena, r->n, x->cols, x->ptr[x->rows]));
    for (plx_index i = 0; i < x->rows; i++)
        if (m->sample[i] >= 0) out->ptr[m->sample[i] + 1] = x->ptr[i + 1] - x->ptr[i];
    for (plx_index i = 0; i < r->n; i++) out->ptr[i + 1] += out->ptr[i];
    for (plx_index i = 0; i < x->rows; i++) {
        if (m->sample[i] < 0) continue;
        int64_t from = x->ptr[i], to = out->ptr[m->sample[i]];
        size_t count = (size_t)(x->ptr[i + 1] - from);
        if (count) memcpy(out->col + to, x->col + from, count * sizeof *out->col);
        if (count) memcpy(out->val + to, x->val + from, count * sizeof *out->val);
    }
    return PLX_OK;
}

/* ---- names ---- */

/* "0", "1", ...: names our writer made up because there were none. */
static bool are_numbers(const char *const *names, plx_index count, const char *prefix)
{
    char expect[64];
    size_t len = strlen(prefix);
    for (plx_index i = 0; i < count; i++) {
        snprintf(expect, sizeof expect, "%lld", (long long)i);
        if (strncmp(names[i], prefix, len) != 0 || strcmp(names[i] + len, expect) != 0) return false;
    }
    return true;
}

/* A yes-or-no that only our own files have; absent: no. */
static plx_status own_flag(bool *out, plx__h5mu_reader *r, const char *object)
{
    double value = 0;
    *out = false;
    if (!r->own || plx__h5_what(r->f, object) != PLX__H5_NUMBERS) return PLX_OK;
    PLX_TRY(plx__h5_read_real(&value, r->f, object));
    *out = value != 0;
    return PLX_OK;
}

/* Variables called alike get "-1", "-2", ... as anndata's var_names_make_unique does. */
static plx_status rename_doubles(const char **names, plx__h5mu_reader *r, const plx__modality *m, plx__map *seen)
{
    plx__arena *scratch = plx__scratch(r->ctx);
    plx_index *next = NULL, existing = -1;
    PLX_TRY(PLX__ARENA_NEW(&next, scratch, m->n_var));
    for (plx_index j = 0; j < m->n_var; j++) {
        plx_index first = plx__map_get(seen, m->var[j]);
        while (!names[j]) {
            const char *name = NULL;
            PLX_TRY(plx__arena_printf(&name, scratch, "%s-%lld", m->var[j], (long long)++next[first]));
            PLX_TRY(plx__map_add(seen, name, j, &existing));
            if (existing < 0) names[j] = name;
        }
    }
    return PLX_OK;
}

static plx_status unique_names(const char *const **out, plx__h5mu_reader *r, const plx__modality *m)
{
    const char **names = NULL;
    plx__map seen;
    plx_index existing = -1, doubles = 0;
    PLX_TRY(PLX__ARENA_NEW(&names, plx__scratch(r->ctx), m->n_var));
    PLX_TRY(plx__map_init(&seen, plx__scratch(r->ctx), m->n_var));
    for (plx_index j = 0; j < m->n_var; j++) {
        PLX_TRY(plx__map_add(&seen, m->var[j], j, &existing));
        names[j] = existing < 0 ? m->var[j] : NULL;
        doubles += existing >= 0;
    }
    *out = names;
    if (doubles == 0) return PLX_OK;
    plx__warn(r->ctx, "%s: %s/var: %lld names occur more than once; numbers were added", r->f->path, m->group,
              (long long)doubles);
    return rename_doubles(names, r, m, &seen);
}

/* *out = NULL when the view had no names before our writer made some. */
static plx_status feature_names(const char *const **out, plx__h5mu_reader *r, const plx__modality *m)
{
    const char *flag = NULL, *prefix = NULL;
    bool made = false;
    *out = NULL;
    PLX_TRY(plx__arena_printf(&flag, plx__scratch(r->ctx), PLX__H5MU_OWN "/views/%s/made_names", m->key));
    PLX_TRY(plx__arena_printf(&prefix, plx__scratch(r->ctx), "%s:", m->key));
    PLX_TRY(own_flag(&made, r, flag));
    if (made && are_numbers(m->var, m->n_var, prefix)) return PLX_OK;
    return unique_names(out, r, m);
}

/* ---- views ---- */

static plx_status choose_kind(plx_view_kind *out, plx__h5mu_reader *r, const plx__modality *m, const plx__table *x)
{
    const char *path = NULL, *name = NULL;
    *out = plx__guess_kind(x);
    if (!r->own) return PLX_OK;
    PLX_TRY(plx__arena_printf(&path, plx__scratch(r->ctx), PLX__H5MU_OWN "/views/%s/kind", m->key));
    if (plx__h5_what(r->f, path) != PLX__H5_TEXTS) return PLX_OK;
    PLX_TRY(plx__h5_read_text(&name, r->f, plx__scratch(r->ctx), path));
    plx_view_kind stored = PLX_VIEW_REAL;
    if (plx__view_kind_parse(&stored, name) != PLX_OK)
        PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: %s: unknown kind '%s'", r->f->path, path, name);
    if (plx__kind_fits(x, stored)) *out = stored;
    else
        plx__warn(r->ctx, "%s: view '%s' is no longer of kind %s; taken as %s", r->f->path, m->view, name,
                  plx__view_kind_name(*out));
    return PLX_OK;
}

static plx_status presence(uint8_t **out, plx__h5mu_reader *r, const plx__modality *m)
{
    PLX_TRY(plx__arena_u8(out, plx__scratch(r->ctx), r->n));
    for (plx_index i = 0; i < m->n_obs; i++)
        if (m->sample[i] >= 0) (*out)[m->sample[i]] = 1;
    return PLX_OK;
}

static bool in_order(const plx__h5mu_reader *r, const plx__modality *m)
{
    bool same = m->n_obs == r->n;
    for (plx_index i = 0; same && i < m->n_obs; i++) same = m->sample[i] == i;
    return same;
}

/* ---- some rows (data/divided.h) ---- */

/* Of the samples first .. last-1, which the rows at hand belong to. */
static plx_status pad_sparse(plx__view_source *s, plx__arena *arena, plx__h5mu_reader *r, const plx__modality *m,
                             const plx__row_run *part)
{
    plx_csr x = s->csr;
    s->csr.rows = r->n;
    PLX_TRY(plx__arena_i64(&s->csr.ptr, arena, r->n + 1));
    for (plx_index i = 0; i < x.rows; i++) s->csr.ptr[m->sample[part->begin + i] + 1] = x.ptr[i + 1] - x.ptr[i];
    for (plx_index i = 0; i < r->n; i++) s->csr.ptr[i + 1] += s->csr.ptr[i];
    return PLX_OK;
}

static plx_status pad_dense(plx__view_source *s, plx__arena *moved, plx__h5mu_reader *r, const plx__modality *m,
                            const plx__row_run *part)
{
    plx_mat x = s->dense;
    double *values = NULL;
    PLX_TRY(plx__arena_f64(&values, moved, part->last - part->first, x.cols));
    for (plx_index i = 0; i < x.rows; i++)
        memcpy(values + (m->sample[part->begin + i] - part->first) * x.cols, x.data + i * x.ld,
               (size_t)x.cols * sizeof *values);
    s->dense = (plx_mat){plx__rows_at(values, part->first, x.cols), r->n, x.cols, x.cols};
    return PLX_OK;
}

/* The rows to keep, where they come in the order of the samples. The columns of a kernel are samples themselves. */
static plx_status wanted_rows(bool *some, plx__row_run *part, plx__h5mu_reader *r, const plx__modality *m)
{
    const char *path = NULL, *kind = NULL;
    *part = (plx__row_run){0};
    *some = plx__share_wanted(&part->first, &part->last, r->ctx, r->n);
    for (plx_index i = 0; *some && i < m->n_obs; i++) *some = m->sample[i] > (i ? m->sample[i - 1] : -1);
    if (!*some) return PLX_OK;
    while (part->begin < m->n_obs && m->sample[part->begin] < part->first) part->begin++;
    for (part->end = part->begin; part->end < m->n_obs && m->sample[part->end] < part->last;) part->end++;
    if (!r->own) return PLX_OK;
    PLX_TRY(plx__arena_printf(&path, plx__scratch(r->ctx), PLX__H5MU_OWN "/views/%s/kind", m->key));
    if (plx__h5_what(r->f, path) != PLX__H5_TEXTS) return PLX_OK;
    PLX_TRY(plx__h5_read_text(&kind, r->f, plx__scratch(r->ctx), path));
    *some = strcmp(kind, plx__view_kind_name(PLX_VIEW_KERNEL)) != 0;
    return PLX_OK;
}

/* Rows that are in the order of the samples stay where they are; others move to an arena of their own. `part`: not NULL
 * when `x` has some of the rows only. */
static plx_status place_rows(plx__view_source *s, plx__arena *arena, plx__h5mu_reader *r, const plx__modality *m,
                             const plx__table *x, const plx__row_run *part)
{
    plx__arena moved;
    plx_status st = PLX_OK;
    s->sparse = x->sparse;
    s->dense = x->dense;
    s->csr = x->csr;
    s->divided = part != NULL;
    s->begin = part ? part->first : 0;
    s->end = part ? part->last : 0;
    if (part && x->sparse) return pad_sparse(s, arena, r, m, part);
    if (!part && in_order(r, m)) return PLX_OK;
    plx__arena_init(&moved, r->ctx);
    if (part) PLX_GOTO(pad_dense(s, &moved, r, m, part));
    else if (x->sparse) PLX_GOTO(spread_sparse(&s->csr, &moved, r, m, &x->csr));
    else PLX_GOTO(spread_dense(&s->dense, &moved, r, m, &x->dense));
done:
    plx__arena_free(st == PLX_OK ? arena : &moved);
    if (st == PLX_OK) *arena = moved;
    return st;
}

/* The values are in `arena`, which goes over to the data set. */
static plx_status add_values(plx_dataset *data, plx__h5mu_reader *r, const plx__modality *m, plx__arena *arena,
                             const plx__table *x, const plx__row_run *part)
{
    plx__view_source s = {.name = m->view};
    uint8_t *present = NULL;
    PLX_TRY(choose_kind(&s.kind, r, m, x));
    PLX_TRY(feature_names(&s.features, r, m));
    PLX_TRY(presence(&present, r, m));
    s.present = present;
    PLX_TRY(place_rows(&s, arena, r, m, x, part));
    return plx__dataset_adopt_arena(data, r->ctx, arena, &s);
}

static plx_status add_view(plx_dataset *data, plx__h5mu_reader *r, const plx__modality *m)
{
    plx__mark mark = plx__arena_mark(plx__scratch(r->ctx));
    plx__arena arena;
    const char *object = NULL;
    plx__table x;
    plx__row_run part;
    bool some = false;
    plx_status st = PLX_OK;
    plx__arena_init(&arena, r->ctx);
    PLX_GOTO(plx__poll(r->ctx));
    PLX_GOTO(plx__arena_printf(&object, plx__scratch(r->ctx), "%s/X", m->group));
    PLX_GOTO(wanted_rows(&some, &part, r, m));
    PLX_GOTO(plx__h5mu_matrix(&x, r->f, &arena, object, m->n_obs, m->n_var, some ? &part : NULL));
    st = add_values(data, r, m, &arena, &x, some && !part.whole ? &part : NULL);
    if (st == PLX_E_DATA) st = plx__fail_prefix(r->ctx, st, "%s: %s", r->f->path, object);
done:
    plx__arena_free(&arena);
    plx__arena_rewind(plx__scratch(r->ctx), mark);
    return st;
}

/* ---- the whole ---- */

/* Stored by us, else the file's name without its ending. */
static plx_status data_name(const char **out, plx__h5mu_reader *r)
{
    const char *base = plx__path_base(r->f->path), *dot = strrchr(base, '.');
    if (r->own && plx__h5_what(r->f, PLX__H5MU_OWN "/name") == PLX__H5_TEXTS)
        return plx__h5_read_text(out, r->f, plx__scratch(r->ctx), PLX__H5MU_OWN "/name");
    return plx__arena_textn(out, plx__scratch(r->ctx), base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
}

static plx_status build(plx_dataset **out, plx__h5mu_reader *r)
{
    const char *name = NULL;
    bool made = false;
    PLX_TRY(plx__h5mu_read_modalities(r));
    PLX_TRY(plx__h5mu_join_samples(r));
    PLX_TRY(data_name(&name, r));
    PLX_TRY(plx__dataset_create(out, r->ctx, name, r->n));
    const char *const *ids = (const char *const *)r->ids;
    PLX_TRY(own_flag(&made, r, PLX__H5MU_OWN "/made_ids"));
    if (!made || !are_numbers(ids, r->n, "")) PLX_TRY(plx__dataset_set_ids(*out, r->ctx, ids));
    for (plx_index v = 0; v < r->n_mods; v++) PLX_TRY(add_view(*out, r, &r->mods[v]));
    plx_status st = plx__h5mu_read_labels(*out, r);
    if (st == PLX_OK) st = plx__h5mu_read_own(*out, r);
    if (st == PLX_E_DATA && !strstr(r->ctx->error, r->f->path)) return plx__fail_prefix(r->ctx, st, "%s", r->f->path);
    return st;
}

plx_status plx__h5mu_read(plx_dataset **out, plx_context *ctx, const char *path, const plx_read_options *options)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx__h5 f;
    *out = NULL;
    PLX_TRY(plx__h5_open(&f, ctx, path));
    plx__h5mu_reader r = {.ctx = ctx,
                          .f = &f,
                          .label = options ? options->label : NULL,
                          .truth = options ? options->truth : NULL,
                          .intersect = options && options->join == PLX_JOIN_INTERSECTION,
                          .own = plx__h5_what(&f, PLX__H5MU_OWN) == PLX__H5_GROUP};
    plx_status st = build(out, &r);
    plx__h5_close(&f);
    if (st != PLX_OK) {
        plx__dataset_destroy(*out);
        *out = NULL;
        return st;
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
