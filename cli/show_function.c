// One function of a graph's library: its arguments and the nodes of its body.
#include <stdlib.h>
#include <string.h>

#include "show.h"

const Tensorflow__FunctionDef *show_find_function(const view *v, const char *name) {
  const Tensorflow__FunctionDefLibrary *library = v->def->library;
  for (size_t i = 0; library != NULL && i < library->n_function; i++) {
    const Tensorflow__FunctionDef *function = library->function[i];
    if (function->signature != NULL && strcmp(function->signature->name, name) == 0) {
      return function;
    }
  }
  return NULL;
}

// What a result comes from: "node:output:0", as the body says.
static const char *source_of(const Tensorflow__FunctionDef *function, const char *result) {
  for (size_t i = 0; i < function->n_ret; i++) {
    if (strcmp(function->ret[i]->key, result) == 0) return function->ret[i]->value;
  }
  return "";
}

// The dtype of an argument: its own, or the name of the attribute that tells it.
static const char *type_of(const Tensorflow__OpDef__ArgDef *arg) {
  if (arg->type_attr[0] != '\0') return arg->type_attr;
  if (arg->type_list_attr[0] != '\0') return arg->type_list_attr;
  return view_dtype_name(arg->type);
}

static void print_args(const char *title, const Tensorflow__FunctionDef *function,
                       Tensorflow__OpDef__ArgDef *const *args, size_t count, bool are_results) {
  if (count > 0) printf("  %s\n", title);
  for (size_t i = 0; i < count; i++) {
    fputs("    ", stdout);
    show_name(args[i]->name);
    fputs("  ", stdout);
    show_name(type_of(args[i]));
    if (are_results) {
      fputs("  ", stdout);
      show_name(source_of(function, args[i]->name));
    }
    putchar('\n');
  }
}

static void print_function(const Tensorflow__FunctionDef *function) {
  const Tensorflow__OpDef *signature = function->signature;
  show_name(signature->name);
  puts("  function");
  print_args("inputs", function, signature->input_arg, signature->n_input_arg, false);
  print_args("outputs", function, signature->output_arg, signature->n_output_arg, true);
  if (function->n_node_def > 0) puts("  nodes");
  for (size_t i = 0; i < function->n_node_def; i++) {
    const Tensorflow__NodeDef *node = function->node_def[i];
    fputs("    ", stdout);
    show_name(node->name);
    fputs("  ", stdout);
    show_name(node->op);
    for (size_t k = 0; k < node->n_input; k++) {
      fputs(k == 0 ? "  " : ", ", stdout);
      show_name(node->input[k]);
    }
    putchar('\n');
  }
}

static void json_args(json *j, const char *key, const Tensorflow__FunctionDef *function,
                      Tensorflow__OpDef__ArgDef *const *args, size_t count, bool are_results) {
  json_begin(j, key, '[');
  for (size_t i = 0; i < count; i++) {
    json_begin(j, NULL, '{');
    json_text(j, "name", args[i]->name);
    json_text(j, "dtype", type_of(args[i]));
    if (are_results) json_text(j, "source", source_of(function, args[i]->name));
    json_end(j, '}');
  }
  json_end(j, ']');
}

static void json_function(json *j, const Tensorflow__FunctionDef *function) {
  const Tensorflow__OpDef *signature = function->signature;
  json_begin(j, NULL, '{');
  json_text(j, "kind", "function");
  json_text(j, "name", signature->name);
  json_args(j, "inputs", function, signature->input_arg, signature->n_input_arg, false);
  json_args(j, "outputs", function, signature->output_arg, signature->n_output_arg, true);
  json_begin(j, "nodes", '[');
  for (size_t i = 0; i < function->n_node_def; i++) {
    const Tensorflow__NodeDef *node = function->node_def[i];
    json_begin(j, NULL, '{');
    json_text(j, "name", node->name);
    json_text(j, "op", node->op);
    json_begin(j, "inputs", '[');
    for (size_t k = 0; k < node->n_input; k++) json_text(j, NULL, node->input[k]);
    json_end(j, ']');
    json_end(j, '}');
  }
  json_end(j, ']');
  json_end(j, '}');
}

void show_function(const Tensorflow__FunctionDef *function, json *j) {
  if (j != NULL) {
    json_function(j, function);
  } else {
    print_function(function);
  }
}
