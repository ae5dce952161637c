// A round lies in its instance from the first member's coming until the last one's going. What the
// members brought is the round's, so whoever combines it needs none of them to be there still.
//
// Locks: the groups' before an instance's. No function of the caller is called with either.
#include "resource/collective.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "resource/collective_round.h"

typedef struct group {
  int32_t key, size, count;
  rheos_code failed;  // RHEOS_OK: it has not
  char *why;
  rheos__named_rank *members;  // `count` of `size`
  struct group *next;
} group;

typedef struct instance {
  rheos__waitable waitable;
  rheos__round *first;  // guarded by the waitable's mutex
  // Guarded by the groups' mutex:
  const rheos__instances *owner;
  int32_t group_key, instance_key;
  int32_t num_users;
  struct instance *next;
} instance;

struct rheos__collectives {
  _Atomic int32_t references;
  int32_t num_devices;
  rheos__doorway *doorway;  // NULL: there is none
  rheos__alarms alarms;     // of members who do not wait for ever
  pthread_mutex_t mutex;    // guards what follows
  group *groups;
  instance *instances;
};

struct rheos__instances {
  _Atomic int32_t references;
  rheos__collectives *collectives;
  int64_t step_id;
};

// ---- Groups, with their mutex held

static group *find_group(const rheos__collectives *c, int32_t key) {
  group *g = c->groups;
  while (g != NULL && g->key != key) g = g->next;
  return g;
}

static void group_free(group *g) {
  for (int32_t i = 0; i < g->count; ++i) rheos__free(g->members[i].device);
  rheos__free(g->members);
  rheos__free(g->why);
  rheos__free(g);
}

static rheos_status *find_or_make_group(rheos__collectives *c, const rheos__collective *what,
                                        group **out_group) {
  *out_group = find_group(c, what->group_key);
  if (*out_group != NULL) return NULL;
  group *made = rheos__alloc_zeroed(sizeof *made);
  rheos__named_rank *members = rheos__alloc_array((size_t)what->group_size, sizeof *members);
  if (made == NULL || members == NULL) {
    rheos__free(made);
    rheos__free(members);
    return rheos__out_of_memory();
  }
  *made = (group){.key = what->group_key, .size = what->group_size, .members = members};
  made->next = c->groups;
  c->groups = *out_group = made;
  return NULL;
}

static bool is_member(const group *g, const char *device) {
  for (int32_t i = 0; i < g->count; ++i) {
    if (strcmp(g->members[i].device, device) == 0) return true;
  }
  return false;
}

static rheos_status *add_member(group *g, const rheos__collective *what) {
  if (g->size != what->group_size) {
    return rheos_status_new(RHEOS_INTERNAL,
                            "Device %s is joining a group with size %d, but that group has size %d "
                            "(group_key=%d)",
                            what->device, (int)what->group_size, (int)g->size, (int)g->key);
  }
  if (is_member(g, what->device)) return NULL;
  if (g->count == g->size) {
    return rheos_status_new(RHEOS_INTERNAL,
                            "Device %s is joining the group of key %d, but all %d members of that "
                            "are there, and it is none of them",
                            what->device, (int)g->key, (int)g->size);
  }
  char *device = rheos__strdup(what->device);
  if (device == NULL) return rheos__out_of_memory();
  g->members[g->count++] = (rheos__named_rank){.device = device, .rank = what->rank};
  return NULL;
}

// ---- Rounds, with the instance's mutex held

// Lets go of rounds that all members have come to and left, and of what nobody came to.
static void drop_rounds(instance *i) {
  for (rheos__round **at = &i->first; *at != NULL;) {
    rheos__round *r = *at;
    if (r->num_users == 0 && (r->num_come == r->what.group_size || r->num_come == 0)) {
      *at = r->next;
      rheos__round_free(r);
    } else {
      at = &r->next;
    }
  }
}

// The first round that the device has not come to.
static rheos__round *find_or_begin_round(instance *i, const rheos__collective *what) {
  rheos__round **at = &i->first;
  while (*at != NULL && rheos__round_place_of(*at, what->device) >= 0) at = &(*at)->next;
  if (*at == NULL) *at = rheos__round_new(what);
  return *at;
}

// ---- The whole

rheos__collectives *rheos__collectives_new(int32_t num_devices) {
  rheos__collectives *c = rheos__alloc_zeroed(sizeof *c);
  if (c == NULL) return NULL;
  atomic_init(&c->references, 1);
  c->num_devices = num_devices;
  rheos__alarms_init(&c->alarms);
  pthread_mutex_init(&c->mutex, NULL);
  return c;
}

rheos__collectives *rheos__collectives_ref(rheos__collectives *collectives) {
  atomic_fetch_add_explicit(&collectives->references, 1, memory_order_relaxed);
  return collectives;
}

void rheos__collectives_unref(rheos__collectives *collectives) {
  if (collectives == NULL || atomic_fetch_sub(&collectives->references, 1) != 1) return;
  assert(collectives->instances == NULL);
  for (group *g = collectives->groups, *next; g != NULL; g = next) {
    next = g->next;
    group_free(g);
  }
  rheos__alarms_deinit(&collectives->alarms);
  rheos__doorway_unref(collectives->doorway);
  pthread_mutex_destroy(&collectives->mutex);
  rheos__free(collectives);
}

rheos__instances *rheos__instances_new(rheos__collectives *collectives, int64_t step_id) {
  rheos__instances *i = rheos__alloc_zeroed(sizeof *i);
  if (i == NULL) return NULL;
  atomic_init(&i->references, 1);
  i->collectives = rheos__collectives_ref(collectives);
  i->step_id = step_id;
  return i;
}

rheos__instances *rheos__instances_ref(rheos__instances *instances) {
  atomic_fetch_add_explicit(&instances->references, 1, memory_order_relaxed);
  return instances;
}

// Nobody uses them any more: what is left is rounds that some have not come to.
static void drop_instances(const rheos__instances *owner) {
  rheos__collectives *c = owner->collectives;
  pthread_mutex_lock(&c->mutex);
  for (instance **at = &c->instances; *at != NULL;) {
    instance *i = *at;
    if (i->owner == owner) {
      assert(i->num_users == 0);
      *at = i->next;
      rheos__resource_unref(&i->waitable.base);
    } else {
      at = &i->next;
    }
  }
  pthread_mutex_unlock(&c->mutex);
}

void rheos__instances_unref(rheos__instances *instances) {
  if (instances == NULL || atomic_fetch_sub(&instances->references, 1) != 1) return;
  drop_instances(instances);
  rheos__collectives_unref(instances->collectives);
  rheos__free(instances);
}

// ---- Instances

static rheos_status *init_instance(rheos__resource *resource, const void *argument) {
  (void)argument;
  rheos__waitable_init(&((instance *)resource)->waitable);
  return NULL;
}

static void deinit_instance(rheos__resource *resource) {
  instance *i = (instance *)resource;
  while (i->first != NULL) {
    rheos__round *r = i->first;
    i->first = r->next;
    rheos__round_free(r);
  }
  rheos__waitable_deinit(&i->waitable);
}

static const rheos__resource_kind instance_kind = {.name = "collective",
                                                   .size_bytes = sizeof(instance),
                                                   .init = init_instance,
                                                   .deinit = deinit_instance};

static rheos_status *new_instance(const rheos__collective *what, rheos__resource **out_resource) {
  char name[64];
  snprintf(name, sizeof name, "group %d, instance %d", (int)what->group_key,
           (int)what->instance_key);
  return rheos__resource_new(&instance_kind, name, NULL, out_resource);
}

// In use until end_use(). With the groups' mutex held.
static rheos_status *use_instance(const rheos__instances *owner, const rheos__collective *what,
                                  instance **out_instance) {
  rheos__collectives *c = owner->collectives;
  instance *i = c->instances;
  while (i != NULL && (i->owner != owner || i->group_key != what->group_key ||
                       i->instance_key != what->instance_key)) {
    i = i->next;
  }
  if (i == NULL) {
    rheos__resource *made = NULL;
    RHEOS_TRY(new_instance(what, &made));
    i = (instance *)made;
    i->owner = owner;
    i->group_key = what->group_key;
    i->instance_key = what->instance_key;
    i->next = c->instances;
    c->instances = i;
  }
  ++i->num_users;
  *out_instance = i;
  return NULL;
}

static void end_use(rheos__collectives *c, instance *used) {
  pthread_mutex_lock(&c->mutex);
  pthread_mutex_lock(&used->waitable.mutex);
  drop_rounds(used);
  const bool is_empty = used->first == NULL;
  pthread_mutex_unlock(&used->waitable.mutex);
  if (--used->num_users == 0 && is_empty) {
    instance **at = &c->instances;
    while (*at != used) at = &(*at)->next;
    *at = used->next;
    rheos__resource_unref(&used->waitable.base);
  }
  pthread_mutex_unlock(&c->mutex);
}

// ---- Joining

typedef struct joining {
  rheos__attempt attempt;
  rheos__instances *owner;  // counted
  rheos__round *round;
  char *device;
  rheos_tensor *output;
  bool is_last;  // to come to the round
  rheos__alarm alarm;
} joining;

static rheos__tried run_joining(rheos__attempt *attempt) {
  joining *j = (joining *)attempt;
  rheos__round *r = j->round;
  attempt->status = rheos__round_failure(r);
  if (attempt->status != NULL) return RHEOS__TRIED_DONE;
  if (r->state != RHEOS__OVER) return RHEOS__TRIED_IN_VAIN;
  rheos__contribution *own = &r->contributions[rheos__round_place_of(r, j->device)];
  j->output = own->output;
  own->output = NULL;
  return RHEOS__TRIED_DONE;
}

static void leave_round(rheos__attempt *attempt) {
  const joining *j = (joining *)attempt;
  char why[512];
  snprintf(why, sizeof why,
           "%s has left the collective of %s before the others had come: its step was stopped",
           j->device, attempt->on->base.name);
  if (!rheos__round_is_decided(j->round)) rheos__round_fail(j->round, RHEOS_CANCELLED, why);
}

static rheos_status *finish_joining(rheos__attempt *attempt, rheos__step *step,
                                    rheos_tensor **outputs) {
  (void)step;
  joining *j = (joining *)attempt;
  if (j->output != NULL) outputs[0] = j->output;
  j->output = NULL;
  return NULL;
}

static void deinit_joining(rheos__attempt *attempt) {
  joining *j = (joining *)attempt;
  instance *i = (instance *)attempt->on;
  rheos__alarm_cancel(&j->owner->collectives->alarms, &j->alarm);
  pthread_mutex_lock(&i->waitable.mutex);
  --j->round->num_users;
  pthread_mutex_unlock(&i->waitable.mutex);
  end_use(j->owner->collectives, i);
  rheos_tensor_unref(j->output);
  rheos__instances_unref(j->owner);
  rheos__free(j->device);
}

static const rheos__attempt_kind joining_kind = {.what = "the other members",
                                                 .run = run_joining,
                                                 .give_back = leave_round,
                                                 .finish = finish_joining,
                                                 .deinit = deinit_joining,
                                                 .lets_pass = true};

static void serve(instance *i) { rheos__waitable_serve(&i->waitable); }

static void add_text(rheos__text *text, const char *part) {
  rheos__text_add(text, part, strlen(part));
}

// The round waits no longer.
static void time_out(rheos__alarm *alarm) {
  joining *j = (joining *)((char *)alarm - offsetof(joining, alarm));
  instance *i = (instance *)j->attempt.on;
  rheos__round *r = j->round;
  rheos__text text = {0};
  char numbers[160];
  pthread_mutex_lock(&i->waitable.mutex);
  if (!rheos__round_is_decided(r)) {
    snprintf(
        numbers, sizeof numbers,
        "Collective has timed out waiting for other workers: of the %d members of %s %d came, ",
        (int)r->what.group_size, i->waitable.base.name, (int)r->num_come);
    add_text(&text, numbers);
    for (int32_t k = 0; k < r->num_come; ++k) {
      if (k > 0) add_text(&text, ", ");
      add_text(&text, r->members[k].device);
    }
    rheos__round_fail(r, RHEOS_DEADLINE_EXCEEDED, text.failed ? numbers : text.data);
    serve(i);
  }
  pthread_mutex_unlock(&i->waitable.mutex);
  rheos__text_deinit(&text);
}

// With the groups' mutex held.
static void fail_group(rheos__collectives *c, group *g, const rheos_status *why) {
  if (g->failed != RHEOS_OK) return;
  g->failed = rheos_status_code(why);
  g->why = rheos__strdup(rheos_status_message(why));
  for (instance *i = c->instances; i != NULL; i = i->next) {
    if (i->group_key != g->key) continue;
    pthread_mutex_lock(&i->waitable.mutex);
    for (rheos__round *r = i->first; r != NULL; r = r->next) {
      if (!rheos__round_is_decided(r)) rheos__round_fail(r, g->failed, rheos_status_message(why));
    }
    serve(i);
    pthread_mutex_unlock(&i->waitable.mutex);
  }
}

// With the groups' mutex held.
static rheos_status *join_group(rheos__collectives *c, const rheos__collective *what) {
  group *g = NULL;
  RHEOS_TRY(find_or_make_group(c, what, &g));
  if (g->failed != RHEOS_OK) {
    return rheos_status_new(g->failed, "%s; so the group of key %d has failed",
                            g->why != NULL ? g->why : "", (int)g->key);
  }
  rheos_status *status = add_member(g, what);
  if (rheos_status_code(status) == RHEOS_INTERNAL) fail_group(c, g, status);
  return status;
}

// Comes to the round, and tells the others where that has failed. With the groups' mutex held.
static rheos_status *join_round(instance *i, const rheos__collective *what, joining *j) {
  pthread_mutex_lock(&i->waitable.mutex);
  rheos__round *r = find_or_begin_round(i, what);
  rheos_status *status = r == NULL ? rheos__out_of_memory() : rheos__round_come_to(r, what);
  if (status == NULL) {
    j->round = r;
    if (r->failed == RHEOS_OK && r->num_come == r->what.group_size) {
      j->is_last = rheos__round_begin_combining(r);
    }
    if (r->failed != RHEOS_OK) serve(i);
  }
  pthread_mutex_unlock(&i->waitable.mutex);
  return status;
}

static void combine(instance *i, rheos__round *r, const rheos__collective *what,
                    rheos__step *step) {
  rheos_status *status = what->combine(what, step, r->contributions);
  pthread_mutex_lock(&i->waitable.mutex);
  if (status != NULL) rheos__round_fail_take(r, status);
  r->state = RHEOS__OVER;
  serve(i);
  pthread_mutex_unlock(&i->waitable.mutex);
}

static rheos_status *check_size(const rheos__collectives *c, int32_t size) {
  if (size <= 0) return RHEOS_INVALID("group_size must be positive integer but got %d", (int)size);
  if (size > c->num_devices) {
    return RHEOS_INVALID(
        "a group of %d members cannot come together: there are %d devices, and no cluster",
        (int)size, (int)c->num_devices);
  }
  return NULL;
}

static rheos_status *join(rheos__instances *instances, const rheos__collective *what, joining *j,
                          instance **out_instance) {
  rheos__collectives *c = instances->collectives;
  pthread_mutex_lock(&c->mutex);
  rheos_status *status = join_group(c, what);
  if (status == NULL) status = use_instance(instances, what, out_instance);
  if (status == NULL) status = join_round(*out_instance, what, j);
  pthread_mutex_unlock(&c->mutex);
  if (status != NULL && *out_instance != NULL) end_use(c, *out_instance);
  return status;
}

// ---- Beyond the process

rheos_status *rheos__collectives_open(rheos__collectives *collectives,
                                      const rheos__collective_door *door) {
  collectives->doorway = rheos__doorway_new(door);
  return collectives->doorway != NULL ? NULL : rheos__out_of_memory();
}

void rheos__collectives_close(rheos__collectives *collectives) {
  if (collectives->doorway != NULL) rheos__doorway_close(collectives->doorway);
}

rheos_status *rheos__collective_join(rheos__instances *instances, const rheos__collective *what,
                                     rheos__step *step, rheos__attempt **out_attempt) {
  *out_attempt = NULL;
  rheos__doorway *doorway = instances->collectives->doorway;
  if (doorway != NULL) {
    return rheos__doorway_join(doorway, what, instances->step_id, out_attempt);
  }
  RHEOS_TRY(check_size(instances->collectives, what->group_size));
  joining *j = rheos__alloc_zeroed(sizeof *j);
  char *device = rheos__strdup(what->device);
  instance *i = NULL;
  rheos_status *status =
      j == NULL || device == NULL ? rheos__out_of_memory() : join(instances, what, j, &i);
  if (status != NULL) {
    rheos__free(device);
    rheos__free(j);
    return status;
  }
  j->device = device;
  j->owner = rheos__instances_ref(instances);
  rheos__attempt_init(&j->attempt, &joining_kind, &i->waitable, RHEOS__TAKES);
  if (what->timeout_s > 0 && !j->is_last) {
    j->alarm = (rheos__alarm){.ring = time_out, .at_ns = rheos__alarm_after(what->timeout_s)};
    rheos__alarm_set(&instances->collectives->alarms, &j->alarm);
  }
  if (j->is_last) combine(i, j->round, what, step);
  *out_attempt = &j->attempt;
  return NULL;
}
