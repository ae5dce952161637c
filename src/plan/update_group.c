#include "plan/update_group.h"

// How many instructions from `first` on have the same way to be run together.
static int32_t count_alike(const rheos__segment *segment, int32_t first) {
  const rheos__instruction *in = &segment->instructions[first];
  int32_t count = 0;
  while (count < RHEOS__MAX_UPDATE_GROUP && first + count < segment->num_instructions &&
         in[count].kind == RHEOS__COMPUTE && in[count].grouped != NULL &&
         in[count].grouped == in[0].grouped) {
    ++count;
  }
  return count;
}

static rheos_status *add_run(rheos__segment *segment, int32_t first, int32_t count,
                             int32_t *out_taken) {
  const rheos__instruction *in = &segment->instructions[first];
  void *states[RHEOS__MAX_UPDATE_GROUP];
  for (int32_t i = 0; i < count; ++i) states[i] = in[i].state;
  rheos__update_group run = {.first = first, .grouped = in[0].grouped};
  RHEOS_TRY(run.grouped->prepare(states, count, &segment->arena, &run.state, out_taken));
  if (*out_taken < 2) return NULL;
  run.count = *out_taken;
  for (int32_t i = 0; i < run.count; ++i) {
    run.cost_ns += in[i].cost_ns;
  }
  segment->update_groups[segment->num_update_groups++] = run;
  return NULL;
}

rheos_status *rheos__find_update_groups(rheos__segment *segment) {
  size_t capacity = 0;
  int32_t taken = 1;
  for (int32_t i = 0; i < segment->num_instructions; i += taken) {
    const int32_t count = count_alike(segment, i);
    taken = 1;
    if (count < 2) continue;
    if (!RHEOS_RESERVE(segment->update_groups, capacity, (size_t)segment->num_update_groups + 1)) {
      return rheos__out_of_memory();
    }
    RHEOS_TRY(add_run(segment, i, count, &taken));
  }
  return NULL;
}
