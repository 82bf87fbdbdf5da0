/*
 * What the tests of table readers share: a fresh context for every test and the table read last.
 */
#ifndef PLX_READER_FIXTURE_H
#define PLX_READER_FIXTURE_H

#include "io_test.h"

#include "io/matrix_file.h"

static plx_context *ctx;
static plx__table table;

static int setup(void **state)
{
    (void)state;
    ctx = test_context(2);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    plx_context_destroy(ctx);
    return 0;
}

#endif
