#!/usr/bin/env python3
"""Write src/core/pow5_table.h: the leading 128 bits of 5^q, from exact integers.

Entry q is the integer T(q) in [2^127, 2^128) with 5^q = T(q) * 2^(floor(q log2 5) - 127), where
  0 <= q <= 55    T is exact,
  q > 55          T is rounded down,
  -27 <= q < 0    T is rounded up: 10^-q divides some 64-bit integers, whose quotients then come out exact,
  q < -27         T is rounded down (no 64-bit integer is a multiple of 5^28).
This is the choice for which Lemire (2021, "Number parsing at a gigabyte per second") bounds the error.

Usage: tools/gen_pow5.py > src/core/pow5_table.h
"""
LOWEST, HIGHEST = -342, 308


def leading_bits(q):
    if q >= 0:
        power = 5**q
        shift = power.bit_length() - 128
        return power >> shift if shift >= 0 else power << -shift
    divisor = 5**-q
    # 2^(length + 127) / divisor lies in (2^127, 2^128): a power of five above 1 is no power of two.
    quotient = (1 << (divisor.bit_length() + 127)) // divisor
    return quotient + 1 if q >= -27 else quotient


def main():
    print("/*")
    print(" * Leading 128 bits of 5^q, high word first. Written by tools/gen_pow5.py, which says how they are rounded.")
    print(" */")
    print("#ifndef PLX_CORE_POW5_TABLE_H")
    print("#define PLX_CORE_POW5_TABLE_H\n")
    print("#include <stdint.h>\n")
    print(f"enum {{ POW5_LOWEST = {LOWEST}, POW5_HIGHEST = {HIGHEST}, POW5_LAST_EXACT = 55 }};\n")
    print(f"static const uint64_t pow5_table[{HIGHEST - LOWEST + 1}][2] = {{")
    for first in range(LOWEST, HIGHEST + 1, 2):
        entries = [leading_bits(q) for q in range(first, min(first + 2, HIGHEST + 1))]
        assert all(1 << 127 <= bits < 1 << 128 for bits in entries)
        text = ", ".join(f"{{0x{bits >> 64:016x}, 0x{bits & (2**64 - 1):016x}}}" for bits in entries)
        print(f"    {text},    /* 5^{first} */")
    print("};\n")
    print("#endif")


if __name__ == "__main__":
    main()
