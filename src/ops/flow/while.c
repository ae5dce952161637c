// Loops over functions: While, StatelessWhile, For.
//
// A trip gives the body the values of the trip before, which nobody else holds, so that it may
// write its results over them; those of the first trip are the caller's.
#include "ops/flow/call.h"
#include "ops/kit/op_util.h"

enum { TRIPS_BETWEEN_POLLS = 256, FEW_VARIABLES = 16 };

typedef struct loop_state {
  rheos__call_args args;              // of the body
  int32_t end;                        // of its variables among these; what follows stays
  const rheos__structure *structure;  // of a loop of version 1; NULL: it is one of functions
  rheos__site *condition;             // NULL: For
  rheos__site *body;
} loop_state;

// A loop under way.
typedef struct loop {
  const loop_state *state;
  rheos__step *step;
  rheos__site_call *condition, *body;
  rheos_tensor **variables;  // as given to the next trip
  rheos_tensor **results;
  bool *given;  // they are the loop's own and nobody else's
  bool *owned;  // they are the loop's own
  // A variable that the body does not compute in its own place has two: the one that the trip
  // before began with is where the next result goes.
  rheos_tensor **spares;
  bool *has_two;
  rheos_tensor *holds;  // what the condition gave last: it is computed there again
  int64_t num_trips;
  uint8_t *kinds;  // room for rheos__trips_run()
  rheos_tensor *few_tensors[3 * FEW_VARIABLES];
  bool few_flags[3 * FEW_VARIABLES];
  uint8_t few_kinds[FEW_VARIABLES];
  void *block;  // where there are more
} loop;

// Where devices have memories of their own, moves what the loop is given to where the body takes
// it, once for all trips. The number that For gives comes with each trip.
static rheos_status *bring_inputs(loop *l) {
  for (int32_t i = l->condition != NULL ? 0 : 1; i < l->state->args.count; ++i) {
    rheos_tensor *brought = NULL;
    RHEOS_TRY(rheos__loop_bring(l->condition, l->body, i, l->variables[i], &brought));
    if (brought == NULL) continue;
    l->variables[i] = brought;
    l->owned[i] = true;
  }
  return NULL;
}

static rheos_status *loop_init(loop *l, const loop_state *state, rheos__step *step,
                               rheos_tensor *const *inputs) {
  const size_t count = (size_t)state->args.count;
  *l = (loop){.state = state, .step = step, .variables = l->few_tensors, .given = l->few_flags};
  l->kinds = l->few_kinds;
  if (count > FEW_VARIABLES) {
    l->block = rheos__alloc_zeroed(3 * count * (sizeof *l->variables + sizeof *l->given) + count);
    if (l->block == NULL) return rheos__out_of_memory();
    l->variables = l->block;
    l->given = (bool *)(l->variables + 3 * count);
    l->kinds = (uint8_t *)(l->given + 3 * count);
  }
  l->results = l->variables + count;
  l->owned = l->given + count;
  l->spares = l->results + count;
  l->has_two = l->owned + count;
  for (size_t i = 0; i < count; ++i) l->variables[i] = inputs[(size_t)state->args.first + i];
  RHEOS_TRY(rheos__site_enter(state->body, step, &l->body));
  if (state->condition != NULL) {
    RHEOS_TRY(rheos__site_enter(state->condition, step, &l->condition));
  }
  return rheos__site_call_is_mixed(l->body) ? bring_inputs(l) : NULL;
}

static void loop_deinit(loop *l) {
  for (int32_t i = 0; l->owned != NULL && i < l->state->args.count; ++i) {
    if (l->owned[i]) rheos_tensor_unref(l->variables[i]);
    rheos_tensor_unref(l->spares[i]);
  }
  if (l->body != NULL) rheos__site_leave(l->state->body, l->body);
  if (l->condition != NULL) rheos__site_leave(l->state->condition, l->condition);
  rheos_tensor_unref(l->holds);
  rheos__free(l->block);
}

static rheos_status *holds(loop *l, bool *out_holds) {
  const rheos__parameters parameters = {.tensors = l->variables, .cells = l->state->args.cells};
  RHEOS_TRY(rheos__site_call_run(l->condition, &parameters, l->step, &l->holds));
  if (l->state->structure != NULL && l->holds->shape.rank != 0) {
    return RHEOS_INVALID("The input of LoopCond must be a scalar, but it has shape %s",
                         rheos__shape_text_of(&l->holds->shape, &(rheos__shape_text){{0}}));
  }
  return rheos__is_true(l->holds, out_holds);
}

// Elements of these are counted: who is given a list or the like changes it in place.
static bool has_plain_elements(const rheos_tensor *tensor) {
  return tensor->dtype != RHEOS_VARIANT && tensor->dtype != RHEOS_RESOURCE &&
         tensor->dtype != RHEOS_STRING;
}

// What the trip began with, where it ended with `result`, or NULL.
static void leave_variable(loop *l, int32_t i, const rheos_tensor *result) {
  rheos_tensor *before = l->variables[i];
  if (l->given[i]) {  // gone, unless the result is in its place
    if (result != NULL && result != before && has_plain_elements(result)) l->has_two[i] = true;
    return;
  }
  if (!l->owned[i]) return;
  if (l->has_two[i] && result != NULL && rheos__tensor_is_exclusive(before) &&
      rheos_shape_equal(&before->shape, &result->shape)) {
    l->spares[i] = before;
  } else {
    rheos_tensor_unref(before);
  }
}

// Runs the body on the variables, which become its results. Those from `first` on are variables of
// the loop: what lies before is the caller's and stays.
static rheos_status *take_trip(loop *l, int32_t first) {
  const int32_t count = l->state->end;
  const rheos__parameters parameters = {.tensors = l->variables,
                                        .cells = l->state->args.cells,
                                        .given = l->given,
                                        .any_memory = true};
  if (++l->num_trips % TRIPS_BETWEEN_POLLS == 0 && rheos__step_should_stop(l->step)) {
    return rheos_status_new(RHEOS_CANCELLED, "the loop was stopped");
  }
  for (int32_t i = first; i < count; ++i) {
    l->results[i - first] = l->spares[i];
    l->spares[i] = NULL;
  }
  rheos_status *status = rheos__site_call_run(l->body, &parameters, l->step, l->results);
  for (int32_t i = first; i < count; ++i) {
    rheos_tensor *result = status == NULL ? l->results[i - first] : NULL;
    leave_variable(l, i, result);
    l->variables[i] = result;
    l->owned[i] = result != NULL;
    l->given[i] = result != NULL && !l->has_two[i] && rheos__tensor_is_exclusive(result);
  }
  return status;
}

static rheos_status *take_result(loop *l, int32_t variable, rheos_tensor **output) {
  rheos_tensor *value = l->variables[variable];
  if (value == NULL) return NULL;  // a handle
  if (!l->owned[variable] && !rheos__tensor_can_keep(value))
    return rheos_tensor_copy(value, output);
  *output = l->owned[variable] ? value : rheos_tensor_ref(value);
  l->owned[variable] = false;
  return NULL;
}

static rheos_status *take_results(loop *l, int32_t first, rheos_tensor **outputs) {
  for (int32_t i = first; i < l->state->end; ++i) {
    RHEOS_TRY(take_result(l, i, &outputs[i - first]));
  }
  return NULL;
}

// ---- While

// Trips that are like those before, up to the next poll. `*out_ended`: the condition did not hold.
static rheos_status *take_alike(loop *l, bool *out_ended) {
  const rheos__trips trips = {.condition = l->condition,
                              .body = l->body,
                              .variables = l->variables,
                              .cells = l->state->args.cells,
                              .count = l->state->args.count,
                              .num_variables = l->state->end,
                              .given = l->given,
                              .owned = l->owned,
                              .has_two = l->has_two,
                              .spares = l->spares,
                              .kinds = l->kinds,
                              .holds = &l->holds};
  const int64_t most = TRIPS_BETWEEN_POLLS - 1 - l->num_trips % TRIPS_BETWEEN_POLLS;
  int64_t count = 0;
  rheos_status *status = rheos__trips_run(&trips, l->step, most, &count, out_ended);
  l->num_trips += count;
  return status;
}

// The first trips are unlike: variables become the loop's own, and get their second tensor. Where
// others do too it is tried again at the next poll.
static rheos_status *run_while(loop *l) {
  enum { UNLIKE = 4 };
  for (;;) {
    bool goes_on = false, ended = false;
    RHEOS_TRY(holds(l, &goes_on));
    if (!goes_on) return NULL;
    RHEOS_TRY(take_trip(l, 0));
    if (l->num_trips % TRIPS_BETWEEN_POLLS != UNLIKE) continue;
    RHEOS_TRY(take_alike(l, &ended));
    if (ended) return NULL;
  }
}

static rheos_status *compute_while(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  loop l;
  rheos_status *status = loop_init(&l, state, step, inputs);
  if (status == NULL) status = run_while(&l);
  if (status == NULL) status = take_results(&l, 0, outputs);
  loop_deinit(&l);
  return status;
}

static void release_loop(void *state) {
  const loop_state *loop = state;
  rheos__site_free(loop->condition);
  rheos__site_free(loop->body);
}

// Variables keep their shapes if a trip that begins with these ends with them. A handle stays the
// same.
static rheos_status *infer_loop(rheos__prepare *p, const loop_state *l) {
  const int32_t count = p->num_outputs, first = p->num_inputs - count;
  const rheos_shape *before = p->input_shapes + first;
  rheos_shape *shapes = rheos__arena_alloc(p->arena, ((size_t)count + 1) * sizeof *shapes);
  rheos__resource **cells = rheos__arena_alloc(p->arena, ((size_t)count + 1) * sizeof *cells);
  if (shapes == NULL || cells == NULL) return rheos__out_of_memory();
  rheos__site_infer(l->body, p, p->input_shapes + l->args.first, l->args.cells, shapes, cells);
  bool stay = true;
  for (int32_t i = 0; i < count; ++i) {
    cells[i] = p->input_resources[first + i];
    stay = stay && (cells[i] != NULL || rheos_shape_equal(&shapes[i], &before[i]));
  }
  for (int32_t i = 0; i < count; ++i) shapes[i] = stay ? before[i] : RHEOS_UNKNOWN_SHAPE;
  p->called_shapes = shapes;
  p->called_resources = cells;
  return NULL;
}

static rheos_status *make_while(rheos__prepare *p, loop_state *l) {
  static const rheos_dtype of_condition[] = {RHEOS_INVALID_DTYPE};
  const rheos_func *condition = rheos__attrs_find(p->attrs, "cond")->func;
  const rheos_func *body = rheos__attrs_find(p->attrs, "body")->func;
  RHEOS_TRY(rheos__call_args_init(p, 0, &l->args));
  l->end = l->args.count;
  RHEOS_TRY(rheos__call_site(p, condition, &l->args, of_condition, 1, &l->condition));
  RHEOS_TRY(rheos__call_site(p, body, &l->args, NULL, 0, &l->body));
  return infer_loop(p, l);
}

static rheos_status *prepare_while(rheos__prepare *p) {
  loop_state *l = RHEOS_NEW_STATE(p, loop_state);
  if (l == NULL) return rheos__out_of_memory();
  p->compute = compute_while;
  p->release = release_loop;
  rheos_status *status = make_while(p, l);
  if (status != NULL) release_loop(l);
  return status;
}

static rheos_status *infer_while(rheos__infer *c) {
  const rheos_attr_value *told = rheos__attrs_find(c->attrs, "output_shapes");
  for (int32_t i = 0; i < c->num_outputs && i < told->count; ++i) {
    c->output_shapes[i] = told->shapes[i];
  }
  return NULL;
}
#define WHILE(op, more_flags, text)                                             \
  const rheos__op_def rheos__op_##op = {                                        \
      .name = #op,                                                              \
      .signature =                                                              \
          "input: T -> output: T; T: list(type) >= 0; cond: func; body: func; " \
          "output_shapes: list(shape) = []; parallel_iterations: int = 10",     \
      .doc = text,                                                              \
      .flags = RHEOS_OP_CALLS | RHEOS_OP_ANY_MEMORY | (more_flags),             \
      .shape = infer_while,                                                     \
      .gradient = rheos__gradient_loop,                                         \
      .prepare = prepare_while,                                                 \
  };
WHILE(While, RHEOS_OP_STATEFUL | RHEOS_OP_WRITES,
      "`input`, then the results of `body` for it, and so on, as long as `cond` holds for them.")
WHILE(StatelessWhile, 0, "While, of functions that have no effects.")

// ---- Loops of version 1, raised
//
// Inputs: the variables, then what every trip is given as it is. An output is one of the variables.

static rheos_status *compute_raised(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  const rheos__structure *structure = ((const loop_state *)state)->structure;
  loop l;
  rheos_status *status = loop_init(&l, state, step, inputs);
  if (status == NULL) status = run_while(&l);
  for (int32_t i = 0; status == NULL && i < structure->num_outputs; ++i) {
    status = take_result(&l, structure->variables[i], &outputs[i]);
  }
  loop_deinit(&l);
  return status;
}

static rheos_status *infer_raised(rheos__prepare *p, const loop_state *l) {
  const rheos__structure *structure = l->structure;
  const size_t count = (size_t)l->end;
  rheos_shape *shapes = rheos__arena_alloc(p->arena, (count + 1) * sizeof *shapes);
  rheos__resource **cells = rheos__arena_alloc(p->arena, (count + 1) * sizeof *cells);
  p->called_shapes =
      rheos__arena_alloc(p->arena, ((size_t)p->num_outputs + 1) * sizeof *p->called_shapes);
  p->called_resources =
      rheos__arena_alloc(p->arena, ((size_t)p->num_outputs + 1) * sizeof *p->called_resources);
  if (shapes == NULL || cells == NULL || p->called_shapes == NULL || p->called_resources == NULL) {
    return rheos__out_of_memory();
  }
  rheos__site_infer(l->body, p, p->input_shapes, l->args.cells, shapes, cells);
  bool stay = true;
  for (int32_t i = 0; i < l->end; ++i) {
    stay = stay &&
           (p->input_resources[i] != NULL || rheos_shape_equal(&shapes[i], &p->input_shapes[i]));
  }
  for (int32_t i = 0; i < p->num_outputs; ++i) {
    const int32_t variable = structure->variables[i];
    p->called_shapes[i] = stay ? p->input_shapes[variable] : RHEOS_UNKNOWN_SHAPE;
    p->called_resources[i] = p->input_resources[variable];
  }
  return NULL;
}

static rheos_status *make_raised(rheos__prepare *p, loop_state *l) {
  l->structure = p->structure;
  l->end = p->structure->num_variables;
  RHEOS_TRY(rheos__call_args_init(p, 0, &l->args));
  RHEOS_TRY(rheos__site_new_of_part(p, &p->structure->parts[0], &l->condition));
  RHEOS_TRY(rheos__site_new_of_part(p, &p->structure->parts[1], &l->body));
  return infer_raised(p, l);
}

static rheos_status *prepare_raised(rheos__prepare *p) {
  if (p->structure == NULL) return RHEOS_INVALID("it is made by plans only");
  loop_state *l = RHEOS_NEW_STATE(p, loop_state);
  if (l == NULL) return rheos__out_of_memory();
  p->compute = compute_raised;
  p->release = release_loop;
  rheos_status *status = make_raised(p, l);
  if (status != NULL) release_loop(l);
  return status;
}

#define RAISED(op, more_flags, text) RHEOS__RAISED(op, "", more_flags, prepare_raised, text)
RAISED(_RaisedLoop, RHEOS_OP_STATEFUL | RHEOS_OP_WRITES,
       "A loop of version 1's nodes in the plan of a step.")
RAISED(_RaisedStatefulLoop, RHEOS_OP_STATEFUL, "_RaisedLoop, of nodes that write nothing.")
RAISED(_RaisedStatelessLoop, 0, "_RaisedLoop, of nodes that have no effects.")

// ---- For
//
// The body takes the number of the trip before the variables: it has the place of `delta`, which
// lies before them and has its dtype.

enum { LIMITS = 2 };  // inputs before the body's arguments: start and limit

static rheos_status *run_for(loop *l, int64_t i, int64_t limit, int64_t delta) {
  for (; delta > 0 ? i < limit : i > limit; i += delta) {
    rheos_tensor *number = NULL;
    RHEOS_TRY(rheos_tensor_new(RHEOS_INT32, RHEOS_SCALAR, &number));
    *(int32_t *)number->data = (int32_t)i;
    l->variables[0] = number;
    l->given[0] = true;
    RHEOS_TRY(take_trip(l, 1));
  }
  return NULL;
}

static rheos_status *compute_for(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                 rheos_tensor **outputs) {
  const int32_t start = *(const int32_t *)inputs[0]->data;
  const int32_t limit = *(const int32_t *)inputs[1]->data;
  const int32_t delta = *(const int32_t *)inputs[2]->data;
  if (delta == 0 && start != limit) return RHEOS_INVALID("For: delta must not be 0");
  loop l;
  rheos_status *status = loop_init(&l, state, step, inputs);
  if (status == NULL && start != limit) status = run_for(&l, start, limit, delta);
  if (status == NULL) status = take_results(&l, 1, outputs);
  loop_deinit(&l);
  return status;
}

static rheos_status *make_for(rheos__prepare *p, loop_state *l) {
  RHEOS_TRY(rheos__call_args_init(p, LIMITS, &l->args));
  l->end = l->args.count;
  RHEOS_TRY(
      rheos__call_site(p, rheos__attrs_find(p->attrs, "body")->func, &l->args, NULL, 0, &l->body));
  return infer_loop(p, l);
}

static rheos_status *prepare_for(rheos__prepare *p) {
  loop_state *l = RHEOS_NEW_STATE(p, loop_state);
  if (l == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i <= LIMITS; ++i) {
    if (p->input_shapes[i].rank == 0) continue;
    return RHEOS_INVALID("%s must be a scalar, got shape %s",
                         i == 0   ? "start"
                         : i == 1 ? "limit"
                                  : "delta",
                         rheos__shape_text_of(&p->input_shapes[i], &(rheos__shape_text){{0}}));
  }
  p->compute = compute_for;
  p->release = release_loop;
  rheos_status *status = make_for(p, l);
  if (status != NULL) release_loop(l);
  return status;
}

const rheos__op_def rheos__op_For = {
    .name = "For",
    .signature =
        "start: int32, limit: int32, delta: int32, input: T -> output: T; T: list(type) >= "
        "0; body: func",
    .doc =
        "`input`, then the results of `body` for a number and it: one trip for each number from "
        "`start` on, by `delta`, before `limit`.",
    .flags = RHEOS_OP_CALLS | RHEOS_OP_ANY_MEMORY | RHEOS_OP_STATEFUL | RHEOS_OP_WRITES,
    .shape = rheos__shape_none,
    .gradient = rheos__gradient_loop,
    .prepare = prepare_for,
};
