/*
 * Summaries for people, shared by the verbs that label samples.
 */
#ifndef PARALLAX_CLI_SUMMARY_H
#define PARALLAX_CLI_SUMMARY_H

#include "jsonout.h"
#include "session.h"

/* "cora: 2,708 samples, 2 views, 7 classes, 271 labelled" */
void cli_say_data(cli_session *s, const plx_dataset *data);
/* Write a data set and tell what it holds. */
int cli_put_data(cli_session *s, const plx_dataset *data, const char *path);
/* One line of the metrics that matter most; nothing when there are none. */
void cli_say_metrics(cli_session *s, const plx_metrics *metrics);
/* "metrics": {...}, undefined values null. */
void cli_json_metrics(cli_json *j, const char *key, const plx_metrics *metrics);
/* A metric's value for people: at most 6 decimals. */
const char *cli_metric_text(char *buffer, size_t size, const plx_metrics *metrics, plx_index i);

plx_index cli_labelled_count(const plx_dataset *data);

#endif
