/*
 * What the tests of names share: a small tagged text, files in a folder of their own.
 */
#ifndef NER_HELPERS_H
#define NER_HELPERS_H

#include "plx_test.h"

#include "parallax/ner.h"

static const char TEXT[] = "-DOCSTART- O\n\nAnn B-PER\nLee I-PER\nsaw O\nRome B-LOC\n( O\nIBM B-ORG\n) O\n. O\n\n"
                           "Rome B-LOC\nfell O\n, O\nsaid O\nLee B-PER\n\n-DOCSTART- O\n\nU.S. B-ORG\nBank I-ORG\n"
                           "met O\nAnn B-PER\nin O\nBonn B-LOC\n";

static inline void put_file(const char *path, const char *text, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, size, f), size);
    fclose(f);
}

static char folder[64];

static inline const char *file(char *buffer, const char *name)
{
    snprintf(buffer, 128, "%s/%s", folder, name);
    return buffer;
}

#define FILE_OF(name) file((char[128]){0}, name)

static inline int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/plx_ner_XXXXXX");
    if (!mkdtemp(folder)) return -1;
    put_file(FILE_OF("text"), TEXT, strlen(TEXT));
    return 0;
}

static inline int drop_folder(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static inline plx_conll *read_text(plx_context *ctx, const char *text)
{
    plx_conll *out = NULL;
    put_file(FILE_OF("given"), text, strlen(text));
    assert_ok(ctx, plx_ner_read(&out, ctx, FILE_OF("given")));
    return out;
}

static inline size_t slurp(char *to, size_t room, const char *path)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(to, 1, room, f);
    fclose(f);
    return n;
}

#endif
