#include "ops/data/row_blocks.h"

// Elements that did not use their places, before nothing is placed any more.
enum { MOST_WASTED = 4 };

rheos_status *rheos__row_blocks_init(rheos__row_blocks *b, int64_t size, int32_t num_components,
                                     const rheos_dtype *types, const rheos_shape *shapes) {
  const size_t count = (size_t)num_components;
  *b = (rheos__row_blocks){.num_components = num_components,
                           .types = types,
                           .rows = rheos__alloc_array(count, sizeof *b->rows),
                           .blocks = rheos__alloc_array(count, sizeof *b->blocks)};
  if (b->rows == NULL || b->blocks == NULL) {
    rheos__row_blocks_deinit(b);
    return rheos__out_of_memory();
  }
  for (int32_t i = 0; i < num_components; ++i) b->rows[i] = shapes[i];
  b->size = size;
  return NULL;
}

static void drop_blocks(rheos__row_blocks *b) {
  for (int32_t i = 0; b->blocks != NULL && i < b->num_components; ++i) {
    rheos_tensor_unref(b->blocks[i]);
    b->blocks[i] = NULL;
  }
}

void rheos__row_blocks_deinit(rheos__row_blocks *b) {
  drop_blocks(b);
  rheos__free(b->rows);
  rheos__free(b->blocks);
  *b = (rheos__row_blocks){0};
}

static rheos_tensor *new_block(const rheos__row_blocks *b, int32_t i) {
  const rheos_shape *row = &b->rows[i];
  const rheos_dtype dtype = b->types[i];
  if (row->rank < 0 || row->rank >= RHEOS_MAX_RANK) return NULL;
  if (dtype == RHEOS_STRING || dtype == RHEOS_VARIANT || dtype == RHEOS_RESOURCE) return NULL;
  rheos_shape shape = {.rank = row->rank + 1, .dims = {b->size}};
  for (int32_t d = 0; d < row->rank; ++d) shape.dims[d + 1] = row->dims[d];
  int64_t num_elements;
  size_t bytes;
  rheos_tensor *block = NULL;
  rheos_status *status = rheos__shape_size(dtype, &shape, &num_elements, &bytes);
  if (status == NULL && bytes > 0 && (int64_t)bytes <= b->most_bytes) {
    status = rheos__tensor_new(dtype, &shape, &block);
  }
  rheos_status_free(status);  // not known, or no memory: rows are copied then
  return block;
}

void rheos__row_blocks_place(rheos__row_blocks *b, int64_t number, rheos_tensor **element) {
  if (b->size == 0) return;
  const int64_t row = (number - b->first) % b->size;
  for (int32_t i = 0; i < b->num_components; ++i) {
    if (row == 0) {
      rheos_tensor_unref(b->blocks[i]);
      b->blocks[i] = new_block(b, i);
    }
    rheos_tensor *block = b->blocks[i];
    if (block == NULL) continue;
    const size_t row_bytes = block->size_bytes / (size_t)b->size;
    rheos_shape shape = {.rank = block->shape.rank - 1};
    for (int32_t d = 0; d < shape.rank; ++d) shape.dims[d] = block->shape.dims[d + 1];
    rheos_status_free(rheos__tensor_place(block, &shape, (size_t)row * row_bytes, &element[i]));
  }
  if (row == b->size - 1) drop_blocks(b);
}

void rheos__row_blocks_learn(rheos__row_blocks *b, rheos_tensor *const *element) {
  if (b->size == 0) return;
  bool was_placed = false, was_used = false;
  for (int32_t i = 0; i < b->num_components; ++i) {
    if (element[i] == NULL) return;
    was_placed = was_placed || b->blocks[i] != NULL;
    was_used = was_used || rheos__tensor_block(element[i]) != NULL;
    b->rows[i] = element[i]->shape;
  }
  if (was_used) b->num_wasted = 0;
  if (!was_placed || was_used || ++b->num_wasted < MOST_WASTED) return;
  drop_blocks(b);
  b->size = 0;
}
