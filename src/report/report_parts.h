/*
 * A report under construction: the document its page will hold, and what the parts of this folder add to it.
 */
#ifndef PLX_REPORT_REPORT_PARTS_H
#define PLX_REPORT_REPORT_PARTS_H

#include "active/curves.h"
#include "core/json.h"
#include "data/dataset_impl.h"
#include "explain/explanation.h"
#include "parallax/acquire.h"
#include "parallax/compare.h"
#include "parallax/report.h"

struct plx_report {
    plx_context *ctx;
    json_t *root;
};

/* What was asked, and the answer in a sentence. A later call overwrites an earlier one. */
void plx__report_headline(plx__json_maker *m, plx_report *r, const char *question, const char *answer);
/* A figure that stands above everything else. */
void plx__report_fact(plx__json_maker *m, plx_report *r, const char *name, double value);
void plx__report_warning(plx__json_maker *m, plx_report *r, const char *text);
void plx__report_setting(plx__json_maker *m, plx_report *r, const char *name, const char *value, const char *otherwise);

/* Samples, views, who has which, and maps of them; `answer`: n texts or NULL, what `answers_are` says. */
typedef struct plx__answers {
    const char *const *answer;
    const char *answers_are; /* "answer", "cluster" */
    bool comparable;         /* answers are classes, so that they can be right */
} plx__answers;
plx_status plx__report_data(plx_report *r, plx_context *ctx, const plx_dataset *data, const plx__answers *answers);
/* Its "maps" (maps.c). */
plx_status plx__report_maps(plx__json_maker *m, json_t *data_object, const plx_dataset *data,
                            const plx__answers *answers);

/* Tables as they are, without a headline (tables.c). */
plx_status plx__report_tables(plx_report *r, plx_context *ctx, const plx_explanation *e);

/* With a headline: headlines.c, comparison_doc.c, curves_doc.c. */
plx_status plx__report_explanation(plx_report *r, plx_context *ctx, const plx_explanation *e, const char *method,
                                   const char *about);
plx_status plx__report_comparison(plx_report *r, plx_context *ctx, const plx_comparison *c);
plx_status plx__report_curves(plx_report *r, plx_context *ctx, const plx_curves *c, const char *what);

#endif
