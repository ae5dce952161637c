// The one parser of arguments for all subcommands.
#include "options.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "near.h"

void text_list_add(text_list *list, const char *text) {
  if (list->count == list->capacity) {
    list->capacity = list->capacity * 2 + 8;
    list->items = command_realloc(list->items, list->capacity * sizeof *list->items);
  }
  list->items[list->count++] = text;
}

void text_list_deinit(text_list *list) {
  free(list->items);
  *list = (text_list){0};
}

static const option *find_option(const option *options, size_t count, const char *text,
                                 size_t name_bytes) {
  for (size_t i = 0; i < count; i++) {
    if (strlen(options[i].name) == name_bytes && memcmp(options[i].name, text, name_bytes) == 0) {
      return &options[i];
    }
  }
  return NULL;
}

void options_say_unknown(const char *command, const option *options, size_t num_options,
                         const char *argument) {
  char *name = command_format("%.*s", (int)strcspn(argument, "="), argument);
  near_names near = {.wanted = name};
  for (size_t i = 0; i < num_options; i++) near_offer(&near, options[i].name);
  char *meant = near_take_text(&near);
  command_usage_error("%s: unknown option '%s'%s%s see 'rheos help %s'", command, name, meant,
                      *meant != '\0' ? "" : ";", command);
  free(meant);
  free(name);
}

static void store(const option *found, const char *value) {
  if (found->flag != NULL) *found->flag = true;
  if (found->text != NULL) *found->text = value;
  if (found->list != NULL) text_list_add(found->list, value);
}

bool option_is_given(const option *option) {
  return (option->flag != NULL && *option->flag) ||
         (option->text != NULL && *option->text != NULL) ||
         (option->list != NULL && option->list->count > 0);
}

bool options_parse(const char *command, const option *options, size_t num_options, int argc,
                   char **argv, text_list *rest) {
  for (int i = 1; i < argc; i++) {
    const char *argument = argv[i];
    if (argument[0] != '-' || argument[1] == '\0') {
      text_list_add(rest, argument);
      continue;
    }
    if (strcmp(argument, "--") == 0) {
      while (++i < argc) text_list_add(rest, argv[i]);
      return true;
    }
    const size_t name_bytes = strcspn(argument, "=");
    const option *found = find_option(options, num_options, argument, name_bytes);
    if (found == NULL) {
      options_say_unknown(command, options, num_options, argument);
      return false;
    }
    const char *value = argument[name_bytes] == '=' ? argument + name_bytes + 1 : NULL;
    if (found->flag != NULL && value != NULL) {
      command_usage_error("%s: %s takes no value", command, found->name);
      return false;
    }
    if (found->flag == NULL && value == NULL) {
      if (i + 1 == argc) {
        command_usage_error("%s: %s needs a value; see 'rheos help %s'", command, found->name,
                            command);
        return false;
      }
      value = argv[++i];
    }
    store(found, value);
  }
  return true;
}
