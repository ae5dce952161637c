// Specs of datasets, read off the attributes of their nodes.
#include "ops/data/dataset_spec.h"

#include <string.h>

#include "graph/graph.h"
#include "ops/data/dataset_hash.h"

static void deinit_function(rheos__data_function *f) {
  rheos__site_free(f->site);
  rheos__free(f->arg_types);
  rheos__free(f->result_types);
}

void rheos__dataset_spec_unref(rheos__dataset_spec *spec) {
  if (spec == NULL) return;
  if (atomic_fetch_sub_explicit(&spec->references, 1, memory_order_acq_rel) > 1) return;
  for (int32_t i = 0; spec->functions != NULL && i < spec->num_functions; ++i) {
    deinit_function(&spec->functions[i]);
  }
  for (int32_t i = 0; spec->cells != NULL && i < spec->num_inputs; ++i) {
    if (spec->cells[i] != NULL) rheos__resource_unref(spec->cells[i]);
  }
  rheos__free(spec->is_dataset);
  rheos__free(spec->cells);
  rheos__free(spec->types);
  rheos__free(spec->shapes);
  rheos__free(spec->functions);
  rheos__free(spec->options);
  if (spec->described != NULL) spec->kind->forget(spec->described);
  rheos__free(spec);
}

uint64_t rheos__dataset_spec_hash(const rheos__dataset *dataset) {
  return dataset->spec != NULL ? dataset->spec->hash : 0;
}

const int64_t *rheos__dataset_options(const rheos__dataset *dataset) {
  return dataset->spec->options;
}

const void *rheos__dataset_described(const rheos__dataset *dataset) {
  return dataset->spec->described;
}

const rheos__data_function *rheos__dataset_function(const rheos__dataset *dataset, int32_t index) {
  return &dataset->spec->functions[index];
}

static rheos_status *copy_components(const rheos__attrs *attrs, rheos__dataset_spec *spec) {
  const rheos_attr_value *types = rheos__attrs_find(attrs, "output_types");
  const rheos_attr_value *shapes = rheos__attrs_find(attrs, "output_shapes");
  if (types == NULL) types = rheos__attrs_find(attrs, "Toutput_types");
  const int32_t count = types != NULL ? types->count : 1;
  if (shapes != NULL && shapes->count != count) {
    return RHEOS_INVALID("`output_shapes` must be the same length as `output_types` (%d vs. %d)",
                         (int)shapes->count, (int)count);
  }
  spec->num_components = count;
  spec->types = rheos__alloc_array((size_t)count, sizeof *spec->types);
  spec->shapes = rheos__alloc_array((size_t)count, sizeof *spec->shapes);
  if (spec->types == NULL || spec->shapes == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < count; ++i) {  // one string, where the op does not say
    spec->types[i] = types != NULL ? types->types[i] : RHEOS_STRING;
    spec->shapes[i] = shapes != NULL  ? shapes->shapes[i]
                      : types != NULL ? RHEOS_UNKNOWN_SHAPE
                                      : RHEOS_SCALAR;
  }
  return NULL;
}

static int64_t option_of(const rheos_attr_value *value) {
  static const char any[] = "false";
  if (value->kind == RHEOS_ATTR_BOOL) return value->b;
  if (value->kind == RHEOS_ATTR_INT) return value->i;
  const bool is_any =
      value->s.size_bytes == sizeof any - 1 && memcmp(value->s.data, any, sizeof any - 1) == 0;
  return is_any ? RHEOS__ORDER_ANY : RHEOS__ORDER_KEPT;
}

static rheos_status *copy_options(const rheos__attrs *attrs, rheos__dataset_spec *spec) {
  int32_t count = 0;
  const char *const *names = spec->kind != NULL ? spec->kind->options : NULL;
  while (names != NULL && names[count] != NULL) ++count;
  spec->options = rheos__alloc_array((size_t)count, sizeof *spec->options);
  if (spec->options == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < count; ++i) {
    const rheos_attr_value *value = rheos__attrs_find(attrs, names[i]);
    if (value != NULL) spec->options[i] = option_of(value);
  }
  return NULL;
}

// How many inputs of the node are the argument's.
static int32_t input_count(const rheos__prepare *p, const rheos__signature *signature,
                           const rheos__arg *arg) {
  const rheos_attr *items = p->attrs->items;
  (void)signature;
  if (arg->number_attr >= 0) return (int32_t)items[arg->number_attr].value.i;
  if (arg->type_list_attr >= 0) return items[arg->type_list_attr].value.count;
  return 1;
}

// Functions inside functions that are looked into; deeper ones count as having effects.
enum { MOST_DEPTH = 8 };

typedef bool (*node_test)(const rheos__node *node);

static bool is_any(rheos_graph *graph, const rheos_func *func, int32_t depth, node_test test);

static bool is_node_or_called(rheos_graph *graph, const rheos__node *node, int32_t depth,
                              node_test test) {
  if (node->signature->op->prepare == rheos__prepare_call_by_name || test(node)) return true;
  for (int32_t i = 0; i < node->attrs->count; ++i) {
    const rheos_attr_value *value = &node->attrs->items[i].value;
    if (value->kind == RHEOS_ATTR_FUNC && is_any(graph, value->func, depth + 1, test)) return true;
  }
  return false;
}

// Whether the test holds for a node of the function, or of those that it calls; perhaps it does
// where it cannot be seen.
static bool is_any(rheos_graph *graph, const rheos_func *func, int32_t depth, node_test test) {
  const rheos__function *f = NULL;
  rheos_status *status = depth < MOST_DEPTH ? rheos__graph_function(graph, func, &f) : NULL;
  rheos_status_free(status);
  if (f == NULL) return true;
  for (int32_t id = 0; id < rheos_graph_num_operations(f->graph); ++id) {
    if (is_node_or_called(f->graph, rheos__graph_node(f->graph, id), depth, test)) return true;
  }
  return false;
}

static bool has_effects(const rheos__node *node) {
  const rheos__op_def *op = node->signature->op;
  const bool is_quiet = op->prepare == rheos__prepare_dataset ||
                        (op->flags & (RHEOS_OP_READS_VARIABLE | RHEOS_OP_CALLS)) != 0;
  return rheos__has_effects(node) && !is_quiet;
}

// Variables, random generators, functions of the program; not checks, texts that are printed and
// files that are read.
static bool has_state_of_its_own(const rheos__node *node) {
  const unsigned flags = node->signature->op->flags;
  const unsigned writes =
      (flags & RHEOS_OP_CALLS) == 0 ? RHEOS_OP_WRITES : 0;  // calls are looked into
  return (flags & (RHEOS_OP_READS_VARIABLE | writes)) != 0 ||
         rheos__attrs_find(node->attrs, "seed2") != NULL ||
         rheos__attrs_find(node->attrs, "token") != NULL;
}

static bool draws(const rheos__node *node) {
  return rheos__has_effects(node) && rheos__attrs_find(node->attrs, "seed2") != NULL;
}

static rheos_status *make_function(const rheos__prepare *p, const rheos_func *func, int32_t first,
                                   int32_t count, rheos__data_function *f) {
  RHEOS_TRY(rheos__site_types_of(p, func, &f->arg_types, &f->num_args, &f->result_types,
                                 &f->num_results));
  const rheos__site_types types = {.args = f->arg_types,
                                   .results = f->result_types,
                                   .num_args = f->num_args,
                                   .num_results = f->num_results};
  f->first_captured = first;
  f->num_captured = count;
  f->has_effects = is_any(p->graph, func, 0, has_effects);
  f->has_state = is_any(p->graph, func, 0, has_state_of_its_own);
  f->draws = f->has_effects && is_any(p->graph, func, 0, draws);
  for (int32_t i = 0; i < count; ++i) {
    const int32_t arg = f->num_args - count + i;
    const rheos_dtype dtype = p->input_dtypes[first + i];
    if (arg >= 0 && f->arg_types[arg] == dtype) continue;
    return RHEOS_INVALID("captured argument %d of function %.*s does not fit: it is %s", (int)i,
                         (int)func->name.size_bytes, func->name.data, rheos_dtype_name(dtype));
  }
  return rheos__site_new(p, func, &types, &f->site);
}

static bool ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), end_length = strlen(end);
  return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

// A handle that is nothing but a cell is no value, whatever dtypes the argument may have.
static rheos_status *check_values(const rheos__prepare *p, const rheos__arg *arg, int32_t first,
                                  int32_t count) {
  for (int32_t i = first; i < first + count; ++i) {
    if (p->input_dtypes[i] != RHEOS_RESOURCE || arg->dtype == RHEOS_RESOURCE) continue;
    if (p->input_resources == NULL || p->input_resources[i] == NULL) continue;
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "input %d of %s is a handle, not a value", (int)i,
                            p->op->name);
  }
  return NULL;
}

// The functions of the attributes, in their order; captured are, in the same order, the lists of
// inputs named
// `...other_arguments`.
static rheos_status *make_functions(const rheos__prepare *p, rheos__dataset_spec *spec) {
  const rheos__signature *signature = rheos__signature_by_name(p->op->name);
  int32_t first[8] = {0}, counts[8] = {0}, num_lists = 0, at = 0, num_functions = 0;
  for (int32_t i = 0; i < signature->num_inputs; ++i) {
    const rheos__arg *arg = &signature->inputs[i];
    const int32_t count = input_count(p, signature, arg);
    const bool is_dataset = arg->dtype == RHEOS_VARIANT;
    const bool is_captured =
        ends_with(arg->name, "other_arguments") || ends_with(arg->name, "other_args");
    if (!is_captured) RHEOS_TRY(check_values(p, arg, at, count));
    for (int32_t k = 0; k < count; ++k) spec->is_dataset[at + k] = is_dataset;
    if (is_captured && num_lists < 8) {
      first[num_lists] = at;
      counts[num_lists++] = count;
    }
    at += count;
  }
  for (int32_t i = 0; i < signature->num_attrs; ++i) {
    num_functions += signature->attrs[i].kind == RHEOS_ATTR_FUNC;
  }
  spec->functions = rheos__alloc_array((size_t)num_functions, sizeof *spec->functions);
  if (spec->functions == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < signature->num_attrs; ++i) {
    if (signature->attrs[i].kind != RHEOS_ATTR_FUNC) continue;
    const int32_t k = spec->num_functions++;
    RHEOS_TRY(make_function(p, p->attrs->items[i].value.func, k < num_lists ? first[k] : 0,
                            k < num_lists ? counts[k] : 0, &spec->functions[k]));
  }
  return NULL;
}

static rheos_status *fill_spec(const rheos__prepare *p, rheos__dataset_spec *spec) {
  const size_t count = (size_t)p->num_inputs;
  spec->num_inputs = p->num_inputs;
  spec->is_dataset = rheos__alloc_array(count, sizeof *spec->is_dataset);
  spec->cells = rheos__alloc_array(count, sizeof *spec->cells);
  if (spec->is_dataset == NULL || spec->cells == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < p->num_inputs; ++i) {
    rheos__resource *cell = p->input_resources != NULL ? p->input_resources[i] : NULL;
    if (cell != NULL) spec->cells[i] = rheos__resource_ref(cell);
  }
  RHEOS_TRY(copy_components(p->attrs, spec));
  RHEOS_TRY(copy_options(p->attrs, spec));
  if (spec->kind != NULL && spec->kind->describe != NULL) {
    RHEOS_TRY(spec->kind->describe(p->attrs, &spec->described));
  }
  return make_functions(p, spec);
}

rheos_status *rheos__dataset_spec_new(const rheos__prepare *p, const rheos__dataset_kind *kind,
                                      rheos__dataset_spec **out_spec) {
  rheos__dataset_spec *spec = rheos__alloc_zeroed(sizeof *spec);
  *out_spec = NULL;
  if (spec == NULL) return rheos__out_of_memory();
  atomic_init(&spec->references, 1);
  spec->kind = kind;
  spec->op = p->op->name;
  spec->hash = rheos__dataset_op_hash(p->graph, p->op->name, p->attrs);
  rheos_status *status = fill_spec(p, spec);
  if (status == NULL) {
    *out_spec = spec;
  } else {
    rheos__dataset_spec_unref(spec);
  }
  return status;
}
