/*
 * Choosing a method by what its descriptor promises: nothing here knows a method by name.
 */
#include "method_choice.h"

#include <string.h>

/* ---- tasks ---- */

static bool has_param(const plx_method_info *m, const char *name, const char *word)
{
    plx_param_info p = PLX_PARAM_INFO_INIT;
    for (plx_index i = 0; i < m->params && plx_method_param(&p, m->name, i) == PLX_OK; i++)
        if (strcmp(p.name, name) == 0) return !word || (p.range && strstr(p.range, word));
    return false;
}

bool cli_method_does(const plx_method_info *m, const char *task)
{
    if (strcmp(task, "regression") == 0) return has_param(m, "task", "regression");
    if (strcmp(task, "embed") == 0) return m->task == PLX_TASK_EMBED;
    if (strcmp(task, "cluster") == 0) return m->task == PLX_TASK_CLUSTER || has_param(m, "clusters", NULL);
    return m->task == PLX_TASK_CLASSIFY;
}

const char *cli_method_tasks(char *buffer, size_t size, const plx_method_info *m)
{
    static const char *const tasks[] = {"classify", "cluster", "regression", "embed"};
    size_t used = 0;
    buffer[0] = '\0';
    for (int k = 0; k < 4; k++)
        if (cli_method_does(m, tasks[k]))
            used += (size_t)snprintf(buffer + used, size - used, "%s%s", used ? ", " : "", tasks[k]);
    return buffer;
}

/* ---- data ---- */

typedef struct traits {
    bool holes, nan, kernel, sparse, labels, measurements;
    plx_index views;
} traits;

static traits traits_of(const plx_dataset *data)
{
    traits t = {.views = plx_dataset_views(data)};
    for (plx_index v = 0; v < t.views; v++) {
        plx_view_info info = PLX_VIEW_INFO_INIT;
        if (plx_dataset_view_info(&info, data, v) != PLX_OK) continue;
        t.holes |= info.present < info.rows;
        t.nan |= info.missing_values > 0;
        t.kernel |= info.kind == PLX_VIEW_KERNEL;
        t.sparse |= info.sparse != 0;
        t.measurements |= info.kind == PLX_VIEW_REAL && 4 * info.nonzeros >= info.present * info.cols;
    }
    for (plx_index i = 0; i < plx_dataset_samples(data); i++)
        t.labels |= plx_dataset_label(data, i) || plx_dataset_truth(data, i);
    return t;
}

/* Why the data do not suit the method; NULL: they do. */
static const char *obstacle(const plx_method_info *m, const traits *t, const char *task)
{
    static char text[96];
    bool clusters = task ? strcmp(task, "cluster") == 0 : cli_method_does(m, "cluster");
    if (t->views < m->min_views || (m->max_views && t->views > m->max_views)) {
        snprintf(text, sizeof text, "takes %s%lld views, there %s %lld",
                 t->views < m->min_views ? "at least " : "at most ",
                 (long long)(t->views < m->min_views ? m->min_views : m->max_views), t->views == 1 ? "is" : "are",
                 (long long)t->views);
        return text;
    }
    if (t->holes && !(m->capabilities & PLX_CAN_MISSING_VIEWS)) return "needs complete views, some are missing";
    if (t->nan && !(m->capabilities & PLX_CAN_MISSING_VALUES)) return "needs complete values, some are missing";
    if (t->kernel && !(m->capabilities & PLX_CAN_KERNEL_VIEWS)) return "takes no kernel views";
    if (t->measurements && m->capabilities & PLX_IS_FOR_COUNTS) return "takes counts, there are measurements";
    if (!t->labels && m->task == PLX_TASK_CLASSIFY && !clusters) return "needs labels, there are none";
    return NULL;
}

/* Of the columns, so that the longest fits. */
typedef struct widths {
    int name, tasks;
} widths;

static widths widths_of(const char *task)
{
    plx_method_info m = PLX_METHOD_INFO_INIT;
    char tasks[64];
    widths w = {0, 0};
    for (plx_index i = 0; i < plx_method_count(); i++) {
        if (plx_method_describe(&m, plx_method_name(i)) != PLX_OK || (task && !cli_method_does(&m, task))) continue;
        int name = (int)strlen(m.name), length = (int)strlen(cli_method_tasks(tasks, sizeof tasks, &m));
        if (name > w.name) w.name = name;
        if (length > w.tasks) w.tasks = length;
    }
    return w;
}

static void print_method(const widths *w, const plx_method_info *m, const char *reason)
{
    char tasks[64];
    printf("%-*s  %-*s  %s\n", w->name, m->name, w->tasks, cli_method_tasks(tasks, sizeof tasks, m), reason);
}

static const char *merits(char *buffer, size_t size, const plx_method_info *m, const traits *t)
{
    snprintf(buffer, size, "%s%s%s%s", m->title, t->holes ? "; accepts missing views" : "",
             m->capabilities & PLX_CAN_USE_UNLABELLED && t->labels ? "; learns from unlabelled samples" : "",
             !(m->capabilities & PLX_CAN_PREDICT) ? ""
             : m->task == PLX_TASK_EMBED          ? "; places new samples"
                                                  : "; labels new samples");
    return buffer;
}

void cli_print_choice(const plx_dataset *data, const char *task)
{
    plx_method_info m = PLX_METHOD_INFO_INIT;
    traits t = data ? traits_of(data) : (traits){.views = 0};
    char text[300];
    widths w = widths_of(task);
    plx_index unfit = 0;
    for (plx_index i = 0; i < plx_method_count(); i++) {
        if (plx_method_describe(&m, plx_method_name(i)) != PLX_OK || (task && !cli_method_does(&m, task))) continue;
        if (data && obstacle(&m, &t, task)) unfit++;
        else print_method(&w, &m, data ? merits(text, sizeof text, &m, &t) : m.title);
    }
    if (unfit) printf("\nNot for these data:\n");
    for (plx_index i = 0; unfit && i < plx_method_count(); i++) {
        if (plx_method_describe(&m, plx_method_name(i)) != PLX_OK || (task && !cli_method_does(&m, task))) continue;
        const char *reason = obstacle(&m, &t, task);
        if (reason) print_method(&w, &m, reason);
    }
}
