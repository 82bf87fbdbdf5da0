/*
 * In place of faiss_shim.cpp in a build without FAISS: CMakeLists.txt takes one or the other.
 */
#include "linalg/faiss_shim.h"

#include <stdio.h>

bool plx__faiss_built(void) { return false; }

plx__faiss_status plx__faiss_build(plx__faiss **out, const float *rows, int64_t n, int64_t d, int64_t lists,
                                   int64_t probes, char *why, size_t why_bytes)
{
    (void)rows, (void)n, (void)d, (void)lists, (void)probes;
    *out = NULL;
    snprintf(why, why_bytes, "not built with it");
    return PLX__FAISS_FAILED;
}

plx__faiss_status plx__faiss_search(const plx__faiss *index_of, const float *queries, int64_t n, int64_t k,
                                    float *distance, int64_t *index, char *why, size_t why_bytes)
{
    (void)index_of, (void)queries, (void)n, (void)k, (void)distance, (void)index;
    snprintf(why, why_bytes, "not built with it");
    return PLX__FAISS_FAILED;
}

void plx__faiss_free(plx__faiss *index_of) { (void)index_of; }
