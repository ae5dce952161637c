// The machinery of elementwise ops: brings any broadcast down to calls of a loop over vectors and
// repeated scalars. What is known of the shapes is settled once, in prepare.
#include "ops/kit/elementwise.h"

#include <stddef.h>
#include <string.h>

#include "base/arena_share.h"
#include "base/numbers.h"
#include "ops/kit/op_util.h"

typedef rheos__elementwise elementwise;

static rheos_status *answer(const elementwise *e, int failed) {
  if (__builtin_expect(failed, 0)) return RHEOS_INVALID("%s", e->failure);
  return NULL;
}

static rheos_status *run_whole(const void *state, const void *const *inputs, void *const *outputs,
                               void *scratch, int64_t first_unit, int64_t last_unit) {
  const elementwise *e = state;
  (void)scratch, (void)first_unit, (void)last_unit;
  return answer(e, e->loop(inputs, outputs[0], e->num_elements, e->repeated, e->parameter));
}

static rheos_status *run_flat(const void *state, const void *const *inputs, void *const *outputs,
                              void *scratch, int64_t first_unit, int64_t last_unit) {
  const elementwise *e = state;
  (void)scratch;
  const int64_t begin = first_unit * RHEOS__UNIT_ELEMENTS;
  const int64_t end = rheos__min(last_unit * RHEOS__UNIT_ELEMENTS, e->num_elements);
  const void *in[RHEOS__MAX_OPERANDS];
  for (int32_t k = 0; k < e->num_operands; k++) {
    const int64_t step = e->repeated >> k & 1 ? 0 : e->element_bytes[k];
    in[k] = (const char *)inputs[k] + begin * step;
  }
  void *out = (char *)outputs[0] + begin * e->out_bytes;
  return answer(e, e->loop(in, out, end - begin, e->repeated, e->parameter));
}

// Where a walk over the joined dimensions stands.
typedef struct walk {
  int64_t index[RHEOS_MAX_RANK];
  const char *in[RHEOS__MAX_OPERANDS];
} walk;

// From element `element` on. Operands that are `placed` lie there already.
static void walk_start(walk *w, const elementwise *e, const void *const *inputs, int64_t element,
                       unsigned placed) {
  for (int32_t k = 0; k < e->num_operands; k++) w->in[k] = inputs[k];
  for (int32_t d = e->rank - 1; d >= 0; d--) {
    w->index[d] = element % e->dims[d];
    element /= e->dims[d];
    for (int32_t k = 0; k < e->num_operands; k++) {
      if (!(placed >> k & 1)) w->in[k] += w->index[d] * e->steps[k][d];
    }
  }
}

// Goes on by `count` elements, at most to the end of the innermost dimension.
static void walk_on(walk *w, const elementwise *e, int64_t count) {
  int32_t d = e->rank - 1;
  w->index[d] += count;
  for (int32_t k = 0; k < e->num_operands; k++) w->in[k] += count * e->steps[k][d];
  for (; d > 0 && w->index[d] == e->dims[d]; d--) {
    w->index[d] = 0;
    w->index[d - 1]++;
    for (int32_t k = 0; k < e->num_operands; k++) {
      w->in[k] += e->steps[k][d - 1] - e->dims[d] * e->steps[k][d];
    }
  }
}

// Elements [begin, end), one run of the innermost dimension after the other.
static int walk_range(const elementwise *e, const void *const *inputs, char *out, int64_t begin,
                      int64_t end, unsigned placed) {
  const int64_t inner = e->dims[e->rank - 1];
  int failed = 0;
  walk w;
  walk_start(&w, e, inputs, begin, placed);
  while (begin < end) {
    const int64_t count = rheos__min(inner - w.index[e->rank - 1], end - begin);
    const void *in[RHEOS__MAX_OPERANDS] = {w.in[0], e->num_operands > 1 ? w.in[1] : NULL,
                                           e->num_operands > 2 ? w.in[2] : NULL};
    failed |= e->loop(in, out, count, e->repeated, e->parameter);
    walk_on(&w, e, count);
    out += count * e->out_bytes;
    begin += count;
  }
  return failed;
}

static rheos_status *run_broadcast(const void *state, const void *const *inputs,
                                   void *const *outputs, void *scratch, int64_t first_unit,
                                   int64_t last_unit) {
  const elementwise *e = state;
  (void)scratch;
  const int64_t begin = first_unit * RHEOS__UNIT_ELEMENTS;
  const int64_t end = rheos__min(last_unit * RHEOS__UNIT_ELEMENTS, e->num_elements);
  char *out = (char *)outputs[0] + begin * e->out_bytes;
  return answer(e, walk_range(e, inputs, out, begin, end, 0));
}

const rheos__elementwise *rheos__elementwise_of(rheos__run_fn run, const void *state) {
  return run == run_whole || run == run_flat || run == run_broadcast ? state : NULL;
}

bool rheos__elementwise_is_full(const rheos__elementwise *e, int32_t k) {
  if (e->rank <= 1) return !(e->repeated >> k & 1);
  int64_t step = e->element_bytes[k];
  for (int32_t d = e->rank - 1; d >= 0; d--) {
    if (e->steps[k][d] != step) return false;
    step *= e->dims[d];
  }
  return true;
}

int rheos__elementwise_range(const rheos__elementwise *e, const void *const *in, void *out,
                             int64_t begin, int64_t count) {
  if (e->rank <= 1) return e->loop(in, out, count, e->repeated, e->parameter);
  unsigned placed = 0;
  for (int32_t k = 0; k < e->num_operands; k++) {
    if (rheos__elementwise_is_full(e, k)) placed |= 1u << k;
  }
  return walk_range(e, in, out, begin, begin + count, placed);
}

// How many elements operand k moves along each dimension of the output: 0 where it is repeated.
static void operand_steps(const rheos_shape *operand, const rheos_shape *out, int64_t *steps) {
  const int32_t shift = out->rank - operand->rank;
  int64_t step = 1;
  for (int32_t d = out->rank - 1; d >= 0; d--) {
    const int64_t dim = d >= shift ? operand->dims[d - shift] : 1;
    steps[d] = dim == 1 ? 0 : step;
    step *= dim;
  }
}

// Whether dimension `d` goes on where the last joined one ends, in every operand.
static bool can_join(const elementwise *e, int64_t steps[][RHEOS_MAX_RANK], int32_t d,
                     int64_t dim) {
  if (e->rank == 0) return false;
  for (int32_t k = 0; k < e->num_operands; k++) {
    if (e->steps[k][e->rank - 1] != steps[k][d] * dim) return false;
  }
  return true;
}

static void join_dimensions(elementwise *e, const rheos__prepare *p) {
  const rheos_shape *out = &p->output_shapes[0];
  int64_t steps[RHEOS__MAX_OPERANDS][RHEOS_MAX_RANK];
  for (int32_t k = 0; k < e->num_operands; k++) {
    operand_steps(&p->input_shapes[k], out, steps[k]);
  }
  for (int32_t d = 0; d < out->rank; d++) {
    if (out->dims[d] == 1) continue;
    if (can_join(e, steps, d, out->dims[d])) {
      e->dims[e->rank - 1] *= out->dims[d];
    } else {
      e->dims[e->rank++] = out->dims[d];
    }
    for (int32_t k = 0; k < e->num_operands; k++) e->steps[k][e->rank - 1] = steps[k][d];
  }
  for (int32_t k = 0; k < e->num_operands; k++) {
    if (e->rank > 0 && e->steps[k][e->rank - 1] == 0) e->repeated |= 1u << k;
    for (int32_t d = 0; d < e->rank; d++) e->steps[k][d] *= e->element_bytes[k];
  }
}

// The first input that the output may be written over.
static int32_t input_to_reuse(const rheos__prepare *p) {
  const size_t out_bytes = rheos_dtype_size(p->output_dtypes[0]);
  for (int32_t k = 0; k < p->num_inputs; k++) {
    if (rheos_dtype_size(p->input_dtypes[k]) == out_bytes &&
        rheos_shape_equal(&p->input_shapes[k], &p->output_shapes[0])) {
      return k;
    }
  }
  return -1;
}

rheos_status *rheos__prepare_elementwise(rheos__prepare *p, rheos__loop loop, int cost,
                                         double parameter, const char *failure) {
  if (loop == NULL) return rheos__no_kernel(p, rheos__loop_dtype(p));
  elementwise whole;
  elementwise *e = &whole;
  memset(e, 0, sizeof *e);  // what lies between the fields too: states are compared
  e->loop = loop;
  e->num_elements = rheos_shape_num_elements(&p->output_shapes[0]);
  e->parameter = parameter;
  e->failure = failure;
  e->can_fail =
      failure != NULL && failure[0] != '\0' && rheos_dtype_is_integer(rheos__loop_dtype(p));
  e->num_operands = p->num_inputs;
  e->out_bytes = (int64_t)rheos_dtype_size(p->output_dtypes[0]);
  for (int32_t k = 0; k < p->num_inputs; k++) {
    e->element_bytes[k] = (int64_t)rheos_dtype_size(p->input_dtypes[k]);
  }
  if (e->num_elements > 0) join_dimensions(e, p);
  const int64_t units = (e->num_elements + RHEOS__UNIT_ELEMENTS - 1) / RHEOS__UNIT_ELEMENTS;
  p->num_units = units > 1 ? units : 1;
  if (e->rank > 1) {
    p->run = run_broadcast;
  } else {
    p->run = units > 1 ? run_flat : run_whole;
  }
  p->reuse_input = input_to_reuse(p);
  p->flops = rheos__flops((double)e->num_elements * cost);
  const size_t size = e->rank > 1 ? sizeof *e : offsetof(elementwise, dims);
  p->state = rheos__arena_share(p->arena, e, size);  // equal nodes have one
  return p->state != NULL ? NULL : rheos__out_of_memory();
}

rheos__loop rheos__elementwise_loop(const rheos__prepare *p, double *out_parameter) {
  const elementwise *e = p->state;
  *out_parameter = e->parameter;
  return e->loop;
}
