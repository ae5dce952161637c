// MapDefun: a function called for the rows of tensors, one after the other in their order.
#include <string.h>

#include "ops/data/element.h"
#include "ops/flow/call.h"
#include "ops/kit/op_util.h"

typedef struct map_state {
  rheos__site *site;
  rheos__call_args args;         // the rows', then what all calls are given as it is
  int32_t num_mapped;            // of these
  const rheos_attr_value *rows;  // shapes that the results of a call have
  const rheos_dtype *dtypes;     // of the results
  int32_t num_results;
} map_state;

static int32_t count_mapped(const rheos__attrs *attrs) {
  return rheos__attrs_find(attrs, "Targuments")->count;
}

static rheos_shape behind(int64_t dim, const rheos_shape *row) {
  if (row->rank < 0 || row->rank == RHEOS_MAX_RANK) return RHEOS_UNKNOWN_SHAPE;
  rheos_shape whole = {.rank = row->rank + 1};
  whole.dims[0] = dim;
  memcpy(whole.dims + 1, row->dims, (size_t)row->rank * sizeof *row->dims);
  return whole;
}

// ---- Calls under way

typedef struct mapping {
  const map_state *state;
  rheos__step *step;
  rheos__site_call *call;
  rheos_tensor **arguments;  // of the next call
  rheos_tensor **results;
  rheos__stack *stacks;  // by result
  bool *given;           // rows are the call's own
} mapping;

static rheos_status *mapping_init(mapping *m, const map_state *state, rheos__step *step,
                                  rheos_tensor *const *inputs) {
  const size_t count = (size_t)state->args.count, results = (size_t)state->num_results;
  *m = (mapping){.state = state, .step = step};
  m->arguments = rheos__alloc_array(count + 1, sizeof *m->arguments);
  m->results = rheos__alloc_array(results, sizeof *m->results);
  m->stacks = rheos__alloc_array(results, sizeof *m->stacks);
  m->given = rheos__alloc_array(count + 1, sizeof *m->given);
  if (m->arguments == NULL || m->results == NULL || m->stacks == NULL || m->given == NULL) {
    return rheos__out_of_memory();
  }
  for (size_t i = 0; i < count; ++i) {
    const bool is_mapped = i < (size_t)state->num_mapped;
    m->given[i] = is_mapped;
    if (!is_mapped) m->arguments[i] = inputs[i];
  }
  return rheos__site_enter(state->site, step, &m->call);
}

static void mapping_deinit(mapping *m) {
  if (m->call != NULL) rheos__site_leave(m->state->site, m->call);
  for (int32_t i = 0; m->stacks != NULL && i < m->state->num_results; ++i) {
    rheos__stack_deinit(&m->stacks[i]);
  }
  rheos__free(m->arguments);
  rheos__free(m->results);
  rheos__free(m->stacks);
  rheos__free(m->given);
}

static rheos_status *take_rows(mapping *m, rheos_tensor *const *inputs, int64_t row) {
  for (int32_t i = 0; i < m->state->num_mapped; ++i) {
    m->arguments[i] = NULL;  // those of the row before went to the call
    rheos_status *status = rheos__tensor_row(inputs[i], row, &m->arguments[i]);
    if (status == NULL) continue;
    while (--i >= 0) rheos_tensor_unref(m->arguments[i]);
    return status;
  }
  return NULL;
}

static rheos_status *keep_result(mapping *m, int32_t i, int64_t num_rows) {
  const rheos_shape *told = &m->state->rows->shapes[i], *is = &m->results[i]->shape;
  if (!rheos_shape_compatible(told, is)) {
    rheos__shape_text given, expected;
    return RHEOS_INVALID("result %d of a call has shape %s, the node expects %s", (int)i,
                         rheos__shape_text_of(is, &given), rheos__shape_text_of(told, &expected));
  }
  return rheos__stack_add(&m->stacks[i], m->results[i], num_rows, i);
}

static rheos_status *map_row(mapping *m, rheos_tensor *const *inputs, int64_t row,
                             int64_t num_rows) {
  if (rheos__step_should_stop(m->step)) {
    return rheos_status_new(RHEOS_CANCELLED, "the map was stopped");
  }
  RHEOS_TRY(take_rows(m, inputs, row));
  const rheos__parameters parameters = {
      .tensors = m->arguments, .cells = m->state->args.cells, .given = m->given};
  for (int32_t i = 0; i < m->state->num_results; ++i) m->results[i] = NULL;
  rheos_status *status = rheos__site_call_run(m->call, &parameters, m->step, m->results);
  for (int32_t i = 0; i < m->state->num_results; ++i) {
    if (status == NULL) status = keep_result(m, i, num_rows);
    rheos_tensor_unref(m->results[i]);
  }
  return status;
}

// No call has told the shape.
static rheos_status *without_rows(const map_state *state, int32_t result,
                                  rheos_tensor **out_tensor) {
  const rheos_shape whole = behind(0, &state->rows->shapes[result]);
  if (rheos_shape_is_known(&whole)) {
    return rheos_tensor_new(state->dtypes[result], whole, out_tensor);
  }
  return rheos_status_new(RHEOS_INTERNAL,
                          "there are no rows, and output_shapes do not tell the shape of output %d",
                          (int)result);
}

static rheos_status *compute_map(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                 rheos_tensor **outputs) {
  const map_state *map = state;
  const int64_t num_rows = inputs[0]->shape.dims[0];
  mapping m;
  rheos_status *status = mapping_init(&m, map, step, inputs);
  for (int64_t row = 0; status == NULL && row < num_rows; ++row) {
    status = map_row(&m, inputs, row, num_rows);
  }
  for (int32_t i = 0; status == NULL && i < map->num_results; ++i) {
    status = num_rows > 0 ? rheos__stack_take(&m.stacks[i], &outputs[i])
                          : without_rows(map, i, &outputs[i]);
  }
  mapping_deinit(&m);
  return status;
}

static void release_map(void *state) { rheos__site_free(((map_state *)state)->site); }

// ---- Shapes

static rheos_status *infer_map(rheos__infer *c) {
  const int32_t num_mapped = count_mapped(c->attrs);
  const rheos_attr_value *rows = rheos__attrs_find(c->attrs, "output_shapes");
  if (rows->count != c->num_outputs) {
    return RHEOS_INVALID("`output_shapes` must be the same length as `output_types` (%d vs. %d)",
                         (int)rows->count, (int)c->num_outputs);
  }
  int64_t dim = -1;
  for (int32_t i = 0; i < num_mapped; ++i) {
    const rheos_shape *shape = &c->input_shapes[i];
    if (shape->rank < 0) continue;
    if (shape->rank == 0) {
      return RHEOS_INVALID("Arguments must have rank at least 1. Input %d has rank of 0.", (int)i);
    }
    if (dim >= 0 && shape->dims[0] >= 0 && shape->dims[0] != dim) {
      return RHEOS_INVALID("Arguments must have the same dimension 0.");
    }
    if (shape->dims[0] >= 0) dim = shape->dims[0];
  }
  for (int32_t i = 0; i < c->num_outputs; ++i) {
    c->output_shapes[i] = behind(dim, &rows->shapes[i]);
  }
  return NULL;
}

// What the function itself tells of its results, beside what the node does.
static rheos_status *infer_results(rheos__prepare *p, const map_state *state) {
  const size_t count = (size_t)state->args.count, results = (size_t)p->num_outputs;
  rheos_shape *rows = rheos__arena_alloc(p->arena, (count + 1) * sizeof *rows);
  rheos_shape *shapes = rheos__arena_alloc(p->arena, (results + 1) * sizeof *shapes);
  rheos__resource **cells = rheos__arena_alloc(p->arena, (results + 1) * sizeof *cells);
  if (rows == NULL || shapes == NULL || cells == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; ++i) {
    rows[i] = p->input_shapes[i];
    if (i >= (size_t)state->num_mapped || rows[i].rank < 1) continue;
    --rows[i].rank;
    memmove(rows[i].dims, rows[i].dims + 1, (size_t)rows[i].rank * sizeof *rows[i].dims);
  }
  rheos__site_infer(state->site, p, rows, state->args.cells, shapes, cells);
  const int64_t num_rows = p->input_shapes[0].rank > 0 ? p->input_shapes[0].dims[0] : -1;
  for (size_t i = 0; i < results; ++i) {
    rheos_shape whole = behind(num_rows, &shapes[i]);
    rheos_status *differs = rheos__shape_merge(&p->output_shapes[i], &whole, &shapes[i]);
    if (differs != NULL) shapes[i] = RHEOS_UNKNOWN_SHAPE;  // a call tells of it
    rheos_status_free(differs);
    cells[i] = NULL;
  }
  p->called_shapes = shapes;
  p->called_resources = cells;
  return NULL;
}

static rheos_status *prepare_map(rheos__prepare *p) {
  map_state *state = RHEOS_NEW_STATE(p, map_state);
  if (state == NULL) return rheos__out_of_memory();
  *state = (map_state){.num_mapped = count_mapped(p->attrs),
                       .rows = rheos__attrs_find(p->attrs, "output_shapes"),
                       .dtypes = rheos__arena_copy(p->arena, p->output_dtypes,
                                                   (size_t)p->num_outputs * sizeof(rheos_dtype)),
                       .num_results = p->num_outputs};
  if (state->dtypes == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__call_args_init(p, 0, &state->args));
  for (int32_t i = 0; state->args.cells != NULL && i < state->num_mapped; ++i) {
    if (state->args.cells[i] != NULL)
      return RHEOS_INVALID("input %d is a handle without rows", (int)i);
  }
  RHEOS_TRY(rheos__call_site(p, rheos__attrs_find(p->attrs, "f")->func, &state->args, NULL, 0,
                             &state->site));
  p->compute = compute_map;
  p->release = release_map;
  rheos_status *status = infer_results(p, state);
  if (status != NULL) release_map(state);
  return status;
}

const rheos__op_def rheos__op_MapDefun = {
    .name = "MapDefun",
    .signature =
        "arguments: Targuments, captured_inputs: Tcaptured -> output: output_types; "
        "Targuments: list(type) >= 1; Tcaptured: list(type) >= 0 = []; "
        "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; f: func; "
        "max_intra_op_parallelism: int = 1",
    .doc =
        "The results of `f` for each row of `arguments` and the whole of `captured_inputs`, put "
        "together as rows.",
    .flags = RHEOS_OP_CALLS,
    .shape = infer_map,
    .prepare = prepare_map,
};
