/*
 * Toy problems of the literature: Gaussians with one coordinate per view, XOR, two moons and two lines.
 */
#include <math.h>
#include <stdio.h>

#include "data/generate_impl.h"

static const double PI = 3.14159265358979323846264338327950288;

static plx_status truth_by_group(plx__gen_run *run, const int32_t *group, const char *const *group_names,
                                 plx_index groups, const char *const *class_of_group)
{
    plx__strata strata;
    const char **truth = NULL;
    PLX_TRY(plx__strata_of_groups(&strata, plx__scratch(run->ctx), group, run->n, group_names, groups));
    PLX_TRY(plx__arena_ptrs((void ***)&truth, plx__scratch(run->ctx), run->n));
    for (plx_index i = 0; i < run->n; i++) truth[i] = class_of_group[group[i]];
    return plx__gen_truth(run, truth, &strata);
}

/* Samples come group by group, `per_group` each. */
static plx_status groups_in_order(int32_t **out, plx__gen_run *run, plx_index per_group)
{
    PLX_TRY(plx__arena_i32(out, plx__scratch(run->ctx), run->n));
    for (plx_index i = 0; i < run->n; i++) (*out)[i] = (int32_t)(i / per_group);
    return PLX_OK;
}

/* ---- Gaussians ---- */

/* Mean of class c in view v where `means` is not given: classes 2 * separation apart on a line, so two of them at
 * +separation and -separation, mirrored in every second view; 0 from view `relevant` on. */
static double default_mean(const plx__gen_settings *s, plx_index c, plx_index v, plx_index relevant)
{
    double step = 2.0 * plx__gen_real(s, "separation"), middle = 0.5 * (double)(plx__gen_int(s, "classes") - 1);
    if (v >= relevant) return 0.0;
    return (middle - (double)c) * step * (v % 2 ? -1.0 : 1.0);
}

static plx_status add_gauss_view(plx__gen_run *run, plx_index v, plx_index relevant, const int32_t *group)
{
    const plx__gen_settings *s = &run->set;
    plx_mat x;
    char name[32];
    plx_index dims = plx__gen_int(s, "dims");
    double sd = plx__gen_real(s, "sd");
    bool given = plx__gen_count(s, "means") > 0;
    PLX_TRY(plx__arena_mat(&x, plx__scratch(run->ctx), run->n, dims));
    for (plx_index i = 0; i < run->n; i++) {
        plx_index c = group[i];
        double *row = x.data + i * dims;
        for (plx_index j = 0; j < dims; j++)
            row[j] = sd * plx__rng_normal(run->ctx->seed, PLX__STREAM('g', 'a', 'u', 's', v), (uint64_t)(i * dims + j));
        row[0] += given ? plx__gen_at(s, "means", c * run->views + v) : default_mean(s, c, v, relevant);
    }
    snprintf(name, sizeof name, "v%lld", (long long)v);
    return plx__gen_add_dense(run, name, x);
}

static plx_status make_gauss(plx__gen_run *run, plx_index views, plx_index relevant)
{
    const plx__gen_settings *s = &run->set;
    plx_index classes = plx__gen_int(s, "classes"), n = plx__gen_int(s, "n"), given = plx__gen_count(s, "means");
    const char *const *names = NULL;
    int32_t *group = NULL;
    if (given && given != classes * views)
        PLX_FAIL(run->ctx, PLX_E_ARG, "means has %lld numbers; %lld classes x %lld views need %lld, class by class",
                 (long long)given, (long long)classes, (long long)views, (long long)(classes * views));
    PLX_TRY(plx__gen_begin(run, n * classes, views));
    PLX_TRY(groups_in_order(&group, run, n));
    PLX_TRY(plx__gen_names(&names, plx__scratch(run->ctx), "c", classes, 1));
    for (plx_index v = 0; v < views; v++) PLX_TRY(add_gauss_view(run, v, relevant, group));
    return truth_by_group(run, group, names, classes, names);
}

static plx_status make_two_gauss(plx__gen_run *run)
{
    plx_index views = plx__gen_int(&run->set, "views");
    return make_gauss(run, views, views);
}

static plx_status make_irrelevant(plx__gen_run *run)
{
    plx_index relevant = plx__gen_int(&run->set, "relevant");
    return make_gauss(run, relevant + plx__gen_int(&run->set, "irrelevant"), relevant);
}

#define GAUSS_PARAMS                                                                                                   \
    PLX__GEN_ROW("n", INT, "100", 1, 1e8, NULL, "Samples per class."),                                                 \
        PLX__GEN_ROW("classes", INT, "2", 2, 1e6, NULL, "Number of classes."),                                         \
        PLX__GEN_ROW("dims", INT, "1", 1, 1e6, NULL,                                                                   \
                     "Coordinates per view; the mean is in the first, the rest is noise."),                            \
        PLX__GEN_ROW("separation", REAL, "2", 0, 1e6, NULL, "Half the distance between neighbouring class means."),    \
        PLX__GEN_ROW("means", REALS, "", -1e9, 1e9, NULL,                                                              \
                     "Means instead of those, class by class, one number per view."),                                  \
        PLX__GEN_ROW("sd", REAL, "1", 0, 1e6, NULL, "Standard deviation of every coordinate: larger is harder.")

static const plx__param_spec TWO_GAUSS_PARAMS[] = {
    GAUSS_PARAMS, PLX__GEN_ROW("views", INT, "2", 1, 1000, NULL, "Number of views; every second one is mirrored."),
    PLX__GEN_ROW("labelled", TEXT, "2", 0, 0, NULL, "Labelled samples per class: 2, 10%, c0=2,c1=5, all or none."),
    PLX__PARAM_END};

const plx__generator plx__gen_two_gauss = {"two-gauss",
                                           "Gaussian classes with one coordinate per view; every view is sufficient.",
                                           TWO_GAUSS_PARAMS, make_two_gauss};

static const plx__param_spec IRRELEVANT_PARAMS[] = {
    GAUSS_PARAMS, PLX__GEN_ROW("relevant", INT, "1", 1, 1000, NULL, "Number of views that tell the classes apart."),
    PLX__GEN_ROW("irrelevant", INT, "1", 0, 1000, NULL, "Number of views that do not: larger is harder."),
    PLX__GEN_ROW("labelled", TEXT, "10", 0, 0, NULL, "Labelled samples per class: 10, 10%, c0=2,c1=5, all or none."),
    PLX__PARAM_END};

const plx__generator plx__gen_irrelevant_view = {
    "irrelevant-view", "Gaussian classes of which only some views know anything.", IRRELEVANT_PARAMS, make_irrelevant};

/* ---- XOR ---- */

static const double XOR_MEANS[4][2] = {{1, 1}, {-1, -1}, {1, -1}, {-1, 1}};
static const char *const XOR_GROUPS[] = {"pos1", "pos2", "neg1", "neg2"};
static const char *const XOR_CLASSES[] = {"pos", "pos", "neg", "neg"};

static plx_status add_xor_view(plx__gen_run *run, const char *name, int first, int dims, const int32_t *group)
{
    plx_mat x;
    double separation = plx__gen_real(&run->set, "separation"), sd = plx__gen_real(&run->set, "sd");
    PLX_TRY(plx__arena_mat(&x, plx__scratch(run->ctx), run->n, dims));
    for (plx_index i = 0; i < run->n; i++)
        for (int j = 0; j < dims; j++) {
            uint64_t stream = PLX__STREAM('x', 'o', 'r', ' ', first + j);
            x.data[i * dims + j] =
                separation * XOR_MEANS[group[i]][first + j] + sd * plx__rng_normal(run->ctx->seed, stream, (uint64_t)i);
        }
    return plx__gen_add_dense(run, name, x);
}

static plx_status make_xor(plx__gen_run *run)
{
    bool joined = !plx__gen_is(&run->set, "layout", "split"), split = !plx__gen_is(&run->set, "layout", "joined");
    plx_index n = plx__gen_int(&run->set, "n");
    int32_t *group = NULL;
    PLX_TRY(plx__gen_begin(run, 4 * n, 2 * split + joined));
    PLX_TRY(groups_in_order(&group, run, n));
    if (split) PLX_TRY(add_xor_view(run, "x", 0, 1, group));
    if (split) PLX_TRY(add_xor_view(run, "y", 1, 1, group));
    if (joined) PLX_TRY(add_xor_view(run, "xy", 0, 2, group));
    return truth_by_group(run, group, XOR_GROUPS, 4, XOR_CLASSES);
}

static const plx__param_spec XOR_PARAMS[] = {
    PLX__GEN_ROW("n", INT, "50", 1, 1e8, NULL, "Samples per Gaussian, of which there are four."),
    PLX__GEN_ROW("layout", CHOICE, "split", 0, 0, "split|joined|both", "Views x and y, one view xy, or all three."),
    PLX__GEN_ROW("separation", REAL, "2", 0, 1e6, NULL, "Distance of the means from both axes."),
    PLX__GEN_ROW("sd", REAL, "1", 0, 1e6, NULL, "Standard deviation of every coordinate: larger is harder."),
    PLX__GEN_ROW("labelled", TEXT, "4", 0, 0, NULL, "Labelled samples per Gaussian (pos1, pos2, neg1, neg2)."),
    PLX__PARAM_END};

const plx__generator plx__gen_xor = {"xor", "Four Gaussians whose class only both coordinates together tell.",
                                     XOR_PARAMS, make_xor};

/* ---- two moons, two lines ---- */

static double jitter(const plx__gen_run *run, double sd, int stream, plx_index sample)
{
    if (sd == 0) return 0.0;
    return sd * plx__rng_normal(run->ctx->seed, PLX__STREAM('m', 'o', 'o', 'n', stream), (uint64_t)sample);
}

/* Sample i of class b (0 or 1) of N: the moon at t = pi (i + 1/2) / N, the line point at a position scrambled by a
 * multiplication modulo N, so that neighbours on the moon are not neighbours on the line. */
static void moon_and_line(double moon[2], double line[2], plx_index b, plx_index i, plx_index N)
{
    double t = PI * ((double)i + 0.5) / (double)N;
    plx_index p = b ? (11 * i + 5) % N : (7 * i + 3) % N;
    double s = -1.0 + 2.0 * ((double)p + 0.5) / (double)N;
    moon[0] = b ? 1.0 - cos(t) : cos(t);
    moon[1] = b ? 0.5 - sin(t) : sin(t);
    line[0] = s;
    line[1] = b ? s - 0.5 : s + 0.5;
}

/* Labels of the recipe: number floor(N/3) of `a` and floor(N/2) of `b`. */
static plx_status moon_labels(plx__gen_run *run, const int32_t *group, const char *const *classes, plx_index N)
{
    if (!plx__gen_is(&run->set, "labelled", "recipe")) return truth_by_group(run, group, classes, 2, classes);
    const char **texts = NULL;
    PLX_TRY(plx__arena_ptrs((void ***)&texts, plx__scratch(run->ctx), run->n));
    for (plx_index i = 0; i < run->n; i++) texts[i] = classes[group[i]];
    PLX_TRY(plx__dataset_set_truth(run->data, run->ctx, texts));
    for (plx_index i = 0; i < run->n; i++)
        if (i != N / 3 && i != N + N / 2) texts[i] = NULL;
    return plx__dataset_set_labels(run->data, run->ctx, texts);
}

static plx_status make_moons(plx__gen_run *run)
{
    static const char *const classes[] = {"a", "b"};
    plx_index N = plx__gen_int(&run->set, "n");
    double noise = plx__gen_real(&run->set, "noise"), line_noise = plx__gen_real(&run->set, "line_noise");
    plx_mat moons, lines;
    int32_t *group = NULL;
    if (N % 7 == 0 || N % 11 == 0)
        PLX_FAIL(run->ctx, PLX_E_ARG, "n = %lld: must not be a multiple of 7 or 11 (line positions would coincide)",
                 (long long)N);
    PLX_TRY(plx__gen_begin(run, 2 * N, 2));
    PLX_TRY(groups_in_order(&group, run, N));
    PLX_TRY(plx__arena_mat(&moons, plx__scratch(run->ctx), run->n, 2));
    PLX_TRY(plx__arena_mat(&lines, plx__scratch(run->ctx), run->n, 2));
    for (plx_index i = 0; i < run->n; i++) {
        moon_and_line(moons.data + 2 * i, lines.data + 2 * i, group[i], i % N, N);
        for (int j = 0; j < 2; j++) {
            moons.data[2 * i + j] += jitter(run, noise, j, i);
            lines.data[2 * i + j] += jitter(run, line_noise, 2 + j, i);
        }
    }
    PLX_TRY(plx__gen_add_dense(run, "moons", moons));
    PLX_TRY(plx__gen_add_dense(run, "lines", lines));
    return moon_labels(run, group, classes, N);
}

static const plx__param_spec MOON_PARAMS[] = {
    PLX__GEN_ROW("n", INT, "20", 1, 1e8, NULL, "Samples per class; not a multiple of 7 or 11."),
    PLX__GEN_ROW("noise", REAL, "0", 0, 1e6, NULL, "Standard deviation added to the moons: larger makes them merge."),
    PLX__GEN_ROW("line_noise", REAL, "0", 0, 1e6, NULL, "Standard deviation added to the lines."),
    PLX__GEN_ROW(
        "labelled", TEXT, "recipe", 0, 0, NULL,
        "recipe: number n/3 of class a and n/2 of class b; or samples per class: 2, 10%, a=2,b=5, all or none."),
    PLX__PARAM_END};

const plx__generator plx__gen_moons_lines = {
    "two-moons-two-lines", "Two moons in one view, two lines in the other; neighbourhoods differ between them.",
    MOON_PARAMS, make_moons};
