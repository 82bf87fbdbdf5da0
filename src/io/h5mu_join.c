/*
 * Which modalities a file has, in which order, and which samples they share. Names decide: the stored maps
 * are derived from them, and only compared.
 */
#include <string.h>

#include "core/text.h"
#include "io/h5_impl.h"
#include "data/dataset_impl.h"
#include "io/h5mu_impl.h"

/* ---- modalities ---- */

/* Names listed in mod-order first, the others after them in byte order. */
static plx_status ordered_keys(const char ***out, plx_index *count, plx__h5mu_reader *r)
{
    plx__arena *scratch = plx__scratch(r->ctx);
    const char *const *children = NULL, *const *order = NULL;
    const char **keys = NULL;
    uint8_t *taken = NULL;
    plx_index n = 0, n_order = 0, used = 0;
    PLX_TRY(plx__h5_children(&children, &n, r->f, scratch, "/mod"));
    PLX_TRY(plx__h5_attr_texts(&order, &n_order, r->f, scratch, "/mod", "mod-order"));
    PLX_TRY(PLX__ARENA_NEW(&keys, scratch, n));
    PLX_TRY(plx__arena_u8(&taken, scratch, n));
    plx__map place;
    plx_index existing = -1;
    PLX_TRY(plx__map_init(&place, scratch, n));
    for (plx_index i = 0; i < n; i++) PLX_TRY(plx__map_add(&place, children[i], i, &existing));
    for (plx_index k = 0; k < n_order; k++) {
        plx_index i = plx__map_get(&place, order[k]);
        if (i < 0 || taken[i]) continue;
        taken[i] = 1;
        keys[used++] = children[i];
    }
    for (plx_index i = 0; i < n; i++)
        if (!taken[i]) keys[used++] = children[i];
    *out = keys;
    *count = used;
    return PLX_OK;
}

/* A view name has fewer letters to choose from than a modality has. */
static plx_status view_name(const char **out, plx__h5mu_reader *r, const char *key)
{
    bool reserved = plx__reserved_view_name(key);
    size_t len = strlen(key);
    char *name = NULL;
    PLX_TRY(plx__arena_zeroed((void **)&name, plx__scratch(r->ctx), (plx_index)len + 2, 1));
    memcpy(name, key, len);
    if (reserved) name[len] = '_';
    for (char *c = name; *c; c++)
        if (strchr(".,:|+/=", *c) || (unsigned char)*c <= ' ') *c = '_';
    *out = name;
    if (strcmp(name, key) != 0)
        plx__warn(r->ctx, "%s: modality '%s' becomes view '%s': its name is not allowed for a view", r->f->path, key,
                  name);
    return PLX_OK;
}

/* *there = false when the modality has no X. */
static plx_status read_modality(plx__modality *m, bool *there, plx__h5mu_reader *r, const char *group, const char *key)
{
    plx__arena *scratch = plx__scratch(r->ctx);
    const char *x = NULL, *obs = NULL, *var = NULL;
    *m = (plx__modality){.group = group, .key = key};
    PLX_TRY(plx__arena_printf(&x, scratch, "%s/X", group));
    PLX_TRY(plx__arena_printf(&obs, scratch, "%s/obs", group));
    PLX_TRY(plx__arena_printf(&var, scratch, "%s/var", group));
    *there = plx__h5_what(r->f, x) != PLX__H5_NONE;
    if (!*there) {
        plx__warn(r->ctx, "%s: %s: no X; left out", r->f->path, group[0] ? group : "/");
        return PLX_OK;
    }
    PLX_TRY(view_name(&m->view, r, key));
    PLX_TRY(plx__h5mu_index(&m->obs, &m->n_obs, r->f, scratch, obs));
    return plx__h5mu_index(&m->var, &m->n_var, r->f, scratch, var);
}

static plx_status add_modality(plx__h5mu_reader *r, const char *group, const char *key)
{
    bool there = false;
    PLX_TRY(read_modality(&r->mods[r->n_mods], &there, r, group, key));
    r->n_mods += there;
    return PLX_OK;
}

static plx_status check_axis(plx__h5mu_reader *r)
{
    int64_t axis = 0;
    if (!plx__h5_has_attr(r->f, "/", "axis")) return PLX_OK;
    PLX_TRY(plx__h5_attr_i64(&axis, 1, r->f, "/", "axis"));
    if (axis != 1) return PLX_OK;
    return plx__h5_fail(
        r->f, PLX_E_UNSUPPORTED, "/",
        "axis = 1: the modalities share variables, not samples, so they are not views of the same samples");
}

plx_status plx__h5mu_read_modalities(plx__h5mu_reader *r)
{
    plx__arena *scratch = plx__scratch(r->ctx);
    const char **keys = NULL, *group = NULL;
    plx_index count = 0;
    if (plx__h5_what(r->f, "/mod") != PLX__H5_GROUP) {
        if (plx__h5_what(r->f, "/X") == PLX__H5_NONE)
            PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: has neither /mod (h5mu) nor /X (h5ad)", r->f->path);
        PLX_TRY(PLX__ARENA_NEW(&r->mods, scratch, 1));
        return add_modality(r, "", "X");
    }
    PLX_TRY(check_axis(r));
    PLX_TRY(ordered_keys(&keys, &count, r));
    PLX_TRY(PLX__ARENA_NEW(&r->mods, scratch, count));
    for (plx_index k = 0; k < count; k++) {
        PLX_TRY(plx__arena_printf(&group, scratch, "/mod/%s", keys[k]));
        PLX_TRY(add_modality(r, group, keys[k]));
    }
    if (r->n_mods == 0) PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: /mod: no modality with an X", r->f->path);
    return PLX_OK;
}

/* ---- samples ---- */

typedef struct join {
    plx__map place; /* name -> position in the union */
    const char **names;
    plx_index n, *hits; /* modalities that have the sample */
} join;

static plx_status add_name(join *j, const char *name, plx_index *position)
{
    PLX_TRY(plx__map_add(&j->place, name, j->n, position));
    if (*position >= 0) return PLX_OK;
    *position = j->n;
    j->names[j->n++] = name;
    return PLX_OK;
}

static plx_status add_global(join *j, plx__h5mu_reader *r)
{
    plx_index position = 0;
    for (plx_index i = 0; i < r->n_global; i++) {
        PLX_TRY(add_name(j, r->global[i], &position));
        if (position != i)
            PLX_FAIL(r->ctx, PLX_E_DATA,
                     "%s: /obs: duplicate sample '%s'; names must be unique (obs_names_make_unique)", r->f->path,
                     r->global[i]);
    }
    return PLX_OK;
}

static plx_status add_rows(join *j, plx__h5mu_reader *r, plx__modality *m)
{
    plx__mark mark;
    uint8_t *seen = NULL;
    plx_index before = j->n, capacity = 0;
    for (plx_index v = 0; v < r->n_mods; v++) capacity += r->mods[v].n_obs;
    PLX_TRY(PLX__ARENA_NEW(&m->sample, plx__scratch(r->ctx), m->n_obs));
    for (plx_index i = 0; i < m->n_obs; i++) PLX_TRY(add_name(j, m->obs[i], &m->sample[i]));
    mark = plx__arena_mark(plx__scratch(r->ctx));
    PLX_TRY(plx__arena_u8(&seen, plx__scratch(r->ctx), r->n_global + capacity));
    for (plx_index i = 0; i < m->n_obs; i++) {
        if (seen[m->sample[i]])
            PLX_FAIL(r->ctx, PLX_E_DATA,
                     "%s: %s/obs: duplicate sample '%s'; names must be unique (obs_names_make_unique)", r->f->path,
                     m->group, m->obs[i]);
        seen[m->sample[i]] = 1;
        j->hits[m->sample[i]]++;
    }
    plx__arena_rewind(plx__scratch(r->ctx), mark);
    if (r->n_global && j->n > before)
        plx__warn(r->ctx, "%s: %s/obs: %lld samples are not in /obs; added", r->f->path, m->group,
                  (long long)(j->n - before));
    return PLX_OK;
}

/* Value k > 0 of obsmap/<m> means row k - 1. The names rule; a map that says otherwise is worth a word. */
static plx_status compare_map(plx__h5mu_reader *r, const plx__modality *m)
{
    const char *path = NULL;
    int64_t *map = NULL;
    plx__h5_shape shape;
    plx_index wrong = 0;
    PLX_TRY(plx__arena_printf(&path, plx__scratch(r->ctx), "/obsmap/%s", m->key));
    if (plx__h5_what(r->f, path) != PLX__H5_NUMBERS) return PLX_OK;
    PLX_TRY(plx__h5_read_i64(&map, &shape, r->f, plx__scratch(r->ctx), path));
    bool fits = shape.count == r->n_global;
    for (plx_index i = 0; fits && i < m->n_obs; i++) wrong += m->sample[i] < r->n_global && map[m->sample[i]] != i + 1;
    if (!fits || wrong)
        plx__warn(r->ctx, "%s: %s does not agree with the sample names; the names were used", r->f->path, path);
    return PLX_OK;
}

/* Samples of the union that every modality has (intersection), or any has or /obs lists (union). */
static plx_status keep_samples(plx__h5mu_reader *r, const join *j)
{
    plx__arena *scratch = plx__scratch(r->ctx);
    plx_index *place = NULL;
    PLX_TRY(PLX__ARENA_NEW(&place, scratch, j->n));
    PLX_TRY(PLX__ARENA_NEW(&r->ids, scratch, j->n));
    PLX_TRY(PLX__ARENA_NEW(&r->position, scratch, j->n));
    for (plx_index i = 0; i < j->n; i++) {
        place[i] = -1;
        if (r->intersect && j->hits[i] < r->n_mods) continue;
        r->ids[r->n] = j->names[i];
        r->position[r->n] = i < r->n_global ? i : -1;
        place[i] = r->n++;
    }
    for (plx_index v = 0; v < r->n_mods; v++)
        for (plx_index i = 0; i < r->mods[v].n_obs; i++) r->mods[v].sample[i] = place[r->mods[v].sample[i]];
    if (r->n == 0)
        PLX_FAIL(r->ctx, PLX_E_DATA, "%s: %s", r->f->path,
                 j->n == 0 ? "there are no samples" : "no sample is in all modalities; read with join = union");
    return PLX_OK;
}

plx_status plx__h5mu_join_samples(plx__h5mu_reader *r)
{
    plx__arena *scratch = plx__scratch(r->ctx);
    join j = {.n = 0};
    if (plx__h5_what(r->f, "/obs") != PLX__H5_NONE)
        PLX_TRY(plx__h5mu_index(&r->global, &r->n_global, r->f, scratch, "/obs"));
    plx_index most = r->n_global;
    for (plx_index v = 0; v < r->n_mods; v++) most += r->mods[v].n_obs;
    PLX_TRY(plx__map_init(&j.place, scratch, r->n_global));
    PLX_TRY(PLX__ARENA_NEW(&j.names, scratch, most));
    PLX_TRY(PLX__ARENA_NEW(&j.hits, scratch, most));
    PLX_TRY(add_global(&j, r));
    for (plx_index v = 0; v < r->n_mods; v++) {
        PLX_TRY(add_rows(&j, r, &r->mods[v]));
        PLX_TRY(compare_map(r, &r->mods[v]));
    }
    return keep_samples(r, &j);
}
