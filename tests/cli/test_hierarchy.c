// Scopes, series, crowds and links of graphs that are made here; what must hold of each hierarchy
// is checked of random ones, too.
#include "../../cli/page/hierarchy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../cli/command.h"

// The command's own are in its main file.
void *command_alloc(size_t size_bytes) {
  void *memory = calloc(1, size_bytes > 0 ? size_bytes : 1);
  assert_non_null(memory);
  return memory;
}

void *command_realloc(void *memory, size_t size_bytes) {
  memory = realloc(memory, size_bytes > 0 ? size_bytes : 1);
  assert_non_null(memory);
  return memory;
}

// ---- Graphs

enum { MOST_INPUTS = 4 };

typedef struct test_graph {
  hierarchy_nodes nodes;
  char **names;
  char **ops;
  const char **frames;
  size_t *first_edge;
  hierarchy_edge *edges;
  int32_t capacity;
} test_graph;

static test_graph new_graph(int32_t capacity) {
  test_graph g = {.capacity = capacity};
  const size_t count = (size_t)capacity;
  g.names = calloc(count, sizeof *g.names);
  g.ops = calloc(count, sizeof *g.ops);
  g.frames = calloc(count, sizeof *g.frames);
  g.first_edge = calloc(count + 1, sizeof *g.first_edge);
  g.edges = calloc(count * MOST_INPUTS, sizeof *g.edges);
  return g;
}

static int32_t add_node(test_graph *g, const char *name, const char *op) {
  const int32_t node = g->nodes.count++;
  assert_true(node < g->capacity);
  g->names[node] = strdup(name);
  g->ops[node] = strdup(op);
  g->first_edge[node + 1] = g->first_edge[node];
  return node;
}

// Of the node that was added last.
static void add_input(test_graph *g, int32_t from, int32_t output, int32_t type, int64_t bytes) {
  const size_t at = g->first_edge[g->nodes.count]++;
  assert_true(at < (size_t)g->capacity * MOST_INPUTS);
  g->edges[at] = (hierarchy_edge){from, output, type, bytes};
}

static hierarchy hierarchy_of(test_graph *g) {
  hierarchy h;
  g->nodes.names = (const char *const *)g->names;
  g->nodes.ops = (const char *const *)g->ops;
  g->nodes.frames = g->frames;
  g->nodes.first_edge = g->first_edge;
  g->nodes.edges = g->edges;
  hierarchy_init(&h, &g->nodes);
  return h;
}

static void free_graph(test_graph *g) {
  for (int32_t i = 0; i < g->nodes.count; i++) {
    free(g->names[i]);
    free(g->ops[i]);
  }
  free(g->names);
  free(g->ops);
  free(g->frames);
  free(g->first_edge);
  free(g->edges);
}

// The item with a label, in the order of items from `first` on; -1: none.
static int32_t find(const hierarchy *h, const char *label, int32_t first) {
  for (int32_t i = first; i < h->count; i++) {
    if (h->items[i].label_bytes == strlen(label) &&
        memcmp(h->items[i].label, label, strlen(label)) == 0) {
      return i;
    }
  }
  return -1;
}

static const hierarchy_link *link_between(const hierarchy *h, int32_t from, int32_t to) {
  for (size_t i = 0; i < h->num_links; i++) {
    if (h->links[i].from == from && h->links[i].to == to) return &h->links[i];
  }
  return NULL;
}

// ---- What holds of each

static void check_items(const hierarchy *h) {
  const int32_t root = hierarchy_root(h);
  int32_t *sums = calloc((size_t)h->count, sizeof *sums),
          *drawn = calloc((size_t)h->count, sizeof *drawn);
  int32_t *members = calloc((size_t)h->count, sizeof *members);
  for (int32_t i = 0; i < h->count; i++) {
    const hierarchy_item *item = &h->items[i];
    assert_int_equal(item->kind == ITEM_NODE, i < root);
    if (i == root) {
      assert_int_equal(item->parent, -1);
      continue;
    }
    assert_in_range(item->parent, root, h->count - 1);
    members[item->parent]++;
    drawn[item->parent] += item->aside == ASIDE_NOT;
    int32_t depth = 0;
    for (int32_t at = i; at != root; at = h->items[at].parent) {
      assert_true(depth++ < h->count);
      if (i < root) sums[h->items[at].parent]++;
    }
  }
  for (int32_t i = root; i < h->count; i++) {
    assert_int_equal(h->items[i].num_nodes, sums[i]);
    assert_true(drawn[i] <= HIERARCHY_MOST_BOXES);
    if (i > root) assert_true(members[i] > 0);
  }
  free(sums);
  free(drawn);
  free(members);
}

// All edges but those from a node to itself, and missing ones, are in the links, once.
static void check_links(const hierarchy *h) {
  int64_t edges = 0, linked = 0;
  for (int32_t i = 0; i < h->nodes.count; i++) {
    for (size_t at = h->nodes.first_edge[i]; at < h->nodes.first_edge[i + 1]; at++) {
      const int32_t from = h->nodes.edges[at].from;
      edges += from != HIERARCHY_MISSING && from != i;
    }
  }
  for (size_t i = 0; i < h->num_links; i++) {
    const hierarchy_link *link = &h->links[i];
    assert_int_equal(h->items[link->from].parent, link->group);
    assert_int_equal(h->items[link->to].parent, link->group);
    assert_int_not_equal(link->from, link->to);
    assert_true(link->count + link->controls > 0);
    linked += link->count + link->controls;
    if (i == 0) continue;
    const hierarchy_link *before = &h->links[i - 1];
    assert_true(
        before->group < link->group ||
        (before->group == link->group &&
         (before->from < link->from || (before->from == link->from && before->to < link->to))));
  }
  assert_int_equal(edges, linked);
}

// What groups and labels say of a node's name, from its end on: scopes with their labels, and what
// is named elsewhere begins anew.
static void check_name(const hierarchy *h, int32_t node) {
  const char *name = h->nodes.names[node];
  size_t left = strlen(name);
  for (int32_t at = node; at != hierarchy_root(h); at = h->items[at].parent) {
    const hierarchy_item *item = &h->items[at];
    if (item->kind == ITEM_ELSEWHERE) break;
    if ((item->kind != ITEM_NODE && item->kind != ITEM_SCOPE) || item->label_bytes == 0) continue;
    if (left < strlen(name)) assert_int_equal(name[--left], '/');
    assert_true(left >= item->label_bytes);
    left -= item->label_bytes;
    assert_memory_equal(name + left, item->label, item->label_bytes);
  }
  assert_int_equal(left, 0);
}

static void check(const hierarchy *h) {
  check_items(h);
  for (int32_t i = 0; i < h->nodes.count; i++) check_name(h, i);
  check_links(h);
}

// ---- Tests

static void test_hierarchy__nodes_lie_in_scopes_and_links_in_their_common_one(void **state) {
  (void)state;
  test_graph g = new_graph(8);
  const int32_t x = add_node(&g, "x", "Placeholder");
  const int32_t one = add_node(&g, "a/b/one", "Neg");
  add_input(&g, x, 0, 7, 100);
  const int32_t two = add_node(&g, "a/b/two", "Abs");
  add_input(&g, one, 0, 7, 100);
  add_input(&g, x, HIERARCHY_CONTROL, 0, 0);
  const int32_t named = add_node(&g, "a/b", "Add");
  add_input(&g, two, 0, 7, 100);
  add_input(&g, x, 1, 8, 50);
  add_node(&g, "a/c", "Exp");
  add_input(&g, named, 0, 7, 100);
  hierarchy h = hierarchy_of(&g);
  check(&h);
  const int32_t a = find(&h, "a", hierarchy_root(&h)), b = find(&h, "b", hierarchy_root(&h));
  assert_int_equal(h.items[named].parent, b);
  assert_int_equal(h.items[named].label_bytes, 0);
  assert_int_equal(h.items[b].parent, a);
  const hierarchy_link *link = link_between(&h, x, a);
  assert_int_equal(link->count, 2);
  assert_int_equal(link->controls, 1);
  assert_int_equal(link->type, HIERARCHY_MIXED);
  assert_int_equal(link->bytes, 150);
  assert_int_equal(link_between(&h, one, two)->type, 7);
  assert_int_equal(link_between(&h, b, 4)->count, 1);
  hierarchy_deinit(&h);
  free_graph(&g);
}

static void test_hierarchy__scopes_of_one_item_are_a_part_of_its_label(void **state) {
  (void)state;
  test_graph g = new_graph(4);
  add_node(&g, "p/q/r/one", "Neg");
  add_node(&g, "p/q/r/two", "Neg");
  add_node(&g, "lone/some/node", "Neg");
  hierarchy h = hierarchy_of(&g);
  check(&h);
  assert_true(find(&h, "p/q/r", hierarchy_root(&h)) > 0);
  assert_int_equal(find(&h, "lone/some/node", 0), 2);
  assert_int_equal(h.items[2].parent, hierarchy_root(&h));
  hierarchy_deinit(&h);
  free_graph(&g);
}

static void add_layer(test_graph *g, const char *scope, const char *op, int32_t *last) {
  char name[64];
  snprintf(name, sizeof name, "%s/in", scope);
  const int32_t in = add_node(g, name, "Neg");
  add_input(g, *last, 0, 1, 8);
  snprintf(name, sizeof name, "%s/out", scope);
  *last = add_node(g, name, op);
  add_input(g, in, 0, 1, 8);
}

static void test_hierarchy__layers_of_one_structure_are_a_series(void **state) {
  (void)state;
  test_graph g = new_graph(32);
  int32_t last = add_node(&g, "x", "Placeholder");
  add_layer(&g, "net/layer", "Relu", &last);
  add_layer(&g, "net/layer_1", "Relu", &last);
  add_layer(&g, "net/layer_2", "Tanh", &last);
  add_layer(&g, "net/layer_3", "Relu", &last);
  add_layer(&g, "net/head_9", "Relu", &last);
  hierarchy h = hierarchy_of(&g);
  check(&h);
  const int32_t series = h.items[find(&h, "layer_1", 0)].parent;
  assert_int_equal(h.items[series].kind, ITEM_SERIES);
  assert_int_equal(h.items[series].num_nodes, 6);
  assert_int_equal(h.items[find(&h, "layer_3", 0)].parent, series);
  assert_int_equal(h.items[find(&h, "layer_2", 0)].kind, ITEM_SCOPE);
  assert_int_not_equal(h.items[find(&h, "layer_2", 0)].parent, series);
  assert_int_not_equal(h.items[find(&h, "head_9", 0)].parent, series);
  // By structure alone the head is one of them.
  assert_int_not_equal(h.classes[find(&h, "head_9", 0)], 0);
  assert_int_equal(h.classes[find(&h, "head_9", 0)], h.classes[find(&h, "layer_1", 0)]);
  assert_int_equal(h.classes[find(&h, "layer_2", 0)], 0);
  hierarchy_deinit(&h);
  free_graph(&g);
}

// Products of a model without scopes have numbers, too, but neighbours of their own.
static void test_hierarchy__nodes_are_a_series_where_they_are_linked_alike(void **state) {
  (void)state;
  test_graph g = new_graph(64);
  char name[32];
  int32_t last = add_node(&g, "x", "Placeholder");
  for (int i = 0; i < 6; i++) {
    snprintf(name, sizeof name, "MatMul_%d", i);
    const int32_t product = add_node(&g, name, "MatMul");
    add_input(&g, last, 0, 1, 8);
    snprintf(name, sizeof name, "Relu_%d", i);
    last = add_node(&g, name, "Relu");
    add_input(&g, product, 0, 1, 8);
  }
  for (int i = 0; i < 6; i++) {
    snprintf(name, sizeof name, "leaf_%d", i);
    add_node(&g, name, "Neg");
    add_input(&g, last, 0, 1, 8);
  }
  hierarchy h = hierarchy_of(&g);
  check(&h);
  assert_int_equal(h.items[find(&h, "MatMul_3", 0)].parent, hierarchy_root(&h));
  assert_int_equal(h.items[h.items[find(&h, "leaf_3", 0)].parent].kind, ITEM_SERIES);
  hierarchy_deinit(&h);
  free_graph(&g);
}

static void test_hierarchy__what_a_drawing_can_do_without_stands_aside(void **state) {
  (void)state;
  test_graph g = new_graph(32);
  const int32_t zeros = add_node(&g, "w/Initializer/zeros", "Fill");
  const int32_t w = add_node(&g, "w", "VariableV2");
  const int32_t assign = add_node(&g, "w/Assign", "Assign");
  add_input(&g, w, 0, 1, 8);
  add_input(&g, zeros, 0, 1, 8);
  const int32_t init = add_node(&g, "init", "NoOp");
  add_input(&g, assign, HIERARCHY_CONTROL, 0, 0);
  const int32_t tag = add_node(&g, "loss/tags", "Const");
  const int32_t loss = add_node(&g, "mean", "Mean");
  add_input(&g, w, 0, 1, 8);
  const int32_t summary = add_node(&g, "loss", "ScalarSummary");
  add_input(&g, tag, 0, 1, 8);
  add_input(&g, loss, 0, 1, 8);
  const int32_t prefix = add_node(&g, "save/Const", "Const");
  const int32_t save = add_node(&g, "save/SaveV2", "SaveV2");
  add_input(&g, prefix, 0, 1, 8);
  add_input(&g, w, 0, 1, 8);
  const int32_t step = add_node(&g, "step", "AssignSub");
  add_input(&g, w, 0, 1, 8);
  add_input(&g, loss, 0, 1, 8);
  const int32_t train = add_node(&g, "train", "NoOp");
  add_input(&g, step, HIERARCHY_CONTROL, 0, 0);
  add_input(&g, HIERARCHY_MISSING, 0, 0, 0);
  hierarchy h = hierarchy_of(&g);
  check(&h);
  assert_int_equal(h.items[zeros].aside, ASIDE_INITIALIZER);
  assert_int_equal(h.items[assign].aside, ASIDE_INITIALIZER);
  assert_int_equal(h.items[init].aside, ASIDE_INITIALIZER);
  assert_int_equal(h.items[tag].aside, ASIDE_SUMMARY);
  assert_int_equal(h.items[summary].aside, ASIDE_SUMMARY);
  assert_int_equal(h.items[prefix].aside, ASIDE_SAVER);
  assert_int_equal(h.items[save].aside, ASIDE_SAVER);
  assert_int_equal(h.items[h.items[save].parent].aside, ASIDE_SAVER);
  for (size_t i = 0; i < 4; i++) {
    const int32_t kept[] = {w, loss, step, train};
    assert_int_equal(h.items[kept[i]].aside, ASIDE_NOT);
  }
  hierarchy_deinit(&h);
  free_graph(&g);
}

// A loop that begins with a node of its own: x -> Enter -> Merge -> body -> NextIteration and Exit.
static int32_t add_loop(test_graph *g, const char *scope, const char *frame, int32_t from) {
  static const char *const ops[] = {"Enter", "Merge", "Switch", "Neg", "NextIteration", "Exit"};
  char name[64];
  int32_t last = from;
  for (int i = 0; i < 6; i++) {
    snprintf(name, sizeof name, "%s%s%s", scope, scope[0] != '\0' ? "/" : "", ops[i]);
    const int32_t node = add_node(g, name, ops[i]);
    if (i == 0) g->frames[node] = frame;
    add_input(g, i == 5 ? node - 3 : last, 0, 1, 8);
    last = node;
  }
  return last;
}

static void test_hierarchy__a_loops_scope_takes_what_of_it_is_named_elsewhere(void **state) {
  (void)state;
  test_graph g = new_graph(32);
  const int32_t x = add_node(&g, "x", "Placeholder");
  add_node(&g, "net/w", "VariableV2");
  const int32_t exit = add_loop(&g, "net/while", "net/while/while_context", x);
  const int32_t after = add_node(&g, "net/after", "Neg");
  add_input(&g, exit, 0, 1, 8);
  const int32_t counter = add_node(&g, "gradients/f_count", "Enter");
  g.frames[counter] = "net/while/while_context";
  add_input(&g, x, 0, 1, 8);
  const int32_t push = add_node(&g, "gradients/Push", "StackPushV2");
  add_input(&g, exit - 2, 0, 1, 8);
  const int32_t gradient = add_node(&g, "gradients/net", "Neg");
  add_input(&g, after, 0, 1, 8);
  hierarchy h = hierarchy_of(&g);
  check(&h);
  const int32_t loop = find(&h, "while", hierarchy_root(&h));
  assert_string_equal(h.items[loop].loop, "net/while/while_context");
  assert_int_equal(h.items[loop].kind, ITEM_SCOPE);
  assert_int_equal(h.items[exit].parent, loop);
  assert_int_equal(h.items[loop].num_nodes, 8);
  assert_int_not_equal(h.items[after].parent, loop);
  const int32_t scope = h.items[counter].parent;
  assert_int_equal(h.items[push].parent, scope);
  assert_int_equal(h.items[h.items[scope].parent].kind, ITEM_ELSEWHERE);
  assert_int_equal(h.items[h.items[scope].parent].parent, loop);
  assert_int_equal(h.items[gradient].parent, hierarchy_root(&h));
  hierarchy_deinit(&h);
  free_graph(&g);
}

static void test_hierarchy__a_loop_without_a_scope_is_a_group(void **state) {
  (void)state;
  test_graph g = new_graph(64);
  const int32_t x = add_node(&g, "x", "Placeholder");
  const int32_t outer = add_loop(&g, "", "outer", x);
  const int32_t inner = add_loop(&g, "inner", "inner", outer - 2);  // in the body
  const int32_t other = add_loop(&g, "inner/deep", "third", inner - 2);
  hierarchy h = hierarchy_of(&g);
  check(&h);
  const int32_t loop = h.items[outer].parent, body = h.items[inner].parent;
  assert_int_equal(h.items[loop].kind, ITEM_LOOP);
  assert_int_equal(h.items[loop].parent, hierarchy_root(&h));
  assert_int_equal(h.items[loop].num_nodes, 18);
  assert_string_equal(h.items[body].loop, "inner");
  assert_int_equal(h.items[body].parent, loop);
  assert_string_equal(h.items[h.items[other].parent].loop, "third");
  assert_int_equal(h.items[h.items[other].parent].parent, body);
  assert_int_equal(h.items[x].parent, hierarchy_root(&h));
  hierarchy_deinit(&h);
  free_graph(&g);
}

static void test_hierarchy__frames_may_nest_and_go_round_without_end(void **state) {
  (void)state;
  enum { COUNT = 3000 };
  test_graph g = new_graph(COUNT);
  char name[16];
  for (int32_t i = 0; i < COUNT; i++) {
    snprintf(name, sizeof name, "e%d", (int)i);
    const int32_t node = add_node(&g, name, "Enter");
    g.frames[node] = i % 2 == 0 ? "a" : "b";
    add_input(&g, i > 0 ? i - 1 : COUNT - 1, 0, 1, 8);
  }
  hierarchy h = hierarchy_of(&g);
  check(&h);
  hierarchy_deinit(&h);
  free_graph(&g);
}

static void test_hierarchy__siblings_are_cut_into_crowds_of_what_is_linked(void **state) {
  (void)state;
  enum { CHAINS = 40, LENGTH = 10 };
  test_graph g = new_graph(CHAINS * LENGTH);
  static const char *const ops[] = {"Neg", "Abs", "Exp", "Log", "Tanh"};
  char name[32];
  for (int k = 0; k < LENGTH; k++) {
    for (int c = 0; c < CHAINS; c++) {
      snprintf(name, sizeof name, "n%c%d", 'a' + c % 26, c * 100 + k);
      add_node(&g, name, ops[(c + k * k) % 5]);
      if (k > 0) add_input(&g, (k - 1) * CHAINS + c, 0, 1, 8);
    }
  }
  hierarchy h = hierarchy_of(&g);
  check(&h);
  // Of a chain most steps are in one crowd.
  int32_t together = 0;
  for (int32_t i = CHAINS; i < CHAINS * LENGTH; i++) {
    together += h.items[i].parent == h.items[i - CHAINS].parent;
  }
  assert_true(together > CHAINS * LENGTH / 2);
  hierarchy_deinit(&h);
  free_graph(&g);
}

static uint32_t random_number(uint32_t *seed) {
  *seed = *seed * 1664525 + 1013904223;
  return *seed >> 8;
}

// Labels of few letters, so that names meet: empty ones, slashes, names that are scopes, and loops.
static void test_hierarchy__random_graphs_keep_the_rules(void **state) {
  (void)state;
  static const char letters[] = "//ab01_";
  static const char *const ops[] = {"Const",     "NoOp",  "Assign", "SaveV2", "Neg",
                                    "RestoreV2", "Enter", "Exit",   "Merge"};
  static const char *const frames[] = {"a", "b/a", ""};
  for (uint32_t round = 0; round < 600; round++) {
    uint32_t seed = round;
    const int32_t count = (int32_t)(random_number(&seed) % (round % 50 == 0 ? 2000 : 40));
    test_graph g = new_graph(count + 1);
    for (int32_t i = 0; i < count; i++) {
      char name[24] = "";
      const size_t length = random_number(&seed) % sizeof name;
      for (size_t k = 0; k < length; k++) name[k] = letters[random_number(&seed) % 7];
      name[length > 0 ? length - 1 : 0] = '\0';
      const int32_t node = add_node(&g, name, ops[random_number(&seed) % (round % 2 == 0 ? 6 : 9)]);
      const bool is_enter = strcmp(g.ops[node], "Enter") == 0;
      if (is_enter) g.frames[node] = frames[random_number(&seed) % 3];
      for (uint32_t k = random_number(&seed) % 4; k > 0; k--) {
        const int32_t from = (int32_t)(random_number(&seed) % (uint32_t)(count + 1)) - 1;
        add_input(&g, from, (int32_t)(random_number(&seed) % 3) - 1, (int32_t)k, INT64_MAX / 2);
      }
    }
    hierarchy h = hierarchy_of(&g);
    check(&h);
    hierarchy_deinit(&h);
    free_graph(&g);
  }
}

static void test_hierarchy__names_of_many_scopes_are_cut(void **state) {
  (void)state;
  test_graph g = new_graph(300);
  char name[8192] = "";
  for (int32_t i = 0; i < 300; i++) {
    strcat(name, i == 0 ? "a" : "/a");
    add_node(&g, name, "Neg");
  }
  hierarchy h = hierarchy_of(&g);
  check(&h);
  int32_t *depths = hierarchy_depths(&h);
  for (int32_t i = 0; i < h.count; i++) assert_true(depths[i] <= HIERARCHY_MOST_DEPTH + 8);
  free(depths);
  hierarchy_deinit(&h);
  free_graph(&g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_hierarchy__nodes_lie_in_scopes_and_links_in_their_common_one),
      cmocka_unit_test(test_hierarchy__scopes_of_one_item_are_a_part_of_its_label),
      cmocka_unit_test(test_hierarchy__layers_of_one_structure_are_a_series),
      cmocka_unit_test(test_hierarchy__nodes_are_a_series_where_they_are_linked_alike),
      cmocka_unit_test(test_hierarchy__what_a_drawing_can_do_without_stands_aside),
      cmocka_unit_test(test_hierarchy__a_loops_scope_takes_what_of_it_is_named_elsewhere),
      cmocka_unit_test(test_hierarchy__a_loop_without_a_scope_is_a_group),
      cmocka_unit_test(test_hierarchy__frames_may_nest_and_go_round_without_end),
      cmocka_unit_test(test_hierarchy__siblings_are_cut_into_crowds_of_what_is_linked),
      cmocka_unit_test(test_hierarchy__random_graphs_keep_the_rules),
      cmocka_unit_test(test_hierarchy__names_of_many_scopes_are_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
