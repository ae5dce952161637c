// Tapes: what was computed from which tensors, in order; walked backwards for gradients. Each
// tensor that a region gives is one of its own, so tensors are known by their addresses.
#include <rheos/eager.h>

#include <assert.h>
#include <rheos/front_end.h>
#include <string.h>

#include "base/hash.h"
#include "runtime/eager/region.h"

enum { FEW = 16 };

typedef struct entry {
  rheos_region *region;  // NULL: the program's own
  rheos_backward_function backward;
  struct program_gradient *program;
  rheos_tensor **tensors;  // the inputs, then the outputs
  int32_t num_inputs, num_outputs;
} entry;

// What several tapes may share of what the program told.
typedef struct program_gradient {
  _Atomic int32_t references;
  void *argument;
  void (*release)(void *argument);
} program_gradient;

// A set of tensors by address, each with a number. Open addressing, at most half full.
typedef struct tensor_set {
  struct slot {
    rheos_tensor *tensor;
    int32_t number;
  } *slots;
  size_t capacity, count;
} tensor_set;

struct rheos_tape {
  rheos_eager *eager;
  rheos_tape *next;  // that records
  pthread_t thread;
  bool is_recording;
  tensor_set watched;  // with references: what is watched or computed from it
  entry *entries;
  size_t capacity, count;
};

// ---- Sets

static struct slot *slot_of(const tensor_set *set, const rheos_tensor *tensor) {
  const size_t mask = set->capacity - 1;
  size_t i = (size_t)rheos__hash_mix(0, (uint64_t)(uintptr_t)tensor) & mask;
  while (set->slots[i].tensor != NULL && set->slots[i].tensor != tensor) i = (i + 1) & mask;
  return &set->slots[i];
}

static struct slot *find(const tensor_set *set, const rheos_tensor *tensor) {
  if (set->count == 0) return NULL;
  struct slot *slot = slot_of(set, tensor);
  return slot->tensor != NULL ? slot : NULL;
}

#ifdef NDEBUG
static void check_set(const tensor_set *set) { (void)set; }
#else
// Each tensor is found where it is, and half of the slots are free.
static void check_set(const tensor_set *set) {
  size_t count = 0;
  assert((set->capacity & (set->capacity - 1)) == 0 && set->count * 2 <= set->capacity);
  for (size_t i = 0; i < set->capacity; ++i) {
    if (set->slots[i].tensor == NULL) continue;
    assert(slot_of(set, set->slots[i].tensor) == &set->slots[i]);
    ++count;
  }
  assert(count == set->count);
}
#endif

static bool grow(tensor_set *set) {
  if ((set->count + 1) * 2 <= set->capacity) return true;
  tensor_set larger = {.capacity = set->capacity != 0 ? set->capacity * 2 : 32};
  larger.slots = rheos__alloc_array(larger.capacity, sizeof *larger.slots);
  if (larger.slots == NULL) return false;
  for (size_t i = 0; i < set->capacity; ++i) {
    if (set->slots[i].tensor != NULL) *slot_of(&larger, set->slots[i].tensor) = set->slots[i];
  }
  larger.count = set->count;
  rheos__free(set->slots);
  *set = larger;
  check_set(set);
  return true;
}

// The slot of the tensor, new ones with that number; NULL when memory is short.
static struct slot *put(tensor_set *set, rheos_tensor *tensor, int32_t number, bool *out_new) {
  *out_new = false;
  if (!grow(set)) return NULL;
  struct slot *slot = slot_of(set, tensor);
  if (slot->tensor != NULL) return slot;
  *slot = (struct slot){tensor, number};
  ++set->count;
  *out_new = true;
  return slot;
}

// ---- Life

rheos_status *rheos_tape_new(rheos_eager *eager, rheos_tape **out_tape) {
  RHEOS_OUT(out_tape);
  RHEOS_NEED(eager);
  rheos_tape *tape = rheos__alloc_zeroed(sizeof *tape);
  if (tape == NULL) return rheos__out_of_memory();
  tape->eager = rheos__eager_ref(eager);
  *out_tape = tape;
  return NULL;
}

static void unref_program(program_gradient *program) {
  if (program == NULL) return;
  if (atomic_fetch_sub_explicit(&program->references, 1, memory_order_acq_rel) != 1) return;
  if (program->release != NULL) program->release(program->argument);
  rheos__free(program);
}

static void entry_deinit(entry *e) {
  for (int32_t i = 0; i < e->num_inputs + e->num_outputs; ++i) rheos_tensor_unref(e->tensors[i]);
  rheos__free(e->tensors);
  rheos_region_unref(e->region);
  unref_program(e->program);
}

// What is released may be the program's own, which may ask for the tape: it is empty already.
void rheos_tape_reset(rheos_tape *tape) {
  if (tape == NULL) return;
  entry *entries = tape->entries;
  const size_t count = tape->count;
  const tensor_set watched = tape->watched;
  tape->entries = NULL;
  tape->capacity = tape->count = 0;
  tape->watched = (tensor_set){0};
  for (size_t i = 0; i < count; ++i) entry_deinit(&entries[i]);
  rheos__free(entries);
  for (size_t i = 0; i < watched.capacity; ++i) rheos_tensor_unref(watched.slots[i].tensor);
  rheos__free(watched.slots);
}

void rheos_tape_free(rheos_tape *tape) {
  if (tape == NULL) return;
  rheos_tape_stop(tape);
  rheos_tape_reset(tape);
  rheos__eager_unref(tape->eager);
  rheos__free(tape);
}

// ---- Recording

rheos_status *rheos_tape_record(rheos_tape *tape) {
  RHEOS_NEED(tape);
  if (tape->is_recording) {
    return rheos_status_new(RHEOS_FAILED_PRECONDITION, "the tape is recording already");
  }
  tape->is_recording = true;
  tape->thread = pthread_self();
  pthread_mutex_lock(&tape->eager->mutex);
  tape->next = tape->eager->tapes;
  tape->eager->tapes = tape;
  atomic_fetch_add(&tape->eager->num_tapes, 1);
  pthread_mutex_unlock(&tape->eager->mutex);
  return NULL;
}

void rheos_tape_stop(rheos_tape *tape) {
  if (tape == NULL || !tape->is_recording) return;
  tape->is_recording = false;
  pthread_mutex_lock(&tape->eager->mutex);
  for (rheos_tape **link = &tape->eager->tapes; *link != NULL; link = &(*link)->next) {
    if (*link != tape) continue;
    *link = tape->next;
    break;
  }
  tape->next = NULL;
  atomic_fetch_sub(&tape->eager->num_tapes, 1);
  pthread_mutex_unlock(&tape->eager->mutex);
}

rheos_status *rheos_tape_watch(rheos_tape *tape, rheos_tensor *tensor) {
  RHEOS_NEED(tape, tensor);
  bool is_new;
  if (put(&tape->watched, tensor, 0, &is_new) == NULL) return rheos__out_of_memory();
  if (is_new) rheos_tensor_ref(tensor);
  return NULL;
}

bool rheos_tape_is_watched(const rheos_tape *tape, const rheos_tensor *tensor) {
  return tape != NULL && tensor != NULL && find(&tape->watched, tensor) != NULL;
}

// The next tape that records on this thread, from `tape` on. A thread's own tapes stay in the list
// while it looks at them; only it takes them out.
static rheos_tape *next_of_thread(rheos_tape *tape) {
  while (tape != NULL && !pthread_equal(tape->thread, pthread_self())) tape = tape->next;
  return tape;
}

static bool wants(const rheos_tape *tape, rheos_tensor *const *inputs, int32_t num_inputs) {
  for (int32_t i = 0; i < num_inputs; ++i) {
    if (rheos__is_differentiable(inputs[i]->dtype) && find(&tape->watched, inputs[i]) != NULL) {
      return true;
    }
  }
  return false;
}

bool rheos__tapes_want(rheos_eager *eager, rheos_tensor *const *inputs, int32_t num_inputs) {
  if (atomic_load_explicit(&eager->num_tapes, memory_order_relaxed) == 0) return false;
  bool found = false;
  pthread_mutex_lock(&eager->mutex);
  for (rheos_tape *tape = next_of_thread(eager->tapes); tape != NULL && !found;
       tape = next_of_thread(tape->next)) {
    found = wants(tape, inputs, num_inputs);
  }
  pthread_mutex_unlock(&eager->mutex);
  return found;
}

bool rheos_eager_is_watched(const rheos_eager *eager, rheos_tensor *const *tensors,
                            size_t num_tensors) {
  if (eager == NULL || tensors == NULL || num_tensors > INT32_MAX) return false;
  for (size_t i = 0; i < num_tensors; ++i) {
    if (tensors[i] == NULL) return false;
  }
  return rheos__tapes_want((rheos_eager *)(uintptr_t)eager, tensors, (int32_t)num_tensors);
}

// Adds the entry, of which the tape gets a copy with references.
static rheos_status *add_entry(rheos_tape *tape, const entry *e, rheos_tensor *const *inputs,
                               rheos_tensor *const *outputs) {
  if (!RHEOS_RESERVE(tape->entries, tape->capacity, tape->count + 1)) return rheos__out_of_memory();
  entry *added = &tape->entries[tape->count];
  *added = *e;
  const size_t count = (size_t)(e->num_inputs + e->num_outputs);
  added->tensors = rheos__alloc(count * sizeof(rheos_tensor *));
  if (added->tensors == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < e->num_outputs; ++i) {
    if (outputs[i] == NULL || !rheos__is_differentiable(outputs[i]->dtype)) continue;
    rheos_status *status = rheos_tape_watch(tape, outputs[i]);
    if (status == NULL) continue;
    rheos__free(added->tensors);
    return status;
  }
  for (int32_t i = 0; i < e->num_inputs; ++i) added->tensors[i] = rheos_tensor_ref(inputs[i]);
  for (int32_t i = 0; i < e->num_outputs; ++i) {
    added->tensors[e->num_inputs + i] = rheos_tensor_ref(outputs[i]);
  }
  rheos_region_ref(added->region);
  if (added->program != NULL) atomic_fetch_add(&added->program->references, 1);
  ++tape->count;
  return NULL;
}

static rheos_status *add_to_tapes(rheos_eager *eager, const entry *e, rheos_tensor *const *inputs,
                                  rheos_tensor *const *outputs) {
  rheos_status *status = NULL;
  pthread_mutex_lock(&eager->mutex);
  for (rheos_tape *tape = next_of_thread(eager->tapes); tape != NULL && status == NULL;
       tape = next_of_thread(tape->next)) {
    if (wants(tape, inputs, e->num_inputs)) status = add_entry(tape, e, inputs, outputs);
  }
  pthread_mutex_unlock(&eager->mutex);
  return status;
}

// Whether the region is one operation that no gradient flows through, such as StopGradient: what is
// computed from its outputs alone depends on nothing.
static bool ends_gradients(const rheos_region *region) {
  if (region->node < 0) return false;
  const rheos__node *node = rheos__graph_node(region->graph, region->node);
  return node->signature->op->gradient == rheos__no_gradient &&
         rheos__attrs_find(node->attrs, "_gradient_op_type") == NULL;
}

rheos_status *rheos__tapes_remember(rheos_region *region, rheos_tensor *const *inputs,
                                    rheos_tensor *const *outputs) {
  if (ends_gradients(region)) return NULL;
  const entry e = {
      .region = region, .num_inputs = region->num_feeds, .num_outputs = region->num_fetches};
  return add_to_tapes(region->eager, &e, inputs, outputs);
}

rheos_status *rheos_eager_record(rheos_eager *eager, rheos_tensor *const *inputs, size_t num_inputs,
                                 rheos_tensor *const *outputs, size_t num_outputs,
                                 rheos_backward_function backward, void *argument,
                                 void (*release)(void *argument)) {
  rheos_status *status = NULL;
  if (eager == NULL || backward == NULL) status = rheos__not_given(__func__, "eager, backward");
  if (status == NULL) status = RHEOS_LIST_STATUS(inputs, num_inputs);
  if (status == NULL) status = RHEOS_LIST_STATUS(outputs, num_outputs);
  for (size_t i = 0; status == NULL && i < num_inputs; ++i) {
    if (inputs[i] == NULL) status = RHEOS_INVALID("inputs[%zu] is NULL", i);
  }
  for (size_t i = 0; status == NULL && i < num_outputs; ++i) {
    if (outputs[i] == NULL) status = RHEOS_INVALID("outputs[%zu] is NULL", i);
  }
  program_gradient *program = status == NULL ? rheos__alloc_zeroed(sizeof *program) : NULL;
  if (program == NULL) {
    if (release != NULL) release(argument);
    return status != NULL ? status : rheos__out_of_memory();
  }
  atomic_init(&program->references, 1);
  program->argument = argument;
  program->release = release;
  const entry e = {.backward = backward,
                   .program = program,
                   .num_inputs = (int32_t)num_inputs,
                   .num_outputs = (int32_t)num_outputs};
  status = add_to_tapes(eager, &e, inputs, outputs);
  unref_program(program);
  return status;
}

// ---- Gradients

// The gradients that have arrived at one tensor.
typedef struct arrival {
  rheos_tensor_gradient gradient;
  int32_t next;  // one more than an index; 0: the last
} arrival;

typedef struct walk {
  rheos_tape *tape;
  rheos_eager *eager;
  size_t num_entries;  // of the tape, when the walk began
  tensor_set reached;  // what depends on a source
  tensor_set heads;    // by tensor: one more than the first of its arrivals
  arrival *arrivals;
  size_t capacity, count;
  // For the entry at hand
  rheos_tensor **out_grads, **tensors, **results;
  rheos_tensor_gradient *in_grads;
  bool *mask;
  size_t room;
} walk;

static void gradient_deinit(rheos_tensor_gradient *gradient) {
  rheos_tensor_unref(gradient->values);
  rheos_tensor_unref(gradient->indices);
  rheos_tensor_unref(gradient->dense_shape);
  *gradient = (rheos_tensor_gradient){0};
}

static void walk_deinit(walk *w) {
  for (size_t i = 0; i < w->count; ++i) gradient_deinit(&w->arrivals[i].gradient);
  rheos__free(w->arrivals);
  rheos__free(w->reached.slots);
  rheos__free(w->heads.slots);
  rheos__free(w->out_grads);
  rheos__free(w->tensors);
  rheos__free(w->results);
  rheos__free(w->in_grads);
  rheos__free(w->mask);
}

static rheos_status *run1(rheos_eager *eager, const char *type, rheos_tensor *const *inputs,
                          size_t num_inputs, rheos_tensor **out_result) {
  const rheos_eager_op op = {.type = type, .inputs = inputs, .num_inputs = num_inputs};
  return rheos_eager_execute(eager, &op, out_result, 1);
}

// Notes a gradient of the tensor; it is taken, on failure too.
static rheos_status *arrive(walk *w, rheos_tensor *tensor, rheos_tensor_gradient *gradient) {
  bool is_new;
  struct slot *slot = NULL;
  if (RHEOS_RESERVE(w->arrivals, w->capacity, w->count + 1)) {
    slot = put(&w->heads, tensor, 0, &is_new);
  }
  if (slot == NULL) {
    gradient_deinit(gradient);
    return rheos__out_of_memory();
  }
  w->arrivals[w->count] = (arrival){.gradient = *gradient};
  *gradient = (rheos_tensor_gradient){0};
  const int32_t added = (int32_t)++w->count;
  if (slot->number == 0) {
    slot->number = added;
    return NULL;
  }
  arrival *last = &w->arrivals[slot->number - 1];
  while (last->next != 0) last = &w->arrivals[last->next - 1];
  last->next = added;
  return NULL;
}

// ---- Sums

// The element 0 of a vector.
static rheos_status *first_element(const rheos_tensor *vector, rheos_tensor **out_element) {
  RHEOS_TRY(rheos_tensor_new(vector->dtype, RHEOS_SCALAR, out_element));
  memcpy((*out_element)->data, vector->data, rheos_dtype_size(vector->dtype));
  return NULL;
}

// Rows become a whole tensor, in their place.
static rheos_status *make_dense(walk *w, rheos_tensor_gradient *gradient) {
  if (gradient->indices == NULL) return NULL;
  const rheos_tensor *shape = gradient->dense_shape;
  if (shape == NULL || shape->num_elements == 0) {
    return RHEOS_INVALID("a sparse gradient has no dense shape");
  }
  rheos_tensor *rows = NULL, *dense = NULL;
  RHEOS_TRY(first_element(shape, &rows));
  rheos_tensor *inputs[] = {gradient->values, gradient->indices, rows};
  rheos_status *status = run1(w->eager, "UnsortedSegmentSum", inputs, 3, &dense);
  rheos_tensor_unref(rows);
  if (status != NULL) return status;
  gradient_deinit(gradient);
  gradient->values = dense;
  return NULL;
}

static rheos_status *concat(walk *w, rheos_tensor **parts, size_t count, rheos_tensor **out) {
  rheos_tensor *axis = NULL;
  RHEOS_TRY(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &(int32_t){0}, &axis));
  parts[count] = axis;
  const rheos_eager_op op = {.type = "ConcatV2", .inputs = parts, .num_inputs = count + 1};
  rheos_status *status = rheos_eager_execute(w->eager, &op, out, 1);
  rheos_tensor_unref(axis);
  return status;
}

// The rows of all, which are sparse, as the first's.
static rheos_status *join_rows(walk *w, rheos_tensor_gradient *const *all, size_t count,
                               rheos_tensor **parts) {
  rheos_tensor *values = NULL, *indices = NULL;
  for (size_t i = 0; i < count; ++i) parts[i] = all[i]->values;
  rheos_status *status = concat(w, parts, count, &values);
  for (size_t i = 0; i < count; ++i) parts[i] = all[i]->indices;
  if (status == NULL) status = concat(w, parts, count, &indices);
  if (status != NULL) {
    rheos_tensor_unref(values);
    return status;
  }
  rheos_tensor_unref(all[0]->values);
  rheos_tensor_unref(all[0]->indices);
  all[0]->values = values;
  all[0]->indices = indices;
  return NULL;
}

static rheos_status *sum_dense(walk *w, rheos_tensor_gradient *const *all, size_t count,
                               rheos_tensor **parts) {
  rheos_tensor *sum = NULL;
  for (size_t i = 0; i < count; ++i) {
    RHEOS_TRY(make_dense(w, all[i]));
    parts[i] = all[i]->values;
  }
  RHEOS_TRY(run1(w->eager, "AddN", parts, count, &sum));
  rheos_tensor_unref(all[0]->values);
  all[0]->values = sum;
  return NULL;
}

static rheos_status *sum_into_first(walk *w, rheos_tensor_gradient *const *all, size_t count,
                                    rheos_tensor **parts) {
  bool sparse = true, same_indices = true;
  for (size_t i = 0; i < count; ++i) {
    sparse = sparse && all[i]->indices != NULL;
    same_indices = same_indices && sparse && all[i]->indices->dtype == all[0]->indices->dtype;
  }
  return sparse && same_indices ? join_rows(w, all, count, parts) : sum_dense(w, all, count, parts);
}

// The sum of all gradients that have arrived, which are one then; `*out_gradient` is borrowed, NULL
// if there is none.
static rheos_status *arrived(walk *w, const rheos_tensor *tensor,
                             rheos_tensor_gradient **out_gradient) {
  *out_gradient = NULL;
  const struct slot *slot = find(&w->heads, tensor);
  if (slot == NULL || slot->number == 0) return NULL;
  arrival *first = &w->arrivals[slot->number - 1];
  *out_gradient = &first->gradient;
  if (first->next == 0) return NULL;
  size_t count = 0;
  for (int32_t i = slot->number; i != 0; i = w->arrivals[i - 1].next) ++count;
  rheos_tensor_gradient **all = rheos__alloc_array(count, sizeof *all);
  rheos_tensor **parts = rheos__alloc_array(count + 1, sizeof *parts);
  rheos_status *status = all == NULL || parts == NULL ? rheos__out_of_memory() : NULL;
  size_t at = 0;
  for (int32_t i = slot->number; status == NULL && i != 0; i = w->arrivals[i - 1].next) {
    all[at++] = &w->arrivals[i - 1].gradient;
  }
  if (status == NULL) status = sum_into_first(w, all, count, parts);
  if (status == NULL) {
    for (size_t i = 1; i < count; ++i) gradient_deinit(all[i]);
    first->next = 0;
  }
  rheos__free(all);
  rheos__free(parts);
  return status;
}

// ---- One entry

static bool make_room(walk *w, size_t count) {
  if (count <= w->room) return true;
  size_t capacity = w->room;
  if (!RHEOS_RESERVE(w->out_grads, capacity, count)) return false;
  capacity = w->room;
  if (!RHEOS_RESERVE(w->tensors, capacity, count)) return false;
  capacity = w->room;
  if (!RHEOS_RESERVE(w->in_grads, capacity, count)) return false;
  capacity = w->room;
  if (!RHEOS_RESERVE(w->results, capacity, count)) return false;
  capacity = w->room;
  if (!RHEOS_RESERVE(w->mask, capacity, count)) return false;
  w->room = capacity;
  return true;
}

// What the region that is the gradient takes and gives.
static rheos_status *run_gradient(walk *w, const entry *e, const rheos__region_gradient *gradient) {
  rheos_region *region = gradient->region;
  for (int32_t i = 0; i < region->num_feeds; ++i) {
    const rheos__backward_input *input = &gradient->inputs[i];
    w->tensors[i] = input->source == RHEOS__BACKWARD_INPUT ? e->tensors[input->index]
                    : input->source == RHEOS__BACKWARD_OUTPUT
                        ? e->tensors[e->num_inputs + input->index]
                        : w->out_grads[input->index];
  }
  RHEOS_TRY(rheos_region_run(region, w->tensors, w->results, NULL));
  for (int32_t i = 0; i < e->num_inputs; ++i) {
    const int32_t first = gradient->grads[i].first, count = gradient->grads[i].count;
    if (count == 0) continue;
    w->in_grads[i].values = w->results[first];
    if (count < 3) continue;
    w->in_grads[i].indices = w->results[first + 1];
    w->in_grads[i].dense_shape = w->results[first + 2];
  }
  return NULL;
}

static rheos_status *backward_of_region(walk *w, const entry *e) {
  for (int32_t i = 0; i < e->num_outputs; ++i) w->mask[i] = w->out_grads[i] != NULL;
  for (int32_t i = 0; i < e->num_inputs; ++i) {
    w->mask[e->num_outputs + i] = find(&w->reached, e->tensors[i]) != NULL;
  }
  const rheos__region_gradient *gradient;
  RHEOS_TRY(rheos__gradient_of_region(e->region, w->mask, &gradient));
  return gradient->region != NULL ? run_gradient(w, e, gradient) : NULL;
}

// The zeros that the program's function is given are of no use afterwards.
static rheos_status *backward_of_program(walk *w, const entry *e) {
  for (int32_t i = 0; i < e->num_outputs; ++i) {
    rheos_tensor *output = e->tensors[e->num_inputs + i];
    w->mask[i] = w->out_grads[i] == NULL;
    if (!w->mask[i]) continue;
    rheos_status *status = run1(w->eager, "ZerosLike", &output, 1, &w->out_grads[i]);
    if (status == NULL) continue;
    for (int32_t k = 0; k < i; ++k) {
      if (w->mask[k]) rheos_tensor_unref(w->out_grads[k]);
    }
    return status;
  }
  rheos_status *status = e->backward(e->program->argument, w->out_grads, (size_t)e->num_outputs,
                                     w->in_grads, (size_t)e->num_inputs);
  for (int32_t i = 0; i < e->num_outputs; ++i) {
    if (w->mask[i]) rheos_tensor_unref(w->out_grads[i]);
  }
  return status;
}

static bool depends(const walk *w, const entry *e) {
  for (int32_t i = 0; i < e->num_inputs; ++i) {
    if (rheos__is_differentiable(e->tensors[i]->dtype) && find(&w->reached, e->tensors[i])) {
      return true;
    }
  }
  return false;
}

// The gradients of the outputs, dense; false if there is none.
static rheos_status *collect(walk *w, const entry *e, bool *out_any) {
  *out_any = false;
  for (int32_t i = 0; i < e->num_outputs; ++i) {
    rheos_tensor_gradient *gradient;
    w->out_grads[i] = NULL;
    RHEOS_TRY(arrived(w, e->tensors[e->num_inputs + i], &gradient));
    if (gradient == NULL) continue;
    // Who reads a variable passes on what came.
    const bool passes = e->region != NULL && e->region->reads_variable;
    if (!passes) RHEOS_TRY(make_dense(w, gradient));
    w->out_grads[i] = gradient->values;
    *out_any = true;
  }
  return NULL;
}

static rheos_status *pass_on(walk *w, const entry *e) {
  rheos_tensor_gradient *gradient;
  RHEOS_TRY(arrived(w, e->tensors[e->num_inputs], &gradient));
  w->in_grads[0] = (rheos_tensor_gradient){rheos_tensor_ref(gradient->values),
                                           rheos_tensor_ref(gradient->indices),
                                           rheos_tensor_ref(gradient->dense_shape)};
  return NULL;
}

static rheos_status *go_back(walk *w, size_t index) {
  // The tape may grow, and its entries move, while what it recorded runs again; an entry's tensors
  // stay.
  const entry e = w->tape->entries[index];
  bool any;
  if (!depends(w, &e)) return NULL;
  const size_t count = (size_t)e.num_inputs + (size_t)e.num_outputs;
  if (!make_room(w, 3 * count + 3)) return rheos__out_of_memory();
  RHEOS_TRY(collect(w, &e, &any));
  if (!any) return NULL;
  for (int32_t i = 0; i < e.num_inputs; ++i) w->in_grads[i] = (rheos_tensor_gradient){0};
  rheos_status *status = e.region == NULL           ? backward_of_program(w, &e)
                         : e.region->reads_variable ? pass_on(w, &e)
                                                    : backward_of_region(w, &e);
  for (int32_t i = 0; i < e.num_inputs; ++i) {
    if (w->in_grads[i].values == NULL) continue;
    if (status == NULL && find(&w->reached, e.tensors[i]) != NULL) {
      status = arrive(w, e.tensors[i], &w->in_grads[i]);
    }
    gradient_deinit(&w->in_grads[i]);
  }
  return status;
}

// ---- The whole

static rheos_status *mark_reached(walk *w, rheos_tensor *const *sources, size_t num_sources) {
  bool is_new;
  for (size_t i = 0; i < num_sources; ++i) {
    if (put(&w->reached, sources[i], 0, &is_new) == NULL) return rheos__out_of_memory();
  }
  for (size_t k = 0; k < w->num_entries; ++k) {
    const entry *e = &w->tape->entries[k];
    if (!depends(w, e)) continue;
    for (int32_t i = 0; i < e->num_outputs; ++i) {
      rheos_tensor *output = e->tensors[e->num_inputs + i];
      if (!rheos__is_differentiable(output->dtype)) continue;
      if (put(&w->reached, output, 0, &is_new) == NULL) return rheos__out_of_memory();
    }
  }
  return NULL;
}

static rheos_status *start(walk *w, rheos_tensor *const *targets, size_t num_targets,
                           rheos_tensor *const *output_gradients) {
  for (size_t i = 0; i < num_targets; ++i) {
    rheos_tensor_gradient gradient = {0};
    if (find(&w->reached, targets[i]) == NULL) continue;
    if (output_gradients != NULL && output_gradients[i] != NULL) {
      gradient.values = rheos_tensor_ref(output_gradients[i]);
    } else {
      RHEOS_TRY(run1(w->eager, "OnesLike", &targets[i], 1, &gradient.values));
    }
    RHEOS_TRY(arrive(w, targets[i], &gradient));
  }
  return NULL;
}

static rheos_status *take_gradients(walk *w, rheos_tensor *const *sources, size_t num_sources,
                                    rheos_tensor_gradient *out_gradients) {
  for (size_t i = 0; i < num_sources; ++i) {
    rheos_tensor_gradient *gradient;
    RHEOS_TRY(arrived(w, sources[i], &gradient));
    if (gradient == NULL) continue;
    out_gradients[i] = (rheos_tensor_gradient){rheos_tensor_ref(gradient->values),
                                               rheos_tensor_ref(gradient->indices),
                                               rheos_tensor_ref(gradient->dense_shape)};
  }
  return NULL;
}

static rheos_status *check_tensors(rheos_tensor *const *tensors, size_t count, const char *what) {
  for (size_t i = 0; i < count; ++i) {
    if (tensors[i] == NULL) return RHEOS_INVALID("%s[%zu] is NULL", what, i);
  }
  return NULL;
}

// What is neither watched nor computed from what is has no gradient, unless it is a target itself.
static bool has_gradients(const rheos_tape *tape, const rheos_tensor *source,
                          rheos_tensor *const *targets, size_t num_targets) {
  if (find(&tape->watched, source) != NULL) return true;
  for (size_t i = 0; i < num_targets; ++i) {
    if (targets[i] == source) return true;
  }
  return false;
}

rheos_status *rheos_tape_gradient(rheos_tape *tape, rheos_tensor *const *targets,
                                  size_t num_targets, rheos_tensor *const *output_gradients,
                                  rheos_tensor *const *sources, size_t num_sources,
                                  rheos_tensor_gradient *out_gradients) {
  RHEOS_NEED(tape);
  RHEOS_NEED_LIST(targets, num_targets);
  RHEOS_NEED_LIST(sources, num_sources);
  RHEOS_NEED_LIST(out_gradients, num_sources);
  for (size_t i = 0; i < num_sources; ++i) out_gradients[i] = (rheos_tensor_gradient){0};
  RHEOS_TRY(check_tensors(targets, num_targets, "targets"));
  RHEOS_TRY(check_tensors(sources, num_sources, "sources"));
  walk w = {.tape = tape, .eager = tape->eager, .num_entries = tape->count};
  rheos_status *status = mark_reached(&w, sources, num_sources);
  if (status == NULL) status = start(&w, targets, num_targets, output_gradients);
  for (size_t k = w.num_entries; status == NULL && k-- > 0;) status = go_back(&w, k);
  if (status == NULL) status = take_gradients(&w, sources, num_sources, out_gradients);
  for (size_t i = 0; i < num_sources; ++i) {
    if (status == NULL && has_gradients(tape, sources[i], targets, num_targets)) continue;
    gradient_deinit(&out_gradients[i]);
  }
  walk_deinit(&w);
  return status;
}
