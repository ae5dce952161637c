// Blocks of one mapping that is protected while none of the device's kernels or copies is under
// way.
#include "device/private_device.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "device/cpu/cpu.h"
#include "base/offset_allocator.h"

static const size_t MEMORY_BYTES = (size_t)256 << 20;
enum { PATTERN = 0xdb, ALIGNMENT = 64 };

typedef struct block {
  size_t offset, size_bytes;
  int32_t place;
} block;

typedef struct memory {
  rheos__memory base;
  char *bytes;
  pthread_mutex_t mutex;  // guards what follows
  int num_inside;         // kernels and copies under way
  rheos__offset_allocator space;
  block *blocks;
  size_t num_blocks, block_capacity;
  private_device_counts counts;
} memory;

// ---- Memory

static void enter(memory *m) {
  pthread_mutex_lock(&m->mutex);
  if (m->num_inside++ == 0) mprotect(m->bytes, MEMORY_BYTES, PROT_READ | PROT_WRITE);
  pthread_mutex_unlock(&m->mutex);
}

static void leave(memory *m) {
  pthread_mutex_lock(&m->mutex);
  if (--m->num_inside == 0) mprotect(m->bytes, MEMORY_BYTES, PROT_NONE);
  pthread_mutex_unlock(&m->mutex);
}

static bool is_inside(const memory *m, const void *data, size_t size_bytes) {
  const uintptr_t first = (uintptr_t)m->bytes, at = (uintptr_t)data;
  return at >= first && size_bytes <= MEMORY_BYTES && at - first <= MEMORY_BYTES - size_bytes;
}

static void *allocate(rheos__memory *of, size_t size_bytes) {
  memory *m = (memory *)of;
  block b = {.size_bytes = size_bytes > 0 ? size_bytes : 1};
  pthread_mutex_lock(&m->mutex);
  bool ok = RHEOS_RESERVE(m->blocks, m->block_capacity, m->num_blocks + 1) &&
            rheos__offset_allocator_take(&m->space, b.size_bytes, &b.offset, &b.place);
  if (ok && b.offset + b.size_bytes > MEMORY_BYTES) {
    rheos__offset_allocator_give(&m->space, b.place);
    ok = false;
  }
  if (ok) m->blocks[m->num_blocks++] = b;
  if (ok) ++m->counts.blocks_in_use;
  pthread_mutex_unlock(&m->mutex);
  return ok ? m->bytes + b.offset : NULL;
}

static void free_block(rheos__memory *of, void *data) {
  memory *m = (memory *)of;
  enter(m);
  pthread_mutex_lock(&m->mutex);
  for (size_t i = 0; i < m->num_blocks; i++) {
    if (m->bytes + m->blocks[i].offset != data) continue;
    memset(data, PATTERN, m->blocks[i].size_bytes);
    rheos__offset_allocator_give(&m->space, m->blocks[i].place);
    m->blocks[i] = m->blocks[--m->num_blocks];
    --m->counts.blocks_in_use;
    break;
  }
  pthread_mutex_unlock(&m->mutex);
  leave(m);
}

static rheos_status *check_side(const memory *m, const void *data, size_t size_bytes) {
  if (m == NULL || is_inside(m, data, size_bytes)) return NULL;
  return rheos_status_new(RHEOS_INTERNAL, "a copy is given bytes that are not in %s",
                          m->base.device);
}

static rheos_status *copy(rheos__memory *to_memory, void *to_bytes, rheos__memory *from_memory,
                          const void *from_bytes, size_t size_bytes) {
  memory *to = (memory *)to_memory, *from = (memory *)from_memory;
  RHEOS_TRY(check_side(to, to_bytes, size_bytes));
  RHEOS_TRY(check_side(from, from_bytes, size_bytes));
  if (to != NULL) enter(to);
  if (from != NULL) enter(from);
  memcpy(to_bytes, from_bytes, size_bytes);
  if (from != NULL) leave(from);
  if (to != NULL) leave(to);
  memory *m = to != NULL ? to : from;
  pthread_mutex_lock(&m->mutex);
  m->counts.num_from_host += from == NULL;
  m->counts.num_to_host += to == NULL;
  m->counts.num_between += from != NULL && to != NULL && from != to;
  m->counts.num_within += from == to;
  pthread_mutex_unlock(&m->mutex);
  return NULL;
}

static void deinit(rheos__memory *of) {
  memory *m = (memory *)of;
  munmap(m->bytes, MEMORY_BYTES);
  rheos__offset_allocator_deinit(&m->space);
  pthread_mutex_destroy(&m->mutex);
  rheos__free(m->blocks);
  rheos__free(m);
}

static const rheos__memory_kind memory_kind = {
    .allocate = allocate, .free = free_block, .copy = copy, .deinit = deinit};

static memory *memory_of(const rheos__device *device) { return (memory *)device->memory; }

static rheos_status *synchronize(const rheos__device *device) {
  memory *m = memory_of(device);
  pthread_mutex_lock(&m->mutex);
  ++m->counts.num_synchronized;
  pthread_mutex_unlock(&m->mutex);
  return NULL;
}

// ---- Kernels

typedef struct checked_kernel {
  memory *memory;
  rheos__run_fn run;
  void *state;
  void (*release)(void *state);
  bool reads_shapes;
  int32_t num_inputs, num_outputs;
  size_t scratch_bytes;
  size_t bytes[];  // of the inputs, then of the outputs
} checked_kernel;

static rheos_status *check_pointers(const checked_kernel *k, const void *const *inputs,
                                    void *const *outputs, const void *scratch) {
  for (int32_t i = 0; i < k->num_inputs + k->num_outputs; i++) {
    const bool is_input = i < k->num_inputs;
    const void *data = is_input ? inputs[i] : outputs[i - k->num_inputs];
    if ((is_input && k->reads_shapes) || k->bytes[i] == 0) continue;
    if (!is_inside(k->memory, data, k->bytes[i])) {
      return rheos_status_new(RHEOS_INTERNAL, "%s %d is not in the device's memory",
                              is_input ? "input" : "output",
                              (int)(is_input ? i : i - k->num_inputs));
    }
  }
  if (k->scratch_bytes > 0 &&
      (!is_inside(k->memory, scratch, k->scratch_bytes) || (uintptr_t)scratch % ALIGNMENT != 0)) {
    return rheos_status_new(RHEOS_INTERNAL, "the scratch memory is not the device's");
  }
  return NULL;
}

static rheos_status *run_checked(const void *state, const void *const *inputs, void *const *outputs,
                                 void *scratch, int64_t first, int64_t last) {
  const checked_kernel *k = state;
  RHEOS_TRY(check_pointers(k, inputs, outputs, scratch));
  enter(k->memory);
  rheos_status *status = k->run(k->state, inputs, outputs, scratch, first, last);
  leave(k->memory);
  pthread_mutex_lock(&k->memory->mutex);
  ++k->memory->counts.num_kernels;
  pthread_mutex_unlock(&k->memory->mutex);
  return status;
}

static void release_checked(void *state) {
  const checked_kernel *k = state;
  k->release(k->state);
}

// A kernel that takes tensors: of what changes variables.
typedef struct checked_compute {
  memory *memory;
  rheos__compute_fn compute;
  void *state;
  void (*release)(void *state);
  int32_t num_inputs;
} checked_compute;

static rheos_status *compute_checked(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  const checked_compute *k = state;
  for (int32_t i = 0; i < k->num_inputs; i++) {
    if (inputs[i] == NULL || inputs[i]->size_bytes == 0) continue;
    if (inputs[i]->memory != &k->memory->base ||
        !is_inside(k->memory, inputs[i]->data, inputs[i]->size_bytes)) {
      return rheos_status_new(RHEOS_INTERNAL, "input %d is no tensor of the device", (int)i);
    }
  }
  enter(k->memory);
  rheos_status *status = k->compute(k->state, step, inputs, outputs);
  leave(k->memory);
  pthread_mutex_lock(&k->memory->mutex);
  ++k->memory->counts.num_kernels;
  pthread_mutex_unlock(&k->memory->mutex);
  return status;
}

static void release_compute(void *state) {
  const checked_compute *k = state;
  k->release(k->state);
}

static rheos_status *check_compute(rheos__prepare *p) {
  checked_compute *k = rheos__arena_alloc_zeroed(p->arena, sizeof *k);
  if (k == NULL) {
    if (p->release != NULL) p->release(p->state);
    return rheos__out_of_memory();
  }
  *k = (checked_compute){memory_of(p->device), p->compute, p->state, p->release, p->num_inputs};
  p->compute = compute_checked;
  p->state = k;
  if (p->release != NULL) p->release = release_compute;
  return NULL;
}

static size_t bytes_of(rheos_dtype dtype, const rheos_shape *shape) {
  const int64_t count = rheos_shape_num_elements(shape);
  return count > 0 ? (size_t)count * rheos_dtype_size(dtype) : 0;
}

// The CPU's kernel for the node, as a plan would choose it.
static rheos_status *ask_cpu(rheos__prepare *p) {
  const rheos__prepare given = *p;
  p->variants = rheos__cpu_variants;
  const rheos__prepare_fn *variants = rheos__cpu_variants(p->op);
  for (; variants != NULL && *variants != NULL; ++variants) {
    RHEOS_TRY((*variants)(p));
    if (p->decline_reason == NULL) return NULL;
    *p = given;
    p->variants = rheos__cpu_variants;
  }
  return rheos__prepare_reference(p);
}

static rheos_status *prepare(rheos__prepare *p) {
  RHEOS_TRY(ask_cpu(p));
  if (p->decline_reason != NULL || p->alias_input >= 0) return NULL;
  if (p->compute != NULL && (p->op->flags & RHEOS_OP_WRITES) != 0) return check_compute(p);
  if (p->run == NULL) {
    if (p->release != NULL) p->release(p->state);
    p->decline_reason = "it takes tensors";
    return NULL;
  }
  const size_t count = (size_t)p->num_inputs + (size_t)p->num_outputs;
  checked_kernel *k = rheos__arena_alloc_zeroed(p->arena, sizeof *k + count * sizeof k->bytes[0]);
  if (k == NULL) {
    if (p->release != NULL) p->release(p->state);
    return rheos__out_of_memory();
  }
  k->memory = memory_of(p->device);
  k->run = p->run;
  k->state = p->state;
  k->release = p->release;
  k->reads_shapes = (p->op->flags & RHEOS_OP_READS_SHAPES) != 0;
  k->num_inputs = p->num_inputs;
  k->num_outputs = p->num_outputs;
  k->scratch_bytes = p->scratch_bytes;
  for (int32_t i = 0; i < p->num_inputs; i++) {
    k->bytes[i] = bytes_of(p->input_dtypes[i], &p->input_shapes[i]);
  }
  for (int32_t i = 0; i < p->num_outputs; i++) {
    k->bytes[p->num_inputs + i] = bytes_of(p->output_dtypes[i], &p->output_shapes[i]);
  }
  p->run = run_checked;
  p->state = k;
  p->release = k->release != NULL ? release_checked : NULL;
  return NULL;
}

static bool begins_with(const char *name, const char *const *beginnings) {
  for (; *beginnings != NULL; beginnings++) {
    if (strncmp(name, *beginnings, strlen(*beginnings)) == 0) return true;
  }
  return false;
}

static bool is_of_strings(const rheos__attrs *attrs) {
  const rheos_attr_value *dtype = attrs != NULL ? rheos__attrs_find(attrs, "dtype") : NULL;
  if (dtype == NULL && attrs != NULL) dtype = rheos__attrs_find(attrs, "T");
  if (dtype == NULL && attrs != NULL) dtype = rheos__attrs_find(attrs, "element_dtype");
  return dtype != NULL && (dtype->type == RHEOS_STRING || dtype->type == RHEOS_VARIANT);
}

// Variables of numbers, and what changes them.
static bool is_of_variables(const rheos__op_def *op, const rheos__attrs *attrs) {
  static const char *const variables[] = {"VariableV2", "VarHandleOp", NULL};
  static const char *const updates[] = {
      "Assign", "Apply", "ResourceApply", "Scatter", "ResourceScatter", "SparseApply", NULL};
  if (is_of_strings(attrs)) return false;
  return begins_with(op->name, variables) ||
         ((op->flags & RHEOS_OP_WRITES) != 0 && begins_with(op->name, updates));
}

// Lists, arrays and stacks of numbers, whose elements lie here.
static bool keeps_tensors(const rheos__op_def *op, const rheos__attrs *attrs) {
  const unsigned kinds = RHEOS_OP_ANY_MEMORY | RHEOS_OP_CALLS;
  return (op->flags & kinds) == RHEOS_OP_ANY_MEMORY && !is_of_strings(attrs);
}

static bool has_kernel(const rheos__device *device, const rheos__op_def *op,
                       const rheos__attrs *attrs) {
  (void)device;
  if (is_of_variables(op, attrs) || keeps_tensors(op, attrs)) return true;
  static const char *const missing[] = {"Tanh", "Sqrt"};
  for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
    if (strcmp(op->name, missing[i]) == 0) return false;
  }
  return op->prepare != NULL && (op->flags & (RHEOS_OP_STATEFUL | RHEOS_OP_WRITES)) == 0;
}

static const rheos__prepare_fn *variants_of(const rheos__op_def *op) {
  static const rheos__prepare_fn kernels[] = {prepare, NULL};
  return has_kernel(NULL, op, NULL) ? kernels : NULL;
}

// ---- The kind

const rheos__device_kind private_device_kind = {
    .name = "TEST",
    .has_kernel = has_kernel,
    .variants = variants_of,
    .synchronize = synchronize,
};

rheos_status *private_device_init(rheos__device *device, int32_t index) {
  memory *m = rheos__alloc_zeroed(sizeof *m);
  if (m == NULL) return rheos__out_of_memory();
  m->bytes =
      mmap(NULL, MEMORY_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (m->bytes == MAP_FAILED) {
    rheos__free(m);
    return rheos__out_of_memory();
  }
  m->base.kind = &memory_kind;
  atomic_init(&m->base.references, 1);
  pthread_mutex_init(&m->mutex, NULL);
  rheos__offset_allocator_init(&m->space);
  rheos__device_init(device, &private_device_kind, index, &m->base, NULL);
  return NULL;
}

void private_device_deinit(rheos__device *device) { rheos__device_deinit(device); }

private_device_counts private_device_count(const rheos__device *device) {
  memory *m = memory_of(device);
  pthread_mutex_lock(&m->mutex);
  const private_device_counts counts = m->counts;
  pthread_mutex_unlock(&m->mutex);
  return counts;
}
