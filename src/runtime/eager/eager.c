// Eager execution: one operation at a time. What an operation needs is prepared once for its type,
// its attributes and the dtypes of its inputs, as a region of a graph with nothing else in it, and
// kept in a table of bounded size. Shapes count only where the gradient has to know them.
#include <rheos/eager.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <rheos/front_end.h>
#include <rheos/function.h>

#include "base/hash.h"
#include "base/options.h"
#include "base/text.h"
#include "graph/library.h"
#include "plan/entries/place.h"
#include "runtime/call/bodies.h"
#include "runtime/eager/region.h"

enum { FEW = 16, DEFAULT_MAX_OPS = 4096, EVICTED_AT_ONCE = 16, FEW_LEAVING = 64 };

typedef struct prepared {
  uint64_t hash;
  struct prepared *next;  // in its bucket
  int64_t last_used;      // by the clock of the cache
  rheos_region *region;
  const rheos__attrs *attrs;  // the node's
  int32_t *given;             // which of them the program gave, in its order
  int32_t num_given;
  const char *device;  // as the program wrote it; NULL. Own memory
} prepared;

struct rheos__op_cache {
  pthread_mutex_t mutex;
  prepared **buckets;  // a power of two
  size_t num_buckets, count, max;
  int64_t clock;
  int64_t num_stateful;  // that were made, so that each has a name of its own
};

// A function that is to go.
typedef struct rheos__leaving {
  struct rheos__leaving *next;
  char *name;
} leaving;

static void free_leaving(leaving *l) {
  while (l != NULL) {
    leaving *next = l->next;
    rheos__free(l->name);
    rheos__free(l);
    l = next;
  }
}

// ---- Life

static rheos__op_cache *new_cache(int32_t max) {
  rheos__op_cache *cache = rheos__alloc_zeroed(sizeof *cache);
  if (cache == NULL) return NULL;
  cache->max = max > 0 ? (size_t)max : DEFAULT_MAX_OPS;
  cache->num_buckets = 1024;
  cache->buckets = rheos__alloc_array(cache->num_buckets, sizeof *cache->buckets);
  if (cache->buckets == NULL) {
    rheos__free(cache);
    return NULL;
  }
  pthread_mutex_init(&cache->mutex, NULL);
  return cache;
}

static void free_prepared(prepared *p) {
  while (p != NULL) {
    prepared *next = p->next;
    rheos_region_unref(p->region);
    rheos__free(p->given);
    rheos__free((void *)(uintptr_t)p->device);
    rheos__free(p);
    p = next;
  }
}

// Takes all that is kept out of the table, in one list.
static prepared *take_all(rheos__op_cache *cache) {
  prepared *all = NULL;
  pthread_mutex_lock(&cache->mutex);
  for (size_t i = 0; i < cache->num_buckets; ++i) {
    while (cache->buckets[i] != NULL) {
      prepared *p = cache->buckets[i];
      cache->buckets[i] = p->next;
      p->next = all;
      all = p;
    }
  }
  cache->count = 0;
  pthread_mutex_unlock(&cache->mutex);
  return all;
}

void rheos_eager_clear(rheos_eager *eager) {
  if (eager == NULL) return;
  free_prepared(take_all(eager->ops));
  rheos__bodies_forget(eager->home.bodies);
}

static void free_cache(rheos__op_cache *cache) {
  if (cache == NULL) return;
  free_prepared(take_all(cache));
  rheos__free(cache->buckets);
  pthread_mutex_destroy(&cache->mutex);
  rheos__free(cache);
}

rheos_eager *rheos__eager_ref(rheos_eager *eager) {
  atomic_fetch_add_explicit(&eager->references, 1, memory_order_relaxed);
  return eager;
}

void rheos__eager_unref(rheos_eager *eager) {
  if (atomic_fetch_sub_explicit(&eager->references, 1, memory_order_acq_rel) != 1) return;
  free_cache(eager->ops);
  free_leaving(eager->leaving);
  rheos__home_clear(&eager->home);
  rheos__home_deinit(&eager->home);
  rheos__watch_list_unref(eager->watches);
  rheos_graph_unref(eager->graph);
  pthread_mutex_destroy(&eager->mutex);
  rheos__free(eager);
}

void rheos_eager_free(rheos_eager *eager) {
  if (eager == NULL) return;
  rheos__home_close(&eager->home);
  rheos_eager_clear(eager);  // regions hold on to it
  rheos__eager_unref(eager);
}

rheos_status *rheos_eager_waiting(rheos_eager *eager, char **out_text) {
  RHEOS_OUT(out_text);
  RHEOS_NEED(eager);
  return rheos__waits_tell(&eager->home.waits, rheos__clock_ns(), out_text);
}

static rheos_status *init_eager(rheos_eager *eager, const rheos_eager_options *options) {
  eager->gradient_function = options->gradient_function;
  eager->gradient_argument = options->gradient_argument;
  eager->ops = new_cache(options->max_cached_ops);
  eager->graph = rheos_graph_new();
  eager->watches = rheos__watch_list_new();
  const rheos__home_options home = {.owner = "eager context",
                                    .shares_instances = true,
                                    .host = options->host,
                                    .own_host = {.num_threads = options->num_threads},
                                    .context = {.allow_soft_placement = true,
                                                .prefers_cards = true,
                                                .any_memory = true,
                                                .program_function = options->program_function,
                                                .program_argument = options->program_argument,
                                                .leaves_functions = options->leaves_functions}};
  RHEOS_TRY(rheos__home_init(&eager->home, &home));
  eager->home.watches = eager->watches;
  const bool is_whole = eager->ops != NULL && eager->graph != NULL && eager->watches != NULL;
  return is_whole ? NULL : rheos__out_of_memory();
}

rheos_status *rheos_eager_new_sized(const rheos_eager_options *options, size_t options_bytes,
                                    rheos_eager **out_eager) {
  RHEOS_OUT(out_eager);
  rheos_eager_options known;
  RHEOS_TRY(RHEOS_READ_OPTIONS(rheos_eager_options, options, options_bytes, &known));
  rheos_eager *eager = rheos__alloc_zeroed(sizeof *eager);
  if (eager == NULL) return rheos__out_of_memory();
  atomic_init(&eager->references, 1);
  pthread_mutex_init(&eager->mutex, NULL);
  rheos_status *status = init_eager(eager, &known);
  if (status != NULL) {
    rheos__eager_unref(eager);
    return status;
  }
  *out_eager = eager;
  return NULL;
}

rheos_graph *rheos_eager_graph(const rheos_eager *eager) {
  return eager != NULL ? eager->graph : NULL;
}

rheos_host *rheos_eager_host(const rheos_eager *eager) {
  return eager != NULL ? eager->home.host : NULL;
}

// ---- Looking up

static uint64_t hash_op(const rheos_eager_op *op) {
  uint64_t hash = rheos__hash_bytes(op->num_inputs, op->type, strlen(op->type));
  for (size_t i = 0; i < op->num_inputs; ++i) {
    hash = rheos__hash_mix(hash, (uint64_t)op->inputs[i]->dtype);
  }
  for (size_t i = 0; i < op->num_attrs; ++i) hash = rheos__attr_hash(hash, &op->attrs[i]);
  if (op->device != NULL) hash = rheos__hash_bytes(hash, op->device, strlen(op->device));
  return hash;
}

static bool same_device(const char *a, const char *b) {
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool shapes_count(const rheos__signature *signature) {
  return signature != NULL && (signature->op->flags & RHEOS_OP_GRADIENT_OF_SHAPES) != 0;
}

// Whether the node was made for inputs of these shapes.
static bool same_shapes(const rheos_graph *graph, const rheos__node *node,
                        const rheos_eager_op *op) {
  for (int32_t i = 0; i < node->num_inputs; ++i) {
    const rheos__edge edge = node->edges[i];
    const rheos_shape *shape = rheos__graph_node(graph, edge.id)->outputs[edge.index].shape;
    if (!rheos_shape_equal(shape, &op->inputs[i]->shape)) return false;
  }
  return true;
}

static bool is_for(const prepared *p, const rheos_eager_op *op) {
  const rheos__node *node = rheos__graph_node(p->region->graph, p->region->node);
  if (strcmp(node->signature->op->name, op->type) != 0) return false;
  if (p->region->num_feeds != (int32_t)op->num_inputs) return false;
  if (p->num_given != (int32_t)op->num_attrs || !same_device(p->device, op->device)) return false;
  for (int32_t i = 0; i < p->num_given; ++i) {
    const rheos_attr *mine = &p->attrs->items[p->given[i]];
    if (strcmp(mine->name, op->attrs[i].name) != 0) return false;
    if (!rheos__attr_value_equal(&mine->value, &op->attrs[i].value)) return false;
  }
  for (int32_t i = 0; i < p->region->num_feeds; ++i) {
    if (rheos__region_input_dtype(p->region, i) != op->inputs[i]->dtype) return false;
  }
  return !shapes_count(node->signature) || same_shapes(p->region->graph, node, op);
}

static rheos_region *find(rheos__op_cache *cache, uint64_t hash, const rheos_eager_op *op) {
  rheos_region *found = NULL;
  pthread_mutex_lock(&cache->mutex);
  prepared *p = cache->buckets[hash & (cache->num_buckets - 1)];
  while (p != NULL && (p->hash != hash || !is_for(p, op))) p = p->next;
  if (p != NULL) {
    p->last_used = ++cache->clock;
    found = rheos_region_ref(p->region);
  }
  pthread_mutex_unlock(&cache->mutex);
  return found;
}

// Takes one out that was not used for the longest time among some buckets.
static prepared *take_oldest(rheos__op_cache *cache) {
  prepared **oldest = NULL;
  for (size_t i = 0; i < cache->num_buckets; ++i) {
    for (prepared **link = &cache->buckets[i]; *link != NULL; link = &(*link)->next) {
      if (oldest == NULL || (*link)->last_used < (*oldest)->last_used) oldest = link;
    }
  }
  if (oldest == NULL) return NULL;
  prepared *p = *oldest;
  *oldest = p->next;
  p->next = NULL;
  --cache->count;
  return p;
}

static void keep(rheos__op_cache *cache, prepared *p) {
  prepared *dropped = NULL;
  pthread_mutex_lock(&cache->mutex);
  for (int i = 0; cache->count >= cache->max && i < EVICTED_AT_ONCE; ++i) {
    prepared *old = take_oldest(cache);
    if (old == NULL) break;
    old->next = dropped;
    dropped = old;
  }
  prepared **bucket = &cache->buckets[p->hash & (cache->num_buckets - 1)];
  p->last_used = ++cache->clock;
  p->next = *bucket;
  *bucket = p;
  ++cache->count;
  pthread_mutex_unlock(&cache->mutex);
  free_prepared(dropped);
}

// ---- Functions that go

static bool calls(const prepared *p, const char *function) {
  if (!p->region->extends) return false;
  for (int32_t i = 0; i < p->attrs->count; ++i) {
    const rheos_attr_value *value = &p->attrs->items[i].value;
    if (value->kind == RHEOS_ATTR_FUNC && strcmp(value->func->name.data, function) == 0)
      return true;
  }
  return false;
}

// Takes what calls the function out of the table, in one list; NULL, and everything stays, if
// something recorded holds on to it.
static prepared *take_calls(rheos__op_cache *cache, const char *function, bool *out_held) {
  prepared *found = NULL;
  pthread_mutex_lock(&cache->mutex);
  for (int pass = 0; pass < 2 && !*out_held; ++pass) {
    for (size_t i = 0; i < cache->num_buckets; ++i) {
      for (prepared **link = &cache->buckets[i]; *link != NULL;) {
        prepared *p = *link;
        const bool is_call = calls(p, function);
        if (is_call && pass == 0) *out_held = *out_held || rheos__region_is_shared(p->region);
        if (!is_call || pass == 0) {
          link = &p->next;
          continue;
        }
        *link = p->next;
        p->next = found;
        found = p;
        --cache->count;
      }
    }
  }
  pthread_mutex_unlock(&cache->mutex);
  return found;
}

static leaving *take_leaving(rheos_eager *eager) {
  pthread_mutex_lock(&eager->mutex);
  leaving *list = eager->leaving;
  eager->leaving = NULL;
  eager->num_leaving = 0;
  pthread_mutex_unlock(&eager->mutex);
  return list;
}

static void put_leaving(rheos_eager *eager, leaving *l) {
  pthread_mutex_lock(&eager->mutex);
  l->next = eager->leaving;
  eager->leaving = l;
  ++eager->num_leaving;
  pthread_mutex_unlock(&eager->mutex);
}

// Whether so many wait that it is time to look whether all can go. What then still waits may double
// before the next look, so that a look costs each of them little.
static bool are_too_many(rheos_eager *eager) {
  pthread_mutex_lock(&eager->mutex);
  const bool too_many = eager->num_leaving > FEW_LEAVING && eager->num_leaving > eager->max_leaving;
  pthread_mutex_unlock(&eager->mutex);
  return too_many;
}

static void allow_twice_as_many(rheos_eager *eager) {
  pthread_mutex_lock(&eager->mutex);
  eager->max_leaving = 2 * eager->num_leaving;
  pthread_mutex_unlock(&eager->mutex);
}

// What became of the functions that are called at once.
typedef struct outcome {
  bool any_held, any_gone;
} outcome;

static void remove_first(rheos_eager *eager, leaving **list) {
  leaving *l = *list;
  *list = l->next;
  l->next = NULL;
  rheos_status_free(rheos_graph_remove_function(eager->graph, l->name));
  free_leaving(l);
}

// Lets go of them, but for those that something recorded holds on to.
static outcome let_go_of_called(rheos_eager *eager, leaving **list) {
  outcome all = {false, false};
  for (leaving **link = list; *link != NULL;) {
    bool is_held = false;
    prepared *found = take_calls(eager->ops, (*link)->name, &is_held);
    all.any_held = all.any_held || is_held;
    if (found == NULL) {
      link = &(*link)->next;
      continue;
    }
    remove_first(eager, link);
    free_prepared(found);
    all.any_gone = true;
  }
  return all;
}

// Functions that are not called at once may be called by those that are. They go when all of these
// have gone that are to go, and not before one does, since what they belong to may leave just after
// them; or else when many wait, since a program may trace functions and never call them.
static void sweep(rheos_eager *eager, bool is_asked) {
  leaving *list = take_leaving(eager);
  const outcome called = let_go_of_called(eager, &list);
  if (!called.any_held && (called.any_gone || is_asked)) {
    while (list != NULL) remove_first(eager, &list);
  }
  while (list != NULL) {
    leaving *l = list;
    list = l->next;
    put_leaving(eager, l);
  }
  rheos__bodies_sweep(eager->home.bodies);
}

void rheos_eager_sweep(rheos_eager *eager) {
  if (eager != NULL) sweep(eager, true);
}

static rheos_status *have_leave(rheos_eager *eager, const char *name) {
  rheos__graph_lock(eager->graph);
  const bool is_there = rheos__library_has(eager->graph, name);
  rheos__graph_unlock(eager->graph);
  if (!is_there) return rheos_status_new(RHEOS_NOT_FOUND, "the library has no function %s", name);
  leaving *l = rheos__alloc_zeroed(sizeof *l);
  if (l != NULL) l->name = rheos__strdup(name);
  if (l == NULL || l->name == NULL) {
    free_leaving(l);
    return rheos__out_of_memory();
  }
  put_leaving(eager, l);
  return NULL;
}

rheos_status *rheos_eager_remove_functions(rheos_eager *eager, const char *const *names,
                                           size_t num_names) {
  RHEOS_NEED(eager);
  if (num_names > 0) RHEOS_NEED(names);
  rheos_status *status = NULL;
  for (size_t i = 0; i < num_names && status == NULL; ++i) {
    status = names[i] != NULL ? have_leave(eager, names[i]) : rheos__not_given(__func__, "names");
  }
  const bool too_many = are_too_many(eager);
  sweep(eager, too_many);
  if (too_many) allow_twice_as_many(eager);
  return status;
}

rheos_status *rheos_eager_remove_function(rheos_eager *eager, const char *name) {
  RHEOS_NEED(eager, name);
  return rheos_eager_remove_functions(eager, &name, 1);
}

// ---- Preparing

// The function's name, as a node may have it: more to who reads of places than "PartitionedCall".
static void name_call(const rheos_func *function, char *name, size_t size) {
  const char *from = function->name.data;
  while (*from == '_') ++from;
  snprintf(name, size, "%s", from);
  for (char *c = name; *c != '\0'; ++c) {
    if (!isalnum((unsigned char)*c) && *c != '.') *c = '_';
  }
}

// Random operations keep their state under the node's name: two that differ must not share it.
static void name_node(rheos__op_cache *cache, rheos_graph *graph, const rheos_eager_op *op,
                      char *name, size_t size) {
  name[0] = '\0';
  const bool is_call =
      strcmp(op->type, "PartitionedCall") == 0 || strcmp(op->type, "StatefulPartitionedCall") == 0;
  for (size_t i = 0; is_call && i < op->num_attrs; ++i) {
    const rheos_attr_value *value = &op->attrs[i].value;
    if (value->kind == RHEOS_ATTR_FUNC) name_call(value->func, name, size);
  }
  if (name[0] != '\0' && name[0] != '_') return;
  const rheos__signature *signature = rheos__graph_signature(graph, op->type);
  if (signature == NULL || (signature->op->flags & RHEOS_OP_STATEFUL) == 0) return;
  pthread_mutex_lock(&cache->mutex);
  const int64_t number = cache->num_stateful++;
  pthread_mutex_unlock(&cache->mutex);
  snprintf(name, size, "%s_%lld", op->type, (long long)number);
}

// The node, on placeholders; `edges` are these.
static rheos_operation add_node(rheos_eager *eager, rheos_scope *scope, const rheos_eager_op *op,
                                rheos_output *inputs) {
  char name[160];
  rheos_graph *graph = rheos_scope_graph(scope);
  name_node(eager->ops, graph, op, name, sizeof name);
  const bool with_shapes = shapes_count(rheos__graph_signature(graph, op->type));
  for (size_t i = 0; i < op->num_inputs; ++i) {
    const rheos_attr attrs[] = {rheos_attr_type("dtype", op->inputs[i]->dtype),
                                rheos_attr_shape("shape", &op->inputs[i]->shape)};
    const rheos_op_args args = {
        .type = "Placeholder", .name = "input", .attrs = attrs, .num_attrs = with_shapes ? 2 : 1};
    inputs[i] = rheos_operation_output(rheos_op(scope, &args), 0);
  }
  const rheos_op_args args = {.type = op->type,
                              .name = name[0] != '\0' ? name : NULL,
                              .inputs = inputs,
                              .num_inputs = op->num_inputs,
                              .attrs = op->attrs,
                              .num_attrs = op->num_attrs,
                              .device = op->device};
  return rheos_op(scope, &args);
}

static rheos_status *check_node(const rheos__node *node) {
  for (int32_t i = 0; i < node->num_outputs; ++i) {
    if (!rheos_dtype_is_ref(node->outputs[i].dtype)) continue;
    return rheos_status_new(RHEOS_UNIMPLEMENTED,
                            "%s gives a reference, which does not outlive a step",
                            node->signature->op->name);
  }
  return NULL;
}

static rheos_status *region_of(rheos_eager *eager, rheos_graph *graph, int32_t id,
                               const rheos_output *inputs, size_t num_inputs,
                               rheos_region **out_region) {
  const rheos__node *node = rheos__graph_node(graph, id);
  const size_t num_outputs = (size_t)node->num_outputs;
  RHEOS_TRY(check_node(node));
  rheos__edge *edges = rheos__alloc_array(num_inputs + num_outputs + 1, sizeof *edges);
  if (edges == NULL) return rheos__out_of_memory();
  rheos__edge *fetches = edges + num_inputs;
  for (size_t i = 0; i < num_inputs; ++i) edges[i] = (rheos__edge){inputs[i].id, 0};
  for (size_t i = 0; i < num_outputs; ++i) fetches[i] = (rheos__edge){id, (int32_t)i};
  rheos_status *status =
      rheos__region_new(eager, graph, edges, (int32_t)num_inputs, fetches, (int32_t)num_outputs,
                        &id, num_outputs == 0 || rheos__has_effects(node) ? 1 : 0, out_region);
  rheos__free(edges);
  if (status != NULL) return status;
  const unsigned flags = node->signature->op->flags;
  (*out_region)->node = id;
  (*out_region)->reads_variable = (flags & RHEOS_OP_READS_VARIABLE) != 0;
  (*out_region)->assigns_variable =
      (flags & RHEOS_OP_ASSIGNS) != 0 && !rheos__attr_bool(node->attrs, "validate_shape") &&
      node->device[0] == '\0';  // else the value may have to be brought
  (*out_region)->extends = (flags & RHEOS_OP_CALLS) != 0;
  // What goes over a dataset sleeps where threads make its elements.
  const unsigned iterates = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS;
  if ((flags & iterates) == iterates || (flags & (RHEOS_OP_CALLS | RHEOS_OP_WAITS)) != 0) {
    (*out_region)->may_sleep = true;
    atomic_store(&(*out_region)->cost_ns, -1);
  }
  return NULL;
}

static rheos_status *prepare_region(rheos_eager *eager, const rheos_eager_op *op,
                                    const rheos__attrs **out_attrs, rheos_region **out_region) {
  rheos_output few[FEW], *inputs = few;
  if (op->num_inputs > FEW) inputs = rheos__alloc_array(op->num_inputs, sizeof *inputs);
  rheos_graph *graph = rheos__graph_new_within(eager->graph);
  rheos_scope *scope = graph != NULL ? rheos_scope_new(graph) : NULL;
  rheos_status *status = inputs == NULL || scope == NULL ? rheos__out_of_memory() : NULL;
  if (status == NULL) {
    const rheos_operation node = add_node(eager, scope, op, inputs);
    status = rheos_scope_finish(scope);
    if (status == NULL) {
      *out_attrs = rheos__graph_node(graph, node.id)->attrs;
      status = region_of(eager, graph, node.id, inputs, op->num_inputs, out_region);
    }
  }
  rheos_scope_free(scope);
  rheos_graph_unref(graph);
  if (inputs != few) rheos__free(inputs);
  return status;
}

// Which attributes of the node are those that the program gave.
static bool find_given(prepared *p, const rheos_eager_op *op) {
  p->given = rheos__alloc_array(op->num_attrs + 1, sizeof *p->given);
  if (p->given == NULL) return false;
  p->num_given = (int32_t)op->num_attrs;
  for (size_t i = 0; i < op->num_attrs; ++i) {
    int32_t at = 0;
    while (at < p->attrs->count && strcmp(p->attrs->items[at].name, op->attrs[i].name) != 0) ++at;
    if (at == p->attrs->count) return false;
    p->given[i] = at;
  }
  return true;
}

// An entry of the table for the region; none is made where memory is short, which only costs time.
static void remember(rheos__op_cache *cache, uint64_t hash, const rheos_eager_op *op,
                     const rheos__attrs *attrs, rheos_region *region) {
  prepared *p = rheos__alloc_zeroed(sizeof *p);
  if (p == NULL) return;
  p->hash = hash;
  p->attrs = attrs;
  p->region = rheos_region_ref(region);
  p->device = op->device != NULL ? rheos__strdup(op->device) : NULL;
  if (!find_given(p, op) || (op->device != NULL && p->device == NULL)) {
    free_prepared(p);
    return;
  }
  keep(cache, p);
}

static rheos_status *check_op(const rheos_eager_op *op) {
  if (op->type == NULL) return RHEOS_INVALID("an operation needs a type");
  if (op->num_inputs > INT32_MAX) {
    return RHEOS_INVALID("%zu inputs of a %s: at most %d", op->num_inputs, op->type, INT32_MAX);
  }
  RHEOS_NEED_LIST(op->inputs, op->num_inputs);
  RHEOS_NEED_LIST(op->attrs, op->num_attrs);
  for (size_t i = 0; i < op->num_inputs; ++i) {
    if (op->inputs[i] == NULL) return RHEOS_INVALID("input %zu of %s is NULL", i, op->type);
  }
  for (size_t i = 0; i < op->num_attrs; ++i) {
    if (op->attrs[i].name == NULL || !rheos__attr_value_is_sound(&op->attrs[i].value)) {
      return RHEOS_INVALID("attribute %zu of %s has no name or no valid value", i, op->type);
    }
  }
  return NULL;
}

static rheos_status *find_region(rheos_eager *eager, const rheos_eager_op *op,
                                 rheos_region **out_region) {
  const uint64_t hash = hash_op(op);
  *out_region = find(eager->ops, hash, op);
  if (*out_region != NULL) return NULL;
  const rheos__attrs *attrs = NULL;
  RHEOS_TRY(prepare_region(eager, op, &attrs, out_region));
  remember(eager->ops, hash, op, attrs, *out_region);
  return NULL;
}

// Whole numbers and truth values that lie on a card are computed with there, as in plans: else the
// program would wait for them. NULL: nothing speaks for a device.
static const char *device_of_inputs(const rheos_eager_op *op) {
  const char *found = NULL;
  for (size_t i = 0; i < op->num_inputs; ++i) {
    const rheos_tensor *input = op->inputs[i];
    if (input->dtype != RHEOS_BOOL && !rheos_dtype_is_integer(input->dtype)) return NULL;
    if (found == NULL && input->memory != NULL) found = input->memory->device;
  }
  return found;
}

static rheos_status *read_op(const rheos_eager_op *op, size_t op_bytes, rheos_eager_op *out_known) {
  RHEOS_TRY(RHEOS_READ_OPTIONS(rheos_eager_op, op, op_bytes, out_known));
  RHEOS_TRY(check_op(out_known));
  if (out_known->device == NULL) out_known->device = device_of_inputs(out_known);
  return NULL;
}

rheos_status *rheos_eager_region_sized(rheos_eager *eager, const rheos_eager_op *op,
                                       size_t op_bytes, rheos_region **out_region) {
  RHEOS_OUT(out_region);
  RHEOS_NEED(eager, op);
  rheos_eager_op known;
  RHEOS_TRY(read_op(op, op_bytes, &known));
  return find_region(eager, &known, out_region);
}

rheos_status *rheos_eager_execute_sized(rheos_eager *eager, const rheos_eager_op *op,
                                        size_t op_bytes, rheos_tensor **out_outputs,
                                        size_t num_outputs) {
  RHEOS_NEED(eager, op);
  RHEOS_NEED_LIST(out_outputs, num_outputs);
  for (size_t i = 0; i < num_outputs; ++i) out_outputs[i] = NULL;
  rheos_eager_op known;
  RHEOS_TRY(read_op(op, op_bytes, &known));
  rheos_region *region;
  RHEOS_TRY(find_region(eager, &known, &region));
  rheos_status *status = NULL;
  if ((size_t)region->num_fetches > num_outputs) {
    status = RHEOS_INVALID("%s has %d outputs, there is room for %zu", known.type,
                           (int)region->num_fetches, num_outputs);
  } else {
    status = rheos_region_run(region, known.inputs, out_outputs, NULL);
  }
  rheos_region_unref(region);
  return status;
}

// ---- Places

static const rheos__device *find_device(const rheos_host *host, const rheos__device_name *name) {
  for (int32_t i = 0; i < host->num_devices; ++i) {
    if (rheos__device_name_matches(name, &host->devices[i]->parsed_name)) return host->devices[i];
  }
  return NULL;
}

static rheos_status *no_device(const rheos_host *host, const char *device) {
  rheos__text text = {0};
  for (int32_t i = 0; i < host->num_devices; ++i) {
    if (i > 0) rheos__text_add_string(&text, ", ");
    rheos__text_add_string(&text, host->devices[i]->name);
  }
  rheos_status *status =
      text.failed ? rheos__out_of_memory()
                  : RHEOS_INVALID("%s unknown device. There are [ %s ]", device, text.data);
  rheos__text_deinit(&text);
  return status;
}

// The gradient of a copy.
static rheos_status *pass_on(void *argument, rheos_tensor *const *out_gradients, size_t num_outputs,
                             rheos_tensor_gradient *in_gradients, size_t num_inputs) {
  (void)argument, (void)num_outputs, (void)num_inputs;
  in_gradients[0].values = rheos_tensor_ref(out_gradients[0]);
  return NULL;
}

rheos_status *rheos_eager_copy(rheos_eager *eager, rheos_tensor *tensor, const char *device,
                               rheos_tensor **out_tensor) {
  RHEOS_OUT(out_tensor);
  RHEOS_NEED(eager, tensor, device);
  rheos__device_name name;
  RHEOS_TRY(rheos__device_name_parse(device, &name));
  const rheos_host *host = eager->home.host;
  const rheos__device *found = find_device(host, &name);
  if (found == NULL) return no_device(host, device);
  if (tensor->memory == found->memory || !rheos__is_plain(tensor->dtype)) {
    *out_tensor = rheos_tensor_ref(tensor);
    return NULL;
  }
  RHEOS_TRY(rheos__tensor_copy_to(tensor, found->memory, out_tensor));
  rheos_status *status = rheos_eager_record(eager, &tensor, 1, out_tensor, 1, pass_on, NULL, NULL);
  if (status != NULL) {
    rheos_tensor_unref(*out_tensor);
    *out_tensor = NULL;
  }
  return status;
}

// ---- Variables

rheos_status *rheos_eager_variable(rheos_eager *eager, rheos_dtype dtype, const char *name,
                                   rheos_tensor **out_handle) {
  RHEOS_OUT(out_handle);
  RHEOS_NEED(eager);
  if (rheos_dtype_size(dtype) == 0 || rheos_dtype_is_ref(dtype)) {
    return RHEOS_INVALID("a variable cannot be of dtype %d", (int)dtype);
  }
  rheos__resource *cell = NULL;
  RHEOS_TRY(
      rheos__resource_new(&rheos__variable_kind, name != NULL ? name : "Variable", &dtype, &cell));
  return rheos__cell_handle_take(cell, out_handle);
}
