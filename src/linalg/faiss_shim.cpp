/*
 * FAISS behind C functions. Every exception ends here; OpenMP is held to one thread while FAISS runs, so that its results
 * do not depend on the number of threads.
 */
#include "linalg/faiss_shim.h"

#include <omp.h>

#include <cstdio>
#include <exception>
#include <new>

#include <faiss/IndexFlat.h>
#include <faiss/IndexIVFFlat.h>

struct plx__faiss {
    faiss::IndexFlatL2 cells;
    faiss::IndexIVFFlat index;
    plx__faiss(int64_t d, int64_t lists)
        : cells(d), index(&cells, static_cast<size_t>(d), static_cast<size_t>(lists), faiss::METRIC_L2)
    {
    }
};

namespace
{

class one_thread
{
    int before;

  public:
    one_thread() : before(omp_get_max_threads()) { omp_set_num_threads(1); }
    ~one_thread() { omp_set_num_threads(before); }
    one_thread(const one_thread &) = delete;
    one_thread &operator=(const one_thread &) = delete;
};

/* The exception in flight as a status. */
plx__faiss_status caught(char *why, size_t why_bytes) noexcept
{
    try {
        throw;
    } catch (const std::bad_alloc &) {
        return PLX__FAISS_NO_MEMORY;
    } catch (const std::exception &e) {
        std::snprintf(why, why_bytes, "%s", e.what());
    } catch (...) {
        std::snprintf(why, why_bytes, "unknown failure");
    }
    return PLX__FAISS_FAILED;
}

} // namespace

bool plx__faiss_built(void) { return true; }

plx__faiss_status plx__faiss_build(plx__faiss **out, const float *rows, int64_t n, int64_t d, int64_t lists,
                                   int64_t probes, char *why, size_t why_bytes)
{
    *out = nullptr;
    plx__faiss *made = nullptr;
    try {
        one_thread guard;
        made = new plx__faiss(d, lists);
        made->index.cp.seed = 1234; /* the cells are the same in every run */
        made->index.cp.min_points_per_centroid = 1;
        made->index.cp.max_points_per_centroid = 64;
        made->index.nprobe = static_cast<size_t>(probes);
        made->index.train(n, rows);
        made->index.add(n, rows);
        *out = made;
        return PLX__FAISS_OK;
    } catch (...) {
        delete made;
        return caught(why, why_bytes);
    }
}

plx__faiss_status plx__faiss_search(const plx__faiss *index_of, const float *queries, int64_t n, int64_t k,
                                    float *distance, int64_t *index, char *why, size_t why_bytes)
{
    try {
        one_thread guard;
        index_of->index.search(n, queries, k, distance, index);
        return PLX__FAISS_OK;
    } catch (...) {
        return caught(why, why_bytes);
    }
}

void plx__faiss_free(plx__faiss *index_of) { delete index_of; }
