// `rheos debug`: a program of Python that stops before its runs and within them; what asks and
// answers is the package's.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "options.h"
#include "python.h"

const char command_debug_help[] =
    "usage: rheos debug [OPTIONS] SCRIPT.py [ARGUMENTS]\n"
    "       rheos debug [OPTIONS] -m MODULE [ARGUMENTS]\n"
    "\n"
    "Runs a Python program on Rheos, and stops before each Session.run. From there a step\n"
    "goes on value by value: into the bodies of functions, branches and loops or over them, to\n"
    "an operation, to the first NaN, to where a condition holds. Values, statistics,\n"
    "histograms, inputs and consumers are shown, with the lines of the program; before a run\n"
    "any tensor can be given another value. 'help' lists the commands. What the debugger\n"
    "says goes to standard error.\n"
    "\n"
    "  --commands FILE  take commands from a file, a line each; when it ends the program\n"
    "                   runs on. Without it they come from standard input\n"
    "  --tf1, --tf2, --keras 2 or 3\n"
    "                   as 'rheos run' has them\n";

// The number of arguments that the option takes; 0 if it is none, -1 after a message.
static int take_option(int argc, char **argv, const char **mode, const char **commands) {
  if (python_take_option(argv[0], mode)) return 1;
  if (strncmp(argv[0], "--commands=", 11) == 0) {
    *commands = argv[0] + 11;
    return 1;
  }
  const bool is_keras = strcmp(argv[0], "--keras") == 0;
  if (!is_keras && strcmp(argv[0], "--commands") != 0) return 0;
  if (argc < 2) {
    command_usage_error("debug: %s needs a value", argv[0]);
    return -1;
  }
  if (!is_keras) {
    *commands = argv[1];
    return 2;
  }
  char *keras = command_format("--keras=%s", argv[1]);
  const bool taken = python_take_option(keras, mode);
  free(keras);
  if (!taken) command_usage_error("debug: --keras is 2 or 3");
  return taken ? 2 : -1;
}

int command_debug(int argc, char **argv) {
  static const option known[] = {
      {.name = "--commands"}, {.name = "--tf1"}, {.name = "--tf2"}, {.name = "--keras"}};
  const char *mode = "auto", *commands = "-";
  int i = 1;
  while (i < argc && argv[i][0] == '-' && !python_is_way_in(argv[i])) {
    const int taken = take_option(argc - i, argv + i, &mode, &commands);
    if (taken < 0) return EXIT_USAGE;
    if (taken == 0) {
      options_say_unknown("debug", known, sizeof known / sizeof known[0], argv[i]);
      return EXIT_USAGE;
    }
    i += taken;
  }
  if (i < argc && strcmp(argv[i], "-") == 0) {
    return command_usage_error("debug: the program is a file: standard input has the commands");
  }
  if (strcmp(commands, "-") != 0 && access(commands, R_OK) != 0) {
    return command_usage_error("debug: %s: the commands cannot be read", commands);
  }
  if (setenv("RHEOS_DEBUG_SCRIPT", commands, 1) != 0) {
    return command_usage_error("debug: out of memory");
  }
  return python_run("debug", mode, argc - i, argv + i);
}
