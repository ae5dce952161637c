// Graphs of random ops with random inputs, attributes and shapes, most of which do not fit: every
// node is refused with a status or runs, no step crashes or hangs, what is inferred about a shape
// is true of the value, watching all edges changes nothing and gives what fetches do, and a graph
// that is written out and read back has the same nodes. What it proves grows with the sanitizers.
// Usage: test_random_graphs [first seed [number of graphs]]
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <rheos/format.h>
#include <rheos/session.h>

#include "graph/op_def.h"
#include "runtime/watch_all.h"
#include "runtime/session/watched_run.h"

// The clock, not the number, ends it where a sanitizer makes it slow.
enum { NUM_GRAPHS = 4000, SECONDS = 4, NODES = 24, POOL = 96, LARGEST_ALLOCATION = 4 << 20 };

static uint64_t first_seed = 1;
static int num_graphs = NUM_GRAPHS;

// A mutated size can ask for terabytes: a cap keeps the machine out of it.
static void *capped_allocate(void *user, size_t size_bytes) {
  (void)user;
  return size_bytes > LARGEST_ALLOCATION ? NULL : malloc(size_bytes);
}
static void *capped_reallocate(void *user, void *memory, size_t size_bytes) {
  (void)user;
  return size_bytes > LARGEST_ALLOCATION ? NULL : realloc(memory, size_bytes);
}
static void plain_release(void *user, void *memory) {
  (void)user;
  free(memory);
}

// ---- Random values (splitmix64)

typedef struct maker {
  uint64_t seed, state;
  rheos_graph *graph;
  rheos_scope *s;
  rheos_output pool[POOL];
  int pool_size;
  rheos_feed feeds[POOL];
  int num_feeds;
  char strings[16][8];
  rheos_shape shapes[8];
  int64_t ints[8][4];
  rheos_dtype types[8][4];
  rheos_tensor *tensors[8];
  int num_tensors;
  int32_t first_gradient;  // id of the first node that gradients added
  bool changes_shapes;     // variables may get values of other shapes than the graph says
} maker;

static uint64_t next(maker *m) {
  uint64_t z = m->state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static int below(maker *m, int limit) { return (int)(next(m) % (uint64_t)limit); }
static bool once_in(maker *m, int n) { return below(m, n) == 0; }

static int64_t random_int(maker *m) {
  static const int64_t odd[] = {-7, 100, 1000000, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
  if (once_in(m, 40)) return odd[below(m, 7)];
  return once_in(m, 6) ? -1 - below(m, 3) : below(m, 5);
}

static rheos_dtype random_dtype(maker *m) {
  static const rheos_dtype usual[] = {RHEOS_FLOAT, RHEOS_FLOAT, RHEOS_FLOAT, RHEOS_INT32,
                                      RHEOS_INT32, RHEOS_INT64, RHEOS_BOOL,  RHEOS_DOUBLE};
  return once_in(m, 5) ? (rheos_dtype)below(m, 25) : usual[below(m, 8)];
}

static rheos_shape random_shape(maker *m, bool partial) {
  rheos_shape shape = {.rank = once_in(m, 30) ? below(m, 9) : below(m, 4)};
  for (int32_t i = 0; i < shape.rank; i++) {
    shape.dims[i] = once_in(m, 12) ? 0 : shape.rank > 4 ? 1 + below(m, 2) : 1 + below(m, 4);
    if (partial && once_in(m, 3)) shape.dims[i] = -1;
  }
  if (partial && once_in(m, 4)) return RHEOS_UNKNOWN_SHAPE;
  return shape;
}

static void fill_element(maker *m, rheos_tensor *t, int64_t i) {
  void *data = rheos_tensor_data(t);
  int64_t number = random_int(m);
  double real = once_in(m, 10) ? (once_in(m, 2) ? __builtin_nan("") : -1e30) : (double)number / 2;
  switch (rheos_tensor_dtype(t)) {
    case RHEOS_FLOAT: ((float *)data)[i] = (float)real; break;
    case RHEOS_DOUBLE: ((double *)data)[i] = real; break;
    case RHEOS_INT32: ((int32_t *)data)[i] = (int32_t)(uint32_t)(uint64_t)number; break;
    case RHEOS_INT64: ((int64_t *)data)[i] = number; break;
    case RHEOS_BOOL: ((bool *)data)[i] = number & 1; break;
    case RHEOS_STRING: {
      const char *text[] = {"", "a", "a\0",
                            "\xff"
                            "bc"};
      rheos_status_free(rheos_tensor_set_string(t, i, text[number & 3], (size_t)(number & 3)));
      break;
    }
    case RHEOS_RESOURCE:
    case RHEOS_VARIANT: break;  // only ops make them
    default: {
      size_t size = rheos_dtype_size(rheos_tensor_dtype(t));
      for (size_t k = 0; k < size; k++)
        ((uint8_t *)data)[(size_t)i * size + k] = (uint8_t)below(m, 5);
    }
  }
}

// NULL where the dtype has no values.
static rheos_tensor *random_tensor(maker *m, rheos_dtype dtype, rheos_shape shape) {
  rheos_tensor *t = NULL;
  rheos_status *status = rheos_tensor_new(dtype, shape, &t);
  rheos_status_free(status);
  for (int64_t i = 0; t && i < rheos_tensor_num_elements(t); i++) fill_element(m, t, i);
  return t;
}

// ---- Random attributes

// The memory behind the attributes of one node lies in the maker.
static rheos_attr_value random_value(maker *m, const rheos__attr_def *def, int slot) {
  rheos_attr_value v = {.kind = once_in(m, 60) ? (rheos_attr_kind)below(m, 18) : def->kind};
  switch (v.kind) {
    case RHEOS_ATTR_INT: v.i = random_int(m); break;
    case RHEOS_ATTR_FLOAT: v.f = (float)random_int(m) / 4; break;
    case RHEOS_ATTR_BOOL: v.b = once_in(m, 2); break;
    case RHEOS_ATTR_TYPE: v.type = random_dtype(m); break;
    case RHEOS_ATTR_STRING: {
      const char *text = "odd";
      if (def->allowed_strings && !once_in(m, 10)) {
        int count = 0;
        while (def->allowed_strings[count]) count++;
        if (count) text = def->allowed_strings[below(m, count)];
      }
      v.s = (rheos_string){(char *)(uintptr_t)text, strlen(text)};
      break;
    }
    case RHEOS_ATTR_SHAPE:
      m->shapes[slot] = random_shape(m, true);
      v.shape = &m->shapes[slot];
      break;
    case RHEOS_ATTR_TENSOR:
      v.tensor = random_tensor(m, random_dtype(m), random_shape(m, false));
      if (v.tensor)
        m->tensors[m->num_tensors++] = v.tensor;
      else
        v.kind = RHEOS_ATTR_NONE;
      break;
    case RHEOS_ATTR_LIST_INT:
      v.count = below(m, 5);
      for (int i = 0; i < v.count; i++) m->ints[slot][i] = random_int(m);
      v.ints = m->ints[slot];
      break;
    case RHEOS_ATTR_LIST_TYPE:
      v.count = below(m, 5);
      for (int i = 0; i < v.count; i++) m->types[slot][i] = random_dtype(m);
      v.types = m->types[slot];
      break;
    default:
      v.kind = RHEOS_ATTR_INT;
      v.i = random_int(m);
      break;
  }
  return v;
}

static size_t random_attrs(maker *m, const rheos__signature *signature, rheos_attr *attrs) {
  size_t count = 0;
  for (int32_t i = 0; i < signature->num_attrs && count < 8; i++) {
    const rheos__attr_def *def = &signature->attrs[i];
    bool from_inputs = false;
    for (int32_t k = 0; k < signature->num_inputs; k++) {
      const rheos__arg *arg = &signature->inputs[k];
      from_inputs |= arg->type_attr == i || arg->number_attr == i || arg->type_list_attr == i;
    }
    bool wanted = from_inputs ? once_in(m, 30) : !def->has_default || once_in(m, 3);
    if (def->has_default && once_in(m, 3)) wanted = false;
    if (!wanted || once_in(m, 60)) continue;
    attrs[count].name = def->name;
    attrs[count].value = random_value(m, def, (int)count);
    count++;
  }
  return count;
}

// ---- Random nodes

static void keep(maker *m, rheos_output output) {
  m->pool[m->pool_size < POOL ? m->pool_size++ : below(m, POOL)] = output;
}

static rheos_output add_constant(maker *m, rheos_dtype dtype, rheos_shape shape) {
  rheos_tensor *t = random_tensor(m, dtype, shape);
  rheos_output output = {NULL, 0, 0};
  if (t) output = rheos_constant(m->s, t, NULL);
  rheos_tensor_unref(t);
  return output;
}

static void add_placeholder(maker *m) {
  rheos_shape full = random_shape(m, false), known = full;
  rheos_dtype dtype = random_dtype(m);
  for (int32_t i = 0; i < known.rank; i++) {
    if (once_in(m, 3)) known.dims[i] = -1;
  }
  if (once_in(m, 4)) known = RHEOS_UNKNOWN_SHAPE;
  rheos_attr attrs[] = {rheos_attr_type("dtype", dtype), rheos_attr_shape("shape", &known)};
  rheos_op_args args = {.type = "Placeholder", .attrs = attrs, .num_attrs = 2};
  rheos_output output = rheos_operation_output(rheos_op(m->s, &args), 0);
  rheos_tensor *value = output.graph ? random_tensor(m, dtype, full) : NULL;
  if (!value) return;
  if (m->num_feeds == POOL) {
    rheos_tensor_unref(value);
    return;
  }
  m->feeds[m->num_feeds++] = (rheos_feed){output, value};
  keep(m, output);
}

static void add_variable(maker *m) {
  rheos_shape shape = random_shape(m, once_in(m, 4));
  rheos_dtype dtype = random_dtype(m);
  rheos_attr attrs[] = {rheos_attr_type("dtype", dtype), rheos_attr_shape("shape", &shape)};
  rheos_op_args args = {.type = "VariableV2", .attrs = attrs, .num_attrs = 2};
  rheos_output handle = rheos_operation_output(rheos_op(m->s, &args), 0);
  if (!handle.graph) return;
  keep(m, handle);
  if (!rheos_shape_is_known(&shape)) return;
  rheos_output inputs[] = {handle, add_constant(m, dtype, shape)};
  args = (rheos_op_args){.type = "Assign", .inputs = inputs, .num_inputs = 2};
  rheos_output assigned = rheos_operation_output(rheos_op(m->s, &args), 0);
  if (assigned.graph) keep(m, assigned);
}

// Out of the pool, most times one of this dtype; small integer vectors are often what is asked for.
static rheos_output pick(maker *m, rheos_dtype dtype) {
  for (int attempt = 0; attempt < 12; attempt++) {
    rheos_output output = m->pool[below(m, m->pool_size)];
    if (dtype == RHEOS_INVALID_DTYPE || once_in(m, 25)) return output;
    if (rheos_dtype_base(rheos_output_dtype(output)) == dtype) return output;
  }
  rheos_shape shape = random_shape(m, false);
  if (dtype == RHEOS_INT32 && once_in(m, 2)) shape = RHEOS_SHAPE(below(m, 4));
  rheos_output made = add_constant(m, dtype, shape);
  return made.graph ? made : m->pool[below(m, m->pool_size)];
}

// Ops that reach outside of the process, print, or rightly wait for ever where nobody else runs.
static bool is_left_out(const rheos__op_def *op) {
  if (op->flags & RHEOS_OP_WAITS) return true;
  static const char *const names[] = {"Save",        "Restore", "File",   "Print",
                                      "Checkpoints", "Summary", "Timest", "MergeV2"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strstr(op->name, names[i])) return true;
  }
  return false;
}

static rheos_dtype allowed_dtype(maker *m, const rheos__attr_def *def) {
  rheos_dtype dtype = random_dtype(m);
  for (int i = 0; i < 20 && def->allowed_types && !(def->allowed_types >> dtype & 1); i++) {
    dtype = i < 10 ? random_dtype(m) : (rheos_dtype)below(m, 25);
  }
  return dtype;
}

static void add_node(maker *m) {
  const rheos__signature *signature = rheos__signature_at(below(m, rheos_num_ops()));
  if (is_left_out(signature->op)) return;
  rheos_dtype chosen[16] = {0};  // by attribute
  for (int32_t i = 0; i < signature->num_attrs && i < 16; i++) {
    chosen[i] = allowed_dtype(m, &signature->attrs[i]);
  }
  rheos_output inputs[32];
  size_t num_inputs = 0;
  for (int32_t i = 0; i < signature->num_inputs; i++) {
    const rheos__arg *arg = &signature->inputs[i];
    rheos_dtype dtype = arg->dtype;
    if (arg->type_attr >= 0 && arg->type_attr < 16) dtype = chosen[arg->type_attr];
    int count = arg->number_attr >= 0 || arg->type_list_attr >= 0 ? below(m, 4) : 1;
    if (once_in(m, 80)) count = below(m, 3);
    for (int k = 0; k < count && num_inputs < 32; k++) inputs[num_inputs++] = pick(m, dtype);
  }
  rheos_attr attrs[8];
  rheos_operation control = {m->graph, m->pool[below(m, m->pool_size)].id};
  rheos_op_args args = {.type = signature->op->name,
                        .inputs = inputs,
                        .num_inputs = num_inputs,
                        .attrs = attrs,
                        .control_inputs = &control,
                        .num_control_inputs = once_in(m, 15)};
  m->num_tensors = 0;
  args.num_attrs = random_attrs(m, signature, attrs);
  rheos_operation operation = rheos_op(m->s, &args);
  for (int i = 0; i < m->num_tensors; i++) rheos_tensor_unref(m->tensors[i]);
  for (int32_t i = 0; i < rheos_operation_num_outputs(operation) && i < 8; i++) {
    keep(m, rheos_operation_output(operation, i));
  }
}

// Whether TensorFlow too has the code of an error of its own there: a stack of another dtype, a
// loop of one name in two places.
static bool is_internal_to_tensorflow(const char *message) {
  static const char *const beginnings[] = {"Stack[",
                                           "Invalid loop structure: Mismatched parent frames for"};
  for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
    if (strncmp(message, beginnings[i], strlen(beginnings[i])) == 0) return true;
  }
  return false;
}

// An error says something, and is not our own mistake.
static void check_error(const maker *m, rheos_status *status) {
  if (!status) return;
  const char *message = rheos_status_message(status);
  if ((rheos_status_code(status) == RHEOS_INTERNAL && !is_internal_to_tensorflow(message)) ||
      *message == '\0') {
    fail_msg("seed %llu: %s", (unsigned long long)m->seed, message);
  }
  rheos_status_free(status);
}

static void build(maker *m) {
  add_constant(m, RHEOS_FLOAT, RHEOS_SCALAR);
  keep(m, add_constant(m, RHEOS_FLOAT, random_shape(m, false)));
  for (int i = 0; i < 4; i++) {
    rheos_output constant = add_constant(m, random_dtype(m), random_shape(m, false));
    if (constant.graph) keep(m, constant);
    add_placeholder(m);
    check_error(m, rheos_scope_finish(m->s));
  }
  if (once_in(m, 2)) add_variable(m);
  check_error(m, rheos_scope_finish(m->s));
  for (int i = 0; i < NODES; i++) {
    add_node(m);
    check_error(m, rheos_scope_finish(m->s));
  }
  m->first_gradient = rheos_graph_num_operations(m->graph);
  if (once_in(m, 3)) {
    rheos_output ys[] = {m->pool[below(m, m->pool_size)], m->pool[below(m, m->pool_size)]};
    rheos_output xs[] = {m->pool[below(m, m->pool_size)], m->pool[below(m, 6)]};
    rheos_gradient gradients[2];
    rheos_gradients(m->s, ys, 2, xs, 2, NULL, gradients);
    for (int i = 0; i < 2; i++) {
      if (gradients[i].values.graph) keep(m, gradients[i].values);
    }
    check_error(m, rheos_scope_finish(m->s));
  }
}

// Whether an Assign leaves the shape of its variable unchecked. What the graph says of the
// variable's shape is not true any more then, as in TensorFlow.
static bool has_unchecked_assign(const rheos_graph *graph) {
  for (int32_t id = 0; id < rheos_graph_num_operations(graph); id++) {
    const rheos__node *node = rheos__graph_node(graph, id);
    if (strcmp(node->signature->op->name, "Assign") == 0 &&
        !rheos__attr_bool(node->attrs, "validate_shape")) {
      return true;
    }
  }
  return false;
}

// ---- Running

static const char *type_of(rheos_output output) {
  return rheos_operation_type(rheos_output_operation(output));
}

static void check_fetch(const maker *m, const rheos_fetch *fetch) {
  rheos_shape inferred = rheos_output_shape(fetch->output);
  const rheos_shape *actual = rheos_tensor_shape(fetch->value);
  char have[160], said[160];
  // Gradients have their shapes from nodes that may not run here, and would fail.
  bool is_gradient = fetch->output.id >= m->first_gradient;
  if (!is_gradient && !m->changes_shapes && !rheos_shape_compatible(actual, &inferred)) {
    rheos_shape_format(actual, have, sizeof have);
    rheos_shape_format(&inferred, said, sizeof said);
    fail_msg("seed %llu: output %d of %s was said to have shape %s and has %s",
             (unsigned long long)m->seed, fetch->output.index, type_of(fetch->output), said, have);
  }
  if (rheos_tensor_dtype(fetch->value) != rheos_dtype_base(rheos_output_dtype(fetch->output))) {
    fail_msg("seed %llu: output %d of %s has another dtype", (unsigned long long)m->seed,
             fetch->output.index, type_of(fetch->output));
  }
}

static bool run(const maker *m, rheos_session *session, rheos_fetch *fetches, size_t count) {
  rheos_run_options options = {.timeout_ms = 20000};
  rheos_status *status =
      rheos_session_run(session, m->feeds, (size_t)m->num_feeds, fetches, count, NULL, 0, &options);
  bool ran = status == NULL;
  if (rheos_status_code(status) == RHEOS_DEADLINE_EXCEEDED) {
    fail_msg("seed %llu: %s hangs", (unsigned long long)m->seed, type_of(fetches[0].output));
  }
  check_error(m, status);
  for (size_t i = 0; i < count; i++) {
    assert_int_equal(ran, fetches[i].value != NULL);
    if (ran) check_fetch(m, &fetches[i]);
    rheos_tensor_unref(fetches[i].value);
    fetches[i].value = NULL;
  }
  return ran;
}

// ---- Watching

static bool has_state(const rheos_graph *graph) {
  const unsigned flags = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES | RHEOS_OP_VARIABLE;
  for (int32_t id = 0; id < rheos_graph_num_operations(graph); id++) {
    if ((rheos__graph_node(graph, id)->signature->op->flags & flags) != 0) return true;
  }
  return false;
}

static bool same_bits(const rheos_tensor *a, const rheos_tensor *b) {
  if (a->dtype != b->dtype || !rheos_shape_equal(&a->shape, &b->shape)) return false;
  return a->dtype == RHEOS_STRING || memcmp(a->data, b->data, a->size_bytes) == 0;
}

typedef struct watching {
  const maker *m;
  const rheos__watches *watches;
  const rheos_fetch *fetches;
  size_t num_fetches;
} watching;

// Compares with what a step without watches gave.
static rheos_status *take_value(void *argument, const rheos__delivered *delivered) {
  const watching *w = argument;
  const rheos__edge edge = w->watches->items[delivered->watch].edge;
  for (size_t i = 0; i < w->num_fetches; i++) {
    const rheos_output output = w->fetches[i].output;
    if (output.id != edge.id || output.index != edge.index) continue;
    if (!same_bits(delivered->value, w->fetches[i].value)) {
      fail_msg("seed %llu: output %d of %s is watched as something else",
               (unsigned long long)w->m->seed, edge.index, type_of(output));
    }
  }
  return NULL;
}

// What can be fetched at once, with all edges watched and without.
static void run_watched(const maker *m, rheos_session *session, const rheos_fetch *good,
                        size_t count) {
  if (count == 0 || has_state(m->graph)) return;
  rheos_fetch plain[POOL], watched[POOL];
  memcpy(plain, good, count * sizeof *good);
  memcpy(watched, good, count * sizeof *good);
  rheos_status *status =
      rheos_session_run(session, m->feeds, (size_t)m->num_feeds, plain, count, NULL, 0, NULL);
  if (status == NULL) {
    rheos__watches *watches = watch_all(m->graph, true);
    watching w = {m, watches, plain, count};
    const rheos__observer observer = {.deliver = take_value, .argument = &w};
    if (watches != NULL) {
      status = rheos__session_run_watched(session, m->feeds, (size_t)m->num_feeds, watched, count,
                                          NULL, 0, NULL, watches, &observer);
    }
    if (status != NULL && rheos_status_code(status) != RHEOS_RESOURCE_EXHAUSTED) {
      fail_msg("seed %llu: watched: %s", (unsigned long long)m->seed, rheos_status_message(status));
    }
    for (size_t i = 0; status == NULL && i < count; i++) {
      if (watched[i].value == NULL || same_bits(watched[i].value, plain[i].value)) continue;
      fail_msg("seed %llu: watching changes output %d of %s", (unsigned long long)m->seed,
               plain[i].output.index, type_of(plain[i].output));
    }
    rheos__watches_unref(watches);
  }
  rheos_status_free(status);
  for (size_t i = 0; i < count; i++) {
    rheos_tensor_unref(plain[i].value);
    rheos_tensor_unref(watched[i].value);
  }
}

// Each output alone, then all that ran at once, twice, and watched.
static int run_all(maker *m) {
  rheos_session_options options = {.num_threads = 1 + below(m, 2)};
  rheos_session *session = NULL;
  check_error(m, rheos_session_new(m->graph, &options, &session));
  rheos_fetch good[POOL];
  size_t num_good = 0;
  for (int i = 0; i < m->pool_size; i++) {
    rheos_fetch fetch = {m->pool[i], NULL};
    if (run(m, session, &fetch, 1)) good[num_good++].output = m->pool[i];
  }
  for (int i = 0; i < 2; i++) run(m, session, good, num_good);
  run_watched(m, session, good, num_good);
  rheos_session_free(session);
  return (int)num_good;
}

// Out to the bytes of a GraphDef and back.
static void check_round_trip(const maker *m) {
  void *bytes = NULL;
  size_t size_bytes = 0;
  rheos_status *status = rheos_graph_to_graph_def(m->graph, &bytes, &size_bytes);
  check_error(m, status);
  if (!bytes) return;
  rheos_graph *copy = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(copy);
  rheos_import_graph_def(s, bytes, size_bytes, NULL);
  status = rheos_scope_finish(s);
  if (status) {
    fail_msg("seed %llu: a graph cannot be read back: %s", (unsigned long long)m->seed,
             rheos_status_message(status));
  }
  assert_int_equal(rheos_graph_num_operations(copy), rheos_graph_num_operations(m->graph));
  rheos_scope_free(s);
  rheos_graph_unref(copy);
  rheos_free(bytes);
}

// The number of outputs that could be computed.
static int try_graph(uint64_t seed) {
  maker *m = calloc(1, sizeof *m);
  assert_non_null(m);
  m->seed = m->state = seed;
  m->graph = rheos_graph_new();
  m->s = rheos_scope_new(m->graph);
  build(m);
  m->changes_shapes = has_unchecked_assign(m->graph);
  int ran = run_all(m);
  if (seed % 4 == 0) check_round_trip(m);
  for (int i = 0; i < m->num_feeds; i++) rheos_tensor_unref(m->feeds[i].value);
  rheos_scope_free(m->s);
  rheos_graph_unref(m->graph);
  free(m);
  return ran;
}

static void test_random_graphs__end_with_values_or_errors(void **state) {
  (void)state;
  const rheos_allocator capped = {capped_allocate, capped_reallocate, plain_release, NULL};
  rheos_set_allocator(&capped);
  time_t start = time(NULL);
  int64_t ran = 0;
  int done = 0;
  for (; done < num_graphs; done++) {
    if (num_graphs == NUM_GRAPHS && time(NULL) - start > SECONDS) break;
    ran += try_graph(first_seed + (uint64_t)done);
  }
  rheos_set_allocator(NULL);
  assert_true(ran > 5 * (int64_t)done);  // random need not mean that nothing fits
}

int main(int argc, char **argv) {
  if (argc > 1) first_seed = strtoull(argv[1], NULL, 10);
  if (argc > 2) num_graphs = atoi(argv[2]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_graphs__end_with_values_or_errors),
  };
  return cmocka_run_group_tests_name("random_graphs", tests, NULL, NULL);
}
