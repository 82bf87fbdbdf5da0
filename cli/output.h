/*
 * Files the command writes: checked before the work starts, complete or absent afterwards.
 */
#ifndef PARALLAX_CLI_OUTPUT_H
#define PARALLAX_CLI_OUTPUT_H

#include "jsonout.h"
#include "session.h"

/* Can `path` be written? Its directory must be there and it must not be a directory itself. "-" is standard output;
 * that, devices and pipes only with `stream_allowed`. CLI_DONE or one line and CLI_FAILED. */
int cli_check_output(cli_session *s, const char *path, bool stream_allowed);
/* The same for every option that names an output; two that name the same file, in whatever spelling, or one that names
 * a file the run reads, are a usage error. */
int cli_check_outputs(cli_session *s, const char *const *options);
/* The same for the files a data set consists of, once it is read. */
int cli_check_data_files(cli_session *s, const plx_dataset *data);
/* "wrote FILE" for each of them. */
void cli_say_outputs(cli_session *s, const char *const *options);
/* Can several processes write an array to such a file together, each its rows? Of .mtx and svmlight files they cannot. */
bool cli_goes_by_rows(const char *path);
/* A data set to be written must not be there yet. */
int cli_check_new(cli_session *s, const char *path);

/* Write a text through a temporary file; "-" goes to standard output. */
int cli_write_text(cli_session *s, const char *path, const char *text);

/* A stream into memory whose text goes to `path` when it is finished. */
typedef struct cli_sink {
    FILE *to;
    char *text;
    size_t size;
} cli_sink;

int cli_sink_open(cli_sink *sink, cli_session *s);
int cli_sink_write(cli_sink *sink, cli_session *s, const char *path);

/* One JSON object that goes to `path` when it is finished. */
typedef struct cli_json_file {
    cli_sink sink;
    cli_json j;
} cli_json_file;

int cli_json_file_open(cli_json_file *f, cli_session *s);
int cli_json_file_write(cli_json_file *f, cli_session *s, const char *path);
/* "warnings": what the session has warned of so far. */
void cli_json_warnings(cli_json *j, const cli_session *s);

#endif
