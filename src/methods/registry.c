/*
 * Names are looked up in any case of letters, then among the names other libraries use.
 */
#include "methods/registry.h"

#include <string.h>

#define PLX__METHOD(name) extern const plx__method plx__method_##name;
#include "methods/methods.def"
#undef PLX__METHOD

#define PLX__METHOD(name) &plx__method_##name,
static const plx__method *const methods[] = {
#include "methods/methods.def"
};
#undef PLX__METHOD

enum { COUNT = sizeof methods / sizeof *methods };

plx_index plx__method_count(void) { return COUNT; }

const plx__method *plx__method_at(plx_index i) { return i >= 0 && i < COUNT ? methods[i] : NULL; }

/* What methods are called elsewhere. */
static const struct {
    const char *other, *name;
} synonyms[] = {{"naive-bayes", "nb"},      {"naive_bayes", "nb"},      {"naivebayes", "nb"},
                {"gaussian-process", "gp"}, {"co-training", "cotrain"}, {"cotraining", "cotrain"},
                {"co-em", "coem"},          {"plsa", "mvplsa"},         {"k-means", "mvkmeans"},
                {"kmeans", "mvkmeans"},     {"kernel-cca", "kcca"},     {"ridge", "rls"}};

static bool same_word(const char *a, const char *b)
{
    return strlen(a) == strlen(b) && plx__same_letters(a, b, strlen(b));
}

const plx__method *plx__method_find(const char *name)
{
    for (int i = 0; i < COUNT; i++)
        if (same_word(methods[i]->name, name)) return methods[i];
    for (size_t k = 0; k < sizeof synonyms / sizeof *synonyms; k++)
        if (same_word(synonyms[k].other, name)) return plx__method_find(synonyms[k].name);
    return NULL;
}

plx_status plx__method_require(const plx__method **out, plx_context *ctx, const char *name)
{
    *out = plx__method_find(name);
    if (*out) return PLX_OK;
    const char *names[COUNT];
    char near[128];
    for (int i = 0; i < COUNT; i++) names[i] = methods[i]->name;
    plx__suggest(near, sizeof near, name, names, COUNT);
    PLX_FAIL(ctx, PLX_E_ARG, "there is no method '%s'%s", name, near);
}
