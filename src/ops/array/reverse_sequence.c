// ReverseSequence: the first elements of each sequence backwards, as many as it is long.
#include "graph/build.h"
#include "ops/kit/array_util.h"

static rheos_status *shape_reverse_sequence(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0];
  const int64_t seq = rheos__attr_int(c->attrs, "seq_dim");
  const int64_t batch = rheos__attr_int(c->attrs, "batch_dim");
  rheos_shape lengths;
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &lengths));
  if (seq < 0 || batch < 0) return RHEOS_INVALID("seq_dim and batch_dim must not be negative");
  if (seq == batch) return RHEOS_INVALID("batch_dim == seq_dim == %lld", (long long)seq);
  c->output_shapes[0] = *in;
  if (in->rank < 0) return NULL;
  if (batch >= in->rank || seq >= in->rank) {
    return RHEOS_INVALID("%s must be < input rank: %lld vs. %d",
                         batch >= in->rank ? "batch_dim" : "seq_dim",
                         (long long)(batch >= in->rank ? batch : seq), in->rank);
  }
  const int64_t count = lengths.dims[0], size = in->dims[batch];
  if (count >= 0 && size >= 0 && count != size) {
    return RHEOS_INVALID("Length of seq_lengths != input.dims(%lld), (%lld vs. %lld)",
                         (long long)batch, (long long)count, (long long)size);
  }
  if (size < 0) c->output_shapes[0].dims[batch] = count;
  return NULL;
}

// Copies the elements [first, last) of one sequence, backwards if `reversed`.
static rheos_status *copy_part(const rheos__operands *o, const void *in, void *out, int64_t batch,
                               int64_t first, int64_t last, bool reversed) {
  const rheos_shape *shape = &o->input_shapes[0];
  const int32_t seq_dim = (int32_t)o->numbers[0], batch_dim = (int32_t)o->numbers[1];
  int64_t steps[RHEOS_MAX_RANK];
  rheos__copy copy;
  rheos__row_major_steps(shape, steps);
  rheos__copy_init(&copy, o->output_dtypes[0]);
  copy.out_start = batch * steps[batch_dim] + first * steps[seq_dim];
  copy.in_start = batch * steps[batch_dim] + (reversed ? last - 1 : first) * steps[seq_dim];
  for (int32_t d = 0; d < shape->rank; ++d) {
    if (d == batch_dim) continue;
    const int64_t dim = d == seq_dim ? last - first : shape->dims[d];
    rheos__copy_add(&copy, dim, d == seq_dim && reversed ? -steps[d] : steps[d], steps[d]);
  }
  return rheos__copy_all(&copy, in, out);
}

static rheos_status *run_reverse_sequence(const void *state, const void *const *inputs,
                                          void *const *outputs, void *scratch, int64_t first_unit,
                                          int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  const rheos__operands *o = state;
  const rheos_shape *shape = &o->input_shapes[0];
  const int64_t size = shape->dims[o->numbers[0]], count = shape->dims[o->numbers[1]];
  for (int64_t b = 0; b < count; ++b) {
    const int64_t length = rheos__operand_int(o, inputs, 1, b);
    if (length < 0 || length > size) {
      return RHEOS_INVALID("seq_lens(%lld) = %lld is not in [0, input.dims(%lld) = %lld]",
                           (long long)b, (long long)length, (long long)o->numbers[0],
                           (long long)size);
    }
  }
  if (rheos_shape_num_elements(shape) == 0) return NULL;
  for (int64_t b = 0; b < count; ++b) {
    const int64_t length = rheos__operand_int(o, inputs, 1, b);
    RHEOS_TRY(copy_part(o, inputs[0], outputs[0], b, 0, length, true));
    RHEOS_TRY(copy_part(o, inputs[0], outputs[0], b, length, size, false));
  }
  return NULL;
}

static rheos_status *prepare_reverse_sequence(rheos__prepare *p) {
  rheos__operands *o = rheos__keep_operands(p);
  if (o == NULL) return rheos__out_of_memory();
  o->numbers[0] = rheos__attr_int(p->attrs, "seq_dim");
  o->numbers[1] = rheos__attr_int(p->attrs, "batch_dim");
  p->state = o;
  return rheos__answer_run(p, run_reverse_sequence, 1);
}

static void gradient_reverse_sequence(rheos__grad *g) {
  const rheos_output inputs[] = {rheos__grad_dense(g, 0), g->inputs[1]};
  const rheos_attr attrs[] = {rheos_attr_int("seq_dim", rheos__attr_int(g->attrs, "seq_dim")),
                              rheos_attr_int("batch_dim", rheos__attr_int(g->attrs, "batch_dim"))};
  const rheos_operation node = rheos__op_n(g->scope, "ReverseSequence", NULL, inputs, 2, attrs, 2);
  if (node.graph != NULL) rheos__grad_set(g, 0, rheos_operation_output(node, 0));
}

const rheos__op_def rheos__op_ReverseSequence = {
    .name = "ReverseSequence",
    .signature =
        "input: T, seq_lengths: Tlen -> output: T; seq_dim: int; batch_dim: int = 0; "
        "T: type; Tlen: {int32, int64} = int64",
    .doc =
        "`input` with the first `seq_lengths`[i] elements along `seq_dim` backwards in slice i "
        "along `batch_dim`.",
    .shape = shape_reverse_sequence,
    .gradient = gradient_reverse_sequence,
    .prepare = prepare_reverse_sequence,
};
