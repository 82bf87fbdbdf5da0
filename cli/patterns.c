/*
 * Presence patterns by sorting the samples by their flags, and class counts by binary search in the class names.
 */
#include "patterns.h"

#include <stdlib.h>
#include <string.h>

static int compare_samples(const void *a, const void *b, void *data_)
{
    const plx_dataset *data = data_;
    plx_index i = *(const plx_index *)a, j = *(const plx_index *)b;
    for (plx_index v = 0; v < plx_dataset_views(data); v++) {
        const uint8_t *present = plx_dataset_present(data, v);
        if (present[i] != present[j]) return present[i] ? -1 : 1;
    }
    return (i > j) - (i < j);
}

static bool same_pattern(const plx_dataset *data, plx_index i, plx_index j)
{
    for (plx_index v = 0; v < plx_dataset_views(data); v++) {
        const uint8_t *present = plx_dataset_present(data, v);
        if (present[i] != present[j]) return false;
    }
    return true;
}

static int compare_patterns(const void *a, const void *b)
{
    const cli_pattern *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return (x->sample > y->sample) - (x->sample < y->sample);
}

bool cli_patterns(cli_pattern **out, plx_index *count, const plx_dataset *data)
{
    plx_index n = plx_dataset_samples(data);
    plx_index *order = calloc((size_t)n, sizeof *order);
    cli_pattern *patterns = calloc((size_t)n, sizeof *patterns);
    *out = patterns;
    *count = 0;
    if (!order || !patterns) {
        free(order);
        free(patterns);
        return false;
    }
    for (plx_index i = 0; i < n; i++) order[i] = i;
    qsort_r(order, (size_t)n, sizeof *order, compare_samples, (void *)(uintptr_t)data);
    for (plx_index i = 0; i < n; i++) {
        if (i == 0 || !same_pattern(data, order[i - 1], order[i])) patterns[(*count)++].sample = order[i];
        patterns[*count - 1].count++;
    }
    qsort(patterns, (size_t)*count, sizeof *patterns, compare_patterns);
    free(order);
    return true;
}

void cli_pattern_print(FILE *to, const plx_dataset *data, plx_index sample)
{
    bool any = false;
    for (plx_index v = 0; v < plx_dataset_views(data); v++) {
        plx_view_info info = PLX_VIEW_INFO_INIT;
        if (!plx_dataset_present(data, v)[sample] || plx_dataset_view_info(&info, data, v) != PLX_OK) continue;
        fprintf(to, "%s%s", any ? "+" : "", info.name);
        any = true;
    }
    if (!any) fputs("none", to);
}

static int compare_to_class(const char *name, size_t length, const char *class_name)
{
    int order = strncmp(name, class_name, length);
    return order ? order : class_name[length] ? -1 : 0;
}

/* Classes of a hierarchy come in its own order, so a miss of the binary search is looked for one by one. */
static plx_index find_class(const plx_dataset *data, const char *name, size_t length)
{
    plx_index low = 0, high = plx_dataset_classes(data);
    while (low < high) {
        plx_index middle = low + (high - low) / 2;
        int order = compare_to_class(name, length, plx_dataset_class(data, middle));
        if (order == 0) return middle;
        if (order < 0) high = middle;
        else low = middle + 1;
    }
    for (plx_index c = 0; c < plx_dataset_classes(data); c++)
        if (compare_to_class(name, length, plx_dataset_class(data, c)) == 0) return c;
    return -1;
}

bool cli_class_counts(plx_index **out, const plx_dataset *data, bool truth)
{
    plx_index *counts = calloc((size_t)plx_dataset_classes(data) + 1, sizeof *counts);
    *out = counts;
    if (!counts) return false;
    for (plx_index i = 0; i < plx_dataset_samples(data); i++) {
        const char *text = truth ? plx_dataset_truth(data, i) : plx_dataset_label(data, i);
        while (text && *text) {
            size_t length = strcspn(text, "|");
            plx_index c = find_class(data, text, length);
            if (c >= 0) counts[c]++;
            text += length + (text[length] == '|');
        }
    }
    return true;
}
