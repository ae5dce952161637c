// The gradient of Einsum: for each operand another Einsum, of the gradient and the other operand.
// Dimensions that only this operand has were summed: the gradient is repeated along them. Those
// under an ellipsis that were broadcast are summed again.
#include "ops/linalg/einsum_terms.h"

#include <stdio.h>
#include <string.h>

#include "ops/kit/array_grad.h"
#include "ops/kit/op_util.h"

typedef rheos__einsum_term term;

enum { TERM_TEXT = RHEOS_MAX_RANK + 4 };

static void write_term(const term *t, const term *before, char *text) {
  size_t length = 0;
  for (int32_t i = 0; before != NULL && i < before->count; ++i) {
    text[length++] = (char)before->labels[i];
  }
  for (int32_t i = 0; i <= t->count; ++i) {
    if (i == t->ellipsis) {
      memcpy(text + length, "...", 3);
      length += 3;
    }
    if (i < t->count) text[length++] = (char)t->labels[i];
  }
  text[length] = '\0';
}

// "x,y->z", or "x->z" where y is NULL. The labels of `before` stand ahead of x.
static rheos_output einsum(rheos_scope *s, rheos_output x, rheos_output y, const term *before,
                           const term *of_x, const term *of_y, const term *of_z) {
  char texts[3][2 * TERM_TEXT] = {"", "", ""}, equation[6 * TERM_TEXT + 8];
  write_term(of_x, before, texts[0]);
  if (of_y != NULL) write_term(of_y, NULL, texts[1]);
  write_term(of_z, NULL, texts[2]);
  const int length = snprintf(equation, sizeof equation, "%s%s%s->%s", texts[0],
                              of_y != NULL ? "," : "", texts[1], texts[2]);
  const rheos_output inputs[] = {x, y};
  const rheos_attr attr = rheos_attr_string("equation", equation, (size_t)length);
  return rheos__named_n(s, "Einsum", NULL, inputs, of_y != NULL ? 2 : 1, &attr, 1);
}

// Each label of `from` once, without those of the others (which may be NULL).
static term labels_without(const term *from, const term *others, const term *more) {
  term result = {.ellipsis = -1};
  for (int32_t i = 0; i < from->count; ++i) {
    const unsigned char label = from->labels[i];
    if (rheos__einsum_has(others, label)) continue;
    if (more != NULL && rheos__einsum_has(more, label)) continue;
    if (!rheos__einsum_has(&result, label)) result.labels[result.count++] = label;
  }
  return result;
}

// `from` without the labels of `labels`.
static term term_without(const term *from, const term *labels) {
  term result = {.ellipsis = -1};
  for (int32_t i = 0; i <= from->count; ++i) {
    if (i == from->ellipsis) result.ellipsis = result.count;
    if (i == from->count || rheos__einsum_has(labels, from->labels[i])) continue;
    result.labels[result.count++] = from->labels[i];
  }
  return result;
}

// The size of the dimension with this label: counted from the end if it stands behind the ellipsis.
static rheos_output size_of_label(rheos_scope *s, rheos_output shape, const term *t,
                                  unsigned char label) {
  int32_t at = 0;
  while (t->labels[at] != label) ++at;
  if (t->ellipsis >= 0 && at >= t->ellipsis) at -= t->count;
  const rheos_output size = rheos__gather(
      s,
      at >= 0 ? shape
              : rheos__vector_slice(s, shape, (rheos__bound){.present = true, .number = at},
                                    (rheos__bound){.present = false}),
      rheos__const_scalar(s, RHEOS_INT32, at >= 0 ? at : 0, "Const"));
  return size;
}

// The gradient of x from that of a sum of x over the labels `summed`, which has the term `of_grad`.
static rheos_output repeat_along(rheos_scope *s, rheos_output grad, const term *of_grad,
                                 rheos_output x_shape, const term *of_x, const term *summed) {
  rheos_output sizes[RHEOS_MAX_RANK];
  for (int32_t i = 0; i < summed->count; ++i) {
    sizes[i] = size_of_label(s, x_shape, of_x, summed->labels[i]);
  }
  const rheos_output dims[] = {rheos__stack(s, sizes, summed->count, 0),
                               rheos__shape_of(s, grad, RHEOS_INT32)};
  const rheos_output repeated = rheos__op_2(s, "BroadcastTo", grad, rheos__concat(s, dims, 2, 0));
  return einsum(s, repeated, repeated, summed, of_grad, NULL, of_x);
}

static rheos_output gradient_of(rheos_scope *s, rheos_output grad, const term *of_grad,
                                rheos_output x_shape, const term *of_x, rheos_output y,
                                const term *of_y) {
  const term summed = labels_without(of_x, of_grad, of_y);
  const term left = term_without(of_x, &summed);
  const rheos_output of_left = einsum(s, grad, y, NULL, of_grad, of_y, &left);
  if (summed.count == 0) return of_left;
  return repeat_along(s, of_left, &left, x_shape, of_x, &summed);
}

static void gradient_of_one(rheos__grad *g, const rheos__einsum *e) {
  rheos_scope *s = g->scope;
  const rheos_output grad = rheos__grad_dense(g, 0), x = g->inputs[0];
  const term summed = labels_without(&e->inputs[0], &e->output, NULL);
  if (summed.count == 0) {
    rheos__grad_set(g, 0, einsum(s, grad, grad, NULL, &e->output, NULL, &e->inputs[0]));
    return;
  }
  const rheos_output shape = rheos__shape_of(s, x, RHEOS_INT32);
  rheos__grad_set(g, 0, repeat_along(s, grad, &e->output, shape, &e->inputs[0], &summed));
}

static rheos_output broadcast_dims(rheos_scope *s, rheos_output shape, const term *t) {
  const rheos__bound begin = {.present = true, .number = t->ellipsis};
  const rheos__bound end = {.present = t->ellipsis < t->count, .number = t->ellipsis - t->count};
  return rheos__vector_slice(s, shape, begin, end);
}

// Sums what was broadcast under the ellipses.
static void sum_broadcast(rheos__grad *g, const rheos_output *shapes, const term *terms) {
  rheos_scope *s = g->scope;
  rheos_output dims[2];
  for (int i = 0; i < 2; ++i) dims[i] = broadcast_dims(s, shapes[i], &terms[i]);
  const rheos_operation axes = rheos__op_n(s, "BroadcastGradientArgs", NULL, dims, 2, NULL, 0);
  if (axes.graph == NULL) return;
  for (int i = 0; i < 2; ++i) {
    const rheos_output at = rheos__op_with_number(
        s, "AddV2", "add", rheos_operation_output(axes, i), terms[i].ellipsis);
    const rheos_output sum = rheos__sum_over(s, g->in_grads[i].values, at, false);
    rheos__grad_set(g, i, rheos__op_2(s, "Reshape", sum, shapes[i]));
  }
}

static void gradient_of_two(rheos__grad *g, const rheos__einsum *e) {
  rheos_scope *s = g->scope;
  const rheos_output grad = rheos__grad_dense(g, 0);
  const bool broadcasts = e->output.ellipsis >= 0;
  term terms[2] = {e->inputs[0], e->inputs[1]};
  rheos_output shapes[2], factors[2];
  for (int i = 0; i < 2; ++i) {
    if (broadcasts && terms[i].ellipsis < 0) terms[i].ellipsis = terms[i].count;
    const rheos_output x = g->inputs[i];
    factors[i] = rheos_dtype_is_complex(rheos_output_dtype(x)) ? rheos__op_1(s, "Conj", x) : x;
    shapes[i] = rheos__shape_of(s, x, RHEOS_INT32);
  }
  for (int i = 0; i < 2; ++i) {
    rheos__grad_set(
        g, i,
        gradient_of(s, grad, &e->output, shapes[i], &terms[i], factors[1 - i], &terms[1 - i]));
  }
  if (broadcasts) sum_broadcast(g, shapes, terms);
}

void rheos__gradient_einsum(rheos__grad *g) {
  rheos__einsum e;
  rheos_status *status =
      rheos__einsum_parse(rheos__attr_string(g->attrs, "equation"), g->num_inputs, &e);
  if (status != NULL) {
    rheos_scope_fail_take(g->scope, status);
  } else if (e.num_inputs == 1) {
    gradient_of_one(g, &e);
  } else {
    gradient_of_two(g, &e);
  }
}
