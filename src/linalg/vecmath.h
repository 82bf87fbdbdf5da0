/*
 * exp and log of the doubles in a vector of type VEC, to about one unit in the last place, the same bytes on every
 * processor (no fused operations, no calls into the system's library). For kernels of any width.
 *
 * exp: x below -708 gives exactly 0; x above 709 is not for this function. log: x must be a positive normal number.
 */
#ifndef PLX_LINALG_VECMATH_H
#define PLX_LINALG_VECMATH_H

#include <stdint.h>
#include <string.h>

#include "linalg/clones.h"

/* x = n ln 2 + r with |r| <= ln 2 / 2; exp r by its Taylor sum to r^13, whose next term is below 1e-17. */
#define PLX__EXP(VEC, out, in)                                                                                         \
    do {                                                                                                               \
        const double magic_ = 6755399441055744.0; /* 1.5 * 2^52: adding it rounds to an integer in the low bits */     \
        VEC x_ = (in), y_, r_, p_;                                                                                     \
        VEC##bits usable_ = x_ >= -708.0, bits_;                                                                       \
        y_ = x_ * 1.4426950408889634 + magic_;                                                                         \
        memcpy(&bits_, &y_, sizeof bits_);                                                                             \
        y_ = y_ - magic_;                                                                                              \
        r_ = (x_ - y_ * 6.93147180369123816490e-01) - y_ * 1.90821492927058770002e-10;                                 \
        p_ = r_ * (1.0 / 6227020800.0) + 1.0 / 479001600.0;                                                            \
        p_ = p_ * r_ + 1.0 / 39916800.0;                                                                               \
        p_ = p_ * r_ + 1.0 / 3628800.0;                                                                                \
        p_ = p_ * r_ + 1.0 / 362880.0;                                                                                 \
        p_ = p_ * r_ + 1.0 / 40320.0;                                                                                  \
        p_ = p_ * r_ + 1.0 / 5040.0;                                                                                   \
        p_ = p_ * r_ + 1.0 / 720.0;                                                                                    \
        p_ = p_ * r_ + 1.0 / 120.0;                                                                                    \
        p_ = p_ * r_ + 1.0 / 24.0;                                                                                     \
        p_ = p_ * r_ + 1.0 / 6.0;                                                                                      \
        p_ = p_ * r_ + 0.5;                                                                                            \
        p_ = (p_ * r_ * r_ + r_) + 1.0;                                                                                \
        bits_ = (bits_ + 1023) << 52; /* the low bits of magic + n are n */                                            \
        memcpy(&y_, &bits_, sizeof y_);                                                                                \
        p_ = p_ * y_;                                                                                                  \
        memcpy(&bits_, &p_, sizeof bits_);                                                                             \
        bits_ &= usable_;                                                                                              \
        memcpy(&p_, &bits_, sizeof p_);                                                                                \
        (out) = p_;                                                                                                    \
    } while (0)

/* x = 2^n m with m in [sqrt(1/2), sqrt(2)); log m = 2 atanh(s), s = (m - 1) / (m + 1), by its odd series. */
#define PLX__LOG(VEC, out, in)                                                                                         \
    do {                                                                                                               \
        VEC x_ = (in), f_, s_, z_, p_, n_;                                                                             \
        VEC##bits bits_, exponent_;                                                                                    \
        memcpy(&bits_, &x_, sizeof bits_);                                                                             \
        /* biased first, since few processors shift signed words */                                                    \
        bits_ = bits_ - 0x3fe6a09e667f3bcd + 0x3ff0000000000000;                                                       \
        exponent_ = (VEC##bits)((VEC##words)bits_ >> 52) - 1023;                                                       \
        memcpy(&bits_, &x_, sizeof bits_);                                                                             \
        bits_ = bits_ - (exponent_ << 52);                                                                             \
        memcpy(&f_, &bits_, sizeof f_);                                                                                \
        exponent_ = exponent_ + 0x4338000000000000; /* as a double: 1.5 * 2^52 + n */                                  \
        memcpy(&n_, &exponent_, sizeof n_);                                                                            \
        n_ = n_ - 6755399441055744.0;                                                                                  \
        f_ = f_ - 1.0;                                                                                                 \
        s_ = f_ / (f_ + 2.0);                                                                                          \
        z_ = s_ * s_;                                                                                                  \
        p_ = z_ * (2.0 / 21.0) + 2.0 / 19.0;                                                                           \
        p_ = p_ * z_ + 2.0 / 17.0;                                                                                     \
        p_ = p_ * z_ + 2.0 / 15.0;                                                                                     \
        p_ = p_ * z_ + 2.0 / 13.0;                                                                                     \
        p_ = p_ * z_ + 2.0 / 11.0;                                                                                     \
        p_ = p_ * z_ + 2.0 / 9.0;                                                                                      \
        p_ = p_ * z_ + 2.0 / 7.0;                                                                                      \
        p_ = p_ * z_ + 2.0 / 5.0;                                                                                      \
        p_ = p_ * z_ + 2.0 / 3.0;                                                                                      \
        p_ = p_ * z_; /* log m = 2 s + s p = f - s (f - p) */                                                          \
        p_ = f_ - s_ * (f_ - p_);                                                                                      \
        (out) = n_ * 6.93147180369123816490e-01 + (n_ * 1.90821492927058770002e-10 + p_);                              \
    } while (0)

#endif
