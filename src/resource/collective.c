// A round lies in its instance from the first member's coming until the last one's going. What the
// members brought is the round's, so whoever combines it needs none of them to be there still.
//
// Locks: the groups' before an instance's. No function of the caller is called with either.
#include "resource/collective.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "base/text.h"

typedef struct group {
  int32_t key, size, count;
  rheos_code failed;  // RHEOS_OK: it has not
  char *why;
  rheos__named_rank *members;  // `count` of `size`
  struct group *next;
} group;

typedef enum round_state { GATHERING, COMBINING, OVER } round_state;

typedef struct round {
  struct round *next;
  round_state state;
  rheos__collective what;       // of the first member: what all have to agree on
  int32_t num_come, num_users;  // members that have come; who may look at it
  rheos_code failed;            // RHEOS_OK: it has not
  char *why;
  rheos__named_rank *members;           // that have come; by rank when it is no longer GATHERING
  rheos__contribution contributions[];  // theirs
} round;

typedef struct instance {
  rheos__waitable waitable;
  round *first;  // guarded by the waitable's mutex
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

// ---- Ranks

// A number behind a colon counts as one, so task 10 comes after task 2.
static int compare_devices(const char *a, const char *b) {
  for (char before = 0; *a != 0 || *b != 0; before = *a, ++a, ++b) {
    if (before == ':' && *a >= '0' && *a <= '9' && *b >= '0' && *b <= '9') {
      const unsigned long x = strtoul(a, NULL, 10), y = strtoul(b, NULL, 10);
      if (x != y) return x < y ? -1 : 1;
    }
    if (*a != *b) return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
  }
  return 0;
}

int rheos__compare_ranks(const void *a, const void *b) {
  const rheos__named_rank *x = a, *y = b;
  if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
  return compare_devices(x->device, y->device);
}

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

static round *round_new(const rheos__collective *what) {
  const size_t count = (size_t)what->group_size;
  round *r = rheos__alloc_zeroed(sizeof *r + count * sizeof r->contributions[0]);
  rheos__named_rank *members = rheos__alloc_array(count, sizeof *members);
  if (r == NULL || members == NULL) {
    rheos__free(members);
    rheos__free(r);
    return NULL;
  }
  r->what = *what;
  r->what.device = NULL;
  r->what.input = NULL;
  r->members = members;
  return r;
}

static void round_free(round *r) {
  for (int32_t i = 0; i < r->num_come; ++i) {
    rheos_tensor_unref(r->contributions[i].input);
    rheos_tensor_unref(r->contributions[i].output);
    rheos__free(r->members[i].device);
  }
  rheos__free(r->members);
  rheos__free(r->why);
  rheos__free(r);
}

static int32_t place_of(const round *r, const char *device) {
  for (int32_t i = 0; i < r->num_come; ++i) {
    if (strcmp(r->members[i].device, device) == 0) return i;
  }
  return -1;
}

static void fail_round(round *r, rheos_code code, const char *why) {
  if (r->failed != RHEOS_OK) return;
  r->failed = code;
  r->why = rheos__strdup(why);
}

static void fail_round_take(round *r, rheos_status *status) {
  fail_round(r, rheos_status_code(status), rheos_status_message(status));
  rheos_status_free(status);
}

static rheos_status *failure_of(const round *r) {
  return r->failed == RHEOS_OK ? NULL
                               : rheos_status_new(r->failed, "%s", r->why != NULL ? r->why : "");
}

// Lets go of rounds that all members have come to and left, and of what nobody came to.
static void drop_rounds(instance *i) {
  for (round **at = &i->first; *at != NULL;) {
    round *r = *at;
    if (r->num_users == 0 && (r->num_come == r->what.group_size || r->num_come == 0)) {
      *at = r->next;
      round_free(r);
    } else {
      at = &r->next;
    }
  }
}

// The first round that the device has not come to.
static round *find_or_begin_round(instance *i, const rheos__collective *what) {
  round **at = &i->first;
  while (*at != NULL && place_of(*at, what->device) >= 0) at = &(*at)->next;
  if (*at == NULL) *at = round_new(what);
  return *at;
}

static void check_fits(round *r, const rheos__collective *what) {
  const rheos__collective *first = &r->what;
  if (first->type != what->type || first->dtype != what->dtype) {
    fail_round_take(
        r, rheos_status_new(RHEOS_INTERNAL,
                            "Collective instance %d expected type %d and data_type %d but got type "
                            "%d and data_type %d from %s (group_key=%d)",
                            (int)what->instance_key, (int)first->type, (int)first->dtype,
                            (int)what->type, (int)what->dtype, what->device, (int)what->group_key));
  } else if (!rheos_shape_equal(&first->shape, &what->shape)) {
    char shapes[2][256];
    rheos_shape_format(&what->shape, shapes[0], sizeof shapes[0]);
    rheos_shape_format(&first->shape, shapes[1], sizeof shapes[1]);
    fail_round_take(
        r, RHEOS_INVALID("Shape mismatch in the collective instance %d. Op at device %s expected "
                         "shape %s but another member in the group expected shape %s "
                         "(group_key=%d). This is likely due to different input shapes at "
                         "different members of the collective op.",
                         (int)what->instance_key, what->device, shapes[0], shapes[1],
                         (int)what->group_key));
  }
}

// A round's size is the one of its first member, whose group may have another one.
static rheos_status *come_to(round *r, const rheos__collective *what) {
  if (r->what.group_size != what->group_size) {
    return rheos_status_new(RHEOS_INTERNAL, "Collective instance %d has %d members, not %d",
                            (int)what->instance_key, (int)r->what.group_size,
                            (int)what->group_size);
  }
  char *device = rheos__strdup(what->device);
  if (device == NULL) return rheos__out_of_memory();
  rheos__contribution *c = &r->contributions[r->num_come];
  if (what->input != NULL) c->input = rheos_tensor_ref(what->input);
  c->is_source = what->is_source;
  r->members[r->num_come] = (rheos__named_rank){.device = device, .rank = what->rank};
  ++r->num_come;
  ++r->num_users;
  check_fits(r, what);
  return NULL;
}

// Whether all members have come, or one has failed, so that nobody waits for others any more.
static bool is_decided(const round *r) { return r->state != GATHERING || r->failed != RHEOS_OK; }

static void sort_by_rank(round *r) {
  const int32_t count = r->num_come;
  for (int32_t i = 1; i < count; ++i) {  // insertion: groups are small, or come nearly in order
    for (int32_t j = i; j > 0 && rheos__compare_ranks(&r->members[j], &r->members[j - 1]) < 0;
         --j) {
      const rheos__named_rank member = r->members[j];
      const rheos__contribution contribution = r->contributions[j];
      r->members[j] = r->members[j - 1];
      r->contributions[j] = r->contributions[j - 1];
      r->members[j - 1] = member;
      r->contributions[j - 1] = contribution;
    }
  }
}

static void number_by_name(round *r) {
  for (int32_t i = 0; i < r->num_come; ++i) {
    r->contributions[i].by_name = 0;
    for (int32_t j = 0; j < r->num_come; ++j) {
      r->contributions[i].by_name +=
          compare_devices(r->members[j].device, r->members[i].device) < 0;
    }
  }
}

// A broadcast has one source.
static void check_source(round *r) {
  int32_t source = -1;
  if (r->what.type != RHEOS__COLLECTIVE_BROADCAST) return;
  for (int32_t i = 0; i < r->num_come; ++i) {
    if (!r->contributions[i].is_source) continue;
    if (source >= 0) {
      fail_round_take(r, rheos_status_new(RHEOS_INTERNAL,
                                          "Instance %d already has source %d, received second "
                                          "claim from %d (group_key=%d)",
                                          (int)r->what.instance_key, (int)source, (int)i,
                                          (int)r->what.group_key));
      return;
    }
    source = i;
  }
  if (source < 0) {
    fail_round_take(r, rheos_status_new(RHEOS_INTERNAL,
                                        "Instance %d found no source for broadcast. This could "
                                        "mean that there were group_size=%d BcastRecvs but no "
                                        "BcastSend (group_key=%d).",
                                        (int)r->what.instance_key, (int)r->what.group_size,
                                        (int)r->what.group_key));
  }
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
    round *r = i->first;
    i->first = r->next;
    round_free(r);
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
  round *round;
  char *device;
  rheos_tensor *output;
  bool is_last;  // to come to the round
  rheos__alarm alarm;
} joining;

static rheos__tried run_joining(rheos__attempt *attempt) {
  joining *j = (joining *)attempt;
  round *r = j->round;
  attempt->status = failure_of(r);
  if (attempt->status != NULL) return RHEOS__TRIED_DONE;
  if (r->state != OVER) return RHEOS__TRIED_IN_VAIN;
  rheos__contribution *own = &r->contributions[place_of(r, j->device)];
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
  if (!is_decided(j->round)) fail_round(j->round, RHEOS_CANCELLED, why);
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
  round *r = j->round;
  rheos__text text = {0};
  char numbers[160];
  pthread_mutex_lock(&i->waitable.mutex);
  if (!is_decided(r)) {
    snprintf(
        numbers, sizeof numbers,
        "Collective has timed out waiting for other workers: of the %d members of %s %d came, ",
        (int)r->what.group_size, i->waitable.base.name, (int)r->num_come);
    add_text(&text, numbers);
    for (int32_t k = 0; k < r->num_come; ++k) {
      if (k > 0) add_text(&text, ", ");
      add_text(&text, r->members[k].device);
    }
    fail_round(r, RHEOS_DEADLINE_EXCEEDED, text.failed ? numbers : text.data);
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
    for (round *r = i->first; r != NULL; r = r->next) {
      if (!is_decided(r)) fail_round(r, g->failed, rheos_status_message(why));
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
  round *r = find_or_begin_round(i, what);
  rheos_status *status = r == NULL ? rheos__out_of_memory() : come_to(r, what);
  if (status == NULL) {
    j->round = r;
    if (r->failed == RHEOS_OK && r->num_come == r->what.group_size) {
      sort_by_rank(r);
      if (what->rank >= 0) number_by_name(r);
      check_source(r);
      j->is_last = r->failed == RHEOS_OK;
      if (j->is_last) r->state = COMBINING;
    }
    if (r->failed != RHEOS_OK) serve(i);
  }
  pthread_mutex_unlock(&i->waitable.mutex);
  return status;
}

static void combine(instance *i, round *r, const rheos__collective *what, rheos__step *step) {
  rheos_status *status = what->combine(what, step, r->contributions);
  pthread_mutex_lock(&i->waitable.mutex);
  if (status != NULL) fail_round_take(r, status);
  r->state = OVER;
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
