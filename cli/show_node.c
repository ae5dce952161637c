// One node of a graph with all its attributes and neighbours, and the graph as a drawing.
#include <stdlib.h>
#include <string.h>

#include "attribute.h"
#include "command.h"
#include "elements.h"
#include "message.h"
#include "near.h"
#include "show.h"
#include "status.h"

// ---- Values of attributes, as JSON

static void json_shape(json *j, const char *key, const Tensorflow__TensorShapeProto *proto) {
  const rheos_shape shape = message_shape(proto);
  json_begin(j, key, '{');
  show_json_type(j, RHEOS_INVALID_DTYPE, &shape);
  json_end(j, '}');
}

static void json_tensor(json *j, const char *key, const Tensorflow__TensorProto *proto) {
  const rheos_shape shape = message_shape(proto->tensor_shape);
  json_begin(j, key, '{');
  json_text(j, "dtype", view_dtype_name(proto->dtype));
  show_json_type(j, RHEOS_INVALID_DTYPE, &shape);
  rheos_tensor *tensor = message_tensor(proto);
  if (tensor != NULL) elements_json(j, "values", tensor);
  rheos_tensor_unref(tensor);
  json_end(j, '}');
}

static void json_list(json *j, const char *key, const Tensorflow__AttrValue__ListValue *list) {
  json_begin(j, key, '[');
  for (size_t i = 0; i < list->n_s; i++) {
    json_bytes(j, NULL, (const char *)list->s[i].data, list->s[i].len);
  }
  for (size_t i = 0; i < list->n_i; i++) json_int(j, NULL, list->i[i]);
  for (size_t i = 0; i < list->n_f; i++) json_number(j, NULL, list->f[i], true);
  for (size_t i = 0; i < list->n_b; i++) json_bool(j, NULL, list->b[i]);
  for (size_t i = 0; i < list->n_type; i++) json_text(j, NULL, view_dtype_name(list->type[i]));
  for (size_t i = 0; i < list->n_shape; i++) json_shape(j, NULL, list->shape[i]);
  for (size_t i = 0; i < list->n_tensor; i++) json_tensor(j, NULL, list->tensor[i]);
  for (size_t i = 0; i < list->n_func; i++) json_text(j, NULL, list->func[i]->name);
  json_end(j, ']');
}

static void json_attr(json *j, const char *key, const Tensorflow__AttrValue *value) {
  switch (value != NULL ? value->value_case : TENSORFLOW__ATTR_VALUE__VALUE__NOT_SET) {
    case TENSORFLOW__ATTR_VALUE__VALUE_S:
      json_bytes(j, key, (const char *)value->s.data, value->s.len);
      break;
    case TENSORFLOW__ATTR_VALUE__VALUE_I: json_int(j, key, value->i); break;
    case TENSORFLOW__ATTR_VALUE__VALUE_F: json_number(j, key, value->f, true); break;
    case TENSORFLOW__ATTR_VALUE__VALUE_B: json_bool(j, key, value->b); break;
    case TENSORFLOW__ATTR_VALUE__VALUE_TYPE: json_text(j, key, view_dtype_name(value->type)); break;
    case TENSORFLOW__ATTR_VALUE__VALUE_SHAPE: json_shape(j, key, value->shape); break;
    case TENSORFLOW__ATTR_VALUE__VALUE_TENSOR: json_tensor(j, key, value->tensor); break;
    case TENSORFLOW__ATTR_VALUE__VALUE_FUNC: json_text(j, key, value->func->name); break;
    case TENSORFLOW__ATTR_VALUE__VALUE_PLACEHOLDER: json_text(j, key, value->placeholder); break;
    case TENSORFLOW__ATTR_VALUE__VALUE_LIST: json_list(j, key, value->list); break;
    default: json_null(j, key); break;
  }
}

// ---- One node

static void print_inputs(const view *v, int32_t node) {
  const Tensorflow__NodeDef *def = v->def->node[node];
  if (def->n_input > 0) puts("  inputs");
  for (size_t i = 0; i < def->n_input; i++) {
    const view_edge edge = v->edges[v->first_edge[node] + i];
    fputs("    ", stdout);
    show_name(def->input[i]);
    if (edge.node == VIEW_MISSING) {
      fputs("  (not in the graph)", stdout);
    } else {
      fputs("  ", stdout);
      show_name(v->def->node[edge.node]->op);
      if (edge.index != VIEW_CONTROL) {
        rheos_dtype dtype;
        rheos_shape shape;
        view_output(v, edge.node, edge.index, &dtype, &shape);
        fputs("  ", stdout);
        show_type(dtype, &shape);
      }
    }
    putchar('\n');
  }
}

static void print_outputs(const view *v, int32_t node) {
  const int32_t count = view_num_outputs(v, node);
  if (count > 0) puts("  outputs");
  for (int32_t i = 0; i < count; i++) {
    rheos_dtype dtype;
    rheos_shape shape;
    view_output(v, node, i, &dtype, &shape);
    printf("    %d  ", i);
    show_type(dtype, &shape);
    putchar('\n');
  }
}

static void print_consumers(const view *v, int32_t node) {
  if (v->first_use[node] < v->first_use[node + 1]) puts("  consumers");
  for (size_t at = v->first_use[node]; at < v->first_use[node + 1]; at++) {
    const view_use use = v->uses[at];
    fputs("    ", stdout);
    show_name(v->def->node[use.node]->name);
    fputs("  ", stdout);
    show_name(v->def->node[use.node]->op);
    if (use.index == VIEW_CONTROL) {
      puts("  waits for it");
    } else {
      printf("  takes output %d as input %d\n", use.index, use.input);
    }
  }
}

static void print_node(const view *v, int32_t node) {
  const Tensorflow__NodeDef *def = v->def->node[node];
  show_name(def->name);
  fputs("  ", stdout);
  show_name(def->op);
  putchar('\n');
  if (def->device[0] != '\0') {
    fputs("  device ", stdout);
    show_name(def->device);
    putchar('\n');
  }
  print_inputs(v, node);
  print_outputs(v, node);
  print_consumers(v, node);
  if (def->n_attr > 0) puts("  attributes");
  for (size_t i = 0; i < def->n_attr; i++) {
    fputs("    ", stdout);
    show_name(def->attr[i]->key);
    fputs(" = ", stdout);
    attribute_print(stdout, def->attr[i]->value);
    putchar('\n');
  }
}

static void json_node(json *j, const view *v, int32_t node) {
  const Tensorflow__NodeDef *def = v->def->node[node];
  json_begin(j, NULL, '{');
  json_text(j, "kind", "node");
  json_text(j, "name", def->name);
  json_text(j, "op", def->op);
  json_text(j, "device", def->device);
  json_begin(j, "inputs", '[');
  for (size_t i = 0; i < def->n_input; i++) json_text(j, NULL, def->input[i]);
  json_end(j, ']');
  json_begin(j, "outputs", '[');
  for (int32_t i = 0; i < view_num_outputs(v, node); i++) {
    rheos_dtype dtype;
    rheos_shape shape;
    view_output(v, node, i, &dtype, &shape);
    json_begin(j, NULL, '{');
    show_json_type(j, dtype, &shape);
    json_end(j, '}');
  }
  json_end(j, ']');
  json_begin(j, "consumers", '[');
  for (size_t at = v->first_use[node]; at < v->first_use[node + 1]; at++) {
    const view_use use = v->uses[at];
    json_begin(j, NULL, '{');
    json_text(j, "node", v->def->node[use.node]->name);
    json_int(j, "input", use.input);
    if (use.index != VIEW_CONTROL) json_int(j, "output", use.index);
    json_bool(j, "control", use.index == VIEW_CONTROL);
    json_end(j, '}');
  }
  json_end(j, ']');
  json_begin(j, "attributes", '{');
  for (size_t i = 0; i < def->n_attr; i++) json_attr(j, def->attr[i]->key, def->attr[i]->value);
  json_end(j, '}');
  json_end(j, '}');
}

static char *near_nodes(const view *v, const char *name) {
  near_names near = {.wanted = name};
  const Tensorflow__FunctionDefLibrary *library = v->def->library;
  for (int32_t i = 0; i < v->num_nodes; i++) near_offer(&near, v->def->node[i]->name);
  for (size_t i = 0; library != NULL && i < library->n_function; i++) {
    const Tensorflow__OpDef *signature = library->function[i]->signature;
    if (signature != NULL) near_offer(&near, signature->name);
  }
  return near_take_text(&near);
}

int show_node(const view *v, const char *name, json *j) {
  size_t name_bytes = strlen(name);
  int32_t node = view_find(v, name, name_bytes);
  const char *colon = strrchr(name, ':');
  if (node == VIEW_MISSING && colon != NULL) node = view_find(v, name, (size_t)(colon - name));
  const Tensorflow__FunctionDef *function =
      node == VIEW_MISSING ? show_find_function(v, name) : NULL;
  if (function != NULL) {
    show_function(function, j);
    return EXIT_SUCCESS;
  }
  if (node == VIEW_MISSING) {
    char *near = near_nodes(v, name);
    const int result =
        command_fail_take(NULL, NOT_FOUND("the graph has no node or function '%s'%s", name, near));
    free(near);
    return result;
  }
  if (j != NULL) {
    json_node(j, v, node);
  } else {
    print_node(v, node);
  }
  return EXIT_SUCCESS;
}
