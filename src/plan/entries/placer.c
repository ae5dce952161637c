// Where devices share the host's memory, what has to be beside something is in one group with it,
// as TensorFlow has it. Where some have memories of their own, each thing decides for itself: it
// costs a copy to be elsewhere than one's variable, and no more. Where such devices are of several
// tasks, a group is on one task, and each thing decides on which device of that.
#include "plan/entries/placer.h"

#include <assert.h>
#include <string.h>

#include "base/file.h"

static const rheos__device *device_at(const rheos__placer *p, int32_t index) {
  return p->devices[index];
}

// ---- Making and ending

static void look_at_devices(rheos__placer *p) {
  const rheos__device_name *first = &device_at(p, 0)->parsed_name;
  for (int32_t i = 0; i < p->num_devices; ++i) {
    const rheos__device_name *name = &device_at(p, i)->parsed_name;
    p->has_memories = p->has_memories || !rheos__is_on_host(device_at(p, i));
    p->has_tasks = p->has_tasks || strcmp(name->job, first->job) != 0 ||
                   name->replica != first->replica || name->task != first->task;
  }
  p->groups_by_task = p->has_memories && (p->has_tasks || p->is_cut);
}

rheos_status *rheos__placer_init(rheos__placer *p) {
  rheos__arena_init(&p->arena);
  p->places = rheos__alloc_array((size_t)p->num_ids + 1, sizeof *p->places);
  if (p->places == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < p->num_ids; ++i) {
    p->places[i] = (rheos__place){.given = {RHEOS__NOWHERE, RHEOS__PLACE_FIRST, RHEOS__NOWHERE},
                                  .parent = i,
                                  .joined_to = RHEOS__NOWHERE,
                                  .asker = RHEOS__NOWHERE,
                                  .first = RHEOS__NOWHERE,
                                  .taker = RHEOS__NOWHERE};
  }
  look_at_devices(p);
  return NULL;
}

void rheos__placer_deinit(rheos__placer *p) {
  rheos__free(p->places);
  rheos__free((void *)p->asked);
  rheos__arena_deinit(&p->arena);
}

static int32_t root_of(rheos__placer *p, int32_t id) {
  while (p->places[id].parent != id) {
    p->places[id].parent = p->places[p->places[id].parent].parent;
    id = p->places[id].parent;
  }
  return id;
}

// ---- What fits

bool rheos__placer_fits(const rheos__placer *p, const rheos__placed *what, int32_t device) {
  if (!rheos__is_on_host(device_at(p, device))) {
    if (what->is_on_host) return false;
    if (what->needs_no_kernel) return true;
    if (what->is_other) return false;
    if (what->is_constant) return true;
  }
  return rheos__device_has_kernel(device_at(p, device), what->op, what->attrs);
}

// The first device that the name allows, and of those the first with a kernel, if any has one.
static int32_t find(const rheos__placer *p, const rheos__placed *what,
                    const rheos__device_name *wanted) {
  int32_t found = RHEOS__NOWHERE;
  for (int32_t i = 0; i < p->num_devices; ++i) {
    if (!rheos__device_name_matches(wanted, &device_at(p, i)->parsed_name)) continue;
    if (rheos__placer_fits(p, what, i)) return i;
    if (found == RHEOS__NOWHERE) found = i;
  }
  return found;
}

static int32_t first_that_fits(const rheos__placer *p, const rheos__placed *what) {
  for (int32_t i = 0; i < p->num_devices; ++i) {
    if (rheos__placer_fits(p, what, i)) return i;
  }
  return 0;
}

// ---- What is asked for

static rheos__device_name task_of(const rheos__device_name *name) {
  rheos__device_name task = *name;
  task.type[0] = '\0';
  task.id = RHEOS__NOWHERE;
  return task;
}

static rheos_status *keep_wanted(rheos__placer *p, const rheos__wanted *wanted,
                                 const rheos__wanted **out_kept) {
  rheos__wanted *kept = rheos__arena_alloc(&p->arena, sizeof *kept);
  if (kept == NULL) return rheos__out_of_memory();
  *kept = *wanted;
  *out_kept = kept;
  return NULL;
}

// Device strings are interned, and neighbours mostly share one.
static rheos_status *find_wanted(rheos__placer *p, const rheos__placed *what,
                                 const rheos__wanted **out_wanted) {
  const char *text = what->node->device;
  *out_wanted = NULL;
  if (text[0] == '\0') return NULL;
  for (size_t i = p->num_asked; i-- > 0;) {
    if (p->asked[i]->text == text) {
      *out_wanted = p->asked[i];
      return NULL;
    }
  }
  rheos__wanted wanted = {.text = text};
  RHEOS_TRY(rheos__device_name_parse(text, &wanted.name));
  if (!RHEOS_RESERVE(p->asked, p->asked_capacity, p->num_asked + 1)) return rheos__out_of_memory();
  RHEOS_TRY(keep_wanted(p, &wanted, out_wanted));
  p->asked[p->num_asked++] = *out_wanted;
  return NULL;
}

static bool is_kept(const rheos__placer *p, const rheos__placed *what) {
  return what->id < p->num_kept && p->kept[what->id] != RHEOS__NOWHERE &&
         (what->op->flags & RHEOS_OP_STATEFUL) != 0;
}

static rheos_status *find_kept(rheos__placer *p, const rheos__placed *what,
                               const rheos__wanted **out_wanted) {
  const rheos__device *device = device_at(p, p->kept[what->id]);
  const rheos__wanted wanted = {.name = device->parsed_name, .text = device->name};
  return keep_wanted(p, &wanted, out_wanted);
}

// What is asked for of the task alone; NULL: any may be it.
static rheos_status *keep_task(rheos__placer *p, const rheos__wanted *own,
                               const rheos__wanted **out_kept) {
  rheos__wanted task = {.name = task_of(&own->name), .text = own->text};
  *out_kept = NULL;
  if (task.name.job[0] == '\0' && task.name.replica < 0 && task.name.task < 0) return NULL;
  return keep_wanted(p, &task, out_kept);
}

static bool agree(int32_t a, int32_t b) { return a < 0 || b < 0 || a == b; }

static bool agree_texts(const char *a, const char *b) {
  return a[0] == '\0' || b[0] == '\0' || strcmp(a, b) == 0;
}

static bool agree_on_task(const rheos__device_name *a, const rheos__device_name *b) {
  return agree_texts(a->job, b->job) && agree(a->replica, b->replica) && agree(a->task, b->task);
}

// Both in one; false where they cannot be: soft placement gives up the kind or the number then.
static bool merge(const rheos__placer *p, const rheos__device_name *a, const rheos__device_name *b,
                  rheos__device_name *out_merged) {
  *out_merged = rheos__device_name_merge(a, b);
  if (!agree_on_task(a, b)) return false;
  if (!agree_texts(a->type, b->type)) {
    out_merged->type[0] = '\0';
    out_merged->id = RHEOS__NOWHERE;
    return p->allow_soft_placement;
  }
  if (agree(a->id, b->id)) return true;
  out_merged->id = RHEOS__NOWHERE;
  return p->allow_soft_placement;
}

// What `other` asks for becomes what `one` does too.
static rheos_status *take_wanted(rheos__placer *p, rheos__place *one, const rheos__place *other) {
  if (other->wanted == NULL || one->wanted == other->wanted) return NULL;
  if (one->wanted == NULL) {
    one->wanted = other->wanted;
    one->asker = other->asker;
    return NULL;
  }
  rheos__wanted merged;
  char text[256];
  if (!merge(p, &one->wanted->name, &other->wanted->name, &merged.name)) {
    return rheos__place_conflict(p, one, other);
  }
  rheos__device_name_format(&merged.name, text, sizeof text);
  merged.text = rheos__arena_strdup(&p->arena, text);
  return merged.text != NULL ? keep_wanted(p, &merged, &one->wanted) : rheos__out_of_memory();
}

static bool can_be_one(const rheos__placer *p, const rheos__place *a, const rheos__place *b) {
  rheos__device_name merged;
  return a->wanted == NULL || b->wanted == NULL ||
         merge(p, &a->wanted->name, &b->wanted->name, &merged);
}

// ---- Groups

// What gives a reference or handle says where all are that take it, whatever they ask for.
static rheos_status *join(rheos__placer *p, const rheos__placed *what, int32_t with,
                          rheos__place_reason reason) {
  rheos__place *place = &p->places[what->id];
  if (with == what->id) return NULL;
  if (place->joined_to == RHEOS__NOWHERE) {
    place->joined_by = (uint8_t)reason;
    place->joined_to = with;
  }
  if (p->has_memories && !p->groups_by_task) return NULL;
  const int32_t to = root_of(p, with), from = root_of(p, what->id);
  if (to == from) return NULL;
  rheos__place *one = &p->places[to], *other = &p->places[from];
  if (reason != RHEOS__PLACE_REFERENCE || can_be_one(p, one, other)) {
    RHEOS_TRY(take_wanted(p, one, other));
  }
  other->parent = to;
  return NULL;
}

// The node that a name in `_class`, such as "loc:@x", stands for, or RHEOS__NOWHERE.
static rheos_status *find_class(const rheos__placed *what, const rheos_string *group,
                                int32_t *out_id) {
  *out_id = RHEOS__NOWHERE;
  if (group->size_bytes <= 5 || memcmp(group->data, "loc:@", 5) != 0) return NULL;
  char *name = rheos__alloc_zeroed(group->size_bytes - 5 + 1);
  if (name == NULL) return rheos__out_of_memory();
  memcpy(name, group->data + 5, group->size_bytes - 5);
  rheos_graph *graph = (rheos_graph *)(uintptr_t)what->graph;
  const rheos_operation operation = rheos_graph_operation(graph, name);
  rheos__free(name);
  if (operation.graph != NULL) *out_id = operation.id;
  return NULL;
}

static rheos_status *join_classes(rheos__placer *p, const rheos__placed *what) {
  const rheos_attr_value *groups = rheos__attrs_find(what->attrs, "_class");
  if (groups == NULL || groups->kind != RHEOS_ATTR_LIST_STRING) return NULL;
  if (what->graph != p->graph) return NULL;  // its names are those of another graph
  for (int32_t i = 0; i < groups->count; ++i) {
    int32_t id;
    RHEOS_TRY(find_class(what, &groups->strings[i], &id));
    if (id != RHEOS__NOWHERE) RHEOS_TRY(join(p, what, id, RHEOS__PLACE_COLOCATED));
  }
  return NULL;
}

rheos_status *rheos__placer_hear(rheos__placer *p, const rheos__placed *what) {
  rheos__place *place = &p->places[what->id];
  place->asker = what->id;
  RHEOS_TRY(is_kept(p, what) ? find_kept(p, what, &place->own) : find_wanted(p, what, &place->own));
  place->wanted = place->own;
  return p->groups_by_task && place->own != NULL ? keep_task(p, place->own, &place->wanted) : NULL;
}

rheos_status *rheos__placer_join(rheos__placer *p, const rheos__placed *what) {
  if (what->cell >= 0) RHEOS_TRY(join(p, what, what->cell, RHEOS__PLACE_REFERENCE));
  return join_classes(p, what);
}

// ---- Placing

static void give(rheos__placer *p, const rheos__placed *what, int32_t device,
                 rheos__place_reason reason, int32_t beside) {
  const int32_t root = root_of(p, what->id);
  p->places[what->id].given = (rheos__placement){(int16_t)device, (uint8_t)reason, beside};
  if (p->places[root].first == RHEOS__NOWHERE) p->places[root].first = what->id;
}

static bool asks_for(const rheos__placer *p, const rheos__placed *what, int32_t device) {
  rheos__device_name own;
  rheos_status *status = rheos__device_name_parse(what->node->device, &own);
  rheos_status_free(status);
  return status == NULL && what->node->device[0] != '\0' &&
         rheos__device_name_matches(&own, &device_at(p, device)->parsed_name);
}

// For what is on a device that its group asks for.
static void give_asked(rheos__placer *p, const rheos__placed *what, int32_t device) {
  const rheos__place *place = &p->places[what->id];
  if (asks_for(p, what, device)) {
    give(p, what, device, RHEOS__PLACE_ASKED, RHEOS__NOWHERE);
  } else if (place->joined_to != RHEOS__NOWHERE) {
    give(p, what, device, place->joined_by, place->joined_to);
  } else {
    give(p, what, device, RHEOS__PLACE_COLOCATED, p->places[root_of(p, what->id)].asker);
  }
}

static bool prefers(const rheos__device *device, const rheos__placed *what) {
  return device->kind->prefers != NULL && device->kind->prefers(device, what->op, what->attrs);
}

// Whether the device would rather have it than a CPU, or computes what it takes: then nothing waits
// for a copy to the host.
static bool is_liked(const rheos__placer *p, const rheos__placed *what, int32_t index) {
  const rheos__device *device = device_at(p, index);
  if (what->calls_there) return device->kind->prefers != NULL;
  return !what->needs_no_kernel && !what->is_constant &&
         (what->computed_on == index || prefers(device, what)) &&
         rheos__placer_fits(p, what, index);
}

static const rheos__device_name anywhere = {.replica = -1, .task = -1, .id = -1};

// A device that would rather have it than others, one of those that its function is called on, and
// that `among` allows; 0: none.
static int32_t preferred(const rheos__placer *p, const rheos__placed *what,
                         const rheos__device_name *among) {
  rheos__device_name called = anywhere;
  if (what->default_device != NULL) {
    rheos_status_free(rheos__device_name_parse(what->default_device, &called));
  }
  for (int32_t i = 1; p->prefers_cards && i < p->num_devices; ++i) {
    const rheos__device *device = device_at(p, i);
    if (rheos__device_name_matches(&called, &device->parsed_name) &&
        rheos__device_name_matches(among, &device->parsed_name) && is_liked(p, what, i)) {
      return i;
    }
  }
  return 0;
}

// Soft placement lets the kind and the number of the device be others, and the task where there is
// only one.
static int32_t find_softly(const rheos__placer *p, const rheos__placed *what,
                           const rheos__device_name *wanted) {
  const rheos__device_name task = task_of(wanted);
  const int32_t better = preferred(p, what, &task);
  if (better > 0) return better;
  const int32_t found = find(p, what, &task);
  return found != RHEOS__NOWHERE || p->has_tasks ? found : first_that_fits(p, what);
}

// Whether an op that the device has no kernel for may be on another, though placement is not soft.
static bool owes_kernel(const rheos__device *device, const rheos__placed *what) {
  return !what->is_other && device->kind->owes_kernel != NULL &&
         device->kind->owes_kernel(device, what->op, what->attrs);
}

static rheos_status *place_asked(rheos__placer *p, const rheos__placed *what,
                                 const rheos__wanted *wanted) {
  const int32_t device = find(p, what, &wanted->name);
  if (device != RHEOS__NOWHERE && rheos__placer_fits(p, what, device)) {
    give_asked(p, what, device);
    return NULL;
  }
  const bool is_there = device != RHEOS__NOWHERE;
  const int32_t other = find_softly(p, what, &wanted->name);
  const bool is_soft =
      p->allow_soft_placement || (is_there && owes_kernel(device_at(p, device), what));
  if (!is_soft || other == RHEOS__NOWHERE) {
    return is_there ? rheos__place_no_kernel(p, what, wanted->text, device)
                    : rheos__place_no_device(p, what, wanted->text,
                                             p->places[root_of(p, what->id)].asker);
  }
  give(p, what, other, is_there ? RHEOS__PLACE_NO_KERNEL : RHEOS__PLACE_NO_DEVICE, RHEOS__NOWHERE);
  return NULL;
}

// Where what it joined is, or will be; RHEOS__NOWHERE: that does not matter.
static int32_t device_beside(const rheos__placer *p, const rheos__placed *what) {
  const rheos__place *place = &p->places[what->id];
  if (what->cell == RHEOS__FED) return preferred(p, what, &anywhere);
  if (place->joined_to == RHEOS__NOWHERE) return RHEOS__NOWHERE;
  const rheos__place *other = &p->places[place->joined_to];
  if (other->given.device == RHEOS__NOWHERE) {
    return other->wanted != NULL ? find(p, what, &other->wanted->name) : RHEOS__NOWHERE;
  }
  // A constant, say, for which nothing speaks for a device, binds nothing that is beside it.
  const bool is_anywhere = p->has_memories && other->given.reason == RHEOS__PLACE_FIRST &&
                           place->joined_by == RHEOS__PLACE_COLOCATED;
  return is_anywhere ? RHEOS__NOWHERE : other->given.device;
}

static bool place_beside(rheos__placer *p, const rheos__placed *what, int32_t root) {
  const rheos__place *place = &p->places[what->id];
  const int32_t first = p->places[root].first;
  const int32_t device =
      first != RHEOS__NOWHERE ? p->places[first].given.device : device_beside(p, what);
  if (device == RHEOS__NOWHERE || !rheos__placer_fits(p, what, device)) return false;
  if (place->joined_to != RHEOS__NOWHERE) {
    give(p, what, device, place->joined_by, place->joined_to);
  } else if (first != RHEOS__NOWHERE) {
    give(p, what, device, RHEOS__PLACE_COLOCATED, first);
  } else {
    give(p, what, device, RHEOS__PLACE_FIRST, RHEOS__NOWHERE);
  }
  return true;
}

// Why what could be on a card is on the first device.
static rheos__place_reason why_not_on_card(const rheos__placer *p, const rheos__placed *what) {
  if (!p->prefers_cards || what->needs_no_kernel || what->is_constant || what->is_other) {
    return RHEOS__PLACE_FIRST;
  }
  for (int32_t i = 1; i < p->num_devices; ++i) {
    if (device_at(p, i)->kind->prefers == NULL) continue;
    const bool has_kernel = rheos__device_has_kernel(device_at(p, i), what->op, what->attrs);
    return has_kernel ? RHEOS__PLACE_NO_FLOATS : RHEOS__PLACE_NO_CARDS;
  }
  return RHEOS__PLACE_FIRST;
}

static void place_freely(rheos__placer *p, const rheos__placed *what) {
  const rheos__device_name own = task_of(&device_at(p, 0)->parsed_name);
  const int32_t faster = p->has_memories ? preferred(p, what, &own) : 0;
  if (faster > 0) {
    const bool is_faster = what->calls_there || prefers(device_at(p, faster), what);
    const rheos__place_reason reason = !is_faster                     ? RHEOS__PLACE_INPUTS
                                       : what->default_device != NULL ? RHEOS__PLACE_CALLED
                                                                      : RHEOS__PLACE_PREFERRED;
    give(p, what, faster, reason, RHEOS__NOWHERE);
    return;
  }
  const int32_t device = first_that_fits(p, what);
  rheos__place_reason reason = device == 0 ? why_not_on_card(p, what) : RHEOS__PLACE_KERNEL;
  if (p->has_memories && what->is_on_host) reason = RHEOS__PLACE_HOST;
  give(p, what, device, reason, RHEOS__NOWHERE);
}

static bool place_at_shape(rheos__placer *p, const rheos__placed *what) {
  if ((p->has_memories && !p->groups_by_task) || what->looks_at < 0) return false;
  const int32_t device = p->places[what->looks_at].given.device;
  if (device == RHEOS__NOWHERE || !rheos__placer_fits(p, what, device)) return false;
  give(p, what, device, RHEOS__PLACE_SHAPE, what->looks_at);
  return true;
}

static bool waits_for_takers(const rheos__placer *p, const rheos__placed *what) {
  const rheos__place *place = &p->places[what->id];
  return (!p->has_memories || p->groups_by_task) && what->makes_value &&
         place->parent == what->id && place->joined_to == RHEOS__NOWHERE;
}

// The task that a group is on, which it asks for or where something of it is already; false: none
// yet.
static bool task_of_group(const rheos__placer *p, int32_t root, rheos__device_name *out_task) {
  const rheos__place *group = &p->places[root];
  if (group->wanted != NULL) {
    *out_task = group->wanted->name;
  } else if (group->first != RHEOS__NOWHERE) {
    const int32_t device = p->places[group->first].given.device;
    *out_task = task_of(&device_at(p, device)->parsed_name);
  } else {
    *out_task = anywhere;
    return false;
  }
  return true;
}

// On a task that is given, where nothing is said of the device: beside what it has to be beside,
// else on a card that would rather have it, else on the first device with a kernel.
static rheos_status *place_on_task(rheos__placer *p, const rheos__placed *what,
                                   const rheos__wanted *task) {
  const rheos__place *place = &p->places[what->id];
  const int32_t beside =
      place->joined_to >= 0 ? p->places[place->joined_to].given.device : RHEOS__NOWHERE;
  if (beside != RHEOS__NOWHERE && rheos__placer_fits(p, what, beside) &&
      rheos__device_name_matches(&task->name, &device_at(p, beside)->parsed_name)) {
    give(p, what, beside, place->joined_by, place->joined_to);
    return NULL;
  }
  const int32_t faster = preferred(p, what, &task->name);
  if (faster == 0) return place_asked(p, what, task);
  give(p, what, faster, RHEOS__PLACE_PREFERRED, RHEOS__NOWHERE);
  return NULL;
}

// Of devices with memories of their own on several tasks.
static rheos_status *place_among_tasks(rheos__placer *p, const rheos__placed *what, int32_t root) {
  const rheos__wanted *own = p->places[what->id].own;
  rheos__wanted wanted;
  const bool has_task = task_of_group(p, root, &wanted.name);
  const rheos__wanted *of_group = p->places[root].wanted;
  wanted.text = own != NULL ? own->text : of_group != NULL ? of_group->text : "";
  if (own != NULL && own->name.type[0] != '\0') {
    memcpy(wanted.name.type, own->name.type, sizeof wanted.name.type);
    wanted.name.id = own->name.id;
    return place_asked(p, what, &wanted);
  }
  if (has_task) return place_on_task(p, what, &wanted);
  if (place_at_shape(p, what) || waits_for_takers(p, what)) return NULL;
  place_freely(p, what);
  return NULL;
}

// An update is where its variable is, whatever it asks for: else each step would copy the variable.
static bool place_update(rheos__placer *p, const rheos__placed *what, int32_t root) {
  const bool is_update = (what->op->flags & RHEOS_OP_WRITES) != 0 && what->cell >= 0;
  const rheos__wanted *wanted = p->places[root].wanted;
  return p->has_memories && is_update && find(p, what, &wanted->name) != RHEOS__NOWHERE &&
         place_beside(p, what, root);
}

static rheos_status *place(rheos__placer *p, const rheos__placed *what) {
  const int32_t root = root_of(p, what->id);
  if (p->groups_by_task) return place_among_tasks(p, what, root);
  const rheos__wanted *wanted = p->places[root].wanted;
  if (wanted != NULL) return place_update(p, what, root) ? NULL : place_asked(p, what, wanted);
  if (place_beside(p, what, root) || place_at_shape(p, what)) return NULL;
  if (!waits_for_takers(p, what)) place_freely(p, what);
  return NULL;
}

rheos_status *rheos__placer_place(rheos__placer *p, const rheos__placed *what) {
  RHEOS_TRY(place(p, what));
  rheos__place *placed = &p->places[what->id];
  const int32_t device = placed->given.device;
  if (device <= 0 || what->needs_no_kernel || what->is_constant) return NULL;
  placed->computes = what->computed_on == device || prefers(device_at(p, device), what);
  return NULL;
}

int32_t rheos__placer_computes(const rheos__placer *p, int32_t id) {
  return p->places[id].computes ? p->places[id].given.device : 0;
}

// Of a value that is taken on two devices: whether it can be on the first of them for both.
static bool are_of_one_task(const rheos__placer *p, int32_t a, int32_t b) {
  if (!p->groups_by_task || a < 0) return false;
  const rheos__device_name task = task_of(&device_at(p, a)->parsed_name);
  return rheos__device_name_matches(&task, &device_at(p, b)->parsed_name);
}

void rheos__placer_note_taken(rheos__placer *p, int32_t taker, int32_t id) {
  rheos__place *place = &p->places[id];
  const int16_t device = p->places[taker].given.device;
  if (device == RHEOS__NOWHERE || place->given.device != RHEOS__NOWHERE) return;
  if (place->taken_on == 0) {
    place->taken_on = (int16_t)(device + 1);
    place->taker = taker;
  } else if (place->taken_on != device + 1 && !are_of_one_task(p, place->taken_on - 1, device)) {
    place->taken_on = -1;
  }
}

void rheos__placer_place_left(rheos__placer *p, const rheos__placed *what) {
  rheos__place *place = &p->places[what->id];
  if (place->given.device != RHEOS__NOWHERE) return;
  const int32_t device = place->taken_on - 1;
  if (place->taken_on > 0 && rheos__placer_fits(p, what, device)) {
    give(p, what, device, RHEOS__PLACE_TAKERS, place->taker);
  } else {
    place_freely(p, what);
  }
}

// ---- Why

static char *named(const rheos__placer *p, const char *format, int32_t id) {
  char *name = p->name_of(p->whole, id);
  char *text = NULL;
  if (name != NULL) text = rheos__text_format(format, name);
  rheos__free(name);
  return text;
}

// "no kernel for Equal of string on GPU", as far as that is known of a node of the graph.
static char *no_kernel(const rheos__placer *p, int32_t id) {
  static const char *const names[] = {"T", "dtype", "SrcT", "Tparams"};
  if (id >= rheos_graph_num_operations(p->graph)) return rheos__strdup("no kernel on GPU");
  const rheos__node *node = rheos__graph_node(p->graph, id);
  const rheos__op_def *op = node->signature->op;
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    const rheos_attr_value *dtype = rheos__attrs_find(node->attrs, names[i]);
    if (dtype == NULL || dtype->kind != RHEOS_ATTR_TYPE) continue;
    return rheos__text_format("no kernel for %s of %s on GPU", op->name,
                              rheos_dtype_name(dtype->type));
  }
  return rheos__text_format("no kernel for %s on GPU", op->name);
}

char *rheos__placer_why(const rheos__placer *p, int32_t id) {
  const rheos__placement *given = &p->places[id].given;
  switch ((rheos__place_reason)given->reason) {
    case RHEOS__PLACE_FIRST: return rheos__strdup("the first device");
    case RHEOS__PLACE_ASKED: return rheos__strdup("asked for");
    case RHEOS__PLACE_COLOCATED: return named(p, "colocated with %s", given->beside);
    case RHEOS__PLACE_REFERENCE:
      return named(p, "beside %s, whose reference or handle it takes", given->beside);
    case RHEOS__PLACE_TAKERS: return named(p, "taken only there, first by %s", given->beside);
    case RHEOS__PLACE_SHAPE: return named(p, "looks at the shape of %s", given->beside);
    case RHEOS__PLACE_PREFERRED: return rheos__strdup("the fastest device with a kernel");
    case RHEOS__PLACE_CALLED: return rheos__strdup("the device that its function is called on");
    case RHEOS__PLACE_INPUTS: return rheos__strdup("the device that computes what it takes");
    case RHEOS__PLACE_KERNEL: return rheos__strdup("the first device with a kernel");
    case RHEOS__PLACE_HOST: return rheos__strdup("its values are in the host's memory only");
    case RHEOS__PLACE_NO_CARDS: return no_kernel(p, id);
    case RHEOS__PLACE_NO_FLOATS: return rheos__strdup("what is not of floats stays on the CPU");
    case RHEOS__PLACE_NO_DEVICE:
      return rheos__strdup("soft placement: what it asks for is not there");
    case RHEOS__PLACE_NO_KERNEL:
      return rheos__strdup("soft placement: no kernel where it asks to be");
  }
  assert(!"a reason without words");
  return NULL;
}
