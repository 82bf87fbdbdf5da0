/*
 * parallax doctor: whether this machine is used as it should be.
 */
#include <stdlib.h>
#include <string.h>

#include "jsonout.h"
#include "kernels.h"
#include "output.h"

typedef struct findings {
    double gflops;
    const char *better, *chosen; /* kernels that would be better; OPENBLAS_CORETYPE as set */
} findings;

static void print_advice(const findings *f)
{
    if (f->better && f->chosen)
        printf("wrong    kernels for %s, because OPENBLAS_CORETYPE=%s is set; this processor can run those for %s: "
               "unset it\n",
               plx_blas_core(), f->chosen, f->better);
    else if (f->better)
        printf("wrong    kernels for %s, and this processor can run those for %s: set OPENBLAS_CORETYPE=%s\n",
               plx_blas_core(), f->better, f->better);
    else if (cli_kernels_were_chosen())
        printf("fine     the library did not know this processor; its kernels were set to %s\n", f->chosen);
    else printf("fine     the kernels fit the processor, or nothing better is known\n");
}

static void print_findings(const cli_session *s, const findings *f)
{
    printf("version  %s, %s, memory limit %.3g GiB\n", plx_version(),
           CLI_COUNT(plx_context_threads(s->ctx), "thread", "threads"),
           (double)plx_context_memory_limit(s->ctx) / 1073741824.0);
    printf("blas     %s\n", plx_blas_name());
    printf("kernels  %s\n", plx_blas_core()[0] ? plx_blas_core() : "not told");
    printf("speed    %.3g GFLOP/s, products of 512 x 512 matrices on one core\n", f->gflops);
    print_advice(f);
}

static void print_json(const cli_session *s, const findings *f)
{
    cli_json j;
    cli_json_start(&j, stdout, true);
    cli_json_open(&j, NULL, '{');
    cli_json_text(&j, "version", plx_version());
    cli_json_whole(&j, "threads", plx_context_threads(s->ctx));
    cli_json_text(&j, "blas", plx_blas_name());
    cli_json_text(&j, "kernels", plx_blas_core());
    cli_json_real(&j, "gflops", f->gflops);
    if (f->better) cli_json_text(&j, "better_kernels", f->better);
    cli_json_close(&j, '}');
    putchar('\n');
}

static int run(const cli_args *args)
{
    cli_session s;
    findings f = {0, plx_blas_better_core(), getenv("OPENBLAS_CORETYPE")};
    int code = cli_session_open(&s, args);
    if (code) return code;
    plx_status st = plx_blas_measure(&f.gflops, s.ctx);
    if (st != PLX_OK) code = cli_fail(&s, st);
    else if (cli_flag(args, "json")) print_json(&s, &f);
    else print_findings(&s, &f);
    cli_session_close(&s);
    return code;
}

static const cli_option options[] = {{.name = "json", .kind = CLI_FLAG, .help = "The same as JSON."}, CLI_END_OPTIONS};
static const cli_option *const option_sets[] = {options, NULL};
static const cli_example examples[] = {{"parallax doctor", "Is the linear algebra as fast as this processor allows?"},
                                       CLI_END_EXAMPLES};

const cli_verb cli_verb_doctor = {
    .name = "doctor",
    .summary = "Whether the linear algebra runs as fast as this processor allows.",
    .description =
        "Prints the BLAS library, the processor its kernels are made for, how fast it multiplies matrices on one "
        "core, and what to do when this processor can run better kernels. The command looks at that by "
        "itself whenever it starts, and sets OPENBLAS_CORETYPE when the library does not know the processor; "
        "a value of your own is left alone.",
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
};
