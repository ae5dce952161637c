// Names are made as they are shown, so that plans keep none.
#include "plan/show/show.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER_LENGTH = 24 };

// NULL when memory is short.
static char *name_of_node(const rheos__plan *plan, int32_t id, const char *kind, int32_t number,
                          rheos__arena *arena) {
  char *name = rheos__inlined_name(plan->inlined, plan->graph, id);
  if (name == NULL) return NULL;
  const size_t size = strlen(name) + strlen(kind) + NUMBER_LENGTH;
  char *text = rheos__arena_alloc(arena, size);
  if (text != NULL) {
    if (number > 0 || kind[0] == '/') {
      snprintf(text, size, "%s%s%d", name, kind, (int)number);
    } else {
      snprintf(text, size, "%s", name);
    }
  }
  rheos__free(name);
  return text;
}

char *rheos__entry_name(const rheos__plan *plan, int32_t index, rheos__arena *arena) {
  assert(index >= 0 && index < plan->num_entries);
  const rheos__entry *entry = &plan->entries[index];
  assert(entry->kind != RHEOS__ENTRY_DROPPED);
  if (entry->kind != RHEOS__ENTRY_NODE) {  // the plan has put it in
    static const char *const marks[] = {[RHEOS__ENTRY_READ] = "/_read_",
                                        [RHEOS__ENTRY_COPY] = "/_copy_",
                                        [RHEOS__ENTRY_BRING] = "/_bring_",
                                        [RHEOS__ENTRY_WATCH] = "/_watch_"};
    const char *mark = marks[entry->kind];
    return name_of_node(plan, entry->id, mark, index, arena);
  }
  return name_of_node(plan, rheos__entry_node(plan, entry), "", 0, arena);
}

char *rheos__value_name(const rheos__plan *plan, int32_t value, rheos__arena *arena) {
  const int32_t producer = rheos__plan_producer(plan, value);
  if (producer < 0) {
    return name_of_node(plan, plan->feeds[value].id, ":", plan->feeds[value].index, arena);
  }
  const rheos__entry *entry = &plan->entries[producer];
  if (entry->kind != RHEOS__ENTRY_NODE) return rheos__entry_name(plan, producer, arena);
  return name_of_node(plan, rheos__entry_node(plan, entry), ":", value - entry->first_value, arena);
}

static rheos_status *show_entry(const rheos__plan *plan, int32_t index, rheos__arena *arena,
                                rheos_status *(*visit)(void *, const rheos__shown *),
                                void *argument) {
  const rheos__entry *entry = &plan->entries[index];
  const bool is_node = entry->kind == RHEOS__ENTRY_NODE;
  const char **inputs = rheos__arena_alloc(arena, ((size_t)entry->num_inputs + 1) * sizeof *inputs);
  char *name = rheos__entry_name(plan, index, arena);
  if (inputs == NULL || name == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < entry->num_inputs; ++i) {
    inputs[i] = rheos__value_name(plan, plan->operands[entry->first_operand + i], arena);
    if (inputs[i] == NULL) return rheos__out_of_memory();
  }
  const char *device = rheos__plan_node(plan, entry->id)->device;
  if (rheos__is_moved(entry)) device = rheos__entry_device(plan, entry)->name;
  return visit(argument, &(rheos__shown){
                             .entry = index,
                             .name = name,
                             .op = is_node ? entry->signature->op->name : "Identity",
                             .device = device,
                             .attrs = entry->attrs,
                             .num_inputs = entry->num_inputs,
                             .inputs = inputs,
                         });
}

rheos_status *rheos__plan_show(const rheos__plan *plan,
                               rheos_status *(*visit)(void *argument, const rheos__shown *shown),
                               void *argument) {
  rheos__arena arena;
  rheos__arena_init(&arena);
  rheos_status *status = NULL;
  for (int32_t i = 0; status == NULL && i < plan->num_entries; ++i) {
    status = show_entry(plan, i, &arena, visit, argument);
    rheos__arena_reset(&arena);
  }
  rheos__arena_deinit(&arena);
  return status;
}
