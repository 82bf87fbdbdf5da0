/*
 * A directory with held.txt (FLAGS) and N samples of D counts in two classes, with their linear kernel. The test defines
 * N, D, SEED and FLAGS before it includes this.
 */
#ifndef PLX_HELDOUT_DESK_H
#define PLX_HELDOUT_DESK_H

typedef struct desk {
    plx_context *ctx;
    char directory[64];
    double x[N * D], gram[N * N];
    int label[N];
} desk;

static void open_desk(desk *k)
{
    plx__rng rng = plx__rng_start(SEED, 5);
    k->ctx = test_context(1);
    make_directory(k->directory);
    write_file(k->directory, "held.txt", FLAGS);
    for (int i = 0; i < N; i++) {
        k->label[i] = i % 4 == 3 ? -1 : i % 2;
        for (int f = 0; f < D; f++) k->x[i * D + f] = 1 + random_count(&rng, 4) + 2 * (f == i % 2);
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            k->gram[i * N + j] = 0;
            for (int f = 0; f < D; f++) k->gram[i * N + j] += k->x[i * D + f] * k->x[j * D + f];
        }
}

static void close_desk(desk *k)
{
    remove_directory(k->directory);
    plx_context_destroy(k->ctx);
}

#endif
