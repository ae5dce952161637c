#include "runtime/session/run_signature.h"

#include "base/alloc.h"
#include "base/hash.h"

void rheos__signature_ids_hash(rheos__signature_ids *ids) {
  uint64_t hash = rheos__hash_bytes((uint64_t)ids->num_feeds, ids->feeds,
                                    (size_t)ids->num_feeds * sizeof *ids->feeds);
  hash = rheos__hash_bytes(hash, ids->fetches, (size_t)ids->num_fetches * sizeof *ids->fetches);
  hash = rheos__hash_bytes(hash, ids->targets, (size_t)ids->num_targets * sizeof *ids->targets);
  if (ids->num_done > 0) {
    hash = rheos__hash_bytes(hash, ids->done, (size_t)ids->num_done * sizeof *ids->done);
  }
  if (ids->watched != NULL) hash = rheos__hash_mix(hash, (uint64_t)(uintptr_t)ids->watched);
  if (ids->any_shapes) hash = rheos__hash_mix(hash, 1);
  ids->hash = hash;
}

// ---- Checks

// `what` and `index` say which in the caller's list it is.
static rheos_status *check_output(const rheos_graph *graph, rheos_output output, const char *what,
                                  size_t index) {
  if (output.graph == NULL) {
    return RHEOS_INVALID("%s[%zu] is no tensor (an error was made before)", what, index);
  }
  if (output.graph != graph) {
    char name[128];
    rheos_operation_name(rheos_output_operation(output), name, sizeof name);
    return RHEOS_INVALID("%s[%zu], '%s:%d', is not an element of this session's graph", what, index,
                         name, (int)output.index);
  }
  if (output.id < 0 || output.id >= rheos_graph_num_operations(graph) || output.index < 0 ||
      output.index >= rheos__graph_node(graph, output.id)->num_outputs) {
    return RHEOS_INVALID("%s[%zu] does not exist in the graph: node %d, output %d", what, index,
                         (int)output.id, (int)output.index);
  }
  return NULL;
}

static rheos_status *check_target(const rheos_graph *graph, rheos_operation target, size_t index) {
  if (target.graph == NULL) {
    return RHEOS_INVALID("targets[%zu] is no operation (an error was made before)", index);
  }
  if (target.graph != graph) {
    char name[128];
    rheos_operation_name(target, name, sizeof name);
    return RHEOS_INVALID("targets[%zu], '%s', is not an element of this session's graph", index,
                         name);
  }
  if (target.id < 0 || target.id >= rheos_graph_num_operations(graph)) {
    return RHEOS_INVALID("targets[%zu] does not exist in the graph: node %d", index,
                         (int)target.id);
  }
  return NULL;
}

rheos_status *rheos__check_feed(const rheos_graph *graph, rheos__edge edge,
                                const rheos_tensor *value, bool any_shape) {
  const rheos__node_output *output = &rheos__graph_node(graph, edge.id)->outputs[edge.index];
  rheos_status *status = NULL;
  if (value == NULL) {
    status = RHEOS_INVALID("the fed value is NULL");
  } else if (value->dtype != rheos_dtype_base(output->dtype)) {
    status = RHEOS_INVALID("Cannot feed a value of dtype %s for a tensor of dtype %s",
                           rheos_dtype_name(value->dtype),
                           rheos_dtype_name(rheos_dtype_base(output->dtype)));
  } else if (!any_shape && !rheos_shape_compatible(output->shape, &value->shape)) {
    rheos__shape_text fed, expected;
    status = RHEOS_INVALID("Cannot feed a value of shape %s for a tensor of shape %s",
                           rheos__shape_text_of(&value->shape, &fed),
                           rheos__shape_text_of(output->shape, &expected));
  }
  return status != NULL ? rheos__status_at_take(status, graph, edge.id) : NULL;
}

bool rheos__feeds_fit(const rheos_graph *graph, const rheos__signature_ids *ids,
                      rheos_tensor *const *values) {
  for (int32_t i = 0; i < ids->num_feeds; ++i) {
    const rheos__edge edge = ids->feeds[i];
    const rheos_shape *known = rheos__graph_node(graph, edge.id)->outputs[edge.index].shape;
    if (values[i] != NULL && !rheos_shape_compatible(known, &values[i]->shape)) return false;
  }
  return true;
}

// ---- Ids

static rheos__edge edge_of(rheos_output output) { return (rheos__edge){output.id, output.index}; }

static rheos_status *check_counts(size_t num_feeds, size_t num_fetches, size_t num_targets) {
  if (num_feeds <= INT32_MAX && num_fetches <= INT32_MAX && num_targets <= INT32_MAX) return NULL;
  return RHEOS_INVALID("%zu feeds, %zu fetches and %zu targets: at most %d of each", num_feeds,
                       num_fetches, num_targets, INT32_MAX);
}

static rheos_status *fill_targets(const rheos_graph *graph, const rheos_operation *targets,
                                  size_t num_targets, int32_t *ids) {
  for (size_t i = 0; i < num_targets; ++i) {
    RHEOS_TRY(check_target(graph, targets[i], i));
    ids[i] = targets[i].id;
  }
  return NULL;
}

static rheos_status *fill_outputs(const rheos_graph *graph, const rheos_output *outputs,
                                  size_t num_outputs, const char *what, rheos__edge *edges) {
  for (size_t i = 0; i < num_outputs; ++i) {
    RHEOS_TRY(check_output(graph, outputs[i], what, i));
    edges[i] = edge_of(outputs[i]);
  }
  return NULL;
}

rheos_status *rheos__signature_ids_of(const rheos_graph *graph, const rheos__step_ends *ends,
                                      rheos__signature_ids *out_ids, void **out_memory) {
  *out_memory = NULL;
  const size_t num_feeds = ends->num_feeds, num_fetches = ends->num_fetches;
  RHEOS_TRY(check_counts(num_feeds, num_fetches, ends->num_targets));
  rheos__edge *feeds = rheos__alloc((num_feeds + num_fetches) * sizeof *feeds +
                                    ends->num_targets * sizeof(int32_t) + 1);
  if (feeds == NULL) return rheos__out_of_memory();
  rheos__edge *fetches = feeds + num_feeds;
  int32_t *targets = (int32_t *)(fetches + num_fetches);
  rheos_status *status = fill_outputs(graph, ends->feeds, num_feeds, "feeds", feeds);
  if (status == NULL) status = fill_outputs(graph, ends->fetches, num_fetches, "fetches", fetches);
  if (status == NULL) status = fill_targets(graph, ends->targets, ends->num_targets, targets);
  if (status != NULL) {
    rheos__free(feeds);
    return status;
  }
  *out_memory = feeds;
  *out_ids = (rheos__signature_ids){.feeds = feeds,
                                    .fetches = fetches,
                                    .targets = targets,
                                    .num_feeds = (int32_t)num_feeds,
                                    .num_fetches = (int32_t)num_fetches,
                                    .num_targets = (int32_t)ends->num_targets};
  rheos__signature_ids_hash(out_ids);
  return NULL;
}

// ---- One run

typedef struct id_arrays {
  rheos__edge *feeds, *fetches;
  int32_t *targets;
} id_arrays;

static rheos_status *find_room(rheos__run_signature *s, size_t num_feeds, size_t num_fetches,
                               size_t num_targets, id_arrays *out_arrays) {
  *out_arrays = (id_arrays){s->few_feeds, s->few_fetches, s->few_targets};
  s->values = s->few_values;
  s->results = s->few_results;
  s->memory = NULL;
  if (num_feeds <= RHEOS__FEW_IDS && num_fetches <= RHEOS__FEW_IDS &&
      num_targets <= RHEOS__FEW_IDS) {
    return NULL;
  }
  RHEOS_TRY(check_counts(num_feeds, num_fetches, num_targets));
  const size_t size = (num_feeds + num_fetches) * (sizeof(rheos__edge) + sizeof(rheos_tensor *)) +
                      num_targets * sizeof(int32_t);
  s->memory = rheos__alloc(size);
  if (s->memory == NULL) return rheos__out_of_memory();
  s->values = s->memory;
  s->results = s->values + num_feeds;
  out_arrays->feeds = (rheos__edge *)(s->results + num_fetches);
  out_arrays->fetches = out_arrays->feeds + num_feeds;
  out_arrays->targets = (int32_t *)(out_arrays->fetches + num_fetches);
  return NULL;
}

static rheos_status *fill(rheos__run_signature *s, const id_arrays *a, const rheos_graph *graph,
                          const rheos_feed *feeds, size_t num_feeds, const rheos_fetch *fetches,
                          size_t num_fetches, const rheos_operation *targets, size_t num_targets) {
  for (size_t i = 0; i < num_feeds; ++i) {
    RHEOS_TRY(check_output(graph, feeds[i].output, "feeds", i));
    a->feeds[i] = edge_of(feeds[i].output);
    const rheos_tensor *value = feeds[i].value;
    RHEOS_TRY(rheos__tensor_to_host(&value));
    s->values[i] = (rheos_tensor *)(uintptr_t)value;
  }
  for (size_t i = 0; i < num_fetches; ++i) {
    RHEOS_TRY(check_output(graph, fetches[i].output, "fetches", i));
    a->fetches[i] = edge_of(fetches[i].output);
  }
  return fill_targets(graph, targets, num_targets, a->targets);
}

rheos_status *rheos__run_signature_init(rheos__run_signature *s, const rheos_graph *graph,
                                        const rheos_feed *feeds, size_t num_feeds,
                                        const rheos_fetch *fetches, size_t num_fetches,
                                        const rheos_operation *targets, size_t num_targets) {
  id_arrays a;
  RHEOS_TRY(find_room(s, num_feeds, num_fetches, num_targets, &a));
  rheos_status *status =
      fill(s, &a, graph, feeds, num_feeds, fetches, num_fetches, targets, num_targets);
  if (status != NULL) {
    rheos__free(s->memory);
    return status;
  }
  s->ids = (rheos__signature_ids){.feeds = a.feeds,
                                  .fetches = a.fetches,
                                  .targets = a.targets,
                                  .num_feeds = (int32_t)num_feeds,
                                  .num_fetches = (int32_t)num_fetches,
                                  .num_targets = (int32_t)num_targets};
  rheos__signature_ids_hash(&s->ids);
  return NULL;
}
