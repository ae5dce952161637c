#include "net/collective_groups.h"

#include <stdlib.h>

#include "base/alloc.h"

typedef struct group_waiter {
  rheos__group_fn told;
  void *argument;
  struct group_waiter *next;
} group_waiter;

typedef struct source_waiter {
  rheos__source_fn told;
  void *argument;
  struct source_waiter *next;
} source_waiter;

typedef struct task_instance {
  rheos__collective what;  // of the first member that came
  int32_t source_rank;     // -1: none has come
  int32_t num_come;
  bool *has_come;  // by rank
  bool is_told;    // by the leader; of the leader's own: all is known
  rheos_code failed;
  char *why;
  source_waiter *waiters;
  struct task_instance *next;
} task_instance;

void rheos__groups_init(rheos__groups *groups, rheos__peers *peers, int32_t own_task,
                        int32_t leader, uint64_t incarnation) {
  *groups = (rheos__groups){
      .peers = peers, .own_task = own_task, .leader = leader, .incarnation = incarnation};
  pthread_mutex_init(&groups->mutex, NULL);
}

static void group_free(rheos__task_group *g) {
  for (int32_t i = 0; i < g->count; i++) rheos__free(g->members[i].named.device);
  rheos__free(g->members);
  rheos__free(g->why);
  rheos__free(g);
}

void rheos__groups_deinit(rheos__groups *groups) {
  rheos__groups_end(groups);
  for (rheos__task_group *g = groups->groups, *next; g != NULL; g = next) {
    next = g->next;
    group_free(g);
  }
  for (task_instance *i = groups->instances, *next; i != NULL; i = next) {
    next = i->next;
    rheos__free(i->has_come);
    rheos__free(i->why);
    rheos__free(i);
  }
  pthread_mutex_destroy(&groups->mutex);
}

static rheos_status *ended(void) {
  return rheos_status_new(RHEOS_UNAVAILABLE, "the server was stopped");
}

// ---- Groups, with the mutex held

int32_t rheos__group_rank(const rheos__task_group *group, const char *device) {
  for (int32_t i = 0; i < group->count; i++) {
    if (strcmp(group->members[i].named.device, device) == 0) return i;
  }
  return -1;
}

static rheos__task_group *find_group(const rheos__groups *groups, int32_t key) {
  rheos__task_group *g = groups->groups;
  while (g != NULL && g->key != key) g = g->next;
  return g;
}

enum { MAX_MEMBERS = 65536 };

static rheos_status *group_new(rheos__groups *groups, int32_t key, int32_t size,
                               rheos__task_group **out_group) {
  if (size <= 0 || size > MAX_MEMBERS) {
    return RHEOS_INVALID("a group has 1 to %d members, not %d", MAX_MEMBERS, (int)size);
  }
  rheos__task_group *g = rheos__alloc_zeroed(sizeof *g);
  rheos__group_member *members = rheos__alloc_array((size_t)size, sizeof *members);
  if (g == NULL || members == NULL) {
    rheos__free(g);
    rheos__free(members);
    return rheos__out_of_memory();
  }
  *g = (rheos__task_group){.key = key, .size = size, .members = members, .next = groups->groups};
  groups->groups = *out_group = g;
  return NULL;
}

static rheos_status *add_member(const rheos__groups *groups, rheos__task_group *g,
                                const char *device, uint64_t incarnation) {
  const int32_t task = rheos__cluster_task_of(&groups->peers->cluster, device);
  if (task < 0) return RHEOS_INVALID("%s is no device of the cluster", device);
  char *name = rheos__strdup(device);
  if (name == NULL) return rheos__out_of_memory();
  g->members[g->count++] = (rheos__group_member){
      .named = {.device = name, .rank = -1}, .incarnation = incarnation, .task = task};
  return NULL;
}

static void become_whole(rheos__task_group *g) {
  qsort(g->members, (size_t)g->count, sizeof *g->members, rheos__compare_ranks);
  for (int32_t i = 0; i < g->count; i++) {
    g->num_tasks += i == 0 || g->members[i].task != g->members[i - 1].task;
  }
}

static rheos_status *restarted(const char *device) {
  return rheos_status_new(RHEOS_FAILED_PRECONDITION,
                          "Device %s current incarnation doesn't match with one in the group: its "
                          "task was started anew, and the leader of the collectives was not",
                          device);
}

static rheos_status *join_group(rheos__groups *groups, rheos__task_group *g,
                                const rheos__group_asker *asker) {
  const rheos__collective *what = asker->what;
  if (g->size != what->group_size) {
    return rheos_status_new(RHEOS_INTERNAL,
                            "Device %s is joining a group with size %d, but that group has size %d "
                            "(group_key=%d)",
                            what->device, (int)what->group_size, (int)g->size, (int)g->key);
  }
  const int32_t rank = rheos__group_rank(g, what->device);
  if (rank >= 0) {
    return g->members[rank].incarnation == asker->incarnation ? NULL : restarted(what->device);
  }
  if (g->count == g->size) {
    return rheos_status_new(RHEOS_INTERNAL,
                            "Device %s is joining a group that is already full (group_key=%d)",
                            what->device, (int)g->key);
  }
  RHEOS_TRY(add_member(groups, g, what->device, asker->incarnation));
  if (g->count == g->size) become_whole(g);
  return NULL;
}

static rheos_status *failure(rheos_code code, const char *why) {
  return code == RHEOS_OK ? NULL : rheos_status_new(code, "%s", why != NULL ? why : "");
}

// Takes those who wait, if they need not any more.
static group_waiter *take_waiters(rheos__task_group *g) {
  if (g->failed == RHEOS_OK && g->count < g->size) return NULL;
  group_waiter *waiters = g->waiters;
  g->waiters = NULL;
  return waiters;
}

static void fail_group(rheos__task_group *g, const rheos_status *why) {
  if (g->failed != RHEOS_OK) return;
  g->failed = rheos_status_code(why);
  g->why = rheos__strdup(rheos_status_message(why));
}

// No lock is held.
static void tell_group(group_waiter *waiters, const rheos__task_group *g) {
  while (waiters != NULL) {
    group_waiter *next = waiters->next;
    waiters->told(waiters->argument, failure(g->failed, g->why), g);
    rheos__free(waiters);
    waiters = next;
  }
}

void rheos__groups_add(rheos__groups *groups, const rheos__group_asker *asker, rheos__group_fn told,
                       void *argument) {
  group_waiter *waiter = rheos__alloc(sizeof *waiter), *ready = NULL;
  if (waiter == NULL) {
    told(argument, rheos__out_of_memory(), NULL);
    return;
  }
  *waiter = (group_waiter){told, argument, NULL};
  pthread_mutex_lock(&groups->mutex);
  rheos__task_group *g = find_group(groups, asker->what->group_key);
  rheos_status *status =
      g == NULL ? group_new(groups, asker->what->group_key, asker->what->group_size, &g) : NULL;
  if (status == NULL && groups->has_ended) status = ended();
  if (status == NULL) status = failure(g->failed, g->why);
  if (status == NULL) status = join_group(groups, g, asker);
  if (g != NULL && rheos_status_code(status) == RHEOS_INTERNAL && g->count < g->size) {
    fail_group(g, status);
  }
  if (status == NULL) {
    waiter->next = g->waiters;
    g->waiters = waiter;
  }
  if (g != NULL) ready = take_waiters(g);
  pthread_mutex_unlock(&groups->mutex);
  tell_group(ready, g);
  if (status == NULL) return;
  rheos__free(waiter);
  told(argument, status, NULL);
}

// ---- Instances, with the mutex held

static task_instance *find_instance(const rheos__groups *groups, const rheos__collective *what) {
  task_instance *i = groups->instances;
  while (i != NULL &&
         (i->what.group_key != what->group_key || i->what.instance_key != what->instance_key)) {
    i = i->next;
  }
  return i;
}

static task_instance *find_or_make_instance(rheos__groups *groups, const rheos__collective *what) {
  task_instance *i = find_instance(groups, what);
  if (i != NULL) return i;
  i = rheos__alloc_zeroed(sizeof *i);
  bool *has_come = rheos__alloc_zeroed((size_t)what->group_size * sizeof *has_come + 1);
  if (i == NULL || has_come == NULL) {
    rheos__free(i);
    rheos__free(has_come);
    return NULL;
  }
  i->what = *what;
  i->what.device = NULL;
  i->what.input = NULL;
  i->source_rank = -1;
  i->has_come = has_come;
  i->next = groups->instances;
  groups->instances = i;
  return i;
}

static rheos_status *note_source(task_instance *i, const rheos__collective *what, int32_t rank) {
  if (what->is_source) {
    if (i->source_rank >= 0 && i->source_rank != rank) {
      return rheos__collective_second_source(what, i->source_rank, rank);
    }
    i->source_rank = rank;
  }
  if (i->source_rank >= 0 || i->num_come < what->group_size) return NULL;
  return rheos__collective_no_source(what);
}

// What all have to agree on is looked at when they first come: a later round has its own shape.
static rheos_status *come_to(const rheos__groups *groups, task_instance *i,
                             const rheos__collective *what) {
  const rheos__task_group *g = find_group(groups, what->group_key);
  const int32_t rank = g != NULL && g->count == g->size && g->size == i->what.group_size
                           ? rheos__group_rank(g, what->device)
                           : -1;
  if (rank < 0) {
    return rheos_status_new(RHEOS_FAILED_PRECONDITION,
                            "group %d is not known to have %s as a member: the leader of the "
                            "collectives may have been started anew",
                            (int)what->group_key, what->device);
  }
  if (i->has_come[rank]) return NULL;
  i->has_come[rank] = true;
  i->num_come++;
  RHEOS_TRY(rheos__collective_check_fits(&i->what, what));
  return what->type == RHEOS__COLLECTIVE_BROADCAST ? note_source(i, what, rank) : NULL;
}

static bool is_known(const task_instance *i) {
  return i->failed != RHEOS_OK || i->is_told || i->source_rank >= 0 ||
         i->what.type != RHEOS__COLLECTIVE_BROADCAST;
}

static source_waiter *take_source_waiters(task_instance *i) {
  if (!is_known(i)) return NULL;
  source_waiter *waiters = i->waiters;
  i->waiters = NULL;
  return waiters;
}

static void tell_source(source_waiter *waiters, rheos_code failed, const char *why,
                        int32_t source_rank) {
  while (waiters != NULL) {
    source_waiter *next = waiters->next;
    waiters->told(waiters->argument, failure(failed, why), source_rank);
    rheos__free(waiters);
    waiters = next;
  }
}

void rheos__groups_add_to_instance(rheos__groups *groups, const rheos__collective *what,
                                   rheos__source_fn told, void *argument) {
  source_waiter *waiter = rheos__alloc(sizeof *waiter), *ready = NULL;
  if (waiter == NULL) {
    told(argument, rheos__out_of_memory(), -1);
    return;
  }
  *waiter = (source_waiter){told, argument, NULL};
  pthread_mutex_lock(&groups->mutex);
  task_instance *i = what->group_size > 0 && what->group_size <= MAX_MEMBERS
                         ? find_or_make_instance(groups, what)
                         : NULL;
  rheos_status *status = i == NULL ? rheos__out_of_memory() : failure(i->failed, i->why);
  if (status == NULL && groups->has_ended) status = ended();
  if (status == NULL) {
    status = come_to(groups, i, what);
    if (status != NULL && rheos_status_code(status) != RHEOS_FAILED_PRECONDITION) {
      i->failed = rheos_status_code(status);
      i->why = rheos__strdup(rheos_status_message(status));
    }
  }
  if (status == NULL) {
    waiter->next = i->waiters;
    i->waiters = waiter;
  }
  if (i != NULL) ready = take_source_waiters(i);
  const rheos_code failed = i != NULL ? i->failed : RHEOS_OK;
  const char *why = i != NULL ? i->why : NULL;  // it lasts as long as the instance
  const int32_t source_rank = i != NULL ? i->source_rank : -1;
  pthread_mutex_unlock(&groups->mutex);
  tell_source(ready, failed, why, source_rank);
  if (status == NULL) return;
  rheos__free(waiter);
  told(argument, status, -1);
}

// ---- What another task that is the leader told

// With the mutex held.
static rheos_status *keep_group(rheos__groups *groups,
                                const Tensorflow__CompleteGroupResponse *reply) {
  rheos__task_group *g = find_group(groups, reply->group_key);
  if (g != NULL) return NULL;
  if (reply->n_device_attributes != (size_t)reply->group_size) {
    return RHEOS_INVALID("a group of %d was told with %zu devices", (int)reply->group_size,
                         reply->n_device_attributes);
  }
  RHEOS_TRY(group_new(groups, reply->group_key, reply->group_size, &g));
  rheos_status *status = NULL;
  for (size_t i = 0; status == NULL && i < reply->n_device_attributes; i++) {
    const Tensorflow__DeviceAttributes *device = reply->device_attributes[i];
    status = add_member(groups, g, device->name, device->incarnation);
  }
  if (status == NULL) {
    become_whole(g);
  } else {
    groups->groups = g->next;
    group_free(g);
  }
  return status;
}

rheos_status *rheos__groups_keep(rheos__groups *groups,
                                 const Tensorflow__CompleteGroupResponse *reply,
                                 const rheos__task_group **out_group) {
  pthread_mutex_lock(&groups->mutex);
  rheos_status *status = keep_group(groups, reply);
  *out_group = status == NULL ? find_group(groups, reply->group_key) : NULL;
  pthread_mutex_unlock(&groups->mutex);
  return status;
}

const rheos__task_group *rheos__groups_known(rheos__groups *groups, int32_t key) {
  pthread_mutex_lock(&groups->mutex);
  const rheos__task_group *g = find_group(groups, key);
  pthread_mutex_unlock(&groups->mutex);
  return g;
}

rheos_status *rheos__groups_keep_source(rheos__groups *groups, const rheos__collective *what,
                                        int32_t source_rank) {
  pthread_mutex_lock(&groups->mutex);
  task_instance *i = find_or_make_instance(groups, what);
  if (i != NULL) {
    i->source_rank = source_rank;
    i->is_told = true;
  }
  pthread_mutex_unlock(&groups->mutex);
  return i != NULL ? NULL : rheos__out_of_memory();
}

bool rheos__groups_knows_source(rheos__groups *groups, const rheos__collective *what,
                                int32_t *out_source_rank) {
  pthread_mutex_lock(&groups->mutex);
  const task_instance *i = find_instance(groups, what);
  const bool is_told = i != NULL && i->is_told;
  if (is_told) *out_source_rank = i->source_rank;
  pthread_mutex_unlock(&groups->mutex);
  return is_told;
}

void rheos__groups_begin_call(rheos__groups *groups, rheos__group_call *call) {
  pthread_mutex_lock(&groups->mutex);
  call->next = groups->calls;
  if (call->next != NULL) call->next->before = call;
  groups->calls = call;
  pthread_mutex_unlock(&groups->mutex);
}

void rheos__groups_keep_call(rheos__groups *groups, rheos__group_call *call,
                             rheos__peer_call *peer_call) {
  pthread_mutex_lock(&groups->mutex);
  call->call = peer_call;
  if (groups->has_ended) rheos__peer_call_cancel(peer_call);
  pthread_mutex_unlock(&groups->mutex);
}

void rheos__groups_end_call(rheos__groups *groups, rheos__group_call *call) {
  pthread_mutex_lock(&groups->mutex);
  if (call->before != NULL) {
    call->before->next = call->next;
  } else {
    groups->calls = call->next;
  }
  if (call->next != NULL) call->next->before = call->before;
  pthread_mutex_unlock(&groups->mutex);
}

// ---- The end

void rheos__groups_end(rheos__groups *groups) {
  group_waiter *waiters = NULL;
  source_waiter *sources = NULL;
  pthread_mutex_lock(&groups->mutex);
  groups->has_ended = true;
  for (rheos__task_group *g = groups->groups; g != NULL; g = g->next) {
    while (g->waiters != NULL) {
      group_waiter *w = g->waiters;
      g->waiters = w->next;
      w->next = waiters;
      waiters = w;
    }
  }
  for (task_instance *i = groups->instances; i != NULL; i = i->next) {
    while (i->waiters != NULL) {
      source_waiter *w = i->waiters;
      i->waiters = w->next;
      w->next = sources;
      sources = w;
    }
  }
  for (rheos__group_call *c = groups->calls; c != NULL; c = c->next) {
    if (c->call != NULL) rheos__peer_call_cancel(c->call);
  }
  pthread_mutex_unlock(&groups->mutex);
  const rheos__task_group over = {.failed = RHEOS_UNAVAILABLE,
                                  .why = (char *)(uintptr_t)"the server was stopped"};
  tell_group(waiters, &over);
  tell_source(sources, RHEOS_UNAVAILABLE, over.why, -1);
}
