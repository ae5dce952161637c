#include "graph/node_mentions.h"

#include <ctype.h>

#include "base/file.h"
#include "base/text.h"

// A mention: what comes before the name and behind it.
typedef struct form {
  const char *before, *behind;
} form;

static const form forms[] = {
    {"[[{{node ", "}}]]"}, {"[[node ", "]]"}, {"{{node ", "}}"}, {"{{colocation_node ", "}}"}};

static size_t name_size(const char *text) {
  size_t size = 0;
  while (isalnum((unsigned char)text[size]) != 0 ||
         (text[size] != '\0' && strchr("_.\\-/", text[size]) != NULL)) {
    size++;
  }
  return size;
}

// The form that the text begins with, NULL: none.
static const form *form_at(const char *text, size_t *out_size) {
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    const size_t before = strlen(forms[i].before);
    if (strncmp(text, forms[i].before, before) != 0) continue;
    *out_size = name_size(text + before);
    const char *behind = text + before + *out_size;
    if (strncmp(behind, forms[i].behind, strlen(forms[i].behind)) == 0) return &forms[i];
  }
  return NULL;
}

static char *copy_of(const char *text, size_t size) {
  char *copy = rheos__alloc_zeroed(size + 1);
  if (copy != NULL) memcpy(copy, text, size);
  return copy;
}

// Puts the mention as errors of this process have it.
static void add_mention(rheos__text *text, const form *form, rheos_operation operation,
                        const char *name) {
  const char *file;
  int32_t line;
  const bool is_last = form->before[0] == '[';
  rheos_operation_source(operation, &file, &line);
  rheos__text_add_string(text, is_last ? "[[node " : "node ");
  rheos__text_add_string(text, name);
  if (file != NULL) {
    char *at = rheos__text_format(" (defined at %s:%d)", file, (int)line);
    if (at == NULL) text->failed = true;
    rheos__text_add_string(text, at != NULL ? at : "");
    rheos__free(at);
  }
  if (is_last) rheos__text_add_string(text, "]]");
}

// Writes the message anew; `*out_first` is the first node that the graph has, for rheos__free().
static void rewrite(const char *message, rheos_graph *graph, rheos__text *text, char **out_first) {
  for (const char *at = message; *at != '\0';) {
    size_t size = 0;
    const form *form = form_at(at, &size);
    char *name = form != NULL ? copy_of(at + strlen(form->before), size) : NULL;
    const rheos_operation operation =
        name != NULL ? rheos_graph_operation(graph, name) : (rheos_operation){NULL, 0};
    if (operation.graph == NULL) {
      rheos__text_add(text, at++, 1);
      rheos__free(name);
      continue;
    }
    add_mention(text, form, operation, name);
    at += strlen(form->before) + size + strlen(form->behind);
    if (*out_first == NULL) {
      *out_first = name;
    } else {
      rheos__free(name);
    }
  }
}

rheos_status *rheos__status_with_lines_take(rheos_status *status, rheos_graph *graph) {
  if (status == NULL || rheos_status_node(status) != NULL) return status;
  const char *message = rheos_status_message(status);
  if (strstr(message, "node ") == NULL) return status;
  rheos__text text = {0};
  char *first = NULL;
  rewrite(message, graph, &text, &first);
  if (first != NULL && !text.failed) {
    rheos_status *told = rheos__status_of_node(rheos_status_code(status), first, text.data);
    rheos_status_free(status);
    status = told;
  }
  rheos__text_deinit(&text);
  rheos__free(first);
  return status;
}

rheos_status *rheos__status_for_others_take(rheos_status *status) {
  const char *message = status != NULL ? rheos_status_message(status) : "";
  if (strstr(message, "[[node ") == NULL) return status;
  rheos__text text = {0};
  while (*message != '\0') {
    size_t size = 0;
    const form *form = form_at(message, &size);
    if (form == NULL || strcmp(form->before, "[[node ") != 0) {
      rheos__text_add(&text, message++, 1);
      continue;
    }
    rheos__text_add_string(&text, "[[{{node ");
    rheos__text_add(&text, message + strlen(form->before), size);
    rheos__text_add_string(&text, "}}]]");
    message += strlen(form->before) + size + strlen(form->behind);
  }
  if (!text.failed) {
    rheos_status *told = rheos_status_new(rheos_status_code(status), "%s", text.data);
    rheos_status_free(status);
    status = told;
  }
  rheos__text_deinit(&text);
  return status;
}
