/*
 * Digits of a number, eight at a time in one machine word. No branch depends on how many there are, which in a column
 * of numbers nobody can predict.
 */
#ifndef PLX_CORE_DIGITS_H
#define PLX_CORE_DIGITS_H

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Eight bytes 0..9, the first in the lowest byte, as one number: pairs, then fours, then all. */
static inline uint32_t plx__join_digits(uint64_t c)
{
    c = c * 10 + (c >> 8); /* pairs in bytes 0, 2, 4, 6 */
    uint64_t even = c & UINT64_C(0x000000FF000000FF), odd = c >> 16 & UINT64_C(0x000000FF000000FF);
    return (uint32_t)((even * UINT64_C(0x000F424000000064) + odd * UINT64_C(0x0000271000000001)) >> 32);
}

/* Eight characters with '0'..'9' turned into 0..9, the first in the lowest byte. */
static inline uint64_t plx__load_eight(const char *p)
{
    uint64_t c;
    memcpy(&c, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    c = __builtin_bswap64(c);
#endif
    return c ^ UINT64_C(0x3030303030303030);
}

/* The top bit of every byte that is no digit, at least up to the first such byte. */
static inline uint64_t plx__not_digits(uint64_t c)
{
    return ((c + UINT64_C(0x7676767676767676)) | c) & UINT64_C(0x8080808080808080);
}

/* The digits in front of the first other byte, where there is one: `other` = plx__not_digits(c) is not 0. */
static inline uint32_t plx__leading_digits(int *count, uint64_t c, uint64_t other)
{
    *count = __builtin_ctzll(other) / 8;
    c = c << 8 << (56 - 8 * *count); /* zeros in front; a shift by 64 would be undefined */
    return plx__join_digits(c);
}

#if defined(__SSE2__)
/* Bit i says whether p[i] is a digit, for 32 characters. */
static inline uint32_t plx__digit_mask(const char *p)
{
    const __m128i zero = _mm_set1_epi8('0'), nine = _mm_set1_epi8(9);
    __m128i a = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), zero);
    __m128i b = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + 16)), zero);
    a = _mm_cmpeq_epi8(_mm_min_epu8(a, nine), a);
    b = _mm_cmpeq_epi8(_mm_min_epu8(b, nine), b);
    return (uint32_t)_mm_movemask_epi8(a) | (uint32_t)_mm_movemask_epi8(b) << 16;
}

/* The number of sixteen digits: pairs, fours, eights. */
static inline uint64_t plx__sixteen_digits(const char *p)
{
    __m128i x = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), _mm_set1_epi8('0'));
    __m128i tens = _mm_mullo_epi16(_mm_and_si128(x, _mm_set1_epi16(0xFF)), _mm_set1_epi16(10));
    x = _mm_add_epi16(tens, _mm_srli_epi16(x, 8));
    x = _mm_madd_epi16(x, _mm_set1_epi32(100 | 1 << 16));
    x = _mm_madd_epi16(_mm_packs_epi32(x, x), _mm_set1_epi32(10000 | 1 << 16));
    uint64_t eights = (uint64_t)_mm_cvtsi128_si64(x);
    return (eights & UINT32_MAX) * 100000000 + (eights >> 32);
}
#endif

#endif
