/*
 * One run of the command.
 */
#ifndef PARALLAX_CLI_DISPATCH_H
#define PARALLAX_CLI_DISPATCH_H

/* Runs the verb that argv names; its exit code. */
int cli_run(int argc, char **argv);

#endif
