/*
 * Progress of a running call. The bar shows phase, share done, iterations per second and the time that is left at
 * that rate; without a known end it counts.
 */
#include "progress.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "jsonout.h"

enum { BAR_CELLS = 24 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

cli_progress_style cli_progress_choose(const char *asked, bool quiet)
{
    if (asked && strcmp(asked, "json") == 0) return CLI_PROGRESS_JSON;
    if (quiet || (asked && strcmp(asked, "none") == 0)) return CLI_PROGRESS_NONE;
    return isatty(STDERR_FILENO) ? CLI_PROGRESS_BAR : CLI_PROGRESS_NONE;
}

static void start_phase(cli_progress *p, const plx_progress *report)
{
    if (strncmp(p->phase, report->phase, sizeof p->phase - 1) == 0 && report->iteration >= p->first_iteration) return;
    snprintf(p->phase, sizeof p->phase, "%s", report->phase);
    p->phase_started = now();
    p->first_iteration = report->iteration;
}

static void print_duration(char *text, size_t size, double seconds)
{
    long long s = (long long)(seconds + 0.5);
    if (s >= 3600) snprintf(text, size, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
    else snprintf(text, size, "%lld:%02lld", s / 60, s % 60);
}

static void print_tail(char *text, size_t size, const cli_progress *p, const plx_progress *report)
{
    double done = (double)(report->iteration - p->first_iteration), seconds = now() - p->phase_started;
    char left[32];
    text[0] = '\0';
    if (done < 1 || seconds < 0.2) return;
    double rate = done / seconds;
    const char *format = rate >= 100 ? "  %.0f/s" : "  %.2g/s";
    int used = snprintf(text, size, format, rate);
    if (report->max_iterations <= report->iteration || used < 0) return;
    print_duration(left, sizeof left, (double)(report->max_iterations - report->iteration) / rate);
    snprintf(text + used, size - (size_t)used, "  %s left", left);
}

static void draw_bar(cli_progress *p, const plx_progress *report)
{
    char tail[64], objective[40] = "", bar[BAR_CELLS + 1];
    print_tail(tail, sizeof tail, p, report);
    if (!isnan(report->objective)) snprintf(objective, sizeof objective, "  objective %.6g", report->objective);
    fprintf(stderr, "\r\033[K%s ", p->phase);
    if (report->max_iterations > 0) {
        double share = (double)report->iteration / (double)report->max_iterations;
        int cells = (int)(share * BAR_CELLS);
        for (int i = 0; i < BAR_CELLS; i++) bar[i] = i < cells ? '=' : i == cells ? '>' : ' ';
        bar[BAR_CELLS] = '\0';
        fprintf(stderr, "[%s] %lld/%lld", bar, (long long)report->iteration, (long long)report->max_iterations);
    } else {
        fprintf(stderr, "%lld", (long long)report->iteration);
    }
    fprintf(stderr, "%s%s", objective, tail);
    fflush(stderr);
    p->drawn = true;
    p->last_drawn = now();
}

static void print_json(const plx_progress *report)
{
    cli_json j;
    cli_json_start(&j, stderr, false);
    cli_json_open(&j, NULL, '{');
    cli_json_text(&j, "phase", report->phase);
    cli_json_whole(&j, "iteration", report->iteration);
    cli_json_whole(&j, "max_iterations", report->max_iterations);
    cli_json_real(&j, "objective", report->objective);
    cli_json_close(&j, '}');
    fputc('\n', stderr);
}

static int on_progress(const plx_progress *report, void *payload)
{
    cli_progress *p = payload;
    start_phase(p, report);
    if (p->style == CLI_PROGRESS_JSON) print_json(report);
    else if (now() - p->last_drawn > 0.1) draw_bar(p, report);
    return 0;
}

void cli_progress_install(cli_progress *progress, plx_context *ctx)
{
    if (progress->style != CLI_PROGRESS_NONE) plx_context_set_progress(ctx, on_progress, progress);
}

void cli_progress_clear(cli_progress *progress)
{
    if (progress->drawn) fputs("\r\033[K", stderr);
    progress->drawn = false;
}
