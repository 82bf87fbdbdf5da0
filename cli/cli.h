/*
 * What the files of the command share: exit codes, the table that describes a verb, and the parsed arguments.
 *
 * One table per verb drives parsing, help, suggestions, shell completion and the manual page.
 */
#ifndef PARALLAX_CLI_H
#define PARALLAX_CLI_H

#include <stdbool.h>
#include <stdio.h>

#include "parallax/parallax.h"

enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_INTERRUPTED = 130 };

/* What a value may be; it is checked while parsing and says what a shell should complete. */
typedef enum cli_kind {
    CLI_FLAG, /* no value */
    CLI_TEXT,
    CLI_WHOLE,  /* integer within low..high */
    CLI_REAL,   /* number within low..high */
    CLI_SHARE,  /* 0.3 or 30% */
    CLI_SIZE,   /* bytes: 500M, 8G */
    CLI_TIME,   /* seconds: 90, 30s, 5min, 2h */
    CLI_CHOICE, /* one of `choices`, separated by | */
    CLI_FILE,
    CLI_SETTING, /* KEY=VALUE */
    CLI_DUMP,    /* NAME=FILE, written */
    CLI_VIEW,    /* NAME=FILE[:COLUMNS], read */
    CLI_SOURCE,  /* FILE[:COLUMN], read */
    CLI_METHOD,
    CLI_GENERATOR,
    CLI_VERB
} cli_kind;

typedef struct cli_option {
    const char *name;  /* without dashes */
    const char *value; /* what the value is called; NULL for a flag */
    cli_kind kind;
    const char *help;
    const char *choices;
    double low, high;
    bool by_view;    /* also --name.VIEW */
    bool repeatable; /* all uses count; without it a second use is refused */
    char letter;     /* also -x; 0: none */
} cli_option;

typedef struct cli_positional {
    const char *name; /* the last one may end in ...: at least one, more are allowed */
    cli_kind kind;
    bool optional;
    const char *help;
    const char *choices;
} cli_positional;

typedef struct cli_example {
    const char *command, *meaning;
} cli_example;

typedef struct cli_args cli_args;

typedef struct cli_verb {
    const char *group; /* "data" for `data info`; NULL: a verb of its own */
    const char *name;
    const char *summary;                  /* one line */
    const char *description;              /* one paragraph or more, separated by \n */
    const cli_positional *positionals;    /* ended by a NULL name */
    const cli_option *const *option_sets; /* arrays ended by a NULL name; ended by NULL */
    const cli_example *examples;          /* ended by a NULL command */
    int (*run)(const cli_args *args);
    void (*more_help)(FILE *to); /* NULL: none */
} cli_verb;

/* The verbs in the order of the overview; NULL past the end. */
const cli_verb *cli_verb_at(int i);
/* Exact match; `group` NULL for a plain verb. */
const cli_verb *cli_verb_find(const char *group, const char *name);
bool cli_is_group(const char *name);
/* One line about a group of verbs. */
const char *cli_group_summary(const char *group);
/* Nearest verb (or group, or name inside the group) to a misspelt word; NULL: none is near. */
const char *cli_verb_nearest(const char *group, const char *word);
/* "data info" into a buffer that is returned. */
const char *cli_verb_title(char *buffer, size_t size, const cli_verb *verb);

/* What the i-th argument of a verb is: the last one where it may be repeated. */
const cli_positional *cli_verb_positional(const cli_verb *verb, int i);
/* i-th option of all sets of a verb; NULL past the end. */
const cli_option *cli_verb_option(const cli_verb *verb, int i);

/* Options many verbs share: how to read data; how to run. */
extern const cli_option cli_read_options[];
extern const cli_option cli_source_options[]; /* the same for a verb whose --format is about what it writes */
extern const cli_option cli_run_options[];
extern const cli_option cli_device_options[]; /* for verbs that fit or apply one model */
extern const cli_option cli_memory_options[]; /* for verbs without the others of cli_run_options */
extern const cli_option cli_seed_options[];
extern const cli_option cli_stream_options[]; /* fit and predict */
extern const cli_option cli_talk_options[];

#define CLI_END_OPTIONS                                                                                                \
    {                                                                                                                  \
        .name = NULL                                                                                                   \
    }
#define CLI_END_POSITIONALS                                                                                            \
    {                                                                                                                  \
        .name = NULL                                                                                                   \
    }
#define CLI_END_EXAMPLES                                                                                               \
    {                                                                                                                  \
        NULL, NULL                                                                                                     \
    }

/* Verbs. */
extern const cli_verb cli_verb_fit, cli_verb_predict, cli_verb_transform, cli_verb_retrieve, cli_verb_eval,
    cli_verb_tree, cli_verb_compare, cli_verb_tune, cli_verb_views;
extern const cli_verb cli_verb_plot, cli_verb_acquire, cli_verb_methods, cli_verb_model_show, cli_verb_explain;
extern const cli_verb cli_verb_data_info, cli_verb_data_check, cli_verb_data_convert, cli_verb_data_split;
extern const cli_verb cli_verb_data_complete, cli_verb_data_drop, cli_verb_data_generate, cli_verb_data_save;
extern const cli_verb cli_verb_data_shard;
extern const cli_verb cli_verb_ner_train, cli_verb_ner_tag, cli_verb_ner_select, cli_verb_ner_bootstrap,
    cli_verb_ner_simulate, cli_verb_ner_eval;
extern const cli_verb cli_verb_version, cli_verb_doctor, cli_verb_bench, cli_verb_completion, cli_verb_man,
    cli_verb_help;

#endif
