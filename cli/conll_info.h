/*
 * What a file of tagged text holds: the part of `data info` for CoNLL.
 */
#ifndef PARALLAX_CLI_CONLL_INFO_H
#define PARALLAX_CLI_CONLL_INFO_H

#include "session.h"

/* Is DATA such a file, by --format or by its name? */
bool cli_is_conll(const cli_args *args, const char *path);
/* Sentences, tokens, columns and tags: printed, or as JSON to `json` when that is not NULL. */
int cli_conll_info(cli_session *s, const char *path, const char *json);

#endif
