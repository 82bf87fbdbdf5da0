/*
 * The command `parallax`.
 */
#include "dispatch.h"
#include "kernels.h"
#include "session.h"

int main(int argc, char **argv)
{
    cli_catch_interrupt();
    cli_choose_kernels(argv);
    return cli_run(argc, argv);
}
