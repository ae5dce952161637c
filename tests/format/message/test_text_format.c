// Messages as text: golden graphs there and back, the freedoms of the form, what is refused.
#include <rheos/format.h>

#include "codec/wire.h"
#include "format/format_support.h"

static bytes golden(const char *name) {
  char *path = rheos__text_format("%s/tests/golden/graphs/%s.pb", RHEOS_SOURCE_DIR, name);
  bytes b = read_bytes(path);
  rheos__free(path);
  return b;
}

// The text of the message that `text` describes.
static char *again(const char *type, const char *text) {
  void *message;
  size_t size_bytes, text_bytes;
  char *out;
  expect_ok(rheos_message_from_text(type, text, strlen(text), &message, &size_bytes));
  expect_ok(rheos_message_to_text(type, message, size_bytes, &out, &text_bytes));
  assert_int_equal(strlen(out), text_bytes);
  rheos_free(message);
  return out;
}

static void expect_text(const char *type, const char *text, const char *expected) {
  char *out = again(type, text);
  assert_string_equal(out, expected);
  rheos_free(out);
}

static void expect_refused(const char *type, const char *text, const char *part) {
  void *message;
  size_t size_bytes;
  expect_error(rheos_message_from_text(type, text, strlen(text), &message, &size_bytes),
               RHEOS_DATA_LOSS, part);
  assert_null(message);
}

static void test_text_format__golden_graphs_come_back(void **state) {
  (void)state;
  const char *names[] = {"constants", "structure", "training", "functions", "loops"};
  for (int i = 0; i < 5; i++) {
    bytes in = golden(names[i]);
    char *text, *text_again;
    void *out;
    size_t text_bytes, out_bytes;
    expect_ok(rheos_message_to_text("GraphDef", in.data, in.size_bytes, &text, &text_bytes));
    expect_ok(rheos_message_from_text("GraphDef", text, text_bytes, &out, &out_bytes));
    // The order within maps may differ, so the sizes tell, and the text, which is sorted.
    assert_int_equal(out_bytes, in.size_bytes);
    text_again = again("tensorflow.GraphDef", text);
    assert_string_equal(text, text_again);
    rheos_free(text);
    rheos_free(text_again);
    rheos_free(out);
    rheos__free(in.data);
  }
}

static void test_text_format__is_laid_out_as_by_tensorflow(void **state) {
  (void)state;
  expect_text("NodeDef",
              "name:'x' op:\"Const\" attr{key:\"value\" value{tensor{dtype:DT_FLOAT tensor_shape{}"
              " float_val:1e-5 float_val: 0.1 float_val: 11000000000 float_val:-inf}}}\n"
              "attr { key: \"dtype\" value { type: DT_FLOAT } }",
              "name: \"x\"\n"
              "op: \"Const\"\n"
              "attr {\n"
              "  key: \"dtype\"\n"
              "  value {\n"
              "    type: DT_FLOAT\n"
              "  }\n"
              "}\n"
              "attr {\n"
              "  key: \"value\"\n"
              "  value {\n"
              "    tensor {\n"
              "      dtype: DT_FLOAT\n"
              "      tensor_shape {\n"
              "      }\n"
              "      float_val: 1e-05\n"
              "      float_val: 0.1\n"
              "      float_val: 11000000000.0\n"
              "      float_val: -inf\n"
              "    }\n"
              "  }\n"
              "}\n");
}

static void test_text_format__numbers(void **state) {
  (void)state;
  expect_text("TensorProto", "double_val: [1, -0.5, 1e16, 123456.5, .5, 1e-4, 0.00001, 1.5f, nan]",
              "double_val: 1.0\ndouble_val: -0.5\ndouble_val: 1e+16\ndouble_val: 123456.5\n"
              "double_val: 0.5\ndouble_val: 0.0001\ndouble_val: 1e-05\ndouble_val: 1.5\n"
              "double_val: nan\n");
  expect_text("TensorProto", "float_val: [16777216, 3.4028235e38, 0.30000001, 1e10]",
              "float_val: 16777216.0\nfloat_val: 3.4028235e+38\nfloat_val: 0.3\n"
              "float_val: 10000000000.0\n");
  expect_text("TensorProto", "int64_val: [0x10, -9223372036854775808, 010] bool_val: [true, f, 1]",
              "int64_val: 16\nint64_val: -9223372036854775808\nint64_val: 8\n"
              "bool_val: true\nbool_val: false\nbool_val: true\n");
  expect_text("TensorProto", "uint64_val: 18446744073709551615 int_val: -2147483648",
              "int_val: -2147483648\nuint64_val: 18446744073709551615\n");
  expect_refused("TensorProto", "int_val: 2147483648", "text:1:10");
  expect_refused("TensorProto", "uint32_val: -1", "a number out of range");
  expect_refused("TensorProto", "int64_val: 99999999999999999999", "a number out of range");
  expect_refused("TensorProto", "int64_val: 1.5", "a missing whole number");
  expect_refused("TensorProto", "int64_val: 08", "a missing whole number");
  expect_refused("TensorProto", "float_val: 1.2.3", "a missing number");
  expect_refused("TensorProto", "dtype: DT_NONE", "an unknown name of a value");
}

static void expect_bytes(const char *text, const char *expected, size_t expected_bytes) {
  void *message;
  size_t size_bytes;
  expect_ok(rheos_message_from_text("TensorProto", text, strlen(text), &message, &size_bytes));
  assert_int_equal(size_bytes, expected_bytes);
  assert_memory_equal(message, expected, expected_bytes);
  rheos_free(message);
}

// As TensorFlow writes them, one field for all; some readers know no other form.
static void test_text_format__packs_repeated_numbers(void **state) {
  (void)state;
  expect_bytes("int_val: 1", "\x3a\x01\x01", 3);
  expect_bytes("int_val: 1 int_val: 300 dtype: DT_INT32", "\x08\x03\x3a\x03\x01\xac\x02", 7);
  expect_bytes("int_val: [1, 2] int_val: 3", "\x3a\x03\x01\x02\x03", 5);
  expect_bytes("float_val: 1 bool_val: true", "\x2a\x04\0\0\x80\x3f\x5a\x01\x01", 9);
  expect_bytes("int_val: []", "", 0);
  expect_bytes("string_val: 'a' string_val: 'b'",
               "\x42\x01"
               "a\x42\x01"
               "b",
               6);
  expect_text("AttrValue", "list { type: [DT_INT32, DT_FLOAT] i: 1 type: DT_HALF }",
              "list {\n  i: 1\n  type: DT_INT32\n  type: DT_FLOAT\n  type: DT_HALF\n}\n");
}

static void test_text_format__strings(void **state) {
  (void)state;
  expect_text("TensorProto", "string_val: 'a\"\\'\\n\\x41\\101\\0z' 'next' \"\\u00e9\\U0001F600\"",
              "string_val: \"a\\\"\\'\\nAA\\000znext\\303\\251\\360\\237\\230\\200\"\n");
  expect_refused("TensorProto", "string_val: 'a", "a string without an end");
  expect_refused("TensorProto", "string_val: 'a\n'", "a string without an end");
  expect_refused("TensorProto", "string_val: '\\777'", "an escape beyond a byte");
  expect_refused("TensorProto", "string_val: '\\q'", "a bad escape");
  expect_refused("TensorProto", "string_val: '\\ud800'", "a bad escape");
  expect_refused("TensorProto", "string_val: 5", "a missing string");
  expect_refused("NodeDef", "name: 'a\\0b'", "a text holds a NUL byte");
}

static void test_text_format__freedoms_of_the_form(void **state) {
  (void)state;
  const char *expected = "node {\n  name: \"a\"\n}\nnode {\n  name: \"b\"\n}\n";
  expect_text("GraphDef", "node < name: 'a' >; node: {name: \"b\"},", expected);
  expect_text("GraphDef", "# a comment\r\nnode: [{name: 'a'}, <name: 'b'>]  # another", expected);
  expect_text("GraphDef", "node [] node{name:'a';}node{name:'b',}", expected);
  expect_text("GraphDef", "", "");
  expect_text("MetaGraphDef",
              "meta_info_def { any_info { [type.googleapis.com/tensorflow.NodeDef] { name: 'x' }"
              " } }",
              "meta_info_def {\n  any_info {\n    [type.googleapis.com/tensorflow.NodeDef] {\n"
              "      name: \"x\"\n    }\n  }\n}\n");
}

static void test_text_format__what_is_no_message_is_refused(void **state) {
  (void)state;
  expect_refused("GraphDef", "node {\n  nam: 'a'\n}",
                 "text:2:3: not the text of a GraphDef: an unknown field at 'nam: 'a''");
  expect_refused("GraphDef", "node {", "a message without an end");
  expect_refused("GraphDef", "node { name: 'a' >", "a missing name of a field");
  expect_refused("GraphDef", "}", "a missing name of a field");
  expect_refused("GraphDef", "node: [{name: 'a'}", "a missing ']'");
  expect_refused("GraphDef", "node: 5", "a missing '{'");
  expect_refused("NodeDef", "name 'a'", "a missing ':'");
  expect_refused("NodeDef", "name: ['a']", "a list for a field that takes one value");
  expect_refused("NodeDef", "name: 'a' name: 'b'", "a second value of a field");
  expect_refused("AttrValue", "i: 1 f: 2", "a second value of a field");
  expect_refused("NodeDef", "[x.y/z] {}", "a name in brackets that is not known here");
  rheos__buffer deep = {0};
  for (int i = 0; i < 100000; i++) rheos__buffer_put(&deep, "list{func{attr{value{", 21);
  rheos__buffer_put(&deep, "", 1);
  expect_refused("AttrValue", deep.data, "messages nested too deep");
  rheos__buffer_deinit(&deep);
  char *text;
  size_t text_bytes;
  expect_error(rheos_message_to_text("Nothing", "", 0, &text, &text_bytes), RHEOS_INVALID_ARGUMENT,
               "there is no message type 'Nothing'");
  expect_error(rheos_message_to_text("GraphDef", "\xff", 1, &text, &text_bytes), RHEOS_DATA_LOSS,
               "not a valid GraphDef message");
}

static void test_text_format__cut_text_does_no_harm(void **state) {
  (void)state;
  bytes in = golden("constants");
  char *text;
  size_t text_bytes;
  expect_ok(rheos_message_to_text("GraphDef", in.data, in.size_bytes, &text, &text_bytes));
  for (size_t size = 0; size < text_bytes; size += 1 + size / 500) {
    char *cut = rheos__alloc(size);  // of exactly that size, so that reading beyond is noticed
    memcpy(cut, text, size);
    void *out;
    size_t out_bytes;
    rheos_status *status = rheos_message_from_text("GraphDef", cut, size, &out, &out_bytes);
    if (status != NULL) assert_int_equal(rheos_status_code(status), RHEOS_DATA_LOSS);
    rheos_status_free(status);
    rheos_free(out);
    rheos__free(cut);
  }
  rheos_free(text);
  rheos__free(in.data);
}

static void test_text_format__messages_are_checked_for_what_reads_them(void **state) {
  (void)state;
  bytes b = golden("training");
  expect_ok(rheos_message_check("GraphDef", b.data, b.size_bytes));
  expect_ok(rheos_message_check("GraphDef", NULL, 0));
  expect_error(rheos_message_check("GraphDef", b.data, b.size_bytes - 1), RHEOS_DATA_LOSS,
               "cut short");
  expect_error(rheos_message_check("Graph", b.data, b.size_bytes), RHEOS_INVALID_ARGUMENT, "Graph");
  rheos__free(b.data);
  // AttrValue.func.attr.value.func...
  enum { LEVELS = 40, FUNC = 10, ATTR = 2, VALUE = 2 };
  rheos__buffer value = {0};
  for (int i = 0; i < LEVELS; i++) {
    rheos__buffer entry = {0}, func = {0}, outer = {0};
    rheos__wire_put_message(&entry, VALUE, &value);
    rheos__wire_put_message(&func, ATTR, &entry);
    rheos__wire_put_message(&outer, FUNC, &func);
    value = outer;
  }
  expect_error(rheos_message_check("AttrValue", value.data, value.size_bytes), RHEOS_DATA_LOSS,
               "nested too deep");
  rheos__buffer_deinit(&value);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_text_format__golden_graphs_come_back),
      cmocka_unit_test(test_text_format__is_laid_out_as_by_tensorflow),
      cmocka_unit_test(test_text_format__numbers),
      cmocka_unit_test(test_text_format__packs_repeated_numbers),
      cmocka_unit_test(test_text_format__strings),
      cmocka_unit_test(test_text_format__freedoms_of_the_form),
      cmocka_unit_test(test_text_format__what_is_no_message_is_refused),
      cmocka_unit_test(test_text_format__cut_text_does_no_harm),
      cmocka_unit_test(test_text_format__messages_are_checked_for_what_reads_them),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
