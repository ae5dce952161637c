// Slices of tensors: their text, their messages, their keys, and copying what two of them share.
#include "format/checkpoint/tensor_slice.h"

#include <stdio.h>

// Checking that slices do not overlap takes as many steps as there are pairs.
enum { MAX_SLICES = 1 << 14 };

rheos__slice rheos__slice_whole(int32_t rank) {
  rheos__slice slice = {.rank = rank};
  for (int32_t d = 0; d < rank; d++) slice.lengths[d] = RHEOS__WHOLE_EXTENT;
  return slice;
}

// ---- Text

// A decimal number that fills [at, end), with a minus if need be.
static bool parse_number(const char *at, const char *end, int64_t *out_value) {
  const bool negative = at < end && *at == '-';
  if (negative) at++;
  if (at == end) return false;
  int64_t value = 0;
  for (; at < end; at++) {
    if (*at < '0' || *at > '9' || __builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, *at - '0', &value)) {
      return false;
    }
  }
  *out_value = negative ? -value : value;
  return true;
}

// The end of the part that starts at `at`: the next separator, or `end`.
static const char *part_end(const char *at, const char *end, char separator) {
  const char *found = at < end ? memchr(at, separator, (size_t)(end - at)) : NULL;
  return found != NULL ? found : end;
}

static rheos_status *parse_extent(const char *at, const char *end, const char *text,
                                  int64_t *out_start, int64_t *out_length) {
  *out_start = 0;
  *out_length = RHEOS__WHOLE_EXTENT;
  if (end - at == 1 && *at == '-') return NULL;
  const char *comma = part_end(at, end, ',');
  if (comma == end || !parse_number(at, comma, out_start) ||
      !parse_number(comma + 1, end, out_length)) {
    return RHEOS_INVALID("Expected a pair of numbers or '-' but got '%.*s': string = %s",
                         (int)(end - at), at, text);
  }
  if (*out_start < 0 || *out_length <= 0) {
    return RHEOS_INVALID(
        "Expected non-negative start and positive length but got start = %lld, "
        "length = %lld: string = %s",
        (long long)*out_start, (long long)*out_length, text);
  }
  return NULL;
}

static rheos_status *parse_box(const char *at, const char *end, rheos__slice *out_slice) {
  const char *text = at;
  while (at < end) {
    const char *stop = part_end(at, end, ':');
    if (out_slice->rank == RHEOS_MAX_RANK) {
      return RHEOS_INVALID("a slice of more than %d dimensions: %s", RHEOS_MAX_RANK, text);
    }
    const int32_t d = out_slice->rank++;
    RHEOS_TRY(parse_extent(at, stop, text, &out_slice->starts[d], &out_slice->lengths[d]));
    at = stop < end ? stop + 1 : end;
  }
  return NULL;
}

static rheos_status *parse_text(const char *text, const char *end, rheos_shape *out_shape,
                                rheos__slice *out_slice, rheos_shape *out_slice_shape) {
  const char *at = text;
  for (;;) {
    const char *blank = part_end(at, end, ' ');
    if (blank == end) break;
    int64_t size;
    if (!parse_number(at, blank, &size) || size < 0) {
      return RHEOS_INVALID("Non numerical dimension in shape_and_slice: %s", text);
    }
    if (out_shape->rank == RHEOS_MAX_RANK) {
      return RHEOS_INVALID("a shape of more than %d dimensions: %s", RHEOS_MAX_RANK, text);
    }
    out_shape->dims[out_shape->rank++] = size;
    at = blank + 1;
  }
  if (out_shape->rank == 0) {
    return RHEOS_INVALID("Need least two elements in shape_and_slice specification: %s", text);
  }
  int64_t num_elements;
  size_t size_bytes;
  RHEOS_TRY(rheos__shape_size(RHEOS_UINT8, out_shape, &num_elements, &size_bytes));
  RHEOS_TRY(parse_box(at, end, out_slice));
  return rheos__slice_shape(out_slice, out_shape, out_slice_shape);
}

rheos_status *rheos__slice_parse(const rheos_string *text, rheos_shape *out_shape,
                                 rheos__slice *out_slice, rheos_shape *out_slice_shape) {
  *out_shape = *out_slice_shape = RHEOS_SCALAR;
  *out_slice = (rheos__slice){0};
  char *copy = rheos__strndup(text->size_bytes > 0 ? text->data : "", text->size_bytes);
  if (copy == NULL) return rheos__out_of_memory();
  rheos_status *status =
      parse_text(copy, copy + strlen(copy), out_shape, out_slice, out_slice_shape);
  rheos__free(copy);
  return status;
}

const char *rheos__slice_text_of(const rheos__slice *slice, rheos__slice_text *buffer) {
  size_t used = 0;
  buffer->text[0] = '\0';
  for (int32_t d = 0; d < slice->rank; d++) {
    const size_t room = sizeof buffer->text - used;
    const char *colon = d > 0 ? ":" : "";
    const int length = slice->lengths[d] == RHEOS__WHOLE_EXTENT
                           ? snprintf(buffer->text + used, room, "%s-", colon)
                           : snprintf(buffer->text + used, room, "%s%lld,%lld", colon,
                                      (long long)slice->starts[d], (long long)slice->lengths[d]);
    if (length < 0 || (size_t)length >= room) break;
    used += (size_t)length;
  }
  return buffer->text;
}

// ---- Messages

rheos_status *rheos__slice_from_proto(const Tensorflow__TensorSliceProto *proto,
                                      rheos__slice *out_slice) {
  *out_slice = (rheos__slice){0};
  const size_t rank = proto != NULL ? proto->n_extent : 0;
  if (rank > RHEOS_MAX_RANK) return RHEOS_INVALID("a slice of %zu dimensions", rank);
  *out_slice = rheos__slice_whole((int32_t)rank);
  for (size_t d = 0; d < rank; d++) {
    const Tensorflow__TensorSliceProto__Extent *extent = proto->extent[d];
    if (extent->has_length_case != TENSORFLOW__TENSOR_SLICE_PROTO__EXTENT__HAS_LENGTH_LENGTH) {
      continue;
    }
    if (extent->start < 0 || extent->length < 0) {
      return RHEOS_INVALID("a slice from %lld with length %lld", (long long)extent->start,
                           (long long)extent->length);
    }
    out_slice->starts[d] = extent->start;
    out_slice->lengths[d] = extent->length;
  }
  return NULL;
}

rheos_status *rheos__slice_to_proto(const rheos__slice *slice, rheos__arena *arena,
                                    Tensorflow__TensorSliceProto **out_proto) {
  const size_t rank = (size_t)slice->rank;
  *out_proto = NULL;
  Tensorflow__TensorSliceProto *proto = rheos__arena_alloc(arena, sizeof *proto);
  Tensorflow__TensorSliceProto__Extent *extents = rheos__arena_alloc(arena, rank * sizeof *extents);
  Tensorflow__TensorSliceProto__Extent **list = rheos__arena_alloc(arena, rank * sizeof *list);
  if (proto == NULL || extents == NULL || list == NULL) return rheos__out_of_memory();
  tensorflow__tensor_slice_proto__init(proto);
  proto->n_extent = rank;
  proto->extent = list;
  for (size_t d = 0; d < rank; d++) {
    tensorflow__tensor_slice_proto__extent__init(&extents[d]);
    list[d] = &extents[d];
    if (slice->lengths[d] == RHEOS__WHOLE_EXTENT) continue;
    extents[d].start = slice->starts[d];
    extents[d].has_length_case = TENSORFLOW__TENSOR_SLICE_PROTO__EXTENT__HAS_LENGTH_LENGTH;
    extents[d].length = slice->lengths[d];
  }
  *out_proto = proto;
  return NULL;
}

// ---- Keys
//
// Numbers and strings are written so that the order of bytes is theirs. A number that is not
// negative: how many bytes it has, then these, the highest first. A string: 0 becomes 0 255 and 255
// becomes 255 0; it ends with 0 1. A signed number of n bytes in two's complement: its top n+1 bits
// are its sign but the first, which is the other one (so 1 byte holds -64 to 63, 2 bytes -8192 to
// 8191).

static void put_unsigned(rheos__buffer *key, uint64_t value) {
  char bytes[9];
  int count = 0;
  for (uint64_t rest = value; rest != 0; rest >>= 8) count++;
  bytes[0] = (char)count;
  for (int i = 0; i < count; i++) bytes[count - i] = (char)(value >> (8 * i));
  rheos__buffer_put(key, bytes, (size_t)count + 1);
}

static void put_string(rheos__buffer *key, const char *data, size_t size_bytes) {
  for (size_t i = 0; i < size_bytes; i++) {
    rheos__buffer_put(key, &data[i], 1);
    if (data[i] == '\0') rheos__buffer_put(key, "\xff", 1);
    if (data[i] == '\xff') rheos__buffer_put(key, "\0", 1);
  }
  rheos__buffer_put(key, "\0\1", 2);
}

static void put_signed(rheos__buffer *key, int64_t value) {
  const uint64_t magnitude = (uint64_t)(value < 0 ? ~value : value);
  int count = 1;  // 7 bits a byte, one of which is the sign's
  while (count < 10 && magnitude >> (7 * count - 1) != 0) count++;
  unsigned char bytes[10];
  for (int i = 0; i < count; i++) {
    const int shift = 8 * i;
    bytes[count - 1 - i] = shift < 64 ? (unsigned char)((uint64_t)value >> shift)
                                      : (unsigned char)(value < 0 ? 0xff : 0);
  }
  for (int bit = 0; bit < count; bit++) bytes[bit / 8] ^= (unsigned char)(0x80 >> bit % 8);
  rheos__buffer_put(key, bytes, (size_t)count);
}

void rheos__slice_key(rheos__buffer *key, const char *name, size_t name_bytes,
                      const rheos__slice *slice) {
  put_unsigned(key, 0);
  put_string(key, name, name_bytes);
  put_unsigned(key, (uint64_t)slice->rank);
  for (int32_t d = 0; d < slice->rank; d++) {
    put_signed(key, slice->starts[d]);
    put_signed(key, slice->lengths[d]);
  }
}

// ---- Boxes

rheos_status *rheos__slice_shape(const rheos__slice *slice, const rheos_shape *shape,
                                 rheos_shape *out_shape) {
  rheos__shape_text shape_text;
  rheos__slice_text slice_text;
  *out_shape = *shape;
  if (slice->rank != shape->rank) {
    return rheos_status_new(RHEOS_INTERNAL, "Mismatching ranks: shape = %s, slice = %s",
                            rheos__shape_text_of(shape, &shape_text),
                            rheos__slice_text_of(slice, &slice_text));
  }
  for (int32_t d = 0; d < slice->rank; d++) {
    if (slice->lengths[d] == RHEOS__WHOLE_EXTENT) continue;
    if (slice->starts[d] > shape->dims[d] ||
        slice->lengths[d] > shape->dims[d] - slice->starts[d]) {
      return rheos_status_new(
          RHEOS_INTERNAL, "Extent in dimension %d out of bounds: shape = %s, slice = %s", d,
          rheos__shape_text_of(shape, &shape_text), rheos__slice_text_of(slice, &slice_text));
    }
    out_shape->dims[d] = slice->lengths[d];
  }
  return NULL;
}

typedef struct box {
  int64_t starts[RHEOS_MAX_RANK], lengths[RHEOS_MAX_RANK];
  int64_t volume;
} box;

// What two slices of a tensor of `shape` have in common.
static box common(const rheos_shape *shape, const rheos__slice *a, const rheos__slice *b) {
  box c = {.volume = 1};
  for (int32_t d = 0; d < shape->rank; d++) {
    const int64_t size = shape->dims[d];
    const int64_t a_end =
        a->lengths[d] == RHEOS__WHOLE_EXTENT ? size : a->starts[d] + a->lengths[d];
    const int64_t b_end =
        b->lengths[d] == RHEOS__WHOLE_EXTENT ? size : b->starts[d] + b->lengths[d];
    const int64_t start = a->starts[d] > b->starts[d] ? a->starts[d] : b->starts[d];
    const int64_t end = a_end < b_end ? a_end : b_end;
    c.starts[d] = start;
    c.lengths[d] = end > start ? end - start : 0;
    c.volume *= c.lengths[d];  // no more than the tensor's elements
  }
  return c;
}

bool rheos__slices_meet(const rheos_shape *shape, const rheos__slice *a, const rheos__slice *b) {
  return common(shape, a, b).volume > 0;
}

rheos_status *rheos__slices_cover(const rheos_shape *shape, const rheos__slice *stored,
                                  size_t num_stored, const rheos__slice *wanted, bool *out_cover) {
  *out_cover = false;
  if (num_stored > MAX_SLICES) return RHEOS_INVALID("a tensor in %zu slices", num_stored);
  const int64_t needed = common(shape, wanted, wanted).volume;
  int64_t filled = 0;
  for (size_t i = 0; i < num_stored; i++) {
    const int64_t volume = common(shape, &stored[i], wanted).volume;
    if (volume == 0) continue;
    if (volume > needed - filled) break;  // some overlap: told below
    filled += volume;
  }
  for (size_t i = 0; i < num_stored; i++) {
    for (size_t k = 0; k < i; k++) {
      if (!rheos__slices_meet(shape, &stored[i], &stored[k])) continue;
      rheos__slice_text a, b;
      return rheos_status_new(
          RHEOS_INTERNAL, "Overlapping slices: existing slice = %s, new slice = %s",
          rheos__slice_text_of(&stored[k], &a), rheos__slice_text_of(&stored[i], &b));
    }
  }
  *out_cover = filled == needed;
  return NULL;
}

// Where element `at` (of the whole tensor) lies in the tensor of a slice.
static int64_t offset_in(const rheos__slice *slice, const rheos_shape *part, const int64_t *at) {
  int64_t offset = 0;
  for (int32_t d = 0; d < part->rank; d++) {
    offset = offset * part->dims[d] + at[d] - slice->starts[d];
  }
  return offset;
}

rheos_status *rheos__slice_copy(const rheos_shape *shape, const rheos__slice *from_slice,
                                const rheos_tensor *from, const rheos__slice *to_slice,
                                rheos_tensor *to) {
  const box c = common(shape, from_slice, to_slice);
  if (c.volume == 0) return NULL;
  const size_t element_bytes = rheos_dtype_size(to->dtype);
  const int32_t last = shape->rank - 1;
  const int64_t run = last >= 0 ? c.lengths[last] : 1;
  int64_t at[RHEOS_MAX_RANK];
  memcpy(at, c.starts, sizeof at);
  for (int64_t done = 0; done < c.volume; done += run) {
    const char *source =
        (const char *)from->data + (size_t)offset_in(from_slice, &from->shape, at) * element_bytes;
    char *target = (char *)to->data + (size_t)offset_in(to_slice, &to->shape, at) * element_bytes;
    RHEOS_TRY(rheos__copy_elements(to->dtype, target, source, run));
    for (int32_t d = last - 1; d >= 0; d--) {
      if (++at[d] < c.starts[d] + c.lengths[d]) break;
      at[d] = c.starts[d];
    }
  }
  return NULL;
}
