// Where several paths meet, their gradients are added up: dense ones by AddN, device by device;
// sparse ones by concatenating their rows, which keeps them sparse; a mixture is made dense.
#include "autodiff/accumulate.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "graph/dependencies.h"
#include "ops/kit/op_util.h"

rheos_output rheos__gradient_to_dense(rheos_scope *s, const rheos_gradient *gradient,
                                      const char *name) {
  if (!rheos__gradient_is_sparse(gradient)) return gradient->values;
  if (!rheos__is_some(gradient->dense_shape)) {
    rheos_scope_fail_take(s, RHEOS_INVALID("a sparse gradient without a dense shape cannot be made "
                                           "dense"));
    return gradient->dense_shape;
  }
  rheos_output inputs[] = {gradient->values, gradient->indices,
                           rheos__first_element(s, gradient->dense_shape)};
  return rheos_operation_output(rheos__op_n(s, "UnsortedSegmentSum", name, inputs, 3, NULL, 0), 0);
}

rheos_output rheos__grad_dense(rheos__grad *g, int32_t i) {
  return rheos__gradient_to_dense(g->scope, &g->out_grads[i], NULL);
}

// ---- Sparse: rows one after the other

static rheos_output concat_rows(rheos_scope *s, rheos_output *parts, size_t count) {
  const rheos_output none = {NULL, 0, 0};
  rheos_push_name_scope(s, "concat");
  parts[count] = rheos__const_scalar(s, RHEOS_INT32, 0, "axis");
  char *name = rheos__scope_node_name(s);
  rheos_output result = none;
  if (name != NULL) {
    result = rheos_operation_output(rheos__op_n(s, "ConcatV2", name, parts, count + 1, NULL, 0), 0);
  }
  rheos__free(name);
  rheos_scope_pop(s);
  return result;
}

static rheos_gradient sum_sparse(rheos_scope *s, rheos_gradient *gradients, size_t count,
                                 rheos_output *parts) {
  rheos_gradient sum = {.dense_shape = gradients[0].dense_shape};
  rheos__unify_indices(s, gradients, count);
  for (size_t i = 0; i < count; i++) parts[i] = gradients[i].values;
  sum.values = concat_rows(s, parts, count);
  for (size_t i = 0; i < count; i++) parts[i] = gradients[i].indices;
  sum.indices = concat_rows(s, parts, count);
  return sum;
}

// ---- Dense

static rheos_output add_n(rheos_scope *s, const rheos_output *parts, size_t count,
                          const char *name) {
  if (count == 1) return parts[0];
  return rheos_operation_output(rheos__op_n(s, "AddN", name, parts, count, NULL, 0), 0);
}

static int compare_devices(const void *a, const void *b) {
  return strcmp(rheos_operation_device(rheos_output_operation(*(const rheos_output *)a)),
                rheos_operation_device(rheos_output_operation(*(const rheos_output *)b)));
}

// Stable, and linear where all are on one device, which is the rule.
static bool on_one_device(const rheos_output *parts, size_t count) {
  for (size_t i = 1; i < count; i++) {
    if (compare_devices(&parts[0], &parts[i]) != 0) return false;
  }
  return true;
}

static rheos_output add_on_device(rheos_scope *s, const rheos_output *parts, size_t count) {
  if (count == 1) return parts[0];
  rheos_push_colocation(s, (rheos_operation){NULL, 0});  // not with what is around
  rheos_push_colocation(s, rheos_output_operation(parts[0]));
  rheos_output sum = add_n(s, parts, count, NULL);
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  return sum;
}

// Sums device by device, then the sums.
static rheos_output sum_dense(rheos_scope *s, rheos_output *parts, size_t count) {
  if (on_one_device(parts, count)) return add_on_device(s, parts, count);
  size_t num_sums = 0;
  for (size_t done = 0; done < count;) {
    // The least device name left, its parts moved to the front in their order.
    const rheos_output *least = &parts[done];
    for (size_t i = done + 1; i < count; i++) {
      if (compare_devices(&parts[i], least) < 0) least = &parts[i];
    }
    rheos_output device_of = *least;
    size_t end = done;
    for (size_t i = done; i < count; i++) {
      if (compare_devices(&parts[i], &device_of) != 0) continue;
      rheos_output part = parts[i];
      memmove(&parts[end + 1], &parts[end], (i - end) * sizeof(rheos_output));
      parts[end++] = part;
    }
    assert(end > done && num_sums <= done);
    parts[num_sums++] = add_on_device(s, parts + done, end - done);
    done = end;
  }
  return add_n(s, parts, num_sums, NULL);
}

static rheos_output sum_mixed(rheos_scope *s, const rheos_gradient *gradients, size_t count,
                              rheos_output *parts) {
  const rheos_output none = {NULL, 0, 0};
  rheos_push_name_scope(s, "AddN");
  for (size_t i = 0; i < count; i++) {
    char name[40];
    snprintf(name, sizeof(name), "inputs_%zu", i);
    parts[i] = rheos__gradient_to_dense(s, &gradients[i], name);
  }
  char *name = rheos__scope_node_name(s);
  rheos_output sum = name != NULL ? add_n(s, parts, count, name) : none;
  rheos__free(name);
  rheos_scope_pop(s);
  return sum;
}

rheos_gradient rheos__sum_gradients(rheos_scope *s, rheos_gradient *gradients, size_t count) {
  rheos_gradient sum = {{NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}};
  assert(count > 0);
  if (count == 1) return gradients[0];
  rheos_output *parts = rheos__alloc_array(count + 1, sizeof(rheos_output));
  if (parts == NULL) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
    return sum;
  }
  size_t num_sparse = 0;
  for (size_t i = 0; i < count; i++) num_sparse += rheos__gradient_is_sparse(&gradients[i]);
  if (num_sparse == count) {
    sum = sum_sparse(s, gradients, count, parts);
  } else if (num_sparse > 0) {
    sum.values = sum_mixed(s, gradients, count, parts);
  } else {
    for (size_t i = 0; i < count; i++) parts[i] = gradients[i].values;
    sum.values = sum_dense(s, parts, count);
  }
  rheos__free(parts);
  return sum;
}
