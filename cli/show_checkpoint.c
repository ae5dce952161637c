// Checkpoints and NumPy's arrays: tensors with their dtypes and shapes, the values of one.
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "elements.h"
#include "files.h"
#include "near.h"
#include "show.h"
#include "status.h"

enum { MOST_ELEMENTS = 100 };

static int print_values(const source *s, const char *name, const rheos_tensor *tensor,
                        bool as_json) {
  if (as_json) {
    json j = {.out = stdout};
    json_begin(&j, NULL, '{');
    json_text(&j, "kind", "tensor");
    json_text(&j, "path", s->path);
    json_text(&j, "name", name);
    show_json_type(&j, rheos_tensor_dtype(tensor), rheos_tensor_shape(tensor));
    elements_json(&j, "values", tensor);
    json_end(&j, '}');
  } else {
    show_name(name);
    fputs("  ", stdout);
    show_type(rheos_tensor_dtype(tensor), rheos_tensor_shape(tensor));
    fputs("\n  ", stdout);
    elements_print(stdout, tensor, MOST_ELEMENTS);
    putchar('\n');
  }
  return EXIT_SUCCESS;
}

// ---- Checkpoints

static int show_tensor(const source *s, rheos_checkpoint_reader *reader, const char *name,
                       bool as_json) {
  size_t i = 0;
  const size_t count = rheos_checkpoint_reader_count(reader);
  while (i < count && strcmp(rheos_checkpoint_reader_name(reader, i), name) != 0) i++;
  if (i == count) {
    near_names near = {.wanted = name};
    for (i = 0; i < count; i++) near_offer(&near, rheos_checkpoint_reader_name(reader, i));
    char *text = near_take_text(&near);
    const int result =
        command_fail_take(s->path, NOT_FOUND("there is no tensor '%s'%s", name, text));
    free(text);
    return result;
  }
  rheos_tensor *tensor;
  rheos_status *status = rheos_checkpoint_reader_read(reader, i, &tensor);
  if (status != NULL) return command_fail_take(s->path, status);
  const int result = print_values(s, name, tensor, as_json);
  rheos_tensor_unref(tensor);
  return result;
}

// "V2", or "V1" for a table that holds the tensors itself.
static const char *version_of(const source *s) {
  char *index = command_format("%s.index", s->path), *pending = command_format("%s.new", index);
  const bool has_index = is_file(index) || is_file(pending);
  free(index);
  free(pending);
  return has_index ? "V2" : "V1";
}

static int64_t sum_elements(const rheos_checkpoint_reader *reader) {
  int64_t sum = 0;
  for (size_t i = 0; i < rheos_checkpoint_reader_count(reader); i++) {
    const rheos_shape shape = rheos_checkpoint_reader_shape(reader, i);
    const int64_t count = rheos_shape_num_elements(&shape);
    if (count > 0 && __builtin_add_overflow(sum, count, &sum)) return INT64_MAX;
  }
  return sum;
}

static void print_checkpoint(const source *s, const rheos_checkpoint_reader *reader) {
  const size_t count = rheos_checkpoint_reader_count(reader);
  fputs("checkpoint ", stdout);
  show_name(s->path);
  printf(" (%s)\n  tensors: ", version_of(s));
  show_grouped((int64_t)count);
  fputs("\n  parameters: ", stdout);
  show_grouped(sum_elements(reader));
  putchar('\n');
  if (s->checkpoint_list.num_paths > 0) puts("checkpoints in the list, oldest first");
  for (size_t i = 0; i < s->checkpoint_list.num_paths; i++) {
    fputs("  ", stdout);
    show_name(s->checkpoint_list.all_model_checkpoint_paths[i]);
    putchar('\n');
  }
  int width = 0;
  for (size_t i = 0; i < count; i++) {
    const int own = show_width(rheos_checkpoint_reader_name(reader, i));
    if (own > width && own <= 60) width = own;
  }
  puts("tensors");
  for (size_t i = 0; i < count; i++) {
    const rheos_shape shape = rheos_checkpoint_reader_shape(reader, i);
    fputs("  ", stdout);
    show_padded(rheos_checkpoint_reader_name(reader, i), width);
    fputs("  ", stdout);
    show_type(rheos_checkpoint_reader_dtype(reader, i), &shape);
    putchar('\n');
  }
}

void show_json_tensors(json *j, const rheos_checkpoint_reader *reader) {
  json_begin(j, "tensors", '[');
  for (size_t i = 0; i < rheos_checkpoint_reader_count(reader); i++) {
    const rheos_shape shape = rheos_checkpoint_reader_shape(reader, i);
    json_begin(j, NULL, '{');
    json_text(j, "name", rheos_checkpoint_reader_name(reader, i));
    show_json_type(j, rheos_checkpoint_reader_dtype(reader, i), &shape);
    json_end(j, '}');
  }
  json_end(j, ']');
}

static void json_checkpoint(const source *s, const rheos_checkpoint_reader *reader) {
  json j = {.out = stdout};
  show_json_head(&j, s);
  json_text(&j, "version", version_of(s));
  json_int(&j, "parameters", sum_elements(reader));
  show_json_tensors(&j, reader);
  json_begin(&j, "checkpoints", '[');
  for (size_t i = 0; i < s->checkpoint_list.num_paths; i++) {
    json_text(&j, NULL, s->checkpoint_list.all_model_checkpoint_paths[i]);
  }
  json_end(&j, ']');
  json_end(&j, '}');
}

int show_checkpoint(const source *s, const show_options *options) {
  rheos_checkpoint_reader *reader;
  rheos_status *status = rheos_checkpoint_reader_open(s->path, &reader);
  if (status != NULL) return command_fail_take(s->path, status);
  int result = EXIT_SUCCESS;
  if (options->node != NULL) {
    result = show_tensor(s, reader, options->node, options->json);
  } else if (options->json) {
    json_checkpoint(s, reader);
  } else {
    print_checkpoint(s, reader);
  }
  rheos_checkpoint_reader_free(reader);
  return result;
}

// ---- Arrays: those of an archive, or the one of a file, which has no name

typedef struct arrays {
  rheos_npz *npz;        // NULL: one array
  rheos_tensor *tensor;  // that one, or the one looked at
} arrays;

static rheos_status *read_array(arrays *a, size_t index) {
  if (a->npz == NULL) return NULL;
  rheos_tensor_unref(a->tensor);
  return rheos_npz_read(a->npz, index, &a->tensor);
}

static size_t count_arrays(const arrays *a) { return a->npz != NULL ? rheos_npz_count(a->npz) : 1; }

static const char *array_name(const arrays *a, size_t index) {
  return a->npz != NULL ? rheos_npz_name(a->npz, index) : "";
}

static rheos_status *show_one_array(const source *s, arrays *a, const show_options *options) {
  for (size_t i = 0; i < count_arrays(a); i++) {
    if (strcmp(array_name(a, i), options->node) != 0) continue;
    TRY(read_array(a, i));
    print_values(s, options->node, a->tensor, options->json);
    return NULL;
  }
  near_names near = {.wanted = options->node};
  for (size_t i = 0; i < count_arrays(a); i++) near_offer(&near, array_name(a, i));
  char *text = near_take_text(&near);
  rheos_status *status = NOT_FOUND("there is no array '%s'%s", options->node, text);
  free(text);
  return status;
}

static rheos_status *show_all_arrays(const source *s, arrays *a, const show_options *options) {
  json j = {.out = stdout};
  // A file that is damaged in the middle is refused before anything is printed.
  for (size_t i = 0; i < count_arrays(a); i++) TRY(read_array(a, i));
  if (options->json) {
    show_json_head(&j, s);
    json_begin(&j, "tensors", '[');
  } else {
    fputs("arrays ", stdout);
    show_name(s->path);
    putchar('\n');
  }
  for (size_t i = 0; i < count_arrays(a); i++) {
    TRY(read_array(a, i));
    if (options->json) {
      json_begin(&j, NULL, '{');
      json_text(&j, "name", array_name(a, i));
      show_json_type(&j, rheos_tensor_dtype(a->tensor), rheos_tensor_shape(a->tensor));
      json_end(&j, '}');
      continue;
    }
    fputs("  ", stdout);
    show_name(array_name(a, i));
    fputs(a->npz != NULL ? "  " : "", stdout);
    show_type(rheos_tensor_dtype(a->tensor), rheos_tensor_shape(a->tensor));
    putchar('\n');
  }
  if (options->json) {
    json_end(&j, ']');
    json_end(&j, '}');
  }
  return NULL;
}

int show_arrays(const source *s, const show_options *options) {
  char *bytes;
  size_t size_bytes;
  arrays a = {0};
  rheos_status *status = file_read(s->path, &bytes, &size_bytes);
  if (status != NULL) return command_fail_take(s->path, status);
  status = bytes[0] == 'P' ? rheos_npz_open(bytes, size_bytes, &a.npz)
                           : rheos_npy_decode(bytes, size_bytes, &a.tensor);
  if (status == NULL) {
    status =
        options->node != NULL ? show_one_array(s, &a, options) : show_all_arrays(s, &a, options);
  }
  rheos_tensor_unref(a.tensor);
  rheos_npz_free(a.npz);
  free(bytes);
  return status == NULL ? EXIT_SUCCESS : command_fail_take(s->path, status);
}
