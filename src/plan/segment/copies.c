// The entries are written anew, with those that copy between them. Values are numbered in the order
// of their entries, so all of them get new numbers; entries that others wait for do too.
//
// Which memory a value lies in, its home, is known but for results of bodies, and for feeds of a
// body that only goes on handing them to others: those are brought to who takes their bytes when
// they are there.
#include "plan/segment/copies.h"

#include "plan/entries/place.h"

typedef struct copier {
  rheos__plan *plan;
  int16_t *homes;    // by value: the device in whose memory it lies; 0: the host's;
                     // RHEOS__ANYWHERE
  int32_t *renamed;  // by value: its new number
  int32_t *moved;    // by entry: its new number
  int32_t *copies;   // by value and device: the new number of the copy there; 0: none
  // The new arrays of the plan
  rheos__entry *entries;
  int32_t *operands;
  rheos__edge *origins;
  uint8_t *dtypes;
  size_t num_entries, entry_capacity, num_operands, operand_capacity;
  size_t num_values, origin_capacity, dtype_capacity;
} copier;

// ---- Where values lie

static int16_t home_of_device(const rheos__plan *plan, int16_t device) {
  return rheos__is_on_host(plan->context.devices[device]) ? 0 : device;
}

static int16_t home_of(const rheos__plan *plan, const rheos__entry *entry) {
  return rheos__is_anywhere(entry) ? 0 : home_of_device(plan, entry->device);
}

static bool is_plain(const rheos__plan *plan, int32_t value) {
  return rheos__is_plain((rheos_dtype)plan->dtypes[value]);
}

// Where the entry needs the bytes of its input; RHEOS__ANYWHERE: it needs none, or takes them in
// whatever memory they lie.
static int16_t home_of_input(const rheos__plan *plan, const rheos__entry *entry, int32_t input) {
  const int32_t value = plan->operands[entry->first_operand + input];
  if (!rheos__takes_bytes(plan, entry, value)) return RHEOS__ANYWHERE;
  if (rheos__is_anywhere(entry)) return 0;
  const int16_t device = rheos__device_of_input(plan, entry, input);
  return device == RHEOS__ANYWHERE ? RHEOS__ANYWHERE : home_of_device(plan, device);
}

static void find_homes(copier *c) {
  const rheos__plan *plan = c->plan;
  for (int32_t i = 0; i < plan->num_entries; ++i) {
    const rheos__entry *entry = &plan->entries[i];
    for (int32_t k = 0; k < entry->num_outputs; ++k) {
      const int32_t value = entry->first_value + k;
      const bool is_anywhere = rheos__gives_anywhere(entry, k) && is_plain(plan, value);
      c->homes[value] = is_anywhere ? RHEOS__ANYWHERE : home_of(plan, entry);
    }
  }
}

// Feeds of a body are taken where somebody takes their bytes: where a device of a memory of its own
// does, in that one.
static rheos_status *find_feed_homes(copier *c) {
  rheos__plan *plan = c->plan;
  if (!rheos__plan_hands_on(plan)) return NULL;
  plan->feed_homes = rheos__alloc_array((size_t)plan->num_feeds, sizeof *plan->feed_homes);
  if (plan->feed_homes == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < plan->num_feeds; ++i) {
    plan->feed_homes[i] = is_plain(plan, i) ? RHEOS__ANYWHERE : 0;
  }
  for (int32_t i = 0; i < plan->num_entries; ++i) {
    const rheos__entry *entry = &plan->entries[i];
    for (int32_t k = 0; k < entry->num_inputs; ++k) {
      const int32_t value = plan->operands[entry->first_operand + k];
      const int16_t home = home_of_input(plan, entry, k);
      if (value >= plan->num_feeds || home == RHEOS__ANYWHERE) continue;
      if (plan->feed_homes[value] <= 0) plan->feed_homes[value] = home;
    }
  }
  for (int32_t i = 0; i < plan->num_feeds; ++i) c->homes[i] = plan->feed_homes[i];
  return NULL;
}

// ---- The new entries

static rheos_status *add_value(copier *c, rheos__edge origin, uint8_t dtype) {
  if (!RHEOS_RESERVE(c->origins, c->origin_capacity, c->num_values + 1) ||
      !RHEOS_RESERVE(c->dtypes, c->dtype_capacity, c->num_values + 1)) {
    return rheos__out_of_memory();
  }
  c->origins[c->num_values] = origin;
  c->dtypes[c->num_values++] = dtype;
  return NULL;
}

static rheos_status *add_operand(copier *c, int32_t value) {
  if (!RHEOS_RESERVE(c->operands, c->operand_capacity, c->num_operands + 1)) {
    return rheos__out_of_memory();
  }
  c->operands[c->num_operands++] = value;
  return NULL;
}

static rheos_status *add_entry(copier *c, const rheos__entry *entry) {
  if (!RHEOS_RESERVE(c->entries, c->entry_capacity, c->num_entries + 1)) {
    return rheos__out_of_memory();
  }
  c->entries[c->num_entries++] = *entry;
  return NULL;
}

// From the home `from` to the device `to`.
static rheos_status *add_copy(copier *c, int32_t value, int32_t source, int16_t from, int16_t to,
                              int32_t level) {
  const rheos__edge origin = c->plan->origins[value];
  const rheos__node *node = rheos__plan_node(c->plan, origin.id);
  const rheos__entry entry = {
      .signature = node->signature,
      .attrs = node->attrs,
      .id = origin.id,
      .level = level,
      .kind = from == RHEOS__ANYWHERE ? RHEOS__ENTRY_BRING : RHEOS__ENTRY_COPY,
      .device = to,
      .read_index = origin.index,
      .first_operand = (int32_t)c->num_operands,
      .num_inputs = 1,
      .first_value = (int32_t)c->num_values,
      .num_outputs = 1};
  RHEOS_TRY(add_operand(c, source));
  RHEOS_TRY(add_value(c, origin, c->plan->dtypes[value]));
  return add_entry(c, &entry);
}

// The new number of a copy of the value in the memory `to`, made for consumers of this level if
// there is none yet. Between devices of different kinds it goes by way of the host.
static rheos_status *copy_of(copier *c, int32_t value, int16_t to, int32_t level,
                             int32_t *out_value) {
  const rheos__plan_context *context = &c->plan->context;
  const size_t row = (size_t)value * (size_t)context->num_devices;
  const int16_t from = c->homes[value];
  int32_t source = c->renamed[value];
  if (c->copies[row + (size_t)to] == 0) {
    if (from > 0 && to != 0 && context->devices[from]->kind != context->devices[to]->kind) {
      if (c->copies[row] == 0) {
        c->copies[row] = (int32_t)c->num_values;
        RHEOS_TRY(add_copy(c, value, source, from, 0, level));
      }
      source = c->copies[row];
    }
    c->copies[row + (size_t)to] = (int32_t)c->num_values;
    RHEOS_TRY(add_copy(c, value, source, from, to, level));
  }
  *out_value = c->copies[row + (size_t)to];
  return NULL;
}

static rheos_status *take_over(copier *c, int32_t index) {
  const rheos__plan *plan = c->plan;
  rheos__entry entry = plan->entries[index];
  const int32_t *inputs = plan->operands + entry.first_operand;
  // Copies come into being before the entry's own operands are laid down in a row.
  for (int pass = 0; pass < 2; ++pass) {
    entry.first_operand = (int32_t)c->num_operands;
    for (int32_t i = 0; i < entry.num_inputs; ++i) {
      const int16_t home = home_of_input(plan, &plan->entries[index], i);
      int32_t value = c->renamed[inputs[i]];
      if (home != RHEOS__ANYWHERE && c->homes[inputs[i]] != home) {
        RHEOS_TRY(copy_of(c, inputs[i], home, entry.level, &value));
      }
      if (pass == 1) RHEOS_TRY(add_operand(c, value));
    }
  }
  const int32_t first_value = entry.first_value;
  entry.first_value = (int32_t)c->num_values;
  for (int32_t i = 0; i < entry.num_outputs; ++i) {
    c->renamed[first_value + i] = entry.first_value + i;
    RHEOS_TRY(add_value(c, plan->origins[first_value + i], plan->dtypes[first_value + i]));
  }
  c->moved[index] = (int32_t)c->num_entries;
  return add_entry(c, &entry);
}

// In which memory a fetch of what runs at once asks to be by what hands it on, and may have no
// entry any more. A body's is where it is.
static int16_t asked_home(const copier *c, int32_t fetch) {
  const rheos__plan *plan = c->plan;
  const rheos__node *node = rheos__plan_node(plan, plan->fetches[fetch].id);
  rheos__device_name name;
  const int16_t home = c->homes[plan->fetch_values[fetch]];
  if (rheos__plan_is_body(plan) || (node->signature->op->flags & RHEOS_OP_FORWARDS) == 0 ||
      node->device[0] == '\0' || !is_plain(plan, plan->fetch_values[fetch])) {
    return home;
  }
  rheos_status *status = rheos__device_name_parse(node->device, &name);
  rheos_status_free(status);
  for (int32_t i = 0; status == NULL && i < plan->context.num_devices; ++i) {
    if (rheos__device_name_matches(&name, &plan->context.devices[i]->parsed_name)) {
      return home_of_device(plan, (int16_t)i);
    }
  }
  return home;
}

static rheos_status *write_entries(copier *c) {
  rheos__plan *plan = c->plan;
  for (int32_t i = 0; i < plan->num_feeds; ++i) {
    c->renamed[i] = i;
    RHEOS_TRY(add_value(c, plan->origins[i], plan->dtypes[i]));
  }
  for (int32_t i = 0; i < plan->num_entries; ++i) RHEOS_TRY(take_over(c, i));
  for (int32_t i = 0; i < plan->num_fetches; ++i) {
    const int32_t value = plan->fetch_values[i];
    int32_t fetched = c->renamed[value];
    const int16_t home = rheos__plan_hands_on(plan) ? asked_home(c, i) : 0;
    if (c->homes[value] != home) {
      const int32_t end =
          c->num_entries > 0 ? rheos__level_behind(&c->entries[c->num_entries - 1]) : 0;
      RHEOS_TRY(copy_of(c, value, home, end, &fetched));
    }
    plan->fetch_values[i] = fetched;
  }
  for (int32_t i = 0; i < plan->num_waits; ++i) {
    if (plan->waits[i] >= 0) plan->waits[i] = c->moved[plan->waits[i]];
  }
  return NULL;
}

static void hand_over(copier *c) {
  rheos__plan *plan = c->plan;
  rheos__free(plan->entries);
  rheos__free(plan->operands);
  rheos__free(plan->origins);
  rheos__free(plan->dtypes);
  plan->entries = c->entries;
  plan->num_entries = (int32_t)c->num_entries;
  plan->operands = c->operands;
  plan->origins = c->origins;
  plan->dtypes = c->dtypes;
  plan->num_values = (int32_t)c->num_values;
  c->entries = NULL;
  c->operands = NULL;
  c->origins = NULL;
  c->dtypes = NULL;
}

static rheos_status *insert_copies(copier *c) {
  const size_t values = (size_t)c->plan->num_values, entries = (size_t)c->plan->num_entries;
  const size_t devices = (size_t)c->plan->context.num_devices;
  c->homes = rheos__alloc_array(values, sizeof *c->homes);
  c->renamed = rheos__alloc_array(values, sizeof *c->renamed);
  c->moved = rheos__alloc_array(entries, sizeof *c->moved);
  c->copies = rheos__alloc_array(values, devices * sizeof *c->copies);
  if (c->homes == NULL || c->renamed == NULL || c->moved == NULL || c->copies == NULL) {
    return rheos__out_of_memory();
  }
  find_homes(c);
  RHEOS_TRY(find_feed_homes(c));
  RHEOS_TRY(write_entries(c));
  hand_over(c);
  return NULL;
}

rheos_status *rheos__insert_copies(rheos__plan *plan) {
  if (!plan->is_mixed) return NULL;
  copier c = {.plan = plan};
  rheos_status *status = insert_copies(&c);
  rheos__free(c.homes);
  rheos__free(c.renamed);
  rheos__free(c.moved);
  rheos__free(c.copies);
  rheos__free(c.entries);
  rheos__free(c.operands);
  rheos__free(c.origins);
  rheos__free(c.dtypes);
  return status;
}

// ---- Constants

static rheos__value *value_of(rheos__segment *segment, int32_t value) {
  return &segment->values[value - segment->first_value];
}

// Gives each constant that an entry of the device defines a place in one block.
static rheos_status *list_constants(rheos__segment *segment, size_t *out_bytes) {
  const rheos__plan *plan = segment->plan;
  size_t capacity = 0, end = 0;
  for (int32_t i = segment->first_entry; i < segment->end_entry; ++i) {
    const rheos__entry *entry = &plan->entries[i];
    if (rheos__is_anywhere(entry)) continue;
    for (int32_t k = 0; k < entry->num_outputs; ++k) {
      const int32_t index = entry->first_value + k;
      const rheos__value *value = value_of(segment, index);
      if (value->kind != RHEOS__VALUE_CONSTANT) continue;
      if (!RHEOS_RESERVE(segment->placed_constants, capacity,
                         (size_t)segment->num_placed_constants + 1)) {
        return rheos__out_of_memory();
      }
      segment->placed_constants[segment->num_placed_constants++] =
          (rheos__placed_constant){.value = index, .offset = end};
      end += (value->constant->size_bytes + 63) / 64 * 64;
    }
  }
  *out_bytes = end;
  return NULL;
}

rheos_status *rheos__place_constants(rheos__segment *segment) {
  rheos__memory *memory = segment->device->memory;
  size_t bytes = 0;
  RHEOS_TRY(list_constants(segment, &bytes));
  if (bytes == 0) return NULL;
  segment->constant_memory = rheos__memory_allocate(memory, bytes);
  if (segment->constant_memory == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < segment->num_placed_constants; ++i) {
    const rheos__placed_constant *placed = &segment->placed_constants[i];
    const rheos_tensor *constant = value_of(segment, placed->value)->constant;
    RHEOS_TRY(rheos__memory_copy(memory, segment->constant_memory + placed->offset, NULL,
                                 constant->data, constant->size_bytes));
  }
  return NULL;
}

void rheos__placed_constants_deinit(rheos__segment *segment) {
  rheos__memory_free(segment->device->memory, segment->constant_memory);
  rheos__free(segment->placed_constants);
}
