// The `rheos` command: finds the subcommand in the table and hands over.
#include <rheos/base.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "files.h"
#include "limit.h"
#include "near.h"
#include "text.h"

typedef struct {
  const char *name;
  const char *summary;
  const char *help;
  int (*run)(int argc, char **argv);
} command;

#define ROW(name, summary) {#name, summary, command_##name##_help, command_##name},
static const command commands[] = {COMMANDS(ROW)};
#undef ROW

#define NUM_COMMANDS (sizeof commands / sizeof commands[0])

int command_usage_error(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("rheos: ", stderr);
  vfprintf(stderr, format, arguments);
  fputs("\n", stderr);
  va_end(arguments);
  return EXIT_USAGE;
}

// The library puts the node below its message; here all is one line.
static void print_in_one_line(const char *message) {
  static const char breaks[] = "\n\t ";
  while (*message != '\0') {
    const size_t length = strcspn(message, "\n");
    text_print(stderr, message, length);
    message += length;
    if (*message == '\0') break;
    message += strspn(message, breaks);
    if (*message != '\0') fputc(' ', stderr);
  }
}

int command_fail_take(const char *what, rheos_status *status) {
  status = limit_explain_take(status);
  fputs("rheos: ", stderr);
  if (what != NULL) {
    text_print(stderr, what, strlen(what));
    fputs(": ", stderr);
  }
  print_in_one_line(rheos_status_message(status));
  fputs("\n", stderr);
  rheos_status_free(status);
  return EXIT_FAILURE;
}

static void die_without_memory(void) {
  rheos_status *status =
      limit_explain_take(rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "out of memory"));
  exit(command_fail_take(NULL, status));
}

void *command_alloc(size_t size_bytes) {
  void *memory = calloc(1, size_bytes > 0 ? size_bytes : 1);
  if (memory == NULL) die_without_memory();
  return memory;
}

void *command_realloc(void *memory, size_t size_bytes) {
  memory = realloc(memory, size_bytes > 0 ? size_bytes : 1);
  if (memory == NULL) die_without_memory();
  return memory;
}

char *command_format(const char *format, ...) {
  va_list arguments;
  char *text = NULL;
  va_start(arguments, format);
  if (vasprintf(&text, format, arguments) < 0) die_without_memory();
  va_end(arguments);
  return text;
}

rheos_status *command_add_take(rheos_status *status, const char *more) {
  const char *message = rheos_status_message(status);
  size_t length = strlen(message);
  if (more[0] != '\0' && length > 0 && message[length - 1] == '.') length--;
  char *longer = command_format("%.*s%s", (int)length, message, more);
  rheos_status *added = rheos_status_new(rheos_status_code(status), "%s", longer);
  free(longer);
  rheos_status_free(status);
  return added;
}

static const command *find_command(const char *name) {
  for (size_t i = 0; i < NUM_COMMANDS; i++) {
    if (strcmp(commands[i].name, name) == 0) return &commands[i];
  }
  return NULL;
}

static void print_help(void) {
  puts("usage: rheos COMMAND [ARGUMENTS]\n");
  for (size_t i = 0; i < NUM_COMMANDS; i++) {
    printf("  %-10s %s\n", commands[i].name, commands[i].summary);
  }
  puts("\n  help COMMAND, --help, --version; all of it: man rheos");
}

static int unknown_command(const char *name) {
  near_names near = {.wanted = name};
  for (size_t i = 0; i < NUM_COMMANDS; i++) near_offer(&near, commands[i].name);
  char *meant = near_take_text(&near);
  command_usage_error("unknown command '%s'%s", name,
                      *meant != '\0' ? meant : "; 'rheos --help' lists them");
  free(meant);
  return EXIT_USAGE;
}

static int help(int argc, char **argv) {
  if (argc < 2) {
    print_help();
    return EXIT_SUCCESS;
  }
  const command *found = find_command(argv[1]);
  if (!found) return unknown_command(argv[1]);
  fputs(found->help, stdout);
  return EXIT_SUCCESS;
}

// Whether the argument is the script that takes what follows as its own.
static bool is_script(const command *found, const char *argument) {
  if (found->run == command_lint) return ends_with(argument, ".py");
  return found->run == command_run && argument[0] != '-';
}

// --help anywhere before "--", or before a script.
static bool asks_for_help(const command *found, int argc, char **argv) {
  for (int i = 2; i < argc && strcmp(argv[i], "--") != 0 && !is_script(found, argv[i]); i++) {
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
  }
  return false;
}

// A standard stream that was closed is taken by /dev/null, so that no file that is opened gets its
// number, and with it what is printed. Of standard output only reading is allowed: what is printed
// fails as it would.
static void keep_standard_streams(void) {
  static const int modes[] = {O_RDONLY, O_RDONLY, O_WRONLY};
  for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
    if (fcntl(i, F_GETFD) == -1) (void)!open("/dev/null", modes[i]);
  }
}

// Ends what was printed: `result`, or after a message EXIT_FAILURE where it could not be written.
static int finish_output(int result) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return result;
  fputs("rheos: the output cannot be written\n", stderr);
  return result == EXIT_SUCCESS ? EXIT_FAILURE : result;
}

static int dispatch(int argc, char **argv) {
  if (argc < 2) return command_usage_error("a command is missing; 'rheos --help' lists them");
  const char *name = argv[1];
  if (strcmp(name, "--version") == 0) {
    printf("rheos %s\n", rheos_version());
    return EXIT_SUCCESS;
  }
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
    return help(argc - 1, argv + 1);
  }
  const command *found = find_command(name);
  if (!found) return unknown_command(name);
  if (asks_for_help(found, argc, argv)) {
    fputs(found->help, stdout);
    return EXIT_SUCCESS;
  }
  return found->run(argc - 1, argv + 1);
}

int main(int argc, char **argv) {
  keep_standard_streams();
  return finish_output(dispatch(argc, argv));
}
