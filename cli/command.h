// The subcommands of `rheos`. A new one is a line in COMMANDS and a file that defines
// `command_NAME` and `command_NAME_help`.
#ifndef RHEOS_CLI_COMMAND_H
#define RHEOS_CLI_COMMAND_H

// name, summary
#define COMMANDS(X) X(run, "run a Python program that imports tensorflow, on Rheos")

// Gets the arguments from its own name on (argv[0] is "run"); returns the exit status.
#define DECLARE(name, summary)                 \
  int command_##name(int argc, char **argv);   \
  extern const char command_##name##_help[];
COMMANDS(DECLARE)
#undef DECLARE

enum { EXIT_USAGE = 2 };

// Prints "rheos: <message>" on standard error and returns EXIT_USAGE.
int command_usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif  // RHEOS_CLI_COMMAND_H
