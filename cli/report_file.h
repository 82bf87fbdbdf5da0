/*
 * --report FILE: a report of what a verb did, with the command that repeats it.
 */
#ifndef PARALLAX_CLI_REPORT_FILE_H
#define PARALLAX_CLI_REPORT_FILE_H

#include "session.h"

/* The option of the verbs that have one. */
extern const cli_option cli_report_options[];

/* Fails in one line, before the work, where --report is given and this build has no page. */
int cli_check_report(cli_session *s);

/* *out is NULL where --report is not given. */
int cli_report_open(plx_report **out, cli_session *s, plx_report_kind kind);
/* The warnings of the session, and the file; destroys the report in any case. NULL: nothing is done. `code` is how the
 * filling went: the file is written only where it went well. */
int cli_report_close(plx_report *report, cli_session *s, int code);

#endif
