/*
 * Output files. Everything is checked first, because a fit of an hour must not end at a mistyped directory, nor
 * replace what it was read from.
 */
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Something to write to that is no file on a disk: a device, a pipe, a socket. */
static bool is_stream(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

static bool is_regular(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* The directory a path is in; the caller frees it. NULL: no memory. */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return !slash ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* Can a file be made there? For a link that leads to a file, its directory counts. */
static int check_directory(cli_session *s, const char *path)
{
    char *real = realpath(path, NULL), *directory = directory_of(real ? real : path);
    int code = CLI_DONE;
    free(real);
    if (!directory) return cli_fail_text(s, "out of memory");
    if (access(directory, F_OK) != 0)
        code = cli_fail_text(s, "%s: the directory '%s' does not exist; create it first", path, directory);
    else if (!is_directory(directory)) code = cli_fail_text(s, "%s: '%s' is not a directory", path, directory);
    else if (access(directory, W_OK) != 0) code = cli_fail_text(s, "%s: cannot write: %s", path, strerror(errno));
    free(directory);
    return code;
}

int cli_check_output(cli_session *s, const char *path, bool stream_allowed)
{
    if (strcmp(path, "-") == 0)
        return stream_allowed ? CLI_DONE
                              : cli_fail_text(s, "'-' (standard output) is not possible here; give the name of a file");
    if (is_directory(path)) return cli_fail_text(s, "%s: is a directory, expected a file name to write", path);
    if (is_stream(path) && !stream_allowed)
        return cli_fail_text(s, "%s: is a device or a pipe; this needs the name of a file", path);
    if (access(path, F_OK) == 0 && access(path, W_OK) != 0)
        return cli_fail_text(s, "%s: cannot write: %s", path, strerror(errno));
    return is_stream(path) ? CLI_DONE : check_directory(s, path);
}

/* ---- the same file under two names ---- */

static bool same_place(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Of files that are not there yet: the same name in the same directory. */
static bool same_new_file(const char *a, const char *b)
{
    const char *base_a = strrchr(a, '/'), *base_b = strrchr(b, '/');
    struct stat in_a, in_b;
    if (strcmp(base_a ? base_a + 1 : a, base_b ? base_b + 1 : b) != 0) return false;
    char *dir_a = directory_of(a), *dir_b = directory_of(b);
    bool same = dir_a && dir_b && stat(dir_a, &in_a) == 0 && stat(dir_b, &in_b) == 0 && same_place(&in_a, &in_b);
    free(dir_a);
    free(dir_b);
    return same;
}

/* Two devices or pipes of one name do no harm. */
static bool same_file(const char *a, const char *b)
{
    struct stat at_a, at_b;
    if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0) return strcmp(a, b) == 0;
    bool there_a = stat(a, &at_a) == 0, there_b = stat(b, &at_b) == 0;
    if (there_a && there_b) return S_ISREG(at_a.st_mode) && same_place(&at_a, &at_b);
    return !there_a && !there_b && same_new_file(a, b);
}

/* Is `file` what `input` names, or the manifest of the directory it names? */
static bool is_input(const char *file, const char *input)
{
    char *manifest = NULL;
    if (!is_directory(input)) return strcmp(file, "-") != 0 && is_regular(input) && same_file(file, input);
    if (asprintf(&manifest, "%s/dataset.json", input) < 0) return false;
    bool same = same_file(file, manifest);
    free(manifest);
    return same;
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

/* A file named inside a value: --labels file:F, --set KEY=F, where F may be relative to the data. */
static bool names_file(const cli_args *args, const cli_given *other, const char *file)
{
    const char *value = other->value;
    if (!value) return false;
    if (other->option->kind == CLI_SETTING) value = strchr(value, '=') + 1;
    if (strncmp(value, "file:", 5) == 0) value += 5;
    if (!*value || strcmp(value, "-") == 0) return false;
    if (is_input(file, value)) return true;
    for (int p = 0; p < args->n_positional; p++) {
        char *path = NULL, *directory = NULL;
        bool same = false;
        if (cli_verb_positional(args->verb, p)->kind != CLI_FILE || !args->positional[p]) continue;
        directory = cli_data_directory(args->positional[p]);
        if (directory && asprintf(&path, "%s/%s", directory, value) >= 0)
            same = is_regular(path) && same_file(file, path);
        free(path);
        free(directory);
        if (same) return true;
    }
    return false;
}

/* No output may replace what the run reads. */
static int check_inputs(const cli_args *args, const cli_given *g, const char *const *options)
{
    for (int p = 0; p < args->n_positional; p++)
        if (cli_verb_positional(args->verb, p)->kind == CLI_FILE && args->positional[p] &&
            is_input(file_of(g), args->positional[p]))
            return cli_usage_error(args->verb, "--%s would replace '%s', which is read as %s", g->option->name,
                                   file_of(g), cli_verb_positional(args->verb, p)->name);
    for (int i = 0; i < args->n_given; i++) {
        const cli_given *other = &args->given[i];
        bool file = other->option->kind == CLI_FILE && !is_output(other, options);
        bool inside = other->option->kind == CLI_SETTING || strcmp(other->option->name, "labels") == 0;
        if ((file && is_input(file_of(g), other->value)) || (inside && names_file(args, other, file_of(g))))
            return cli_usage_error(args->verb, "--%s would replace '%s', which is read for --%s", g->option->name,
                                   file_of(g), other->option->name);
    }
    return CLI_DONE;
}

static int check_others(const cli_args *args, int i, const char *const *options)
{
    const cli_given *g = &args->given[i];
    for (int k = 0; k < i; k++) {
        const cli_given *other = &args->given[k];
        if ((other->option != g->option || g->option->kind == CLI_DUMP) && is_output(other, options) &&
            same_file(file_of(other), file_of(g)))
            return cli_usage_error(args->verb, "--%s and --%s both write '%s'", other->option->name, g->option->name,
                                   file_of(g));
    }
    return CLI_DONE;
}

typedef struct written {
    const char *option, *endings, *told;
} written;

/* How an option's file is written; NULL: any way. */
static const written *written_as(const cli_args *args, const cli_given *g)
{
    static const written FORMATS[] = {
        {"out", ".csv", "predictions are written as csv; let the name end in .csv"},
        {"json", ".json", "the result is written as JSON; let the name end in .json"},
        {"model", ".plx", "models have a format of their own; let the name end in .plx"},
        {"report", ".html", "reports are web pages; let the name end in .html"},
        {"", ".npy .mtx .tsv .csv", "arrays are written as .npy, .mtx, .tsv or .csv; let the name end so"}};
    enum { FORMATS_COUNT = sizeof FORMATS / sizeof *FORMATS };
    bool labels = args->verb == &cli_verb_fit || args->verb == &cli_verb_predict;
    if (g->option->kind == CLI_DUMP) return &FORMATS[FORMATS_COUNT - 1];
    for (int k = labels ? 0 : 1; k < FORMATS_COUNT - 1; k++)
        if (strcmp(g->option->name, FORMATS[k].option) == 0) return &FORMATS[k];
    return NULL;
}

/* A name that promises a format the file would not have. */
static int check_ending(const cli_args *args, const cli_given *g)
{
    static const char *const known[] = {".csv", ".tsv", ".json", ".npy",  ".mtx",     ".plx",    ".html",
                                        ".svg", ".xls", ".xlsx", ".h5",   ".mat",     ".npz",    ".gz",
                                        ".zip", ".pkl", ".h5mu", ".h5ad", ".parquet", ".feather"};
    const char *file = file_of(g);
    const written *as = written_as(args, g);
    size_t length = strlen(file);
    for (size_t k = 0; as && k < sizeof known / sizeof *known; k++) {
        size_t ending = strlen(known[k]);
        if (length > ending && strcasecmp(file + length - ending, known[k]) == 0 && !strstr(as->endings, known[k]))
            return cli_usage_error(args->verb, "--%s %s: %s", g->option->name, g->value, as->told);
    }
    return CLI_DONE;
}

int cli_check_data_files(cli_session *s, const plx_dataset *data)
{
    const cli_args *args = s->args;
    const char *file = NULL;
    for (int i = 0; s->outputs && i < args->n_given; i++) {
        const cli_given *g = &args->given[i];
        if (!is_output(g, s->outputs)) continue;
        for (plx_index k = 0; (file = plx_dataset_file(data, k)); k++)
            if (is_input(file_of(g), file))
                return cli_usage_error(args->verb, "--%s would replace '%s', which is part of the data",
                                       g->option->name, file);
    }
    return CLI_DONE;
}

int cli_check_outputs(cli_session *s, const char *const *options)
{
    const cli_args *args = s->args;
    int code = CLI_DONE;
    s->outputs = options;
    for (int i = 0; !code && i < args->n_given; i++) {
        const cli_given *g = &args->given[i];
        if (!is_output(g, options)) continue;
        code = check_others(args, i, options);
        if (!code) code = check_inputs(args, g, options);
        if (!code) code = check_ending(args, g);
        bool seekable = strcmp(g->option->name, "model") == 0 || strcmp(g->option->name, "checkpoint") == 0;
        if (!code) code = cli_check_output(s, file_of(g), !seekable);
    }
    return code;
}

void cli_say_outputs(cli_session *s, const char *const *options)
{
    for (int i = 0; i < s->args->n_given; i++) {
        const cli_given *g = &s->args->given[i];
        if (is_output(g, options) && strcmp(file_of(g), "-") != 0) cli_say(s, "wrote    %s", file_of(g));
    }
}

bool cli_goes_by_rows(const char *path)
{
    static const char *const others[] = {".mtx", ".svm", ".svmlight", ".libsvm"};
    size_t length = strlen(path);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        size_t ending = strlen(others[k]);
        if (length > ending && strcasecmp(path + length - ending, others[k]) == 0) return false;
    }
    return true;
}

int cli_check_new(cli_session *s, const char *path)
{
    struct stat info;
    if (lstat(path, &info) == 0) return cli_fail_text(s, "%s: already exists; choose another name or remove it", path);
    return CLI_DONE;
}

int cli_write_text(cli_session *s, const char *path, const char *text)
{
    return cli_fail(s, plx_text_write(s->ctx, text, path));
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

int cli_json_file_open(cli_json_file *f, cli_session *s)
{
    int code = cli_sink_open(&f->sink, s);
    if (code) return code;
    cli_json_start(&f->j, f->sink.to, true);
    cli_json_open(&f->j, NULL, '{');
    return CLI_DONE;
}

int cli_json_file_write(cli_json_file *f, cli_session *s, const char *path)
{
    cli_json_close(&f->j, '}');
    fputc('\n', f->sink.to);
    return cli_sink_write(&f->sink, s, path);
}

void cli_json_warnings(cli_json *j, const cli_session *s)
{
    cli_json_open(j, "warnings", '[');
    for (int i = 0; i < s->n_warnings; i++) cli_json_text(j, NULL, s->warnings[i]);
    cli_json_close(j, ']');
}
