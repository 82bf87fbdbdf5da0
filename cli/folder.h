/*
 * Several data sets that belong together in one new directory: all of them, or none.
 */
#ifndef PARALLAX_CLI_FOLDER_H
#define PARALLAX_CLI_FOLDER_H

#include "output.h"

typedef struct cli_folder {
    char *path;      /* the name it gets in the end */
    char *temporary; /* where it is filled */
} cli_folder;

int cli_folder_open(cli_folder *folder, cli_session *s, const char *path);
/* Write a data set to NAME inside; parents are made. */
int cli_folder_add(cli_folder *folder, cli_session *s, const plx_dataset *data, const char *name);
/* Rename into place when `code` is CLI_DONE, else remove what was written. Returns the final code. */
int cli_folder_close(cli_folder *folder, cli_session *s, int code);

#endif
