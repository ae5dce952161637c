// Tensors as files in the forms that other programs read.
#include "outputs.h"

#include <rheos/format.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "elements.h"
#include "files.h"
#include "pictures.h"
#include "show.h"
#include "status.h"

enum { MOST_ELEMENTS = 1000 };

static const char *const extensions[] = {"", "npy", "npz", "json", "raw", "png", "jpeg"};

bool output_format_of(const char *name, output_format *out_format) {
  if (strcmp(name, "jpg") == 0) name = "jpeg";
  for (size_t i = 1; i < sizeof extensions / sizeof extensions[0]; i++) {
    if (strcmp(name, extensions[i]) != 0) continue;
    *out_format = (output_format)i;
    return true;
  }
  return false;
}

// ---- Names

static char *base_name(const char *name) {
  char *base = command_format("%s", name);
  char *colon = strrchr(base, ':');
  if (colon != NULL && strcmp(colon, ":0") == 0) *colon = '\0';
  for (char *c = base; *c != '\0'; c++) {
    if (*c == '/' || *c == ':') *c = '_';
  }
  return base;
}

// Two outputs may come to one file name ("a/b" and "a_b"): the later one gets a number.
static void choose_names(const output_value *values, size_t count, char **names) {
  for (size_t i = 0; i < count; i++) {
    char *base = base_name(values[i].name);
    names[i] = command_format("%s", base);
    size_t number = 0;
    for (size_t k = 0; k < i; k++) {
      if (strcmp(names[k], names[i]) != 0) continue;
      free(names[i]);
      names[i] = command_format("%s_%zu", base, ++number);
      k = (size_t)-1;
    }
    free(base);
  }
}

// ---- JSON in memory

// For free().
static rheos_status *encode_json(const rheos_tensor *tensor, char **out_bytes, size_t *out_size) {
  char *text = NULL;
  size_t size = 0;
  FILE *memory = open_memstream(&text, &size);
  if (memory == NULL) return NO_MEMORY();
  json j = {.out = memory};
  elements_json(&j, NULL, tensor);
  if (rheos_tensor_shape(tensor)->rank == 0) fputc('\n', memory);
  const bool failed = ferror(memory) != 0;
  if (fclose(memory) != 0 || failed) {
    free(text);
    return NO_MEMORY();
  }
  *out_bytes = text;
  *out_size = size;
  return NULL;
}

// ---- Pictures

typedef struct picture {
  int64_t frames, height, width, channels;
  rheos_dtype dtype;  // uint8 or uint16
  rheos_tensor *pixels;
} picture;

// Numbers that are no bytes are rounded and clipped to 0 to 255.
static rheos_status *to_bytes(const rheos_tensor *tensor, rheos_tensor **out_pixels) {
  rheos_tensor *pixels;
  TRY(rheos_tensor_new(RHEOS_UINT8, *rheos_tensor_shape(tensor), &pixels));
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); i++) {
    const element e = element_at(tensor, i);
    double value = e.kind == ELEMENT_REAL     ? e.re
                   : e.kind == ELEMENT_SIGNED ? (double)e.i
                                              : (double)e.u;
    if (!(value > 0)) value = 0;
    if (value > 255) value = 255;
    ((uint8_t *)rheos_tensor_data(pixels))[i] = (uint8_t)nearbyint(value);
  }
  *out_pixels = pixels;
  return NULL;
}

static rheos_status *find_picture(rheos_tensor *tensor, output_format format, picture *out) {
  const rheos_shape *shape = rheos_tensor_shape(tensor);
  const rheos_dtype dtype = rheos_tensor_dtype(tensor);
  const int64_t *dims = shape->dims;
  const int most = format == OUTPUT_PNG ? 4 : 3;
  *out = (picture){.frames = 1, .channels = 1, .dtype = RHEOS_UINT8};
  if (shape->rank < 2 || shape->rank > 4) {
    return INVALID("a picture is [height, width], with channels, or a batch of these");
  }
  if (shape->rank == 4) out->frames = *dims++;
  out->height = dims[0];
  out->width = dims[1];
  if (shape->rank > 2) out->channels = dims[2];
  if (out->channels < 1 || out->channels > most || (most == 3 && out->channels == 2)) {
    return INVALID("a %s has no %lld channels", extensions[format], (long long)out->channels);
  }
  if (dtype == RHEOS_STRING || rheos_dtype_is_complex(dtype) || dtype == RHEOS_BOOL) {
    return INVALID("%s is no dtype of a picture", rheos_dtype_name(dtype));
  }
  if (dtype == RHEOS_UINT8 || (dtype == RHEOS_UINT16 && format == OUTPUT_PNG)) {
    out->dtype = dtype;
    out->pixels = rheos_tensor_ref(tensor);
    return NULL;
  }
  return to_bytes(tensor, &out->pixels);
}

static rheos_status *encode_frame(const picture *p, int64_t frame, output_format format,
                                  rheos_tensor **out_file) {
  const size_t frame_bytes =
      rheos_dtype_size(p->dtype) * (size_t)(p->height * p->width * p->channels);
  rheos_tensor *pixels;
  TRY(rheos_tensor_from_values(p->dtype, RHEOS_SHAPE(p->height, p->width, p->channels),
                               (char *)rheos_tensor_data(p->pixels) + (size_t)frame * frame_bytes,
                               &pixels));
  rheos_status *status = picture_encode(pixels, format == OUTPUT_PNG, out_file);
  rheos_tensor_unref(pixels);
  return status;
}

// ---- Files

static rheos_status *write_file(const char *path, const void *bytes, size_t size_bytes,
                                const rheos_tensor *tensor) {
  TRY(file_replace(path, bytes, size_bytes));
  show_name(path);
  if (tensor != NULL) {
    fputs("  ", stdout);
    show_type(rheos_tensor_dtype(tensor), rheos_tensor_shape(tensor));
  }
  putchar('\n');
  return NULL;
}

static rheos_status *write_picture(const char *folder, const char *name, rheos_tensor *tensor,
                                   output_format format) {
  picture p;
  TRY(find_picture(tensor, format, &p));
  rheos_status *status = NULL;
  for (int64_t i = 0; i < p.frames && status == NULL; i++) {
    char *path = p.frames > 1 ? command_format("%s/%s_%lld.%s", folder, name, (long long)i,
                                               extensions[format])
                              : command_format("%s/%s.%s", folder, name, extensions[format]);
    rheos_tensor *file;
    status = encode_frame(&p, i, format, &file);
    if (status == NULL) {
      const rheos_string *bytes = rheos_tensor_data(file);
      status = write_file(path, bytes->data, bytes->size_bytes, NULL);
      rheos_tensor_unref(file);
    }
    free(path);
  }
  rheos_tensor_unref(p.pixels);
  return status;
}

static rheos_status *write_one(const char *folder, const char *name, rheos_tensor *tensor,
                               output_format format) {
  if (format == OUTPUT_PNG || format == OUTPUT_JPEG) {
    return write_picture(folder, name, tensor, format);
  }
  void *bytes = NULL;
  char *text = NULL;
  size_t size_bytes = 0;
  rheos_status *status = NULL;
  const void *content = rheos_tensor_data(tensor);
  if (format == OUTPUT_NPY) {
    status = rheos_npy_encode(tensor, &bytes, &size_bytes);
    content = bytes;
  } else if (format == OUTPUT_JSON) {
    status = encode_json(tensor, &text, &size_bytes);
    content = text;
  } else if (rheos_tensor_dtype(tensor) == RHEOS_STRING) {
    status = INVALID("strings have no raw form");
  } else {
    size_bytes = rheos_tensor_size_bytes(tensor);
  }
  char *path = command_format("%s/%s.%s", folder, name, extensions[format]);
  if (status == NULL) status = write_file(path, content, size_bytes, tensor);
  free(path);
  free(text);
  rheos_free(bytes);
  return status;
}

static rheos_status *write_archive(const output_value *values, size_t count, const char *folder) {
  const char **names = command_alloc(count * sizeof *names);
  rheos_tensor **tensors = command_alloc(count * sizeof *tensors);
  for (size_t i = 0; i < count; i++) {
    names[i] = values[i].name;
    tensors[i] = values[i].value;
  }
  void *bytes;
  size_t size_bytes;
  rheos_status *status = rheos_npz_encode(names, tensors, count, false, &bytes, &size_bytes);
  char *path = command_format("%s/outputs.npz", folder);
  if (status == NULL) status = write_file(path, bytes, size_bytes, NULL);
  free(path);
  rheos_free(bytes);
  free(names);
  free(tensors);
  return status;
}

static rheos_status *named_take(const char *name, rheos_status *status) {
  if (status == NULL) return NULL;
  rheos_status *named = rheos_status_new(rheos_status_code(status), "output '%s': %s", name,
                                         rheos_status_message(status));
  rheos_status_free(status);
  return named;
}

rheos_status *outputs_write(const output_value *values, size_t count, output_format format,
                            const char *folder) {
  TRY(folder_make(folder));
  if (format == OUTPUT_NPZ) return write_archive(values, count, folder);
  char **names = command_alloc(count * sizeof *names);
  choose_names(values, count, names);
  rheos_status *status = NULL;
  for (size_t i = 0; i < count && status == NULL; i++) {
    status = named_take(values[i].name, write_one(folder, names[i], values[i].value, format));
  }
  for (size_t i = 0; i < count; i++) free(names[i]);
  free(names);
  return status;
}

void outputs_print(const output_value *values, size_t count, output_format format) {
  json j = {.out = stdout};
  if (format == OUTPUT_JSON) json_begin(&j, NULL, '{');
  for (size_t i = 0; i < count; i++) {
    if (format == OUTPUT_JSON) {
      elements_json(&j, values[i].name, values[i].value);
      continue;
    }
    show_name(values[i].name);
    fputs("  ", stdout);
    show_type(rheos_tensor_dtype(values[i].value), rheos_tensor_shape(values[i].value));
    fputs("\n  ", stdout);
    elements_print(stdout, values[i].value, MOST_ELEMENTS);
    putchar('\n');
  }
  if (format == OUTPUT_JSON) json_end(&j, '}');
}
