#include "runtime/session/session_stats.h"

#include "plan/segment/segment.h"

static void add_segments(const rheos__segment *roots, rheos_session_stats *stats) {
  for (const rheos__segment *at = roots; at != NULL; at = at->next) {
    for (const rheos__segment *down = at; down != NULL; down = down->children) {
      stats->arena_bytes += (int64_t)down->memory_bytes;
      stats->num_instructions += down->num_instructions;
    }
  }
}

void rheos__add_plans(const rheos__plan_cache *plans, rheos_session_stats *stats) {
  stats->num_plans += plans->num_made;
  for (size_t i = 0; i < plans->num_plans; ++i) {
    rheos__plan *plan = plans->plans[i]->plan;
    if (plan == NULL) continue;
    pthread_mutex_lock(&plan->mutex);
    stats->num_specializations += plan->num_specializations;
    add_segments(plan->roots, stats);
    pthread_mutex_unlock(&plan->mutex);
  }
}
