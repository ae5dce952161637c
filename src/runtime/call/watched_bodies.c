#include "runtime/call/watched_bodies.h"

static rheos_status *add(rheos__watched_bodies **first, const rheos__plan_context *context,
                         rheos__watches *watches, rheos__watched_bodies **out_added) {
  rheos__watched_bodies *added = rheos__alloc_zeroed(sizeof *added);
  if (added == NULL) return rheos__out_of_memory();
  rheos__plan_context own = *context;
  own.watches = watches;
  added->bodies = rheos__bodies_new(&own);
  if (added->bodies == NULL) {
    rheos__free(added);
    return rheos__out_of_memory();
  }
  added->watches = rheos__watches_ref(watches);
  added->next = *first;
  *first = *out_added = added;
  return NULL;
}

rheos_status *rheos__watched_bodies_find(rheos__watched_bodies **first,
                                         const rheos__plan_context *context,
                                         rheos__watches *watches,
                                         rheos__watched_bodies **out_found) {
  for (rheos__watched_bodies *at = *first; at != NULL; at = at->next) {
    if (!rheos__watches_equal(at->watches, watches)) continue;
    *out_found = at;
    return NULL;
  }
  return add(first, context, watches, out_found);
}

void rheos__watched_bodies_clear(rheos__watched_bodies *first) {
  for (; first != NULL; first = first->next) rheos__bodies_clear(first->bodies);
}

void rheos__watched_bodies_free(rheos__watched_bodies *first) {
  while (first != NULL) {
    rheos__watched_bodies *next = first->next;
    rheos__bodies_unref(first->bodies);
    rheos__watches_unref(first->watches);
    rheos__free(first);
    first = next;
  }
}
