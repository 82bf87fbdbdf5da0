/*
 * Numbers as text.
 *
 * Reading: the digits go into a 64-bit integer w, many at a time (core/digits.h), so that the number is w * 10^q. When
 * w and 10^|q| are both exact in double, one operation rounds correctly (Clinger 1990). Otherwise w is multiplied by
 * the leading 128 bits of 5^q and the product rounded (Eisel and Lemire; Lemire 2021, "Number parsing at a gigabyte per
 * second"). More than 19 digits: w and w + 1 enclose the number; only when they round differently, the digits go to
 * strtod as an integer with an exponent, a form in which no locale plays a part.
 *
 * Printing: the value times 10^(16 - X) is formed to 192 bits from the same table; its integer part is the 17
 * digits unless the fraction is too near one half to round it, which is left to snprintf.
 */
#include "core/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/digits.h"
#include "core/pow5_table.h"
#include "core/text.h"

__extension__ typedef unsigned __int128 wide;

enum {
    EXACT_DIGITS = 19,    /* every integer of so many digits fits into 64 bits */
    DECIDING_DIGITS = 780 /* no midpoint between two doubles has more than 767 significant digits */
};

static const uint64_t TEN_16 = UINT64_C(10000000000000000), TEN_17 = UINT64_C(100000000000000000);

static bool is_digit(char c) { return (unsigned char)(c - '0') < 10; }

/* floor(q log2 10) for |q| < 1650: 217706 / 2^16 approximates log2 10 from above closely enough. */
static int log2_of_ten_to(int q) { return (217706 * q) >> 16; }

static double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double with_sign(double value, bool negative)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return from_bits(bits | (uint64_t)negative << 63);
}

/* ---- reading ---- */

/* Append the digits at p to *w (modulo 2^64) and return the first byte that is none. */
static inline const char *take_digits(uint64_t *w, const char *p, const char *end)
{
    for (; p < end && is_digit(*p); p++) *w = *w * 10 + (uint64_t)(*p - '0');
    return p;
}

/* The same, faster where many digits are likely: behind the point. Sixteen at once, then what is left of eight; no
 * branch depends on the count, which in a column of numbers nobody can predict. */
static inline const char *take_fraction(uint64_t *w, const char *p, const char *end)
{
    static const uint32_t power[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    while (end - p >= 16) {
        uint64_t a = plx__load_eight(p), b = plx__load_eight(p + 8), other = plx__not_digits(a);
        if ((other | plx__not_digits(b)) == 0) {
            *w = *w * TEN_16 + plx__join_digits(a) * UINT64_C(100000000) + plx__join_digits(b);
            p += 16;
            continue;
        }
        if (other == 0) {
            *w = *w * 100000000 + plx__join_digits(a);
            p += 8;
            a = b;
            other = plx__not_digits(b);
        }
        int count = 0;
        uint32_t value = plx__leading_digits(&count, a, other);
        *w = *w * power[count] + value;
        return p + count;
    }
    return take_digits(w, p, end);
}

/* w * 10^q for q in the table, w > 0, correctly rounded; false in the cases the error bound leaves open. */
__attribute__((always_inline)) static inline bool scale_by_ten(double *out, uint64_t w, int q)
{
    const uint64_t *power = pow5_table[q - POW5_LOWEST];
    int zeros = __builtin_clzll(w);
    w <<= zeros;
    wide product = (wide)w * power[0];
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    if ((high & 0x1FF) == 0x1FF) { /* the lower half of the power may carry far up */
        uint64_t carry = (uint64_t)((wide)w * power[1] >> 64);
        low += carry;
        high += low < carry;
        if (low == UINT64_MAX && (q < -27 || q > POW5_LAST_EXACT)) return false;
    }
    int top = (int)(high >> 63), drop = 9 + top;
    uint64_t m = high >> drop; /* 53 bits and one to round by */
    int exponent = log2_of_ten_to(q) + 63 + top - zeros + 1023;
    if (exponent <= 0) { /* subnormal: more bits go */
        if (exponent <= -62) m = 0;
        else m >>= 1 - exponent;
        m = (m + (m & 1)) >> 1; /* ties cannot be: 5^-q is too large to divide w */
        *out = from_bits(m);    /* a carry into bit 52 makes the smallest normal */
        return true;
    }
    bool tie = low <= 1 && q >= -4 && q <= 23 && (m & 3) == 1 && m << drop == high;
    m = tie ? m >> 1 : (m + (m & 1)) >> 1;
    if (m >> 53) {
        m >>= 1;
        exponent++;
    }
    *out = exponent >= 2047 ? HUGE_VAL : from_bits((m & ~(UINT64_C(1) << 52)) | (uint64_t)exponent << 52);
    return true;
}

static inline bool round_decimal(double *out, uint64_t w, int64_t q)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (q >= -22 && q <= 22 && w <= UINT64_C(1) << 53) {
        double value = (double)w;
        *out = q < 0 ? value / power[-q] : value * power[q];
        return true;
    }
    if (w == 0 || q < POW5_LOWEST) *out = 0; /* 2^64 * 10^-343 is below half the least double */
    else if (q > POW5_HIGHEST) *out = HUGE_VAL;
    else return scale_by_ten(out, w, (int)q);
    return true;
}

/* The number whose significant digits start at `first`, the first of them standing for 10^magnitude. */
static double exact_decimal(const char *first, const char *last, int64_t magnitude)
{
    char buffer[DECIDING_DIGITS + 32];
    int kept = 0;
    bool more = false;
    for (const char *p = first; p < last; p++) {
        if (*p == '.') continue;
        if (kept < DECIDING_DIGITS) buffer[kept++] = *p;
        else more = more || *p != '0';
    }
    if (more) buffer[kept++] = '1'; /* what was cut off only matters as not being zero */
    snprintf(buffer + kept, sizeof buffer - (size_t)kept, "e%lld", (long long)magnitude - kept + 1);
    return strtod(buffer, NULL);
}

/* Digits first..last-1 with an optional point among them, times 10^exponent. */
static double read_long_decimal(const char *first, const char *last, int64_t exponent)
{
    const char *point = memchr(first, '.', (size_t)(last - first)), *p = first;
    if (!point) point = last;
    while (p < last && (*p == '0' || *p == '.')) p++;
    /* power of ten of the first significant digit */
    int64_t magnitude = exponent + (p < point ? point - p - 1 : point - p);
    uint64_t w = 0;
    int digits = 0;
    const char *significant = p;
    for (; p < last && digits < EXACT_DIGITS; p++) {
        if (*p == '.') continue;
        w = w * 10 + (uint64_t)(*p - '0');
        digits++;
    }
    while (p < last && (*p == '0' || *p == '.')) p++;
    int64_t q = magnitude - digits + 1;
    double low = 0, high = 0;
    if (!round_decimal(&low, w, q)) return exact_decimal(significant, last, magnitude);
    if (p == last) return low;
    if (round_decimal(&high, w + 1, q) && low == high) return low;
    return exact_decimal(significant, last, magnitude);
}

static const char *read_word(double *out, const char *p, const char *end, bool negative)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {{"infinity", HUGE_VAL}, {"inf", HUGE_VAL}, {"nan", NAN}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t len = strlen(words[i].word);
        if ((size_t)(end - p) >= len && plx__same_letters(p, words[i].word, len)) {
            *out = negative ? -words[i].value : words[i].value;
            return p + len;
        }
    }
    return NULL;
}

/* The exponent at p ('e', sign, digits) added to *exponent; p itself when there is none. */
static const char *read_exponent(int64_t *exponent, const char *p, const char *end)
{
    const char *q = p + 1;
    bool minus = q < end && *q == '-';
    if (q < end && (*q == '-' || *q == '+')) q++;
    if (q == end || !is_digit(*q)) return p;
    int64_t e = 0;
    for (; q < end && is_digit(*q); q++)
        if (e < INT64_C(1000000000000000)) e = e * 10 + (*q - '0');
    *exponent += minus ? -e : e;
    return q;
}

#if defined(__SSE2__)
/* The first `count` < 8 digits at p behind those in w. */
static inline uint64_t append_few(uint64_t w, const char *p, int count)
{
    static const uint32_t power[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    return w * power[count] + plx__join_digits(plx__load_eight(p) << 8 << (56 - 8 * count));
}

/* The common form, digits with a point and no exponent: one look at 32 characters tells where everything is. NULL: look
 * again, character by character. At least 32 characters are readable. */
static inline const char *read_plain(double *out, const char *p)
{
    bool negative = *p == '-', done;
    uint64_t mask = plx__digit_mask(p) >> negative;
    p += negative;
    int whole = __builtin_ctzll(~mask), fraction = __builtin_ctzll(~(mask >> 1 >> whole));
    const char *start = p + whole + 1, *last = start + fraction;
    if (whole == 0 || whole > 3 || fraction > 23 || start[-1] != '.' || (*last | 0x20) == 'e') return NULL;
    uint64_t w = (uint64_t)(*p - '0');
    for (int i = 1; i < whole; i++) w = w * 10 + (uint64_t)(p[i] - '0');
    double value = 0;
    if (fraction >= 16) { /* too many digits for doubles: no use in trying */
        w = append_few(w, start, fraction - 16);
        if (w > UINT64_MAX / TEN_16 - 1) return NULL;
        w = w * TEN_16 + plx__sixteen_digits(last - 16);
        done = w != 0 && scale_by_ten(&value, w, -fraction);
    } else if (fraction >= 8) {
        w = append_few(w, start, fraction - 8) * 100000000 + plx__join_digits(plx__load_eight(last - 8));
        done = round_decimal(&value, w, -fraction);
    } else {
        done = round_decimal(&value, append_few(w, start, fraction), -fraction);
    }
    *out = with_sign(value, negative);
    return done ? last : NULL;
}
#endif

const char *plx__read_double(double *out, const char *text, const char *end)
{
    if (text == end) return NULL;
    const char *p = text;
#if defined(__SSE2__)
    if (end - p >= 32 && (p = read_plain(out, text))) return p;
    p = text;
#endif
    bool negative = *p == '-';
    p += negative | (*p == '+'); /* signs come at random: no branch on them */
    const char *first = p;
    uint64_t w = 0;
    int64_t exponent = 0, fraction = 0;
    p = take_digits(&w, p, end);
    int64_t digits = p - first;
    if (p < end && *p == '.') {
        const char *start = ++p;
        p = take_fraction(&w, p, end);
        fraction = p - start;
        digits += fraction;
    }
    if (digits == 0) return read_word(out, first, end, negative);
    const char *last = p;
    if (p < end && (*p | 0x20) == 'e') p = read_exponent(&exponent, p, end);
    double value = 0;
    if (digits > EXACT_DIGITS || !round_decimal(&value, w, exponent - fraction))
        value = read_long_decimal(first, last, exponent);
    *out = with_sign(value, negative);
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

/* ---- printing ---- */

enum { DIGITS = 17 };

typedef struct decimal { /* digits * 10^(magnitude - 16), 10^16 <= digits < 10^17 */
    uint64_t digits;
    int magnitude;
} decimal;

/* v = m * 2^e with the top bit of m set; v positive and finite. */
static uint64_t split_double(int *e, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    int biased = (int)(bits >> 52 & 0x7FF);
    uint64_t m = bits & (UINT64_MAX >> 12);
    if (biased) m |= UINT64_C(1) << 52;
    else biased = 1;
    int zeros = __builtin_clzll(m);
    *e = biased - 1075 - zeros;
    return m << zeros;
}

/* round(m 2^e 10^q), half to even; false when the product does not decide. The result must fit into 64 bits and
 * leave at least 129 bits of fraction in the 192-bit product. */
static bool scaled_integer(uint64_t *out, uint64_t m, int e, int q)
{
    if (q > POW5_HIGHEST) return false;
    const uint64_t *power = pow5_table[q - POW5_LOWEST];
    wide upper = (wide)m * power[0], lower = (wide)m * power[1];
    uint64_t low = (uint64_t)lower;
    upper += lower >> 64;
    int shift = -(e + log2_of_ten_to(q) - 127) - 64; /* of `upper`: 64 < shift < 128 */
    wide fraction = upper & (((wide)1 << shift) - 1), half = (wide)1 << (shift - 1);
    uint64_t digits = (uint64_t)(upper >> shift);
    bool exact = q >= 0 && q <= POW5_LAST_EXACT;
    if (!exact && fraction + 2 >= half && fraction <= half + 2) return false; /* the table's error is below 1 here */
    bool tie = fraction == half && low == 0;
    bool up = tie ? digits & 1 : fraction >= half;
    *out = digits + up;
    return true;
}

/* The 17 digits of a positive finite value. */
static bool decimal_of(decimal *out, double v)
{
    int e = 0;
    uint64_t m = split_double(&e, v);
    /* floor(log10 2^(e+63)), which is the magnitude of v or one less; 1292913986 / 2^32 is log10 2 */
    out->magnitude = (int)(((int64_t)(e + 63) * 1292913986) >> 32);
    if (!scaled_integer(&out->digits, m, e, 16 - out->magnitude)) return false;
    if (out->digits < TEN_17) return true;
    out->magnitude++;
    if (!scaled_integer(&out->digits, m, e, 16 - out->magnitude)) return false;
    if (out->digits < TEN_16) out->digits = TEN_16; /* rounded up to the power of ten just now left */
    return true;
}

/* The same from snprintf: "d.dddddddddddddddde+XX", whatever the locale's point. */
static void decimal_by_library(decimal *out, double v)
{
    char text[64];
    snprintf(text, sizeof text, "%.16e", v);
    out->digits = 0;
    const char *p = text;
    for (int got = 0; got < DIGITS; p++) {
        if (!is_digit(*p)) continue;
        out->digits = out->digits * 10 + (uint64_t)(*p - '0');
        got++;
    }
    out->magnitude = atoi(strchr(text, 'e') + 1);
}

static void put_digits(char *out, uint64_t value, int count)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    for (; count >= 2; count -= 2, value /= 100) memcpy(out + count - 2, pairs + value % 100 * 2, 2);
    if (count) *out = (char)('0' + value % 10);
}

/* Digits and exponent in the manner of %g; scientific when magnitude is < -4 or >= `widest`. */
static int lay_out(char *out, bool negative, const char *digits, int count, int magnitude, int widest)
{
    char *p = out;
    if (negative) *p++ = '-';
    while (count > 1 && digits[count - 1] == '0') count--;
    if (magnitude < -4 || magnitude >= widest) {
        *p++ = digits[0];
        if (count > 1) *p++ = '.';
        memcpy(p, digits + 1, (size_t)count - 1);
        p += count - 1;
        *p++ = 'e';
        *p++ = magnitude < 0 ? '-' : '+';
        int size = abs(magnitude), width = size > 99 ? 3 : 2;
        put_digits(p, (uint64_t)size, width);
        p += width;
    } else if (magnitude < 0) {
        memcpy(p, "0.000", 5);
        p += 1 - magnitude;
        memcpy(p, digits, (size_t)count);
        p += count;
    } else {
        int whole = magnitude + 1, given = count < whole ? count : whole;
        memcpy(p, digits, (size_t)given);
        memset(p + given, '0', (size_t)(whole - given));
        p += whole;
        if (count > whole) {
            *p++ = '.';
            memcpy(p, digits + whole, (size_t)(count - whole));
            p += count - whole;
        }
    }
    *p = '\0';
    return (int)(p - out);
}

/* Zero, infinities and NaN, which have no digits. 0: none of them. */
static int print_special(char out[PLX__NUMBER_BYTES], double value)
{
    const char *text = isnan(value)   ? "nan"
                       : isinf(value) ? (value < 0 ? "-inf" : "inf")
                       : value == 0   ? (signbit(value) ? "-0" : "0")
                                      : "";
    memcpy(out, text, strlen(text) + 1);
    return (int)strlen(text);
}

static decimal seventeen_digits(double value)
{
    decimal d = {0, 0};
    if (!decimal_of(&d, fabs(value))) decimal_by_library(&d, fabs(value));
    return d;
}

int plx__print_double(char out[PLX__NUMBER_BYTES], double value)
{
    int len = print_special(out, value);
    if (len) return len;
    decimal d = seventeen_digits(value);
    char digits[DIGITS];
    put_digits(digits, d.digits, DIGITS);
    return lay_out(out, value < 0, digits, DIGITS, d.magnitude, DIGITS);
}

/* Does digits * 10^(magnitude - 16) read back as value? */
static bool reads_back(decimal d, double value)
{
    double back = 0;
    return round_decimal(&back, d.digits, (int64_t)d.magnitude - 16) && back == value;
}

/* The nearer of the two decimals of `count` digits around d that reads back as value. Everything between two
 * decimals that read back does so too; hence more digits never fail where fewer succeed. */
static bool shorten(decimal *out, decimal d, int count, double value)
{
    uint64_t unit = 1;
    for (int i = count; i < DIGITS; i++) unit *= 10;
    uint64_t rest = d.digits % unit;
    decimal below = {d.digits - rest, d.magnitude}, above = {below.digits + (rest ? unit : 0), d.magnitude};
    bool lower = reads_back(below, value), upper = reads_back(above, value);
    *out = lower && (!upper || rest < unit - rest) ? below : above;
    return lower || upper;
}

int plx__print_short(char out[PLX__NUMBER_BYTES], double value)
{
    int len = print_special(out, value);
    if (len) return len;
    decimal d = seventeen_digits(value), best = d, shorter;
    int fewest = 1, enough = DIGITS;
    while (fewest < enough) {
        int middle = (fewest + enough) / 2;
        if (shorten(&shorter, d, middle, fabs(value))) {
            best = shorter;
            enough = middle;
        } else {
            fewest = middle + 1;
        }
    }
    if (best.digits >= TEN_17) best = (decimal){TEN_16, best.magnitude + 1};
    char digits[DIGITS];
    put_digits(digits, best.digits, DIGITS);
    return lay_out(out, value < 0, digits, DIGITS, best.magnitude, DIGITS - 1);
}
