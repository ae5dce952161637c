// `rheos run`: replaces itself by a Python interpreter, that of the virtual environment or the one
// that Rheos was built for, which starts the package's launcher, which runs the script.
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "options.h"

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

#ifdef RHEOS_PYTHON

enum { MAX_PATH = PATH_MAX + 256 };

// Writes the launcher's path: beside the build tree's or the installed package, whichever this
// executable lies in. False if it is in neither.
static bool find_launcher(char path[MAX_PATH]) {
  static const char *const places[] = {"../python", RHEOS_SITES_FROM_BIN};
  char executable[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", executable, sizeof executable - 1);
  if (length < 0) return false;
  executable[length] = '\0';
  *strrchr(executable, '/') = '\0';
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    int written = snprintf(path, MAX_PATH, "%s/%s/rheos/_launch.py", executable, places[i]);
    if (written < MAX_PATH && access(path, R_OK) == 0) return true;
  }
  return false;
}

static const char *given(const char *variable) {
  const char *value = getenv(variable);
  return value != NULL && *value != '\0' ? value : NULL;
}

// The interpreter; `path` is room for it. What is active but is not there is left out.
static const char *find_python(char path[MAX_PATH]) {
  static const char *const environments[] = {"VIRTUAL_ENV", "CONDA_PREFIX"};
  const char *python = given("RHEOS_PYTHON");
  for (size_t i = 0; python == NULL && i < sizeof environments / sizeof environments[0]; i++) {
    const char *folder = given(environments[i]);
    if (folder == NULL) continue;
    int written = snprintf(path, MAX_PATH, "%s/bin/python", folder);
    if (written < MAX_PATH && access(path, X_OK) == 0) python = path;
  }
  return python != NULL ? python : RHEOS_PYTHON;
}

static bool is_way_in(const char *text) {
  return strcmp(text, "-") == 0 || strcmp(text, "-m") == 0 || strcmp(text, "-c") == 0;
}

int command_run(int argc, char **argv) {
  const char *mode = "auto";
  int i = 1;
  for (; i < argc && argv[i][0] == '-'; i++) {
    if (is_way_in(argv[i])) break;  // the launcher's
    if (strcmp(argv[i], "--tf1") == 0 || strcmp(argv[i], "--tf2") == 0) {
      mode = argv[i] + 2;
    } else if (strcmp(argv[i], "--keras=2") == 0 || strcmp(argv[i], "--keras=3") == 0) {
      if (setenv("RHEOS_KERAS", strchr(argv[i], '=') + 1, 1) != 0) {
        return command_usage_error("run: out of memory");
      }
    } else {
      static const option modes[] = {{.name = "--tf1"}, {.name = "--tf2"}};
      options_say_unknown("run", modes, sizeof modes / sizeof modes[0], argv[i]);
      return EXIT_USAGE;
    }
  }
  if (i == argc) return command_usage_error("run: a script is missing; see 'rheos help run'");
  if (i + 1 == argc && argv[i][0] == '-' && argv[i][1] != '\0') {
    return command_usage_error("run: %s wants a %s; see 'rheos help run'", argv[i],
                               argv[i][1] == 'm' ? "module" : "program's text");
  }

  char launcher[MAX_PATH];
  if (!find_launcher(launcher)) {
    return command_usage_error(
        "run: Rheos's Python package is not beside this command (Debian has it in python3-rheos)");
  }
  char found[MAX_PATH];
  const char *python = find_python(found);

  // python launcher mode (script | -m module | -c text | -) arguments... NULL
  char **arguments = calloc((size_t)(argc - i) + 4, sizeof *arguments);
  if (!arguments) return command_usage_error("run: out of memory");
  arguments[0] = (char *)python;
  arguments[1] = launcher;
  arguments[2] = (char *)mode;
  memcpy(arguments + 3, argv + i, (size_t)(argc - i) * sizeof *arguments);
  execvp(python, arguments);
  int error = errno;
  free(arguments);
  return command_usage_error("run: cannot start %s: %s", python, strerror(error));
}

#else

int command_run(int argc, char **argv) {
  (void)argc, (void)argv;
  return command_usage_error("run: this build has no Python support");
}

#endif
