// Graphs in and out: those of TensorFlow 1.15 (tests/golden/make_graphs.py) byte for byte, any
// order of nodes, and everything that can be wrong with a file.
#include <rheos/rheos.h>
#include <sys/mman.h>

#include "format/format_support.h"
#include "format/graph/graph_def.h"

static bytes golden_graph(const char *name) {
  char *path = rheos__text_format("%s/tests/golden/graphs/%s.pb", RHEOS_SOURCE_DIR, name);
  bytes b = read_bytes(path);
  rheos__free(path);
  return b;
}

// Imports into the graph; the error, if any.
static rheos_status *import_with(rheos_graph *graph, const void *data, size_t size_bytes,
                                 const rheos_import_options *options) {
  rheos_scope *scope = rheos_scope_new(graph);
  rheos_import_graph_def(scope, data, size_bytes, options);
  rheos_status *status = rheos_scope_finish(scope);
  rheos_scope_free(scope);
  return status;
}

static rheos_status *import_into(rheos_graph *graph, const void *data, size_t size_bytes,
                                 const char *prefix) {
  return import_with(graph, data, size_bytes, &(rheos_import_options){.prefix = prefix});
}

static bytes export(rheos_graph *graph) {
  void *data;
  bytes b;
  expect_ok(rheos_graph_to_graph_def(graph, &data, &b.size_bytes));
  b.data = data;
  return b;
}

// ---- Golden graphs

static void test_graph_def__graphs_of_tensorflow_come_back(void **state) {
  (void)state;
  const char *names[] = {"constants", "filled", "structure", "training", "functions"};
  for (int i = 0; i < 5; i++) {
    bytes in = golden_graph(names[i]);
    rheos_graph *graph = rheos_graph_new();
    rheos_import_options options = {.keep_unknown_ops = true};
    expect_ok(import_with(graph, in.data, in.size_bytes, &options));
    bytes out = export(graph);
    assert_int_equal(out.size_bytes, in.size_bytes);
    assert_memory_equal(out.data, in.data, in.size_bytes);
    rheos__free(in.data);
    rheos__free(out.data);
    rheos_graph_unref(graph);
  }
}

static int by_name(const void *a, const void *b) {
  return strcmp((*(Tensorflow__NodeDef *const *)a)->name, (*(Tensorflow__NodeDef *const *)b)->name);
}

static Tensorflow__GraphDef *sorted_graph(bytes b, rheos__arena *arena) {
  Tensorflow__GraphDef *def;
  expect_ok(RHEOS_PROTO_UNPACK(graph_def, b.data, b.size_bytes, arena, &def));
  qsort(def->node, def->n_node, sizeof *def->node, by_name);
  return def;
}

// Where a file has a node before its input, the order differs, and nothing else.
static void test_graph_def__loops_come_back(void **state) {
  (void)state;
  bytes in = golden_graph("loops");
  rheos_graph *graph = rheos_graph_new();
  expect_ok(import_with(graph, in.data, in.size_bytes,
                        &(rheos_import_options){.keep_unknown_ops = true}));
  bytes out = export(graph);
  assert_int_equal(out.size_bytes, in.size_bytes);
  rheos__arena arena;
  rheos__arena_init(&arena);
  Tensorflow__GraphDef *before = sorted_graph(in, &arena), *after = sorted_graph(out, &arena);
  assert_int_equal(before->n_node, after->n_node);
  for (size_t i = 0; i < before->n_node; i++) {
    rheos__buffer a = {0}, b = {0};
    rheos__proto_pack(&before->node[i]->base, &a);
    rheos__proto_pack(&after->node[i]->base, &b);
    assert_int_equal(a.size_bytes, b.size_bytes);
    assert_memory_equal(a.data, b.data, a.size_bytes);
    rheos__buffer_deinit(&a);
    rheos__buffer_deinit(&b);
  }
  rheos__arena_deinit(&arena);
  rheos__free(in.data);
  rheos_free(out.data);
  rheos_graph_unref(graph);
}

static rheos_tensor *constant_of(rheos_graph *graph, const char *name) {
  rheos_attr_value value = rheos_operation_attr(rheos_graph_operation(graph, name), "value");
  assert_int_equal(value.kind, RHEOS_ATTR_TENSOR);
  return value.tensor;
}

static void test_graph_def__constants_have_their_values(void **state) {
  (void)state;
  bytes in = golden_graph("constants");
  rheos_graph *graph = rheos_graph_new();
  expect_ok(import_into(graph, in.data, in.size_bytes, NULL));
  assert_int_equal(((int8_t *)constant_of(graph, "negatives")->data)[0], -1);
  assert_true(((double *)constant_of(graph, "complex128_2_1")->data)[10] == 5);
  assert_true(rheos__half_to_float(((uint16_t *)constant_of(graph, "float16_1_1")->data)[2]) == 2);
  assert_true(rheos__bfloat16_to_float(((uint16_t *)constant_of(graph, "Const")->data)[1]) ==
              -2.5f);
  const rheos_string *strings = constant_of(graph, "strings")->data;
  assert_int_equal(strings[1].size_bytes, 3);
  assert_memory_equal(strings[1].data, "a\0b", 3);
  rheos_output partly;
  expect_ok(rheos_graph_output(graph, "partly:0", &partly));
  rheos_shape shape = rheos_output_shape(partly);
  assert_true(rheos_shape_equal(&shape, &RHEOS_SHAPE(-1, 2, -1)));
  rheos__free(in.data);
  rheos_graph_unref(graph);
}

static void test_graph_def__structure_is_kept(void **state) {
  (void)state;
  bytes in = golden_graph("structure");
  rheos_graph *graph = rheos_graph_new();
  expect_ok(import_into(graph, in.data, in.size_bytes, NULL));
  rheos_operation waits = rheos_graph_operation(graph, "waits");
  assert_int_equal(rheos_operation_input(waits, 0).index, 1);
  assert_int_equal(rheos_operation_num_control_inputs(waits), 2);
  assert_string_equal(rheos_operation_device(rheos_graph_operation(graph, "a")), "/job:ps/task:1");
  rheos__free(in.data);
  rheos_graph_unref(graph);
}

static void test_graph_def__a_prefix_goes_before_all_names(void **state) {
  (void)state;
  bytes in = golden_graph("structure");
  rheos_graph *graph = rheos_graph_new();
  expect_ok(import_into(graph, in.data, in.size_bytes, "import"));
  expect_ok(import_into(graph, in.data, in.size_bytes, "import_1"));
  assert_null(rheos_graph_operation(graph, "a").graph);
  rheos_operation packed = rheos_graph_operation(graph, "import_1/outer/packed");
  assert_non_null(packed.graph);
  rheos_attr_value colocation = rheos_operation_attr(packed, "_class");
  assert_int_equal(colocation.count, 1);
  assert_int_equal(colocation.strings[0].size_bytes, strlen("loc:@import_1/a"));
  assert_memory_equal(colocation.strings[0].data, "loc:@import_1/a", 15);
  rheos__free(in.data);
  rheos_graph_unref(graph);
}

// ---- Graphs by hand

enum { MAX_NODES = 8, MAX_INPUTS = 4 };

typedef struct graph_text {
  int count;
  int producer, min_consumer;
  int32_t bad_consumer;  // 0: none
  struct {
    const char *name, *op, *inputs[MAX_INPUTS];
  } nodes[MAX_NODES];
} graph_text;

// The message for nodes of ops that need no attribute but "T" or "dtype" of float.
static bytes graph_bytes(const graph_text *text) {
  Tensorflow__GraphDef def = TENSORFLOW__GRAPH_DEF__INIT;
  Tensorflow__VersionDef versions = TENSORFLOW__VERSION_DEF__INIT;
  Tensorflow__NodeDef nodes[MAX_NODES], *node_list[MAX_NODES];
  Tensorflow__NodeDef__AttrEntry dtype = TENSORFLOW__NODE_DEF__ATTR_ENTRY__INIT, shape = dtype;
  Tensorflow__AttrValue type_value = TENSORFLOW__ATTR_VALUE__INIT, shape_value = type_value;
  Tensorflow__TensorShapeProto scalar = TENSORFLOW__TENSOR_SHAPE_PROTO__INIT;
  static char dtype_name[] = "dtype", t_name[] = "T", shape_name[] = "shape";
  type_value.value_case = TENSORFLOW__ATTR_VALUE__VALUE_TYPE;
  type_value.type = TENSORFLOW__DATA_TYPE__DT_FLOAT;
  shape_value.value_case = TENSORFLOW__ATTR_VALUE__VALUE_SHAPE;
  shape_value.shape = &scalar;
  dtype.key = dtype_name;
  dtype.value = &type_value;
  shape.key = shape_name;
  shape.value = &shape_value;
  Tensorflow__NodeDef__AttrEntry t = dtype, *placeholder_attrs[] = {&dtype, &shape},
                                 *other_attrs[] = {&t};
  t.key = t_name;
  for (int i = 0; i < text->count; i++) {
    tensorflow__node_def__init(&nodes[i]);
    nodes[i].name = (char *)(uintptr_t)text->nodes[i].name;
    nodes[i].op = (char *)(uintptr_t)text->nodes[i].op;
    nodes[i].input = (char **)(uintptr_t)text->nodes[i].inputs;
    while (nodes[i].n_input < MAX_INPUTS && nodes[i].input[nodes[i].n_input] != NULL) {
      nodes[i].n_input++;
    }
    bool is_placeholder = strcmp(nodes[i].op, "Placeholder") == 0;
    nodes[i].attr = is_placeholder ? placeholder_attrs : other_attrs;
    nodes[i].n_attr = is_placeholder ? 2 : strcmp(nodes[i].op, "NoOp") != 0;
    node_list[i] = &nodes[i];
  }
  versions.producer = text->producer != 0 ? text->producer : RHEOS__GRAPH_PRODUCER;
  versions.min_consumer = text->min_consumer;
  int32_t bad_consumer = text->bad_consumer;
  versions.n_bad_consumers = bad_consumer != 0;
  versions.bad_consumers = &bad_consumer;
  def.versions = &versions;
  def.n_node = (size_t)text->count;
  def.node = node_list;
  rheos__buffer buffer = {0};
  rheos__proto_pack(&def.base, &buffer);
  return (bytes){buffer.data, buffer.size_bytes};
}

// The error of importing this graph, which leaves no nodes behind.
static rheos_status *import_text(const graph_text *text) {
  bytes b = graph_bytes(text);
  rheos_graph *graph = rheos_graph_new();
  rheos_status *status = import_into(graph, b.data, b.size_bytes, NULL);
  if (status != NULL) assert_int_equal(rheos_graph_num_operations(graph), 0);
  rheos_graph_unref(graph);
  rheos__free(b.data);
  return status;
}

static void test_graph_def__nodes_come_in_any_order(void **state) {
  (void)state;
  expect_ok(import_text(&(graph_text){.count = 4,
                                      .nodes = {{"sum", "AddV2", {"neg", "x:0", "^last"}},
                                                {"neg", "Neg", {"x"}},
                                                {"x", "Placeholder", {NULL}},
                                                {"last", "NoOp", {"^x"}}}}));
}

static void test_graph_def__names_what_is_wrong(void **state) {
  (void)state;
  expect_error(import_text(&(graph_text){.count = 4,
                                         .nodes = {{"x", "Placeholder", {NULL}},
                                                   {"a", "NoSuch", {"x"}},
                                                   {"b", "NeitherThis", {"x"}},
                                                   {"c", "NoSuch", {"x"}}}}),
               RHEOS_NOT_FOUND,
               "Op type not registered 'NoSuch' (2 nodes, the first is 'a'), 'NeitherThis' ('b')");
  expect_error(import_text(&(graph_text){.count = 1, .nodes = {{"a", "Neg", {"x"}}}}),
               RHEOS_INVALID_ARGUMENT, "Node 'a': Unknown input node 'x'");
  expect_error(import_text(&(graph_text){.count = 1, .nodes = {{"a", "Neg", {"x:y"}}}}),
               RHEOS_INVALID_ARGUMENT, "Node 'a': Unknown input node 'x:y'");
  expect_error(import_text(&(graph_text){.count = 1, .nodes = {{"a", "Neg", {""}}}}),
               RHEOS_INVALID_ARGUMENT, "Unknown input node");
  expect_error(import_text(&(graph_text){
                   .count = 2, .nodes = {{"x", "Placeholder", {NULL}}, {"x", "Neg", {"x"}}}}),
               RHEOS_INVALID_ARGUMENT, "Node 'x' is not unique");
  expect_error(import_text(&(graph_text){.count = 1, .nodes = {{"", "NoOp", {NULL}}}}),
               RHEOS_INVALID_ARGUMENT, "node 0 of the graph has no name");
  expect_error(
      import_text(&(graph_text){
          .count = 3, .nodes = {{"a", "Neg", {"b"}}, {"b", "Neg", {"c"}}, {"c", "Neg", {"a"}}}}),
      RHEOS_INVALID_ARGUMENT, "Node 'c': its input 'a' depends on it");
  expect_error(import_text(&(graph_text){.count = 1, .nodes = {{"a", "NoOp", {"^a"}}}}),
               RHEOS_INVALID_ARGUMENT, "depends on it");
  expect_error(import_text(&(graph_text){
                   .count = 1, .min_consumer = 100000, .nodes = {{"x", "Placeholder", {NULL}}}}),
               RHEOS_INVALID_ARGUMENT, "version 100000");
  graph_text text = {.count = 1, .bad_consumer = 99, .nodes = {{"x", "Placeholder", {NULL}}}};
  expect_ok(import_text(&text));
  text.bad_consumer = RHEOS__GRAPH_PRODUCER;
  expect_error(import_text(&text), RHEOS_INVALID_ARGUMENT, "not for version");
}

static void test_graph_def__unknown_ops_pass_references_on(void **state) {
  (void)state;
  graph_text text = {.count = 3,
                     .nodes = {{"x", "Placeholder", {NULL}},
                               {"switch", "NoSuchRefSwitch", {"x"}},
                               {"assign", "Assign", {"switch:1", "x"}}}};
  bytes b = graph_bytes(&text);
  rheos_graph *graph = rheos_graph_new();
  expect_ok(
      import_with(graph, b.data, b.size_bytes, &(rheos_import_options){.keep_unknown_ops = true}));
  rheos_operation made = rheos_graph_operation(graph, "switch");
  assert_int_equal(rheos_output_dtype(rheos_operation_output(made, 1)), RHEOS_FLOAT + RHEOS_REF);
  rheos_free(b.data);
  rheos_graph_unref(graph);
}

static void test_graph_def__nodes_of_unknown_ops_are_kept(void **state) {
  (void)state;
  graph_text text = {.count = 5,
                     .nodes = {{"x", "Placeholder", {NULL}},
                               {"a", "NoSuch", {"x"}},
                               {"b", "NeitherThis", {"a:1", "^x"}},
                               {"sum", "AddV2", {"a:2", "b"}},
                               {"known", "Neg", {"x"}}}};
  bytes b = graph_bytes(&text);
  rheos_graph *graph = rheos_graph_new();
  expect_ok(
      import_with(graph, b.data, b.size_bytes, &(rheos_import_options){.keep_unknown_ops = true}));
  rheos_operation a = rheos_graph_operation(graph, "a");
  assert_int_equal(rheos_operation_num_outputs(a), 3);
  // What nothing tells stays open; what a known op takes is of the dtype that it wants.
  assert_int_equal(rheos_output_dtype(rheos_operation_output(a, 2)), RHEOS_FLOAT);
  bytes out = export(graph);
  assert_int_equal(out.size_bytes, b.size_bytes);
  assert_memory_equal(out.data, b.data, b.size_bytes);

  rheos_session *session;
  expect_ok(rheos_session_new(graph, NULL, &session));
  float one = 1;
  rheos_tensor *value;
  expect_ok(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &one, &value));
  rheos_output x;
  expect_ok(rheos_graph_output(graph, "x", &x));
  rheos_feed feed = {x, value};
  rheos_fetch known = {.output = rheos_operation_output(rheos_graph_operation(graph, "known"), 0)};
  expect_ok(rheos_session_run(session, &feed, 1, &known, 1, NULL, 0, NULL));
  assert_true(*(float *)rheos_tensor_data(known.value) == -1);
  rheos_tensor_unref(known.value);
  rheos_fetch sum = {.output = rheos_operation_output(rheos_graph_operation(graph, "sum"), 0)};
  expect_error(rheos_session_run(session, &feed, 1, &sum, 1, NULL, 0, NULL), RHEOS_UNIMPLEMENTED,
               "no kernel for 'NeitherThis' ('b'), 'NoSuch' ('a')");
  rheos_tensor_unref(value);
  rheos_session_free(session);
  rheos_free(b.data);
  rheos_free(out.data);
  rheos_graph_unref(graph);
}

static void test_graph_def__inputs_are_mapped(void **state) {
  (void)state;
  graph_text first = {
      .count = 3,
      .nodes = {{"y", "Placeholder", {NULL}}, {"z", "Neg", {"y"}}, {"m", "NoOp", {NULL}}}};
  graph_text second = {.count = 4,
                       .nodes = {{"x", "Placeholder", {NULL}},
                                 {"n", "NoOp", {NULL}},
                                 {"a", "Neg", {"x", "^n"}},
                                 {"b", "AddV2", {"x:0", "outside:1"}}}};
  rheos_graph *graph = rheos_graph_new();
  bytes b = graph_bytes(&first);
  expect_ok(import_into(graph, b.data, b.size_bytes, NULL));
  rheos_free(b.data);
  b = graph_bytes(&second);
  rheos_output y = rheos_operation_output(rheos_graph_operation(graph, "y"), 0);
  rheos_output z = rheos_operation_output(rheos_graph_operation(graph, "z"), 0);
  rheos_operation m = rheos_graph_operation(graph, "m");
  rheos_import_mapping map[] = {{.from = "x", .to = y},
                                {.from = "outside:1", .to = z},
                                {.from = "^n", .to = {m.graph, m.id, 0}},
                                {.from = "nowhere", .to = y}};
  rheos_import_options options = {.prefix = "in", .input_map = map, .num_mappings = 4};
  expect_ok(import_with(graph, b.data, b.size_bytes, &options));
  rheos_operation a = rheos_graph_operation(graph, "in/a");
  assert_int_equal(rheos_operation_input(a, 0).id, y.id);
  assert_int_equal(rheos_operation_control_input(a, 0).id, m.id);
  assert_int_equal(rheos_operation_input(rheos_graph_operation(graph, "in/b"), 1).id, z.id);
  assert_true(map[0].was_used && map[1].was_used && map[2].was_used && !map[3].was_used);
  assert_false(map[1].was_found || map[3].was_found);
  map[0].from = "x:";
  options.prefix = "again";
  expect_error(import_with(graph, b.data, b.size_bytes, &options), RHEOS_INVALID_ARGUMENT,
               "'x:' in the input map is not a valid input");
  rheos_free(b.data);
  rheos_graph_unref(graph);
}

static void expect_colocation(rheos_graph *graph, const char *name, const char *with) {
  const rheos_attr_value value = rheos_operation_attr(rheos_graph_operation(graph, name), "_class");
  assert_int_equal(value.kind, RHEOS_ATTR_LIST_STRING);
  assert_int_equal(value.count, 1);
  assert_int_equal(value.strings[0].size_bytes, strlen(with));
  assert_memory_equal(value.strings[0].data, with, strlen(with));
}

// As TensorFlow does with an empty name: "a" is taken, so "a_1" it would be, but the file has that.
static void test_graph_def__names_are_made_unique(void **state) {
  (void)state;
  rheos_graph *first = rheos_graph_new();
  rheos_scope *scope = rheos_scope_new(first);
  rheos_output a = rheos_constant_float(scope, 1, "a");
  rheos_identity(scope, a, .name = "a_1");
  rheos_push_colocation(scope, rheos_output_operation(a));
  rheos_identity(scope, a, .name = "b");
  expect_ok(rheos_scope_finish(scope));
  rheos_scope_free(scope);
  bytes b = export(first);
  rheos_graph_unref(first);

  rheos_graph *graph = rheos_graph_new();
  rheos_import_element elements[] = {{.name = "a"}, {.name = "b:0"}, {.name = "a:0"}};
  rheos_import_options options = {.uniquify_names = true, .elements = elements, .num_elements = 2};
  expect_ok(import_with(graph, b.data, b.size_bytes, &options));
  assert_int_equal(rheos_graph_num_operations(graph), 3);
  expect_colocation(graph, "b", "loc:@a");
  expect_ok(import_with(graph, b.data, b.size_bytes, &options));
  assert_int_equal(rheos_graph_num_operations(graph), 6);
  const rheos_operation again = rheos_graph_operation(graph, "a_2");
  assert_int_equal(rheos_operation_input(rheos_graph_operation(graph, "b_1"), 0).id, again.id);
  assert_int_equal(rheos_operation_input(rheos_graph_operation(graph, "a_1_1"), 0).id, again.id);
  expect_colocation(graph, "b_1", "loc:@a_2");
  assert_int_equal(elements[0].operation.id, again.id);
  assert_int_equal(elements[0].index, -1);
  assert_int_equal(elements[1].operation.id, rheos_graph_operation(graph, "b_1").id);
  assert_int_equal(elements[1].index, 0);

  // Below a prefix that is in use, and with a mapping.
  options.prefix = "in";
  expect_ok(import_with(graph, b.data, b.size_bytes, &options));
  rheos_import_mapping map = {.from = "a", .to = rheos_operation_output(again, 0)};
  options.input_map = &map;
  options.num_mappings = 1;
  options.num_elements = 3;
  expect_ok(import_with(graph, b.data, b.size_bytes, &options));
  assert_true(map.was_used && map.was_found);
  expect_colocation(graph, "in/b_1", "loc:@in/a_2");
  assert_int_equal(rheos_operation_input(rheos_graph_operation(graph, "in/b_1"), 0).id, again.id);
  assert_int_equal(elements[2].operation.id, again.id);

  const char *bad[] = {"c", "b:1", "^a", ""};
  const char *messages[] = {"node 'c' not found", "Invalid return output 1 of node 'b'",
                            "node '^a' not found", "node '' not found"};
  for (int i = 0; i < 4; i++) {
    elements[1].name = bad[i];
    expect_error(import_with(graph, b.data, b.size_bytes, &options), RHEOS_INVALID_ARGUMENT,
                 messages[i]);
  }
  rheos_free(b.data);
  rheos_graph_unref(graph);
}

// Functions of a library are ops; a second import of the same library changes nothing, a function
// of the same name that is not the same is refused.
static bytes graph_of_text(const char *text) {
  void *data;
  bytes b;
  expect_ok(rheos_message_from_text("GraphDef", text, strlen(text), &data, &b.size_bytes));
  b.data = data;
  return b;
}

#define NODE(name, rest) "node { name: '" name "' op: 'NoOp' " rest " }\n"
#define BESIDE(other) "attr { key: '_class' value { list { s: 'loc:@" other "' } } } "

static rheos_status *import_nodes(const char *text, const rheos_import_options *options,
                                  rheos_graph **out_graph) {
  bytes b = graph_of_text(text);
  *out_graph = rheos_graph_new();
  rheos_status *status = import_with(*out_graph, b.data, b.size_bytes, options);
  rheos_free(b.data);
  return status;
}

// TensorFlow's words.
static void test_graph_def__colocations_name_nodes_of_the_file(void **state) {
  (void)state;
  const char *const bad[] = {"zz", "", "b:0"};
  for (size_t i = 0; i < 3; i++) {
    char *text = rheos__text_format(NODE("b", "") NODE("a", BESIDE("%s")), bad[i]);
    char *message =
        rheos__text_format("Node 'a' expects to be colocated with unknown node '%s'", bad[i]);
    rheos_import_options options = {.prefix = i == 1 ? "in" : NULL};
    rheos_graph *graph;
    expect_error(import_nodes(text, &options, &graph), RHEOS_INVALID_ARGUMENT, message);
    rheos_graph_unref(graph);
    options.any_colocation = true;
    expect_ok(import_nodes(text, &options, &graph));
    rheos__free(message);
    message = rheos__text_format("loc:@%s%s", i == 1 ? "in/" : "", bad[i]);
    expect_colocation(graph, i == 1 ? "in/a" : "a", message);
    rheos_graph_unref(graph);
    rheos__free(message);
    rheos__free(text);
  }
  rheos_graph *graph;
  expect_ok(import_nodes(NODE("a", BESIDE("b")) NODE("b", BESIDE("b")), NULL, &graph));
  rheos_graph_unref(graph);
}

static void expect_device(rheos_graph *graph, const char *name, const char *device) {
  assert_string_equal(rheos_operation_device(rheos_graph_operation(graph, name)), device);
}

// What TensorFlow 1.15 gives for the same files.
static void test_graph_def__a_colocated_node_takes_the_others_device(void **state) {
  (void)state;
  const char *text =
      NODE("far", BESIDE("near")) NODE("near", BESIDE("c")) NODE("c", "device: '/cpu:3'")
          NODE("after", BESIDE("near")) NODE("own", BESIDE("own") "device: '/job:w'") NODE(
              "x", BESIDE("y") "device: '/gpu:0'") NODE("y", BESIDE("x") "device: '/gpu:0'")
              NODE("two", "attr { key: '_class' value { list { s: 'loc:@x' s: 'loc:@own' } } }");
  rheos_graph *graph;
  expect_ok(import_nodes(text, &(rheos_import_options){.colocated_devices = true}, &graph));
  expect_device(graph, "far", "");  // its turn is before that of `near`
  expect_device(graph, "near", "/device:CPU:3");
  expect_device(graph, "after", "/device:CPU:3");
  expect_device(graph, "own", "/job:w");
  expect_device(graph, "x", "");
  expect_device(graph, "y", "");
  expect_device(graph, "two", "/job:w");
  rheos_graph_unref(graph);
  expect_ok(import_nodes(text, NULL, &graph));
  expect_device(graph, "far", "");
  expect_device(graph, "x", "/device:GPU:0");
  rheos_graph_unref(graph);
}

static void test_graph_def__control_inputs_of_a_graph_are_sorted(void **state) {
  (void)state;
  const char *text = NODE("z", "") NODE("b", "") NODE("A", "") NODE("z/c", "")
      NODE("n", "input: '^z/c' input: '^b' input: '^z' input: '^A' input: '^b'");
  rheos_graph *graph;
  expect_ok(import_nodes(text, NULL, &graph));
  bytes out = export(graph);
  char *sorted;
  size_t length;
  expect_ok(rheos_message_to_text("GraphDef", out.data, out.size_bytes, &sorted, &length));
  assert_non_null(strstr(sorted,
                         "input: \"^A\"\n  input: \"^b\"\n  input: \"^z\"\n"
                         "  input: \"^z/c\"\n}"));
  rheos_free(sorted);
  rheos_free(out.data);
  // A node by itself has them as they were made.
  void *node;
  expect_ok(rheos_operation_to_node_def(rheos_graph_operation(graph, "n"), &node, &length));
  Tensorflow__NodeDef *def = tensorflow__node_def__unpack(NULL, length, node);
  assert_int_equal(def->n_input, 4);
  assert_string_equal(def->input[0], "^z/c");
  assert_string_equal(def->input[3], "^A");
  tensorflow__node_def__free_unpacked(def, NULL);
  rheos_free(node);
  rheos_graph_unref(graph);
}

static void test_graph_def__functions_are_ops_of_the_graph(void **state) {
  (void)state;
  bytes in = golden_graph("functions");
  rheos_graph *graph = rheos_graph_new();
  rheos_import_options options = {.prefix = "first", .keep_unknown_ops = true};
  expect_ok(import_with(graph, in.data, in.size_bytes, &options));
  bytes once = export(graph);
  options.prefix = "second";
  expect_ok(import_with(graph, in.data, in.size_bytes, &options));
  rheos_scope *scope = rheos_scope_new(graph);
  rheos_output x = rheos_operation_output(rheos_graph_operation(graph, "first/x"), 0);
  rheos_operation call =
      rheos_op(scope, &(rheos_op_args){.type = "Twice", .inputs = &x, .num_inputs = 1});
  expect_ok(rheos_scope_finish(scope));
  assert_int_equal(rheos_output_dtype(rheos_operation_output(call, 0)), RHEOS_FLOAT);
  rheos_scope_free(scope);

  // Another function of the same name.
  Tensorflow__GraphDef *def;
  rheos__arena arena;
  rheos__arena_init(&arena);
  expect_ok(RHEOS_PROTO_UNPACK(graph_def, in.data, in.size_bytes, &arena, &def));
  def->n_node = 0;
  for (size_t i = 0; i < def->library->n_function; i++) {
    Tensorflow__FunctionDef *function = def->library->function[i];
    if (strcmp(function->signature->name, "Twice") == 0) function->signature->is_stateful = true;
  }
  rheos__buffer other = {0};
  rheos__proto_pack(&def->base, &other);
  options.prefix = "third";
  expect_error(import_with(graph, other.data, other.size_bytes, &options), RHEOS_INVALID_ARGUMENT,
               "Cannot add function 'Twice' because a different function");
  rheos__arena_deinit(&arena);
  rheos__buffer_deinit(&other);
  rheos_free(once.data);
  rheos__free(in.data);
  rheos_graph_unref(graph);
}

static void test_graph_def__bad_inputs_are_named(void **state) {
  (void)state;
  graph_text index = {.count = 2, .nodes = {{"x", "Placeholder", {NULL}}, {"a", "Neg", {"x:1"}}}};
  graph_text order = {
      .count = 3,
      .nodes = {{"x", "Placeholder", {NULL}}, {"n", "NoOp", {NULL}}, {"a", "Neg", {"^n", "x"}}}};
  bytes b = graph_bytes(&index);
  rheos_graph *graph = rheos_graph_new();
  expect_error(import_into(graph, b.data, b.size_bytes, NULL), RHEOS_INVALID_ARGUMENT,
               "Node 'a': Connecting to invalid output 1 of source node x which has 1 outputs.");
  // Names that the graph has already
  expect_error(import_into(graph, b.data, b.size_bytes, NULL), RHEOS_INVALID_ARGUMENT,
               "Duplicate node name in graph: 'x'");
  rheos__free(b.data);
  b = graph_bytes(&order);
  expect_error(import_into(graph, b.data, b.size_bytes, "p"), RHEOS_INVALID_ARGUMENT,
               "Node 'a': input 'x' comes after a control input");
  rheos__free(b.data);
  rheos_graph_unref(graph);
}

static void test_graph_def__old_placeholders_have_any_shape(void **state) {
  (void)state;
  int producers[] = {23, 24};
  for (int i = 0; i < 2; i++) {
    graph_text text = {
        .count = 1, .producer = producers[i], .nodes = {{"x", "Placeholder", {NULL}}}};
    bytes b = graph_bytes(&text);
    rheos_graph *graph = rheos_graph_new();
    expect_ok(import_into(graph, b.data, b.size_bytes, NULL));
    rheos_output x;
    expect_ok(rheos_graph_output(graph, "x", &x));
    assert_int_equal(rheos_output_shape(x).rank, i == 0 ? -1 : 0);
    rheos__free(b.data);
    rheos_graph_unref(graph);
  }
}

// A chain written last node first: the importer must not go down it by recursion.
static void test_graph_def__long_chains_are_fine(void **state) {
  (void)state;
  enum { LENGTH = 200000 };
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = rheos_scope_new(graph);
  rheos_attr dtype = rheos_attr_type("dtype", RHEOS_FLOAT);
  rheos_output x = rheos_operation_output(
      rheos_op(scope, &(rheos_op_args){.type = "Placeholder", .attrs = &dtype, .num_attrs = 1}), 0);
  for (int i = 0; i < LENGTH; i++) {
    x = rheos_operation_output(
        rheos_op(scope, &(rheos_op_args){.type = "Neg", .inputs = &x, .num_inputs = 1}), 0);
  }
  expect_ok(rheos_scope_finish(scope));
  rheos_scope_free(scope);
  bytes forward = export(graph);
  rheos_graph_unref(graph);
  rheos__arena arena;
  rheos__arena_init(&arena);
  Tensorflow__GraphDef *def;
  expect_ok(RHEOS_PROTO_UNPACK(graph_def, forward.data, forward.size_bytes, &arena, &def));
  assert_int_equal(def->n_node, LENGTH + 1);
  for (size_t i = 0; i < def->n_node / 2; i++) {
    Tensorflow__NodeDef *node = def->node[i];
    def->node[i] = def->node[def->n_node - 1 - i];
    def->node[def->n_node - 1 - i] = node;
  }
  rheos__buffer backward = {0};
  rheos__proto_pack(&def->base, &backward);
  graph = rheos_graph_new();
  expect_ok(import_into(graph, backward.data, backward.size_bytes, NULL));
  bytes again = export(graph);
  assert_int_equal(again.size_bytes, forward.size_bytes);
  assert_memory_equal(again.data, forward.data, forward.size_bytes);
  rheos_graph_unref(graph);
  rheos__free(again.data);
  rheos__free(forward.data);
  rheos__buffer_deinit(&backward);
  rheos__arena_deinit(&arena);
}

// ---- Functions as attributes

static const rheos_attr *attr_of_func(const rheos_func *func, const char *name) {
  for (size_t i = 0; i < func->num_attrs; i++) {
    if (strcmp(func->attrs[i].name, name) == 0) return &func->attrs[i];
  }
  return NULL;
}

static bytes message_of(const char *type, const char *text) {
  void *data;
  bytes b;
  expect_ok(rheos_message_from_text(type, text, strlen(text), &data, &b.size_bytes));
  b.data = data;
  return b;
}

#define FUNC_NODE                                                        \
  "name: 'x' op: 'NoOp' attr { key: '_f' value { func { name: 'Twice'"   \
  "  attr { key: 'T' value { type: DT_FLOAT } }"                         \
  "  attr { key: 'g' value { func { name: 'Inner'"                       \
  "    attr { key: 'b' value { b: true } } } } }"                        \
  "  attr { key: 'nothing' value { } }"                                  \
  "  attr { key: 't' value { tensor { dtype: DT_FLOAT tensor_shape { }"  \
  "    float_val: 2 } } } } } }"                                         \
  "attr { key: '_fs' value { list { func { name: 'A' } func { name: 'B'" \
  "  attr { key: 'n' value { i: 3 } } } } } }"

static void test_graph_def__functions_are_names_and_attributes(void **state) {
  (void)state;
  bytes in = message_of("GraphDef", "node { " FUNC_NODE " }");
  bytes node = message_of("NodeDef", FUNC_NODE);
  rheos_graph *graph = rheos_graph_new();
  expect_ok(import_into(graph, in.data, in.size_bytes, NULL));
  const rheos_operation x = rheos_graph_operation(graph, "x");
  const rheos_attr_value f = rheos_operation_attr(x, "_f");
  assert_int_equal(f.kind, RHEOS_ATTR_FUNC);
  assert_string_equal(f.func->name.data, "Twice");
  assert_int_equal(f.func->num_attrs, 3);  // "nothing" is only written again
  assert_int_equal(attr_of_func(f.func, "T")->value.type, RHEOS_FLOAT);
  assert_float_equal(*(float *)rheos_tensor_data(attr_of_func(f.func, "t")->value.tensor), 2, 0);
  const rheos_func *inner = attr_of_func(f.func, "g")->value.func;
  assert_string_equal(inner->name.data, "Inner");
  assert_true(attr_of_func(inner, "b")->value.b);
  const rheos_attr_value list = rheos_operation_attr(x, "_fs");
  assert_int_equal(list.kind, RHEOS_ATTR_LIST_FUNC);
  assert_int_equal(list.count, 2);
  assert_int_equal(list.funcs[0].num_attrs, 0);
  assert_int_equal(attr_of_func(&list.funcs[1], "n")->value.i, 3);
  void *data;
  bytes out;
  expect_ok(rheos_operation_to_node_def(x, &data, &out.size_bytes));
  out.data = data;
  assert_int_equal(out.size_bytes, node.size_bytes);
  assert_memory_equal(out.data, node.data, node.size_bytes);
  rheos__free(in.data);
  rheos__free(node.data);
  rheos__free(out.data);
  rheos_graph_unref(graph);
}

static rheos_status *import_functions(void *text) {
  void *data = NULL;
  size_t size_bytes;
  RHEOS_TRY(rheos_message_from_text("GraphDef", text, strlen(text), &data, &size_bytes));
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = graph != NULL ? rheos_scope_new(graph) : NULL;
  rheos_status *status = scope != NULL ? NULL : rheos__out_of_memory();
  if (status == NULL) {
    rheos_import_graph_def(scope, data, size_bytes, NULL);
    status = rheos_scope_finish(scope);
  }
  rheos_scope_free(scope);
  rheos_graph_unref(graph);
  rheos_free(data);
  return status;
}

static void test_graph_def__functions_survive_short_memory(void **state) {
  (void)state;
  sweep_allocations(import_functions, (char[]){"node { " FUNC_NODE " }"});
}

// ---- Hostile bytes

static void test_graph_def__bytes_nested_too_deep_are_data_loss(void **state) {
  (void)state;
  // AttrValue.func.attr.value.func.attr.value ...: each level is fields 10, 2 and 2.
  enum { LEVELS = 20000 };
  rheos__buffer inner = {0};
  char *nested = rheos__alloc(LEVELS * 40);
  size_t size = 0, at = LEVELS * 40;
  for (int i = 0; i < LEVELS; i++) {
    static const unsigned char tags[] = {2 << 3 | 2, 2 << 3 | 2, 10 << 3 | 2};
    for (int k = 0; k < 3; k++) {
      inner.size_bytes = 0;
      rheos__buffer_put(&inner, &tags[k], 1);
      rheos__buffer_put_varint(&inner, size);
      at -= inner.size_bytes;
      memcpy(nested + at, inner.data, inner.size_bytes);
      size += inner.size_bytes;
    }
  }
  rheos__arena arena;
  rheos__arena_init(&arena);
  Tensorflow__AttrValue *value;
  expect_error(RHEOS_PROTO_UNPACK(attr_value, nested + at, size, &arena, &value), RHEOS_DATA_LOSS,
               "nested too deep");
  rheos__arena_deinit(&arena);
  rheos__buffer_deinit(&inner);
  rheos__free(nested);
}

static void test_graph_def__repeated_singular_messages_are_bounded(void **state) {
  (void)state;
  rheos__buffer buffer = {0};
  for (int i = 0; i < 1000; i++) rheos__buffer_put(&buffer, "\x12\0", 2);  // library {}
  rheos_graph *graph = rheos_graph_new();
  expect_error(import_into(graph, buffer.data, buffer.size_bytes, NULL), RHEOS_DATA_LOSS,
               "too often");
  rheos_graph_unref(graph);
  rheos__buffer_deinit(&buffer);
}

static void try_import(const char *data, size_t size_bytes) {
  rheos_graph *graph = rheos_graph_new();
  rheos_import_options options = {.keep_unknown_ops = true};
  rheos_status_free(import_with(graph, data, size_bytes, &options));
  bytes out = export(graph);  // whatever came in can go out
  rheos__free(out.data);
  rheos_graph_unref(graph);
}

static void test_graph_def__damaged_bytes_do_no_harm(void **state) {
  (void)state;
  const char *names[] = {"constants", "structure", "training", "loops", "functions"};
  uint64_t seed = 99;
  for (int i = 0; i < 5; i++) {
    bytes in = golden_graph(names[i]);
    for (size_t size = 0; size < in.size_bytes; size++) {
      char *copy = rheos__alloc(size);  // exactly as long: a sanitizer sees every step beyond it
      memcpy(copy, in.data, size);
      if (i == 1 || size % 16 == 0) try_import(copy, size);
      rheos__free(copy);
    }
    char *copy = rheos__alloc(in.size_bytes);
    for (int trial = 0; trial < 1500; trial++) {
      memcpy(copy, in.data, in.size_bytes);
      for (int flips = 1 + trial % 4; flips > 0; flips--) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint64_t bit = (seed >> 20) % (in.size_bytes * 8);
        copy[bit / 8] ^= (char)(1 << (bit % 8));
      }
      try_import(copy, in.size_bytes);
    }
    rheos__free(copy);
    rheos__free(in.data);
  }
}

// ---- Short memory

static rheos_status *import_and_export(void *argument) {
  const bytes *in = argument;
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = rheos_scope_new(graph);
  rheos_status *status = graph != NULL && scope != NULL ? NULL : rheos__out_of_memory();
  void *data = NULL;
  size_t size_bytes;
  if (status == NULL) {
    rheos_import_options options = {.keep_unknown_ops = true};
    rheos_import_graph_def(scope, in->data, in->size_bytes, &options);
    status = rheos_scope_finish(scope);
  }
  if (status == NULL) status = rheos_graph_to_graph_def(graph, &data, &size_bytes);
  rheos_free(data);
  rheos_scope_free(scope);
  rheos_graph_unref(graph);
  return status;
}

static void test_graph_def__any_allocation_may_fail(void **state) {
  (void)state;
  rheos__signature_by_name("Const");  // the table of signatures stays
  const char *names[] = {"structure", "functions", "loops"};
  for (int i = 0; i < 3; i++) {
    bytes in = golden_graph(names[i]);
    sweep_allocations(import_and_export, &in);
    rheos__free(in.data);
  }
}

// A length, and the bytes of it that are written out; zeros follow.
static size_t put_field(uint8_t *out, uint8_t number, const uint8_t *head, size_t head_bytes,
                        uint64_t zeros) {
  size_t n = 0;
  out[n++] = (uint8_t)(number << 3 | 2);
  uint64_t length = head_bytes + zeros;
  for (; length >= 128; length >>= 7) out[n++] = (uint8_t)(length | 128);
  out[n++] = (uint8_t)length;
  if (head_bytes > 0) memcpy(out + n, head, head_bytes);
  return n + head_bytes;
}

// Two gigabytes of one attribute, of a function's node or of one of the graph's own.
static void test_graph_def__an_attribute_of_gigabytes_is_refused(void **state) {
  (void)state;
  const uint64_t zeros = 2200000000;
  for (int in_function = 0; in_function < 2; in_function++) {
    uint8_t a[128], b[128];
    size_t n = put_field(a, 2, NULL, 0, zeros);              // AttrValue.s
    size_t m = put_field(b, 1, (const uint8_t *)"v", 1, 0);  // its name
    m += put_field(b + m, 2, a, n, zeros);
    n = put_field(a, 1, (const uint8_t *)"n", 1, 0);  // NodeDef.name
    n += put_field(a + n, 2, (const uint8_t *)"NoOp", 4, 0);
    n += put_field(a + n, 5, b, m, zeros);
    m = put_field(b, in_function ? 3 : 1, a, n, zeros);  // FunctionDef, or the GraphDef
    if (in_function) {
      n = put_field(a, 1, b, m, zeros);  // its library
      m = put_field(b, 2, a, n, zeros);
    }
    const size_t size_bytes = m + zeros;
    uint8_t *data = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(data != MAP_FAILED);
    memcpy(data, b, m);
    rheos_graph *graph = rheos_graph_new();
    rheos_status *status = import_into(graph, data, size_bytes, NULL);
    assert_int_equal(rheos_status_code(status), RHEOS_DATA_LOSS);
    rheos_status_free(status);
    munmap(data, size_bytes);
    bytes sound = golden_graph("structure");
    expect_ok(import_into(graph, sound.data, sound.size_bytes, NULL));
    rheos__free(sound.data);
    rheos_graph_unref(graph);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_graph_def__graphs_of_tensorflow_come_back),
      cmocka_unit_test(test_graph_def__loops_come_back),
      cmocka_unit_test(test_graph_def__constants_have_their_values),
      cmocka_unit_test(test_graph_def__structure_is_kept),
      cmocka_unit_test(test_graph_def__a_prefix_goes_before_all_names),
      cmocka_unit_test(test_graph_def__nodes_come_in_any_order),
      cmocka_unit_test(test_graph_def__names_what_is_wrong),
      cmocka_unit_test(test_graph_def__unknown_ops_pass_references_on),
      cmocka_unit_test(test_graph_def__nodes_of_unknown_ops_are_kept),
      cmocka_unit_test(test_graph_def__inputs_are_mapped),
      cmocka_unit_test(test_graph_def__names_are_made_unique),
      cmocka_unit_test(test_graph_def__colocations_name_nodes_of_the_file),
      cmocka_unit_test(test_graph_def__a_colocated_node_takes_the_others_device),
      cmocka_unit_test(test_graph_def__control_inputs_of_a_graph_are_sorted),
      cmocka_unit_test(test_graph_def__functions_are_ops_of_the_graph),
      cmocka_unit_test(test_graph_def__bad_inputs_are_named),
      cmocka_unit_test(test_graph_def__old_placeholders_have_any_shape),
      cmocka_unit_test(test_graph_def__long_chains_are_fine),
      cmocka_unit_test(test_graph_def__functions_are_names_and_attributes),
      cmocka_unit_test(test_graph_def__functions_survive_short_memory),
      cmocka_unit_test(test_graph_def__bytes_nested_too_deep_are_data_loss),
      cmocka_unit_test(test_graph_def__repeated_singular_messages_are_bounded),
      cmocka_unit_test(test_graph_def__an_attribute_of_gigabytes_is_refused),
      cmocka_unit_test(test_graph_def__damaged_bytes_do_no_harm),
      cmocka_unit_test(test_graph_def__any_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
