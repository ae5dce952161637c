// What is found in a plan by number: the feed of an edge, the entry of a value.
#include "plan/entries/plan.h"

#include <assert.h>
#include <stdlib.h>

// Up to so many feeds are scanned; they are more only of functions of many arguments, such as
// gradients of large functions.
enum { FEW_FEEDS = 16 };

typedef struct rheos__sorted_feed {
  rheos__edge edge;
  int32_t number;
} rheos__sorted_feed;

static int compare_feeds(const void *a, const void *b) {
  const rheos__sorted_feed *x = a, *y = b;
  if (x->edge.id != y->edge.id) return x->edge.id < y->edge.id ? -1 : 1;
  if (x->edge.index != y->edge.index) return x->edge.index < y->edge.index ? -1 : 1;
  return (x->number > y->number) - (x->number < y->number);
}

bool rheos__plan_sort_feeds(rheos__plan *plan) {
  if (plan->num_feeds <= FEW_FEEDS) return true;
  plan->sorted_feeds = rheos__alloc_array((size_t)plan->num_feeds, sizeof *plan->sorted_feeds);
  if (plan->sorted_feeds == NULL) return false;
  for (int32_t i = 0; i < plan->num_feeds; ++i) {
    plan->sorted_feeds[i] = (rheos__sorted_feed){plan->feeds[i], i};
  }
  qsort(plan->sorted_feeds, (size_t)plan->num_feeds, sizeof *plan->sorted_feeds, compare_feeds);
  return true;
}

int32_t rheos__plan_feed_of(const rheos__plan *plan, rheos__edge edge) {
  int32_t first = 0, end = plan->num_feeds;
  if (plan->sorted_feeds != NULL) {
    const rheos__sorted_feed key = {edge, -1};
    while (first < end) {
      const int32_t middle = first + (end - first) / 2;
      if (compare_feeds(&plan->sorted_feeds[middle], &key) < 0) {
        first = middle + 1;
      } else {
        end = middle;
      }
    }
    if (first == plan->num_feeds) return -1;
    const rheos__sorted_feed *feed = &plan->sorted_feeds[first];
    const bool fits =
        feed->edge.id == edge.id && (feed->edge.index == edge.index || edge.index < 0);
    return fits ? feed->number : -1;
  }
  for (int32_t i = first; i < end; ++i) {
    const rheos__edge *feed = &plan->feeds[i];
    if (feed->id == edge.id && (feed->index == edge.index || edge.index < 0)) return i;
  }
  return -1;
}

int32_t rheos__plan_producer(const rheos__plan *plan, int32_t value) {
  assert(value >= 0 && value < plan->num_values);
  if (value < plan->num_feeds) return -1;
  int32_t first = 0, end = plan->num_entries;
  while (end - first > 1) {  // entries are in the order of their values
    const int32_t middle = first + (end - first) / 2;
    if (plan->entries[middle].first_value <= value) {
      first = middle;
    } else {
      end = middle;
    }
  }
  while (plan->entries[first].num_outputs == 0) --first;  // shares its first value with the next
  assert(value - plan->entries[first].first_value < plan->entries[first].num_outputs);
  return first;
}
