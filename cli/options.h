/*
 * Arguments of a verb, checked against its table.
 */
#ifndef PARALLAX_CLI_OPTIONS_H
#define PARALLAX_CLI_OPTIONS_H

#include "cli.h"

typedef struct cli_given {
    const cli_option *option;
    const char *view;  /* of --name.VIEW, else NULL */
    const char *value; /* NULL for a flag */
} cli_given;

struct cli_args {
    const cli_verb *verb;
    cli_given *given;
    int n_given;
    const char **positional; /* NULL where an optional one is absent */
    int n_positional;
    bool help;
    int argc; /* the words themselves */
    char **argv;
};

/* Parse what follows the verb. CLI_DONE, or CLI_USAGE after one line on stderr. With --help only that is noted.
 * The caller calls cli_args_free() in any case. */
int cli_args_parse(cli_args *args, const cli_verb *verb, int argc, char **argv);
void cli_args_free(cli_args *args);

/* Value of the last use of an option, or NULL. */
const char *cli_value(const cli_args *args, const char *option);
bool cli_flag(const cli_args *args, const char *option);
/* Number of a CLI_WHOLE or CLI_REAL option. */
double cli_real(const cli_args *args, const char *option, double otherwise);
long long cli_whole(const cli_args *args, const char *option, long long otherwise);
/* Values of an option that may be repeated: the i-th use, NULL past the end. */
const char *cli_value_at(const cli_args *args, const char *option, int i);
int cli_value_count(const cli_args *args, const char *option);

/* The terminal's sequence for a colour, "0" for none again; "" where stderr is no terminal or NO_COLOR is set. */
const char *cli_colour(const char *code);

/* One line on stderr: `parallax VERB: text; see 'parallax VERB --help'`. Returns CLI_USAGE. */
int cli_usage_error(const cli_verb *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reading numbers. Whole text or nothing. */
bool cli_read_real(double *out, const char *text);
bool cli_read_whole(long long *out, const char *text);
bool cli_read_time(double *out, const char *text); /* seconds */
bool cli_read_size(long long *out, const char *text);
bool cli_read_share(double *out, const char *text);
bool cli_read_seed(uint64_t *out, const char *text);

/* Is `word` one of "a|b|c"? */
bool cli_is_choice(const char *choices, const char *word);

#endif
