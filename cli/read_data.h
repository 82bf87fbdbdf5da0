/*
 * Reading the data a verb works on: DATA, --view, --labels-from and all that says which column is what.
 */
#ifndef PARALLAX_CLI_READ_DATA_H
#define PARALLAX_CLI_READ_DATA_H

#include "session.h"

/* The verb's reading options. Texts made for them are in `own`. */
typedef struct cli_reading {
    plx_read_options o;
    plx_view_source *views;
    char **own;
    int n_own;
} cli_reading;

int cli_reading_open(cli_reading *r, cli_session *s, const char *path);
void cli_reading_close(cli_reading *r);

/* Read a data set with the verb's reading options; `path` may be NULL where --view is given. No output of the run may be
 * one of its files. */
int cli_read_data(plx_dataset **out, cli_session *s, const char *path);
/* The same for data that a model is applied to: text is counted as it was for the model, unless --text-options says so. */
int cli_read_data_for(plx_dataset **out, cli_session *s, const char *path, const plx_model *model);

#endif
