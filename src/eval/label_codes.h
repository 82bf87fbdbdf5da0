/*
 * Labels as small integers: names are looked up once, everything after that counts integers.
 */
#ifndef PLX_EVAL_LABEL_CODES_H
#define PLX_EVAL_LABEL_CODES_H

#include "core/text.h"

typedef struct plx__codes {
    plx__map map;       /* name -> code */
    const char **names; /* code -> name */
    plx_index count, capacity;
} plx__codes;

plx_status plx__codes_init(plx__codes *codes, plx__arena *arena);

/* Code of a name, a new one when it is not known yet. The name is borrowed. */
plx_status plx__codes_add(int32_t *code, plx__codes *codes, const char *name);

/* Put the names in bytewise order; renumber[old] = new. No look-up or addition after that. */
plx_status plx__codes_sort(int32_t **renumber, plx__codes *codes);

static inline bool plx__is_unknown(const char *label) { return label[0] == '?' && label[1] == '\0'; }

/* Codes of n labels, `?` as -1 (or as a name like any other). Rows where mask is negative get -1 without a look at
 * their label; mask NULL: all rows count. `what` names the array in messages. Memory is codes' arena. */
typedef struct plx__encode_options {
    const int32_t *mask;
    bool unknown_is_name;
    const char *what;
} plx__encode_options;

plx_status plx__encode(int32_t **out, plx__codes *codes, const char *const *labels, plx_index n,
                       plx__encode_options options);

#endif
