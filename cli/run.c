// `rheos run`: replaces itself by a Python interpreter that runs the script.
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "options.h"
#include "python.h"

const char command_run_help[] =
    "usage: rheos run [OPTIONS] SCRIPT.py [ARGUMENTS]\n"
    "       rheos run [OPTIONS] -m MODULE [ARGUMENTS]\n"
    "       rheos run [OPTIONS] -c TEXT [ARGUMENTS]\n"
    "\n"
    "Runs a Python program in which `import tensorflow` means Rheos; `-` in the place of a\n"
    "script reads it from the standard input, -c takes its text. The program sees\n"
    "TensorFlow 1 when it uses names that only TensorFlow 1 has (Session, placeholder,\n"
    "get_variable, compat.v1, ...), else TensorFlow 2; --tf1 and --tf2 decide by hand.\n"
    "The exit status is the program's.\n"
    "\n"
    "--keras=3 has TensorFlow 2's tf.keras be the package keras, where that is installed,\n"
    "--keras=2 Rheos's own, as without it; the variable RHEOS_KERAS says the same, and\n"
    "TF_USE_LEGACY_KERAS=1 is heard before both.\n"
    "\n"
    "--view writes the program's graph and some of its steps to the folder SCRIPT.view, or\n"
    "--view=FOLDER to that one, and serves the page of it ('rheos help view') on this\n"
    "machine while the program runs; the address goes to standard error.\n"
    "\n"
    "Python is that of the active virtual environment (VIRTUAL_ENV, CONDA_PREFIX), else the one\n"
    "that Rheos was built for; RHEOS_PYTHON names another.\n";

// Tells the program's launcher to have it recorded: by this executable, a newline, the folder.
static bool tell_view(const char *folder) {
  char executable[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", executable, sizeof executable - 1);
  if (length < 0) return false;
  executable[length] = '\0';
  char *how = command_format("%s\n%s", executable, folder);
  const bool told = setenv("RHEOS_VIEW_RUN", how, 1) == 0;
  free(how);
  return told;
}

static bool take_view(const char *argument, bool *out_failed) {
  const bool has_folder = strncmp(argument, "--view=", 7) == 0;
  if (!has_folder && strcmp(argument, "--view") != 0) return false;
  *out_failed = !tell_view(has_folder ? argument + 7 : "");
  return true;
}

int command_run(int argc, char **argv) {
  const char *mode = "auto";
  int i = 1;
  for (; i < argc && argv[i][0] == '-' && !python_is_way_in(argv[i]); i++) {
    bool failed = false;
    if (python_take_option(argv[i], &mode)) continue;
    if (take_view(argv[i], &failed)) {
      if (failed) return command_usage_error("run: --view cannot be told to the program");
      continue;
    }
    static const option modes[] = {{.name = "--tf1"}, {.name = "--tf2"}, {.name = "--view"}};
    options_say_unknown("run", modes, sizeof modes / sizeof modes[0], argv[i]);
    return EXIT_USAGE;
  }
  return python_run("run", mode, argc - i, argv + i);
}
