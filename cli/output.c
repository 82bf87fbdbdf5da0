/*
 * Output files. Everything is checked first, because a fit of an hour must not end at a mistyped directory, and
 * texts are renamed into place, so that a name in the listing is a complete file.
 */
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

int cli_check_output(cli_session *s, const char *path, bool stdout_allowed)
{
    if (strcmp(path, "-") == 0) return stdout_allowed ? CLI_DONE : cli_fail_text(s, "'-' is no file name here");
    if (is_directory(path)) return cli_fail_text(s, "%s: is a directory, expected a file name to write", path);
    char *slash = strrchr(path, '/');
    char *directory = !slash ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
    int code = CLI_DONE;
    if (!directory) return cli_fail_text(s, "out of memory");
    if (access(directory, F_OK) != 0)
        code = cli_fail_text(s, "%s: the directory '%s' does not exist; create it first", path, directory);
    else if (!is_directory(directory)) code = cli_fail_text(s, "%s: '%s' is not a directory", path, directory);
    else if (access(directory, W_OK) != 0) code = cli_fail_text(s, "%s: cannot write: %s", path, strerror(errno));
    free(directory);
    return code;
}

/* The file an option names: what follows '=' of a --dump. */
static const char *file_of(const cli_given *g)
{
    return g->option->kind == CLI_DUMP ? strchr(g->value, '=') + 1 : g->value;
}

static bool is_output(const cli_given *g, const char *const *options)
{
    for (; *options; options++)
        if (strcmp(g->option->name, *options) == 0) return true;
    return false;
}

int cli_check_outputs(cli_session *s, const char *const *options)
{
    const cli_args *args = s->args;
    for (int i = 0; i < args->n_given; i++) {
        const cli_given *g = &args->given[i];
        if (!is_output(g, options)) continue;
        for (int k = 0; k < i; k++) {
            const cli_given *other = &args->given[k];
            if ((other->option != g->option || g->option->kind == CLI_DUMP) && is_output(other, options) &&
                strcmp(file_of(other), file_of(g)) == 0)
                return cli_usage_error(args->verb, "--%s and --%s both write '%s'", other->option->name,
                                       g->option->name, file_of(g));
        }
        int code = cli_check_output(s, file_of(g), g->option->kind != CLI_DUMP);
        if (code) return code;
    }
    return CLI_DONE;
}

void cli_say_outputs(cli_session *s, const char *const *options)
{
    for (int i = 0; i < s->args->n_given; i++) {
        const cli_given *g = &s->args->given[i];
        if (is_output(g, options) && strcmp(file_of(g), "-") != 0) cli_say(s, "wrote    %s", file_of(g));
    }
}

int cli_check_new(cli_session *s, const char *path)
{
    struct stat info;
    if (lstat(path, &info) == 0)
        return cli_fail_text(s, "%s: is there already; choose another name or remove it", path);
    return CLI_DONE;
}

static int write_failed(cli_session *s, const char *path, int error)
{
    return cli_fail_text(s, "%s: cannot write: %s", strcmp(path, "-") == 0 ? "standard output" : path, strerror(error));
}

int cli_write_text(cli_session *s, const char *path, const char *text)
{
    if (strcmp(path, "-") == 0)
        return fputs(text, stdout) < 0 || fflush(stdout) ? write_failed(s, path, errno) : CLI_DONE;
    char *temporary = NULL;
    if (asprintf(&temporary, "%s.%ld.tmp", path, (long)getpid()) < 0) return cli_fail_text(s, "out of memory");
    int error = 0;
    FILE *f = fopen(temporary, "wbe");
    if (!f) error = errno;
    if (f && fputs(text, f) < 0) error = errno;
    if (f && fclose(f) != 0 && !error) error = errno;
    if (!error && rename(temporary, path) != 0) error = errno;
    if (error && f) unlink(temporary);
    free(temporary);
    return error ? write_failed(s, path, error) : CLI_DONE;
}

int cli_sink_open(cli_sink *sink, cli_session *s)
{
    *sink = (cli_sink){0};
    sink->to = open_memstream(&sink->text, &sink->size);
    return sink->to ? CLI_DONE : cli_fail_text(s, "out of memory");
}

int cli_sink_write(cli_sink *sink, cli_session *s, const char *path)
{
    bool failed = ferror(sink->to) != 0;
    if (fclose(sink->to) != 0) failed = true;
    int code = failed ? cli_fail_text(s, "out of memory") : cli_write_text(s, path, sink->text);
    free(sink->text);
    return code;
}
