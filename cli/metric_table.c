/*
 * Metrics laid out to be read: f1:A, f1:B, recall:A, recall:B become a table with rows A, B and columns f1, recall.
 *
 * The names are put into families by what stands before the colon. Neighbouring families with the same things after
 * the colon share a table until it is as wide as a terminal; a family on its own is listed line by line.
 */
#include "metric_table.h"

#include <stdlib.h>
#include <string.h>

#include "summary.h"

enum { WIDTH = 80, VALUE = 9, LONGEST = 40 };

typedef struct family {
    const plx_metrics *metrics;
    plx_index first;   /* of its metrics; they need not stand together */
    size_t length;     /* of the name before the colon */
    plx_index members; /* 0: a single value without colon */
} family;

static const char *name_at(const family *f, plx_index i) { return plx_metrics_name(f->metrics, i); }

static size_t family_length(const char *name)
{
    const char *colon = strchr(name, ':');
    return colon ? (size_t)(colon - name) : strlen(name);
}

static bool belongs(const family *f, const char *name)
{
    return f->members && family_length(name) == f->length && strncmp(name, name_at(f, f->first), f->length) == 0 &&
           name[f->length] == ':';
}

/* Number of the family's member after `from`, or -1. */
static plx_index next_member(const family *f, plx_index from)
{
    for (plx_index i = from + 1; i < plx_metrics_count(f->metrics); i++)
        if (belongs(f, plx_metrics_name(f->metrics, i))) return i;
    return -1;
}

static const char *thing(const family *f, plx_index i) { return name_at(f, i) + f->length + 1; }

static bool same_things(const family *a, const family *b)
{
    if (!a->members || a->members != b->members) return false;
    plx_index i = a->first, j = b->first;
    for (; i >= 0 && j >= 0; i = next_member(a, i), j = next_member(b, j))
        if (strcmp(thing(a, i), thing(b, j)) != 0) return false;
    return i < 0 && j < 0;
}

/* Wide enough for its name and its values, "undefined" among them. */
static int column_width(const family *f)
{
    size_t width = f->length + 2 > VALUE ? f->length + 2 : VALUE;
    char value[40];
    for (plx_index i = f->first; i >= 0; i = f->members ? next_member(f, i) : -1) {
        size_t length = strlen(cli_metric_text(value, sizeof value, f->metrics, i));
        if (length >= width) width = length + 2;
    }
    return (int)width;
}

static int things_width(const family *f)
{
    int width = 0;
    for (plx_index i = f->first; i >= 0; i = next_member(f, i)) {
        int length = (int)strlen(thing(f, i));
        if (length > width) width = length < LONGEST ? length : LONGEST;
    }
    return width;
}

/* How many families from f on fit into one table. */
static plx_index table_size(const family *f, plx_index left)
{
    plx_index size = 1;
    int width = things_width(f) + column_width(f);
    while (size < left && same_things(f, f + size) && width + column_width(f + size) <= WIDTH)
        width += column_width(f + size++);
    return size;
}

static void print_table(const family *f, plx_index columns)
{
    int width = things_width(f);
    plx_index at[WIDTH];
    char value[40];
    printf("\n%*s", width, "");
    for (plx_index c = 0; c < columns; c++) {
        printf("%*.*s", column_width(&f[c]), (int)f[c].length, name_at(&f[c], f[c].first));
        at[c] = f[c].first;
    }
    putchar('\n');
    while (at[0] >= 0) {
        printf("%-*s", width, thing(&f[0], at[0]));
        for (plx_index c = 0; c < columns; c++) {
            printf("%*s", column_width(&f[c]), cli_metric_text(value, sizeof value, f[c].metrics, at[c]));
            at[c] = next_member(&f[c], at[c]);
        }
        putchar('\n');
    }
}

/* ---- lines ---- */

static int lines_width(const family *families, plx_index count)
{
    int width = 0;
    for (plx_index k = 0; k < count; k++) {
        const family *f = &families[k];
        for (plx_index i = f->first; i >= 0; i = f->members ? next_member(f, i) : -1) {
            int length = (int)strlen(name_at(f, i));
            if (length > width) width = length;
        }
    }
    return width;
}

static void print_lines(const family *f, int width)
{
    char value[40];
    for (plx_index i = f->first; i >= 0; i = f->members ? next_member(f, i) : -1)
        printf("%-*s  %s\n", width, name_at(f, i), cli_metric_text(value, sizeof value, f->metrics, i));
}

/* ---- all ---- */

static plx_index find_families(family *families, const plx_metrics *metrics)
{
    plx_index count = 0;
    for (plx_index i = 0; i < plx_metrics_count(metrics); i++) {
        const char *name = plx_metrics_name(metrics, i);
        plx_index k = 0;
        while (k < count && !belongs(&families[k], name)) k++;
        if (k == count) families[count++] = (family){metrics, i, family_length(name), 0};
        families[k].members += strchr(name, ':') != NULL;
    }
    return count;
}

/* Families that stand alone, or have no colon, come first; `alone` tells which. */
static bool stands_alone(const family *families, plx_index count, plx_index k)
{
    bool with_last = k > 0 && same_things(&families[k - 1], &families[k]);
    bool with_next = k + 1 < count && same_things(&families[k], &families[k + 1]);
    return !with_last && !with_next;
}

bool cli_print_metrics(const plx_metrics *metrics)
{
    plx_index n = plx_metrics_count(metrics), lines = 0, tables = 0;
    family *families = calloc((size_t)n + 1, sizeof *families), *sorted = calloc((size_t)n + 1, sizeof *sorted);
    bool fine = families && sorted;
    plx_index count = fine ? find_families(families, metrics) : 0;
    for (plx_index k = 0; k < count; k++)
        if (stands_alone(families, count, k)) sorted[lines++] = families[k];
    for (plx_index k = 0; k < count; k++)
        if (!stands_alone(families, count, k)) sorted[lines + tables++] = families[k];
    int width = lines_width(sorted, lines);
    for (plx_index k = 0; k < lines; k++) print_lines(&sorted[k], width);
    for (plx_index k = lines, size; k < count; k += size) {
        size = table_size(&sorted[k], count - k);
        print_table(&sorted[k], size);
    }
    free(families);
    free(sorted);
    return fine;
}
