/*
 * The index of a conditional Markov model for tagging.
 */
#include <math.h>
#include <string.h>

#include "ner/memm_tag.h"

enum { MOST_STATES = 4096, DEFAULT_BEAM = 64, CLASSES = 6 };

/* ---- features with tags ---- */

/* Does `text` begin with the tag of a symbol and an underscore? What follows, else NULL. */
static const char *after_tag(const plx__memm_index *x, const char *text, plx_index symbol)
{
    const char *tag = symbol < x->n_tags ? x->m->tag[symbol] : "<s>";
    size_t length = strlen(tag);
    return strncmp(text, tag, length) == 0 && text[length] == '_' ? text + length + 1 : NULL;
}

typedef plx_status (*found_fn)(void *arg, int kind, const char *rest, int32_t code, int32_t feature);

/* Every way to read what follows "NAME:" as tags and a rest: tags may hold underscores, so there can be several. */
static plx_status read_rest(const plx__memm_index *x, int kind, const char *text, int32_t feature, found_fn found,
                            void *arg)
{
    for (plx_index a = 0; a < x->symbols; a++) {
        const char *rest = after_tag(x, text, a);
        if (rest && plx__rest_tags[kind] == 1) PLX_TRY(found(arg, kind, rest, (int32_t)a, feature));
        for (plx_index b = 0; rest && plx__rest_tags[kind] == 2 && b < x->symbols; b++) {
            const char *second = after_tag(x, rest, b);
            if (second) PLX_TRY(found(arg, kind, second, (int32_t)(a * x->symbols + b), feature));
        }
    }
    return PLX_OK;
}

static plx_status each_rest(const plx__memm_index *x, found_fn found, void *arg)
{
    for (plx_index k = 0; k < x->m->features.count; k++) {
        const char *text = x->m->features.key[k].text;
        if (text[0] != 't') continue;
        for (int kind = 0; kind < PLX__NER_RESTS; kind++) {
            size_t length = strlen(plx__rest_name[kind]);
            if (strncmp(text, plx__rest_name[kind], length) == 0)
                PLX_TRY(read_rest(x, kind, text + length, (int32_t)k, found, arg));
        }
    }
    return PLX_OK;
}

typedef struct rests {
    plx__memm_index *x;
    plx__arena *scratch;
    plx_index *count; /* by rest; grows */
    plx_index room, total;
    plx_index *next;
} rests;

static plx_status rest_key(const char **out, size_t *length, plx__arena *arena, int kind, const char *rest)
{
    PLX_TRY(plx__arena_printf(out, arena, "%s%s", plx__rest_name[kind], rest));
    *length = strlen(*out);
    return PLX_OK;
}

static plx_status count_rest(void *arg, int kind, const char *rest, int32_t code, int32_t feature)
{
    rests *r = arg;
    const char *key = NULL;
    size_t length = 0;
    plx_index at = 0;
    plx__arena *scratch = r->scratch;
    plx__mark mark = plx__arena_mark(scratch);
    (void)code, (void)feature;
    PLX_TRY(rest_key(&key, &length, scratch, kind, rest));
    PLX_TRY(plx__dict_add(&at, &r->x->rest, key, length));
    plx__arena_rewind(scratch, mark);
    r->total++;
    return PLX_OK;
}

static plx_status put_rest(void *arg, int kind, const char *rest, int32_t code, int32_t feature)
{
    rests *r = arg;
    const char *key = NULL;
    size_t length = 0;
    plx__mark mark = plx__arena_mark(r->scratch);
    PLX_TRY(rest_key(&key, &length, r->scratch, kind, rest));
    plx_index at = plx__dict_get(&r->x->rest, key, length);
    plx__arena_rewind(r->scratch, mark);
    if (r->next) r->x->entry[r->next[at]++] = (plx__memm_entry){code, feature};
    else r->x->rest_ptr[at + 1]++;
    return PLX_OK;
}

static plx_status index_rests(plx__memm_index *x, plx_context *ctx, plx__arena *arena)
{
    rests r = {.x = x, .scratch = plx__scratch(ctx)};
    PLX_TRY(plx__dict_init(&x->rest, arena, 1024));
    PLX_TRY(each_rest(x, count_rest, &r));
    PLX_TRY(PLX__ARENA_NEW(&x->rest_ptr, arena, x->rest.count + 1));
    PLX_TRY(PLX__ARENA_NEW(&x->entry, arena, r.total));
    PLX_TRY(each_rest(x, put_rest, &r));
    for (plx_index k = 0; k < x->rest.count; k++) x->rest_ptr[k + 1] += x->rest_ptr[k];
    PLX_TRY(PLX__ARENA_NEW(&r.next, plx__scratch(ctx), x->rest.count + 1));
    memcpy(r.next, x->rest_ptr, (size_t)x->rest.count * sizeof *r.next);
    return each_rest(x, put_rest, &r);
}

/* ---- t1, t2, t3 and brackets ---- */

plx_index plx__memm_history(const plx__memm_index *x, const int32_t *symbols, int count)
{
    plx_index at = plx__dict_get(&x->history, (const char *)symbols, (size_t)count * sizeof *symbols);
    return at < 0 ? -1 : x->history_feature[at];
}

/* Every way to read `text` as tags joined by underscores; the first time round histories are numbered, the second time
 * they get their features. */
static plx_status read_history(plx__memm_index *x, const char *text, int32_t *symbols, int at, int count,
                               int32_t feature)
{
    for (plx_index a = 0; at < PLX__NER_HISTORY && a < x->symbols; a++) {
        const char *tag = a < x->n_tags ? x->m->tag[a] : "<s>", *rest = after_tag(x, text, a);
        symbols[at] = (int32_t)a;
        if (at + 1 < count && rest) PLX_TRY(read_history(x, rest, symbols, at + 1, count, feature));
        if (at + 1 < count || strcmp(text, tag) != 0) continue;
        plx_index number = 0;
        PLX_TRY(plx__dict_add(&number, &x->history, (const char *)symbols, (size_t)count * sizeof *symbols));
        if (x->history_feature) x->history_feature[number] = feature;
    }
    return PLX_OK;
}

static plx_status read_histories(plx__memm_index *x)
{
    static const char *const name[] = {"t1:", "t2:", "t3:"};
    for (plx_index k = 0; k < x->m->features.count; k++) {
        const char *text = x->m->features.key[k].text;
        int32_t symbols[PLX__NER_HISTORY];
        for (int d = 0; d < x->depth; d++)
            if (strncmp(text, name[d], 3) == 0) PLX_TRY(read_history(x, text + 3, symbols, 0, d + 1, (int32_t)k));
        for (plx_index a = 0; strncmp(text, "par:", 4) == 0 && a < x->n_tags; a++)
            if (strcmp(text + 4, x->m->tag[a]) == 0) x->bracket[a] = (int32_t)k;
    }
    return PLX_OK;
}

static plx_status index_history(plx__memm_index *x, plx__arena *arena)
{
    PLX_TRY(plx__arena_i32(&x->bracket, arena, x->symbols));
    for (plx_index a = 0; a < x->symbols; a++) x->bracket[a] = -1;
    PLX_TRY(plx__dict_init(&x->history, arena, 1024));
    PLX_TRY(read_histories(x));
    PLX_TRY(plx__arena_i32(&x->history_feature, arena, x->history.count));
    return read_histories(x);
}

/* ---- tables ---- */

static void add_row(double *to, const plx__memm *m, plx_index feature)
{
    for (plx_index t = 0; feature >= 0 && t < m->n_tags; t++) to[t] += m->weight[feature * m->stride + t];
}

static plx_status make_constant(plx__memm_index *x, plx__arena *arena)
{
    plx_index states = 1;
    for (int d = 0; d < x->depth; d++) states *= x->symbols;
    PLX_TRY(plx__arena_f64(&x->constant, arena, states, x->stride));
    for (plx_index s = 0; s < states; s++) {
        int32_t symbols[PLX__NER_HISTORY];
        double *row = x->constant + s * x->stride, top = -INFINITY;
        plx_index rest = s;
        for (int d = x->depth - 1; d >= 0; d--, rest /= x->symbols) symbols[d] = (int32_t)(rest % x->symbols);
        for (int d = 1; d <= x->depth; d++) add_row(row, x->m, plx__memm_history(x, symbols + x->depth - d, d));
        for (plx_index t = 0; t < x->n_tags; t++) top = fmax(top, row[t]);
        for (plx_index t = 0; t < x->n_tags; t++) row[t] = exp(row[t] - top);
    }
    return PLX_OK;
}

typedef struct adder {
    const plx__memm *m;
    double *to;
} adder;

static plx_status add_feature(void *arg, const char *text, size_t length)
{
    adder *a = arg;
    add_row(a->to, a->m, plx__dict_get(&a->m->features, text, length));
    return PLX_OK;
}

int plx__memm_class(char abbreviation)
{
    static const char classes[] = "0CPD<>";
    return (int)(strchr(classes, abbreviation) - classes);
}

static plx_status make_tables(plx__memm_index *x, plx__arena *arena)
{
    static const char classes[] = "0CPD<>";
    char buffer[64];
    adder a = {.m = x->m};
    plx__emitter e = {.views = &x->m->views, .buffer = buffer, .put = add_feature, .arg = &a};
    PLX_TRY(plx__arena_f64(&x->abbreviation, arena, CLASSES * CLASSES * CLASSES, x->stride));
    PLX_TRY(plx__arena_f64(&x->bias, arena, 1, x->stride));
    for (int k = 0; k < CLASSES * CLASSES * CLASSES; k++) {
        const char around[] = {classes[k / (CLASSES * CLASSES)], classes[k / CLASSES % CLASSES], classes[k % CLASSES]};
        a.to = x->abbreviation + k * x->stride;
        PLX_TRY(plx__emit_abbreviations(&e, around));
    }
    a.to = x->bias;
    return plx__emit_bias(&e);
}

plx_status plx__memm_index_open(plx__memm_index *x, plx_context *ctx, plx__arena *arena, const plx__memm *m)
{
    double states = pow((double)m->n_tags, (double)m->params.history);
    *x = (plx__memm_index){.m = m, .n_tags = m->n_tags, .stride = m->stride, .symbols = m->n_tags + 1};
    x->depth = plx__ner_depth(&m->views);
    x->marginals = states <= MOST_STATES || x->depth == 0;
    x->exact = x->depth == 0 || (m->params.beam == 0 && states <= MOST_STATES);
    x->beam = m->params.beam > 0 ? m->params.beam : DEFAULT_BEAM;
    PLX_TRY(index_rests(x, ctx, arena));
    PLX_TRY(index_history(x, arena));
    PLX_TRY(make_tables(x, arena));
    return x->marginals ? make_constant(x, arena) : PLX_OK;
}
