// The work is cut by its arithmetic into equal parts, a few for each thread: one ends in the middle
// of a large variable, or takes in many small ones.
#include "runtime/run/section_run.h"

#include <assert.h>

enum { PARTS_PER_THREAD = 4 };

// What a run keeps in the workspace's room, in this order.
typedef struct room {
  void *works;
  rheos_tensor *const **inputs;  // of each kernel
  int64_t *units, *flops;        // of each kernel
} room;

typedef struct updates_run {
  const rheos__section_run *run;
  const rheos__grouped_update *update;
  const room *room;
  int32_t count;      // of the kernels
  int64_t num_parts;  // 1 where threads would not share them
  int64_t flops;      // of all
} updates_run;

static bool find_room(const rheos__section_run *run, size_t count, room *out_room) {
  rheos__workspace *workspace = run->workspace;
  const size_t works = count * run->section->updates.update->work_bytes;
  const size_t bytes = works + count * (sizeof(void *) + 2 * sizeof(int64_t));
  if (workspace->group_room_bytes < bytes) {
    rheos__free(workspace->group_room);
    workspace->group_room = rheos__alloc(bytes);
    workspace->group_room_bytes = workspace->group_room != NULL ? bytes : 0;
    if (workspace->group_room == NULL) return false;
  }
  out_room->works = workspace->group_room;
  out_room->inputs = (rheos_tensor *const **)(void *)((char *)workspace->group_room + works);
  out_room->units = (int64_t *)(void *)(out_room->inputs + count);
  out_room->flops = out_room->units + count;
  return true;
}

static void take_inputs(const rheos__section_run *run, const room *to) {
  for (int32_t i = run->section->first; i < run->section->end; ++i) {
    to->inputs[i - run->section->first] =
        rheos__tensor_arguments(run->workspace, run->segment, &run->segment->instructions[i]);
  }
}

// Where a part begins: a unit of a kernel.
typedef struct position {
  int32_t kernel;
  int64_t unit;
} position;

static position begin_of(const updates_run *u, int64_t part) {
  if (part == 0) return (position){0, 0};
  if (part >= u->num_parts) return (position){u->count, 0};
  int64_t left = (int64_t)((double)u->flops * (double)part / (double)u->num_parts);
  for (int32_t i = 0; i < u->count; ++i) {
    const int64_t flops = u->room->flops[i], units = u->room->units[i];
    if (left < flops) return (position){i, (int64_t)((double)left / (double)flops * (double)units)};
    left -= flops;
  }
  return (position){u->count, 0};
}

static void run_part(const updates_run *u, int64_t part) {
  const position from = begin_of(u, part), to = begin_of(u, part + 1);
  assert(from.kernel <= to.kernel && to.kernel <= u->count);
  int64_t now = rheos__section_start(u->run);
  for (int32_t i = from.kernel; i <= to.kernel && i < u->count; ++i) {
    const int64_t first = i == from.kernel ? from.unit : 0;
    const int64_t last = i == to.kernel ? to.unit : u->room->units[i];
    if (first >= last) continue;
    u->update->run(u->room->works, i, first, last);
    now = rheos__section_mark(u->run, u->run->section->first + i, part, now);
  }
}

static rheos_status *run_parts(void *argument, int64_t first, int64_t last) {
  for (int64_t part = first; part < last; ++part) run_part(argument, part);
  return NULL;
}

bool rheos__run_updates(const rheos__section_run *run) {
  const rheos__grouped_update *update = run->section->updates.update;
  const void *state = run->section->updates.state;
  const int32_t count = run->section->end - run->section->first;
  assert(count > 1 && run->num_parts > 0);
  room at;
  if (!find_room(run, (size_t)count, &at)) return false;
  take_inputs(run, &at);
  if (!update->begin(state, at.inputs, at.works, at.units, at.flops)) return false;
  updates_run u = {.run = run, .update = update, .room = &at, .count = count};
  for (int32_t i = 0; i < count; ++i) u.flops += at.flops[i];
  u.num_parts = rheos__step_is_parallel(run->step, u.flops) ? run->num_parts : 1;
  rheos_status *status = rheos__step_parallel_whole(run->step, u.num_parts, u.flops, run_parts, &u);
  rheos_status_free(status);  // none of them fails
  update->end(state);
  return true;
}

int64_t rheos__section_parts(const rheos__section *section, const rheos__pool *pool) {
  const int64_t threads = rheos__pool_num_threads(pool);
  switch ((rheos__section_kind)section->kind) {
    case RHEOS__SECTION_ROWS:
      return threads < section->rows.num_units ? threads : section->rows.num_units;
    case RHEOS__SECTION_BRANCHES: return 1;
    case RHEOS__SECTION_UPDATES: return threads == 1 ? 1 : threads * PARTS_PER_THREAD;
  }
  return 1;
}
