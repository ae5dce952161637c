// Programs of Python: the command becomes the interpreter that runs them.
#ifndef RHEOS_CLI_PYTHON_H
#define RHEOS_CLI_PYTHON_H

#include <stdbool.h>

// "-", "-m", "-c": what stands in the place of a script.
bool python_is_way_in(const char *argument);

// Takes `--tf1`, `--tf2` and `--keras=`, of which the first two go to `*mode`, "auto" before;
// false if the argument is none of them.
bool python_take_option(const char *argument, const char **mode);

// Replaces the process by Python that runs the program which `argv` begins with: a script, or a way
// in and what belongs to it. Returns EXIT_USAGE after a message if that cannot be. `command` is for
// messages.
int python_run(const char *command, const char *mode, int argc, char **argv);

#endif  // RHEOS_CLI_PYTHON_H
