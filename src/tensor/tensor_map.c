// Tensors whose bytes lie in a file. The mapping goes with the tensor's last reference.
#include "tensor/tensor.h"

#include <assert.h>

#include "base/file.h"

typedef struct mapping {
  void *data;
  size_t size_bytes;
} mapping;

void rheos__release_mapping(void *argument) {
  mapping *m = argument;
  rheos__file_unmap(m->data, m->size_bytes);
  rheos__free(m);
}

rheos_status *rheos__tensor_map(rheos_dtype dtype, rheos_shape shape, const char *path,
                                rheos_tensor **out_tensor) {
  *out_tensor = NULL;
  int64_t num_elements;
  size_t size_bytes;
  RHEOS_TRY(rheos__shape_size(dtype, &shape, &num_elements, &size_bytes));
  mapping *m = rheos__alloc(sizeof *m);
  if (m == NULL) return rheos__out_of_memory();
  rheos_status *status = rheos__file_map(path, &m->data, &m->size_bytes);
  if (status == NULL && m->size_bytes < size_bytes) {
    status = rheos_status_new(RHEOS_OUT_OF_RANGE, "'%s' has %zu bytes, a tensor of %zu is wanted",
                              path, m->size_bytes, size_bytes);
    rheos__file_unmap(m->data, m->size_bytes);
  }
  if (status != NULL) {
    rheos__free(m);
    return status;
  }
  assert(m->data != NULL || size_bytes == 0);
  static char nothing;  // where an empty tensor's bytes would be
  void *data = m->data != NULL ? m->data : &nothing;
  status = rheos_tensor_borrow(dtype, shape, data, rheos__release_mapping, m, out_tensor);
  if (status != NULL) rheos__release_mapping(m);
  return status;
}
