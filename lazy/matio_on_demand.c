/*
 * matio on demand (on_demand.h).
 */
#include "io/mat_impl.h"
#include "lazy/on_demand.h"

#define FUNCTIONS(X)                                                                                                   \
    X(int, 1, Mat_Close, (mat_t * a), (a))                                                                             \
    X(mat_t *, NULL, Mat_Open, (const char *a, int b), (a, b))                                                         \
    X(int, 1, Mat_Rewind, (mat_t * a), (a))                                                                            \
    X(size_t, 0, Mat_SizeOf, (enum matio_types a), (a))                                                                \
    X(unsigned, 0, Mat_VarGetNumberOfFields, (matvar_t * a), (a))                                                      \
    X(char *const *, NULL, Mat_VarGetStructFieldnames, (const matvar_t *a), (a))                                       \
    X(matvar_t *, NULL, Mat_VarReadNext, (mat_t * a), (a))                                                             \
    X(matvar_t *, NULL, Mat_VarReadNextInfo, (mat_t * a), (a))

FUNCTIONS(LAZY_DEFINE)

static void (*real_free)(matvar_t *a);

static void load(void)
{
    void *library = open_library(PLX_MATIO_SONAME);
    bool found = library && find(library, "Mat_VarFree", &real_free);
    FUNCTIONS(LAZY_FIND)
    lazy.loaded = found;
}

void Mat_VarFree(matvar_t *a)
{
    if (ready()) real_free(a);
}

const char *plx__matio_missing(void) { return ready() ? NULL : lazy.error; }
