/*
 * Watch a run, stop it, and see that nothing is left behind.
 */
#include <parallax/parallax.h>
#include <stdio.h>

static int stop_after_reports(const plx_progress *progress, void *payload)
{
    int *left = payload;
    printf("%s: %d of %d\n", progress->phase, (int)progress->iteration, (int)progress->max_iterations);
    return --*left <= 0;
}

int main(void)
{
    const char *settings[] = {"n=200", "views=3", "labelled=10"};
    plx_context *ctx = NULL;
    plx_dataset *data = NULL;
    plx_model *model = NULL;
    int reports = 1;
    if (plx_context_create(&ctx, NULL) != PLX_OK) return 1;
    if (plx_generate(&data, ctx, "text", settings, 3) != PLX_OK) return 1;

    plx_context_set_progress(ctx, stop_after_reports, &reports);
    plx_status status = plx_fit(&model, ctx, "nb", data, NULL, NULL);
    printf("%s: %s\n", plx_status_name(status), plx_context_error(ctx));

    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
    return status == PLX_E_CANCELLED && model == NULL ? 0 : 1;
}
