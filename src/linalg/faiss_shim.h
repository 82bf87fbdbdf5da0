/*
 * What we use of FAISS, a C++ library, as C functions: an inverted-file index of single-precision rows (Euclid). The only
 * file that includes FAISS is faiss_shim.cpp, compiled when the library was found; faiss_absent.c stands in for it
 * otherwise.
 */
#ifndef PLX_LINALG_FAISS_SHIM_H
#define PLX_LINALG_FAISS_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct plx__faiss plx__faiss;

typedef enum plx__faiss_status { PLX__FAISS_OK = 0, PLX__FAISS_NO_MEMORY = 1, PLX__FAISS_FAILED = 2 } plx__faiss_status;

/* Was FAISS there when this was built? Without it the functions below fail. */
bool plx__faiss_built(void);

/* n rows of length d in `lists` cells, `probes` of which are searched per query. On failure *out is NULL and `why`
 * holds a line. Runs on the calling thread alone. */
plx__faiss_status plx__faiss_build(plx__faiss **out, const float *rows, int64_t n, int64_t d, int64_t lists,
                                   int64_t probes, char *why, size_t why_bytes);

/* index: n x k, -1 where fewer were found; order and ties are not to be relied on. Several threads may search at once;
 * each call runs on the calling thread alone. */
plx__faiss_status plx__faiss_search(const plx__faiss *index_of, const float *queries, int64_t n, int64_t k,
                                    float *distance, int64_t *index, char *why, size_t why_bytes);

void plx__faiss_free(plx__faiss *index_of);

#ifdef __cplusplus
}
#endif

#endif
