/*
 * OpenBLAS is called as it is linked. In a build with another library (PLX_BLAS) the calls of all that are known are looked
 * for among what is loaded: with BLIS, for one, the LAPACK of the system may bring OpenBLAS along, whose threads count too.
 */
#include "linalg/blas_library.h"

#include <stddef.h>

#ifdef PLX_OPENBLAS
#include <cblas.h>

int plx__blas_threads(void) { return openblas_get_num_threads(); }
void plx__blas_set_threads(int n) { openblas_set_num_threads(n); }

const char *plx__blas_name(void)
{
    const char *name = openblas_get_config();
    return name ? name : "";
}

const char *plx__blas_kernels(void)
{
    const char *core = openblas_get_corename();
    return core ? core : "";
}

#else
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static struct {
    pthread_once_t once;
    int (*openblas_threads)(void);
    void (*openblas_set)(int);
    int64_t (*blis_threads)(void);
    void (*blis_set)(int64_t);
    int (*mkl_threads)(void);
    void (*mkl_set)(int);
    char name[256], kernels[64];
} library = {.once = PTHREAD_ONCE_INIT};

/* C converts what dlsym() gives to a pointer to a function by its bytes only. */
static void look_up(const char *name, void *pointer)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);
    memcpy(pointer, &symbol, sizeof symbol);
}

static void name_blis(void)
{
    const char *(*version)(void) = NULL, *(*kernels)(int) = NULL;
    int (*chosen)(void) = NULL;
    look_up("bli_info_get_version_str", &version);
    look_up("bli_arch_query_id", &chosen);
    look_up("bli_arch_string", &kernels);
    snprintf(library.name, sizeof library.name, "BLIS %s", version ? version() : "");
    if (chosen && kernels) snprintf(library.kernels, sizeof library.kernels, "%s", kernels(chosen()));
}

static void name_mkl(void)
{
    void (*version)(char *, int) = NULL;
    look_up("mkl_get_version_string", &version);
    if (version) version(library.name, (int)sizeof library.name - 1);
    else snprintf(library.name, sizeof library.name, "MKL");
    for (size_t end = strlen(library.name); end > 0 && library.name[end - 1] == ' '; end--) library.name[end - 1] = 0;
}

static void look_around(void)
{
    const char *(*config)(void) = NULL, *(*core)(void) = NULL;
    look_up("openblas_get_num_threads", &library.openblas_threads);
    look_up("openblas_set_num_threads", &library.openblas_set);
    look_up("bli_thread_get_num_threads", &library.blis_threads);
    look_up("bli_thread_set_num_threads", &library.blis_set);
    look_up("MKL_Get_Max_Threads", &library.mkl_threads);
    look_up("MKL_Set_Num_Threads", &library.mkl_set);
    look_up("openblas_get_config", &config);
    look_up("openblas_get_corename", &core);
    if (library.blis_set) name_blis();
    else if (library.mkl_set) name_mkl();
    else if (config && core) {
        snprintf(library.name, sizeof library.name, "%s", config());
        snprintf(library.kernels, sizeof library.kernels, "%s", core());
    }
}

int plx__blas_threads(void)
{
    pthread_once(&library.once, look_around);
    if (library.blis_threads) return (int)library.blis_threads();
    if (library.mkl_threads) return library.mkl_threads();
    return library.openblas_threads ? library.openblas_threads() : 1;
}

void plx__blas_set_threads(int n)
{
    pthread_once(&library.once, look_around);
    if (library.blis_set) library.blis_set(n);
    if (library.mkl_set) library.mkl_set(n);
    if (library.openblas_set) library.openblas_set(n);
}

const char *plx__blas_name(void)
{
    pthread_once(&library.once, look_around);
    return library.name;
}

const char *plx__blas_kernels(void)
{
    pthread_once(&library.once, look_around);
    return library.kernels;
}
#endif
