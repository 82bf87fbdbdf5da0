/*
 * The page that reports are written into, as a part of the program: the assembler copies the bundled file. It is empty
 * in a build without Node (cmake/report.cmake).
 */
#include "report/page.h"

/* clang-format off */
__asm__(".section .rodata\n"
        ".balign 16\n"
        "plx__report_page_begin:\n"
        ".incbin \"" PLX_REPORT_PAGE "\"\n"
        "plx__report_page_end:\n"
        ".byte 0\n"
        ".previous\n");
/* clang-format on */

extern const char plx__report_page_begin[], plx__report_page_end[];

const char *plx__page_bytes(size_t *size)
{
    *size = (size_t)(plx__report_page_end - plx__report_page_begin);
    return plx__report_page_begin;
}
