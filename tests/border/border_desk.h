/*
 * An object of every kind the library knows, for the calls gen_border.py writes, and what a call may be expected to do.
 */
#ifndef PLX_TESTS_BORDER_DESK_H
#define PLX_TESTS_BORDER_DESK_H

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "parallax/parallax.h"

/* A name for an output that must not exist yet. */
static inline const char *fresh_name(const char *name)
{
    remove(name);
    return name;
}

enum { BORDER_SAMPLES = 8, BORDER_COLUMNS = 2 };

typedef struct desk {
    plx_context *ctx;
    plx_dataset *data;     /* two dense views, ids, labels, truth */
    plx_dataset *thin;     /* one sparse view */
    plx_dataset *holes;    /* views missing here and there */
    plx_dataset *building; /* only samples and one view: the setters' victim */
    plx_params *params, *acquire_params;
    plx_model *model, *thin_model;
    const char *sparse_name; /* of a sparse array of thin_model */
    plx_prediction *prediction;
    plx_metrics *metrics;
    plx_retrieval *retrieval;
    plx_explanation *explanation;
    plx_acquisition *acquisition;
    plx_curves *curves;
    plx_model *completer;
    plx_params *complete_params;
    plx_completion *completion;
    plx_conll *conll, *names, *judged; /* tags; names; right and guessed tags */
    plx_params *ner_params, *select_params, *ner_simulate_params, *bootstrap_params;
    plx_ner_model *ner_model;
    const plx_ner_model *ner_models[2];
    const char *probs[2];
    plx_ner_choice *choice;
    plx_ner_curve *ner_curve;
    plx_ner_tagged *tagged;
    plx_eval_options eval_files, eval_pred;
    plx_simulate_options simulate;
    plx_compare_options compare;
    plx_comparison *comparison;
    plx_tune_options tune;
    plx_params *tune_params;
    plx_tuning *tuning;
    plx_dataset *partly; /* the samples of `data` with labels of some */
    plx_model *several;  /* of auto */
    plx_report *report;
    plx_metrics_hierarchy hierarchy;
    plx_cmat dense;
    plx_ccsr sparse;
    plx_pair hidden[1];
    plx_index indices[BORDER_SAMPLES], gold[BORDER_SAMPLES];
    int32_t pair[2];
    double values[BORDER_SAMPLES * BORDER_COLUMNS];
    uint8_t flags[BORDER_SAMPLES * BORDER_COLUMNS];
    const char *labels[BORDER_SAMPLES], *ids[BORDER_SAMPLES], *numbers[BORDER_SAMPLES];
    const char *classes[2], *features[BORDER_COLUMNS], *settings[1];
    /* where results go */
    uint8_t flags_out[BORDER_SAMPLES * BORDER_COLUMNS];
    int32_t numbers_out[BORDER_SAMPLES];
    const char *texts_out[BORDER_SAMPLES];
    const int32_t *pairs_out;
    int int_out;
    double number_out;
    plx_index index_out;
    char characters[16];
    void *room[8]; /* for whatever a function hands out; holds no NULL before */
} desk;

int border_progress(const plx_progress *progress, void *payload);
void border_log(plx_log_level level, const char *text, void *payload);

/* As many texts as there are samples, the first of them NULL. */
const char *const *border_hollow(void);

/* Each says what is wrong and ends the process when the call did something else. */
void border_ok(const desk *k, plx_status st);
void border_failed(const desk *k, plx_status st);
/* PLX_E_ARG, and where `told` is given a message that has it. */
void border_refused(const desk *k, plx_status st, const char *told);
void border_text(const char *text, const char *expected); /* expected NULL: NULL */
void border_null(const void *p);
void border_empty(plx_cmat m);
void border_number(double x, double expected);

typedef struct border_function {
    const char *name;
    void (*call)(desk *d, int variant);
    const char *const *variants; /* what each variant does, NULL at the end */
} border_function;

extern const border_function BORDER_FUNCTIONS[]; /* a name of NULL at the end */

#endif
