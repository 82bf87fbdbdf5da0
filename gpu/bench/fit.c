/*
 * Fits a method several times in one process, and says how long each fit took. The first one opens the GPU and loads the
 * kernels it needs; those after it are what a program or a notebook that has used the GPU before waits for.
 *
 *   bench_fit DATA METHOD DEVICE TIMES [KEY=VALUE...]
 */
#include <parallax/parallax.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void check(plx_context *ctx, plx_status status)
{
    if (status == PLX_OK) return;
    fprintf(stderr, "bench_fit: %s: %s\n", plx_status_name(status), plx_context_error(ctx));
    exit(1);
}

static double now(void)
{
    struct timespec s;
    clock_gettime(CLOCK_MONOTONIC, &s);
    return (double)s.tv_sec + 1e-9 * (double)s.tv_nsec;
}

static void set_all(plx_context *ctx, plx_params *params, char **settings, int count)
{
    for (int i = 0; i < count; i++) {
        char *value = strchr(settings[i], '=');
        if (!value) {
            fprintf(stderr, "bench_fit: %s is not KEY=VALUE\n", settings[i]);
            exit(2);
        }
        *value++ = '\0';
        check(ctx, plx_params_set(params, ctx, settings[i], value));
    }
}

int main(int argc, char **argv)
{
    plx_context_options options = PLX_CONTEXT_OPTIONS_INIT;
    plx_context *ctx = NULL;
    plx_dataset *data = NULL;
    plx_params *params = NULL;
    if (argc < 5) {
        fprintf(stderr, "usage: bench_fit DATA METHOD DEVICE TIMES [KEY=VALUE...]\n");
        return 2;
    }
    options.device = argv[3];
    if (plx_context_create(&ctx, &options) != PLX_OK) return 1;
    check(ctx, plx_dataset_read(&data, ctx, argv[1], NULL));
    check(ctx, plx_params_create(&params, ctx, argv[2]));
    set_all(ctx, params, argv + 5, argc - 5);
    for (int i = 0; i < atoi(argv[4]); i++) {
        plx_model *model = NULL;
        double begin = now();
        check(ctx, plx_fit(&model, ctx, argv[2], data, params, NULL));
        printf("%.6g\n", now() - begin);
        plx_model_destroy(model);
    }
    plx_params_destroy(params);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
    return 0;
}
