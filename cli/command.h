// The subcommands of `rheos`, and how they say what went wrong. A new one is a line in COMMANDS
// and a file that defines `command_NAME` and `command_NAME_help`.
#ifndef RHEOS_CLI_COMMAND_H
#define RHEOS_CLI_COMMAND_H

#include <rheos/base.h>
#include <stdio.h>

// name, summary
#define COMMANDS(X)                                                      \
  X(run, "run a Python program that imports tensorflow, on Rheos")       \
  X(show, "say what is in a graph, checkpoint, record or event file")    \
  X(diff, "say what differs between two graphs or checkpoints")          \
  X(view, "draw a graph on a page that opens in a browser")              \
  X(lint, "find mistakes in a graph, a saved model or a program")        \
  X(debug, "stop a program in its steps and look at values")             \
  X(exec, "run a graph or a saved model on files of arrays")             \
  X(bench, "time a graph or a saved model")                              \
  X(convert, "write a graph, saved model or checkpoint in another form") \
  X(serve, "be one task of a cluster")                                   \
  X(env, "print what a shell is to set for libtensorflow")

// Gets the arguments from its own name on (argv[0] is "run"); returns the exit status. What it
// prints is flushed behind it: where that fails, the command has failed.
#define DECLARE(name, summary)               \
  int command_##name(int argc, char **argv); \
  extern const char command_##name##_help[];
COMMANDS(DECLARE)
#undef DECLARE

// EXIT_FAILURE is for what could not be done, this for what was asked wrongly.
enum { EXIT_USAGE = 2 };

// Prints "rheos: <message>" on standard error and returns EXIT_USAGE.
int command_usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Prints "rheos: <what>: <message of the status>" on standard error, in one line whatever the
// message holds, frees the status and returns EXIT_FAILURE. `what` may be NULL.
int command_fail_take(const char *what, rheos_status *status);

// Never NULL: the process ends with a message when memory is short.
void *command_alloc(size_t size_bytes);  // zeroed
void *command_realloc(void *memory, size_t size_bytes);
char *command_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

// The status with more behind its message, whose full stop goes; it is taken, the texts are
// borrowed.
rheos_status *command_add_take(rheos_status *status, const char *more);

#endif  // RHEOS_CLI_COMMAND_H
