// Finds the interpreter, that of the virtual environment or the one that Rheos was built for, and
// the package's launcher, which runs the script.
#include "python.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

bool python_is_way_in(const char *argument) {
  return strcmp(argument, "-") == 0 || strcmp(argument, "-m") == 0 || strcmp(argument, "-c") == 0;
}

bool python_take_option(const char *argument, const char **mode) {
  if (strcmp(argument, "--tf1") == 0 || strcmp(argument, "--tf2") == 0) {
    *mode = argument + 2;
    return true;
  }
  if (strcmp(argument, "--keras=2") != 0 && strcmp(argument, "--keras=3") != 0) return false;
  (void)setenv("RHEOS_KERAS", strchr(argument, '=') + 1, 1);
  return true;
}

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

int python_run(const char *command, const char *mode, int argc, char **argv) {
  if (argc == 0) {
    return command_usage_error("%s: a script is missing; see 'rheos help %s'", command, command);
  }
  if (argc == 1 && argv[0][0] == '-' && argv[0][1] != '\0') {
    return command_usage_error("%s: %s wants a %s; see 'rheos help %s'", command, argv[0],
                               argv[0][1] == 'm' ? "module" : "program's text", command);
  }
  char launcher[MAX_PATH];
  if (!find_launcher(launcher)) {
    return command_usage_error(
        "%s: Rheos's Python package is not beside this command (Debian has it in python3-rheos)",
        command);
  }
  char found[MAX_PATH];
  const char *python = find_python(found);

  // python launcher mode (script | -m module | -c text | -) arguments... NULL
  char **arguments = command_alloc((size_t)(argc + 4) * sizeof *arguments);
  arguments[0] = (char *)python;
  arguments[1] = launcher;
  arguments[2] = (char *)mode;
  memcpy(arguments + 3, argv, (size_t)argc * sizeof *arguments);
  execvp(python, arguments);
  int error = errno;
  free(arguments);
  return command_usage_error("%s: cannot start %s: %s", command, python, strerror(error));
}

#else

int python_run(const char *command, const char *mode, int argc, char **argv) {
  (void)mode, (void)argc, (void)argv;
  return command_usage_error("%s: this build has no Python support", command);
}

#endif
