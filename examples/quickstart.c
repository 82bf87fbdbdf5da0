/*
 * Two views of four samples, two of them labelled, one hole: fit, read the labels, predict a new sample.
 */
#include <parallax/parallax.h>
#include <stdio.h>
#include <stdlib.h>

static void check(plx_context *ctx, plx_status status)
{
    if (status == PLX_OK) return;
    fprintf(stderr, "%s: %s\n", plx_status_name(status), plx_context_error(ctx));
    exit(1);
}

int main(void)
{
    /* Word counts of four pages, and which of three sites link to them. Page 3 has no known links. */
    static const double words[] = {3, 0, 1, 2, 1, 0, 0, 4, 1, 0, 3, 2};
    static const double links[] = {1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0};
    static const uint8_t has_links[] = {1, 1, 1, 0};
    static const char *const labels[] = {"sport", "?", "music", "?"};
    static const char *const vocabulary[] = {"goal", "song", "year"};
    static const double new_words[] = {5, 1, 0};

    plx_context *ctx = NULL;
    plx_dataset *data = NULL, *page = NULL;
    plx_model *model = NULL;
    plx_prediction *prediction = NULL;
    if (plx_context_create(&ctx, NULL) != PLX_OK) return 1;

    check(ctx, plx_dataset_create(&data, ctx, "pages", 4));
    check(ctx, plx_dataset_add_dense(data, ctx, "text", PLX_VIEW_COUNTS, (plx_cmat){words, 4, 3, 3}, vocabulary, NULL));
    check(ctx, plx_dataset_add_dense(data, ctx, "links", PLX_VIEW_BINARY, (plx_cmat){links, 4, 3, 3}, NULL, has_links));
    check(ctx, plx_dataset_set_labels(data, ctx, labels));

    check(ctx, plx_fit(&model, ctx, "nb", data, NULL, NULL));
    for (plx_index i = 0; i < plx_dataset_samples(data); i++)
        printf("page %d: %s\n", (int)i, plx_prediction_label(plx_model_prediction(model), i));

    /* A new page, known by its words only. */
    check(ctx, plx_dataset_create(&page, ctx, "new", 1));
    check(ctx,
          plx_dataset_add_dense(page, ctx, "text", PLX_VIEW_COUNTS, (plx_cmat){new_words, 1, 3, 3}, vocabulary, NULL));
    check(ctx, plx_predict(&prediction, ctx, model, page));
    printf("new page: %s (%.3f)\n", plx_prediction_label(prediction, 0), plx_prediction_scores(prediction).data[1]);

    plx_prediction_destroy(prediction);
    plx_dataset_destroy(page);
    plx_model_destroy(model);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
    return 0;
}
