/*
 * What the LAPACK inside OpenBLAS asks the Fortran runtime for: joining two texts (names of routines, to look up block
 * sizes), and processor time (in its clock SECOND, which nobody calls). In a wheel this stands in for libgfortran
 * (tools/python_wheel.sh), so that it brings neither that (GPL-3 with an exception) nor the libquadmath below it (LGPL).
 * tools/check_wheel.py fails when a library in the wheel asks for more.
 */
#include <stddef.h>
#include <string.h>
#include <time.h>

void _gfortran_concat_string(size_t room, char *out, size_t a_length, const char *a, size_t b_length, const char *b);
float _gfortran_etime(void *times);

/* out = a // b, cut off or filled with blanks. */
void _gfortran_concat_string(size_t room, char *out, size_t a_length, const char *a, size_t b_length, const char *b)
{
    if (a_length > room) a_length = room;
    memcpy(out, a, a_length);
    room -= a_length;
    if (b_length > room) b_length = room;
    memcpy(out + a_length, b, b_length);
    memset(out + a_length + b_length, ' ', room - b_length);
}

/* Seconds of this process; `times` describes an array of two reals, whose address comes first: user and system. */
float _gfortran_etime(void *times)
{
    float *both = *(float **)times;
    both[0] = (float)clock() / (float)CLOCKS_PER_SEC;
    both[1] = 0;
    return both[0];
}
