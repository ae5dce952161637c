// Reads a value in whatever form it comes, then makes it fit its input: dtype and, of pictures,
// rank and channels.
#include "feeds.h"

#include <rheos/format.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "elements.h"
#include "files.h"
#include "json_reader.h"
#include "pictures.h"
#include "status.h"

typedef struct wanted {
  const char *name;
  rheos_dtype dtype;  // RHEOS_INVALID_DTYPE: any
  rheos_shape shape;
} wanted;

static rheos_status *string_scalar(const char *bytes, size_t size_bytes, rheos_tensor **out_value) {
  TRY(rheos_tensor_new(RHEOS_STRING, RHEOS_SCALAR, out_value));
  rheos_status *status = rheos_tensor_set_string(*out_value, 0, bytes, size_bytes);
  if (status == NULL) return NULL;
  rheos_tensor_unref(*out_value);
  *out_value = NULL;
  return status;
}

// ---- Raw bytes

// "2,3" or "" for a scalar.
static bool read_dims(const char *text, rheos_shape *out_shape) {
  *out_shape = RHEOS_SCALAR;
  while (*text != '\0') {
    char *end;
    const long long dim = strtoll(text, &end, 10);
    if (end == text || dim < 0 || out_shape->rank == RHEOS_MAX_RANK) return false;
    out_shape->dims[out_shape->rank++] = dim;
    if (*end != '\0' && (*end != ',' || end[1] == '\0')) return false;
    text = end + (*end == ',');
  }
  return true;
}

// One dimension that is not known follows from the number of bytes.
static void complete_shape(rheos_shape *shape, size_t num_elements) {
  size_t known = 1;
  int32_t unknown = -1;
  for (int32_t i = 0; i < shape->rank; i++) {
    if (shape->dims[i] < 0) {
      if (unknown >= 0) return;
      unknown = i;
    } else if (__builtin_mul_overflow(known, (size_t)shape->dims[i], &known)) {
      return;
    }
  }
  if (unknown >= 0 && known > 0 && num_elements % known == 0) {
    shape->dims[unknown] = (int64_t)(num_elements / known);
  }
}

static rheos_status *read_raw(const char *bytes, size_t size_bytes, rheos_dtype dtype,
                              rheos_shape shape, rheos_tensor **out_value) {
  const size_t element_bytes = rheos_dtype_size(dtype);
  if (dtype == RHEOS_STRING) return INVALID("strings have no raw form");
  if (element_bytes == 0) return INVALID("say dtype and shape, FILE:float:2,3");
  complete_shape(&shape, size_bytes / element_bytes);
  if (!rheos_shape_is_known(&shape)) {
    return INVALID("the shape is not known: say dtype and shape, FILE:%s:2,3",
                   rheos_dtype_name(dtype));
  }
  // Before memory is asked for.
  const int64_t count = rheos_shape_num_elements(&shape);
  size_t needed;
  if (count < 0 || __builtin_mul_overflow((size_t)count, element_bytes, &needed) ||
      needed != size_bytes) {
    char text[192];
    rheos_shape_format(&shape, text, sizeof text);
    return INVALID("%zu bytes are not %s %s", size_bytes, rheos_dtype_name(dtype), text);
  }
  TRY(rheos_tensor_new(dtype, shape, out_value));
  char *data = rheos_tensor_data(*out_value);
  if (size_bytes > 0) memcpy(data, bytes, size_bytes);
  for (size_t i = 0; dtype == RHEOS_BOOL && i < size_bytes; i++) data[i] = data[i] != 0;
  return NULL;
}

// ---- Archives

// The array of that name; for NULL the only one, or the one that is called like the input.
static rheos_status *find_array(const rheos_npz *npz, const char *key, const char *input,
                                size_t *out_index) {
  const size_t count = rheos_npz_count(npz);
  if (key == NULL && count == 1) {
    *out_index = 0;
    return NULL;
  }
  if (key == NULL) key = input;
  for (*out_index = 0; *out_index < count; ++*out_index) {
    if (strcmp(rheos_npz_name(npz, *out_index), key) == 0) return NULL;
  }
  return NOT_FOUND("the archive has %zu arrays, but no '%s'", count, key);
}

static rheos_status *read_archive(const char *bytes, size_t size_bytes, const char *key,
                                  const char *input, rheos_tensor **out_value) {
  rheos_npz *npz;
  size_t index;
  TRY(rheos_npz_open(bytes, size_bytes, &npz));
  rheos_status *status = find_array(npz, key, input, &index);
  if (status == NULL) status = rheos_npz_read(npz, index, out_value);
  rheos_npz_free(npz);
  return status;
}

// ---- Pictures

static int channels_of(const rheos_shape *shape) {
  const int64_t last = shape->rank > 0 ? shape->dims[shape->rank - 1] : -1;
  return last == 1 || last == 3 || last == 4 ? (int)last : 0;
}

// A batch of one where the input is a batch; a single picture where it is none.
static rheos_status *read_image(const char *bytes, size_t size_bytes, const wanted *w,
                                rheos_tensor **out_value) {
  rheos_tensor *picture;
  const rheos_dtype dtype = w->dtype == RHEOS_UINT16 ? RHEOS_UINT16 : RHEOS_UINT8;
  TRY(picture_decode(bytes, size_bytes, channels_of(&w->shape), dtype, w->shape.rank != 3,
                     &picture));
  rheos_shape shape = *rheos_tensor_shape(picture);
  if (w->shape.rank == 4 && shape.rank == 3) {
    shape = RHEOS_SHAPE(1, shape.dims[0], shape.dims[1], shape.dims[2]);
  } else if (w->shape.rank == 3 && shape.rank == 4 && shape.dims[0] == 1) {
    shape = RHEOS_SHAPE(shape.dims[1], shape.dims[2], shape.dims[3]);
  }
  rheos_status *status = rheos_tensor_reshaped(picture, shape, out_value);
  rheos_tensor_unref(picture);
  return status;
}

// ---- Files

static bool is_archive(const char *bytes, size_t size_bytes) {
  return size_bytes >= 4 && (memcmp(bytes, "PK\3\4", 4) == 0 || memcmp(bytes, "PK\5\6", 4) == 0);
}

// What the bytes are, by themselves; JSON, which could be anything, by the name.
static rheos_status *read_bytes(const char *path, const char *bytes, size_t size_bytes,
                                const char *key, const wanted *w, rheos_tensor **out_value) {
  if (is_archive(bytes, size_bytes)) {
    return read_archive(bytes, size_bytes, key, w->name, out_value);
  }
  if (key != NULL) return INVALID("it is no archive, in which to look for '%s'", key);
  if (size_bytes >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0) {
    return rheos_npy_decode(bytes, size_bytes, out_value);
  }
  if (ends_with(path, ".json")) return json_read_tensor(bytes, size_bytes, w->dtype, out_value);
  if (w->dtype == RHEOS_STRING) return string_scalar(bytes, size_bytes, out_value);
  if (picture_is(bytes, size_bytes)) {
    return read_image(bytes, size_bytes, w, out_value);
  }
  return read_raw(bytes, size_bytes, w->dtype, w->shape, out_value);
}

static rheos_status *at_path_take(const char *path, rheos_status *status) {
  if (status == NULL) return NULL;
  rheos_status *named =
      rheos_status_new(rheos_status_code(status), "'%s': %s", path, rheos_status_message(status));
  rheos_status_free(status);
  return named;
}

static rheos_status *read_file(const char *path, const char *key, const wanted *w,
                               rheos_tensor **out_value) {
  char *bytes;
  size_t size_bytes;
  TRY(file_read(path, &bytes, &size_bytes));
  rheos_status *status = read_bytes(path, bytes, size_bytes, key, w, out_value);
  free(bytes);
  return at_path_take(path, status);
}

// "@file": its bytes.
static rheos_status *read_contents(const char *path, rheos_tensor **out_value) {
  char *bytes;
  size_t size_bytes;
  TRY(file_read(path, &bytes, &size_bytes));
  rheos_status *status = string_scalar(bytes, size_bytes, out_value);
  free(bytes);
  return status;
}

// "path:DTYPE:DIMS" if the part before is a file.
static bool split_raw(char *text, rheos_dtype *out_dtype, rheos_shape *out_shape) {
  char *last = strrchr(text, ':');
  if (last == NULL || !read_dims(last + 1, out_shape)) return false;
  *last = '\0';
  char *middle = strrchr(text, ':');
  *out_dtype = middle != NULL ? rheos_dtype_from_name(middle + 1) : RHEOS_INVALID_DTYPE;
  if (*out_dtype != RHEOS_INVALID_DTYPE) {
    *middle = '\0';
    if (is_file(text)) return true;
    *middle = ':';
  }
  *last = ':';
  return false;
}

static rheos_status *read_raw_file(const char *path, rheos_dtype dtype, rheos_shape shape,
                                   rheos_tensor **out_value) {
  char *bytes;
  size_t size_bytes;
  TRY(file_read(path, &bytes, &size_bytes));
  rheos_status *status = read_raw(bytes, size_bytes, dtype, shape, out_value);
  free(bytes);
  return at_path_take(path, status);
}

// `text` may be changed.
static rheos_status *read_value(char *text, const wanted *w, rheos_tensor **out_value) {
  rheos_dtype dtype;
  rheos_shape shape;
  if (text[0] == '@') return read_contents(text + 1, out_value);
  if (is_file(text)) return read_file(text, NULL, w, out_value);
  if (split_raw(text, &dtype, &shape)) return read_raw_file(text, dtype, shape, out_value);
  char *colon = strrchr(text, ':');
  if (colon != NULL) {
    *colon = '\0';
    if (is_file(text)) return read_file(text, colon + 1, w, out_value);
    *colon = ':';
  }
  rheos_status *status = json_read_tensor(text, strlen(text), w->dtype, out_value);
  if (status == NULL) return NULL;
  if (w->dtype == RHEOS_STRING) {
    rheos_status_free(status);
    return string_scalar(text, strlen(text), out_value);
  }
  rheos_status *neither =
      INVALID("'%s' is neither a file nor a value (%s)", text, rheos_status_message(status));
  rheos_status_free(status);
  return neither;
}

rheos_status *feed_read(const char *name, const char *text, rheos_output target,
                        rheos_tensor **out_value) {
  const wanted w = {name, rheos_dtype_base(rheos_output_dtype(target)), rheos_output_shape(target)};
  char *copy = command_format("%s", text);
  rheos_tensor *value = NULL;
  *out_value = NULL;
  rheos_status *status = read_value(copy, &w, &value);
  free(copy);
  if (status != NULL) return status;
  if (w.dtype == RHEOS_INVALID_DTYPE) {
    *out_value = value;
    return NULL;
  }
  status = elements_convert(value, w.dtype, out_value);
  rheos_tensor_unref(value);
  return status;
}
