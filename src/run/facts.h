/*
 * Facts about a run that the JSON result reports beside its metrics: one call per fact. A key given twice keeps the
 * last value. Texts of any bytes are made valid UTF-8.
 */
#ifndef PLX_RUN_FACTS_H
#define PLX_RUN_FACTS_H

#include "run/run.h"

plx_status plx__report_count(plx__run *run, const char *key, plx_index value);
plx_status plx__report_number(plx__run *run, const char *key, double value);
plx_status plx__report_text(plx__run *run, const char *key, const char *text);
plx_status plx__report_texts(plx__run *run, const char *key, const char *const *texts, plx_index count);

/* key: {name: value, ...}, one name a call. */
plx_status plx__report_count_of(plx__run *run, const char *key, const char *name, plx_index value);
plx_status plx__report_number_of(plx__run *run, const char *key, const char *name, double value);

#endif
