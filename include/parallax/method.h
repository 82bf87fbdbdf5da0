/**
 * @file parallax/method.h
 * @brief The methods of the library: what they are called, what can be set, what they give.
 *
 * Everything here is static data of the library: borrowed, read-only, valid for ever, usable from any
 * thread. The command line, the documentation and the bindings are made from it.
 */
#ifndef PARALLAX_METHOD_H
#define PARALLAX_METHOD_H

#include "parallax/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a method is for. */
typedef enum plx_task { PLX_TASK_CLASSIFY = 0, PLX_TASK_CLUSTER = 1, PLX_TASK_EMBED = 2 } plx_task;

/** What a method can do; the contract tests check each claim. */
enum {
    PLX_CAN_PREDICT = 1u << 0, /**< new samples */
    PLX_CAN_MISSING_VIEWS = 1u << 1,
    PLX_CAN_MISSING_VALUES = 1u << 2, /**< NaN entries inside a present row */
    PLX_CAN_SPARSE = 1u << 3,         /**< sparse views stay sparse */
    PLX_CAN_KERNEL_VIEWS = 1u << 4,   /**< views of kind `kernel` */
    PLX_CAN_LABEL_SETS = 1u << 5,     /**< labels like a|b, class hierarchies */
    PLX_CAN_USE_UNLABELLED = 1u << 6, /**< unlabelled samples take part in fitting */
    PLX_IS_RANDOM = 1u << 7,          /**< the seed matters */
    PLX_IS_MONOTONE = 1u << 8,        /**< the objective never gets worse from one iteration to the next */
    PLX_IS_FEATURE_FREE = 1u << 9,    /**< reordering the features of a view changes rounding at most */
    PLX_IS_VIEW_FREE = 1u << 10,      /**< reordering the views changes rounding at most */
    PLX_IS_FOR_COUNTS =
        1u << 11 /**< with its defaults it takes values for counts: refuses negative ones, weak on measurements */
};

typedef enum plx_param_kind {
    PLX_PARAM_INT = 0,
    PLX_PARAM_REAL = 1,
    PLX_PARAM_BOOL = 2,   /**< 0/1, true/false, yes/no, on/off */
    PLX_PARAM_CHOICE = 3, /**< one of `words` */
    PLX_PARAM_TEXT = 4,
    PLX_PARAM_INT_OR_WORD = 5, /**< a number or one of `words` */
    PLX_PARAM_REAL_OR_WORD = 6,
    PLX_PARAM_REALS = 7, /**< numbers separated by commas, or one of `words` */
    PLX_PARAM_FILE = 8   /**< a path, relative to the data set's directory */
} plx_param_kind;

/** One parameter of a method. */
typedef struct plx_param_info {
    size_t struct_size;
    const char *name;
    plx_param_kind kind;
    int per_view;      /**< may also be set as name.VIEW */
    const char *def;   /**< default as text; "" = not set */
    const char *range; /**< allowed values in words, e.g. "> 0"; valid for the next 63 such calls of this thread */
    const char *help;
} plx_param_info;

#define PLX_PARAM_INFO_INIT                                                                                            \
    {                                                                                                                  \
        sizeof(plx_param_info), 0, PLX_PARAM_INT, 0, 0, 0, 0                                                           \
    }

/** One named array a fitted model offers. `.VIEW` in a name stands for each view. */
typedef struct plx_array_info {
    size_t struct_size;
    const char *name;
    const char *shape; /**< e.g. "n x K"; n samples, K classes, d features of the view */
    int on_request;    /**< computed only when asked for in plx_fit_options.arrays */
    const char *help;
} plx_array_info;

#define PLX_ARRAY_INFO_INIT                                                                                            \
    {                                                                                                                  \
        sizeof(plx_array_info), 0, 0, 0, 0                                                                             \
    }

/** A method. */
typedef struct plx_method_info {
    size_t struct_size;
    const char *name, *title, *summary, *citation;
    plx_task task;
    unsigned capabilities;
    plx_index min_views, max_views; /**< max_views 0: no limit */
    plx_index params, arrays;       /**< how many */
    const char *transform;          /**< array written by `transform`, or NULL */
    const char *scores;             /**< what a score of a class or cluster is, or NULL: there are none */
    const char *growth;             /**< of the time with the number of samples: "linear", "quadratic", ... */
    const char *ranks;              /**< what several processes divide (parallax/peers.h): "sums" (the bytes of one
                                         process), "systems", "spectra" (both by engines), several joined by " + ", or
                                         "-": one process has to fit it */
} plx_method_info;

#define PLX_METHOD_INFO_INIT                                                                                           \
    {                                                                                                                  \
        sizeof(plx_method_info), 0, 0, 0, 0, PLX_TASK_CLASSIFY, 0, 0, 0, 0, 0, 0, 0, 0, 0                              \
    }

/**
 * @name Listing
 *
 * Ownership: static data of the library, never freed.
 * Threads: any.
 * Cost: O(methods + parameters + arrays), no allocation.
 */

/**
 * Number of methods.
 *
 * Errors: none.
 */
PLX_API plx_index plx_method_count(void);

/**
 * Name of method i, sorted by name.
 *
 * Errors: none; NULL out of range.
 */
PLX_API const char *plx_method_name(plx_index i);

/**
 * Facts about a method. Set `info->struct_size` first (PLX_METHOD_INFO_INIT).
 *
 * @retval PLX_E_ARG  an argument is NULL, the struct has an unknown size, or there is no such method (the message of
 *                    plx_params_create() or plx_fit() names the nearest)
 */
PLX_API PLX_NODISCARD plx_status plx_method_describe(plx_method_info *info, const char *method);

/**
 * The i-th parameter of a method. Set `info->struct_size` first (PLX_PARAM_INFO_INIT).
 *
 * @retval PLX_E_ARG  as plx_method_describe(), or i is out of range
 *
 * Ownership: static, but for `range`, which stays valid for the next 63 such calls of the thread.
 */
PLX_API PLX_NODISCARD plx_status plx_method_param(plx_param_info *info, const char *method, plx_index i);

/**
 * The i-th array of a method. Set `info->struct_size` first (PLX_ARRAY_INFO_INIT).
 *
 * @retval PLX_E_ARG  as plx_method_describe(), or i is out of range
 */
PLX_API PLX_NODISCARD plx_status plx_method_array(plx_array_info *info, const char *method, plx_index i);

/**
 * Known method name nearest to a misspelt one.
 *
 * Errors: none; NULL when no name is near, or for NULL.
 */
PLX_API const char *plx_method_nearest(const char *name);

#ifdef __cplusplus
}
#endif
#endif
