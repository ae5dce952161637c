// MetaGraphDefs: one of TensorFlow (tests/golden/make_saved_models.py) is gone on training with;
// what is written comes back; saved models are written and loaded.
#include <rheos/rheos.h>

#include "format/format_support.h"
#include "format/recorded.h"

static char *golden(const char *name) {
  return rheos__text_format("%s/tests/golden/meta_graphs/%s", RHEOS_SOURCE_DIR, name);
}

static rheos_meta_graph *read_golden(void) {
  char *path = golden("training.meta");
  rheos_meta_graph *meta_graph;
  expect_ok(rheos_meta_graph_read(path, &meta_graph));
  rheos__free(path);
  return meta_graph;
}

// A graph of its own, imported; one reference.
static rheos_graph *import(const rheos_meta_graph *meta_graph, const rheos_import_options *options,
                           rheos_saver *out_saver) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = rheos_scope_new(graph);
  rheos_import_options with = options != NULL ? *options : (rheos_import_options){.prefix = NULL};
  with.keep_unknown_ops = true;  // queues, loops and conditions
  *out_saver = rheos_import_meta_graph(scope, meta_graph, &with);
  expect_ok(rheos_scope_finish(scope));
  rheos_scope_free(scope);
  return graph;
}

static rheos_output output(rheos_graph *graph, const char *name) {
  rheos_output found;
  expect_ok(rheos_graph_output(graph, name, &found));
  return found;
}

// The losses of the steps after those that were made before the checkpoint.
static void expect_recorded_losses(rheos_graph *graph, rheos_saver saver, const char *prefix) {
  rheos_session *session;
  expect_ok(rheos_session_new(graph, NULL, &session));
  char *checkpoint = golden("training");
  expect_ok(rheos_saver_restore(saver, session, checkpoint));
  rheos__free(checkpoint);
  const rheos_item loss = rheos_graph_collection_item(graph, "loss", 0);
  const rheos_item train = rheos_graph_collection_item(graph, RHEOS_COLLECTION_TRAIN_OP, 0);
  assert_int_equal(loss.kind, RHEOS_ITEM_OUTPUT);
  assert_int_equal(train.kind, RHEOS_ITEM_OPERATION);
  char x[32], y[32];
  snprintf(x, sizeof x, "%sx", prefix);
  snprintf(y, sizeof y, "%sy", prefix);
  const rheos_feed feeds[] = {{output(graph, x), recorded_tensor("meta_graphs/training", "x")},
                              {output(graph, y), recorded_tensor("meta_graphs/training", "y")}};
  rheos_tensor *losses = recorded_tensor("meta_graphs/training", "losses");
  const rheos_operation target = {graph, train.id};
  for (int64_t i = 0; i < rheos_tensor_num_elements(losses); i++) {
    rheos_fetch fetch = {.output = {graph, loss.id, loss.index}};
    expect_ok(rheos_session_run(session, feeds, 2, &fetch, 1, &target, 1, NULL));
    assert_float_equal(*(float *)rheos_tensor_data(fetch.value),
                       ((float *)rheos_tensor_data(losses))[i], 1e-5);
    rheos_tensor_unref(fetch.value);
  }
  rheos_tensor_unref(losses);
  for (int i = 0; i < 2; i++) rheos_tensor_unref(feeds[i].value);
  rheos_session_free(session);
}

static void test_meta_graph__training_goes_on(void **state) {
  (void)state;
  rheos_meta_graph *meta_graph = read_golden();
  rheos_saver saver;
  rheos_graph *graph = import(meta_graph, NULL, &saver);
  expect_recorded_losses(graph, saver, "");
  rheos_graph_unref(graph);
  rheos_meta_graph_free(meta_graph);
}

static void test_meta_graph__training_goes_on_below_a_prefix(void **state) {
  (void)state;
  rheos_meta_graph *meta_graph = read_golden();
  rheos_saver saver;
  const rheos_import_options options = {.prefix = "in/side", .clear_devices = true};
  rheos_graph *graph = import(meta_graph, &options, &saver);
  for (int32_t i = 0; i < rheos_graph_num_operations(graph); i++) {
    assert_string_equal(rheos_operation_device((rheos_operation){graph, i}), "");
  }
  expect_recorded_losses(graph, saver, "in/side/");
  rheos_graph_unref(graph);
  rheos_meta_graph_free(meta_graph);
}

static void test_meta_graph__collections_come_along(void **state) {
  (void)state;
  rheos_meta_graph *meta_graph = read_golden();
  rheos_saver saver;
  rheos_graph *graph = import(meta_graph, NULL, &saver);
  rheos_variable *variables;
  // Two parts, w, b, the step, and four slots.
  assert_int_equal(
      rheos_graph_collect_variables(graph, RHEOS_COLLECTION_GLOBAL_VARIABLES, &variables), 9);
  int parts = 0;
  for (int i = 0; i < 9; i++) {
    const char *whole, *slice;
    if (rheos_variable_slice(variables[i], &whole, &slice) && strcmp(whole, "parts") == 0) {
      assert_string_equal(slice, parts == 0 ? "4 3 0,2:0,3" : "4 3 2,2:0,3");
      parts++;
    }
  }
  assert_int_equal(parts, 2);
  rheos_free(variables);
  assert_int_equal(
      rheos_graph_collect_variables(graph, RHEOS_COLLECTION_TRAINABLE_VARIABLES, &variables), 4);
  rheos_free(variables);
  assert_int_equal(rheos_graph_collection_item(graph, "numbers", 0).i, 3);
  assert_true(rheos_graph_collection_item(graph, "reals", 0).f == 0.25f);
  assert_string_equal(rheos_graph_collection_item(graph, "texts", 0).bytes.data, "text");
  assert_int_equal(rheos_graph_collection_item(graph, "queue_runners", 0).kind, RHEOS_ITEM_BYTES);
  assert_int_equal(rheos_graph_collection_size(graph, "cond_context"), 2);
  assert_int_equal(rheos_graph_collection_size(graph, "while_context"), 1);
  rheos_graph_unref(graph);
  rheos_meta_graph_free(meta_graph);
}

// Names in what stays bytes get the prefix too.
static void test_meta_graph__names_in_collections_follow_the_prefix(void **state) {
  (void)state;
  rheos_meta_graph *meta_graph = read_golden();
  rheos_saver saver;
  const rheos_import_options options = {.prefix = "in"};
  rheos_graph *graph = import(meta_graph, &options, &saver);
  static const struct {
    const char *key, *type;
  } kinds[] = {{"queue_runners", "QueueRunnerDef"},
               {"cond_context", "CondContextDef"},
               {"while_context", "WhileContextDef"}};
  for (int i = 0; i < 3; i++) {
    const rheos_string was = rheos_meta_graph_collection(meta_graph, kinds[i].key)->bytes[0];
    const rheos_string is = rheos_graph_collection_item(graph, kinds[i].key, 0).bytes;
    char *old, *now;
    size_t old_bytes, now_bytes;
    expect_ok(rheos_message_to_text(kinds[i].type, was.data, was.size_bytes, &old, &old_bytes));
    expect_ok(rheos_message_to_text(kinds[i].type, is.data, is.size_bytes, &now, &now_bytes));
    // Every text of it is a name.
    char *at = now;
    for (const char *old_at = old; *old_at != '\0'; old_at++) {
      assert_int_equal(*at++, *old_at);
      const bool opens = *old_at == '"' && (old_at[-1] == ' ' || old_at[-1] == ':');
      if (opens && strncmp(at, "^in/", 4) == 0)
        memmove(at + 1, at + 4, strlen(at + 4) + 1);
      else if (opens && old_at[1] != '"')
        assert_memory_equal(at, "in/", 3), at += 3;
    }
    assert_int_equal(*at, '\0');
    rheos_free(old);
    rheos_free(now);
  }
  assert_string_equal(rheos_graph_collection_item(graph, "texts", 0).bytes.data, "in/text");
  rheos_graph_unref(graph);
  rheos_meta_graph_free(meta_graph);
}

static void expect_same_collections(const rheos_meta_graph *a, const rheos_meta_graph *b) {
  assert_int_equal(a->num_collections, b->num_collections);
  for (size_t i = 0; i < a->num_collections; i++) {
    const rheos_collection_def *one = &a->collections[i], *other = &b->collections[i];
    assert_string_equal(one->key, other->key);
    if (one->kind != other->kind) fail_msg("%s: kind %d, not %d", one->key, other->kind, one->kind);
    assert_int_equal(one->count, other->count);
    for (size_t k = 0; k < one->count && one->kind == RHEOS_COLLECTION_NODES; k++) {
      assert_string_equal(one->nodes[k], other->nodes[k]);
    }
    for (size_t k = 0; k < one->count && one->kind == RHEOS_COLLECTION_BYTES; k++) {
      assert_int_equal(one->bytes[k].size_bytes, other->bytes[k].size_bytes);
      assert_memory_equal(one->bytes[k].data, other->bytes[k].data, one->bytes[k].size_bytes);
    }
  }
}

static void test_meta_graph__what_is_written_comes_back(void **state) {
  (void)state;
  rheos_meta_graph *meta_graph = read_golden(), *again;
  rheos_saver saver;
  rheos_graph *graph = import(meta_graph, NULL, &saver);
  const char *tags[] = {"a", "b"};
  const rheos_meta_graph_options options = {.tags = tags,
                                            .num_tags = 2,
                                            .saver = &saver,
                                            .max_to_keep = rheos_int(3),
                                            .strip_default_attrs = true};
  char *folder = new_folder();
  for (int as_text = 0; as_text < 2; as_text++) {
    char *path = rheos__path_join(folder, as_text ? "x.pbtxt" : "x.meta");
    expect_ok(rheos_graph_write_meta_graph(graph, &options, path, as_text));
    expect_ok(rheos_meta_graph_read(path, &again));
    rheos__free(path);
    expect_same_collections(meta_graph, again);
    assert_int_equal(again->num_tags, 2);
    assert_string_equal(again->tags[1], "b");
    assert_string_equal(again->saver->restore_op_name, meta_graph->saver->restore_op_name);
    assert_string_equal(again->saver->save_tensor_name, meta_graph->saver->save_tensor_name);
    assert_int_equal(again->saver->max_to_keep, 3);
    assert_true(again->stripped_default_attrs);
    assert_true(again->op_list_bytes > 0);
    assert_true(again->graph_def_bytes < meta_graph->graph_def_bytes);
    rheos_saver other_saver;
    rheos_graph *other = import(again, NULL, &other_saver);
    expect_recorded_losses(other, other_saver, "");
    rheos_graph_unref(other);
    rheos_meta_graph_free(again);
  }
  remove_folder(folder);
  rheos_graph_unref(graph);
  rheos_meta_graph_free(meta_graph);
}

static void test_meta_graph__mixed_collections_are_refused(void **state) {
  (void)state;
  rheos_graph *graph = rheos_graph_new();
  const rheos_item number = {.kind = RHEOS_ITEM_INT, .i = 1};
  const rheos_item real = {.kind = RHEOS_ITEM_FLOAT, .f = 1};
  expect_ok(rheos_graph_add_to_collection(graph, "mixed", number));
  expect_ok(rheos_graph_add_to_collection(graph, "mixed", real));
  assert_int_equal(rheos_graph_num_collections(graph), 1);
  assert_string_equal(rheos_graph_collection_key(graph, 0), "mixed");
  assert_null(rheos_graph_collection_key(graph, 1));
  void *bytes;
  size_t size_bytes;
  expect_error(rheos_graph_to_meta_graph_def(graph, NULL, &bytes, &size_bytes),
               RHEOS_INVALID_ARGUMENT, "'mixed' holds items of several kinds");
  rheos_graph_unref(graph);
}

// ---- Without what files usually hold

// y = w * x, w a resource variable or a reference; w is 3.
typedef struct line_graph {
  rheos_graph *graph;
  rheos_scope *scope;
  rheos_session *session;
  rheos_output x, y;
} line_graph;

static line_graph new_line(bool use_resource) {
  line_graph l;
  l.graph = rheos_graph_new();
  l.scope = rheos_scope_new(l.graph);
  const rheos_variable_options options = {.name = "w", .use_resource = use_resource};
  const rheos_variable w =
      rheos_variable_new(l.scope, rheos_constant_float(l.scope, 3, NULL), &options);
  l.x = rheos_placeholder(l.scope, RHEOS_FLOAT, .name = "x");
  l.y = rheos_mul(l.scope, rheos_variable_read(l.scope, w), l.x, .name = "y");
  const rheos_operation init = rheos_global_variables_initializer(l.scope);
  expect_ok(rheos_scope_finish(l.scope));
  expect_ok(rheos_session_new(l.graph, NULL, &l.session));
  expect_ok(rheos_session_run(l.session, NULL, 0, NULL, 0, &init, 1, NULL));
  return l;
}

static void line_free(line_graph *l) {
  rheos_session_free(l->session);
  rheos_scope_free(l->scope);
  rheos_graph_unref(l->graph);
}

static void test_meta_graph__without_a_saver_one_is_made(void **state) {
  (void)state;
  line_graph l = new_line(true);
  void *bytes;
  size_t size_bytes;
  expect_ok(rheos_graph_to_meta_graph_def(l.graph, NULL, &bytes, &size_bytes));
  rheos_meta_graph *meta_graph;
  expect_ok(rheos_meta_graph_parse(bytes, size_bytes, &meta_graph));
  assert_null(meta_graph->saver);
  rheos_saver saver;
  rheos_graph *graph = import(meta_graph, NULL, &saver);
  assert_ptr_equal(saver.filename.graph, graph);
  assert_string_equal(rheos_operation_type(saver.restore), "NoOp");
  rheos_graph_unref(graph);
  rheos_meta_graph_free(meta_graph);
  rheos_free(bytes);
  line_free(&l);
}

// ---- Parts of graphs

// before/a, outside of what is written; net: w = 3, y = w * a, z = w + a colocated with y.
static rheos_graph *new_net(void) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  const rheos_output a = rheos_placeholder(s, RHEOS_FLOAT, .name = "before/a");
  rheos_push_variable_scope(s, "net", RHEOS_REUSE_INHERIT);
  rheos_push_device(s, "/device:CPU:0");
  const rheos_output w =
      rheos_get_variable(s, "w", RHEOS_FLOAT, RHEOS_SCALAR, rheos_constant_initializer(3));
  const rheos_output y = rheos_mul(s, w, a, .name = "y");
  rheos_push_colocation(s, rheos_output_operation(y));
  const rheos_output z = rheos_add(s, w, a, .name = "z");
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  expect_ok(rheos_scope_finish(s));
  rheos_scope_free(s);
  const rheos_item items[] = {{.kind = RHEOS_ITEM_OUTPUT, .id = y.id},
                              {.kind = RHEOS_ITEM_OUTPUT, .id = a.id},
                              {.kind = RHEOS_ITEM_OPERATION, .id = z.id}};
  for (int i = 0; i < 3; i++) expect_ok(rheos_graph_add_to_collection(graph, "nodes", items[i]));
  const char *texts[] = {"hello", "net/y"};
  for (int i = 0; i < 2; i++) {
    const rheos_item text = {.kind = RHEOS_ITEM_BYTES,
                             .bytes = {(char *)(uintptr_t)texts[i], strlen(texts[i])}};
    expect_ok(rheos_graph_add_to_collection(graph, "texts", text));
  }
  return graph;
}

static rheos_meta_graph *written(rheos_graph *graph, const rheos_meta_graph_options *options) {
  void *bytes;
  size_t size_bytes;
  rheos_meta_graph *meta_graph;
  expect_ok(rheos_graph_to_meta_graph_def(graph, options, &bytes, &size_bytes));
  expect_ok(rheos_meta_graph_parse(bytes, size_bytes, &meta_graph));
  rheos_free(bytes);
  return meta_graph;
}

// The first item of a collection of texts.
static void expect_text(const rheos_meta_graph *meta_graph, const char *key, const char *text) {
  const rheos_string is = rheos_meta_graph_collection(meta_graph, key)->bytes[0];
  assert_int_equal(is.size_bytes, strlen(text));
  assert_memory_equal(is.data, text, is.size_bytes);
}

// What TensorFlow 1.15's export_meta_graph(export_scope="net") writes of such a graph.
static void test_meta_graph__a_scope_is_written_without_its_name(void **state) {
  (void)state;
  rheos_graph *graph = new_net();
  const rheos_meta_graph_options options = {
      .export_scope = "net", .clear_devices = true, .strip_default_attrs = true};
  rheos_meta_graph *part = written(graph, &options);
  const rheos_collection_def *unbound = rheos_meta_graph_collection(part, "unbound_inputs");
  assert_int_equal(unbound->count, 1);  // used twice
  expect_text(part, "unbound_inputs", "$unbound_inputs_before/a");
  const rheos_collection_def *nodes = rheos_meta_graph_collection(part, "nodes");
  assert_int_equal(nodes->count, 2);
  assert_string_equal(nodes->nodes[0], "y:0");
  assert_string_equal(nodes->nodes[1], "z");
  assert_int_equal(rheos_meta_graph_collection(part, "texts")->count, 1);
  assert_int_equal(rheos_meta_graph_collection(part, "variables")->count, 1);

  // The part below another scope, with another input.
  rheos_graph *other = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(other);
  const rheos_output two = rheos_constant_float(s, 2, "two");
  rheos_import_meta_graph(s, part, &(rheos_import_options){.prefix = "new"});
  expect_error(rheos_scope_finish(s), RHEOS_INVALID_ARGUMENT,
               "Graph contains unbound inputs: $unbound_inputs_before/a. Must provide");
  rheos_import_mapping map = {.from = "$unbound_inputs_before/a", .to = two};
  rheos_import_meta_graph(
      s, part, &(rheos_import_options){.prefix = "new", .input_map = &map, .num_mappings = 1});
  const rheos_operation init = rheos_global_variables_initializer(s);
  expect_ok(rheos_scope_finish(s));
  rheos_scope_free(s);
  assert_int_equal(rheos_graph_collection_size(other, "unbound_inputs"), 0);
  assert_string_equal(rheos_operation_device(rheos_graph_operation(other, "new/y")), "");
  const rheos_attr_value class =
      rheos_operation_attr(rheos_graph_operation(other, "new/z"), "_class");
  assert_int_equal(class.count, 1);
  assert_memory_equal(class.strings[0].data, "loc:@new/y", 10);
  rheos_session *session;
  rheos_fetch fetches[] = {{.output = output(other, "new/y:0")},
                           {.output = output(other, "new/z:0")}};
  expect_ok(rheos_session_new(other, NULL, &session));
  expect_ok(rheos_session_run(session, NULL, 0, NULL, 0, &init, 1, NULL));
  expect_ok(rheos_session_run(session, NULL, 0, fetches, 2, NULL, 0, NULL));
  assert_float_equal(*(float *)rheos_tensor_data(fetches[0].value), 6, 0);
  assert_float_equal(*(float *)rheos_tensor_data(fetches[1].value), 5, 0);
  for (int i = 0; i < 2; i++) rheos_tensor_unref(fetches[i].value);
  rheos_session_free(session);
  rheos_graph_unref(other);
  rheos_meta_graph_free(part);

  const rheos_argument argument = {.name = "a", .tensor = output(graph, "before/a:0")};
  const rheos_signature signature = {.inputs = &argument, .num_inputs = 1};
  const rheos_meta_graph_options bad = {
      .export_scope = "net", .signatures = &signature, .num_signatures = 1};
  void *bytes;
  size_t size_bytes;
  expect_error(rheos_graph_to_meta_graph_def(graph, &bad, &bytes, &size_bytes),
               RHEOS_INVALID_ARGUMENT, "'a' is not below the scope 'net'");
  rheos_graph_unref(graph);
}

static bool has_node(const rheos_meta_graph *meta_graph, const char *name) {
  rheos_graph *graph = import(meta_graph, NULL, &(rheos_saver){.filename = {NULL, 0, 0}});
  const bool has = rheos_graph_operation(graph, name).graph != NULL;
  rheos_graph_unref(graph);
  return has;
}

// As TensorFlow's export_meta_graph(clear_extraneous_savers=True, saver_def=...).
static void test_meta_graph__other_savers_are_left_out(void **state) {
  (void)state;
  line_graph l = new_line(false);
  const rheos_saver one = rheos_saver_new(l.scope, NULL, NULL, 0, NULL);
  const rheos_saver other = rheos_saver_new(l.scope, NULL, NULL, 0, NULL);
  expect_ok(rheos_scope_finish(l.scope));
  const rheos_output savers[] = {one.save_path, other.save_path, l.y};
  for (int i = 0; i < 3; i++) {
    const rheos_item item = {.kind = RHEOS_ITEM_OUTPUT, .id = savers[i].id};
    expect_ok(rheos_graph_add_to_collection(l.graph, "nodes", item));
  }
  const rheos_item texts[] = {{.kind = RHEOS_ITEM_BYTES, .bytes = {(char[]){"one"}, 3}},
                              {.kind = RHEOS_ITEM_BYTES, .bytes = {(char[]){"two"}, 3}}};
  for (int i = 0; i < 2; i++) {
    expect_ok(rheos_graph_add_to_collection(l.graph, "savers", texts[i]));
  }
  rheos_meta_graph_options options = {.saver = &other};
  rheos_meta_graph *all = written(l.graph, &options);
  assert_true(has_node(all, "save/SaveV2") && has_node(all, "save_1/SaveV2"));
  assert_int_equal(rheos_meta_graph_collection(all, "savers")->count, 2);
  rheos_meta_graph_free(all);

  options.clear_extraneous_savers = true;
  rheos_meta_graph *part = written(l.graph, &options);
  assert_true(!has_node(part, "save/SaveV2") && !has_node(part, "save/Const"));
  assert_true(has_node(part, "save_1/restore_all") && has_node(part, "y"));
  assert_string_equal(part->saver->restore_op_name, "save_1/restore_all");
  const rheos_collection_def *nodes = rheos_meta_graph_collection(part, "nodes");
  assert_int_equal(nodes->count, 2);
  assert_string_equal(nodes->nodes[0], "save_1/control_dependency:0");
  const rheos_collection_def *collection = rheos_meta_graph_collection(part, "savers");
  assert_int_equal(collection->count, 1);
  const rheos_string def = collection->bytes[0];
  char *text;
  size_t length;
  expect_ok(rheos_message_to_text("SaverDef", def.data, def.size_bytes, &text, &length));
  assert_non_null(strstr(text, "restore_op_name: \"save_1/restore_all\""));
  rheos_free(text);
  rheos_meta_graph_free(part);

  // Without any saver, and only one collection.
  const char *const keys[] = {"variables"};
  options = (rheos_meta_graph_options){
      .clear_extraneous_savers = true, .collections = keys, .num_collections = 1};
  part = written(l.graph, &options);
  assert_null(part->saver);
  assert_int_equal(part->num_collections, 1);
  assert_non_null(rheos_meta_graph_collection(part, "variables"));
  rheos_meta_graph_free(part);

  // What is asked for must not be left out, nor needed.
  const rheos_argument argument = {.name = "a", .tensor = one.save_path};
  const rheos_signature signature = {.inputs = &argument, .num_inputs = 1};
  options.signatures = &signature;
  options.num_signatures = 1;
  void *bytes;
  size_t size_bytes;
  expect_error(rheos_graph_to_meta_graph_def(l.graph, &options, &bytes, &size_bytes),
               RHEOS_INVALID_ARGUMENT, "lies in the scope of a saver that is left out");
  rheos_identity(l.scope, one.save_path, .name = "path");
  expect_ok(rheos_scope_finish(l.scope));
  options.num_signatures = 0;
  expect_error(rheos_graph_to_meta_graph_def(l.graph, &options, &bytes, &size_bytes),
               RHEOS_INVALID_ARGUMENT, "'path' takes 'save/control_dependency' of a saver");
  line_free(&l);
}

// What stands below a scope after an import is written without it as it was before, loops and
// queues in the collections too.
static void test_meta_graph__a_scope_that_was_imported_is_written_as_it_was(void **state) {
  (void)state;
  rheos_meta_graph *meta_graph = read_golden();
  rheos_saver saver;
  rheos_graph *plain = import(meta_graph, NULL, &saver);
  rheos_meta_graph *all = written(plain, &(rheos_meta_graph_options){.saver = &saver});
  rheos_graph_unref(plain);
  rheos_graph *below = import(meta_graph, &(rheos_import_options){.prefix = "in/side"}, &saver);
  rheos_scope *s = rheos_scope_new(below);
  rheos_constant_float(s, 1, "outside");
  rheos_scope_free(s);
  rheos_meta_graph *part =
      written(below, &(rheos_meta_graph_options){.saver = &saver, .export_scope = "in/side"});
  assert_int_equal(part->graph_def_bytes, all->graph_def_bytes);
  assert_memory_equal(part->graph_def, all->graph_def, all->graph_def_bytes);
  assert_string_equal(part->saver->restore_op_name, all->saver->restore_op_name);
  // Texts of unknown meaning keep what the import put before them, as in TensorFlow.
  expect_text(part, "texts", "in/side/text");
  assert_int_equal(part->num_collections, all->num_collections);
  for (size_t i = 0; i < all->num_collections; i++) {
    const rheos_collection_def *one = &all->collections[i], *other = &part->collections[i];
    assert_string_equal(one->key, other->key);
    assert_int_equal(one->count, other->count);
    if (strcmp(one->key, "texts") == 0 || one->kind != RHEOS_COLLECTION_BYTES) continue;
    for (size_t k = 0; k < one->count; k++) {
      assert_int_equal(one->bytes[k].size_bytes, other->bytes[k].size_bytes);
      assert_memory_equal(one->bytes[k].data, other->bytes[k].data, one->bytes[k].size_bytes);
    }
  }
  rheos_graph_unref(below);
  rheos_meta_graph_free(part);
  rheos_meta_graph_free(all);
  rheos_meta_graph_free(meta_graph);
}

// ---- Writing saved models

static void remove_model(char *folder) {
  const char *below[] = {"variables", "assets"};
  for (int i = 0; i < 2; i++) {
    bool exists;
    char *path = rheos__path_join(folder, below[i]);
    expect_ok(rheos__file_exists(path, &exists));
    if (exists) {
      remove_folder(path);
    } else {
      rheos__free(path);
    }
  }
  remove_folder(folder);
}

static float call_line(const rheos_saved_model *model, float x) {
  rheos_named_tensor in = {"in", NULL}, out = {"out", NULL};
  expect_ok(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &x, &in.value));
  expect_ok(rheos_saved_model_call(model, NULL, &in, 1, &out, 1, NULL));
  const float y = *(float *)rheos_tensor_data(out.value);
  rheos_tensor_unref(in.value);
  rheos_tensor_unref(out.value);
  return y;
}

static void test_saved_model__simple_save_is_loaded(void **state) {
  (void)state;
  for (int use_resource = 0; use_resource < 2; use_resource++) {
    line_graph l = new_line(use_resource);
    char *folder = new_folder();
    const rheos_argument in = {.name = "in", .tensor = l.x}, out = {.name = "out", .tensor = l.y};
    expect_ok(rheos_saved_model_simple_save(l.session, folder, &in, 1, &out, 1));
    expect_error(rheos_saved_model_simple_save(l.session, folder, &in, 1, &out, 1),
                 RHEOS_ALREADY_EXISTS, "isn't empty");
    line_free(&l);
    const char *tag = "serve";
    rheos_saved_model *model;
    expect_ok(rheos_saved_model_load(folder, &tag, 1, NULL, &model));
    assert_float_equal(call_line(model, 2), 6, 0);
    rheos_saved_model_free(model);
    remove_model(folder);
  }
}

// An input that a call leaves out has the signature's default.
static void test_saved_model__defaults_are_fed(void **state) {
  (void)state;
  line_graph l = new_line(true);
  char *folder = new_folder();
  const rheos_argument in = {.name = "in", .tensor = l.x}, out = {.name = "out", .tensor = l.y};
  const float seven = 7;
  rheos_named_tensor value = {.name = "other"};
  expect_ok(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &seven, &value.value));
  const rheos_signature signature = {.inputs = &in,
                                     .num_inputs = 1,
                                     .outputs = &out,
                                     .num_outputs = 1,
                                     .defaults = &value,
                                     .num_defaults = 1};
  const char *tag = "serve";
  const rheos_meta_graph_options options = {
      .tags = &tag, .num_tags = 1, .signatures = &signature, .num_signatures = 1};
  rheos_saved_model_builder *builder;
  expect_ok(rheos_saved_model_builder_new(folder, &builder));
  expect_error(rheos_saved_model_builder_add(builder, l.session, &options), RHEOS_INVALID_ARGUMENT,
               "'other', which is no input");
  value.name = "in";
  expect_ok(rheos_saved_model_builder_add(builder, l.session, &options));
  expect_ok(rheos_saved_model_builder_save(builder, false));
  rheos_saved_model_builder_free(builder);
  rheos_tensor_unref(value.value);
  line_free(&l);

  rheos_saved_model *model;
  expect_ok(rheos_saved_model_load(folder, &tag, 1, NULL, &model));
  const rheos_signature_def *def =
      rheos_meta_graph_signature(rheos_saved_model_meta_graph(model), "serving_default");
  assert_int_equal(def->num_defaults, 1);
  assert_string_equal(def->defaults[0].key, "in");
  assert_int_equal(def->defaults[0].dtype, RHEOS_FLOAT);
  rheos_named_tensor fetched = {"out", NULL};
  expect_ok(rheos_saved_model_call(model, NULL, NULL, 0, &fetched, 1, NULL));
  assert_float_equal(*(float *)rheos_tensor_data(fetched.value), 21, 0);
  rheos_tensor_unref(fetched.value);
  assert_float_equal(call_line(model, 2), 6, 0);
  rheos_saved_model_free(model);
  remove_model(folder);
}

static void test_saved_model__builder_writes_several_graphs_and_assets(void **state) {
  (void)state;
  line_graph l = new_line(true);
  char *folder = new_folder(), *other = new_folder();
  char *asset_path = rheos__path_join(other, "words.txt");
  write_bytes(asset_path, "a\nb\n", 4);
  rheos_tensor *text;
  expect_ok(rheos_tensor_new(RHEOS_STRING, RHEOS_SCALAR, &text));
  expect_ok(rheos_tensor_set_string(text, 0, asset_path, strlen(asset_path)));
  const rheos_output path = rheos_constant(l.scope, text, "path");
  // Reads the asset when the model is loaded.
  const rheos_output content = rheos_read_file(l.scope, path);
  const rheos_operation init = rheos_output_operation(content);
  const rheos_argument in = {.name = "in", .tensor = l.x}, out = {.name = "out", .tensor = l.y};
  const rheos_argument sparse = {
      .name = "sparse", .tensor = l.x, .indices = l.x, .dense_shape = l.y};
  const rheos_signature signatures[] = {
      {.inputs = &in, .num_inputs = 1, .outputs = &out, .num_outputs = 1},
      {.key = "other", .method_name = "m", .inputs = &sparse, .num_inputs = 1}};
  const rheos_asset asset = {asset_path, path};
  const char *tags[] = {"serve", "gpu"};
  rheos_meta_graph_options options = {.tags = tags,
                                      .num_tags = 1,
                                      .signatures = signatures,
                                      .num_signatures = 2,
                                      .assets = &asset,
                                      .num_assets = 1,
                                      .init = init};
  rheos_saved_model_builder *builder;
  expect_ok(rheos_saved_model_builder_new(folder, &builder));
  expect_ok(rheos_saved_model_builder_add(builder, l.session, &options));
  options.num_tags = 2;
  options.num_signatures = 1;
  expect_ok(rheos_saved_model_builder_add(builder, l.session, &options));
  expect_ok(rheos_saved_model_builder_save(builder, true));
  rheos_saved_model_builder_free(builder);
  rheos_tensor_unref(text);
  line_free(&l);
  remove_folder(other);  // the asset is read where it was copied to

  rheos_saved_model *model;
  expect_ok(rheos_saved_model_load(folder, tags, 1, NULL, &model));
  assert_float_equal(call_line(model, 5), 15, 0);
  const rheos_meta_graph *m = rheos_saved_model_meta_graph(model);
  assert_int_equal(m->num_assets, 1);
  assert_string_equal(m->assets[0].file_name, "words.txt");
  const rheos_signature_def *s = rheos_meta_graph_signature(m, "other");
  assert_string_equal(s->method_name, "m");
  assert_string_equal(s->inputs[0].dense_shape_name, "y:0");
  rheos_saved_model_free(model);
  expect_ok(rheos_saved_model_load(folder, tags, 2, NULL, &model));
  assert_float_equal(call_line(model, 1), 3, 0);
  rheos_saved_model_free(model);
  char *copied = rheos__path_join(folder, "assets/words.txt");
  unlink(copied);
  expect_error(rheos_saved_model_load(folder, tags, 2, NULL, &model), RHEOS_NOT_FOUND, copied);
  rheos__free(copied);
  rheos__free(asset_path);
  remove_model(folder);
}

// ---- Failing allocations

static rheos_status *write_part(void *data) {
  void *out;
  size_t out_bytes;
  const rheos_meta_graph_options options = {.export_scope = "net", .clear_devices = true};
  rheos_status *status = rheos_graph_to_meta_graph_def(data, &options, &out, &out_bytes);
  rheos_free(out);
  return status;
}

static rheos_status *import_and_export(void *data) {
  const bytes *b = data;
  rheos_meta_graph *meta_graph = NULL;
  void *out = NULL;
  size_t out_bytes;
  rheos_status *status = rheos_meta_graph_parse(b->data, b->size_bytes, &meta_graph);
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = graph != NULL ? rheos_scope_new(graph) : NULL;
  if (status == NULL && scope == NULL) status = rheos__out_of_memory();
  if (status == NULL) {
    const rheos_saver saver = rheos_import_meta_graph(scope, meta_graph, NULL);
    const rheos_meta_graph_options options = {.saver = &saver, .strip_default_attrs = true};
    status = rheos_scope_finish(scope);
    if (status == NULL) {
      status = rheos_graph_to_meta_graph_def(graph, &options, &out, &out_bytes);
    }
  }
  rheos_free(out);
  rheos_scope_free(scope);
  rheos_graph_unref(graph);
  rheos_meta_graph_free(meta_graph);
  return status;
}

static void test_meta_graph__any_allocation_may_fail(void **state) {
  (void)state;
  line_graph l = new_line(true);
  void *out;
  bytes b;
  expect_ok(rheos_graph_to_meta_graph_def(l.graph, NULL, &out, &b.size_bytes));
  b.data = out;
  line_free(&l);
  sweep_allocations(import_and_export, &b);
  rheos_free(out);
  rheos_graph *net = new_net();
  sweep_allocations(write_part, net);
  rheos_graph_unref(net);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_meta_graph__training_goes_on),
      cmocka_unit_test(test_meta_graph__training_goes_on_below_a_prefix),
      cmocka_unit_test(test_meta_graph__collections_come_along),
      cmocka_unit_test(test_meta_graph__names_in_collections_follow_the_prefix),
      cmocka_unit_test(test_meta_graph__what_is_written_comes_back),
      cmocka_unit_test(test_meta_graph__mixed_collections_are_refused),
      cmocka_unit_test(test_meta_graph__without_a_saver_one_is_made),
      cmocka_unit_test(test_meta_graph__a_scope_is_written_without_its_name),
      cmocka_unit_test(test_meta_graph__other_savers_are_left_out),
      cmocka_unit_test(test_meta_graph__a_scope_that_was_imported_is_written_as_it_was),
      cmocka_unit_test(test_saved_model__simple_save_is_loaded),
      cmocka_unit_test(test_saved_model__defaults_are_fed),
      cmocka_unit_test(test_saved_model__builder_writes_several_graphs_and_assets),
      cmocka_unit_test(test_meta_graph__any_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
