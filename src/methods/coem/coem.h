/*
 * coem inside: settings, the channels (views, or what concat and merged make of them), and the steps of EM.
 */
#ifndef PLX_METHODS_COEM_H
#define PLX_METHODS_COEM_H

#include "run/problem.h"
#include "mixture/row_scaling.h"
#include "mixture/view_mixture.h"

typedef enum coem_mode { COEM_VIEWS, COEM_SINGLE, COEM_CONCAT, COEM_MERGED, COEM_JOINT } coem_mode;
typedef enum coem_start { COEM_LABELS, COEM_RANDOM, COEM_KMEANSPP, COEM_FILE } coem_start;
enum { COEM_CONSTANT = 0, COEM_LINEAR = 1, COEM_GEOMETRIC = 2 };
enum { COEM_GLOBAL = 0, COEM_OWN_PRIORS = 1 };

typedef struct coem_params {
    plx_index clusters, anneal_steps, restarts, max_iter; /* clusters, restarts -1: not set */
    const char *mode, *merge, *init;
    int anneal, priors;
    double eta, anneal_rate, smoothing, prior_smoothing, var_floor, kappa, tol;
} coem_params;

/* What has a likelihood model of its own. */
typedef struct coem_channel {
    const char *name;
    plx__view view; /* presence after the zero-row rule of the likelihood */
    plx__view_mixture mix;
} coem_channel;

typedef struct coem_worker {
    double *scores, *posterior; /* n_channels x padded: of one sample */
    double *total;              /* padded: its posteriors added up */
} coem_worker;

typedef struct coem {
    plx__run *run;
    plx_context *ctx;
    const coem_params *set;
    coem_mode mode;
    plx_index n, m, padded;
    plx_index n_channels;
    coem_channel *channels;
    plx__mixture_cut cut; /* of the samples */
    plx__mixture_way way; /* what is kept of the samples, see coem_pane.c */
    plx_index first;      /* sample of the first row of the weights: 0 if all at once */
    plx_index scored;     /* that of the log-likelihoods and of the cache: 0 unless brief or among other processes */
    bool seeded;          /* there are labels: components are classes */
    const int32_t *label; /* n; -1: unlabelled, all of them for new samples */
    int32_t *views;       /* n: channels the sample has */
    double pairs;         /* sum of these */
    double covered;       /* samples with at least one */

    bool own_priors;           /* one prior per channel, else one for all */
    double *alpha, *log_alpha; /* (n_channels or 1) x padded */
    double *floored;           /* likewise: what log_alpha is the logarithm of, never 0; padding 0 */
    uint8_t *dead;             /* m: a component without mass in the last step */

    double *cache;          /* many channels: see coem_cache.c; else NULL */
    uint8_t *cache_present; /* as many rows as there are log-likelihoods, x n_channels */

    plx_mat weights;  /* n x padded (or of a pane): responsibilities for the channel whose M step is next */
    double *sums;     /* what a pass over the samples adds up, see coem_posterior.c */
    double *table;    /* by panes: room for these and, before them, the M step's sums of any channel */
    double *partials; /* one row of sums per block of a pane */
    int n_workers;
    coem_worker *workers;
    struct coem_device *on; /* passes on a device (coem_device.c); NULL: here */
} coem;

/* The rows of sample i, which is one of those at hand. */
static inline double *plx__coem_weights(const coem *m, plx_index i)
{
    return m->weights.data + (i - m->first) * m->padded;
}
static inline const double *plx__coem_scores(const coem *m, plx_index channel, plx_index i)
{
    return m->channels[channel].mix.loglik.data + (i - m->scored) * m->padded;
}

/* ---- coem_input.c ---- */
plx_status plx__coem_read_mode(coem_mode *mode, const char **single, plx__run *run);
bool plx__coem_own_rows(plx__run *run, const plx_dataset *data);
plx_status plx__coem_whose_rows(plx_index *bound, plx__run *run);
/* Is there room for the log-likelihoods of all samples of this process? (coem.c) */
bool plx__coem_has_room(const plx__run *run, double taken);
plx_status plx__coem_open(coem *m, plx__run *run); /* channels, labels, room; everything in scratch */
/* Likelihood of a view (or of the joined view: name "concat", "merged") by its setting and kind. */
plx_status plx__coem_likelihood(plx__likelihood *out, const plx__run *run, const char *name, plx_view_kind kind);

bool plx__coem_scales_rows(const plx__run *run, const plx__view *view); /* of this view, by `rows` */

/* ---- coem_join.c ---- */
plx_status plx__coem_mark_used(uint8_t **out, plx__run *run, coem_mode mode, const char *single);
/* concat and merged, of `views` (those of the problem, rows scaled). */
plx_status plx__coem_join(plx__view *out, plx__run *run, coem_mode mode, const plx__view *views);

/* ---- coem_start.c ---- */
plx_status plx__coem_read_start(coem_start *out, const coem *m);
plx_status plx__coem_start_once(coem *m, coem_start from, plx_index restart); /* parameters, priors and scores */

/* ---- coem_orphans.c ---- */
plx_status plx__coem_check_classes(const coem *m); /* every class has a labelled sample in some channel */
/* init=labels: components of classes without a labelled sample in a channel, from the other channels' start. */
plx_status plx__coem_start_orphans(coem *m, double *mass);

/* ---- coem_posterior.c ---- */
typedef struct coem_pass {
    plx_index target;  /* channel whose responsibilities go to m->weights */
    double target_eta; /* with this weight of the consensus */
    bool measure;      /* also objective and log-likelihoods ... */
    double eta;        /* ... at this weight */
} coem_pass;

plx_status plx__coem_make_room(coem *m);  /* what the passes need, when fitting */
plx_index plx__coem_width(const coem *m); /* of the sums */

/* All local posteriors at the current parameters (Eq. 14), the target's responsibilities (Eq. 13), and their sums. By
 * panes: also the sums of the target's M step. */
plx_status plx__coem_posteriors(coem *m, coem_pass pass);
const double *plx__coem_log_prior(const coem *m, plx_index channel);
void plx__coem_set_prior(coem *m, plx_index channel); /* from the sums of the last pass (Eq. 16, 17) */
void plx__coem_prior_from(coem *m, plx_index row, const double *sum, double count);
void plx__coem_log_priors(coem *m);
const double *plx__coem_mass(const coem *m);   /* column sums of m->weights, padded */
double plx__coem_objective(const coem *m);     /* of the last measuring pass */
const double *plx__coem_loglik(const coem *m); /* n_channels, of the same */

/* ---- coem_device.c ---- */
typedef struct coem_device coem_device;
plx_status plx__coem_device_open(coem *m); /* where it pays */
plx_status plx__coem_device_close(coem *m, plx_status st);
void plx__coem_device_pause(coem *m, bool pause);          /* while parameters are set by other means than passes */
bool plx__coem_there(const coem *m);                       /* passes are on the device now */
void plx__coem_device_outdate(coem *m, plx_index channel); /* its parameters have changed */
/* plx__coem_posteriors; *done false: to be done here. */
plx_status plx__coem_device_pass(bool *done, coem *m, coem_pass pass);
/* The M step of the last pass's target, from the sums that came with it. */
plx_status plx__coem_device_finish(coem *m, plx_index channel, const double *mass);

/* ---- coem_pane.c ---- */
/* Samples begin .. end-1 come to hand: brief, their log-likelihoods at the current parameters are computed. */
plx_status plx__coem_open_pane(coem *m, plx_index begin, plx_index end);
/* Log-likelihoods of a channel at its new parameters, where they are kept. */
plx_status plx__coem_rescore(coem *m, plx_index channel);

/* Responsibilities of samples begin .. end-1 for the channel, into their rows of m->weights. */
typedef void (*coem_fill_fn)(void *arg, coem *m, plx_index channel, plx_index begin, plx_index end);
/* An M step of the channel from what `fill` says, whose column sums are `mass`, and new scores. */
plx_status plx__coem_teach(coem *m, plx_index channel, coem_fill_fn fill, void *arg, const double *mass);

/* ---- coem_cache.c ---- */
plx_status plx__coem_open_cache(coem *m);
/* What is kept of a channel's log-likelihoods: of samples begin .. end-1. */
plx_status plx__coem_fill_cache(coem *m, plx_index channel, plx_index begin, plx_index end);
/* Posterior of sample i by the target, into `own`, and the sum of those by all its other channels, into `others`. */
void plx__coem_cached_posteriors(const coem *m, plx_index i, plx_index target, double *own, double *others);
double plx__coem_cache_bytes(plx_index n, plx_index n_channels, plx_index padded);

/* ---- coem_output.c ---- */
plx_status plx__coem_write_samples(coem *m); /* posterior, posterior.VIEW and labels */
plx_status plx__coem_write_model(coem *m);
plx_status plx__coem_read_model(coem *m);

#endif
