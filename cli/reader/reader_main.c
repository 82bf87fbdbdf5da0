/*
 * parallax-reader: the process in which libparallax reads files of formats whose libraries a hostile file can crash.
 */
#include <parallax/parallax.h>

/* 3: of another version than the library that calls, or called by somebody else. */
int main(int argc, char **argv) { return plx_reader_main(argc, argv) == PLX_OK ? 0 : 3; }
