// Segments: instructions for a run of entries whose shapes are all known beforehand, and the
// workspaces they run in. See plan.h for how they fit together.
#ifndef RHEOS_SRC_PLAN_SEGMENT_SEGMENT_H
#define RHEOS_SRC_PLAN_SEGMENT_SEGMENT_H

#include <assert.h>

#include "plan/entries/plan.h"

// Where the bytes of a value are.
typedef enum rheos__value_kind {
  RHEOS__VALUE_NONE,      // a reference or resource: no bytes, only a cell
  RHEOS__VALUE_FEED,      // the caller's tensor
  RHEOS__VALUE_CONSTANT,  // `constant`, counted
  RHEOS__VALUE_ARENA,     // `offset` in the memory of the segment
  RHEOS__VALUE_HEAP,      // a tensor of its own, made when the segment starts: it is fetched
  RHEOS__VALUE_TENSOR,    // a tensor that an instruction returns
} rheos__value_kind;

typedef struct rheos__value {
  const rheos_shape *shape;  // in the arena of the segment, or static; NULL until a run tells
  union {
    rheos_tensor *constant;
    size_t offset;
    int32_t
        over;  // RHEOS__VALUE_HEAP: one more than the given feed whose bytes it takes over; 0: none
  };
  rheos__resource *resource;  // behind a reference or handle, borrowed from the kernel state
  int32_t root;               // the value whose bytes these are; itself if they are its own
  int32_t last_instruction;   // of a root: the last one that reads or writes it
  uint8_t kind, dtype;
  bool escapes;    // of a root: used after the segment, or fetched
  bool fetched;    // of a root
  bool given;      // a feed that the run may write over
  bool in_branch;  // of a root: made and read by one branch of a group only
} rheos__value;

typedef enum rheos__instruction_kind {
  RHEOS__RUN,      // `run` on buffers
  RHEOS__COMPUTE,  // `compute` on tensors
  RHEOS__READ,     // takes a reference to the tensor in a variable
  RHEOS__DYNAMIC,  // shapes are inferred and the kernel is prepared when the inputs are there:
                   // dynamic.h
  RHEOS__COPY,     // bytes between the memories of two devices: copies.h
  RHEOS__BRING,    // takes a reference to its input, or to a copy in the segment's memory: copies.h
  RHEOS__HOLD,     // room for its output, which a fused loop after it writes
  RHEOS__WATCH,    // delivers its input: watch.h
} rheos__instruction_kind;

typedef struct rheos__instruction {
  uint8_t kind;
  bool parallel;   // worth the threads
  int16_t branch;  // of a section, from 1 on; 0: none; or RHEOS__BEFORE_BRANCHES
  int32_t entry;
  int32_t num_inputs, num_outputs;
  int32_t first_operand;   // of the inputs, in segment->operands
  int32_t first_value;     // of the outputs
  int32_t first_argument;  // of the inputs, in the binding; where there is a `compute`, or it is
                           // dynamic
  int32_t first_release, num_releases;  // tensors not needed after this, in segment->releases
  union {
    rheos__run_fn run;
    rheos__compute_fn compute;
  };
  void *state;
  int32_t reuse_input;     // operand whose memory output 0 may take, or -1
  int32_t packed_operand;  // one more than its number in packed_operands; 0: it has none
  int64_t num_units;       // as the kernel says, like these:
  union {
    int64_t unit_elements;                 // of RHEOS__RUN
    const rheos__grouped_update *grouped;  // of RHEOS__COMPUTE
  };
  size_t scratch_offset, scratch_bytes;
  float cost_ns;       // a guess
  float flops, bytes;  // the work, for traces
} rheos__instruction;

// Guesses that decide where threads pay; see bench/.
static const double RHEOS__NS_OVERHEAD = 10, RHEOS__NS_PER_BYTE = 0.03, RHEOS__NS_PER_FLOP = 0.04;
static const float RHEOS__PARALLEL_NS = 60000;

typedef struct rheos__release {
  void (*release)(void *state);
  void *state;
} rheos__release;

// Successive instructions that are run in one go, shared by threads in one way or another. Sections
// do not overlap and are in the order of their instructions.
typedef enum rheos__section_kind {
  // Each thread goes through all of them with its own rows of the batch; those that are not
  // RHEOS__RUN come before. See row_chain.c.
  RHEOS__SECTION_ROWS,
  // Branches that do not need each other go side by side, each in the order of the plan; reads of
  // variables come before, what belongs to no branch comes after. See branches.c.
  RHEOS__SECTION_BRANCHES,
  // Updates change variables, different ones, and begin and end together. See update_group.c.
  RHEOS__SECTION_UPDATES,
} rheos__section_kind;

typedef struct rheos__section {
  uint8_t kind;
  int32_t first, end;  // instructions
  double cost_ns;
  union {
    struct {
      int64_t num_units;  // of each instruction that is RHEOS__RUN
    } rows;
    struct {
      int32_t num_branches;
      const int32_t *starts;   // of each branch in `members`, and the end
      const int32_t *members;  // instructions, by branch
    } branches;
    struct {
      const rheos__grouped_update *update;
      void *state;
    } updates;
  };
} rheos__section;

enum { RHEOS__BEFORE_BRANCHES = -1 };  // an instruction's branch: a read within such a section

typedef struct rheos__packed_operand rheos__packed_operand;  // packed_operand.h

// By what a plan is specialised: of a root what it is fed, of other segments what came without a
// shape.
typedef struct rheos__key {
  const rheos_shape *shapes;      // NULL: those of `tensors`
  rheos_tensor *const *tensors;   // NULL where a feed is a cell
  rheos__resource *const *cells;  // of feeds that are references or handles; NULL: none is
  const bool *given;              // feeds that the run may write over (executor.h); NULL: none
  int32_t count;
} rheos__key;

// A constant in the memory of a segment's device.
typedef struct rheos__placed_constant {
  int32_t value;
  size_t offset;  // in the segment's constant_memory
} rheos__placed_constant;

struct rheos__segment {
  rheos__plan *plan;
  const rheos__device *device;  // of all its instructions
  rheos__segment *next;         // sibling for other shapes
  rheos__segment *children;     // what follows, by the shapes of the values that ended this segment
  rheos__segment *parent;
  rheos__segment
      *far_parent;      // one before the parent, so that any is few steps away; a root's: itself
  int64_t serial;       // never used twice in a plan
  int64_t made_ns;      // of the monotonic clock: with the address, unique in the process
  int64_t last_used;    // by the plan's clock
  int32_t num_running;  // steps inside it or its children
  // The key: shapes of the feeds, or of the parent's dynamic values.
  rheos_shape *key;
  rheos__resource **key_cells;  // counted, in the arena; NULL: none is one
  bool *key_given;              // in the arena; NULL: none is
  int32_t num_key;
  int32_t depth;
  int32_t first_entry, end_entry;
  int32_t first_value, num_values;  // the values it defines: feeds too, for a root
  rheos__value *values;
  rheos__value *refined;  // the parent's dynamic values with the shapes of the key, and what comes
  int32_t num_refined;    // between and after them, in the arena
  int32_t *dynamic_values;  // whose shapes a run has to tell: what follows is keyed by these
  int32_t num_dynamic_values;
  rheos__instruction *instructions;
  int32_t num_instructions;
  int32_t num_tensor_arguments;  // inputs that instructions take as tensors
  int32_t *operands;             // roots of the inputs of each instruction, from its first_operand
  int32_t *input_values;         // the same, before aliases are looked through: for shapes
  int32_t *releases;
  int32_t *heap_values;
  int32_t num_heap_values;
  int32_t *tensor_values;  // may hold a tensor of the step: swept at its end
  int32_t num_tensor_values;
  rheos__section *sections;
  int32_t num_sections;
  size_t section_capacity;
  rheos__packed_operand *packed_operands;
  size_t packed_operand_capacity;
  int32_t num_packed_operands;
  rheos__placed_constant *placed_constants;  // where the device has a memory of its own
  int32_t num_placed_constants;
  char *constant_memory;  // the device's
  size_t memory_bytes;    // the device's too
  double cost_ns;
  rheos__arena arena;  // kernel states and shapes
  rheos__release *kernel_releases;
  size_t num_kernel_releases, kernel_release_capacity;
};

typedef struct rheos__dynamic rheos__dynamic;  // dynamic.h

// An input that an instruction takes as a tensor: described once, when a workspace comes to stand
// for the segment.
typedef struct rheos__tensor_argument {
  int32_t root;  // the value whose bytes it is
  bool stays;    // the tensor handed over is the same in each step
  bool passes;   // it is what an instruction returned, if there is that
  rheos_tensor view;
} rheos__tensor_argument;

// One binding for each depth: memory, and for which segment the pointers in `data` stand.
typedef struct rheos__binding {
  int64_t serial;       // 0: none
  rheos__memory *home;  // of `memory`; NULL: the host's
  char *memory;
  size_t memory_bytes;
  rheos__tensor_argument *arguments;
  rheos_tensor **tensors;   // by argument: what is handed over
  rheos__resource **cells;  // by argument
  size_t argument_capacity, tensor_capacity, cell_capacity;
} rheos__binding;

// What one running step needs; kept for the next.
struct rheos__workspace {
  rheos__workspace *next;
  void **data;             // by value; right for roots. Behind them `num_packed` packed operands
  rheos_tensor **tensors;  // by value; owned by the step, except feeds
  const void **inputs;     // room for the operands of one instruction
  void **outputs;
  rheos_tensor **results;         // the same for compute
  rheos_tensor **packed_tensors;  // of packed operands, owned by the step
  rheos__packed *packed;          // the same for kernels
  size_t num_packed;
  void *group_room;  // for an update group under way
  size_t group_room_bytes;
  rheos__dynamic **dynamics;  // by entry; NULL until one is dynamic
  int32_t num_entries;
  rheos__binding *bindings;
  size_t num_bindings, binding_capacity;
  struct rheos__flow_state *flow;  // of a plan with control flow: flow.h; NULL
};

// Specialises the entries from the end of `parent` (NULL: from the start) for the shapes `key`.
// `step` is handed to kernels that fold constants; it may ask the caller's should_stop, so no lock
// is held here. The new segment is not linked in.
rheos_status *rheos__segment_new_for(rheos__plan *plan, rheos__segment *parent,
                                     const rheos__key *key, rheos__step *step,
                                     rheos__segment **out_segment);
// As rheos__segment_new_for(), for shapes alone.
rheos_status *rheos__segment_new(rheos__plan *plan, rheos__segment *parent,
                                 const rheos_shape *shapes, int32_t num_shapes, rheos__step *step,
                                 rheos__segment **out_segment);
// In builds with assertions, asserts what every pass over a segment keeps: what is read was made
// before, what is made is made once, kinds go with fields, sections are in order and apart.
void rheos__segment_check(const rheos__segment *segment);
// As rheos__segment_check(), of placed memory: values that are needed at the same time share no
// bytes, but for an output that is written over its input, and nothing is released before its last
// use.
void rheos__segment_check_memory(const rheos__segment *segment);
// Links it in, and frees another one where there are many. The plan's mutex is held.
void rheos__segment_link(rheos__plan *plan, rheos__segment *segment);
void rheos__segments_free(rheos__segment *segments);  // with siblings and children

// The shape of an element of a key; a scalar's where it is a cell.
static inline const rheos_shape *rheos__key_shape(const rheos__key *key, int32_t i) {
  static const rheos_shape scalar = {.rank = 0};
  if (key->shapes != NULL) return &key->shapes[i];
  return key->tensors[i] != NULL ? &key->tensors[i]->shape : &scalar;
}

// Whether it is for a cell that nobody holds but what was planned for it.
bool rheos__segment_is_of_the_gone(const rheos__segment *segment);

// Whether a segment is the one for the key, among those with the same parent.
static inline bool rheos__segment_is_for(const rheos__segment *segment, const rheos__key *key) {
  assert(segment->num_key == key->count);
  if ((segment->key_cells != NULL) != (key->cells != NULL) ||
      (segment->key_given != NULL) != (key->given != NULL)) {
    return false;
  }
  for (int32_t i = 0; i < key->count; ++i) {
    if (key->cells != NULL) {
      if (segment->key_cells[i] != key->cells[i]) return false;
      const bool is_handle = key->cells[i] != NULL && key->shapes == NULL;
      if (is_handle && key->tensors[i] == NULL && key->given == NULL) continue;  // a scalar
    }
    if (key->given != NULL && segment->key_given[i] != key->given[i]) return false;
    if (!rheos_shape_equal(&segment->key[i], rheos__key_shape(key, i))) return false;
  }
  return true;
}

// The child of `parent` (root if NULL) for the key, moved to the front; NULL if there is none.
rheos__segment *rheos__segment_find(rheos__plan *plan, rheos__segment *parent,
                                    const rheos__key *key);

// Keeps what is to be called for a kernel's state when the segment goes (`release` NULL: nothing);
// calls it where memory is short.
rheos_status *rheos__segment_add_release(rheos__segment *segment, void (*release)(void *state),
                                         void *state);

// Puts a section in its place among those that are there.
rheos_status *rheos__segment_add_section(rheos__segment *segment, const rheos__section *section);

// Whether an instruction takes its inputs as tensors.
static inline bool rheos__takes_tensors(const rheos__instruction *in) {
  return in->kind == RHEOS__COMPUTE || in->kind == RHEOS__DYNAMIC;
}

// The description of a value of this segment or of one before it.
const rheos__value *rheos__find_value(const rheos__segment *segment, int32_t value);

// The memory that the bytes of a root lie in, of this segment or of one before it: what the plan
// knows. Results of bodies and feeds that may lie in any are tensors, which know themselves.
rheos__memory *rheos__memory_of_root(const rheos__segment *segment, int32_t root);

rheos__workspace *rheos__workspace_new(const rheos__plan *plan);  // NULL when memory is short
void rheos__workspaces_free(rheos__workspace *workspaces);

// Whether the workspace stands for the segment.
static inline bool rheos__workspace_is_bound(const rheos__workspace *workspace,
                                             const rheos__segment *segment) {
  const size_t depth = (size_t)segment->depth;
  return depth < workspace->num_bindings && workspace->bindings[depth].serial == segment->serial;
}

// Makes it so.
rheos_status *rheos__workspace_bind(rheos__workspace *workspace, const rheos__segment *segment);

// The inputs of an instruction that takes tensors: those returned to the step, or views; NULL for
// references. Good until the workspace stands for something else, each for this step.
static inline rheos_tensor *const *rheos__tensor_arguments(const rheos__workspace *workspace,
                                                           const rheos__segment *segment,
                                                           const rheos__instruction *in) {
  const rheos__binding *binding = &workspace->bindings[segment->depth];
  rheos__tensor_argument *arguments = binding->arguments + in->first_argument;
  rheos_tensor **tensors = binding->tensors + in->first_argument;
  for (int32_t i = 0; i < in->num_inputs; ++i) {
    if (arguments[i].stays) continue;
    const int32_t root = arguments[i].root;
    tensors[i] = arguments[i].passes ? workspace->tensors[root] : NULL;
    if (tensors[i] != NULL) continue;
    arguments[i].view.data = workspace->data[root];
    tensors[i] = &arguments[i].view;
  }
  return tensors;
}

// Their cells: NULL where there is none.
static inline rheos__resource *const *rheos__take_cells(const rheos__workspace *workspace,
                                                        const rheos__segment *segment,
                                                        const rheos__instruction *in) {
  return workspace->bindings[segment->depth].cells + in->first_argument;
}

// Prepares and runs one node on tensors at once: constants, and ops whose shapes are dynamic.
// Inputs behind references are NULL, their cells in `cells`. `outputs` get tensors (NULL for
// references).
rheos_status *rheos__run_node(const rheos__plan *plan, const rheos__entry *entry,
                              rheos_tensor *const *inputs, rheos__resource *const *cells,
                              rheos__step *step, rheos_tensor **outputs);

#endif  // RHEOS_SRC_PLAN_SEGMENT_SEGMENT_H
