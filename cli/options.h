// Arguments of a subcommand: options by table, the rest in order.
#ifndef RHEOS_CLI_OPTIONS_H
#define RHEOS_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

// Borrowed texts, in order.
typedef struct text_list {
  const char **items;
  size_t count, capacity;
} text_list;

void text_list_add(text_list *list, const char *text);  // exits when memory is short
void text_list_deinit(text_list *list);

// One of the targets is set: a flag takes no value, `text` keeps the last one, `list` all of them.
typedef struct option {
  const char *name;  // "--node"
  bool *flag;
  const char **text;
  text_list *list;
  unsigned kinds;  // of sources that it applies to, a bit 1 << source_kind for each; 0: to all
} option;

// Reads `--name VALUE`, `--name=VALUE` and `--flag`; "--" ends the options, which may stand between
// other arguments. Returns false after a message (wrong usage).
bool options_parse(const char *command, const option *options, size_t num_options, int argc,
                   char **argv, text_list *rest);
// Says that `argument`, an option with or without its value, is none of these; names near ones.
void options_say_unknown(const char *command, const option *options, size_t num_options,
                         const char *argument);
bool option_is_given(const option *option);

#endif  // RHEOS_CLI_OPTIONS_H
