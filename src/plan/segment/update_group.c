#include "plan/segment/update_group.h"

#include <assert.h>

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

static rheos_status *add_group(rheos__segment *segment, int32_t first, int32_t count,
                               int32_t *out_taken) {
  const rheos__instruction *in = &segment->instructions[first];
  void *states[RHEOS__MAX_UPDATE_GROUP];
  for (int32_t i = 0; i < count; ++i) states[i] = in[i].state;
  rheos__section group = {
      .kind = RHEOS__SECTION_UPDATES, .first = first, .updates = {.update = in[0].grouped}};
  RHEOS_TRY(
      in[0].grouped->prepare(states, count, &segment->arena, &group.updates.state, out_taken));
  assert(*out_taken >= 1 && *out_taken <= count);
  if (*out_taken < 2) return NULL;
  group.end = first + *out_taken;
  for (int32_t i = 0; i < *out_taken; ++i) group.cost_ns += (double)in[i].cost_ns;
  return rheos__segment_add_section(segment, &group);
}

rheos_status *rheos__find_update_groups(rheos__segment *segment) {
  int32_t taken = 1;
  for (int32_t i = 0; i < segment->num_instructions; i += taken) {
    const int32_t count = count_alike(segment, i);
    taken = 1;
    if (count >= 2) RHEOS_TRY(add_group(segment, i, count, &taken));
  }
  return NULL;
}
