#include "parallax/version.h"

const char *plx_version(void) { return PLX_VERSION_STRING; }
