/*
 * Says what was chosen and why, who was left out, and how far the members agree: where they do not, nobody can tell.
 */
#include "fit_auto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "report_file.h"
#include "summary.h"

static const char *const outputs[] = {"out", "json", "report", NULL};

int cli_check_auto(const cli_args *args)
{
    static const char *const others[] = {"set", "model", "dump", "show-changed", NULL};
    for (int i = 0; others[i]; i++)
        if (cli_flag(args, others[i]))
            return cli_usage_error(args->verb, "--%s belongs to one method; auto is several: fit the one you want",
                                   others[i]);
    return CLI_DONE;
}

static double mean_agreement(const plx_portfolio *p)
{
    double sum = 0, count = 0;
    for (plx_index i = 0; i < plx_portfolio_members(p); i++) {
        double a = plx_portfolio_agreement(p, i);
        if (isnan(a)) continue;
        sum += a;
        count++;
    }
    return count > 0 ? sum / count : NAN;
}

static void say_members(cli_session *s, const plx_portfolio *p)
{
    char names[200] = "";
    size_t used = 0;
    double agreement = mean_agreement(p);
    for (plx_index i = 0; i < plx_portfolio_members(p); i++)
        if (!plx_portfolio_left_out(p, i) && used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                                     plx_portfolio_method(p, i));
    cli_say(s, "chosen   %s", names);
    cli_say(s, "because  %s", plx_portfolio_reason(p));
    for (plx_index i = 0; i < plx_portfolio_members(p); i++)
        if (plx_portfolio_left_out(p, i))
            cli_say(s, "left out %s: %s", plx_portfolio_method(p, i), plx_portfolio_left_out(p, i));
    if (isnan(agreement)) return;
    cli_say(s, "agree    on %.0f %% of the samples without a label, two and two%s", 100 * agreement,
            agreement < 0.6 ? ": the labels do not tell much, or too few are given; do not rely on the answers" : "");
}

static int write_json(cli_session *s, const plx_portfolio *p, const plx_metrics *metrics, const char *path)
{
    cli_json_file f;
    int code = cli_json_file_open(&f, s);
    if (code) return code;
    cli_json_text(&f.j, "method", "auto");
    cli_json_text(&f.j, "reason", plx_portfolio_reason(p));
    cli_json_whole(&f.j, "seed", (long long)plx_context_seed(s->ctx));
    cli_json_open(&f.j, "members", '[');
    for (plx_index i = 0; i < plx_portfolio_members(p); i++) {
        cli_json_open(&f.j, NULL, '{');
        cli_json_text(&f.j, "method", plx_portfolio_method(p, i));
        cli_json_real(&f.j, "agreement", plx_portfolio_agreement(p, i));
        cli_json_text(&f.j, "left_out", plx_portfolio_left_out(p, i));
        cli_json_close(&f.j, '}');
    }
    cli_json_close(&f.j, ']');
    cli_json_open(&f.j, "metrics", '{');
    for (plx_index i = 0; i < plx_metrics_count(metrics); i++)
        cli_json_real(&f.j, plx_metrics_name(metrics, i), plx_metrics_value(metrics, i, NULL));
    cli_json_close(&f.j, '}');
    cli_json_warnings(&f.j, s);
    return cli_json_file_write(&f, s, path);
}

static int write_report(cli_session *s, const plx_portfolio *p, const plx_dataset *data)
{
    plx_report *report = NULL;
    int code = cli_report_open(&report, s, PLX_REPORT_FIT);
    if (report && !code) code = cli_fail(s, plx_report_add_portfolio(report, s->ctx, p, data));
    return cli_report_close(report, s, code);
}

int cli_fit_auto(cli_session *s, const plx_dataset *data)
{
    const char *out = cli_value(s->args, "out"), *json = cli_value(s->args, "json");
    plx_portfolio *p = NULL;
    plx_metrics *metrics = NULL;
    char *directory = cli_data_directory(s->args->positional[1]);
    int code = directory ? CLI_DONE : cli_fail_text(s, "out of memory");
    if (!code) code = cli_fail(s, plx_portfolio_fit(&p, s->ctx, data, directory));
    if (!code) code = cli_fail(s, plx_portfolio_metrics(&metrics, s->ctx, p, data));
    if (!code && out) code = cli_fail(s, plx_prediction_write(s->ctx, plx_portfolio_prediction(p), data, out));
    if (!code && json) code = write_json(s, p, metrics, json);
    if (!code) code = write_report(s, p, data);
    if (!code) {
        cli_say_data(s, data);
        say_members(s, p);
        cli_say_metrics(s, metrics);
        cli_say_warnings(s);
        cli_say_outputs(s, outputs);
    }
    plx_metrics_destroy(metrics);
    plx_portfolio_destroy(p);
    free(directory);
    return code;
}
