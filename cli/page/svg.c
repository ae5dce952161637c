// Runs `dot` between two files without names: neither side waits for the other.
#include "svg.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../command.h"
#include "../status.h"

extern char **environ;

static rheos_status *run_dot(int input, int output) {
  char *arguments[] = {"dot", "-Tsvg", NULL};
  posix_spawn_file_actions_t actions;
  pid_t child;
  if (posix_spawn_file_actions_init(&actions) != 0) return NO_MEMORY();
  int error = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  if (error == 0) error = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return rheos_status_new(RHEOS_FAILED_PRECONDITION,
                            "dot of Graphviz cannot be started (%s); install graphviz, or take "
                            "--dot and draw that elsewhere",
                            strerror(error));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return rheos_status_new(RHEOS_INTERNAL, "dot cannot be waited for");
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return NULL;
  return rheos_status_new(RHEOS_INTERNAL, "dot of Graphviz failed");
}

static rheos_status *read_all(FILE *file, char **out_bytes, size_t *out_size) {
  if (fseek(file, 0, SEEK_END) != 0) return rheos_status_new(RHEOS_INTERNAL, "cannot read");
  const long size = ftell(file);
  rewind(file);
  *out_bytes = command_alloc(size > 0 ? (size_t)size : 0);
  *out_size = fread(*out_bytes, 1, size > 0 ? (size_t)size : 0, file);
  return NULL;
}

rheos_status *svg_by_dot(const char *dot, size_t dot_bytes, char **out_svg, size_t *out_svg_bytes) {
  *out_svg = NULL;
  FILE *input = tmpfile(), *output = tmpfile();
  rheos_status *status = NULL;
  if (input == NULL || output == NULL || fwrite(dot, 1, dot_bytes, input) != dot_bytes ||
      fflush(input) != 0 || fseek(input, 0, SEEK_SET) != 0) {
    status =
        rheos_status_new(RHEOS_INTERNAL, "no temporary file can be written: %s", strerror(errno));
  }
  if (status == NULL) status = run_dot(fileno(input), fileno(output));
  if (status == NULL) status = read_all(output, out_svg, out_svg_bytes);
  if (input != NULL) fclose(input);
  if (output != NULL) fclose(output);
  return status;
}
