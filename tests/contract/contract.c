/*
 * contract METHOD [CHECK]: runs all checks (or those whose name contains CHECK) on one method. Prints a line per broken
 * promise; exit status 1 when there is one. PLX_SOURCE_DIR names the source tree.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contract.h"
#include "contract_extra.h"

void complain(trial *t, const char *fmt, ...)
{
    va_list args;
    printf("%s (%s): %s: ", t->method, t->variant_name, t->check);
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
    t->failures++;
}

static int run_list(trial *t, const check *list, const char *filter)
{
    int count = 0;
    for (; list->name; list++) {
        if (filter && !strstr(list->name, filter)) continue;
        t->check = list->name;
        double started = processor_seconds();
        list->run(t);
        if (getenv("PLX_CONTRACT_TIMES")) printf("%-28s %.2f s\n", list->name, processor_seconds() - started);
        count++;
    }
    return count;
}

static int run_variant(trial *t, const char *filter, int variant, const char *name, int *tried)
{
    static const check *const lists[] = {params_checks, data_checks,  invariance_checks, run_checks,
                                         memory_checks, model_checks, metamorphic_checks};
    int checks = 0;
    t->variant = variant;
    t->variant_name = name;
    t->first = *tried == 0;
    ++*tried;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) checks += run_list(t, lists[i], filter);
    return checks;
}

/* The defaults, then every row of the method in the table of settings. */
static int run_all(trial *t, const char *filter)
{
    int checks = 0, tried = 0;
    bool defaults = true;
    for (int e = 0; e < N_EXTRA_SETTINGS; e++)
        if (strcmp(EXTRA_SETTINGS[e].method, t->method) == 0 && strcmp(EXTRA_SETTINGS[e].name, "needed") == 0)
            defaults = false;
    if (defaults) checks += run_variant(t, filter, -1, "defaults", &tried);
    for (int e = 0; e < N_EXTRA_SETTINGS; e++)
        if (strcmp(EXTRA_SETTINGS[e].method, t->method) == 0)
            checks += run_variant(t, filter, e, EXTRA_SETTINGS[e].name, &tried);
    t->check = "seeds";
    if (t->seeds_tried && can(t, PLX_IS_RANDOM) && !t->seed_mattered)
        complain(t, "is random, but no seed changes anything with any of its rows");
    return checks;
}

int main(int argc, char **argv)
{
    trial t = {.source = getenv("PLX_SOURCE_DIR"), .variant = -1, .variant_name = "all", .check = "files"};
    int checks = 0;
    if (argc < 2 || argc > 3 || !(t.about = plx__method_find(argv[1]))) {
        fprintf(stderr, "usage: contract METHOD [CHECK]\n");
        return 2;
    }
    t.method = t.about->name;
    if (!t.source) t.source = ".";
    snprintf(t.directory, sizeof t.directory, "/tmp/plx_contract_XXXXXX");
    if (!mkdtemp(t.directory)) return 2;
    checks = run_all(&t, argc == 3 ? argv[2] : NULL);
    if (rmdir(t.directory) != 0) complain(&t, "files are left in the scratch directory %s", t.directory);
    printf("%s: %d checks, %d broken promises\n", t.method, checks, t.failures);
    return t.failures || !checks ? 1 : 0;
}
