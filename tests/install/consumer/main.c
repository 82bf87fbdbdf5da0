/* A stranger's program: only the installed headers and library. */
#include <parallax/parallax.h>
#include <stdio.h>

int other_version_matches(void);

int main(void)
{
    plx_context *ctx = NULL;
    if (plx_context_create(&ctx, NULL) != PLX_OK) return 1;
    printf("parallax %s, %d methods\n", plx_version(), (int)plx_method_count());
    plx_context_destroy(ctx);
    return other_version_matches() ? 0 : 1;
}
