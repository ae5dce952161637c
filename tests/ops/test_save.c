// The ops of checkpoints, through their kernels: what is saved comes back, and what is wrong is
// named.
#include "format/format_support.h"
#include "graph/op_def.h"

extern const rheos__op_def rheos__op_SaveV2, rheos__op_RestoreV2, rheos__op_ShardedFilename,
    rheos__op_MergeV2Checkpoints, rheos__op_Save, rheos__op_SaveSlices, rheos__op_Restore,
    rheos__op_RestoreSlice;

static rheos_tensor *strings(const char *const *texts, int64_t count, bool scalar) {
  rheos_tensor *tensor;
  expect_ok(rheos_tensor_new(RHEOS_STRING, scalar ? RHEOS_SCALAR : RHEOS_SHAPE(count), &tensor));
  for (int64_t i = 0; i < count; i++) {
    expect_ok(rheos_tensor_set_string(tensor, i, texts[i], strlen(texts[i])));
  }
  return tensor;
}

static rheos_tensor *string(const char *text) { return strings(&text, 1, true); }

static rheos_tensor *number(float value) {
  rheos_tensor *tensor;
  expect_ok(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &value, &tensor));
  return tensor;
}

// Prepares and computes an op on these inputs, which are given up.
static rheos_status *run_op(const rheos__op_def *op, rheos_tensor **inputs, int32_t num_inputs,
                            rheos_dtype output_dtype, rheos_tensor **outputs, int32_t num_outputs) {
  rheos__arena arena;
  rheos__arena_init(&arena);
  rheos_dtype input_dtypes[8], output_dtypes[8];
  for (int32_t i = 0; i < num_inputs; i++) input_dtypes[i] = inputs[i]->dtype;
  for (int32_t i = 0; i < num_outputs; i++) {
    output_dtypes[i] = output_dtype;
    outputs[i] = NULL;
  }
  union {
    rheos__attrs attrs;
    char room[sizeof(rheos__attrs) + 2 * sizeof(rheos_attr)];
  } attrs = {.attrs = {.count = 2}};
  attrs.attrs.items[0] = rheos_attr_bool("delete_old_dirs", true);
  attrs.attrs.items[1] = rheos_attr_bool("allow_missing_files", false);
  rheos__prepare p = {.op = op,
                      .attrs = &attrs.attrs,
                      .num_inputs = num_inputs,
                      .num_outputs = num_outputs,
                      .input_dtypes = input_dtypes,
                      .output_dtypes = output_dtypes,
                      .arena = &arena};
  expect_ok(rheos__prepare_reference(&p));
  rheos_status *status = p.compute(p.state, NULL, inputs, outputs);
  for (int32_t i = 0; i < num_inputs; i++) rheos_tensor_unref(inputs[i]);
  rheos__arena_deinit(&arena);
  return status;
}

static rheos_status *save(const char *prefix, const char *const *names, const char *slices,
                          float first) {
  const char *slices_list[] = {slices, ""};
  rheos_tensor *inputs[] = {string(prefix), strings(names, 2, false),
                            strings(slices_list, 2, false), number(first), number(first + 1)};
  return run_op(&rheos__op_SaveV2, inputs, 5, RHEOS_FLOAT, NULL, 0);
}

static rheos_status *restore(const char *prefix, const char *const *names, const char *slices,
                             rheos_dtype dtype, rheos_tensor **outputs) {
  const char *slices_list[] = {slices, slices};
  rheos_tensor *inputs[] = {string(prefix), strings(names, 2, false),
                            strings(slices_list, 2, false)};
  return run_op(&rheos__op_RestoreV2, inputs, 3, dtype, outputs, 2);
}

static void test_save__what_is_saved_comes_back(void **state) {
  (void)state;
  char *folder = new_folder(), *prefix = rheos__path_join(folder, "model");
  const char *names[] = {"w", "b"}, *other_order[] = {"b", "w"};
  expect_ok(save(prefix, names, "", 5));
  rheos_tensor *outputs[2];
  expect_ok(restore(prefix, other_order, "", RHEOS_FLOAT, outputs));
  assert_true(*(float *)outputs[0]->data == 6 && *(float *)outputs[1]->data == 5);
  rheos_tensor_unref(outputs[0]);
  rheos_tensor_unref(outputs[1]);
  rheos__free(prefix);
  remove_folder(folder);
}

static void test_save__errors_are_those_of_tensorflow(void **state) {
  (void)state;
  char *folder = new_folder(), *prefix = rheos__path_join(folder, "model");
  const char *names[] = {"w", "b"}, *one[] = {"w", "missing"}, *both[] = {"no", "none"};
  rheos_tensor *outputs[2];
  expect_error(restore(prefix, names, "", RHEOS_FLOAT, outputs), RHEOS_NOT_FOUND,
               "Failed to find any matching files for");
  expect_ok(save(prefix, names, "", 5));
  expect_error(restore(prefix, one, "", RHEOS_FLOAT, outputs), RHEOS_NOT_FOUND,
               "Key missing not found in checkpoint");
  expect_error(restore(prefix, both, "", RHEOS_FLOAT, outputs), RHEOS_NOT_FOUND,
               "Key no not found in checkpoint; 2 missing: no, none; not asked for: b, w");
  expect_error(restore(prefix, names, "", RHEOS_DOUBLE, outputs), RHEOS_INVALID_ARGUMENT,
               "tensor_name = w; expected dtype double does not equal original dtype float");
  expect_error(restore(prefix, names, "2 0,1", RHEOS_FLOAT, outputs), RHEOS_INVALID_ARGUMENT,
               "tensor_name = w; shape in shape_and_slice spec [2] does not match the shape stored "
               "in checkpoint: []");
  expect_error(save(prefix, names, "2 0,1", 1), RHEOS_INVALID_ARGUMENT,
               "does not match the shape of the tensor to  save: 2 0,1, tensor: []");
  expect_error(save("", names, "", 1), RHEOS_INVALID_ARGUMENT, "empty");
  const char *twice[] = {"w", "w"};
  expect_error(save(prefix, twice, "", 1), RHEOS_INVALID_ARGUMENT, "Adding duplicate key: w");
  char *data = rheos__text_format("%s.data-00000-of-00001", prefix);
  write_bytes(data, "12345678", 8);
  expect_error(restore(prefix, names, "", RHEOS_FLOAT, outputs), RHEOS_DATA_LOSS,
               "Checksum does not match");
  rheos__free(data);
  rheos__free(prefix);
  remove_folder(folder);
}

static void test_save__shards_are_named_and_merged(void **state) {
  (void)state;
  char *folder = new_folder();
  char *part_folder = rheos__path_join(folder, "model_temp"), *parts[2];
  for (int32_t i = 0; i < 2; i++) {
    char *base = rheos__path_join(part_folder, "part");
    int32_t two = 2;
    rheos_tensor *inputs[3] = {string(base)}, *name;
    expect_ok(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &i, &inputs[1]));
    expect_ok(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &two, &inputs[2]));
    expect_ok(run_op(&rheos__op_ShardedFilename, inputs, 3, RHEOS_STRING, &name, 1));
    const rheos_string *text = name->data;
    parts[i] = rheos__strndup(text->data, text->size_bytes);
    assert_non_null(strstr(parts[i], i == 0 ? "part-00000-of-00002" : "part-00001-of-00002"));
    rheos_tensor_unref(name);
    rheos__free(base);
    const char *names[2][2] = {{"a", "c"}, {"b", "d"}};
    expect_ok(save(parts[i], names[i], "", (float)(10 * i)));
  }
  char *prefix = rheos__path_join(folder, "model");
  rheos_tensor *inputs[] = {strings((const char *const *)parts, 2, false), string(prefix)};
  expect_ok(run_op(&rheos__op_MergeV2Checkpoints, inputs, 2, RHEOS_FLOAT, NULL, 0));
  const char *names[] = {"c", "d"};
  rheos_tensor *outputs[2];
  expect_ok(restore(prefix, names, "", RHEOS_FLOAT, outputs));
  assert_true(*(float *)outputs[0]->data == 1 && *(float *)outputs[1]->data == 11);
  rheos_tensor_unref(outputs[0]);
  rheos_tensor_unref(outputs[1]);
  bool exists;
  expect_ok(rheos__file_exists(part_folder, &exists));
  assert_false(exists);
  rheos__free(parts[0]);
  rheos__free(parts[1]);
  rheos__free(part_folder);
  rheos__free(prefix);
  remove_folder(folder);
}

static rheos_status *save_slices(const char *path, const char *const *names,
                                 const char *const *slices, rheos_shape shape) {
  const float first[] = {0, 1, 2, 3}, second[] = {4, 5, 6, 7};
  rheos_tensor *inputs[] = {string(path), strings(names, 2, false), strings(slices, 2, false), NULL,
                            NULL};
  expect_ok(rheos_tensor_from_values(RHEOS_FLOAT, shape, first, &inputs[3]));
  expect_ok(rheos_tensor_from_values(RHEOS_FLOAT, shape, second, &inputs[4]));
  return run_op(&rheos__op_SaveSlices, inputs, 5, RHEOS_FLOAT, NULL, 0);
}

static rheos_status *restore_slice(const char *path, const char *name, const char *slice,
                                   rheos_tensor **out_tensor) {
  rheos_tensor *inputs[] = {string(path), string(name), string(slice)};
  return run_op(&rheos__op_RestoreSlice, inputs, 3, RHEOS_FLOAT, out_tensor, 1);
}

static void expect_four(rheos_tensor *tensor, float a, float b, float c, float d) {
  assert_int_equal(tensor->num_elements, 4);
  assert_memory_equal(tensor->data, ((float[]){a, b, c, d}), 4 * sizeof(float));
  rheos_tensor_unref(tensor);
}

static void test_save__slices_come_back_from_files_of_the_first_kind(void **state) {
  (void)state;
  char *folder = new_folder(), *path = rheos__path_join(folder, "model");
  const char *names[] = {"w", "w"}, *slices[] = {"2 4 0,1:-", "2 4 1,1:-"};
  expect_ok(save_slices(path, names, slices, RHEOS_SHAPE(1, 4)));
  rheos_tensor *tensor, *tensors[2];
  expect_ok(restore_slice(path, "w", "2 4 -:1,2", &tensor));
  expect_four(tensor, 1, 2, 5, 6);
  // RestoreV2 takes these files too.
  expect_ok(restore(path, names, "2 4 1,1:-", RHEOS_FLOAT, tensors));
  expect_four(tensors[0], 4, 5, 6, 7);
  expect_four(tensors[1], 4, 5, 6, 7);
  rheos_tensor *inputs[] = {string(path), string("w")};
  expect_ok(run_op(&rheos__op_Restore, inputs, 2, RHEOS_FLOAT, &tensor, 1));
  assert_true(rheos_shape_equal(&tensor->shape, &RHEOS_SHAPE(2, 4)));
  rheos_tensor_unref(tensor);
  expect_error(restore_slice(path, "w", "3 4 -:1,2", &tensor), RHEOS_INVALID_ARGUMENT,
               "Shape in shape_and_slice spec does not match the shape in the save file: [3,4], "
               "save file shape: [2,4]");
  expect_error(restore_slice(path, "v", "", &tensor), RHEOS_NOT_FOUND,
               "Tensor name \"v\" not found in checkpoint files");
  inputs[0] = string(path), inputs[1] = string("w");
  expect_error(run_op(&rheos__op_Restore, inputs, 2, RHEOS_INT32, &tensor, 1),
               RHEOS_INVALID_ARGUMENT,
               "Expected to restore a tensor of type int32, got a tensor of type float instead");
  expect_error(save_slices(path, names, slices, RHEOS_SHAPE(4)), RHEOS_INVALID_ARGUMENT,
               "does not match the shape of the tensor");
  rheos__free(path);
  remove_folder(folder);
}

static void test_save__whole_tensors_go_to_files_of_the_first_kind(void **state) {
  (void)state;
  char *folder = new_folder(), *path = rheos__path_join(folder, "model");
  const char *names[] = {"a", "b"};
  rheos_tensor *inputs[] = {string(path), strings(names, 2, false), number(3), number(4)}, *tensor;
  expect_ok(run_op(&rheos__op_Save, inputs, 4, RHEOS_FLOAT, NULL, 0));
  expect_ok(restore_slice(path, "b", "", &tensor));
  assert_true(*(float *)tensor->data == 4);
  rheos_tensor_unref(tensor);
  inputs[0] = string(path), inputs[1] = strings(names, 1, false);
  inputs[2] = number(3), inputs[3] = number(4);
  expect_error(run_op(&rheos__op_Save, inputs, 4, RHEOS_FLOAT, NULL, 0), RHEOS_INVALID_ARGUMENT,
               "Got 1 tensor names or slices but 2 tensors");
  char *missing = rheos__path_join(folder, "no/such/file");
  inputs[0] = string(missing), inputs[1] = strings(names, 1, false), inputs[2] = number(3);
  expect_error(run_op(&rheos__op_Save, inputs, 3, RHEOS_FLOAT, NULL, 0), RHEOS_NOT_FOUND,
               "no/such/file");
  rheos__free(missing);
  rheos__free(path);
  remove_folder(folder);
}

static void test_save__signatures_are_those_of_tensorflow(void **state) {
  (void)state;
  const rheos__signature *s = rheos__signature_by_name("SaveV2");
  assert_non_null(s);
  assert_int_equal(s->num_inputs, 4);
  assert_int_equal(s->num_outputs, 0);
  assert_string_equal(s->attrs[0].name, "dtypes");
  s = rheos__signature_by_name("MergeV2Checkpoints");
  assert_non_null(s);
  assert_int_equal(s->num_outputs, 0);
  assert_true(s->attrs[0].default_value.b);
  s = rheos__signature_by_name("RestoreV2");
  assert_non_null(s);
  assert_int_equal(s->outputs[0].type_list_attr, 0);
  assert_non_null(rheos__signature_by_name("ShardedFilename"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_save__what_is_saved_comes_back),
      cmocka_unit_test(test_save__errors_are_those_of_tensorflow),
      cmocka_unit_test(test_save__shards_are_named_and_merged),
      cmocka_unit_test(test_save__slices_come_back_from_files_of_the_first_kind),
      cmocka_unit_test(test_save__whole_tensors_go_to_files_of_the_first_kind),
      cmocka_unit_test(test_save__signatures_are_those_of_tensorflow),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
