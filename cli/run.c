// `rheos run`: replaces itself by a Python interpreter that runs the script.
#include "command.h"
#include "options.h"
#include "python.h"

const char command_run_help[] =
    "usage: rheos run [--tf1 | --tf2] [--keras=2 | --keras=3] SCRIPT.py [ARGUMENTS]\n"
    "       rheos run [--tf1 | --tf2] [--keras=2 | --keras=3] -m MODULE [ARGUMENTS]\n"
    "       rheos run [--tf1 | --tf2] [--keras=2 | --keras=3] -c TEXT [ARGUMENTS]\n"
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
    "Python is that of the active virtual environment (VIRTUAL_ENV, CONDA_PREFIX), else the one\n"
    "that Rheos was built for; RHEOS_PYTHON names another.\n";

int command_run(int argc, char **argv) {
  const char *mode = "auto";
  int i = 1;
  for (; i < argc && argv[i][0] == '-' && !python_is_way_in(argv[i]); i++) {
    if (python_take_option(argv[i], &mode)) continue;
    static const option modes[] = {{.name = "--tf1"}, {.name = "--tf2"}};
    options_say_unknown("run", modes, sizeof modes / sizeof modes[0], argv[i]);
    return EXIT_USAGE;
  }
  return python_run("run", mode, argc - i, argv + i);
}
