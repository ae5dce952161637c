// The work is cut by its arithmetic into equal parts, a few for each thread: one ends in the middle
// of a large variable, or takes in many small ones.
#include "runtime/update_group_run.h"

enum { PARTS_PER_THREAD = 4 };

// What a run keeps in the workspace's room, in this order.
typedef struct room {
  void *works;
  rheos_tensor *const **inputs;  // of each kernel
  int64_t *units, *flops;        // of each kernel
} room;

typedef struct group_work {
  const rheos__update_group *run;
  const room *room;
  int64_t flops;  // of all
  int64_t num_parts;
  rheos__trace_mark *marks;  // of each kernel one a part; may be NULL
} group_work;

static bool find_room(const rheos__update_group *run, rheos__workspace *workspace, room *out_room) {
  const size_t count = (size_t)run->count, works = count * run->grouped->work_bytes;
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

static void take_inputs(const rheos__segment *segment, const rheos__update_group *run,
                        const rheos__workspace *workspace, const room *to) {
  for (int32_t i = 0; i < run->count; ++i) {
    to->inputs[i] =
        rheos__tensor_arguments(workspace, segment, &segment->instructions[run->first + i]);
  }
}

// Where a part begins: a unit of a kernel.
typedef struct position {
  int32_t kernel;
  int64_t unit;
} position;

static position begin_of(const group_work *w, int64_t part) {
  if (part >= w->num_parts) return (position){w->run->count, 0};
  int64_t left = (int64_t)((double)w->flops * (double)part / (double)w->num_parts);
  for (int32_t i = 0; i < w->run->count; ++i) {
    const int64_t flops = w->room->flops[i], units = w->room->units[i];
    if (left < flops) return (position){i, (int64_t)((double)left / (double)flops * (double)units)};
    left -= flops;
  }
  return (position){w->run->count, 0};
}

static void run_part(const group_work *w, int64_t part) {
  const position from = begin_of(w, part), to = begin_of(w, part + 1);
  int64_t now = w->marks != NULL ? rheos__clock_ns() : 0;
  for (int32_t i = from.kernel; i <= to.kernel && i < w->run->count; ++i) {
    const int64_t first = i == from.kernel ? from.unit : 0;
    const int64_t last = i == to.kernel ? to.unit : w->room->units[i];
    if (first >= last) continue;
    w->run->grouped->run(w->room->works, i, first, last);
    if (w->marks == NULL) continue;
    rheos__trace_mark *mark = &w->marks[i * w->num_parts + part];
    *mark = (rheos__trace_mark){rheos__pool_thread(), now, rheos__clock_ns()};
    now = mark->end_ns;
  }
}

static rheos_status *run_parts(void *argument, int64_t first, int64_t last) {
  for (int64_t part = first; part < last; ++part) run_part(argument, part);
  return NULL;
}

// An event for each kernel, even where it had nothing to do: its marks that are filled in, at the
// front.
static void add_events(const group_work *w, const rheos__segment *segment, rheos_trace *trace,
                       int64_t start_ns) {
  for (int32_t i = 0; i < w->run->count; ++i) {
    rheos__trace_mark *marks = &w->marks[i * w->num_parts];
    size_t count = 0;
    for (int64_t part = 0; part < w->num_parts; ++part) {
      if (marks[part].end_ns != 0) marks[count++] = marks[part];
    }
    if (count == 0) marks[count++] = (rheos__trace_mark){0, start_ns, start_ns};
    rheos__trace_add_marks(trace, segment, &segment->instructions[w->run->first + i], marks, count);
  }
}

static int64_t num_parts(const rheos__step *step) {
  const int64_t threads = rheos__pool_num_threads(step->pool);
  return threads == 1 ? 1 : threads * PARTS_PER_THREAD;
}

bool rheos__run_update_group(const rheos__segment *segment, const rheos__update_group *run,
                             rheos__workspace *workspace, rheos__step *step, rheos_trace *trace) {
  room at;
  if (!find_room(run, workspace, &at)) return false;
  take_inputs(segment, run, workspace, &at);
  if (!run->grouped->begin(run->state, at.inputs, at.works, at.units, at.flops)) return false;
  group_work w = {.run = run, .room = &at, .num_parts = num_parts(step)};
  for (int32_t i = 0; i < run->count; ++i) w.flops += at.flops[i];
  const int64_t start_ns = trace != NULL ? rheos__clock_ns() : 0;
  if (trace != NULL) {
    w.marks = rheos__trace_begin_marks(trace, (size_t)(run->count * w.num_parts));
  }
  rheos_status *status = rheos__step_parallel(step, w.num_parts, w.flops, run_parts, &w);
  rheos_status_free(status);  // none of them fails
  run->grouped->end(run->state);
  if (w.marks != NULL) add_events(&w, segment, trace, start_ns);
  return true;
}
