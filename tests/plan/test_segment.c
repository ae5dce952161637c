// Segments as a tree: found by the shapes of feeds and of dynamic values, let go where they are
// many.
#include "ops/array_fixture.h"
#include "plan/plan_text.h"
#include "plan/printed.h"
#include "plan/segment/segment.h"

enum { MOST_SIBLINGS = 512, MANY = 520 };

typedef struct program {
  rheos__resources *resources;
  rheos__plan *plan;
} program;

static rheos_output placeholder(fixture *f) {
  const rheos_shape shape = RHEOS_SHAPE(-1);
  return rheos_placeholder(f->scope, RHEOS_FLOAT, .shape = &shape);
}

static rheos_output op_1(fixture *f, const char *type, rheos_output x) {
  return rheos_operation_output(add(f, type, &x, 1, NULL, 0), 0);
}

static program plan_of(fixture *f, rheos_output in, rheos_output out) {
  check(rheos_scope_finish(f->scope));
  program p = {.resources = rheos__resources_new()};
  assert_non_null(p.resources);
  const rheos__plan_context context = {
      .resources = p.resources, .devices = plan_devices(), .num_devices = 1, .num_threads = 1};
  const rheos__edge feed = {in.id, in.index}, fetch = {out.id, out.index};
  check(rheos__plan_new(f->graph, &context, &feed, 1, &fetch, 1, NULL, 0, &p.plan));
  return p;
}

static void program_free(program *p) {
  rheos__plan_free(p->plan);
  rheos__resources_free(p->resources);
}

static rheos__segment *add_segment(program *p, rheos__segment *parent, const rheos_shape *shapes,
                                   int32_t count) {
  rheos__segment *segment = NULL;
  check(rheos__segment_new(p->plan, parent, shapes, count, NULL, &segment));
  rheos__segment_link(p->plan, segment);
  return segment;
}

static rheos__segment *find(program *p, rheos__segment *parent, const rheos_shape *shapes,
                            int32_t count) {
  const rheos__key key = {.shapes = shapes, .count = count};
  return rheos__segment_find(p->plan, parent, &key);
}

static rheos__segment *find_length(program *p, int64_t length) {
  const rheos_shape shape = RHEOS_SHAPE(length);
  return find(p, NULL, &shape, 1);
}

static rheos__segment *add_length(program *p, int64_t length) {
  const rheos_shape shape = RHEOS_SHAPE(length);
  return add_segment(p, NULL, &shape, 1);
}

static void test_segment__is_found_by_its_shapes_and_moved_to_the_front(void **state) {
  fixture *f = *state;
  const rheos_output x = placeholder(f);
  program p = plan_of(f, x, op_1(f, "Neg", x));
  rheos__segment *two = add_length(&p, 2), *three = add_length(&p, 3);
  assert_ptr_equal(p.plan->roots, three);
  assert_ptr_equal(find_length(&p, 2), two);
  assert_ptr_equal(p.plan->roots, two);
  assert_ptr_equal(find_length(&p, 3), three);
  assert_null(find_length(&p, 4));
  assert_true(two->serial != three->serial && two->serial > 0);
  assert_int_equal(p.plan->num_specializations, 2);
  program_free(&p);
}

static void test_segment__the_oldest_that_no_step_is_in_makes_room(void **state) {
  fixture *f = *state;
  const rheos_output x = placeholder(f);
  program p = plan_of(f, x, op_1(f, "Neg", x));
  rheos__segment *used = add_length(&p, 1);
  used->num_running = 1;
  for (int64_t length = 2; length <= MANY; ++length) add_length(&p, length);
  int count = 0;
  for (const rheos__segment *at = p.plan->roots; at != NULL; at = at->next) ++count;
  assert_int_equal(count, MOST_SIBLINGS);
  assert_ptr_equal(find_length(&p, 1), used);
  assert_null(find_length(&p, 2));
  assert_non_null(find_length(&p, MANY));
  used->num_running = 0;
  program_free(&p);
}

static void test_segment__children_are_keyed_by_dynamic_values(void **state) {
  fixture *f = *state;
  const rheos_output x = placeholder(f);
  const rheos_output inputs[] = {op_1(f, "Unique", x), op_1(f, "Unique", op_1(f, "Neg", x)),
                                 int_scalar(f, 0)};
  const rheos_output both = rheos_operation_output(add(f, "ConcatV2", inputs, 3, NULL, 0), 0);
  program p = plan_of(f, x, both);
  rheos__segment *root = add_length(&p, 6);
  assert_int_equal(root->num_dynamic_values, 2);
  assert_true(root->end_entry < p.plan->num_entries);
  const rheos_shape some[] = {RHEOS_SHAPE(2), RHEOS_SHAPE(4)};
  const rheos_shape others[] = {RHEOS_SHAPE(3), RHEOS_SHAPE(4)};
  assert_null(find(&p, root, some, 2));
  rheos__segment *child = add_segment(&p, root, some, 2);
  rheos__segment *sibling = add_segment(&p, root, others, 2);
  assert_ptr_equal(find(&p, root, some, 2), child);
  assert_ptr_equal(find(&p, root, others, 2), sibling);
  assert_ptr_equal(root->children, sibling);
  assert_int_equal(child->depth, 1);
  assert_int_equal(child->first_entry, root->end_entry);
  assert_int_equal(child->end_entry, p.plan->num_entries);
  for (int32_t i = 0; i < 2; ++i) {  // each child knows its own shapes, the parent none
    const int32_t value = root->dynamic_values[i];
    assert_null(rheos__find_value(root, value)->shape);
    assert_true(rheos_shape_equal(rheos__find_value(child, value)->shape, &some[i]));
    assert_true(rheos_shape_equal(rheos__find_value(sibling, value)->shape, &others[i]));
  }
  const rheos__value *result = rheos__find_value(child, p.plan->fetch_values[0]);
  assert_int_equal(result->shape->dims[0], 6);
  program_free(&p);
}

// What is known before a step is folded; a view has its input's bytes, and nothing runs for it.
static void test_segment__constants_and_views_run_nothing(void **state) {
  fixture *f = *state;
  const rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT, .name = "x");
  const rheos_output rows = rheos_mul(f->scope, int_scalar(f, 2), int_scalar(f, 3), .name = "rows");
  const rheos_output shape =
      rheos_fill(f->scope, ints(f, RHEOS_SHAPE(1), (int32_t[]){1}), rows, .name = "shape");
  const rheos_output view = rheos_reshape(f->scope, x, shape, .name = "view");
  const rheos_output y = rheos_cumsum(f->scope, view, int_scalar(f, 0), .name = "y");
  check(rheos_scope_finish(f->scope));
  expect_printed(f->session,
                 &(rheos__step_ends){.feeds = &x, .num_feeds = 1, .fetches = &y, .num_fetches = 1},
                 &RHEOS_SHAPE(2, 3), "segment values instructions",
                 "segment: entries e0 to e7, depth 0, for [2,3]\n"
                 "values\n"
                 "  v0 x float [2,3]: fed\n"
                 "  v1 Const_2 int32 [1]: constant\n"
                 "  v2 Const int32 []: constant\n"
                 "  v3 Const_1 int32 []: constant\n"
                 "  v4 rows int32 []: constant; by constant_folding\n"
                 "  v5 shape int32 [1]: constant; by constant_folding\n"
                 "  v6 view float [6]: bytes of v0\n"
                 "  v7 Const_3 int32 []: constant\n"
                 "  v8 y float [6]: result; fetched\n"
                 "instructions\n"
                 "  i0 run e7 of v6, v7 -> v8\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_segment__is_found_by_its_shapes_and_moved_to_the_front),
      TEST(test_segment__the_oldest_that_no_step_is_in_makes_room),
      TEST(test_segment__children_are_keyed_by_dynamic_values),
      TEST(test_segment__constants_and_views_run_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
