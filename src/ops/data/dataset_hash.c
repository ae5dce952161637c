// Numbers that stand for what makes the elements of a dataset: its ops, what they were given and
// the bodies of their functions, whatever names these have. They are the same in each process of a
// version, which snapshots are found by.
#include "ops/data/dataset_hash.h"

#include "base/hash.h"
#include "graph/graph.h"

// Functions inside functions, and datasets behind datasets, that are told apart.
enum { MOST_DEPTH = 8, MOST_DATASETS = 10000 };

static uint64_t hash_text(uint64_t hash, const char *text) {
  return rheos__hash_bytes(hash, text, strlen(text));
}

static uint64_t hash_tensor(uint64_t hash, const rheos_tensor *tensor) {
  hash = rheos__hash_mix(hash, (uint64_t)tensor->dtype);
  for (int32_t d = 0; d < tensor->shape.rank; ++d) {
    hash = rheos__hash_mix(hash, (uint64_t)tensor->shape.dims[d]);
  }
  if (tensor->dtype == RHEOS_VARIANT || tensor->dtype == RHEOS_RESOURCE) return hash;
  if (tensor->dtype != RHEOS_STRING) {
    return rheos__hash_bytes(hash, tensor->data, tensor->size_bytes);
  }
  for (int64_t i = 0; i < tensor->num_elements; ++i) {
    const rheos_string *text = (const rheos_string *)tensor->data + i;
    hash = rheos__hash_mix(hash, text->size_bytes);
    if (text->size_bytes > 0) hash = rheos__hash_bytes(hash, text->data, text->size_bytes);
  }
  return hash;
}

static uint64_t hash_function(uint64_t hash, rheos_graph *graph, const rheos_func *func,
                              int32_t depth);

static uint64_t hash_attr(uint64_t hash, rheos_graph *graph, const rheos_attr *attr,
                          int32_t depth) {
  if (attr->name[0] == '_') return hash;  // about the program, not the computation
  hash = hash_text(hash, attr->name);
  switch (attr->value.kind) {
    case RHEOS_ATTR_FUNC: return hash_function(hash, graph, attr->value.func, depth + 1);
    case RHEOS_ATTR_TENSOR: return hash_tensor(hash, attr->value.tensor);
    default: return rheos__attr_hash(hash, attr);
  }
}

static uint64_t hash_function(uint64_t hash, rheos_graph *graph, const rheos_func *func,
                              int32_t depth) {
  const rheos__function *f = NULL;
  rheos_status *status = depth < MOST_DEPTH ? rheos__graph_function(graph, func, &f) : NULL;
  rheos_status_free(status);
  if (f == NULL) return rheos__hash_bytes(hash, func->name.data, func->name.size_bytes);
  for (int32_t id = 0; id < rheos_graph_num_operations(f->graph); ++id) {
    const rheos__node *node = rheos__graph_node(f->graph, id);
    hash = hash_text(hash, node->signature->op->name);
    for (int32_t i = 0; i < node->num_inputs + node->num_control_inputs; ++i) {
      hash = rheos__hash_mix(hash, (uint64_t)node->edges[i].id);
      hash = rheos__hash_mix(hash, (uint64_t)node->edges[i].index);
    }
    for (int32_t i = 0; i < node->attrs->count; ++i) {
      hash = hash_attr(hash, f->graph, &node->attrs->items[i], depth);
    }
  }
  return hash;
}

uint64_t rheos__dataset_op_hash(rheos_graph *graph, const char *op, const rheos__attrs *attrs) {
  uint64_t hash = hash_text(0, op);
  for (int32_t i = 0; i < attrs->count; ++i) hash = hash_attr(hash, graph, &attrs->items[i], 0);
  return hash;
}

rheos_status *rheos__dataset_hash(const rheos__dataset *dataset, uint64_t *out_hash) {
  const rheos__dataset **todo = NULL;
  size_t count = 0, done = 0, capacity = 0;
  uint64_t hash = 0;
  if (!RHEOS_RESERVE(todo, capacity, 1)) return rheos__out_of_memory();
  todo[count++] = dataset;
  for (; done < count && done < MOST_DATASETS; ++done) {
    const rheos__dataset *d = todo[done];
    hash = rheos__hash_mix(hash, rheos__dataset_spec_hash(d));
    for (int32_t i = 0; i < d->num_args; ++i) {
      if (d->args[i] != NULL) hash = hash_tensor(hash, d->args[i]);
    }
    if (!RHEOS_RESERVE(todo, capacity, count + (size_t)d->num_inputs)) {
      rheos__free((void *)todo);
      return rheos__out_of_memory();
    }
    for (int32_t i = 0; i < d->num_inputs; ++i) todo[count++] = d->inputs[i];
  }
  rheos__free((void *)todo);
  *out_hash = hash;
  return NULL;
}
