// Fused loops: elementwise rows run tile by tile, so that what one hands to the next stays in the
// first-level cache.
//
// A place is where a row reads or writes: an operand of the instruction, its output, or a slot of
// the scratch memory. Operands that have an element for each of the loop move on with the tiles;
// the others, broadcast, stay where they start.
#ifndef RHEOS_SRC_DEVICE_CPU_FUSED_LOOP_H
#define RHEOS_SRC_DEVICE_CPU_FUSED_LOOP_H

#include "device/cpu/compiled_loop.h"
#include "device/cpu/fused_float.h"
#include "device/fuse.h"
#include "ops/kit/elementwise.h"

typedef struct rheos__fused_member {
  const rheos__elementwise *row;
  bool flat;                                     // one call of its loop for a tile
  uint8_t num_in, in[RHEOS__MAX_OPERANDS], out;  // places
} rheos__fused_member;

// Members [first, end): by their loops, or if there are steps on vector registers.
typedef struct rheos__fused_part {
  uint8_t first, end, first_step, num_steps;
} rheos__fused_part;

// Parts [first, end) as one compiled loop, once it is compiled.
typedef struct rheos__fused_group {
  rheos__compiled_loop *loop;
  int64_t inner;  // elements of a row
  uint8_t first, end;
} rheos__fused_group;

// The state of rheos__run_fused().
typedef struct rheos__fused {
  int64_t num_elements, tile_elements, unit_elements, num_units;
  int32_t num_operands, num_slots, num_members;
  size_t slot_bytes, scratch_bytes;
  // Bytes that an element takes in each operand (0: broadcast), then in the output
  int64_t steps[RHEOS__FUSED_OPERANDS + 1];
  int32_t num_parts, num_register_steps, num_groups;
  bool is_one_group;  // of all parts, that needs no slot: it may run over any number of elements
  rheos__fused_part parts[RHEOS__FUSED_MEMBERS];
  rheos__fused_group groups[RHEOS__FUSED_MEMBERS / 2];
  rheos__register_step register_steps[3 * RHEOS__FUSED_MEMBERS];
  rheos__fused_member members[];
} rheos__fused;

rheos_status *rheos__run_fused(const void *state, const void *const *inputs, void *const *outputs,
                               void *scratch, int64_t first_unit, int64_t last_unit);

// Computes elements [begin, begin + count) with `inputs` at element 0 and `out` at `begin`.
void rheos__fused_range(const rheos__fused *f, const void *const *inputs, void *out, void *scratch,
                        int64_t begin, int64_t count);

// What a member is beside its row, if it is one of those with little arithmetic.
typedef struct rheos__fused_kind {
  rheos__simple simple;
  uint8_t dtypes[RHEOS__MAX_OPERANDS], out_dtype;
} rheos__fused_kind;

// One under construction: all operands first, then the members in order, then the end.
typedef struct rheos__fused_builder {
  bool compiles;  // if it can
  int64_t num_elements;
  int32_t num_operands, num_members, num_slots;
  int64_t steps[RHEOS__FUSED_OPERANDS + 1];
  rheos__fused_member members[RHEOS__FUSED_MEMBERS];
  rheos__fused_kind kinds[RHEOS__FUSED_MEMBERS];
  int32_t sources[RHEOS__FUSED_MEMBERS][RHEOS__MAX_OPERANDS];  // member that makes it, or -1
  int32_t producers[RHEOS__FUSED_OPERANDS + 1 + RHEOS__FUSED_MEMBERS];  // of what is at a place
  int32_t num_readers[RHEOS__FUSED_MEMBERS];    // of each member's result, if it is in a slot
  int32_t readers_left[RHEOS__FUSED_MEMBERS];   // of the value in each slot
  int64_t element_bytes[RHEOS__FUSED_MEMBERS];  // of the value in each slot
  int64_t max_bytes;                            // of an element in a slot
} rheos__fused_builder;

void rheos__fused_init(rheos__fused_builder *b, int64_t num_elements);

// `step`: the bytes of an element, or 0 if the operand is broadcast.
void rheos__fused_add_operand(rheos__fused_builder *b, int64_t step);

// Adds a row that reads `inputs` (operands or what this function returned for earlier rows) and
// returns the place of its result. `num_readers` operands of later rows are it, if it is in a slot.
int32_t rheos__fused_add_member(rheos__fused_builder *b, const rheos__elementwise *row,
                                const rheos__fused_kind *kind, const int32_t *inputs, int32_t out,
                                int32_t num_readers);

// One of the arena's, which may stand for several equal ones; NULL when memory is short.
const rheos__fused *rheos__fused_finish(const rheos__fused_builder *b, rheos__arena *arena);

#endif  // RHEOS_SRC_DEVICE_CPU_FUSED_LOOP_H
