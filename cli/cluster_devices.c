// Only jobs and numbers of tasks matter here; what is no cluster is refused.
#include "cluster_devices.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "files.h"
#include "json_lexer.h"

typedef struct reader {
  json_lexer lexer;
  cluster_devices *devices;
  char *job;  // that is read
  int num_cpus, num_gpus;
} reader;

static void add_device(cluster_devices *devices, char *name) {
  if (devices->count == devices->capacity) {
    devices->capacity = 2 * devices->capacity + 8;
    devices->names = command_realloc(devices->names, devices->capacity * sizeof *devices->names);
  }
  devices->names[devices->count++] = name;
}

static void add_devices(reader *r, const char *job, long index, const char *kind, int count) {
  for (int i = 0; i < count; i++) {
    add_device(r->devices,
               command_format("/job:%s/replica:0/task:%ld/device:%s:%d", job, index, kind, i));
  }
}

static void add_task(reader *r, const char *job, long index) {
  add_devices(r, job, index, "CPU", r->num_cpus);
  add_devices(r, job, index, "GPU", r->num_gpus);
}

static rheos_status *expect(reader *r, char c) {
  if (json_lexer_take(&r->lexer, c)) return NULL;
  char *what = command_format("'%c' is missing", c);
  rheos_status *status = json_lexer_wrong(&r->lexer, what);
  free(what);
  return status;
}

// Goes on behind a comma, to the end that `close` is.
static rheos_status *is_over(reader *r, char close, bool *out_over) {
  *out_over = json_lexer_take(&r->lexer, close);
  return *out_over ? NULL : expect(r, ',');
}

static rheos_status *read_index(reader *r, long *out_index) {
  char *end;
  TRY(json_lexer_read_string(&r->lexer));
  *out_index = strtol(r->lexer.text, &end, 10);
  if (end != r->lexer.text && *end == '\0' && *out_index >= 0 && *out_index < 1000000000) {
    return expect(r, ':');
  }
  return json_lexer_wrong(&r->lexer, "no number of a task");
}

static rheos_status *read_tasks(reader *r) {
  const bool is_list = json_lexer_take(&r->lexer, '[');
  const char close = is_list ? ']' : '}';
  if (!is_list) TRY(expect(r, '{'));
  bool over = json_lexer_take(&r->lexer, close);
  for (long index = 0; !over; index++) {
    if (!is_list) TRY(read_index(r, &index));
    TRY(json_lexer_read_string(&r->lexer));  // the address
    add_task(r, r->job, index);
    TRY(is_over(r, close, &over));
  }
  return NULL;
}

static rheos_status *read_jobs(reader *r) {
  TRY(expect(r, '{'));
  bool over = json_lexer_take(&r->lexer, '}');
  while (!over) {
    TRY(json_lexer_read_string(&r->lexer));
    free(r->job);
    r->job = command_format("%s", r->lexer.text);
    TRY(expect(r, ':'));
    TRY(read_tasks(r));
    TRY(is_over(r, '}', &over));
  }
  if (!json_lexer_is_at_end(&r->lexer)) {
    return json_lexer_wrong(&r->lexer, "something comes behind");
  }
  return r->devices->count > 0 ? NULL : INVALID("the cluster has no tasks");
}

static bool is_of_task(const char *device, const char *task) {
  return strncmp(device, task, strlen(task)) == 0;
}

// The task's own first, the others as they were.
static rheos_status *put_first(cluster_devices *devices, const char *job, int index) {
  char *task = command_format("/job:%s/replica:0/task:%d/", job, index);
  char **sorted = command_alloc(devices->count * sizeof *sorted);
  size_t count = 0;
  for (size_t i = 0; i < devices->count; i++) {
    if (is_of_task(devices->names[i], task)) sorted[count++] = devices->names[i];
  }
  const bool is_there = count > 0;
  for (size_t i = 0; i < devices->count; i++) {
    if (!is_of_task(devices->names[i], task)) sorted[count++] = devices->names[i];
  }
  free(devices->names);
  free(task);
  devices->names = sorted;
  devices->capacity = count;
  return is_there ? NULL : INVALID("the cluster has no task %d of job '%s'", index, job);
}

rheos_status *cluster_devices_read(const char *path, int num_cpus, int num_gpus, const char *job,
                                   int index, cluster_devices *out_devices) {
  reader r = {.devices = out_devices, .num_cpus = num_cpus, .num_gpus = num_gpus};
  char *text;
  size_t size_bytes;
  if (path == NULL) {
    add_task(&r, "localhost", 0);
    return NULL;
  }
  TRY(file_read(path, &text, &size_bytes));
  r.lexer = json_lexer_of(text, size_bytes);
  rheos_status *status = read_jobs(&r);
  if (status == NULL && job != NULL) status = put_first(out_devices, job, index);
  json_lexer_deinit(&r.lexer);
  free(r.job);
  free(text);
  return status;
}

void cluster_devices_free(cluster_devices *devices) {
  for (size_t i = 0; i < devices->count; i++) free(devices->names[i]);
  free(devices->names);
}
