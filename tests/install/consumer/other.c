/* A second file with the same header: nothing in it may be defined twice. */
#include <parallax/parallax.h>
#include <string.h>

int other_version_matches(void);

int other_version_matches(void) { return strcmp(plx_version(), PLX_VERSION_STRING) == 0; }
