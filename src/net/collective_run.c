#include "net/collective_run.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "ops/collective/collective_combine.h"

enum { KEY_BYTES = 160 };

// Of a member.
typedef struct run {
  _Atomic int32_t pending;  // pieces that are not done with, or not taken, and who begins
  rheos__membership *membership;
  rheos__worker_step *step;
  const rheos__task_group *group;
  int32_t rank, size;
  char name[96];  // what all its keys begin with
  size_t element_bytes;
  rheos_tensor *output;
  pthread_mutex_t mutex;  // guards what follows
  rheos_status *failed;   // the first one
  void (*ended)(void *argument);
  void *argument;
} run;

// ---- The whole

static void note_failure_take(run *r, rheos_status *status) {
  pthread_mutex_lock(&r->mutex);
  const bool is_first = r->failed == NULL;
  if (is_first) r->failed = status;
  pthread_mutex_unlock(&r->mutex);
  // What others wait for of this member will not come.
  if (is_first) rheos__worker_step_abort(r->step, status);
  if (!is_first) rheos_status_free(status);
}

static void done_with_one(run *r) {
  if (atomic_fetch_sub(&r->pending, 1) != 1) return;
  if (r->failed != NULL) {
    rheos_tensor_unref(r->output);
    r->output = NULL;
  }
  rheos__membership_end_take(r->membership, r->failed, r->output);
  rheos__membership_unref(r->membership);
  rheos__worker_step_unref(r->step);
  pthread_mutex_destroy(&r->mutex);
  void (*ended)(void *) = r->ended;
  void *argument = r->argument;
  rheos__free(r);
  ended(argument);
}

// ---- Pieces

static char *bytes_at(const run *r, rheos_tensor *tensor, int64_t first) {
  return (char *)rheos_tensor_data(tensor) + (size_t)first * r->element_bytes;
}

// Elements of a tensor on their way to another member. A part ends after they have been taken,
// since its step may end with it, or its process.
typedef struct posted {
  run *run;
  rheos_tensor *whole;  // counted
} posted;

static void posted_taken(void *argument) {
  posted *p = argument;
  run *r = p->run;
  rheos_tensor_unref(p->whole);
  rheos__free(p);
  done_with_one(r);
}

static rheos_status *post(run *r, const char *key, rheos_tensor *whole, int64_t first,
                          int64_t count) {
  posted *p = rheos__alloc(sizeof *p);
  rheos_tensor *part = NULL;
  if (p == NULL) return rheos__out_of_memory();
  rheos_status *status = rheos_tensor_borrow(whole->dtype, RHEOS_SHAPE(count),
                                             bytes_at(r, whole, first), posted_taken, p, &part);
  if (status != NULL) {
    rheos__free(p);
    return status;
  }
  *p = (posted){r, rheos_tensor_ref(whole)};
  atomic_fetch_add(&r->pending, 1);
  status = rheos__rendezvous_send(r->step->rendezvous, key, part);
  rheos_tensor_unref(part);
  return status;
}

typedef struct piece piece;
// Goes on with what has come, `count` elements at `data`, until the piece is done with, or waits
// for the next: then it is no longer the caller's.
typedef rheos_status *(*piece_fn)(piece *p, const void *data, bool *out_waits);

// What a member waits for, one after the other, on the way of a chunk.
struct piece {
  run *run;
  piece_fn take;
  int64_t first, count;  // elements of the output
  // Of a ring: its chunk, which of all sections that is, the member's place, the member before.
  int32_t chunk, section, place, from;
  bool is_second_pass;
  int64_t input_first;
  rheos_tensor *sums;  // counted: where sums of the chunk are made, from `sums_first` on
  int64_t sums_first;
};

static void go_on(piece *p, piece_fn take, const void *data) {
  run *r = p->run;
  bool waits = false;
  rheos_status *status = take(p, data, &waits);
  if (status != NULL) note_failure_take(r, status);
  if (waits) return;
  rheos_tensor_unref(p->sums);
  rheos__free(p);
  done_with_one(r);
}

static rheos_status *fail(piece *p, const void *data, bool *out_waits) {
  (void)p, (void)out_waits;
  return (rheos_status *)(uintptr_t)data;
}

static rheos_status *check_piece(const piece *p, const rheos_tensor *value) {
  const run *r = p->run;
  const size_t size = (size_t)p->count * r->element_bytes;
  if (value != NULL && rheos_tensor_size_bytes(value) == size) return NULL;
  return rheos_status_new(RHEOS_INTERNAL,
                          "a piece of %zu bytes came to %s in %s, where one of %zu was to come",
                          value != NULL ? rheos_tensor_size_bytes(value) : 0,
                          r->membership->what.device, r->membership->on->base.name, size);
}

static void take_piece(void *argument, rheos_status *failed, rheos_tensor *value) {
  piece *p = argument;
  if (failed == NULL) failed = check_piece(p, value);
  go_on(p, failed == NULL ? p->take : fail, failed == NULL ? rheos_tensor_data(value) : failed);
  rheos_tensor_unref(value);
}

// `take` goes on when the piece has come from the member of that rank.
static rheos_status *fetch(piece *p, int32_t from_rank, const char *key, piece_fn take,
                           bool *out_waits) {
  run *r = p->run;
  const rheos__group_member *from = &r->group->members[from_rank];
  const rheos__group_member *own = &r->group->members[r->rank];
  p->take = take;
  if (from->task != own->task) {
    const rheos__wanted_buffer wanted = {.task = from->task,
                                         .key = key,
                                         .from_device = from->named.device,
                                         .to_device = own->named.device,
                                         .incarnation = from->incarnation,
                                         .size_bytes = (size_t)p->count * r->element_bytes};
    RHEOS_TRY(rheos__worker_step_fetch(r->step, &wanted));
  }
  // The piece may be taken, and the run be over, before this returns.
  rheos__worker_step *step = rheos__worker_step_ref(r->step);
  rheos_status *status = rheos__rendezvous_receive_for(step->rendezvous, key, take_piece, p);
  rheos__worker_step_unref(step);
  *out_waits = status == NULL;
  return status;
}

static rheos_status *piece_new(run *r, int64_t first, int64_t count, piece **out_piece) {
  piece *p = *out_piece = rheos__alloc_zeroed(sizeof *p);
  if (p == NULL) return rheos__out_of_memory();
  *p = (piece){.run = r, .first = first, .count = count};
  atomic_fetch_add(&r->pending, 1);
  return NULL;
}

// ---- Rings
//
// Chunk c of a sum begins at place c of the ring, and is a sum of all where it comes to place c
// - 1. From there it goes round once more, to be the chunk of all. Of a gathered tensor chunk c is
// what the member at place c has brought: it goes round once.

static int32_t before(const run *r, int32_t place, int32_t by) {
  return (place + 2 * r->size - by) % r->size;
}

static void ring_key(const piece *p, int32_t from_place, char *key) {
  snprintf(key, KEY_BYTES, "%s:%d:%d:%d", p->run->name, p->is_second_pass ? 1 : 0, (int)p->section,
           (int)from_place);
}

static rheos_status *pass_on(const piece *p, rheos_tensor *whole, int64_t first) {
  char key[KEY_BYTES];
  ring_key(p, p->place, key);
  return post(p->run, key, whole, first, p->count);
}

static rheos_status *fetch_from_ring(piece *p, piece_fn take, bool *out_waits) {
  char key[KEY_BYTES];
  ring_key(p, before(p->run, p->place, 1), key);
  return fetch(p, p->from, key, take, out_waits);
}

static rheos_status *take_result(piece *p, const void *data, bool *out_waits) {
  run *r = p->run;
  (void)out_waits;
  memcpy(bytes_at(r, r->output, p->first), data, (size_t)p->count * r->element_bytes);
  const bool is_last = p->place == before(r, p->chunk, p->is_second_pass ? 2 : 1);
  return is_last ? NULL : pass_on(p, r->output, p->first);
}

// The sum of all is here.
static rheos_status *give_result(piece *p) {
  run *r = p->run;
  const rheos__collective *what = &r->membership->what;
  if (what->divides) {
    rheos__divide_run(what, r->size, bytes_at(r, p->sums, p->sums_first), p->count);
  }
  if (what->type == RHEOS__COLLECTIVE_REDUCE_SCATTER) return NULL;
  p->is_second_pass = true;
  return pass_on(p, p->sums, p->sums_first);
}

// The sum goes on, and its result is to come.
static rheos_status *give_sum(piece *p, rheos_tensor *sums, int64_t first, bool *out_waits) {
  RHEOS_TRY(pass_on(p, sums, first));
  if (p->run->membership->what.type == RHEOS__COLLECTIVE_REDUCE_SCATTER) return NULL;
  p->is_second_pass = true;
  return fetch_from_ring(p, take_result, out_waits);
}

static rheos_status *take_sum(piece *p, const void *data, bool *out_waits) {
  run *r = p->run;
  const rheos__collective *what = &r->membership->what;
  rheos__collective merging = *what;
  merging.divides = false;
  const void *const runs[] = {bytes_at(r, what->input, p->input_first), data};
  rheos__merge_runs(&merging, runs, 2, bytes_at(r, p->sums, p->sums_first), p->count);
  if (p->place == before(r, p->chunk, 1)) return give_result(p);
  return give_sum(p, p->sums, p->sums_first, out_waits);
}

static rheos_status *start_sum(piece *p, const void *data, bool *out_waits) {
  (void)data;
  if (p->place != p->chunk) return fetch_from_ring(p, take_sum, out_waits);
  return give_sum(p, p->run->membership->what.input, p->input_first, out_waits);
}

static rheos_status *start_gathered(piece *p, const void *data, bool *out_waits) {
  (void)data;
  run *r = p->run;
  if (p->place != p->chunk) return fetch_from_ring(p, take_result, out_waits);
  return take_result(p, rheos_tensor_data(r->membership->what.input), out_waits);
}

// ---- Subdivisions: rings that begin at other devices of each task

enum { ALIGNED_BYTES = 64, MAX_CHUNK_BYTES = 4 << 20, USUAL_SUBDIVISIONS = 2 };

// How many members the task of a member has, and which is its first.
static int32_t task_of(const rheos__task_group *g, int32_t member, int32_t *out_first) {
  int32_t first = member, end = member;
  while (first > 0 && g->members[first - 1].task == g->members[member].task) first--;
  while (end < g->count && g->members[end].task == g->members[member].task) end++;
  *out_first = first;
  return end - first;
}

// The member at a place of the ring with that offset; below 0: of reversed tasks.
static int32_t member_at(const run *r, int32_t offset, int32_t place) {
  int32_t first;
  const int32_t count = task_of(r->group, place, &first);
  const int32_t from = (int32_t)(((int64_t)(place - first) + abs(offset)) % count);
  return first + (offset < 0 ? count - (from + 1) : from);
}

static int32_t own_place(const run *r, int32_t offset) {
  int32_t place = 0;
  while (member_at(r, offset, place) != r->rank) place++;
  return place;
}

static int32_t num_subdivisions(const run *r, int64_t total) {
  const int32_t most = r->membership->what.max_subdivisions;
  if (most < 0 || r->membership->what.type != RHEOS__COLLECTIVE_REDUCE) return 1;
  const int32_t an_average_task = r->size / r->group->num_tasks;
  const int64_t limit = (int64_t)(most > 0 ? most : USUAL_SUBDIVISIONS) * an_average_task;
  const int64_t size = total * (int64_t)r->element_bytes;
  int32_t count = 1;
  while (size / ((int64_t)r->size * count) > MAX_CHUNK_BYTES && count < limit) count++;
  return count;
}

static int32_t offset_of(const run *r, int32_t subdivision, int32_t num_subdivs) {
  const int32_t stride = r->size / r->group->num_tasks / num_subdivs;
  const int32_t offset = (stride > 0 ? stride : 1) * subdivision;
  return subdivision % 2 == 1 ? -offset : offset;
}

// How many elements a chunk has, as TensorFlow has it: always up to the next multiple of 64 bytes.
static int64_t chunk_elements(const run *r, int64_t total, int64_t num_chunks) {
  const int64_t size = (int64_t)r->element_bytes;
  const int64_t least = (total + num_chunks - 1) / num_chunks;
  return (least * size / ALIGNED_BYTES + 1) * ALIGNED_BYTES / size;
}

static int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }

static rheos_status *start_section(run *r, int32_t chunk, int32_t subdivision, int32_t num_subdivs,
                                   int64_t chunk_length, piece_fn start) {
  const int64_t total = rheos_tensor_num_elements(r->output);
  const int32_t section = chunk * num_subdivs + subdivision;
  const int32_t offset = offset_of(r, subdivision, num_subdivs);
  const int64_t first = least_of(total, section * chunk_length);
  const int64_t count = least_of(total, first + chunk_length) - first;
  piece *p = NULL;
  if (count <= 0) return NULL;
  RHEOS_TRY(piece_new(r, first, count, &p));
  p->chunk = chunk;
  p->section = section;
  p->place = own_place(r, offset);
  p->from = member_at(r, offset, before(r, p->place, 1));
  p->input_first = p->sums_first = first;
  p->sums = rheos_tensor_ref(r->output);
  go_on(p, start, NULL);
  return NULL;
}

static rheos_status *start_ring(run *r) {
  const bool gathers = r->membership->what.type == RHEOS__COLLECTIVE_GATHER;
  const int64_t total = rheos_tensor_num_elements(r->output);
  const int32_t num_subdivs = num_subdivisions(r, total);
  const int64_t length =
      gathers ? total / r->size : chunk_elements(r, total, (int64_t)r->size * num_subdivs);
  for (int32_t chunk = 0; chunk < r->size; chunk++) {
    for (int32_t i = 0; i < num_subdivs; i++) {
      RHEOS_TRY(
          start_section(r, chunk, i, num_subdivs, length, gathers ? start_gathered : start_sum));
    }
  }
  return NULL;
}

// The chunk whose sum ends at a member is that one's part.
static rheos_status *start_part(run *r, int32_t part) {
  const int64_t count = rheos_tensor_num_elements(r->output);
  piece *p = NULL;
  if (count == 0) return NULL;
  RHEOS_TRY(piece_new(r, 0, count, &p));
  p->chunk = p->section = (part + 1) % r->size;
  p->place = r->rank;
  p->from = before(r, r->rank, 1);
  p->input_first = part * count;
  rheos_status *status = NULL;
  if (part == r->rank) {
    p->sums = rheos_tensor_ref(r->output);
  } else {
    status = rheos__tensor_new(r->output->dtype, &r->output->shape, &p->sums);
  }
  go_on(p, status == NULL ? start_sum : fail, status);
  return NULL;
}

static rheos_status *start_parts(run *r) {
  for (int32_t part = 0; part < r->size; part++) RHEOS_TRY(start_part(r, part));
  return NULL;
}

// ---- Broadcasts
//
// One tree has a member of each task, the source or the first one; then each task has a tree of its
// own. In a tree of places, whose source may be any, place r gives to 2r + 1 and 2r + 2, or, where
// the source is not place 0, to 2r + 2 and 2r + 3, and the source to 0 and 1 too.

typedef struct tree {
  int32_t number;               // as keys have it
  int32_t size, source, place;  // this member's place, -1: it is not in the tree
} tree;

// The member of task number `task` that is in the tree of tasks, or the task's first one.
static int32_t head_of_task(const run *r, int32_t task, int32_t source) {
  int32_t first = 0, own = 0, head = 0;
  for (int32_t number = 0; first < r->size; number++) {
    const int32_t count = task_of(r->group, first, &own);
    if (number == task) head = source >= first && source < first + count ? source : first;
    first += count;
  }
  return head;
}

static int32_t task_number(const run *r, int32_t member) {
  int32_t number = 0;
  for (int32_t i = 1; i <= member; i++) {
    number += r->group->members[i].task != r->group->members[i - 1].task;
  }
  return number;
}

static tree tree_of_tasks(const run *r, int32_t source) {
  const int32_t own = task_number(r, r->rank);
  return (tree){.number = 0,
                .size = r->group->num_tasks,
                .source = task_number(r, source),
                .place = head_of_task(r, own, source) == r->rank ? own : -1};
}

static tree tree_of_own_task(const run *r, int32_t source) {
  int32_t first;
  const int32_t count = task_of(r->group, r->rank, &first);
  return (tree){.number = task_number(r, r->rank) + (r->group->num_tasks > 1 ? 1 : 0),
                .size = count,
                .source = source >= first && source < first + count ? source - first : 0,
                .place = r->rank - first};
}

static int32_t parent_in(const tree *t) {
  if (t->source == 0) return (t->place - 1) / 2;
  const int32_t parent = t->place / 2 - 1;
  return parent < 0 ? t->source : parent;
}

static void tree_key(const run *r, const tree *t, int32_t from, int32_t to, char *key) {
  snprintf(key, KEY_BYTES, "%s:%d:%d:%d", r->name, (int)t->number, (int)from, (int)to);
}

static rheos_status *give(run *r, const tree *t, int32_t to) {
  char key[KEY_BYTES];
  if (to >= t->size || to == t->source) return NULL;
  tree_key(r, t, t->place, to, key);
  return post(r, key, r->output, 0, rheos_tensor_num_elements(r->output));
}

static rheos_status *give_down(run *r, const tree *t) {
  if (t->place < 0) return NULL;
  const bool is_source = r->membership->what.is_source;
  if (is_source && t->source != 0) {
    RHEOS_TRY(give(r, t, 0));
    RHEOS_TRY(give(r, t, 1));
  }
  const int32_t next = t->source == 0 ? 2 * t->place + 1 : 2 * (t->place + 1);
  RHEOS_TRY(give(r, t, next));
  return give(r, t, next + 1);
}

static rheos_status *give_to_trees(run *r, int32_t source) {
  const tree tasks = tree_of_tasks(r, source), own = tree_of_own_task(r, source);
  if (r->group->num_tasks > 1) RHEOS_TRY(give_down(r, &tasks));
  return give_down(r, &own);
}

static rheos_status *take_broadcast(piece *p, const void *data, bool *out_waits) {
  run *r = p->run;
  (void)out_waits;
  if (p->count > 0) memcpy(rheos_tensor_data(r->output), data, (size_t)p->count * r->element_bytes);
  return give_to_trees(r, p->chunk);
}

static rheos_status *start_receiving(piece *p, const void *data, bool *out_waits) {
  run *r = p->run;
  const int32_t source = p->chunk;
  const tree tasks = tree_of_tasks(r, source), own = tree_of_own_task(r, source);
  const bool is_head = r->group->num_tasks > 1 && tasks.place >= 0;
  const tree *t = is_head ? &tasks : &own;
  char key[KEY_BYTES];
  int32_t first;
  (void)data;
  task_of(r->group, r->rank, &first);
  const int32_t parent = parent_in(t);
  tree_key(r, t, parent, t->place, key);
  const int32_t from = is_head ? head_of_task(r, parent, source) : first + parent;
  return fetch(p, from, key, take_broadcast, out_waits);
}

static rheos_status *start_broadcast(run *r, int32_t source) {
  piece *p = NULL;
  if (r->membership->what.is_source != (source == r->rank)) {
    return rheos_status_new(RHEOS_INTERNAL, "the source of %s is %d, not %d",
                            r->membership->on->base.name, (int)source, (int)r->rank);
  }
  if (source == r->rank) return give_to_trees(r, source);
  if (source < 0 || source >= r->size) return RHEOS_INVALID("a broadcast has no source");
  RHEOS_TRY(piece_new(r, 0, rheos_tensor_num_elements(r->output), &p));
  p->chunk = source;
  go_on(p, start_receiving, NULL);
  return NULL;
}

// ---- Each to each

static void exchange_key(const run *r, int32_t from, int32_t to, char *key) {
  snprintf(key, KEY_BYTES, "%s%d%d", r->name, (int)from, (int)to);
}

static rheos_status *take_exchanged(piece *p, const void *data, bool *out_waits) {
  run *r = p->run;
  (void)out_waits;
  memcpy(bytes_at(r, r->output, p->first), data, (size_t)p->count * r->element_bytes);
  return NULL;
}

static rheos_status *start_exchanged(piece *p, const void *data, bool *out_waits) {
  run *r = p->run;
  char key[KEY_BYTES];
  (void)data;
  exchange_key(r, p->from, r->rank, key);
  return fetch(p, p->from, key, take_exchanged, out_waits);
}

static rheos_status *start_exchange(run *r) {
  rheos_tensor *input = r->membership->what.input;
  const int64_t count = rheos_tensor_num_elements(input) / r->size;
  for (int32_t i = 0; count > 0 && i < r->size; i++) {
    char key[KEY_BYTES];
    piece *p;
    exchange_key(r, r->rank, i, key);
    RHEOS_TRY(post(r, key, input, i * count, count));
    RHEOS_TRY(piece_new(r, i * count, count, &p));
    p->from = i;
    go_on(p, start_exchanged, NULL);
  }
  return NULL;
}

// ---- Beginning

static rheos_status *make_output(run *r) {
  const rheos__collective *what = &r->membership->what;
  if (what->type == RHEOS__COLLECTIVE_MEETING || what->is_source) {
    r->output = rheos_tensor_ref(what->input);
    return NULL;
  }
  return rheos__tensor_new(what->dtype, &what->shape, &r->output);
}

static rheos_status *copy_own(run *r) {
  const rheos_tensor *input = r->membership->what.input;
  if (input == NULL || r->output == input || input->size_bytes == 0) return NULL;
  memcpy(rheos_tensor_data(r->output), input->data, input->size_bytes);
  return NULL;
}

static rheos_status *start(run *r, int32_t source_rank) {
  RHEOS_TRY(make_output(r));
  if (r->size == 1) return copy_own(r);
  switch (r->membership->what.type) {
    case RHEOS__COLLECTIVE_REDUCE:
    case RHEOS__COLLECTIVE_GATHER: return start_ring(r);
    case RHEOS__COLLECTIVE_REDUCE_SCATTER: return start_parts(r);
    case RHEOS__COLLECTIVE_BROADCAST: return start_broadcast(r, source_rank);
    case RHEOS__COLLECTIVE_ALL_TO_ALL: return start_exchange(r);
    default: return NULL;
  }
}

void rheos__collective_run_take(rheos__membership *membership, rheos__worker_step *step,
                                const rheos__task_group *group, int32_t source_rank,
                                void (*ended)(void *argument), void *argument) {
  const rheos__collective *what = &membership->what;
  run *r = rheos__alloc_zeroed(sizeof *r);
  if (r == NULL) {
    rheos__membership_end_take(membership, rheos__out_of_memory(), NULL);
    rheos__membership_unref(membership);
    rheos__worker_step_unref(step);
    ended(argument);
    return;
  }
  *r = (run){.membership = membership,
             .step = step,
             .group = group,
             .rank = rheos__group_rank(group, what->device),
             .size = group->size,
             .element_bytes = rheos_dtype_size(what->dtype),
             .ended = ended,
             .argument = argument};
  atomic_init(&r->pending, 1);
  pthread_mutex_init(&r->mutex, NULL);
  snprintf(r->name, sizeof r->name, "%d:%d:%llu:%llu", (int)what->group_key,
           (int)what->instance_key, (unsigned long long)what->frame,
           (unsigned long long)what->trip);
  rheos_status *status = start(r, source_rank);
  if (status != NULL) note_failure_take(r, status);
  done_with_one(r);
}
