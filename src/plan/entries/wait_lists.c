// Dropped entries become joins where they stood for several others, so that what is written down
// stays as large as the plan, however many wait for however many.
#include "plan/entries/wait_lists.h"

#include <assert.h>
#include <string.h>

enum { MAX_COPIED = 4 };  // entries of a join that are named one by one

rheos_status *rheos__wait_lists_init(rheos__wait_lists *lists, const rheos__plan *plan) {
  *lists = (rheos__wait_lists){0};
  if (plan->num_waits == 0) return NULL;
  lists->heads = rheos__alloc_array((size_t)plan->num_entries, sizeof *lists->heads);
  if (lists->heads == NULL ||
      !RHEOS_RESERVE(lists->links, lists->link_capacity, (size_t)plan->num_waits)) {
    return rheos__out_of_memory();
  }
  for (int32_t i = 0; i < plan->num_entries; ++i) {
    const rheos__entry *entry = &plan->entries[i];
    lists->heads[i] = -1;
    for (int32_t k = entry->num_waits; k-- > 0;) {
      lists->links[lists->num_links] =
          (struct rheos__wait_link){plan->waits[entry->first_wait + k], lists->heads[i]};
      lists->heads[i] = (int32_t)lists->num_links++;
    }
  }
  return NULL;
}

void rheos__wait_lists_deinit(rheos__wait_lists *lists) {
  rheos__free(lists->heads);
  rheos__free(lists->links);
}

rheos_status *rheos__wait_through(rheos__wait_lists *lists, int32_t entry, int32_t through) {
  if (lists->heads == NULL || entry < 0 || through < 0 || lists->heads[through] < 0) return NULL;
  assert(through < entry);
  if (!RHEOS_RESERVE(lists->links, lists->link_capacity, lists->num_links + 1)) {
    return rheos__out_of_memory();
  }
  lists->links[lists->num_links] = (struct rheos__wait_link){~through, lists->heads[entry]};
  lists->heads[entry] = (int32_t)lists->num_links++;
  return NULL;
}

// ---- Writing down

// A part of the waits that are written down.
typedef struct part {
  int32_t first, count;
  int32_t join;  // 1 + the number of the join that it became; 0: none yet
} part;

typedef struct writer {
  const rheos__wait_lists *lists;
  rheos__plan *plan;
  int32_t *places;     // by entry: without the dropped ones
  part *own;           // by entry: whom it waits for
  part *all;           // by dropped entry: the same, with the producers of its operands
  int32_t *seen;       // by place: the last list that names it
  int32_t *join_seen;  // by join
  size_t join_seen_capacity;
  int32_t list;  // under way
  int32_t *waits;
  size_t num_waits, wait_capacity;
  rheos__join *joins;
  size_t num_joins, join_capacity;
} writer;

static bool is_dropped(const writer *w, int32_t entry) {
  return w->plan->entries[entry].kind == RHEOS__ENTRY_DROPPED;
}

static rheos_status *name(writer *w, int32_t wait) {
  int32_t *seen = wait >= 0 ? &w->seen[wait] : &w->join_seen[~wait];
  if (*seen == w->list) return NULL;
  *seen = w->list;
  if (!RHEOS_RESERVE(w->waits, w->wait_capacity, w->num_waits + 1)) return rheos__out_of_memory();
  w->waits[w->num_waits++] = wait;
  return NULL;
}

static rheos_status *become_join(writer *w, part *of) {
  if (!RHEOS_RESERVE(w->joins, w->join_capacity, w->num_joins + 1) ||
      !RHEOS_RESERVE(w->join_seen, w->join_seen_capacity, w->num_joins + 1)) {
    return rheos__out_of_memory();
  }
  w->join_seen[w->num_joins] = 0;
  w->joins[w->num_joins++] = (rheos__join){of->first, of->count};
  of->join = (int32_t)w->num_joins;
  return NULL;
}

// The members where they are few, else a join of them.
static rheos_status *name_part(writer *w, part *named) {
  assert(named->first + named->count <= (int32_t)w->num_waits);
  if (named->count > MAX_COPIED) {
    if (named->join == 0) RHEOS_TRY(become_join(w, named));
    return name(w, ~(named->join - 1));
  }
  for (int32_t i = 0; i < named->count; ++i) RHEOS_TRY(name(w, w->waits[named->first + i]));
  return NULL;
}

static rheos_status *name_entry(writer *w, int32_t entry) {
  if (entry < 0) return NULL;
  assert(entry < w->plan->num_entries);
  if (!is_dropped(w, entry)) return name(w, w->places[entry]);
  return name_part(w, &w->all[entry]);
}

static int32_t begin_list(writer *w) {
  ++w->list;
  return (int32_t)w->num_waits;
}

static part part_from(const writer *w, int32_t first) {
  return (part){.first = first, .count = (int32_t)w->num_waits - first};
}

static rheos_status *name_own(writer *w, int32_t entry) {
  for (int32_t at = w->lists->heads[entry]; at >= 0; at = w->lists->links[at].next) {
    const int32_t wait = w->lists->links[at].wait;
    RHEOS_TRY(wait >= 0 ? name_entry(w, wait) : name_part(w, &w->own[~wait]));
  }
  return NULL;
}

static rheos_status *store(writer *w, int32_t (*producer)(void *, int32_t), void *argument) {
  rheos__plan *plan = w->plan;
  for (int32_t i = 0, place = 0; i < plan->num_entries; ++i) {
    rheos__entry *entry = &plan->entries[i];
    w->places[i] = place;
    int32_t first = begin_list(w);
    if (w->lists->heads[i] >= 0) RHEOS_TRY(name_own(w, i));
    w->own[i] = part_from(w, first);
    if (entry->kind != RHEOS__ENTRY_DROPPED) {
      ++place;
      entry->first_wait = first;
      entry->num_waits = w->own[i].count;
      continue;
    }
    first = begin_list(w);
    RHEOS_TRY(name_part(w, &w->own[i]));
    for (int32_t k = 0; k < entry->num_inputs; ++k) {
      RHEOS_TRY(name_entry(w, producer(argument, entry->first_operand + k)));
    }
    w->all[i] = part_from(w, first);
  }
  return NULL;
}

rheos_status *rheos__wait_lists_store(const rheos__wait_lists *lists, rheos__plan *plan,
                                      int32_t (*producer)(void *argument, int32_t operand),
                                      void *argument) {
  if (lists->heads == NULL) return NULL;
  const size_t count = (size_t)plan->num_entries;
  writer w = {.lists = lists, .plan = plan};
  w.places = rheos__alloc_array(count, sizeof *w.places);
  w.own = rheos__alloc_array(count, sizeof *w.own);
  w.all = rheos__alloc_array(count, sizeof *w.all);
  w.seen = rheos__alloc_array(count, sizeof *w.seen);
  rheos_status *status = NULL;
  if (w.places == NULL || w.own == NULL || w.all == NULL || w.seen == NULL) {
    status = rheos__out_of_memory();
  }
  if (status == NULL) status = store(&w, producer, argument);
  rheos__free(w.places);
  rheos__free(w.own);
  rheos__free(w.all);
  rheos__free(w.seen);
  rheos__free(w.join_seen);
  if (status != NULL) {
    rheos__free(w.waits);
    rheos__free(w.joins);
    return status;
  }
  rheos__free(plan->waits);
  plan->waits = w.waits;
  plan->joins = w.joins;
  plan->num_waits = (int32_t)w.num_waits;
  plan->num_joins = (int32_t)w.num_joins;
  return NULL;
}
