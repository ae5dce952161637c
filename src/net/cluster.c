#include "net/cluster.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/text.h"
#include "codec/json.h"

static bool is_job_name(const char *name, size_t size) {
  const size_t most = sizeof((rheos__device_name *)NULL)->job - 1;
  if (size == 0 || size > most || strspn(name, "0123456789") > 0) return false;
  for (size_t i = 0; i < size; i++) {
    const char c = name[i];
    if ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_') {
      return false;
    }
  }
  return true;
}

// "host:port", where the host may be an address of version 6 in brackets.
static bool is_address(const char *text, size_t size) {
  if (memchr(text, '\0', size) != NULL) return false;
  size_t digits = 0;
  while (digits < size && text[size - 1 - digits] >= '0' && text[size - 1 - digits] <= '9')
    digits++;
  return digits > 0 && digits <= 5 && size > digits + 1 && text[size - 1 - digits] == ':';
}

static rheos_status *make_room(rheos__cluster *cluster) {
  const size_t count = (size_t)cluster->num_tasks;
  if (count > 0 && (count & (count - 1)) != 0) return NULL;  // it doubles
  rheos__cluster_task *grown =
      rheos__realloc(cluster->tasks, (count > 0 ? 2 * count : 1) * sizeof *cluster->tasks);
  if (grown == NULL) return rheos__out_of_memory();
  cluster->tasks = grown;
  return NULL;
}

static rheos_status *add_task(rheos__cluster *cluster, rheos_string job, int64_t index,
                              rheos_string address) {
  if (!is_job_name(job.data, job.size_bytes)) {
    return RHEOS_INVALID("'%.*s' is no name of a job", (int)job.size_bytes, job.data);
  }
  if (index < 0 || index > INT32_MAX) {
    return RHEOS_INVALID("%lld is no number of a task", (long long)index);
  }
  if (!is_address(address.data, address.size_bytes)) {
    return RHEOS_INVALID("'%.*s' is no address of a task: it is to be host:port",
                         (int)address.size_bytes, address.data);
  }
  RHEOS_TRY(make_room(cluster));
  rheos__cluster_task *task = &cluster->tasks[cluster->num_tasks];
  *task = (rheos__cluster_task){.parsed = {.task = (int32_t)index, .id = -1}};
  memcpy(task->parsed.job, job.data, job.size_bytes);
  rheos__device_name_format(&task->parsed, task->name, sizeof task->name);
  for (int32_t i = 0; i < cluster->num_tasks; i++) {
    if (strcmp(cluster->tasks[i].name, task->name) != 0) continue;
    return RHEOS_INVALID("%s is listed twice", task->name);
  }
  task->address = rheos__alloc(address.size_bytes + 1);
  if (task->address == NULL) return rheos__out_of_memory();
  memcpy(task->address, address.data, address.size_bytes);
  task->address[address.size_bytes] = '\0';
  cluster->num_tasks++;
  return NULL;
}

static rheos_string text_of(char *text) { return (rheos_string){text, strlen(text)}; }

rheos_status *rheos__cluster_from_def(const Tensorflow__ClusterDef *def,
                                      rheos__cluster *out_cluster) {
  *out_cluster = (rheos__cluster){NULL, 0};
  for (size_t j = 0; def != NULL && j < def->n_job; j++) {
    const Tensorflow__JobDef *job = def->job[j];
    for (size_t i = 0; i < job->n_tasks; i++) {
      RHEOS_TRY(add_task(out_cluster, text_of(job->name), job->tasks[i]->key,
                         text_of(job->tasks[i]->value)));
    }
  }
  return NULL;
}

// ---- JSON

typedef struct reader {
  rheos__json json;
  rheos__cluster *cluster;
  char *job;
} reader;

static rheos_status *expect(reader *r, char c) {
  static const char *const what[] = {"':' is missing", "'{' is missing", "'[' or '{' is missing"};
  if (rheos__json_take(&r->json, c)) return NULL;
  return rheos__json_wrong(&r->json, c == ':' ? what[0] : c == '{' ? what[1] : what[2]);
}

static rheos_status *read_address(reader *r, int64_t index) {
  RHEOS_TRY(rheos__json_read_string(&r->json));
  return add_task(r->cluster, text_of(r->job), index, rheos__json_string(&r->json));
}

// Goes on behind a comma, to the end that `close` is.
static rheos_status *is_over(reader *r, char close, bool *out_over) {
  *out_over = rheos__json_take(&r->json, close);
  if (*out_over || rheos__json_take(&r->json, ',')) return NULL;
  return rheos__json_wrong(&r->json, "',' is missing");
}

static rheos_status *read_list(reader *r) {
  bool over = rheos__json_take(&r->json, ']');
  for (int64_t index = 0; !over; index++) {
    RHEOS_TRY(read_address(r, index));
    RHEOS_TRY(is_over(r, ']', &over));
  }
  return NULL;
}

static rheos_status *read_number(reader *r, int64_t *out_number) {
  bool is_quoted;
  RHEOS_TRY(rheos__json_read_number(&r->json, &is_quoted));
  const rheos_string text = rheos__json_string(&r->json);
  if (text.size_bytes > 9 || memchr(text.data, '.', text.size_bytes) != NULL ||
      memchr(text.data, 'e', text.size_bytes) != NULL) {
    return rheos__json_wrong(&r->json, "no number of a task");
  }
  *out_number = strtol(text.data, NULL, 10);
  return NULL;
}

static rheos_status *read_tasks(reader *r) {
  if (rheos__json_take(&r->json, '[')) return read_list(r);
  if (!rheos__json_take(&r->json, '{')) return expect(r, '[');
  bool over = rheos__json_take(&r->json, '}');
  while (!over) {
    int64_t index = 0;
    RHEOS_TRY(read_number(r, &index));
    RHEOS_TRY(expect(r, ':'));
    RHEOS_TRY(read_address(r, index));
    RHEOS_TRY(is_over(r, '}', &over));
  }
  return NULL;
}

static rheos_status *keep_job(reader *r) {
  const rheos_string name = rheos__json_string(&r->json);
  rheos__free(r->job);
  r->job = rheos__alloc_zeroed(name.size_bytes + 1);
  if (r->job == NULL) return rheos__out_of_memory();
  memcpy(r->job, name.data, name.size_bytes);
  return NULL;
}

static rheos_status *read_jobs(reader *r) {
  RHEOS_TRY(expect(r, '{'));
  bool over = rheos__json_take(&r->json, '}');
  while (!over) {
    RHEOS_TRY(rheos__json_read_string(&r->json));
    RHEOS_TRY(keep_job(r));
    RHEOS_TRY(expect(r, ':'));
    RHEOS_TRY(read_tasks(r));
    RHEOS_TRY(is_over(r, '}', &over));
  }
  return rheos__json_is_at_end(&r->json) ? NULL
                                         : rheos__json_wrong(&r->json, "something comes behind");
}

rheos_status *rheos__cluster_from_json(const char *text, size_t size_bytes,
                                       rheos__cluster *out_cluster) {
  *out_cluster = (rheos__cluster){NULL, 0};
  reader r = {.json = rheos__json_of(text, size_bytes, "the cluster is no JSON"),
              .cluster = out_cluster};
  rheos_status *status = read_jobs(&r);
  rheos__free(r.job);
  rheos__json_deinit(&r.json);
  return status;
}

void rheos__cluster_deinit(rheos__cluster *cluster) {
  for (int32_t i = 0; i < cluster->num_tasks; i++) rheos__free(cluster->tasks[i].address);
  rheos__free(cluster->tasks);
  *cluster = (rheos__cluster){NULL, 0};
}

// ---- Finding

static rheos_status *not_there(const rheos__cluster *cluster, const char *job, int32_t task) {
  rheos__text all = {0};
  for (int32_t i = 0; i < cluster->num_tasks; i++) {
    if (i > 0) rheos__text_add_string(&all, ", ");
    rheos__text_add_string(&all, cluster->tasks[i].name);
  }
  rheos_status *status = all.failed
                             ? rheos__out_of_memory()
                             : RHEOS_NOTFOUND("the cluster has no task %d of job '%s', only [%s]",
                                              (int)task, job, all.data != NULL ? all.data : "");
  rheos__text_deinit(&all);
  return status;
}

rheos_status *rheos__cluster_find(const rheos__cluster *cluster, const char *job, int32_t task,
                                  int32_t *out_index) {
  for (int32_t i = 0; i < cluster->num_tasks; i++) {
    const rheos__device_name *name = &cluster->tasks[i].parsed;
    if (name->task != task || strcmp(name->job, job) != 0) continue;
    *out_index = i;
    return NULL;
  }
  return not_there(cluster, job, task);
}

int32_t rheos__cluster_task_of(const rheos__cluster *cluster, const char *device) {
  for (int32_t i = 0; i < cluster->num_tasks; i++) {
    const char *name = cluster->tasks[i].name;
    const size_t size = strlen(name);
    if (strncmp(device, name, size) == 0 && (device[size] == '/' || device[size] == '\0')) return i;
  }
  return -1;
}
