// What rheos__plan_new() leaves behind: order, waits, effects and levels, by what is printed of a
// plan; that waits outlive what rules drop; and that random graphs wait for all that they asked
// for.
#include "ops/array_fixture.h"
#include "plan/plan_text.h"
#include "plan/show/print.h"

enum { MOST = 8, NUM_GRAPHS = 1000, NODES = 40, MANY = 300 };

static const rheos_rewrite_options AS_WRITTEN = {.disable_meta_optimizer = true};

// ---- Building

static rheos_operation node(fixture *f, const char *type, const char *name,
                            const rheos_output *inputs, int num_inputs,
                            const rheos_operation *controls, int num_controls) {
  return rheos_op(f->scope, &(rheos_op_args){.type = type,
                                             .name = name,
                                             .inputs = inputs,
                                             .num_inputs = (size_t)num_inputs,
                                             .control_inputs = controls,
                                             .num_control_inputs = (size_t)num_controls});
}

static rheos_output unary(fixture *f, const char *type, const char *name, rheos_output x,
                          const rheos_operation *control) {
  return rheos_operation_output(node(f, type, name, &x, 1, control, control != NULL), 0);
}

static rheos_output variable(fixture *f, const char *name) {
  const rheos_shape shape = RHEOS_SHAPE(2);
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", &shape)};
  return rheos_operation_output(
      rheos_op(
          f->scope,
          &(rheos_op_args){.type = "VariableV2", .name = name, .attrs = attrs, .num_attrs = 2}),
      0);
}

static rheos_output placeholder(fixture *f, const char *name) {
  const rheos_shape shape = RHEOS_SHAPE(2);
  return rheos_placeholder(f->scope, RHEOS_FLOAT, .shape = &shape, .name = name);
}

static rheos_operation add_to(fixture *f, const char *name, rheos_output v, rheos_output x,
                              const rheos_operation *control) {
  const rheos_output inputs[] = {v, x};
  return node(f, "AssignAdd", name, inputs, 2, control, control != NULL);
}

// ---- Planning

// What a step takes and gives.
typedef struct request {
  rheos_output feeds[MOST], fetches[MOST];
  int num_feeds, num_fetches;
  rheos_operation target;  // graph NULL: none
} request;

static rheos_status *try_plan(fixture *f, const request *r, const rheos_rewrite_options *rewrites,
                              rheos__plan **out_plan) {
  rheos__edge feeds[MOST], fetches[MOST];
  for (int i = 0; i < r->num_feeds; ++i)
    feeds[i] = (rheos__edge){r->feeds[i].id, r->feeds[i].index};
  for (int i = 0; i < r->num_fetches; ++i) {
    fetches[i] = (rheos__edge){r->fetches[i].id, r->fetches[i].index};
  }
  rheos__plan_context context = {.devices = plan_devices(), .num_devices = 1};
  if (rewrites != NULL) context.rewrites = *rewrites;
  return rheos__plan_new(f->graph, &context, feeds, r->num_feeds, fetches, r->num_fetches,
                         &r->target.id, r->target.graph != NULL, out_plan);
}

static rheos__plan *plan_of(fixture *f, const request *r, const rheos_rewrite_options *rewrites) {
  check(rheos_scope_finish(f->scope));
  rheos__graph_check(f->graph);
  rheos__plan *plan = NULL;
  check(try_plan(f, r, rewrites, &plan));
  rheos__plan_check(plan);
  return plan;
}

static void expect_plan(fixture *f, const request *r, const rheos_rewrite_options *rewrites,
                        const char *expected) {
  rheos__plan *plan = plan_of(f, r, rewrites);
  rheos__text text = {0};
  check(rheos__plan_print(plan, &text));
  assert_string_equal(text.data, expected);
  rheos__text_deinit(&text);
  rheos__plan_free(plan);
}

// ---- Waits

// y = Neg(x), after v += x.
static request after_write(fixture *f) {
  const rheos_output x = placeholder(f, "x");
  const rheos_operation write = add_to(f, "write", variable(f, "v"), x, NULL);
  return (request){
      .feeds = {x}, .num_feeds = 1, .fetches = {unary(f, "Neg", "y", x, &write)}, .num_fetches = 1};
}

static void test_plan__control_edges_become_waits(void **state) {
  fixture *f = *state;
  const request r = after_write(f);
  expect_plan(f, &r, &AS_WRITTEN,
              "plan: entries 3, values 4\n"
              "feeds\n"
              "  v0 x float\n"
              "entries\n"
              "  e0 v = VariableV2() -> v1\n"
              "  e1 write = AssignAdd(v1, v0) -> v2; writes v1\n"
              "  e2 y = Neg(v0) -> v3; level 1; waits for e1\n"
              "fetches\n"
              "  v3 y float\n");
}

static void test_plan__a_feed_is_waited_for_by_nobody(void **state) {
  fixture *f = *state;
  request r = after_write(f);
  const rheos_operation y = {f->graph, r.fetches[0].id};
  const rheos_output z = unary(f, "Neg", "z", r.feeds[0], &y);
  r.feeds[1] = r.fetches[0];
  r.num_feeds = 2;
  r.fetches[0] = z;
  expect_plan(f, &r, &AS_WRITTEN,
              "plan: entries 1, values 3\n"
              "feeds\n"
              "  v0 x float\n"
              "  v1 y float\n"
              "entries\n"
              "  e0 z = Neg(v0) -> v2\n"
              "fetches\n"
              "  v2 z float\n");
}

static void test_plan__waits_outlive_no_ops_and_identities(void **state) {
  fixture *f = *state;
  const rheos_output x = placeholder(f, "x");
  const rheos_operation writes[] = {add_to(f, "one", variable(f, "v"), x, NULL),
                                    add_to(f, "two", variable(f, "w"), x, NULL)};
  const rheos_operation both = node(f, "NoOp", "both", NULL, 0, writes, 2);
  const rheos_operation again = node(f, "NoOp", "again", NULL, 0, &both, 1);
  const rheos_output same = unary(f, "Identity", "same", x, &again);
  const request r = {.feeds = {x},
                     .num_feeds = 1,
                     .fetches = {unary(f, "Neg", "y", same, NULL)},
                     .num_fetches = 1};
  rheos__plan *plan = plan_of(f, &r, NULL);
  rheos__text text = {0};
  check(rheos__plan_print(plan, &text));
  assert_non_null(strstr(text.data,
                         "  e2 one = AssignAdd(v1, v0) -> v3; writes v1\n"
                         "  e3 two = AssignAdd(v2, v0) -> v4; writes v2\n"
                         "  e4 y = Neg(v0) -> v5; level 1; waits for e2 e3\n"));
  rheos__text_deinit(&text);
  rheos__plan_free(plan);
}

// ---- Reaching

// The entries that each entry comes after, by operands, waits and joins.
typedef struct order {
  const rheos__plan *plan;
  bool *before;  // [entry][entry]
} order;

static void follow(const order *o, bool *row, int32_t entry) {
  row[entry] = true;
  for (int32_t i = 0; i < o->plan->num_entries; ++i) {
    row[i] = row[i] || o->before[(int64_t)entry * o->plan->num_entries + i];
  }
}

static void follow_waits(const order *o, bool *row, int32_t first, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    const int32_t wait = o->plan->waits[first + i];
    if (wait >= 0) {
      follow(o, row, wait);
    } else {
      const rheos__join join = o->plan->joins[~wait];
      follow_waits(o, row, join.first_wait, join.num_waits);
    }
  }
}

static order order_of(const rheos__plan *plan) {
  const size_t count = (size_t)plan->num_entries;
  order o = {plan, calloc(count * count + 1, sizeof(bool))};
  assert_non_null(o.before);
  for (int32_t i = 0; i < plan->num_entries; ++i) {
    const rheos__entry *entry = &plan->entries[i];
    bool *row = o.before + (size_t)i * count;
    for (int32_t k = 0; k < entry->num_inputs; ++k) {
      const int32_t from = rheos__plan_producer(plan, plan->operands[entry->first_operand + k]);
      if (from >= 0) follow(&o, row, from);
    }
    follow_waits(&o, row, entry->first_wait, entry->num_waits);
  }
  return o;
}

static bool comes_after(const order *o, int32_t entry, int32_t other) {
  return o->before[(int64_t)entry * o->plan->num_entries + other];
}

// The entry that gives the outputs of the node; -1 if none does.
static int32_t entry_of(const rheos__plan *plan, int32_t id) {
  for (int32_t i = 0; i < plan->num_entries; ++i) {
    if (plan->entries[i].kind != RHEOS__ENTRY_READ &&
        rheos__entry_node(plan, &plan->entries[i]) == id) {
      return i;
    }
  }
  return -1;
}

static void expect_order(fixture *f, const request *r, rheos_operation first,
                         rheos_operation second) {
  rheos__plan *plan = plan_of(f, r, NULL);
  order o = order_of(plan);
  const int32_t before = entry_of(plan, first.id), after = entry_of(plan, second.id);
  assert_true(before >= 0 && after >= 0);
  assert_true(comes_after(&o, after, before));
  free(o.before);
  rheos__plan_free(plan);
}

static void test_plan__waits_outlive_what_is_merged(void **state) {
  fixture *f = *state;
  const rheos_output x = placeholder(f, "x");
  const rheos_operation write = add_to(f, "write", variable(f, "v"), x, NULL);
  const rheos_output free_one = unary(f, "Neg", "free", x, NULL);
  const rheos_output waiting = unary(f, "Neg", "waiting", x, &write);
  const rheos_output user = unary(f, "Exp", "user", waiting, NULL);
  const request r = {.feeds = {x}, .num_feeds = 1, .fetches = {free_one, user}, .num_fetches = 2};
  expect_order(f, &r, write, (rheos_operation){f->graph, user.id});
}

static void test_plan__waits_outlive_what_is_fused(void **state) {
  fixture *f = *state;
  const float numbers[] = {1, 2, 3, 4};
  const rheos_shape shape = RHEOS_SHAPE(2, 2);
  const rheos_output x = placeholder(f, "x");
  const rheos_output a = floats(f, shape, numbers);
  const rheos_output m = rheos_placeholder(f->scope, RHEOS_FLOAT, .shape = &shape);
  const rheos_operation write = add_to(f, "write", variable(f, "v"), x, NULL);
  const rheos_output factors[] = {m, a};
  const rheos_output product =
      rheos_operation_output(node(f, "MatMul", "product", factors, 2, &write, 1), 0);
  const rheos_output biased = rheos_bias_add(f->scope, product, floats(f, RHEOS_SHAPE(2), numbers));
  const rheos_output y = unary(f, "Relu", "y", biased, NULL);
  const request r = {.feeds = {x, m}, .num_feeds = 2, .fetches = {y}, .num_fetches = 1};
  rheos__plan *plan = plan_of(f, &r, NULL);
  assert_string_equal(plan->entries[entry_of(plan, y.id)].signature->op->name, "_FusedMatMul");
  rheos__plan_free(plan);
  expect_order(f, &r, write, (rheos_operation){f->graph, y.id});
}

// f(f(x)) is x: what takes it waits for whom the inner one waited, though nothing is left of it.
static void test_plan__waits_outlive_what_cancels_out(void **state) {
  fixture *f = *state;
  const rheos_output x = placeholder(f, "x");
  const rheos_operation write = add_to(f, "write", variable(f, "v"), x, NULL);
  const rheos_output inner = unary(f, "Neg", "inner", x, &write);
  const rheos_output outer = unary(f, "Neg", "outer", inner, NULL);
  const rheos_output y = unary(f, "Exp", "y", outer, NULL);
  request r = {.feeds = {x}, .num_feeds = 1, .fetches = {y}, .num_fetches = 1};
  expect_order(f, &r, write, (rheos_operation){f->graph, y.id});
  r.fetches[r.num_fetches++] = inner;  // it stays, for others
  expect_order(f, &r, write, (rheos_operation){f->graph, y.id});
}

static void test_plan__many_that_wait_for_many_share_a_list(void **state) {
  fixture *f = *state;
  const rheos_output x = placeholder(f, "x"), v = variable(f, "v");
  rheos_operation writes[MANY];
  rheos_output waiting[MANY];
  for (int i = 0; i < MANY; ++i) writes[i] = add_to(f, NULL, v, x, NULL);
  const rheos_operation all = node(f, "NoOp", "all", NULL, 0, writes, MANY);
  for (int i = 0; i < MANY; ++i) {
    const rheos_output inputs[] = {x, i == 0 ? x : waiting[i - 1]};
    waiting[i] = rheos_operation_output(node(f, "Mul", NULL, inputs, 2, &all, 1), 0);
  }
  const request r = {
      .feeds = {x}, .num_feeds = 1, .fetches = {waiting[MANY - 1]}, .num_fetches = 1};
  rheos__plan *plan = plan_of(f, &r, NULL);
  assert_in_range(plan->num_waits, 2 * MANY, 8 * MANY);  // not a list of MANY for each of MANY
  order o = order_of(plan);
  for (int i = 0; i < MANY; ++i) {
    const int32_t entry = entry_of(plan, waiting[i].id);
    assert_true(entry >= 0 && plan->entries[entry].num_waits > 0);
    for (int k = 0; k < MANY; ++k) {
      assert_true(comes_after(&o, entry, entry_of(plan, writes[k].id)));
    }
  }
  free(o.before);
  rheos__plan_free(plan);
}

// ---- Effects and levels

static void test_plan__effects_name_cells(void **state) {
  fixture *f = *state;
  const rheos_output x = placeholder(f, "x"), rate = float_scalar(f, 0.5F);
  const rheos_output v = variable(f, "v"), slot = variable(f, "slot");
  const rheos_output inputs[] = {v, slot, rate, x, rate};
  const rheos_operation update = node(f, "ApplyMomentum", "update", inputs, 5, NULL, 0);
  const int32_t sizes[] = {2};
  const rheos_output size = ints(f, RHEOS_SHAPE(1), sizes);
  const rheos_attr dtype = rheos_attr_type("dtype", RHEOS_FLOAT);
  const rheos_output random =
      rheos_operation_output(rheos_op(f->scope, &(rheos_op_args){.type = "RandomUniform",
                                                                 .name = "random",
                                                                 .inputs = &size,
                                                                 .num_inputs = 1,
                                                                 .attrs = &dtype,
                                                                 .num_attrs = 1}),
                             0);
  const rheos_output read = unary(f, "Neg", "read", v, NULL);
  const request r = {
      .feeds = {x}, .num_feeds = 1, .fetches = {read, random}, .num_fetches = 2, .target = update};
  expect_plan(f, &r, &AS_WRITTEN,
              "plan: entries 8, values 9\n"
              "feeds\n"
              "  v0 x float\n"
              "entries\n"
              "  e0 v = VariableV2() -> v1\n"
              "  e1 v/_read_1 = (read)(v1) -> v2; reads v1\n"
              "  e2 read = Neg(v2) -> v3\n"
              "  e3 Const_1 = Const() -> v4\n"
              "  e4 random = RandomUniform(v4) -> v5; state\n"
              "  e5 slot = VariableV2() -> v6\n"
              "  e6 Const = Const() -> v7\n"
              "  e7 update = ApplyMomentum(v1, v6, v7, v0, v7) -> v8; writes v1; writes v6\n"
              "fetches\n"
              "  v3 read float\n"
              "  v5 random float\n");
}

static void test_plan__a_level_is_how_many_writes_come_before(void **state) {
  fixture *f = *state;
  const rheos_output x = placeholder(f, "x"), v = variable(f, "v");
  const rheos_operation first = add_to(f, "first", v, x, NULL);
  const rheos_operation second = add_to(f, "second", v, x, &first);
  const rheos_output sum = unary(f, "Neg", "sum", v, &second);
  const request r = {.feeds = {x},
                     .num_feeds = 1,
                     .fetches = {unary(f, "Neg", "old", v, NULL), sum},
                     .num_fetches = 2};
  expect_plan(f, &r, NULL,
              "plan: entries 7, values 8\n"
              "feeds\n"
              "  v0 x float\n"
              "entries\n"
              "  e0 v = VariableV2() -> v1\n"
              "  e1 v/_read_1 = (read)(v1) -> v2; reads v1\n"
              "  e2 old = Neg(v2) -> v3\n"
              "  e3 first = AssignAdd(v1, v0) -> v4; writes v1\n"
              "  e4 second = AssignAdd(v1, v0) -> v5; level 1; waits for e3; writes v1\n"
              "  e5 v/_read_5 = (read)(v1) -> v6; level 2; reads v1\n"
              "  e6 sum = Neg(v6) -> v7; level 2; waits for e4\n"
              "fetches\n"
              "  v3 old float\n"
              "  v7 sum float\n");
}

// Numbers are the same with and without rules, where only control edges say what comes first.
static void test_plan__order_is_kept_while_rules_drop_what_keeps_it(void **state) {
  fixture *f = *state;
  const rheos_output x = placeholder(f, "x"), v = variable(f, "v");
  const float zeros[] = {0, 0}, ones[] = {1, 10};
  const rheos_output start[] = {v, floats(f, RHEOS_SHAPE(2), zeros)};
  const rheos_operation init = node(f, "Assign", "init", start, 2, NULL, 0);
  const rheos_operation first = add_to(f, "first", v, x, NULL);
  const rheos_operation gate = node(f, "NoOp", "gate", NULL, 0, &first, 1);
  const rheos_output between = unary(f, "Neg", "between", v, &gate);
  const rheos_operation seen = {f->graph, between.id};
  const rheos_operation second = add_to(f, "second", v, x, &seen);
  const rheos_output passed = unary(f, "Identity", "passed", x, &second);
  const rheos_output sum[] = {passed, v};
  const rheos_output end = rheos_operation_output(node(f, "AddV2", "end", sum, 2, NULL, 0), 0);
  check(rheos_scope_finish(f->scope));
  for (int rules = 0; rules < 2; ++rules) {
    rheos_session *session = NULL;
    rheos_session_options options = {.num_threads = 1};
    if (rules == 0) options.rewrites = AS_WRITTEN;
    check(rheos_session_new(f->graph, &options, &session));
    check(rheos_session_run(session, NULL, 0, NULL, 0, &init, 1, NULL));
    rheos_feed feed = {x, NULL};
    check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(2), ones, &feed.value));
    rheos_fetch fetches[] = {{between, NULL}, {end, NULL}};
    check(rheos_session_run(session, &feed, 1, fetches, 2, NULL, 0, NULL));
    expect_floats(fetches[0].value, RHEOS_SHAPE(2), (float[]){-1, -10});
    expect_floats(fetches[1].value, RHEOS_SHAPE(2), (float[]){3, 30});
    rheos_tensor_unref(feed.value);
    rheos_session_free(session);
  }
}

// ---- What cannot be planned

static void test_plan__a_cycle_is_an_error(void **state) {
  fixture *f = *state;
  const rheos_output x = placeholder(f, "x");
  const rheos_output a = unary(f, "Neg", "a", x, NULL), b = unary(f, "Neg", "b", a, NULL);
  check(rheos_scope_finish(f->scope));
  check(rheos__graph_set_input(f->graph, a.id, 0, (rheos__edge){b.id, 0}));
  const request r = {.fetches = {b}, .num_fetches = 1};
  rheos__plan *plan = NULL;
  expect_error(try_plan(f, &r, NULL, &plan), RHEOS_INVALID_ARGUMENT, "the graph has a cycle");
  assert_null(plan);
  const request cut = {.feeds = {b}, .num_feeds = 1, .fetches = {a}, .num_fetches = 1};
  check(try_plan(f, &cut, NULL, &plan));
  rheos__plan_free(plan);
}

static void test_plan__unknown_outputs_are_errors_of_the_session(void **state) {
  fixture *f = *state;
  const rheos_output x = placeholder(f, "x");
  check(rheos_scope_finish(f->scope));
  rheos_fetch fetch = {{f->graph, x.id + 100, 0}, NULL};
  rheos_status *status = rheos_session_run(f->session, NULL, 0, &fetch, 1, NULL, 0, NULL);
  assert_non_null(status);
  rheos_status_free(status);
  fetch.output = (rheos_output){f->graph, x.id, 1};
  status = rheos_session_run(f->session, NULL, 0, &fetch, 1, NULL, 0, NULL);
  assert_non_null(status);
  rheos_status_free(status);
}

// ---- Random graphs

typedef struct maker {
  fixture *f;
  uint64_t state;
  rheos_output pool[2 * NODES], variables[3];
  rheos_operation nodes[2 * NODES];
  int pool_size, num_nodes;
} maker;

static uint64_t next(maker *m) {  // splitmix64
  uint64_t z = m->state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static int below(maker *m, int limit) { return (int)(next(m) % (uint64_t)limit); }

static rheos_output pick(maker *m) { return m->pool[below(m, m->pool_size)]; }

static void add_random(maker *m) {
  static const char *const types[] = {"Neg", "Neg", "Identity", "Exp",  "StopGradient", "AddV2",
                                      "Mul", "Mul", "NoOp",     "NoOp", "AssignAdd"};
  const char *type = types[below(m, 11)];
  const bool is_no_op = strcmp(type, "NoOp") == 0, is_write = strcmp(type, "AssignAdd") == 0;
  const bool is_binary = is_write || strcmp(type, "AddV2") == 0 || strcmp(type, "Mul") == 0;
  rheos_output inputs[] = {is_write ? m->variables[below(m, 3)] : pick(m), pick(m)};
  rheos_operation controls[4];
  int num_controls = below(m, is_no_op ? 4 : 3);
  if (m->num_nodes == 0) num_controls = 0;
  for (int i = 0; i < num_controls; ++i) controls[i] = m->nodes[below(m, m->num_nodes)];
  const rheos_operation made =
      node(m->f, type, NULL, inputs, is_no_op ? 0 : 1 + is_binary, controls, num_controls);
  m->nodes[m->num_nodes++] = made;
  if (!is_no_op) m->pool[m->pool_size++] = rheos_operation_output(made, 0);
}

// Marks what the node comes after in the graph; a feed comes after nothing.
static void mark_ancestors(const rheos_graph *graph, int32_t id, const request *r, bool *marked) {
  const rheos__node *at = rheos__graph_node(graph, id);
  for (int32_t i = 0; i < at->num_inputs + at->num_control_inputs; ++i) {
    const int32_t from = at->edges[i].id;
    bool stops = marked[from];
    for (int k = 0; k < r->num_feeds; ++k) stops = stops || r->feeds[k].id == from;
    if (stops) continue;
    marked[from] = true;
    mark_ancestors(graph, from, r, marked);
  }
}

static void check_waits(fixture *f, const request *r, const rheos__plan *plan, uint64_t seed) {
  const int32_t num_nodes = rheos_graph_num_operations(f->graph);
  bool *marked = calloc((size_t)num_nodes, sizeof *marked);
  assert_non_null(marked);
  order o = order_of(plan);
  for (int32_t id = 0; id < num_nodes; ++id) {
    const int32_t entry = entry_of(plan, id);
    if (entry < 0) continue;
    memset(marked, 0, (size_t)num_nodes * sizeof *marked);
    mark_ancestors(f->graph, id, r, marked);
    for (int32_t other = 0; other < num_nodes; ++other) {
      if (!marked[other]) continue;
      const int32_t awaited = entry_of(plan, other);
      const bool writes = awaited >= 0 && rheos__entry_writes(&plan->entries[awaited]);
      if (writes && !comes_after(&o, entry, awaited)) {
        rheos__text text = {0};
        check(rheos__plan_print(plan, &text));
        print_message("%s", text.data);
        rheos__text_deinit(&text);
        fail_msg("seed %llu: e%d does not wait for e%d", (unsigned long long)seed, (int)entry,
                 (int)awaited);
      }
    }
  }
  free(o.before);
  free(marked);
}

static void check_random(uint64_t seed) {
  void *state = NULL;
  assert_int_equal(set_up(&state), 0);
  fixture *f = state;
  maker m = {.f = f, .state = seed};
  for (int i = 0; i < 3; ++i) m.variables[i] = variable(f, NULL);
  request r = {.num_feeds = 2};
  for (int i = 0; i < 2; ++i) m.pool[m.pool_size++] = r.feeds[i] = placeholder(f, NULL);
  m.pool[m.pool_size++] = floats(f, RHEOS_SHAPE(2), (float[]){1, 1});
  for (int i = 0; i < 3; ++i) m.pool[m.pool_size++] = m.variables[i];
  for (int i = 0; i < NODES; ++i) add_random(&m);
  for (; r.num_fetches < 4; ++r.num_fetches) {
    r.fetches[r.num_fetches] = m.pool[m.pool_size - 1 - r.num_fetches];
  }
  r.target = m.nodes[NODES - 1];
  for (int rules = 0; rules < 2; ++rules) {
    rheos__plan *plan = plan_of(f, &r, rules == 0 ? &AS_WRITTEN : NULL);
    check_waits(f, &r, plan, seed);
    rheos__plan_free(plan);
  }
  tear_down(&state);
}

static void test_plan__random_graphs_wait_for_what_they_asked_for(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= NUM_GRAPHS; ++seed) check_random(seed);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_plan__control_edges_become_waits),
      TEST(test_plan__a_feed_is_waited_for_by_nobody),
      TEST(test_plan__waits_outlive_no_ops_and_identities),
      TEST(test_plan__waits_outlive_what_is_merged),
      TEST(test_plan__waits_outlive_what_is_fused),
      TEST(test_plan__waits_outlive_what_cancels_out),
      TEST(test_plan__many_that_wait_for_many_share_a_list),
      TEST(test_plan__effects_name_cells),
      TEST(test_plan__a_level_is_how_many_writes_come_before),
      TEST(test_plan__order_is_kept_while_rules_drop_what_keeps_it),
      TEST(test_plan__a_cycle_is_an_error),
      TEST(test_plan__unknown_outputs_are_errors_of_the_session),
      cmocka_unit_test(test_plan__random_graphs_wait_for_what_they_asked_for),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
