// Shapes: small values in which -1 stands for what is not known.
#include "tensor/tensor.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

// Not NULL, and with no more dimensions than there is room for.
static bool has_room(const rheos_shape *shape) {
  return shape != NULL && shape->rank <= RHEOS_MAX_RANK;
}

bool rheos__shape_is_sound(const rheos_shape *shape) {
  if (!has_room(shape) || shape->rank < -1) return false;
  for (int32_t i = 0; i < shape->rank; i++) {
    if (shape->dims[i] < -1) return false;
  }
  return true;
}

bool rheos_shape_is_known(const rheos_shape *shape) {
  if (!has_room(shape) || shape->rank < 0) return false;
  for (int32_t i = 0; i < shape->rank; i++) {
    if (shape->dims[i] < 0) return false;
  }
  return true;
}

bool rheos_shape_equal(const rheos_shape *a, const rheos_shape *b) {
  if (!has_room(a) || !has_room(b)) return false;
  if (a->rank != b->rank) return a->rank < 0 && b->rank < 0;
  for (int32_t i = 0; i < a->rank; i++) {
    if (a->dims[i] != b->dims[i]) return false;
  }
  return true;
}

bool rheos_shape_compatible(const rheos_shape *a, const rheos_shape *b) {
  if (!has_room(a) || !has_room(b)) return false;
  if (a->rank < 0 || b->rank < 0) return true;
  if (a->rank != b->rank) return false;
  for (int32_t i = 0; i < a->rank; i++) {
    if (a->dims[i] >= 0 && b->dims[i] >= 0 && a->dims[i] != b->dims[i]) return false;
  }
  return true;
}

int64_t rheos_shape_num_elements(const rheos_shape *shape) {
  if (!rheos_shape_is_known(shape)) return -1;
  int64_t product = 1;
  bool overflow = false, empty = false;
  for (int32_t i = 0; i < shape->rank; i++) {
    empty |= shape->dims[i] == 0;
    overflow |= __builtin_mul_overflow(product, shape->dims[i], &product);
  }
  return empty ? 0 : overflow ? -1 : product;
}

size_t rheos_shape_format(const rheos_shape *shape, char *buffer, size_t size_bytes) {
  char text[256];  // eight dimensions of up to 20 characters
  size_t length = 0;
  if (!has_room(shape) || shape->rank < 0) {
    length = (size_t)snprintf(text, sizeof text, "<unknown>");
  } else {
    text[length++] = '[';
    for (int32_t i = 0; i < shape->rank; i++) {
      if (i > 0) text[length++] = ',';
      if (shape->dims[i] < 0) {
        text[length++] = '?';
      } else {
        length += (size_t)snprintf(text + length, sizeof text - length, "%lld",
                                   (long long)shape->dims[i]);
      }
    }
    text[length++] = ']';
    text[length] = '\0';
  }
  assert(length < sizeof text);
  if (buffer != NULL && size_bytes > 0) {
    size_t kept = length < size_bytes ? length : size_bytes - 1;
    memcpy(buffer, text, kept);
    buffer[kept] = '\0';
  }
  return length;
}

const char *rheos__shape_text_of(const rheos_shape *shape, rheos__shape_text *buffer) {
  rheos_shape_format(shape, buffer->text, sizeof buffer->text);
  return buffer->text;
}

rheos_status *rheos__shape_broadcast(const rheos_shape *a, const rheos_shape *b,
                                     rheos_shape *out_shape) {
  // `out_shape` may be `a` or `b`: it is written last.
  if (a->rank < 0 || b->rank < 0) {
    *out_shape = RHEOS_UNKNOWN_SHAPE;
    return NULL;
  }
  int32_t rank = a->rank > b->rank ? a->rank : b->rank;
  assert(rank <= RHEOS_MAX_RANK);
  rheos_shape shape = {.rank = rank};
  for (int32_t i = 0; i < rank; i++) {
    int32_t i_a = i - (rank - a->rank), i_b = i - (rank - b->rank);
    int64_t x = i_a >= 0 ? a->dims[i_a] : 1;
    int64_t y = i_b >= 0 ? b->dims[i_b] : 1;
    if (x == y || y == 1) {
      shape.dims[i] = x;
    } else if (x == 1) {
      shape.dims[i] = y;
    } else if (x < 0 || y < 0) {
      shape.dims[i] = x < 0 ? y : x;  // the unknown one is 1 or the same
    } else {
      rheos_status *status =
          rheos__shape_unfit(RHEOS_INVALID("Dimensions must be equal, but are %lld and %lld",
                                           (long long)x, (long long)y),
                             "Incompatible shapes:", a, " vs.", b);
      *out_shape = RHEOS_UNKNOWN_SHAPE;
      return status;
    }
  }
  *out_shape = shape;
  return NULL;
}

rheos_status *rheos__shape_unfit(rheos_status *why, const char *before, const rheos_shape *a,
                                 const char *between, const rheos_shape *b) {
  if (why == NULL) return NULL;
  rheos__shape_text text_a, text_b;
  rheos_status *status =
      RHEOS_INVALID("%s %s%s %s: %s", before, rheos__shape_text_of(a, &text_a), between,
                    rheos__shape_text_of(b, &text_b), rheos_status_message(why));
  rheos_status_free(why);
  return status;
}

rheos_shape rheos__shape_common(const rheos_shape *a, const rheos_shape *b) {
  if (a->rank != b->rank) return RHEOS_UNKNOWN_SHAPE;
  rheos_shape common = *a;
  for (int32_t i = 0; i < a->rank; i++) {
    if (a->dims[i] != b->dims[i]) common.dims[i] = -1;
  }
  return common;
}

rheos_status *rheos__shape_merge(const rheos_shape *a, const rheos_shape *b,
                                 rheos_shape *out_shape) {
  if (a->rank < 0 || b->rank < 0) {
    *out_shape = a->rank < 0 ? *b : *a;
    return NULL;
  }
  rheos__shape_text text_a, text_b;
  rheos_shape shape = *a;
  if (a->rank != b->rank) {
    *out_shape = RHEOS_UNKNOWN_SHAPE;
    return RHEOS_INVALID("Shapes must be equal rank, but are %d and %d: %s and %s", a->rank,
                         b->rank, rheos__shape_text_of(a, &text_a),
                         rheos__shape_text_of(b, &text_b));
  }
  for (int32_t i = 0; i < a->rank; i++) {
    if (shape.dims[i] < 0) shape.dims[i] = b->dims[i];
    if (b->dims[i] >= 0 && shape.dims[i] != b->dims[i]) {
      *out_shape = RHEOS_UNKNOWN_SHAPE;
      return RHEOS_INVALID(
          "Dimension %d in both shapes must be equal, but are %lld and %lld. Shapes are %s and %s.",
          i, (long long)a->dims[i], (long long)b->dims[i], rheos__shape_text_of(a, &text_a),
          rheos__shape_text_of(b, &text_b));
    }
  }
  *out_shape = shape;
  return NULL;
}
