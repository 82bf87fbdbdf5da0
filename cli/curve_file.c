#include "curve_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char MAGIC[] = "parallax-simulation 1";
static const double SAVE_SECONDS = 2.0;

/* ---- what the curves are a function of ---- */

uint64_t cli_hash(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < count; i++) hash = (hash ^ b[i]) * UINT64_C(1099511628211);
    return hash;
}

uint64_t cli_hash_text(uint64_t hash, const char *text)
{
    return text ? cli_hash(hash, text, strlen(text) + 1) : cli_hash(hash, "\1", 1);
}

static uint64_t hash_view(uint64_t hash, const plx_dataset *data, plx_index v)
{
    plx_view_info info = PLX_VIEW_INFO_INIT;
    plx_cmat dense = {0};
    plx_ccsr sparse = {0};
    if (plx_dataset_view_info(&info, data, v) != PLX_OK) return hash;
    hash = cli_hash_text(hash, info.name);
    hash = cli_hash(hash, &info.kind, sizeof info.kind);
    hash = cli_hash(hash, &info.cost, sizeof info.cost);
    hash = cli_hash(hash, plx_dataset_present(data, v), (size_t)plx_dataset_samples(data));
    if (plx_dataset_dense(&dense, data, v) == PLX_OK)
        for (plx_index i = 0; i < dense.rows; i++)
            hash = cli_hash(hash, dense.data + i * dense.ld, (size_t)dense.cols * sizeof(double));
    else if (plx_dataset_sparse(&sparse, data, v) == PLX_OK) {
        hash = cli_hash(hash, sparse.ptr, ((size_t)sparse.rows + 1) * sizeof *sparse.ptr);
        hash = cli_hash(hash, sparse.col, (size_t)sparse.ptr[sparse.rows] * sizeof *sparse.col);
        hash = cli_hash(hash, sparse.val, (size_t)sparse.ptr[sparse.rows] * sizeof *sparse.val);
    }
    return hash;
}

uint64_t cli_hash_data(uint64_t hash, const plx_dataset *data)
{
    for (plx_index v = 0; v < plx_dataset_views(data); v++) hash = hash_view(hash, data, v);
    for (plx_index i = 0; i < plx_dataset_samples(data); i++) {
        double cost = plx_dataset_sample_cost(data, i);
        hash = cli_hash_text(hash, plx_dataset_id(data, i));
        hash = cli_hash_text(hash, plx_dataset_label(data, i));
        hash = cli_hash_text(hash, plx_dataset_truth(data, i));
        hash = cli_hash(hash, &cost, sizeof cost);
    }
    return hash;
}

/* ---- points ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int append(cli_curves *c, cli_session *s, const cli_curve_point *point)
{
    if (c->count == c->room) {
        long long room = 2 * c->room + 256;
        cli_curve_point *larger = realloc(c->points, (size_t)room * sizeof *larger);
        if (!larger) return cli_fail_text(s, "out of memory");
        c->points = larger;
        c->room = room;
    }
    c->points[c->count++] = *point;
    return CLI_DONE;
}

int cli_curves_add(cli_curves *c, cli_session *s, const cli_curve_point *point)
{
    int code = append(c, s, point);
    return !code && now() - c->saved > SAVE_SECONDS ? cli_curves_save(c, s) : code;
}

/* ---- the part ---- */

int cli_curves_save(cli_curves *c, cli_session *s)
{
    cli_sink sink;
    cli_session own = *s; /* the session's context is busy simulating */
    if (!c->part) return CLI_DONE;
    own.ctx = c->ctx;
    int code = cli_sink_open(&sink, &own);
    if (code) return code;
    fprintf(sink.to, "%s %016llx\n", MAGIC, (unsigned long long)c->key);
    for (long long i = 0; i < c->count; i++) {
        const cli_curve_point *p = &c->points[i];
        fprintf(sink.to, "%lld %lld %lld %lld %lld %.17g %.17g %.17g %.17g\n", p->run, p->criterion,
                (long long)p->state.step, (long long)p->state.sample, (long long)p->state.view, p->state.cost,
                p->state.accuracy, p->state.auc, p->state.rmse);
    }
    c->saved = now();
    return cli_sink_write(&sink, &own, c->part);
}

static bool read_point(cli_curve_point *p, const char *line)
{
    long long step = 0, sample = 0, view = 0;
    char real[4][64];
    *p = (cli_curve_point){.state = {.struct_size = sizeof p->state}};
    if (sscanf(line, "%lld %lld %lld %lld %lld %63s %63s %63s %63s", &p->run, &p->criterion, &step, &sample, &view,
               real[0], real[1], real[2], real[3]) != 9)
        return false;
    p->state.step = step;
    p->state.sample = sample;
    p->state.view = view;
    double *to[] = {&p->state.cost, &p->state.accuracy, &p->state.auc, &p->state.rmse};
    for (int i = 0; i < 4; i++) {
        char *end = NULL;
        *to[i] = strtod(real[i], &end);
        if (*end) return false;
    }
    return true;
}

static int take_up(cli_curves *c, cli_session *s, FILE *file)
{
    char *line = NULL, head[96];
    size_t room = 0;
    int code = CLI_DONE;
    snprintf(head, sizeof head, "%s %016llx\n", MAGIC, (unsigned long long)c->key);
    if (getline(&line, &room, file) < 0 || strcmp(line, head) != 0)
        code = cli_fail_text(s, "%s is what another simulation left; remove it to start anew", c->part);
    for (long long number = 2; !code && getline(&line, &room, file) >= 0; number++) {
        cli_curve_point point;
        if (read_point(&point, line)) code = append(c, s, &point);
        else code = cli_fail_text(s, "%s line %lld: damaged; remove the file to start anew", c->part, number);
    }
    free(line);
    return code;
}

int cli_curves_open(cli_curves *c, cli_session *s, const char *path, uint64_t key)
{
    *c = (cli_curves){.key = key, .saved = now()};
    if (!path || strcmp(path, "-") == 0) return CLI_DONE;
    size_t size = strlen(path) + sizeof ".part";
    c->path = strdup(path);
    c->part = malloc(size);
    if (!c->path || !c->part || plx_context_create(&c->ctx, NULL) != PLX_OK) return cli_fail_text(s, "out of memory");
    snprintf(c->part, size, "%s.part", path);
    FILE *file = fopen(c->part, "r");
    if (!file) return CLI_DONE;
    int code = take_up(c, s, file);
    fclose(file);
    if (!code) cli_say(s, "resumed  %s from %s", CLI_COUNT(c->count, "state", "states"), c->part);
    return code;
}

/* ---- the result ---- */

static void put_real(FILE *to, double value)
{
    fputc(',', to);
    if (!isnan(value)) fprintf(to, "%.17g", value);
}

static void put_cell(FILE *to, const char *text)
{
    bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    if (quoted) fputc('"', to);
    for (; *text; text++) {
        if (*text == '"') fputc('"', to);
        fputc(*text, to);
    }
    if (quoted) fputc('"', to);
}

static void put_pair(FILE *to, const plx_dataset *data, const plx_simulated *state)
{
    plx_view_info info = PLX_VIEW_INFO_INIT;
    const char *id = state->sample >= 0 ? plx_dataset_id(data, state->sample) : "";
    fputc(',', to);
    if (id) put_cell(to, id);
    else fprintf(to, "%lld", (long long)state->sample);
    fputc(',', to);
    if (state->view >= 0 && plx_dataset_view_info(&info, data, state->view) == PLX_OK) put_cell(to, info.name);
}

int cli_curves_finish(cli_curves *c, cli_session *s, const plx_dataset *data, const char *const *criteria,
                      bool regression)
{
    cli_sink sink;
    int code = cli_sink_open(&sink, s);
    if (code) return code;
    fprintf(sink.to, "criterion,run,step,id,view,cost,%s\n", regression ? "rmse" : "accuracy,auc");
    for (long long i = 0; i < c->count; i++) {
        const cli_curve_point *p = &c->points[i];
        fprintf(sink.to, "%s,%lld,%lld", criteria[p->criterion], p->run, (long long)p->state.step);
        put_pair(sink.to, data, &p->state);
        put_real(sink.to, p->state.cost);
        if (regression) put_real(sink.to, p->state.rmse);
        if (!regression) put_real(sink.to, p->state.accuracy);
        if (!regression) put_real(sink.to, p->state.auc);
        fputc('\n', sink.to);
    }
    code = cli_sink_write(&sink, s, c->path ? c->path : "-");
    if (!code && c->part) unlink(c->part);
    return code;
}

void cli_curves_free(cli_curves *c)
{
    plx_context_destroy(c->ctx);
    free(c->points);
    free(c->path);
    free(c->part);
}
