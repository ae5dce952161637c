#include "net/request_ids.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/status.h"

enum { SLOTS = 2 * RHEOS__REQUEST_IDS_MOST };

void rheos__request_ids_init(rheos__request_ids *ids) {
  *ids = (rheos__request_ids){.newest = 0};
  pthread_mutex_init(&ids->mutex, NULL);
}

void rheos__request_ids_deinit(rheos__request_ids *ids) {
  rheos__free(ids->sets[0]);
  rheos__free(ids->sets[1]);
  pthread_mutex_destroy(&ids->mutex);
}

// Where the id is, or would be. No set is more than half full.
static uint64_t *find(uint64_t *set, uint64_t id) {
  uint64_t at = rheos__hash_mix(0, id) % SLOTS;
  while (set[at] != 0 && set[at] != id) at = (at + 1) % SLOTS;
  return &set[at];
}

static bool has(uint64_t *set, uint64_t id) { return set != NULL && *find(set, id) == id; }

static rheos_status *make_room(rheos__request_ids *ids) {
  if (ids->num_newest == RHEOS__REQUEST_IDS_MOST) {
    ids->newest = 1 - ids->newest;
    ids->num_newest = 0;
    uint64_t *oldest = ids->sets[ids->newest];
    if (oldest != NULL) memset(oldest, 0, SLOTS * sizeof *oldest);
  }
  uint64_t **set = &ids->sets[ids->newest];
  if (*set == NULL) *set = rheos__alloc_zeroed(SLOTS * sizeof **set);
  return *set != NULL ? NULL : rheos__out_of_memory();
}

// With the mutex held.
static rheos_status *add(rheos__request_ids *ids, uint64_t id, bool *out_seen) {
  *out_seen = has(ids->sets[0], id) || has(ids->sets[1], id);
  if (*out_seen) return NULL;
  RHEOS_TRY(make_room(ids));
  *find(ids->sets[ids->newest], id) = id;
  ids->num_newest++;
  return NULL;
}

rheos_status *rheos__request_ids_add(rheos__request_ids *ids, uint64_t id, const char *method) {
  bool seen;
  if (id == 0) return NULL;
  pthread_mutex_lock(&ids->mutex);
  rheos_status *status = add(ids, id, &seen);
  pthread_mutex_unlock(&ids->mutex);
  if (status != NULL || !seen) return status;
  return rheos_status_new(RHEOS_ABORTED, "The same %s request was received twice. request_id: %llu",
                          method, (unsigned long long)id);
}
