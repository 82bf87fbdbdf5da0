/*
 * Progress on stderr: a bar on a terminal, one JSON object per line for machines, or nothing.
 */
#ifndef PARALLAX_CLI_PROGRESS_H
#define PARALLAX_CLI_PROGRESS_H

#include "cli.h"

typedef enum cli_progress_style { CLI_PROGRESS_NONE, CLI_PROGRESS_BAR, CLI_PROGRESS_JSON } cli_progress_style;

typedef struct cli_progress {
    cli_progress_style style;
    bool drawn;           /* a bar stands on the current line */
    char phase[64];       /* of the running bar */
    double phase_started; /* seconds; at the first report of the phase */
    plx_index first_iteration;
    double last_drawn;
} cli_progress;

/* The style asked for; "bar" only where stderr is a terminal. */
cli_progress_style cli_progress_choose(const char *asked, bool quiet);
void cli_progress_install(cli_progress *progress, plx_context *ctx);
/* Take the bar away before other text is printed. */
void cli_progress_clear(cli_progress *progress);

#endif
