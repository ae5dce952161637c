// Functions while a program builds them: a body with a scope, what it captures of the graphs around
// it, and what it gives; in the end an entry of the library.
#include <rheos/function.h>

#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "graph/build.h"
#include "graph/effect_order.h"
#include "graph/graph_impl.h"
#include "graph/handles.h"
#include "graph/library.h"
#include "graph/names.h"

static const rheos_output none = {NULL, 0, 0};

typedef struct capture {
  rheos_output value, inside;
} capture;

typedef struct named_edge {
  const char *name;  // in the body's memory
  rheos__edge edge;
} named_edge;

struct rheos_function {
  rheos_graph *around;   // the graph of the scope that it was begun in
  rheos_graph *library;  // the outermost graph
  rheos_graph *body;
  rheos_scope *scope;
  rheos_scope *top;  // of the body, with nothing pushed: makes the arguments
  rheos_function_options options;
  const rheos__attrs *attrs;  // in the library's memory
  char *name;
  rheos_func func;
  named_edge *args, *results, *controls;
  rheos__names arg_names, result_names, control_names;  // those that are taken
  size_t args_capacity, num_args, results_capacity, num_results, controls_capacity, num_controls;
  capture *captures;
  size_t captures_capacity, num_captures;  // the last arguments, but for those the program gave
  size_t num_captured_args;
  bool is_finished;
};

// ---- Life

static const rheos__attrs *keep_attrs(rheos_graph *graph, const rheos_attr *attrs, size_t count) {
  rheos_attr *items = rheos__alloc_array(count + 1, sizeof *items);
  const rheos__attrs *kept = NULL;
  bool whole = items != NULL;
  for (size_t i = 0; whole && i < count; i++) {
    items[i] = attrs[i];
    items[i].name = rheos__intern_text(graph, attrs[i].name, strlen(attrs[i].name));
    whole = items[i].name != NULL;
  }
  if (whole) kept = rheos__intern_attrs(graph, items, (int32_t)count);
  rheos__free(items);
  return kept;
}

static rheos_status *check_attrs(const rheos_attr *attrs, size_t count) {
  RHEOS_NEED_LIST(attrs, count);
  for (size_t i = 0; i < count; i++) {
    if (attrs[i].name == NULL || !rheos__attr_value_is_sound(&attrs[i].value)) {
      return RHEOS_INVALID("attribute %zu of a function has no name or no valid value", i);
    }
  }
  return NULL;
}

static rheos_status *init_function(rheos_function *f, rheos_scope *scope, const char *name) {
  f->around = rheos_graph_ref(rheos_scope_graph(scope));
  f->library = rheos_graph_ref(rheos__library_graph(f->around));
  f->name = rheos__strdup(name);
  f->body = rheos_graph_new();
  if (f->name == NULL || f->body == NULL) return rheos__out_of_memory();
  f->func.name = (rheos_string){f->name, strlen(f->name)};
  f->body->outer = f->library;
  f->body->builder = f;
  f->scope = rheos_scope_new(f->body);
  f->top = rheos_scope_new(f->body);
  if (f->scope == NULL || f->top == NULL) return rheos__out_of_memory();
  rheos__graph_lock(f->library);
  f->attrs = keep_attrs(f->library, f->options.attrs, f->options.num_attrs);
  rheos__graph_unlock(f->library);
  f->options.attrs = NULL;
  return f->attrs != NULL ? NULL : rheos__out_of_memory();
}

// No spaces, nothing that has a meaning in the names of inputs.
static bool is_sound_name(const char *name) {
  if (name == NULL || name[0] == '\0') return false;
  for (const char *c = name; *c != '\0'; c++) {
    if (*c <= ' ' || *c == 127 || *c == ':' || *c == '^') return false;
  }
  return true;
}

static rheos_status *check_name(const char *name) {
  if (is_sound_name(name)) return NULL;
  return RHEOS_INVALID("'%s' is not a valid name of a function", name != NULL ? name : "");
}

rheos_function *rheos_function_begin_sized(rheos_scope *scope, const char *name,
                                           const rheos_function_options *options,
                                           size_t options_bytes) {
  rheos_function_options known;
  rheos_status *status = RHEOS_READ_OPTIONS(rheos_function_options, options, options_bytes, &known);
  if (status == NULL) status = check_name(name);
  if (status == NULL) status = check_attrs(known.attrs, known.num_attrs);
  if (!rheos__scope_goes_on(scope, status)) return NULL;
  rheos_function *f = rheos__alloc_zeroed(sizeof *f);
  if (f == NULL) {
    rheos_scope_fail_take(scope, rheos__out_of_memory());
    return NULL;
  }
  f->options = known;
  rheos__names_init(&f->arg_names);
  rheos__names_init(&f->result_names);
  rheos__names_init(&f->control_names);
  status = init_function(f, scope, name);
  if (status == NULL) return f;
  rheos_scope_fail_take(scope, status);
  rheos_function_free(f);
  return NULL;
}

void rheos_function_free(rheos_function *f) {
  if (f == NULL) return;
  if (f->body != NULL) f->body->builder = NULL;
  rheos_scope_free(f->scope);
  rheos_scope_free(f->top);
  rheos__free(f->args);
  rheos__free(f->results);
  rheos__free(f->controls);
  rheos__names_deinit(&f->arg_names);
  rheos__names_deinit(&f->result_names);
  rheos__names_deinit(&f->control_names);
  rheos__free(f->captures);
  rheos_graph_unref(f->body);
  rheos__free(f->name);
  rheos_graph_unref(f->around);
  rheos_graph_unref(f->library);
  rheos__free(f);
}

// ---- What its parts are called: as in TensorFlow's definitions of ops, lower case letters, digits
// and _

// A name made of `wanted` that is none of `taken`.
static const char *part_name(rheos_function *f, rheos__names *taken, const char *wanted) {
  const size_t length = strlen(wanted), room = length + 32;
  char *text = rheos__graph_alloc(f->body, room);
  if (text == NULL) return NULL;
  size_t used = 0;
  for (size_t i = 0; i < length; i++) {
    char c = wanted[i];
    if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
    const bool is_letter = c >= 'a' && c <= 'z';
    const bool is_sound = is_letter || (c >= '0' && c <= '9') || c == '_';
    if (used == 0 && !is_letter) {
      memcpy(text, "x_", 2);
      used = 2;
      if (c == '_') continue;
    }
    text[used++] = is_sound ? c : '_';
  }
  if (used == 0) text[used++] = 'x';
  uint32_t entry;
  if (rheos__names_take(taken, 0, text, used, &entry) != NULL) return NULL;
  rheos__names_format(taken, entry, text, room);
  return text;
}

// Adds to one of the lists of parts; `wanted` NULL: the node's name.
static void add_part(rheos_function *f, named_edge **edges, size_t *capacity, size_t *count,
                     rheos__names *taken, const char *wanted, rheos__edge edge) {
  char *of_node = NULL;
  if (wanted == NULL) {
    of_node = rheos__node_name(f->body, rheos__graph_node(f->body, edge.id));
    wanted = of_node != NULL ? of_node : "";
  }
  const char *name = part_name(f, taken, wanted);
  rheos__free(of_node);
  if (name == NULL || !RHEOS_RESERVE(*edges, *capacity, *count + 1)) {
    rheos_scope_fail_take(f->scope, rheos__out_of_memory());
    return;
  }
  (*edges)[(*count)++] = (named_edge){name, edge};
}

static bool can_grow(rheos_function *f) {
  if (f == NULL) return false;
  rheos_status *status = NULL;
  if (f->is_finished) {
    status = rheos_status_new(RHEOS_FAILED_PRECONDITION, "the function %s is finished", f->name);
  }
  return rheos__scope_goes_on(f->scope, status);
}

// ---- Arguments

static rheos_status *check_placeholder(const rheos_function *f, rheos_output output) {
  const rheos__node *node = rheos__graph_node(f->body, output.id);
  if ((node->signature->op->flags & RHEOS_OP_PLACEHOLDER) == 0 || node->num_inputs > 0) {
    return RHEOS_INVALID("an argument of function %s is no Placeholder", f->name);
  }
  for (size_t i = 0; i < f->num_args; i++) {
    if (f->args[i].edge.id != output.id) continue;
    return RHEOS_INVALID("a Placeholder is to be two arguments of function %s", f->name);
  }
  return NULL;
}

void rheos_function_adopt_argument(rheos_function *f, const char *name, rheos_output placeholder) {
  if (!can_grow(f)) return;
  rheos_status *status = rheos__check_output(f->body, placeholder, "the argument");
  if (status == NULL) status = check_placeholder(f, placeholder);
  if (!rheos__scope_goes_on(f->scope, status)) return;
  add_part(f, &f->args, &f->args_capacity, &f->num_args, &f->arg_names, name,
           (rheos__edge){placeholder.id, placeholder.index});
}

// A Placeholder under nothing that is pushed. `handles`: the shapes of what is behind a handle, or
// NULL.
static rheos_output add_placeholder(rheos_function *f, const char *name, rheos_dtype dtype,
                                    const rheos_shape *shape, const rheos_shape *handles) {
  const rheos_attr attrs[] = {
      rheos_attr_type("dtype", dtype),
      rheos_attr_shape("shape", shape),
      {"_handle_shapes", {.kind = RHEOS_ATTR_LIST_SHAPE, .count = 1, .shapes = handles}}};
  f->top->source_file = f->scope->source_file;
  f->top->source_file_number = f->scope->source_file_number;
  f->top->source_line = f->scope->source_line;
  const rheos_op_args args = {
      .type = "Placeholder", .name = name, .attrs = attrs, .num_attrs = handles != NULL ? 3 : 2};
  const rheos_operation operation = rheos_op(f->top, &args);
  if (!rheos__scope_goes_on(f->scope, rheos_scope_finish(f->top))) return none;
  return rheos_operation_output(operation, 0);
}

static rheos_output add_argument(rheos_function *f, const char *name, rheos_dtype dtype,
                                 const rheos_shape *shape) {
  char number[32];
  snprintf(number, sizeof number, "args_%zu", f->num_args);
  if (name == NULL) name = number;
  const rheos_output output = add_placeholder(f, name, dtype, shape, NULL);
  if (output.graph == NULL) return none;
  add_part(f, &f->args, &f->args_capacity, &f->num_args, &f->arg_names, NULL,
           (rheos__edge){output.id, 0});
  return f->scope->status == NULL ? output : none;
}

rheos_output rheos_function_argument(rheos_function *f, const char *name, rheos_dtype dtype,
                                     rheos_shape shape) {
  if (!can_grow(f)) return none;
  rheos_status *status = NULL;
  if (f->num_captured_args > 0) {
    status = rheos_status_new(RHEOS_FAILED_PRECONDITION,
                              "the function %s has captured tensors: it takes no more arguments",
                              f->name);
  }
  if (!rheos__scope_goes_on(f->scope, status)) return none;
  return add_argument(f, name, dtype, &shape);
}

// ---- Captures

static bool same_output(rheos_output a, rheos_output b) {
  return a.graph == b.graph && a.id == b.id && a.index == b.index;
}

static const capture *find_capture(const rheos_function *f, rheos_output value) {
  for (size_t i = 0; i < f->num_captures; i++) {
    if (same_output(f->captures[i].value, value)) return &f->captures[i];
  }
  return NULL;
}

static bool is_around(const rheos_function *f, const rheos_graph *graph) {
  for (; f != NULL; f = f->around->builder) {
    if (f->around == graph) return true;
  }
  return false;
}

static rheos_output add_stand_in(rheos_function *f, const char *name, rheos_output value) {
  char *of_node = name != NULL
                      ? rheos__strdup(name)
                      : rheos__node_name(value.graph, rheos__graph_node(value.graph, value.id));
  if (of_node == NULL) {
    rheos_scope_fail_take(f->scope, rheos__out_of_memory());
    return none;
  }
  for (char *c = of_node; *c != '\0'; c++) {
    if (*c == '/') *c = '_';
  }
  const rheos_shape shape = rheos_output_shape(value);
  rheos_shape room;
  const rheos_shape *handles =
      rheos__handle_shape(value.graph, (rheos__edge){value.id, value.index}, &room);
  const rheos_output inside =
      add_placeholder(f, of_node, rheos_dtype_base(rheos_output_dtype(value)), &shape, handles);
  rheos__free(of_node);
  return inside;
}

rheos_output rheos_function_stand_in(rheos_function *f, const char *name, rheos_output value) {
  if (!can_grow(f)) return none;
  rheos_status *status = rheos__check_output(value.graph, value, "the tensor to be stood in for");
  if (!rheos__scope_goes_on(f->scope, status)) return none;
  return add_stand_in(f, name, value);
}

// An argument for what is in the graph right around the body.
static rheos_output capture_as_argument(rheos_function *f, rheos_output value) {
  const rheos_output inside = add_stand_in(f, NULL, value);
  if (inside.graph == NULL) return none;
  add_part(f, &f->args, &f->args_capacity, &f->num_args, &f->arg_names, NULL,
           (rheos__edge){inside.id, 0});
  if (f->scope->status == NULL) f->num_captured_args++;
  return inside;
}

static void know_capture(rheos_function *f, rheos_output value, rheos_output inside) {
  if (find_capture(f, value) != NULL) return;
  if (!RHEOS_RESERVE(f->captures, f->captures_capacity, f->num_captures + 1)) {
    rheos_scope_fail_take(f->scope, rheos__out_of_memory());
    return;
  }
  f->captures[f->num_captures++] = (capture){value, inside};
}

static rheos_output capture_new(rheos_function *f, rheos_output value) {
  rheos_output inside = none;
  if (f->options.capture != NULL) {
    inside = f->options.capture(f->options.capture_argument, f, value);
    if (f->scope->status != NULL) return none;
    if (inside.graph != NULL) {
      rheos_scope_fail_take(f->scope,
                            rheos__check_output(f->body, inside, "what stands for a capture"));
      return inside;
    }
  }
  if (value.graph != f->around) value = rheos_function_capture(f->around->builder, value);
  if (value.graph == NULL) {
    rheos_scope_fail_take(f->scope, rheos_scope_finish(f->around->builder->scope));
    return none;
  }
  const capture *known = find_capture(f, value);
  if (known != NULL) return known->inside;
  inside = capture_as_argument(f, value);
  if (f->scope->status == NULL) know_capture(f, value, inside);
  return inside;
}

rheos_output rheos_function_capture(rheos_function *f, rheos_output value) {
  if (!can_grow(f)) return none;
  if (value.graph == f->body) return value;
  rheos_status *status = NULL;
  if (value.graph != NULL && !is_around(f, value.graph)) {
    status =
        RHEOS_INVALID("a tensor to be captured is of no graph around the function %s", f->name);
  } else {
    status = rheos__check_output(value.graph, value, "the tensor to be captured");
  }
  if (!rheos__scope_goes_on(f->scope, status)) return none;
  const capture *known = find_capture(f, value);
  if (known != NULL) return known->inside;
  const rheos_output inside = capture_new(f, value);
  if (f->scope->status == NULL) know_capture(f, value, inside);
  return f->scope->status == NULL ? inside : none;
}

bool rheos__captures_inputs(const rheos_scope *scope, const rheos_op_args *args) {
  if (scope->graph->builder == NULL || args->inputs == NULL) return false;
  for (size_t i = 0; i < args->num_inputs; i++) {
    const rheos_graph *graph = args->inputs[i].graph;
    if (graph != NULL && graph != scope->graph) return true;
  }
  return false;
}

rheos_output *rheos__capture_inputs(rheos_scope *scope, const rheos_op_args *args) {
  rheos_function *f = scope->graph->builder;
  rheos_output *inputs = rheos__alloc_array(args->num_inputs, sizeof *inputs);
  if (inputs == NULL) {
    rheos_scope_fail_take(scope, rheos__out_of_memory());
    return NULL;
  }
  for (size_t i = 0; i < args->num_inputs && scope->status == NULL; i++) {
    inputs[i] = args->inputs[i];
    if (inputs[i].graph == NULL || inputs[i].graph == scope->graph) continue;
    inputs[i] = rheos_function_capture(f, inputs[i]);
    // The scope may be another one on the body.
    if (scope != f->scope) rheos_scope_fail_take(scope, rheos_scope_finish(f->scope));
  }
  return inputs;
}

// ---- Results

void rheos_function_result(rheos_function *f, const char *name, rheos_output value) {
  if (!can_grow(f)) return;
  if (value.graph != NULL && value.graph != f->body) value = rheos_function_capture(f, value);
  if (f->scope->status != NULL) return;
  if (!rheos__scope_goes_on(f->scope, rheos__check_output(f->body, value, "the result"))) return;
  add_part(f, &f->results, &f->results_capacity, &f->num_results, &f->result_names, name,
           (rheos__edge){value.id, value.index});
}

void rheos_function_control_output(rheos_function *f, const char *name, rheos_operation operation) {
  if (!can_grow(f)) return;
  rheos_status *status = rheos__check_operation(f->body, operation, "the control output");
  if (!rheos__scope_goes_on(f->scope, status)) return;
  add_part(f, &f->controls, &f->controls_capacity, &f->num_controls, &f->control_names, name,
           (rheos__edge){operation.id, -1});
}

static bool is_control(const rheos_function *f, size_t count, int32_t id) {
  for (size_t i = 0; i < count; i++) {
    if (f->controls[i].edge.id == id) return true;
  }
  return false;
}

void rheos_function_order_effects(rheos_function *f, int32_t first) {
  if (!can_grow(f)) return;
  if (!rheos__scope_goes_on(f->scope, rheos__order_effects(f->body, first))) return;
  const int32_t num_nodes = rheos_graph_num_operations(f->body);
  const size_t num_before = f->num_controls;
  for (int32_t id = first < 0 ? 0 : first; id < num_nodes && f->scope->status == NULL; id++) {
    const rheos__node *node = rheos__graph_node(f->body, id);
    const bool only_reads = (node->signature->op->flags & RHEOS_OP_ONLY_READS) != 0;
    if (only_reads || !rheos__is_ordered(node) || is_control(f, num_before, id)) continue;
    rheos_function_control_output(f, NULL, (rheos_operation){f->body, id});
  }
}

// ---- The library's

static const char **names_of(rheos_graph *graph, const named_edge *edges, size_t count) {
  const char **names = rheos__graph_alloc(graph, (count + 1) * sizeof *names);
  for (size_t i = 0; names != NULL && i < count; i++) names[i] = edges[i].name;
  return names;
}

static rheos__edge *edges_of(rheos_graph *graph, const named_edge *edges, size_t count) {
  rheos__edge *copy = rheos__graph_alloc(graph, (count + 1) * sizeof *copy);
  for (size_t i = 0; copy != NULL && i < count; i++) copy[i] = edges[i].edge;
  return copy;
}

// What a call runs besides its results: the control outputs first.
static int32_t *list_targets(rheos_function *f, int32_t *out_count) {
  const int32_t num_nodes = rheos_graph_num_operations(f->body);
  size_t count = f->num_controls;
  for (int32_t id = 0; id < num_nodes; id++) {
    count += rheos__has_effects(rheos__graph_node(f->body, id));
  }
  int32_t *targets = rheos__graph_alloc(f->body, (count + 1) * sizeof *targets);
  if (targets == NULL) return NULL;
  *out_count = 0;
  for (size_t i = 0; i < f->num_controls; i++) targets[(*out_count)++] = f->controls[i].edge.id;
  for (int32_t id = 0; id < num_nodes; id++) {
    if (rheos__has_effects(rheos__graph_node(f->body, id))) targets[(*out_count)++] = id;
  }
  return targets;
}

static rheos_status *make_entry(rheos_function *f, rheos__made_function **out_made) {
  rheos_graph *body = f->body;
  rheos__made_function *made = rheos__graph_alloc(body, sizeof *made);
  char *name = rheos__graph_alloc(f->library, strlen(f->name) + 1);
  if (made == NULL || name == NULL) return rheos__out_of_memory();
  memcpy(name, f->name, strlen(f->name));
  int32_t num_targets = 0;
  *made = (rheos__made_function){.function = {.name = name,
                                              .graph = body,
                                              .args = edges_of(body, f->args, f->num_args),
                                              .results = edges_of(body, f->results, f->num_results),
                                              .targets = list_targets(f, &num_targets),
                                              .num_args = (int32_t)f->num_args,
                                              .num_results = (int32_t)f->num_results},
                                 .arg_names = names_of(body, f->args, f->num_args),
                                 .result_names = names_of(body, f->results, f->num_results),
                                 .control_names = names_of(body, f->controls, f->num_controls),
                                 .num_controls = (int32_t)f->num_controls,
                                 .is_stateful = rheos_function_is_stateful(f),
                                 .attrs = f->attrs};
  made->function.num_targets = num_targets;
  const rheos_attr_value *noinline = rheos__attrs_find(f->attrs, "_noinline");
  made->function.is_never_inlined =
      noinline != NULL && noinline->kind == RHEOS_ATTR_BOOL && noinline->b;
  const rheos__function *function = &made->function;
  if (function->args == NULL || function->results == NULL || function->targets == NULL ||
      made->arg_names == NULL || made->result_names == NULL || made->control_names == NULL) {
    return rheos__out_of_memory();
  }
  *out_made = made;
  return NULL;
}

bool rheos_function_finish(rheos_function *f, rheos_scope *scope) {
  rheos_status *status = f == NULL ? rheos__not_given(__func__, "function") : NULL;
  if (f != NULL) {
    can_grow(f);
    status = rheos_scope_finish(f->scope);
  }
  rheos__made_function *made = NULL;
  if (status == NULL) status = make_entry(f, &made);
  if (status == NULL) status = rheos__library_add(f->library, made);
  if (status == NULL) f->is_finished = true;
  return rheos__scope_goes_on(scope, status);
}

rheos_status *rheos_graph_set_function_gradient(rheos_graph *graph, const char *function,
                                                const char *gradient) {
  if (graph == NULL) return rheos__not_given(__func__, "graph");
  if (function == NULL) return rheos__not_given(__func__, "function");
  if (gradient == NULL) return rheos__not_given(__func__, "gradient");
  return rheos__library_set_gradient(graph, function, gradient, true);
}

rheos_status *rheos_graph_remove_function(rheos_graph *graph, const char *name) {
  if (graph == NULL) return rheos__not_given(__func__, "graph");
  if (name == NULL) return rheos__not_given(__func__, "name");
  return rheos__library_remove(graph, name);
}

// ---- Calls

const rheos_func *rheos_function_func(const rheos_function *f) {
  return f != NULL ? &f->func : NULL;
}

// The arguments that the caller gives, then what was captured; `inputs` has room.
static size_t list_inputs(const rheos_function *f, const rheos_output *given, size_t num_given,
                          rheos_output *inputs) {
  if (num_given > 0) memcpy(inputs, given, num_given * sizeof *inputs);
  size_t count = num_given;
  for (size_t i = 0; i < f->num_captured_args; i++) {
    inputs[count++] = rheos_function_capture_at(f, i, NULL);
  }
  return count;
}

static rheos_operation add_call(rheos_scope *scope, const rheos_function *f, const char *name,
                                const rheos_output *inputs, size_t num_inputs) {
  rheos_dtype *types = rheos__alloc_array(f->num_results + 1, sizeof *types);
  if (types == NULL) {
    rheos_scope_fail_take(scope, rheos__out_of_memory());
    return (rheos_operation){NULL, 0};
  }
  for (size_t i = 0; i < f->num_results; i++) {
    types[i] = rheos_dtype_base(rheos_output_dtype(rheos_function_result_at(f, i)));
  }
  const rheos_attr attrs[] = {rheos_attr_func("f", &f->func),
                              rheos_attr_types("Tout", types, (int32_t)f->num_results)};
  const char *type = rheos_function_is_stateful(f) ? "StatefulPartitionedCall" : "PartitionedCall";
  const rheos_operation call = rheos__op_n(scope, type, name, inputs, num_inputs, attrs, 2);
  rheos__free(types);
  for (size_t i = 0; i < f->num_results && call.graph != NULL; i++) {
    rheos_shape shape = rheos_output_shape(rheos_function_result_at(f, i));
    rheos_status *status = rheos_output_set_shape(rheos_operation_output(call, (int32_t)i), shape);
    if (status != NULL) rheos_scope_fail_take(scope, status);
  }
  return call;
}

rheos_operation rheos_function_call(rheos_scope *scope, const rheos_function *f,
                                    const rheos_output *inputs, size_t num_inputs,
                                    const char *name) {
  rheos_operation call = {NULL, 0};
  rheos_status *status =
      f == NULL ? rheos__not_given(__func__, "function") : RHEOS_LIST_STATUS(inputs, num_inputs);
  if (status == NULL && !f->is_finished) {
    status =
        rheos_status_new(RHEOS_FAILED_PRECONDITION, "the function %s is not finished", f->name);
  } else if (status == NULL && num_inputs + f->num_captured_args != f->num_args) {
    status = RHEOS_INVALID("function %s takes %zu, the call has %zu", f->name,
                           f->num_args - f->num_captured_args, num_inputs);
  }
  if (!rheos__scope_goes_on(scope, status)) return call;
  rheos_output *all = rheos__alloc_array(f->num_args + 1, sizeof *all);
  if (all == NULL) {
    rheos_scope_fail_take(scope, rheos__out_of_memory());
    return call;
  }
  const size_t count = list_inputs(f, inputs, num_inputs, all);
  call = add_call(scope, f, name, all, count);
  rheos__free(all);
  return call;
}

// ---- Looking at it

const char *rheos_function_name(const rheos_function *f) { return f != NULL ? f->name : ""; }

void rheos_function_rename(rheos_function *f, const char *name) {
  if (!can_grow(f)) return;
  rheos_status *status = check_name(name);
  char *copy = status == NULL ? rheos__strdup(name) : NULL;
  if (status == NULL && copy == NULL) status = rheos__out_of_memory();
  if (!rheos__scope_goes_on(f->scope, status)) return;
  rheos__free(f->name);
  f->name = copy;
  f->func.name = (rheos_string){f->name, strlen(f->name)};
}

rheos_scope *rheos_function_scope(rheos_function *f) { return f != NULL ? f->scope : NULL; }

static rheos_output part_at(const rheos_function *f, const named_edge *edges, size_t count,
                            size_t index) {
  if (index >= count) return none;
  return (rheos_output){f->body, edges[index].edge.id, edges[index].edge.index};
}

size_t rheos_function_num_arguments(const rheos_function *f) { return f != NULL ? f->num_args : 0; }

rheos_output rheos_function_argument_at(const rheos_function *f, size_t index) {
  return f != NULL ? part_at(f, f->args, f->num_args, index) : none;
}

size_t rheos_function_num_captures(const rheos_function *f) {
  return f != NULL ? f->num_captured_args : 0;
}

rheos_output rheos_function_capture_at(const rheos_function *f, size_t index,
                                       rheos_output *out_inside) {
  if (out_inside != NULL) *out_inside = none;
  if (f == NULL || index >= f->num_captured_args) return none;
  const rheos_output inside =
      rheos_function_argument_at(f, f->num_args - f->num_captured_args + index);
  if (out_inside != NULL) *out_inside = inside;
  for (size_t i = 0; i < f->num_captures; i++) {
    const capture *c = &f->captures[i];
    if (c->value.graph == f->around && same_output(c->inside, inside)) return c->value;
  }
  return none;
}

size_t rheos_function_num_results(const rheos_function *f) {
  return f != NULL ? f->num_results : 0;
}

rheos_output rheos_function_result_at(const rheos_function *f, size_t index) {
  return f != NULL ? part_at(f, f->results, f->num_results, index) : none;
}

size_t rheos_function_num_control_outputs(const rheos_function *f) {
  return f != NULL ? f->num_controls : 0;
}

rheos_operation rheos_function_control_output_at(const rheos_function *f, size_t index) {
  if (f == NULL || index >= f->num_controls) return (rheos_operation){NULL, 0};
  return (rheos_operation){f->body, f->controls[index].edge.id};
}

bool rheos_function_is_stateful(const rheos_function *f) {
  for (int32_t id = 0; f != NULL && id < rheos_graph_num_operations(f->body); id++) {
    const rheos__node *node = rheos__graph_node(f->body, id);
    const unsigned flags = node->signature->op->flags;
    const bool is_quiet = (flags & (RHEOS_OP_PLACEHOLDER | RHEOS_OP_ARG | RHEOS_OP_RETVAL)) != 0;
    if (!is_quiet && (flags & (RHEOS_OP_STATEFUL | RHEOS_OP_WRITES)) != 0) return true;
  }
  return false;
}
