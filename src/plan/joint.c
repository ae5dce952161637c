#include "plan/joint.h"

// How many instructions from `first` on have the same way to be run together.
static int32_t count_alike(const rheos__stretch *stretch, int32_t first) {
  const rheos__instruction *in = &stretch->instructions[first];
  int32_t count = 0;
  while (count < RHEOS__MAX_JOINT && first + count < stretch->num_instructions &&
         in[count].kind == RHEOS__COMPUTE && in[count].joint != NULL &&
         in[count].joint == in[0].joint) {
    ++count;
  }
  return count;
}

static rheos_status *add_run(rheos__stretch *stretch, int32_t first, int32_t count,
                             int32_t *out_taken) {
  const rheos__instruction *in = &stretch->instructions[first];
  void *states[RHEOS__MAX_JOINT];
  for (int32_t i = 0; i < count; ++i) states[i] = in[i].state;
  rheos__joint_run run = {.first = first, .joint = in[0].joint};
  RHEOS_TRY(run.joint->prepare(states, count, &stretch->arena, &run.state, out_taken));
  if (*out_taken < 2) return NULL;
  run.count = *out_taken;
  for (int32_t i = 0; i < run.count; ++i) {
    run.cost_ns += in[i].cost_ns;
  }
  stretch->joint_runs[stretch->num_joint_runs++] = run;
  return NULL;
}

rheos_status *rheos__find_joint_runs(rheos__stretch *stretch) {
  size_t capacity = 0;
  int32_t taken = 1;
  for (int32_t i = 0; i < stretch->num_instructions; i += taken) {
    const int32_t count = count_alike(stretch, i);
    taken = 1;
    if (count < 2) continue;
    if (!RHEOS_GROW(stretch->joint_runs, capacity, (size_t)stretch->num_joint_runs + 1)) {
      return rheos__out_of_memory();
    }
    RHEOS_TRY(add_run(stretch, i, count, &taken));
  }
  return NULL;
}
