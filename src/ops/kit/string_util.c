// What the string families share. A string kernel cannot be a `run` kernel where its result owns
// memory, so maps over strings are written once, here.
#include "ops/kit/string_util.h"

#include <assert.h>
#include <string.h>

#include "ops/kit/polling.h"

enum { ELEMENTS_BETWEEN_POLLS = 1024 };

rheos_status *rheos__set_text(rheos_tensor *tensor, int64_t index, const rheos__text *text) {
  if (text->failed) return rheos__out_of_memory();
  if (index % ELEMENTS_BETWEEN_POLLS == 0 && index > 0 && rheos__is_stopping()) {
    return rheos__stopped();
  }
  return rheos_tensor_set_string(tensor, index, text->size > 0 ? text->data : "", text->size);
}

rheos_status *rheos__text_tensor_take(rheos__text *text, rheos_tensor **out_tensor) {
  rheos_status *status = rheos__tensor_new(RHEOS_STRING, &RHEOS_SCALAR, out_tensor);
  if (status == NULL) status = rheos__set_text(*out_tensor, 0, text);
  rheos__text_deinit(text);
  return status;
}

static rheos_status *map_elements(const rheos__string_map *map, const rheos_tensor *input,
                                  rheos__text *text, rheos_tensor *output) {
  assert(output->num_elements == input->num_elements);
  const rheos_string *strings = input->data;
  for (int64_t i = 0; i < input->num_elements; i++) {
    if (i % ELEMENTS_BETWEEN_POLLS == 0 && rheos__is_stopping()) return rheos__stopped();
    text->size = 0;
    RHEOS_TRY(map->make(map, &strings[i], text));
    RHEOS_TRY(rheos__set_text(output, i, text));
  }
  return NULL;
}

rheos_status *rheos__map_strings(const rheos__string_map *map, const rheos_tensor *input,
                                 rheos_tensor **out_tensor) {
  RHEOS_TRY(rheos__tensor_new(RHEOS_STRING, &input->shape, out_tensor));
  rheos__text text = {0};
  rheos_status *status = map_elements(map, input, &text, *out_tensor);
  rheos__text_deinit(&text);
  return status;
}

static rheos_status *compute_map(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                 rheos_tensor **outputs) {
  (void)step;
  return rheos__map_strings(state, inputs[0], &outputs[0]);
}

rheos_status *rheos__answer_string_map(rheos__prepare *p) {
  p->compute = compute_map;
  return NULL;
}

void rheos__answer_string_units(rheos__prepare *p, rheos__run_fn run) {
  rheos__string_units *units = p->state;
  units->count = rheos_shape_num_elements(&p->input_shapes[0]);
  p->run = run;
  p->num_units = units->count;
  p->flops = rheos__flops(50.0 * units->count);
}

rheos_status *rheos__string_scalar(const rheos_tensor *tensor, const char *what,
                                   const rheos_string **out_string) {
  assert(tensor->dtype == RHEOS_STRING);
  *out_string = tensor->data;
  if (tensor->shape.rank == 0) return NULL;
  rheos__shape_text text;
  return RHEOS_INVALID("%s must be a scalar, got shape: %s", what,
                       rheos__shape_text_of(&tensor->shape, &text));
}

rheos_status *rheos__string_path(const rheos_string *string, char **out_path) {
  *out_path = NULL;
  if (string->size_bytes == 0) return RHEOS_INVALID("the name of a file is empty");
  if (memchr(string->data, '\0', string->size_bytes) != NULL) {
    return RHEOS_INVALID("the name of a file holds a NUL byte: '%s...'", string->data);
  }
  *out_path = rheos__strndup(string->data, string->size_bytes);
  return *out_path != NULL ? NULL : rheos__out_of_memory();
}
