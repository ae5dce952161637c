// The graph: storage of nodes and what they share, and the functions that look at it. Writers hold
// the mutex; readers follow pointers that were published before the number of nodes was.
#include "graph/graph.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/status_within.h"
#include "graph/graph_impl.h"
#include "graph/library.h"

// ---- Life

static bool init_mutex(pthread_mutex_t *mutex) {
  pthread_mutexattr_t attributes;
  if (pthread_mutexattr_init(&attributes) != 0) return false;
  bool made = pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE) == 0 &&
              pthread_mutex_init(mutex, &attributes) == 0;
  pthread_mutexattr_destroy(&attributes);
  return made;
}

rheos_graph *rheos_graph_new(void) {
  rheos_graph *graph = rheos__alloc_zeroed(sizeof *graph);
  if (graph == NULL) return NULL;
  if (!init_mutex(&graph->mutex)) {
    rheos__free(graph);
    return NULL;
  }
  pthread_mutex_init(&graph->extending, NULL);
  pthread_cond_init(&graph->no_reader, NULL);
  atomic_init(&graph->references, 1);
  rheos__arena_init(&graph->arena);
  rheos__names_init(&graph->names);
  graph->const_signature = rheos__signature_by_name("Const");
  return graph;
}

rheos_graph *rheos_graph_ref(rheos_graph *graph) {
  if (graph != NULL) atomic_fetch_add_explicit(&graph->references, 1, memory_order_relaxed);
  return graph;
}

static void free_collections(rheos_graph *graph) {
  for (size_t i = 0; i < graph->num_collections; i++) {
    rheos__collection *collection = &graph->collections[i];
    for (size_t k = 0; k < collection->count; k++) rheos__free(collection->items[k].bytes.data);
    rheos__free(collection->items);
  }
  rheos__free(graph->collections);
}

static void free_one(rheos_graph *graph) {
  rheos__library_free(graph);
  if (graph->train_slot.release != NULL) graph->train_slot.release(graph->train_slot.data);
  if (graph->autodiff_slot.release != NULL) {
    graph->autodiff_slot.release(graph->autodiff_slot.data);
  }
  if (graph->format_slot.release != NULL) graph->format_slot.release(graph->format_slot.data);
  free_collections(graph);
  for (size_t i = 0; i < graph->attr_sets.num_slots; i++) {
    if (graph->attr_sets.slots[i] != NULL) rheos__attrs_release(graph->attr_sets.slots[i]);
  }
  rheos__free(graph->attr_sets.slots);
  rheos__free(graph->shapes.slots);
  rheos__free(graph->own_ops.slots);
  rheos__free(graph->shape_pairs);
  rheos__consumers_deinit(&graph->consumers);
  rheos__interner_deinit(&graph->strings);
  rheos__contexts_deinit(&graph->contexts);
  rheos__names_deinit(&graph->names);
  rheos__arena_deinit(&graph->arena);
  pthread_cond_destroy(&graph->no_reader);
  pthread_mutex_destroy(&graph->extending);
  pthread_mutex_destroy(&graph->mutex);
  rheos__free(graph);
}

static bool is_last(rheos_graph *graph) {
  return atomic_fetch_sub_explicit(&graph->references, 1, memory_order_acq_rel) == 1;
}

// A body goes with the functions that only it calls, which may be many deep.
void rheos_graph_unref(rheos_graph *graph) {
  if (graph == NULL || !is_last(graph)) return;
  for (rheos_graph *all = graph; all != NULL;) {
    rheos_graph *next = all;
    all = next->next_to_free;
    for (size_t i = 0; i < next->num_called; ++i) {
      rheos_graph *called = next->called[i]->graph;
      if (!is_last(called)) continue;
      called->next_to_free = all;
      all = called;
    }
    free_one(next);
  }
}

static rheos_status *note_pair(rheos_graph *graph, int purpose, const rheos_shape *x,
                               const rheos_shape *y, bool *out_first) {
  *out_first = false;
  const struct rheos__shape_pair pair = {purpose, rheos__intern_shape(graph, x),
                                         rheos__intern_shape(graph, y)};
  if (pair.x == NULL || pair.y == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < graph->num_shape_pairs; i++) {
    const struct rheos__shape_pair *known = &graph->shape_pairs[i];
    if (known->purpose == purpose && known->x == pair.x && known->y == pair.y) return NULL;
  }
  if (!RHEOS_RESERVE(graph->shape_pairs, graph->shape_pair_capacity, graph->num_shape_pairs + 1)) {
    return rheos__out_of_memory();
  }
  graph->shape_pairs[graph->num_shape_pairs++] = pair;
  *out_first = true;
  return NULL;
}

rheos_status *rheos__graph_note_shapes(rheos_graph *graph, int purpose, const rheos_shape *x,
                                       const rheos_shape *y, bool *out_first) {
  rheos__graph_lock(graph);
  rheos_status *status = note_pair(graph, purpose, x, y, out_first);
  rheos__graph_unlock(graph);
  return status;
}

void rheos__graph_lock(rheos_graph *graph) { pthread_mutex_lock(&graph->mutex); }

void rheos__graph_unlock(rheos_graph *graph) { pthread_mutex_unlock(&graph->mutex); }

void rheos__graph_begin_reading(rheos_graph *graph) {
  pthread_mutex_lock(&graph->extending);
  ++graph->num_readers;
  pthread_mutex_unlock(&graph->extending);
}

void rheos__graph_end_reading(rheos_graph *graph) {
  pthread_mutex_lock(&graph->extending);
  if (--graph->num_readers == 0) pthread_cond_broadcast(&graph->no_reader);
  pthread_mutex_unlock(&graph->extending);
}

int64_t rheos__graph_num_changes(const rheos_graph *graph) {
  return atomic_load_explicit(&graph->num_changes, memory_order_acquire);
}

void rheos__graph_changed(rheos_graph *graph) {
  atomic_fetch_add_explicit(&graph->num_changes, 1, memory_order_release);
}

rheos__graph_slot *rheos__graph_train_slot(rheos_graph *graph) { return &graph->train_slot; }

rheos__graph_slot *rheos__graph_autodiff_slot(rheos_graph *graph) { return &graph->autodiff_slot; }

rheos__graph_slot *rheos__graph_format_slot(rheos_graph *graph) { return &graph->format_slot; }

size_t rheos__graph_size_bytes(const rheos_graph *graph) {
  return sizeof *graph + graph->arena.total_bytes + rheos__names_size_bytes(&graph->names) +
         rheos__interner_size_bytes(&graph->strings) +
         (graph->shapes.num_slots + graph->attr_sets.num_slots + graph->own_ops.num_slots) *
             sizeof(void *) +
         graph->collections_capacity * sizeof *graph->collections +
         graph->consumers.node_capacity * sizeof *graph->consumers.nodes +
         graph->consumers.use_capacity * sizeof *graph->consumers.uses;
}

// ---- Nodes

rheos__node *rheos__node_at(const rheos_graph *graph, int32_t id) {
  rheos__node **directory = atomic_load_explicit(&graph->directory, memory_order_acquire);
  return &directory[id >> RHEOS__CHUNK_BITS][id & (RHEOS__CHUNK_NODES - 1)];
}

const rheos__node *rheos__graph_node(const rheos_graph *graph, int32_t id) {
  return rheos__node_at(graph, id);
}

static bool grow_directory(rheos_graph *graph) {
  size_t capacity = graph->directory_capacity != 0 ? graph->directory_capacity * 2 : 8;
  rheos__node **directory = rheos__arena_alloc(&graph->arena, capacity * sizeof *directory);
  if (directory == NULL) return false;
  if (graph->num_chunks != 0) {
    memcpy(directory, atomic_load(&graph->directory), graph->num_chunks * sizeof *directory);
  }
  atomic_store_explicit(&graph->directory, directory, memory_order_release);
  assert(capacity > graph->num_chunks);
  graph->directory_capacity = capacity;
  return true;
}

bool rheos__graph_reserve_node(rheos_graph *graph) {
  size_t count = (size_t)atomic_load_explicit(&graph->num_nodes, memory_order_relaxed);
  if (count < graph->num_chunks * RHEOS__CHUNK_NODES) return true;
  if (count + RHEOS__CHUNK_NODES > INT32_MAX) return false;
  if (graph->num_chunks == graph->directory_capacity && !grow_directory(graph)) return false;
  rheos__node *chunk = rheos__arena_alloc(&graph->arena, RHEOS__CHUNK_NODES * sizeof *chunk);
  if (chunk == NULL) return false;
  atomic_load(&graph->directory)[graph->num_chunks++] = chunk;
  return true;
}

int32_t rheos__graph_publish(rheos_graph *graph, const rheos__node *node) {
  int32_t id = atomic_load_explicit(&graph->num_nodes, memory_order_relaxed);
  assert((size_t)id < graph->num_chunks * RHEOS__CHUNK_NODES);  // reserved
  assert(node->num_inputs >= 0 && node->num_control_inputs >= 0 && node->num_outputs >= 0);
  *rheos__node_at(graph, id) = *node;
  atomic_store_explicit(&graph->num_nodes, id + 1, memory_order_release);
  return id;
}

int32_t rheos_graph_num_operations(const rheos_graph *graph) {
  if (graph == NULL) return 0;
  return graph != NULL ? atomic_load_explicit(&graph->num_nodes, memory_order_acquire) : 0;
}

// ---- Interning

const void **rheos__intern_find(const rheos__intern_set *set, uint64_t hash,
                                bool (*same)(const void *candidate, const void *wanted),
                                const void *wanted) {
  if (set->num_slots == 0) return NULL;
  assert((set->num_slots & (set->num_slots - 1)) == 0 && set->count < set->num_slots);
  size_t i = hash & (set->num_slots - 1);
  while (set->slots[i] != NULL && !same(set->slots[i], wanted)) {
    i = (i + 1) & (set->num_slots - 1);
  }
  return &set->slots[i];
}

const void **rheos__intern_slot(rheos__intern_set *set, uint64_t hash,
                                bool (*same)(const void *candidate, const void *wanted),
                                uint64_t (*hash_of)(const void *candidate), const void *wanted) {
  if ((set->count + 1) * 2 > set->num_slots) {
    size_t num_slots = set->num_slots != 0 ? set->num_slots * 2 : 16;
    const void **slots = rheos__alloc_array(num_slots, sizeof *slots);
    if (slots == NULL) return NULL;
    for (size_t i = 0; i < set->num_slots; i++) {
      if (set->slots[i] == NULL) continue;
      size_t k = hash_of(set->slots[i]) & (num_slots - 1);
      while (slots[k] != NULL) k = (k + 1) & (num_slots - 1);
      slots[k] = set->slots[i];
    }
    rheos__free(set->slots);
    set->slots = slots;
    set->num_slots = num_slots;
  }
  return rheos__intern_find(set, hash, same, wanted);
}

static uint64_t hash_of_shape(const void *candidate) {
  const rheos_shape *shape = candidate;
  uint64_t hash = rheos__hash_mix(1, (uint64_t)(int64_t)shape->rank);
  for (int32_t i = 0; i < shape->rank; i++) {
    hash = rheos__hash_mix(hash, (uint64_t)shape->dims[i]);
  }
  return hash;
}

static bool same_shape(const void *candidate, const void *wanted) {
  return rheos_shape_equal(candidate, wanted);
}

const rheos_shape *rheos__intern_shape(rheos_graph *graph, const rheos_shape *shape) {
  const void **slot =
      rheos__intern_slot(&graph->shapes, hash_of_shape(shape), same_shape, hash_of_shape, shape);
  if (slot == NULL) return NULL;
  if (*slot == NULL) {
    *slot = rheos__arena_copy(&graph->arena, shape, sizeof *shape);
    graph->shapes.count += *slot != NULL;
  }
  return *slot;
}

const char *rheos__intern_text(rheos_graph *graph, const char *text, size_t length) {
  uint32_t number;
  if (!rheos__intern(&graph->strings, &graph->arena, text, length, &number)) return NULL;
  return rheos__interned(&graph->strings, number);
}

// ---- Names

static size_t format_name(const rheos_graph *graph, uint32_t entry, char *buffer,
                          size_t size_bytes) {
  rheos_graph *locked = (rheos_graph *)(uintptr_t)graph;
  rheos__graph_lock(locked);
  size_t length = rheos__names_format(&graph->names, entry, buffer, size_bytes);
  rheos__graph_unlock(locked);
  return length;
}

char *rheos__node_name(const rheos_graph *graph, const rheos__node *node) {
  size_t length = format_name(graph, node->name, NULL, 0);
  char *name = rheos__alloc(length + 1);
  if (name != NULL) format_name(graph, node->name, name, length + 1);
  return name;
}

rheos_status *rheos__status_at_take(rheos_status *status, const rheos_graph *graph, int32_t id) {
  if (status == NULL) return NULL;
  assert(id >= 0 && id < rheos_graph_num_operations(graph));
  const rheos__node *node = rheos__graph_node(graph, id);
  char *name = rheos__node_name(graph, node);
  if (name == NULL) return status;
  const char *file;
  int32_t line;
  rheos_operation operation = {(rheos_graph *)(uintptr_t)graph, id};
  rheos_operation_source(operation, &file, &line);
  status = rheos__status_at_node_take(status, name, file, line);
  rheos__free(name);
  return status;
}

rheos_status *rheos__status_within_node_take(rheos_status *status, const char *role,
                                             const rheos_graph *graph, int32_t id) {
  if (status == NULL) return NULL;
  char *name = rheos__node_name(graph, rheos__graph_node(graph, id));
  if (name == NULL) return status;
  const char *file;
  int32_t line;
  rheos_operation_source((rheos_operation){(rheos_graph *)(uintptr_t)graph, id}, &file, &line);
  status = rheos__status_within_take(status, role, name, file, line);
  rheos__free(name);
  return status;
}

// The node of exactly this name, or -1.
static int32_t find_node(rheos_graph *graph, const char *name, size_t length) {
  rheos__graph_lock(graph);
  uint32_t entry = rheos__names_find(&graph->names, name, length);
  int32_t id = entry != 0 ? graph->names.entries[entry].node : -1;
  rheos__graph_unlock(graph);
  return id;
}

rheos_operation rheos_graph_operation(rheos_graph *graph, const char *name) {
  if (graph == NULL || name == NULL) return (rheos_operation){0};
  int32_t id = graph != NULL && name != NULL ? find_node(graph, name, strlen(name)) : -1;
  return id >= 0 ? (rheos_operation){graph, id} : (rheos_operation){0};
}

// Splits "name:3" into the length of the name and 3; false if what follows ":" is no number.
static bool split_output_name(const char *name, size_t *out_length, int32_t *out_index) {
  const char *colon = strchr(name, ':');
  *out_index = 0;
  *out_length = colon != NULL ? (size_t)(colon - name) : strlen(name);
  if (*out_length == 0 || !rheos__name_is_valid(0, name, *out_length)) return false;
  if (colon == NULL) return true;
  size_t digits = strspn(colon + 1, "0123456789");
  if (digits == 0 || digits > 9 || colon[1 + digits] != '\0') return false;
  for (size_t i = 1; i <= digits; i++) *out_index = *out_index * 10 + (colon[i] - '0');
  return true;
}

rheos_status *rheos_graph_output(rheos_graph *graph, const char *name, rheos_output *out_output) {
  RHEOS_OUT(out_output);
  RHEOS_NEED(graph, name);
  size_t length;
  int32_t index;
  if (name == NULL || !split_output_name(name, &length, &index)) {
    return RHEOS_INVALID(
        "'%s' is not a name of a tensor: those have the form "
        "\"<op_name>:<output_index>\"",
        name != NULL ? name : "");
  }
  int32_t id = find_node(graph, name, length);
  if (id < 0) {
    return RHEOS_NOTFOUND(
        "The name '%s' refers to a Tensor which does not exist. The operation, "
        "'%.*s', does not exist in the graph.",
        name, (int)length, name);
  }
  int32_t num_outputs = rheos__graph_node(graph, id)->num_outputs;
  if (index >= num_outputs) {
    return RHEOS_NOTFOUND(
        "The name '%s' refers to a Tensor which does not exist. The operation, "
        "'%.*s', exists but only has %d outputs.",
        name, (int)length, name, num_outputs);
  }
  *out_output = (rheos_output){graph, id, index};
  return NULL;
}

// ---- Looking at operations

const rheos__node *rheos__node_of(rheos_operation operation) {
  if (operation.id < 0 || operation.id >= rheos_graph_num_operations(operation.graph)) return NULL;
  return rheos__graph_node(operation.graph, operation.id);
}

rheos__node_output *rheos__output_of(rheos_output output) {
  const rheos__node *node = rheos__node_of(rheos_output_operation(output));
  if (node == NULL || output.index < 0 || output.index >= node->num_outputs) return NULL;
  return &node->outputs[output.index];
}

size_t rheos_operation_name(rheos_operation operation, char *buffer, size_t size_bytes) {
  if (buffer == NULL) size_bytes = 0;
  const rheos__node *node = rheos__node_of(operation);
  if (node != NULL) return format_name(operation.graph, node->name, buffer, size_bytes);
  if (size_bytes > 0) buffer[0] = '\0';
  return 0;
}

const char *rheos_operation_type(rheos_operation operation) {
  const rheos__node *node = rheos__node_of(operation);
  return node != NULL ? node->signature->op->name : "";
}

const char *rheos_operation_device(rheos_operation operation) {
  const rheos__node *node = rheos__node_of(operation);
  return node != NULL ? node->device : "";
}

int32_t rheos_operation_num_inputs(rheos_operation operation) {
  const rheos__node *node = rheos__node_of(operation);
  return node != NULL ? node->num_inputs : 0;
}

rheos_output rheos_operation_input(rheos_operation operation, int32_t index) {
  const rheos__node *node = rheos__node_of(operation);
  if (node == NULL || index < 0 || index >= node->num_inputs) return (rheos_output){0};
  return (rheos_output){operation.graph, node->edges[index].id, node->edges[index].index};
}

int32_t rheos_operation_num_control_inputs(rheos_operation operation) {
  const rheos__node *node = rheos__node_of(operation);
  return node != NULL ? node->num_control_inputs : 0;
}

rheos_operation rheos_operation_control_input(rheos_operation operation, int32_t index) {
  const rheos__node *node = rheos__node_of(operation);
  if (node == NULL || index < 0 || index >= node->num_control_inputs) {
    return (rheos_operation){0};
  }
  return (rheos_operation){operation.graph, node->edges[node->num_inputs + index].id};
}

int32_t rheos_operation_num_outputs(rheos_operation operation) {
  const rheos__node *node = rheos__node_of(operation);
  return node != NULL ? node->num_outputs : 0;
}

int32_t rheos_operation_num_attrs(rheos_operation operation) {
  const rheos__node *node = rheos__node_of(operation);
  return node != NULL ? node->attrs->count : 0;
}

rheos_attr rheos_operation_attr_at(rheos_operation operation, int32_t index) {
  const rheos__node *node = rheos__node_of(operation);
  if (node == NULL || index < 0 || index >= node->attrs->count) return (rheos_attr){0};
  return node->attrs->items[index];
}

rheos_attr_value rheos_operation_attr(rheos_operation operation, const char *name) {
  if (name == NULL) return (rheos_attr_value){0};
  const rheos__node *node = rheos__node_of(operation);
  const rheos_attr_value *value = node != NULL ? rheos__attrs_find(node->attrs, name) : NULL;
  return value != NULL ? *value : (rheos_attr_value){0};
}

void rheos_operation_source(rheos_operation operation, const char **out_file, int32_t *out_line) {
  const rheos__node *node = rheos__node_of(operation);
  if (out_file != NULL) *out_file = NULL;
  if (out_line != NULL) *out_line = 0;
  if (node == NULL || node->source_file == 0 || out_file == NULL || out_line == NULL) return;
  rheos__graph_lock(operation.graph);
  *out_file = rheos__interned(&operation.graph->strings, node->source_file);
  rheos__graph_unlock(operation.graph);
  *out_line = (int32_t)node->source_line;
}

rheos_dtype rheos_output_dtype(rheos_output output) {
  const rheos__node_output *o = rheos__output_of(output);
  return o != NULL ? o->dtype : RHEOS_INVALID_DTYPE;
}

rheos_shape rheos_output_shape(rheos_output output) {
  const rheos__node_output *o = rheos__output_of(output);
  return o != NULL ? *__atomic_load_n(&o->shape, __ATOMIC_ACQUIRE) : RHEOS_UNKNOWN_SHAPE;
}

rheos_tensor *rheos__const_value(const rheos_graph *graph, rheos__edge edge) {
  const rheos__node *node = rheos__graph_node(graph, edge.id);
  if (node->signature != graph->const_signature) return NULL;
  const rheos_attr_value *value = rheos__attrs_find(node->attrs, "value");
  return value != NULL && value->kind == RHEOS_ATTR_TENSOR ? value->tensor : NULL;
}

// ---- Seeds

void rheos_graph_set_seed(rheos_graph *graph, bool has_seed, int64_t seed) {
  if (graph == NULL) return;
  rheos__graph_lock(graph);
  graph->has_seed = has_seed;
  graph->seed = seed;
  rheos__graph_unlock(graph);
}

// Into [0, 2^31 - 1), as Python's modulo does.
static int64_t truncate_seed(int64_t seed) {
  int64_t rest = seed % INT32_MAX;
  return rest < 0 ? rest + INT32_MAX : rest;
}

void rheos__graph_op_seeds(rheos_graph *graph, bool has_op_seed, int64_t op_seed, int64_t *out_seed,
                           int64_t *out_seed2) {
  enum { DEFAULT_GRAPH_SEED = 87654321 };
  *out_seed = *out_seed2 = 0;
  rheos__graph_lock(graph);
  bool has_seed = graph->has_seed;
  int64_t seed = has_seed ? graph->seed : DEFAULT_GRAPH_SEED;
  if (!has_op_seed) op_seed = rheos_graph_num_operations(graph);
  rheos__graph_unlock(graph);
  if (!has_seed && !has_op_seed) return;
  *out_seed = truncate_seed(seed);
  *out_seed2 = truncate_seed(op_seed);
  // Two zeros would ask for a seed from the clock.
  if (*out_seed == 0 && *out_seed2 == 0) *out_seed2 = INT32_MAX;
}
