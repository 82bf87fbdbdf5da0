/*
 * Says what was chosen and why, who was left out, and how far the members agree: where they do not, nobody can tell.
 */
#include "fit_auto.h"

#include <math.h>

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
    for (plx_index i = 0; i < plx_model_members(model); i++)
        if (plx_model_member_left_out(model, i))
            cli_say(s, "left out %s: %s", plx_model_member_method(model, i), plx_model_member_left_out(model, i));
    if (isnan(agreement)) return;
    cli_say(s, "agree    on %.0f %% of the samples without a label, two and two%s", 100 * agreement,
            agreement < 0.6 ? ": the labels do not tell much, or too few are given; do not rely on the answers" : "");
}
