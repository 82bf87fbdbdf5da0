/*
 * Generate a data set with holes, choose parameters, fit, keep the model in a file, load it again and label with it.
 */
#include <parallax/parallax.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(plx_context *ctx, plx_status status)
{
    if (status == PLX_OK) return;
    fprintf(stderr, "%s: %s\n", plx_status_name(status), plx_context_error(ctx));
    exit(1);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "example.plx";
    const char *settings[] = {"n=300", "views=3", "classes=3", "missing=0.2", "labelled=10"};
    plx_context *ctx = NULL;
    plx_dataset *data = NULL;
    plx_params *params = NULL;
    plx_model *model = NULL, *again = NULL;
    plx_prediction *prediction = NULL;
    if (plx_context_create(&ctx, NULL) != PLX_OK) return 1;

    check(ctx, plx_generate(&data, ctx, "text", settings, 5));
    check(ctx, plx_params_create(&params, ctx, "nb"));
    check(ctx, plx_params_set_real(params, ctx, "smoothing", 0.5));
    check(ctx, plx_fit(&model, ctx, "nb", data, params, NULL));
    check(ctx, plx_model_save(ctx, model, path));

    check(ctx, plx_model_load(&again, ctx, path));
    check(ctx, plx_predict(&prediction, ctx, again, data));
    plx_index same = 0, right = 0, n = plx_dataset_samples(data);
    for (plx_index i = 0; i < n; i++) {
        const char *label = plx_prediction_label(prediction, i);
        same += strcmp(label, plx_prediction_label(plx_model_prediction(model), i)) == 0;
        right += strcmp(label, plx_dataset_truth(data, i)) == 0;
    }
    printf("%d of %d labels as before saving, %.0f %% right\n", (int)same, (int)n, 100.0 * (double)right / (double)n);

    plx_prediction_destroy(prediction);
    plx_model_destroy(again);
    plx_model_destroy(model);
    plx_params_destroy(params);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
    return same == n ? 0 : 1;
}
