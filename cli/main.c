// The `rheos` command: finds the subcommand in the table and hands over.
#include <rheos/base.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

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
  puts("\n  help COMMAND, --help, --version");
}

static int unknown_command(const char *name) {
  return command_usage_error("unknown command '%s'; 'rheos --help' lists them", name);
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

int main(int argc, char **argv) {
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
  if (argc > 2 && strcmp(argv[2], "--help") == 0) {
    fputs(found->help, stdout);
    return EXIT_SUCCESS;
  }
  return found->run(argc - 1, argv + 1);
}
