/*
 * Columns as wide as their widest cell; numbers to the right, texts to the left.
 */
#include "sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *cell_text(char *buffer, size_t size, const plx_explanation *e, plx_index s, plx_index r, plx_index c,
                             int widest)
{
    const char *text = plx_explanation_text(e, s, r, c);
    double x = plx_explanation_number(e, s, r, c);
    if (text) snprintf(buffer, size, "%.*s", widest > 0 ? widest : (int)size - 1, text);
    else if (isnan(x)) snprintf(buffer, size, "-");
    else if (x == floor(x) && fabs(x) < 1e9) snprintf(buffer, size, "%.0f", x);
    else snprintf(buffer, size, fabs(x) < 0.001 || fabs(x) >= 1e6 ? "%.2e" : "%.4f", x);
    return buffer;
}

void cli_print_section(const plx_explanation *e, plx_index s, int widest)
{
    plx_index cols = plx_explanation_columns(e, s), rows = plx_explanation_rows(e, s);
    int *width = calloc((size_t)cols + 1, sizeof *width);
    char cell[400];
    if (!rows || !width) {
        free(width);
        return;
    }
    for (plx_index c = 0; c < cols; c++) {
        width[c] = (int)strlen(plx_explanation_column(e, s, c));
        for (plx_index r = 0; r < rows; r++) {
            int length = (int)strlen(cell_text(cell, sizeof cell, e, s, r, c, widest));
            if (length > width[c]) width[c] = length;
        }
    }
    printf("%s\n", plx_explanation_title(e, s));
    for (plx_index c = 0; c < cols; c++) printf("  %-*s", c + 1 < cols ? width[c] : 0, plx_explanation_column(e, s, c));
    putchar('\n');
    for (plx_index r = 0; r < rows; r++) {
        for (plx_index c = 0; c < cols; c++) {
            bool left = plx_explanation_text(e, s, r, c) != NULL;
            int wide = left && c + 1 == cols ? 0 : width[c];
            printf(left ? "  %-*s" : "  %*s", wide, cell_text(cell, sizeof cell, e, s, r, c, widest));
        }
        putchar('\n');
    }
    if (*plx_explanation_note(e, s)) printf("  (%s)\n", plx_explanation_note(e, s));
    putchar('\n');
    free(width);
}
