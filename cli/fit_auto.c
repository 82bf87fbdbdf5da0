/*
 * Says what was chosen and why, who was left out, and how far the members agree: where they do not, nobody can tell.
 */
#include "fit_auto.h"

#include <math.h>
#include <string.h>

static double mean_agreement(const plx_model *model)
{
    double sum = 0, count = 0;
    for (plx_index i = 0; i < plx_model_members(model); i++) {
        double a = plx_model_member_agreement(model, i);
        if (isnan(a)) continue;
        sum += a;
        count++;
    }
    return count > 0 ? sum / count : NAN;
}

/* Why a member takes no part, without its name in front; NULL: it does. */
static const char *reason_of(const plx_model *model, plx_index i)
{
    const char *why = plx_model_member_left_out(model, i), *name = plx_model_member_method(model, i);
    size_t length = strlen(name);
    return why && strncmp(why, name, length) == 0 && strncmp(why + length, ": ", 2) == 0 ? why + length + 2 : why;
}

/* One line for all that are left out for the same reason. */
static void say_left_out(cli_session *s, const plx_model *model)
{
    for (plx_index i = 0; i < plx_model_members(model); i++) {
        const char *why = reason_of(model, i), *other = NULL;
        char names[200] = "";
        size_t used = 0;
        bool told = false;
        for (plx_index k = 0; why && k < plx_model_members(model); k++) {
            if (!(other = reason_of(model, k)) || strcmp(other, why) != 0) continue;
            told = told || k < i;
            if (used < sizeof names)
                used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                                         plx_model_member_method(model, k));
        }
        if (why && !told) cli_say(s, "left out %s: %s", names, why);
    }
}

void cli_say_members(cli_session *s, const plx_model *model)
{
    char names[200] = "";
    size_t used = 0;
    double agreement = mean_agreement(model);
    for (plx_index i = 0; i < plx_model_members(model); i++)
        if (!plx_model_member_left_out(model, i) && used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                                     plx_model_member_method(model, i));
    cli_say(s, "chosen   %s", names);
    cli_say(s, "because  %s", plx_model_reason(model));
    say_left_out(s, model);
    if (isnan(agreement)) return;
    cli_say(s, "agree    on %.0f %% of the samples without a label, two and two%s", 100 * agreement,
            agreement < 0.6 ? ": the labels do not tell much, or too few are given; do not rely on the answers" : "");
}
