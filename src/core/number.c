/*
 * Reading: digits into a 64-bit integer; when mantissa and power of ten are both exact in double the
 * result is one rounding away (Clinger's fast path); everything else goes to strtod in the C locale.
 */
#include "core/number.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* strtod reads the decimal point of the current locale; swap it in. */
static double slow_double(const char *text, size_t len)
{
    char buffer[512];
    if (len >= sizeof buffer) len = sizeof buffer - 1;
    memcpy(buffer, text, len);
    buffer[len] = '\0';
    const char *point = localeconv()->decimal_point;
    char *dot = strchr(buffer, '.');
    if (dot && point[0] != '.' && point[1] == '\0') *dot = point[0];
    return strtod(buffer, NULL);
}

static const char *read_word(double *out, const char *p, const char *end, bool negative)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {{"infinity", HUGE_VAL}, {"inf", HUGE_VAL}, {"nan", NAN}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t len = strlen(words[i].word);
        if ((size_t)(end - p) >= len && strncasecmp(p, words[i].word, len) == 0) {
            *out = negative ? -words[i].value : words[i].value;
            return p + len;
        }
    }
    return NULL;
}

const char *plx__read_double(double *out, const char *text, const char *end)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *p = text;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    uint64_t mantissa = 0;
    int digits = 0, significant = 0;
    int64_t exponent = 0;
    const char *start = p;
    for (; p < end && is_digit(*p); p++, digits++) {
        if (significant < 19) {
            mantissa = mantissa * 10 + (uint64_t)(*p - '0');
            significant += mantissa != 0;
        } else {
            significant++;
            exponent++;
        }
    }
    if (p < end && *p == '.') {
        p++;
        for (; p < end && is_digit(*p); p++, digits++) {
            if (significant < 19) {
                mantissa = mantissa * 10 + (uint64_t)(*p - '0');
                significant += mantissa != 0;
                exponent--;
            } else {
                significant++;
            }
        }
    }
    if (digits == 0) return read_word(out, start, end, negative);
    if (p < end && (*p == 'e' || *p == 'E')) {
        int64_t e = 0;
        const char *q = p + 1;
        bool minus = q < end && *q == '-';
        if (q < end && (*q == '-' || *q == '+')) q++;
        if (q < end && is_digit(*q)) {
            for (; q < end && is_digit(*q); q++)
                if (e < 100000) e = e * 10 + (*q - '0');
            exponent += minus ? -e : e;
            p = q;
        }
    }
    double value;
    if (significant <= 19 && mantissa <= (UINT64_C(1) << 53) && exponent >= -22 && exponent <= 22) {
        value = (double)mantissa;
        value = exponent < 0 ? value / power[-exponent] : value * power[exponent];
    } else {
        value = fabs(slow_double(text, (size_t)(p - text)));
    }
    *out = negative ? -value : value;
    return p;
}

const char *plx__read_int64(int64_t *out, const char *text, const char *end)
{
    const char *p = text;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    const char *start = p;
    int64_t value = 0;
    for (; p < end && is_digit(*p); p++)
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_sub_overflow(value, *p - '0', &value)) return NULL;
    if (p == start || (!negative && value == INT64_MIN)) return NULL;
    *out = negative ? value : -value;
    return p;
}

static const char *skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n') p++;
    return p;
}

bool plx__parse_double(double *out, const char *text)
{
    text = skip_blanks(text);
    const char *p = plx__read_double(out, text, text + strlen(text));
    return p && *skip_blanks(p) == '\0';
}

bool plx__parse_int64(int64_t *out, const char *text)
{
    text = skip_blanks(text);
    const char *p = plx__read_int64(out, text, text + strlen(text));
    return p && *skip_blanks(p) == '\0';
}

static int print_digits(char out[PLX__NUMBER_BYTES], int digits, double value)
{
    if (isnan(value)) return snprintf(out, PLX__NUMBER_BYTES, "nan");
    if (isinf(value)) return snprintf(out, PLX__NUMBER_BYTES, value < 0 ? "-inf" : "inf");
    int len = snprintf(out, PLX__NUMBER_BYTES, "%.*g", digits, value);
    for (char *p = out; *p; p++)        /* the only byte a locale can change */
        if (!is_digit(*p) && *p != '-' && *p != '+' && *p != 'e') *p = '.';
    return len;
}

int plx__print_double(char out[PLX__NUMBER_BYTES], double value) { return print_digits(out, 17, value); }

int plx__print_short(char out[PLX__NUMBER_BYTES], double value)
{
    for (int digits = 6; digits < 17; digits++) {
        double back = 0;
        int len = print_digits(out, digits, value);
        plx__read_double(&back, out, out + len);
        if (back == value || isnan(value)) return len;
    }
    return print_digits(out, 17, value);
}
