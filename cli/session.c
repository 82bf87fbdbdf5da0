/*
 * The frame around every verb that calls the library.
 *
 * The first Ctrl-C asks the running call to stop (it ends with PLX_E_CANCELLED and leaves no file); a second one
 * kills, because the handler puts the default action back.
 */
#include "session.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "hints.h"

const plx_peers *cli_peers;
const plx_engines *cli_engines;

static plx_context *volatile running;
static volatile sig_atomic_t early; /* a signal came before there was anything to stop */

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    early = 1;
    if (running) plx_context_cancel(running);
}

void cli_catch_interrupt(void)
{
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESETHAND | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

#if defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#if !SANITIZED /* a sanitizer's own start must come first */
/* Before the libraries set themselves up, which takes longer than most of what a user does. */
static void catch_at_start(int argc, char **argv, char **environment)
{
    (void)argc, (void)argv, (void)environment;
    cli_catch_interrupt();
}
__attribute__((section(".preinit_array"), used)) static void (*const at_start)(int, char **, char **) = catch_at_start;
#endif

static void stop_on_interrupt(plx_context *ctx)
{
    running = ctx;
    if (early) plx_context_cancel(ctx);
}

/* ---- messages ---- */

static void keep_warning(cli_session *s, const char *text)
{
    for (int i = 0; i < s->n_warnings; i++)
        if (strcmp(s->warnings[i], text) == 0) return;
    if (s->n_warnings == s->room) {
        int room = 2 * s->room + 8;
        char **more = realloc(s->warnings, (size_t)room * sizeof *more);
        if (!more) return;
        s->warnings = more;
        s->room = room;
    }
    char *copy = strdup(text);
    if (copy) s->warnings[s->n_warnings++] = copy;
}

static void on_log(plx_log_level level, const char *text, void *payload)
{
    cli_session *s = payload;
    if (level == PLX_LOG_WARNING) {
        keep_warning(s, text);
        return;
    }
    cli_progress_clear(&s->progress);
    fprintf(stderr, "%s\n", text);
}

void cli_say(cli_session *s, const char *format, ...)
{
    va_list args;
    if (s->quiet) return;
    cli_progress_clear(&s->progress);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

void cli_say_warnings(cli_session *s)
{
    for (int i = 0; i < s->n_warnings; i++) {
        const char *clusters = strstr(s->warnings[i], "are measured as clusters")         ? " by --clusters"
                               : strstr(s->warnings[i], "holds clusters and is measured") ? ", as with --clusters"
                                                                                          : "";
        cli_say(s, "%swarning:%s %s%s", cli_colour("33"), cli_colour("0"), s->warnings[i], clusters);
    }
}

int cli_fail(cli_session *s, plx_status status)
{
    if (status == PLX_OK) return CLI_DONE;
    cli_progress_clear(&s->progress);
    const char *message = plx_context_error(s->ctx);
    char hint[200];
    fprintf(stderr, "%sparallax:%s %s%s\n", cli_colour("31"), cli_colour("0"), message,
            cli_hint(hint, sizeof hint, s->args->verb, status, message));
    if (status == PLX_E_CANCELLED && early) return CLI_INTERRUPTED; /* else the time limit struck */
    return status == PLX_E_ARG ? CLI_USAGE : CLI_FAILED;
}

int cli_fail_text(cli_session *s, const char *format, ...)
{
    va_list args;
    cli_progress_clear(&s->progress);
    fprintf(stderr, "%sparallax:%s ", cli_colour("31"), cli_colour("0"));
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return CLI_FAILED;
}

/* ---- life ---- */

static plx_context_options context_options(const cli_args *args)
{
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    const char *seed = cli_value(args, "seed"), *memory = cli_value(args, "memory");
    const char *on_device = cli_value(args, "device-memory");
    long long bytes = 0;
    if (seed) cli_read_seed(&o.seed, seed);
    if (memory && cli_read_size(&bytes, memory)) o.memory_limit = bytes;
    o.threads = (int)cli_whole(args, "threads", 0);
    o.deterministic = (int)cli_whole(args, "deterministic", 1);
    o.time_limit = cli_real(args, "time-limit", 0);
    o.device = cli_value(args, "device");
    if (on_device && cli_read_size(&bytes, on_device)) o.device_memory = bytes;
    return o;
}

int cli_session_open(cli_session *s, const cli_args *args)
{
    plx_context_options o = context_options(args);
    *s = (cli_session){.args = args, .quiet = cli_flag(args, "quiet"), .verbose = cli_flag(args, "verbose")};
    s->progress.style = cli_progress_choose(cli_value(args, "progress"), s->quiet);
    plx_status made = plx_context_create(&s->ctx, &o);
    if (made == PLX_E_ARG && o.device) {
        (void)cli_fail_text(s, "--device %s: there is no such device; it is one of cpu, cuda and auto", o.device);
        return CLI_USAGE;
    }
    if (made != PLX_OK) return cli_fail_text(s, "out of memory");
    plx_context_set_log(s->ctx, s->verbose ? PLX_LOG_DEBUG : PLX_LOG_WARNING, on_log, s);
    cli_progress_install(&s->progress, s->ctx);
    stop_on_interrupt(s->ctx);
    int code = cli_peers ? cli_fail(s, plx_context_set_peers(s->ctx, cli_peers)) : CLI_DONE;
    if (!code && cli_engines) code = cli_fail(s, plx_context_set_engines(s->ctx, cli_engines));
    if (!code && cli_flag(args, "stream")) code = cli_fail(s, plx_context_set_stream(s->ctx, NULL));
    if (code) cli_session_close(s);
    return code;
}

void cli_session_close(cli_session *s)
{
    running = NULL;
    cli_progress_clear(&s->progress);
    if (cli_peers && s->verbose)
        cli_say(s, "ranks    %lld bytes sent by this one", (long long)plx_context_bytes_sent(s->ctx));
    for (int i = 0; i < s->n_warnings; i++) free(s->warnings[i]);
    free(s->warnings);
    plx_context_destroy(s->ctx);
}

/* ---- data ---- */

char *cli_data_directory(const char *path)
{
    struct stat info;
    if (!path) return strdup(".");
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return strdup(path);
    const char *slash = strrchr(path, '/');
    if (!slash) return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

const char *cli_count(char *buffer, size_t size, long long count, const char *singular, const char *plural)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%lld", count < 0 ? -count : count);
    size_t used = 0;
    if (count < 0 && size) buffer[used++] = '-';
    for (int i = 0; i < length && used + 2 < size; i++) {
        if (i && (length - i) % 3 == 0) buffer[used++] = ',';
        buffer[used++] = digits[i];
    }
    const char *unit = count == 1 ? singular : plural;
    snprintf(buffer + used, size - used, "%s%s", *unit ? " " : "", unit);
    return buffer;
}
