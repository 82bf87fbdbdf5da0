/*
 * What the verbs of `parallax ner` share: settings, their help, and options.
 */
#ifndef PARALLAX_CLI_NER_COMMON_H
#define PARALLAX_CLI_NER_COMMON_H

#include "output.h"

/* The verb cannot do without these options; ended by NULL. CLI_DONE, or one line and CLI_USAGE. */
int cli_ner_need(const cli_args *args, const char *const *options);

/* Settings of a purpose ("memm", ..) with every --set. */
int cli_ner_params(plx_params **out, cli_session *s, const char *what);

/* Make a model and write it: --model, --json and what else `outputs` names, after checking that the options `needed` are
 * there and the outputs can be written. */
typedef int (*cli_ner_make_fn)(plx_ner_model **out, cli_session *s);
int cli_ner_make(const cli_args *args, const char *const *needed, const char *const *outputs, cli_ner_make_fn make);

/* "Settings of WHAT (--set KEY=VALUE):" and a line for each. */
void cli_ner_list(FILE *to, const char *what, const char *title);

extern const cli_option cli_ner_set_options[];
extern const cli_option cli_ner_scheme_options[];
extern const cli_positional cli_ner_positionals[];

#endif
