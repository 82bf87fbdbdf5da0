/*
 * parallax-reader: the process in which libparallax reads files of formats whose libraries a hostile file can crash.
 */
#include <parallax/parallax.h>

int main(int argc, char **argv) { return plx_reader_main(argc, argv); }
