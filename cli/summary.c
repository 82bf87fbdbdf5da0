/*
 * Short summaries: what was read and how good the result is.
 */
#include "summary.h"

#include <math.h>
#include <string.h>

enum { LINE = 76 };

plx_index cli_labelled_count(const plx_dataset *data)
{
    plx_index count = 0;
    for (plx_index i = 0; i < plx_dataset_samples(data); i++) count += plx_dataset_label(data, i) != NULL;
    return count;
}

/* Numbers to predict are no classes. */
static bool regression_asked(const cli_session *s)
{
    const char *setting = NULL;
    for (int i = 0; (setting = cli_value_at(s->args, "set", i)); i++)
        if (strcmp(setting, "task=regression") == 0) return true;
    return false;
}

void cli_say_data(cli_session *s, const plx_dataset *data)
{
    char classes[96] = "";
    if (plx_dataset_classes(data) && regression_asked(s))
        snprintf(classes, sizeof classes, ", %s",
                 CLI_COUNT(cli_labelled_count(data), "with a target", "with a target"));
    else if (plx_dataset_classes(data))
        snprintf(classes, sizeof classes, ", %s, %s", CLI_COUNT(plx_dataset_classes(data), "class", "classes"),
                 CLI_COUNT(cli_labelled_count(data), "labelled", "labelled"));
    cli_say(s, "data     %s: %s, %s%s", plx_dataset_name(data),
            CLI_COUNT(plx_dataset_samples(data), "sample", "samples"),
            CLI_COUNT(plx_dataset_views(data), "view", "views"), classes);
}

int cli_put_data(cli_session *s, const plx_dataset *data, const char *path)
{
    int code = cli_fail(s, plx_dataset_write(s->ctx, data, path));
    if (code) return code;
    cli_say_data(s, data);
    cli_say_warnings(s);
    cli_say(s, "wrote    %s", path);
    return CLI_DONE;
}

const char *cli_metric_text(char *buffer, size_t size, const plx_metrics *metrics, plx_index i)
{
    int defined = 0;
    double value = plx_metrics_value(metrics, i, &defined);
    if (!defined) snprintf(buffer, size, "undefined");
    else if (value == floor(value) && fabs(value) < 1e9) snprintf(buffer, size, "%.0f", value);
    else if (fabs(value) < 1e-4 || fabs(value) >= 1e5) snprintf(buffer, size, "%.4g", value);
    else snprintf(buffer, size, "%.4f", value);
    return buffer;
}

void cli_say_metrics(cli_session *s, const plx_metrics *metrics)
{
    char line[LINE + 1] = "", item[160], value[40];
    size_t used = 0;
    for (plx_index i = 0; i < plx_metrics_count(metrics); i++) {
        const char *name = plx_metrics_name(metrics, i);
        if (strchr(name, ':')) continue; /* per class: in --json */
        int length = snprintf(item, sizeof item, "%s%s %s", used ? ", " : "", name,
                              cli_metric_text(value, sizeof value, metrics, i));
        if (length < 0 || used + (size_t)length > LINE - 9) break;
        memcpy(line + used, item, (size_t)length + 1);
        used += (size_t)length;
    }
    const char *basis = plx_metrics_basis(metrics);
    if (used) cli_say(s, "quality  %s%s%s", line, basis ? " " : "", basis ? basis : "");
}

void cli_json_metrics(cli_json *j, const char *key, const plx_metrics *metrics)
{
    cli_json_open(j, key, '{');
    for (plx_index i = 0; i < plx_metrics_count(metrics); i++)
        cli_json_real(j, plx_metrics_name(metrics, i), plx_metrics_value(metrics, i, NULL));
    cli_json_close(j, '}');
}
