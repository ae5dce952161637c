// As TensorFlow's workers note them: a node "RecvTensor" on the device that takes the value, whose
// label says how much came from where.
#include "net/rpc_log.h"

#include <stdatomic.h>
#include <time.h>

#include "base/file.h"

void rheos__rpc_log_init(rheos__rpc_log *log) {
  *log = (rheos__rpc_log){.capacity = 0};
  pthread_mutex_init(&log->mutex, NULL);
}

void rheos__rpc_log_deinit(rheos__rpc_log *log) {
  rheos__rpc_log_clear(log);
  rheos__free(log->notes);
  pthread_mutex_destroy(&log->mutex);
}

static rheos__rpc_note *note_at(rheos__rpc_log *log, size_t index) {
  return &log->notes[(log->first + index) % RHEOS__MOST_RPC_NOTES];
}

// With the mutex held.
static void drop_first(rheos__rpc_log *log) {
  rheos__free(note_at(log, 0)->key);
  log->first = (log->first + 1) % RHEOS__MOST_RPC_NOTES;
  log->count--;
}

void rheos__rpc_log_clear(rheos__rpc_log *log) {
  pthread_mutex_lock(&log->mutex);
  while (log->count > 0) drop_first(log);
  pthread_mutex_unlock(&log->mutex);
}

void rheos__rpc_log_add(rheos__rpc_log *log, int64_t step, const char *key, size_t size_bytes,
                        int64_t start_ns, int64_t end_ns) {
  if (atomic_load(&log->is_on) == 0) return;
  char *copy = rheos__strdup(key);
  pthread_mutex_lock(&log->mutex);
  const bool has_room =
      copy != NULL && RHEOS_RESERVE(log->notes, log->capacity, RHEOS__MOST_RPC_NOTES);
  if (has_room) {
    if (log->count == RHEOS__MOST_RPC_NOTES) drop_first(log);
    *note_at(log, log->count++) = (rheos__rpc_note){step, copy, size_bytes, start_ns, end_ns};
  }
  pthread_mutex_unlock(&log->mutex);
  if (!has_room) rheos__free(copy);
}

// ---- As messages

// The part of a key between semicolons.
static char *part_of_key(const char *key, int index, rheos__arena *arena) {
  for (; index > 0 && key != NULL; index--) {
    key = strchr(key, ';');
    if (key != NULL) key++;
  }
  char *part = rheos__arena_strdup(arena, key != NULL ? key : "");
  if (part != NULL) part[strcspn(part, ";")] = '\0';
  return part;
}

static int64_t now_ns(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static char *label_of(const rheos__rpc_note *note, rheos__arena *arena) {
  const char *from = part_of_key(note->key, 0, arena), *to = part_of_key(note->key, 2, arena);
  const char *name = part_of_key(note->key, 3, arena);
  const double micros = (double)(note->end_ns - note->start_ns) / 1e3;
  const double rate = micros > 0 ? (double)note->size_bytes * 8 / micros : 0;
  if (from == NULL || to == NULL || name == NULL) return NULL;
  char *text = rheos__text_format("[%zuB] [%gMb/s] %s from %s to %s", note->size_bytes, rate, name,
                                  from, to);
  char *label = text != NULL ? rheos__arena_strdup(arena, text) : NULL;
  rheos__free(text);
  return label;
}

static void put_note(const rheos__rpc_note *note, int64_t epoch_ns, rheos__arena *arena,
                     rheos__buffer *steps) {
  Tensorflow__StepStats stats = TENSORFLOW__STEP_STATS__INIT;
  Tensorflow__DeviceStepStats device = TENSORFLOW__DEVICE_STEP_STATS__INIT;
  Tensorflow__NodeExecStats node = TENSORFLOW__NODE_EXEC_STATS__INIT;
  Tensorflow__NodeExecStats *nodes[] = {&node};
  Tensorflow__DeviceStepStats *devices[] = {&device};
  const int64_t start_ns = epoch_ns + note->start_ns, took_ns = note->end_ns - note->start_ns;
  node.node_name = "RecvTensor";
  node.timeline_label = label_of(note, arena);
  node.all_start_micros = start_ns / 1000;
  node.op_end_rel_micros = node.all_end_rel_micros = took_ns / 1000;
  node.all_start_nanos = start_ns;
  node.op_end_rel_nanos = node.all_end_rel_nanos = took_ns;
  device.device = part_of_key(note->key, 2, arena);
  device.node_stats = nodes;
  device.n_node_stats = 1;
  stats.dev_stats = devices;
  stats.n_dev_stats = 1;
  if (node.timeline_label == NULL || device.device == NULL) {
    steps->failed = true;
    return;
  }
  rheos__proto_pack(&stats.base, steps);
}

void rheos__rpc_log_take(rheos__rpc_log *log, int64_t step, rheos__buffer *steps) {
  const int64_t epoch_ns = now_ns(CLOCK_REALTIME) - now_ns(CLOCK_MONOTONIC);
  rheos__arena arena;
  rheos__arena_init(&arena);
  pthread_mutex_lock(&log->mutex);
  const size_t count = log->count;
  for (size_t i = 0, kept = 0; i < count; i++) {
    const rheos__rpc_note note = *note_at(log, i);
    if (note.step != step) {
      *note_at(log, kept++) = note;
      log->count = kept;
      continue;
    }
    put_note(&note, epoch_ns, &arena, steps);
    rheos__free(note.key);
    log->count = kept;
  }
  pthread_mutex_unlock(&log->mutex);
  rheos__arena_deinit(&arena);
}
