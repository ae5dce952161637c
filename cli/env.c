// `rheos env`: what a shell is to set so that programs find libraries that lie aside.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "options.h"

const char command_env_help[] =
    "usage: rheos env --libtensorflow\n"
    "\n"
    "Prints what a shell is to set, for eval:\n"
    "\n"
    "  eval \"$(rheos env --libtensorflow)\"\n"
    "\n"
    "  --libtensorflow      so that programs of TensorFlow's C interface, in any language, find\n"
    "                       libtensorflow.so.2 of Rheos when they are built and when they run;\n"
    "                       it comes before any other TensorFlow\n"
    "\n"
    "What the variables hold already stays, behind it.\n";

// Variables, and the folders below the prefix that go in front of what they hold.
static const struct {
  const char *name, *folder;
} variables[] = {
    {"LD_LIBRARY_PATH", "/lib"},           {"LIBRARY_PATH", "/lib"},  {"CPATH", "/include"},
    {"PKG_CONFIG_PATH", "/lib/pkgconfig"}, {"CMAKE_PREFIX_PATH", ""},
};

// The prefix of libtensorflow beside this executable, in a built or an installed tree; where it
// should lie if it does not. False if it does not.
static bool find_prefix(char prefix[PATH_MAX]) {
  static const char *const places[] = {"../libtensorflow", RHEOS_LIBTENSORFLOW_FROM_BIN};
  char executable[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", executable, sizeof executable - 1);
  prefix[0] = '\0';
  if (length < 0) return false;
  executable[length] = '\0';
  *strrchr(executable, '/') = '\0';
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    char *place = command_format("%s/%s", executable, places[i]);
    char *library = command_format("%s/lib/libtensorflow.so.2", place);
    const bool is_there = access(library, R_OK) == 0 && realpath(place, prefix) != NULL;
    if (!is_there) snprintf(prefix, PATH_MAX, "%s", place);
    free(library);
    free(place);
    if (is_there) return true;
  }
  return false;
}

// As a word of the shell.
static void print_quoted(const char *text, const char *more) {
  putchar('\'');
  for (const char *c = text; *c != '\0'; c++) {
    if (*c == '\'') {
      fputs("'\\''", stdout);
    } else {
      putchar(*c);
    }
  }
  printf("%s'", more);
}

int command_env(int argc, char **argv) {
  bool libtensorflow = false;
  const option options[] = {{.name = "--libtensorflow", .flag = &libtensorflow}};
  text_list rest = {0};
  const bool parsed = options_parse("env", options, 1, argc, argv, &rest);
  const size_t num_rest = rest.count;
  text_list_deinit(&rest);
  if (!parsed) return EXIT_USAGE;
  if (!libtensorflow || num_rest > 0) {
    return command_usage_error("env wants --libtensorflow alone; 'rheos help env' tells more");
  }
  char prefix[PATH_MAX];
  if (!find_prefix(prefix)) {
    fprintf(stderr,
            "rheos: there is no libtensorflow at %s: Debian's package is librheos-tensorflow\n",
            prefix);
    return EXIT_FAILURE;
  }
  for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
    printf("export %s=", variables[i].name);
    print_quoted(prefix, variables[i].folder);
    printf("\"${%s:+:$%s}\"\n", variables[i].name, variables[i].name);
  }
  return EXIT_SUCCESS;
}
