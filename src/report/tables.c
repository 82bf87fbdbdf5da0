/*
 * What a report begins with, and the tables of an explanation in it.
 */
#include <math.h>

#include "report/report_parts.h"

/* The list of that name, made when it is first needed. */
static json_t *list_of(plx__json_maker *m, plx_report *r, const char *key)
{
    json_t *list = json_object_get(r->root, key);
    return list ? list : plx__json_put_list(m, r->root, key);
}

void plx__report_headline(plx__json_maker *m, plx_report *r, const char *question, const char *answer)
{
    plx__json_put_text(m, r->root, "question", question);
    plx__json_put_text(m, r->root, "answer", answer);
}

/* Whole numbers stay whole, so that the page does not write 100.0 samples. */
static json_t *number_json(double x)
{
    return x == floor(x) && fabs(x) < 1e15 ? json_integer((json_int_t)x) : plx__json_real(x);
}

void plx__report_fact(plx__json_maker *m, plx_report *r, const char *name, double value)
{
    if (isnan(value)) return;
    json_t *pair = plx__json_push_list(m, list_of(m, r, "facts"));
    plx__json_push(m, pair, plx__json_text(m, name));
    plx__json_push(m, pair, number_json(value));
}

void plx__report_warning(plx__json_maker *m, plx_report *r, const char *text)
{
    json_t *list = list_of(m, r, "warnings"), *added = plx__json_text(m, text);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_equal(json_array_get(list, i), added)) {
            json_decref(added);
            return;
        }
    plx__json_push(m, list, added);
}

void plx__report_setting(plx__json_maker *m, plx_report *r, const char *name, const char *value, const char *otherwise)
{
    json_t *row = plx__json_push_list(m, list_of(m, r, "settings"));
    plx__json_push(m, row, plx__json_text(m, name));
    plx__json_push(m, row, plx__json_text(m, value));
    plx__json_push(m, row, plx__json_text(m, otherwise));
}

static void put_table(plx__json_maker *m, json_t *list, const plx__section *s)
{
    json_t *o = plx__json_push_object(m, list);
    plx__json_put_text(m, o, "key", s->key);
    plx__json_put_text(m, o, "title", s->title);
    plx__json_put_text(m, o, "note", s->note);
    json_t *columns = plx__json_put_list(m, o, "columns"), *rows = plx__json_put_list(m, o, "rows");
    for (plx_index c = 0; c < s->cols; c++) plx__json_push(m, columns, plx__json_text(m, s->column[c]));
    for (plx_index r = 0; r < s->rows; r++) {
        json_t *row = plx__json_push_list(m, rows);
        for (plx_index c = 0; c < s->cols; c++) {
            const plx__cell *cell = &s->cell[r * s->cols + c];
            plx__json_push(m, row, cell->text ? plx__json_text(m, cell->text) : number_json(cell->number));
        }
    }
}

plx_status plx__report_tables(plx_report *r, plx_context *ctx, const plx_explanation *e)
{
    plx__json_maker m = {.ctx = ctx};
    json_t *list = list_of(&m, r, "sections");
    for (const plx__section *s = e->first; s; s = s->next) put_table(&m, list, s);
    return plx__json_made(&m);
}
