// From a signature to an order of work: prune, level, sort, number the values. Nothing here depends
// on shapes, and nothing recurses, so a chain of a million nodes is ordinary.
#include "plan/entries/plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "plan/build/builder.h"
#include "plan/segment/copies.h"
#include "plan/entries/effects.h"
#include "plan/entries/place.h"
#include "plan/entries/prepare.h"
#include "plan/rules/rewrite.h"
#include "plan/segment/segment.h"
#include "resource/variable_shape.h"

static void builder_deinit(rheos__builder *b) {
  rheos__free(b->marks);
  rheos__free(b->is_target);
  rheos__free(b->stack);
  rheos__free(b->drafts);
  rheos__free(b->sources);
  rheos__free(b->waits);
  rheos__free(b->reads);
  rheos__free(b->later);
  rheos__free(b->order);
  rheos__raised_deinit(&b->raised);
  rheos__free(b->ways_back);
  rheos__flow_frames_deinit(&b->frames);
}

// Stable order by (level, writes last): a counting sort. order[k] is the draft at place k.
static rheos_status *sort_drafts(const rheos__builder *b, int32_t *order) {
  int32_t num_levels = 1;
  for (size_t i = 0; i < b->num_drafts; ++i) {
    if (b->drafts[i].level >= num_levels) num_levels = b->drafts[i].level + 1;
  }
  int32_t *starts =
      rheos__alloc_array((size_t)num_levels * RHEOS__PLACES_OF_LEVEL + 1, sizeof *starts);
  if (starts == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < b->num_drafts; ++i) {
    ++starts[rheos__place_in_order(&b->drafts[i]) + 1];
  }
  for (int32_t i = 0; i < num_levels * RHEOS__PLACES_OF_LEVEL; ++i) starts[i + 1] += starts[i];
  for (size_t i = 0; i < b->num_drafts; ++i) {
    order[starts[rheos__place_in_order(&b->drafts[i])]++] = (int32_t)i;
  }
  rheos__free(starts);
  return NULL;
}

static int32_t value_of(const rheos__builder *b, rheos__source s) {
  assert(s.draft < (int32_t)b->num_drafts);
  assert(s.index >= 0 &&
         s.index < (s.draft < 0 ? b->plan->num_feeds : b->drafts[s.draft].num_outputs));
  return s.draft < 0 ? s.index : b->drafts[s.draft].first_value + s.index;
}

// Which output of the graph each value is, and its dtype.
static rheos_status *describe_values(rheos__plan *plan) {
  plan->origins = rheos__alloc_array((size_t)plan->num_values, sizeof *plan->origins);
  plan->dtypes = rheos__alloc_array((size_t)plan->num_values, sizeof *plan->dtypes);
  if (plan->origins == NULL || plan->dtypes == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < plan->num_feeds; ++i) {
    const rheos__node *node = rheos__graph_node(plan->graph, plan->feeds[i].id);
    assert(plan->feeds[i].index >= 0 && plan->feeds[i].index < node->num_outputs);
    plan->origins[i] = plan->feeds[i];
    plan->dtypes[i] = (uint8_t)rheos_dtype_base(node->outputs[plan->feeds[i].index].dtype);
  }
  for (int32_t i = 0; i < plan->num_entries; ++i) {
    const rheos__entry *entry = &plan->entries[i];
    const bool is_read = entry->kind == RHEOS__ENTRY_READ;
    for (int32_t k = 0; k < entry->num_outputs; ++k) {
      const rheos__edge origin = entry->structure != NULL
                                     ? entry->structure->outputs[k]
                                     : (rheos__edge){entry->id, is_read ? entry->read_index : k};
      const rheos__node *node = rheos__plan_node(plan, origin.id);
      assert(origin.index < node->num_outputs && entry->first_value + k < plan->num_values);
      const rheos_dtype dtype = node->outputs[origin.index].dtype;
      plan->origins[entry->first_value + k] = origin;
      plan->dtypes[entry->first_value + k] = (uint8_t)(is_read ? rheos_dtype_base(dtype) : dtype);
    }
  }
  return NULL;
}

// The waits, which name drafts, for the plan, where they name entries. `order` becomes the table
// from drafts to entries.
static rheos_status *take_waits(rheos__builder *b, int32_t *order) {
  rheos__plan *plan = b->plan;
  if (b->num_waits == 0) return NULL;
  int32_t *places = rheos__alloc_array(b->num_drafts, sizeof *places);
  if (places == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < b->num_drafts; ++i) {
    assert(order[i] >= 0 && (size_t)order[i] < b->num_drafts);
    places[order[i]] = (int32_t)i;
  }
  for (size_t i = 0; i < b->num_waits; ++i) b->waits[i] = places[b->waits[i]];
  rheos__free(places);
  plan->waits = b->waits;
  plan->num_waits = (int32_t)b->num_waits;
  b->waits = NULL;
  return NULL;
}

// Lays the drafts down in their order and numbers the values.
static rheos_status *lay_down(rheos__builder *b, const rheos__source *fetches) {
  rheos__plan *plan = b->plan;
  plan->num_entries = (int32_t)b->num_drafts;
  plan->entries = rheos__alloc_array(b->num_drafts, sizeof *plan->entries);
  plan->operands = rheos__alloc_array(b->num_sources, sizeof *plan->operands);
  plan->fetch_values = rheos__alloc_array((size_t)plan->num_fetches, sizeof *plan->fetch_values);
  int32_t *order = rheos__alloc_array(b->num_drafts, sizeof *order);
  if (plan->entries == NULL || plan->operands == NULL || plan->fetch_values == NULL ||
      order == NULL) {
    rheos__free(order);
    return rheos__out_of_memory();
  }
  rheos_status *status = sort_drafts(b, order);
  if (status == NULL && b->has_flow && plan->may_wait) status = rheos__builder_move_early(b, order);
  plan->num_values = plan->num_feeds;
  for (int32_t i = 0; status == NULL && i < plan->num_entries; ++i) {
    rheos__entry *d = &b->drafts[order[i]];
    d->first_value = plan->num_values;
    plan->num_values += d->num_outputs;
    plan->entries[i] = *d;
  }
  if (status == NULL) status = take_waits(b, order);
  rheos__free(order);
  RHEOS_TRY(status);
  for (size_t i = 0; i < b->num_sources; ++i) plan->operands[i] = value_of(b, b->sources[i]);
  for (int32_t i = 0; i < plan->num_fetches; ++i) plan->fetch_values[i] = value_of(b, fetches[i]);
  return describe_values(plan);
}

static rheos_status *find_last_uses(rheos__plan *plan) {
  plan->last_uses = rheos__alloc_array((size_t)plan->num_values, sizeof *plan->last_uses);
  if (plan->last_uses == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < plan->context.num_devices; ++i) {
    const int32_t operands = plan->context.devices[i]->kind->max_operands;
    if (operands > plan->max_operands) plan->max_operands = operands;
  }
  for (int32_t i = 0; i < plan->num_entries; ++i) {
    const rheos__entry *entry = &plan->entries[i];
    assert(entry->kind != RHEOS__ENTRY_DROPPED);
    int32_t operands = entry->num_inputs + entry->num_outputs;
    if (operands > plan->max_operands) plan->max_operands = operands;
    for (int32_t k = 0; k < entry->num_inputs; ++k) {
      plan->last_uses[plan->operands[entry->first_operand + k]] = i;
    }
  }
  for (int32_t i = 0; i < plan->num_fetches; ++i) {
    plan->last_uses[plan->fetch_values[i]] = INT32_MAX;
  }
  return NULL;
}

// The level after all writes: where a variable is read that is itself fetched.
static int32_t level_of_end(const rheos__builder *b) {
  int32_t end = 0;
  for (size_t i = 0; i < b->num_drafts; ++i) {
    int32_t level = rheos__level_behind(&b->drafts[i]);
    if (level > end) end = level;
  }
  return end;
}

static rheos_status *build(rheos__builder *b, const int32_t *targets, int32_t num_targets) {
  rheos__plan *plan = b->plan;
  b->num_nodes = rheos_graph_num_operations(plan->graph);
  b->mark_capacity = (size_t)b->num_nodes;
  b->marks = rheos__alloc_array(b->mark_capacity, sizeof *b->marks);
  b->is_target = rheos__alloc_array((size_t)b->num_nodes, sizeof *b->is_target);
  plan->inlined = rheos__inlined_new(b->num_nodes);
  rheos__source *fetches = rheos__alloc_array((size_t)plan->num_fetches, sizeof *fetches);
  rheos_status *status = NULL;
  if (b->marks == NULL || b->is_target == NULL || plan->inlined == NULL || fetches == NULL) {
    status = rheos__out_of_memory();
  }
  for (int32_t i = 0; status == NULL && i < num_targets; ++i) b->is_target[targets[i]] = true;
  if (status == NULL) status = rheos__builder_visit(b, targets, num_targets);
  plan->may_wait = b->num_waiting > 0 || (b->has_flow && rheos__builder_is_held_twice(b));
  plan->calls_program = b->calls_program;
  int32_t end = level_of_end(b);
  for (int32_t i = 0; status == NULL && i < plan->num_fetches; ++i) {
    rheos__edge edge = plan->fetches[i];
    status = rheos__builder_resolve(b, &edge);
    if (status == NULL) status = rheos__builder_find_value(b, edge, end, &fetches[i]);
  }
  if (status == NULL) status = lay_down(b, fetches);
  if (status == NULL && b->has_flow) status = rheos__flow_new(plan, &b->frames, &plan->flow);
  rheos__free(fetches);
  return status;
}

// What follows of a plan without control flow.
static rheos_status *make_straight(rheos__plan *plan, const int32_t *targets, int32_t num_targets) {
  rheos__plan_check(plan);
  RHEOS_TRY(rheos__rewrite(plan, targets, num_targets));
  RHEOS_TRY(rheos__insert_copies(plan));
  rheos__plan_check(plan);
  RHEOS_TRY(find_last_uses(plan));
  return rheos__find_effects(plan);
}

// What follows of one with control flow: all of it runs in the host's memory, to which feeds and
// results of calls are brought where it is mixed.
static rheos_status *make_flow(rheos__plan *plan) {
  for (int32_t i = 0; i < plan->num_entries; ++i) {
    rheos__entry *entry = &plan->entries[i];
    if (!rheos__is_on_host(rheos__entry_device(plan, entry))) entry->device = 0;
  }
  plan->runs_elsewhere = false;
  rheos__flow_check(plan);
  return find_last_uses(plan);
}

// Of all that a plan has looked at and that may change after it was made; it only grows.
static int64_t count_changes(const rheos_graph *graph, const rheos__resources *resources) {
  return rheos__graph_num_changes(graph) + rheos__num_variables_of_any_shape(resources);
}

bool rheos__plan_is_current(const rheos__plan *plan) {
  return plan->num_changes == count_changes(plan->graph, plan->context.resources);
}

rheos_status *rheos__plan_new(rheos_graph *graph, const rheos__plan_context *context,
                              const rheos__edge *feeds, int32_t num_feeds,
                              const rheos__edge *fetches, int32_t num_fetches,
                              const int32_t *targets, int32_t num_targets, rheos__plan **out_plan) {
  *out_plan = NULL;
  rheos__plan *plan = rheos__alloc_zeroed(sizeof *plan);
  if (plan == NULL) return rheos__out_of_memory();
  pthread_mutex_init(&plan->mutex, NULL);
  rheos__arena_init(&plan->arena);
  plan->graph = rheos_graph_ref(graph);
  plan->context = *context;
  plan->context.watches = rheos__watches_ref(context->watches);
  plan->num_feeds = num_feeds;
  plan->num_fetches = num_fetches;
  plan->feeds = rheos__alloc_array((size_t)num_feeds, sizeof *feeds);
  plan->fetches = rheos__alloc_array((size_t)num_fetches, sizeof *fetches);
  rheos_status *status = NULL;
  rheos__graph_begin_reading(graph);
  plan->num_changes = count_changes(graph, context->resources);
  if (plan->feeds == NULL || plan->fetches == NULL) {
    status = rheos__out_of_memory();
  } else {
    if (num_feeds > 0) memcpy(plan->feeds, feeds, (size_t)num_feeds * sizeof *feeds);
    if (num_fetches > 0) memcpy(plan->fetches, fetches, (size_t)num_fetches * sizeof *fetches);
    rheos__builder b = {.plan = plan};
    status =
        rheos__plan_sort_feeds(plan) ? build(&b, targets, num_targets) : rheos__out_of_memory();
    builder_deinit(&b);
    plan->context.done = NULL;
    plan->context.num_done = 0;
  }
  if (status == NULL) status = rheos__place_plan(plan);
  if (status == NULL) {
    status = plan->flow != NULL ? make_flow(plan) : make_straight(plan, targets, num_targets);
  }
  rheos__graph_end_reading(graph);
  if (status != NULL) {
    rheos__plan_free(plan);
    return status;
  }
  *out_plan = plan;
  return NULL;
}

void rheos__plan_free(rheos__plan *plan) {
  if (plan == NULL) return;
  rheos__workspaces_free(
      plan->free_workspaces);  // first: kernels kept there borrow the segments' cells
  rheos__segments_free(plan->roots);
  for (rheos__structure *s = plan->structures; s != NULL; s = s->next) {
    for (int i = 0; i < s->num_parts; ++i) {
      rheos__graph_part_forget(plan->context.bodies, &s->parts[i]);
    }
  }
  rheos__watches_unref(plan->context.watches);
  rheos__inlined_unref(plan->inlined);
  rheos_graph_unref(plan->graph);
  pthread_mutex_destroy(&plan->mutex);
  rheos__free(plan->feeds);
  rheos__free(plan->sorted_feeds);
  rheos__free(plan->fetches);
  rheos__free(plan->fetch_values);
  rheos__free(plan->feed_homes);
  rheos__free(plan->entries);
  rheos__free(plan->operands);
  rheos__free(plan->origins);
  rheos__free(plan->dtypes);
  rheos__free(plan->last_uses);
  rheos__free(plan->waits);
  rheos__free(plan->joins);
  rheos__free(plan->effects);
  rheos__flow_free(plan->flow);
  rheos__arena_deinit(&plan->arena);
  rheos__free(plan);
}
