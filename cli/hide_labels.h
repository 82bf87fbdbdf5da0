/*
 * A data set where only some samples keep their label: --labels of fit and of data split.
 */
#ifndef PARALLAX_CLI_HIDE_LABELS_H
#define PARALLAX_CLI_HIDE_LABELS_H

#include "session.h"

/* Only the samples chosen by `spec` keep their label. Where `data` has no truth, the labels it had become the truth,
 * so that those now hidden can be measured against. */
int cli_hide_labels(plx_dataset **out, cli_session *s, const plx_dataset *data, const char *spec);

#endif
