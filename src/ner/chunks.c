/*
 * Counting names. A name begins and ends by the rules of conlleval (E. Tjong Kim Sang), which look at two neighbouring
 * tags only and make sense of any sequence of prefixes; a break between sentences counts as a token outside.
 */
#include "ner/chunks.h"

#include <stdlib.h>
#include <string.h>

/* ---- the rules ---- */

static bool is_pair(const char *pairs, char before, char now)
{
    for (; *pairs; pairs += 2)
        if (pairs[0] == before && pairs[1] == now) return true;
    return false;
}

static bool outside(char prefix) { return prefix == 'O' || prefix == '.'; }
static bool bracket(char prefix) { return prefix == '[' || prefix == ']'; }

static bool ends(plx__ner_mark before, plx__ner_mark now)
{
    return is_pair("BBBOIBIOEEEIEO", before.prefix, now.prefix) ||
           (!outside(before.prefix) && before.type != now.type) || bracket(before.prefix);
}

static bool starts(plx__ner_mark before, plx__ner_mark now)
{
    return is_pair("BBIBOBOIEEEIOE", before.prefix, now.prefix) || (!outside(now.prefix) && before.type != now.type) ||
           bracket(now.prefix);
}

/* ---- counting ---- */

static void add(plx__ner_score *s, int32_t type, plx__ner_counts more)
{
    plx__ner_counts *to[] = {&s->all, s->by_type ? &s->by_type[type] : NULL};
    for (int k = 0; k < 2 && to[k]; k++) {
        to[k]->phrases += more.phrases;
        to[k]->found += more.found;
        to[k]->correct += more.correct;
    }
}

void plx__ner_count(plx__ner_score *s, const plx__ner_mark *gold, const plx__ner_mark *guess, plx_index n)
{
    plx__ner_mark gold_before = plx__ner_outside(), guess_before = plx__ner_outside();
    bool alike = false; /* inside a name that has been guessed rightly so far */
    for (plx_index i = 0; i <= n; i++) {
        plx__ner_mark a = i < n ? gold[i] : plx__ner_outside(), b = i < n ? guess[i] : plx__ner_outside();
        bool gold_ends = ends(gold_before, a), guess_ends = ends(guess_before, b);
        bool gold_starts = starts(gold_before, a), guess_starts = starts(guess_before, b);
        if (alike && gold_ends && guess_ends && gold_before.type == guess_before.type)
            add(s, gold_before.type, (plx__ner_counts){.correct = 1});
        if (gold_ends || guess_ends || a.type != b.type) alike = false;
        if (gold_starts && guess_starts && a.type == b.type) alike = true;
        if (gold_starts) add(s, a.type, (plx__ner_counts){.phrases = 1});
        if (guess_starts) add(s, b.type, (plx__ner_counts){.found = 1});
        s->equal += i < n && a.prefix == b.prefix && a.type == b.type;
        gold_before = a;
        guess_before = b;
    }
    s->tokens += n;
}

plx_index plx__ner_names(const plx__ner_mark *mark, plx_index n)
{
    plx__ner_mark before = plx__ner_outside();
    plx_index count = 0;
    for (plx_index i = 0; i < n; before = mark[i++]) count += starts(before, mark[i]);
    return count;
}

/* ---- figures ---- */

static double ratio(plx_index a, plx_index b) { return b > 0 ? (double)a / (double)b : 0.0; }

double plx__ner_precision(plx__ner_counts c) { return ratio(c.correct, c.found); }
double plx__ner_recall(plx__ner_counts c) { return ratio(c.correct, c.phrases); }

double plx__ner_f1(plx__ner_counts c)
{
    double p = plx__ner_precision(c), r = plx__ner_recall(c);
    return p + r > 0 ? 2 * p * r / (p + r) : 0.0;
}

static plx_status put_type(plx_metrics *m, const char *name, plx__ner_counts c)
{
    PLX_TRY(plx__metrics_add(m, plx__ner_precision(c), "precision:%s", name));
    PLX_TRY(plx__metrics_add(m, plx__ner_recall(c), "recall:%s", name));
    PLX_TRY(plx__metrics_add(m, plx__ner_f1(c), "f1:%s", name));
    PLX_TRY(plx__metrics_add(m, (double)c.found, "found:%s", name));
    PLX_TRY(plx__metrics_add(m, (double)c.phrases, "phrases:%s", name));
    return plx__metrics_add(m, (double)c.correct, "correct:%s", name);
}

static plx_status put_types(plx_metrics *m, const plx__ner_score *s, const plx__ner_types *types)
{
    const char **sorted = NULL;
    PLX_TRY(PLX__ARENA_NEW(&sorted, plx__scratch(m->ctx), types->count));
    memcpy(sorted, types->name, (size_t)types->count * sizeof *sorted);
    qsort(sorted, (size_t)types->count, sizeof *sorted, plx__compare_text);
    for (plx_index t = 0; t < types->count; t++) {
        plx__ner_counts c = s->by_type[plx__map_get(&types->map, sorted[t])];
        if (c.phrases + c.found > 0) PLX_TRY(put_type(m, sorted[t], c));
    }
    return PLX_OK;
}

plx_status plx__ner_metrics(plx_metrics *m, const plx__ner_score *s, const plx__ner_types *types)
{
    PLX_TRY(plx__metrics_add(m, (double)s->tokens, "tokens"));
    PLX_TRY(plx__metrics_add(m, (double)s->all.phrases, "phrases"));
    PLX_TRY(plx__metrics_add(m, (double)s->all.found, "found"));
    PLX_TRY(plx__metrics_add(m, (double)s->all.correct, "correct"));
    PLX_TRY(plx__metrics_add(m, ratio(s->equal, s->tokens), "accuracy"));
    PLX_TRY(plx__metrics_add(m, plx__ner_precision(s->all), "precision"));
    PLX_TRY(plx__metrics_add(m, plx__ner_recall(s->all), "recall"));
    PLX_TRY(plx__metrics_add(m, plx__ner_f1(s->all), "f1"));
    return s->by_type ? put_types(m, s, types) : PLX_OK;
}

plx_status plx__ner_eval(plx_metrics *m, plx_context *ctx, const plx__conll *text, plx__ner_scheme scheme)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx__ner_types types;
    plx__ner_score score = {0};
    plx__ner_mark *gold = NULL, *guess = NULL;
    if (text->n_columns < 2)
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: one column; right and guessed tags are needed as the last two", text->where);
    PLX_TRY(plx__ner_types_init(&types, scratch));
    PLX_TRY(PLX__ARENA_NEW(&gold, scratch, text->n_tokens));
    PLX_TRY(PLX__ARENA_NEW(&guess, scratch, text->n_tokens));
    PLX_TRY(plx__ner_read_marks(gold, ctx, &types, text, text->n_columns - 2, scheme));
    PLX_TRY(plx__ner_read_marks(guess, ctx, &types, text, text->n_columns - 1, scheme));
    PLX_TRY(PLX__ARENA_NEW(&score.by_type, scratch, types.count));
    for (plx_index s = 0; s < text->n_sentences; s++) {
        plx_index first = text->sentences[s];
        plx__ner_count(&score, gold + first, guess + first, text->sentences[s + 1] - first);
    }
    return plx__ner_metrics(m, &score, &types);
}
