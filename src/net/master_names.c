#include "net/master_names.h"

static rheos_status *copy_names(char *const *names, size_t count, rheos__arena *arena,
                                char *const **out_names) {
  char **copies = rheos__arena_alloc(arena, (count + 1) * sizeof *copies);
  *out_names = copies;
  for (size_t i = 0; copies != NULL && i < count; i++) {
    copies[i] = rheos__arena_strdup(arena, names[i]);
    if (copies[i] == NULL) return rheos__out_of_memory();
  }
  return copies != NULL ? NULL : rheos__out_of_memory();
}

rheos_status *rheos__master_copy_names(const rheos__master_run *from, rheos__arena *arena,
                                       rheos__master_run *run) {
  run->num_feeds = from->num_feeds;
  run->num_fetches = from->num_fetches;
  run->num_targets = from->num_targets;
  run->timeout_ms = from->timeout_ms;
  run->traced = from->traced;
  RHEOS_TRY(copy_names(from->feeds, from->num_feeds, arena, &run->feeds));
  RHEOS_TRY(copy_names(from->fetches, from->num_fetches, arena, &run->fetches));
  return copy_names(from->targets, from->num_targets, arena, &run->targets);
}
