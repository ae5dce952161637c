// Rules about losses, and about functions whose values or gradients go bad at the edge.
#include "lint/lint.h"

static const char *const softmax_losses[] = {"SoftmaxCrossEntropyWithLogits",
                                             "SparseSoftmaxCrossEntropyWithLogits", NULL};

// What a loss takes, told by the node that made it.
static void tell_squashed(rheos__lint_findings *found, const rheos__lint_graph *g, int32_t loss,
                          const char *function, int32_t squashed) {
  rheos__lint_tell(found, g, loss, "the loss '%s' takes '%s', a %s, and applies it again",
                   rheos__lint_name(found, g, loss), rheos__lint_name(found, g, squashed),
                   function);
}

void rheos__lint_double_softmax(rheos__lint_findings *found, const rheos__lint_graph *g) {
  static const char *const squashing[] = {"Softmax", "LogSoftmax", NULL};
  for (int32_t id = 0; id < g->num_nodes; id++) {
    if (!rheos__lint_is_one(g, id, softmax_losses)) continue;
    const rheos__edge logits = rheos__lint_behind(g, rheos__lint_input(g, id, 0), true);
    if (rheos__lint_is_one(g, logits.id, squashing)) {
      tell_squashed(found, g, id, "softmax", logits.id);
    }
  }
}

// x of log1p(exp(-|x|)), the part of sigmoid_cross_entropy_with_logits() that no other loss has:
// -|x| is Neg(Abs(x)), or a choice between -x and x. {-1, -1} if it is something else.
static rheos__edge logits_of_log1p(const rheos__lint_graph *g, int32_t id) {
  static const char *const choices[] = {"Select", "SelectV2", NULL};
  const rheos__edge none = {-1, -1}, exponential = rheos__lint_input(g, id, 0);
  if (!rheos__lint_is(g, exponential.id, "Exp")) return none;
  const rheos__edge negative = rheos__lint_input(g, exponential.id, 0);
  if (rheos__lint_is(g, negative.id, "Neg")) {
    const rheos__edge absolute = rheos__lint_input(g, negative.id, 0);
    return rheos__lint_is(g, absolute.id, "Abs") ? rheos__lint_input(g, absolute.id, 0) : none;
  }
  if (!rheos__lint_is_one(g, negative.id, choices)) return none;
  const rheos__edge minus = rheos__lint_input(g, negative.id, 1);
  const rheos__edge x = rheos__lint_input(g, negative.id, 2);
  if (!rheos__lint_is(g, minus.id, "Neg")) return none;
  return rheos__lint_input(g, minus.id, 0).id == x.id ? x : none;
}

void rheos__lint_double_sigmoid(rheos__lint_findings *found, const rheos__lint_graph *g) {
  for (int32_t id = 0; id < g->num_nodes; id++) {
    if (!rheos__lint_is(g, id, "Log1p")) continue;
    const rheos__edge logits = rheos__lint_behind(g, logits_of_log1p(g, id), true);
    if (rheos__lint_is(g, logits.id, "Sigmoid")) {
      tell_squashed(found, g, id, "sigmoid", logits.id);
    }
  }
}

void rheos__lint_log_of_softmax(rheos__lint_findings *found, const rheos__lint_graph *g) {
  static const char *const squashing[] = {"Softmax", "Sigmoid", NULL};
  for (int32_t id = 0; id < g->num_nodes; id++) {
    if (!rheos__lint_is(g, id, "Log")) continue;
    const rheos__edge of = rheos__lint_behind(g, rheos__lint_input(g, id, 0), false);
    if (!rheos__lint_is_one(g, of.id, squashing)) continue;
    rheos__lint_tell(found, g, id, "'%s' is the logarithm of '%s', which can be 0",
                     rheos__lint_name(found, g, id), rheos__lint_name(found, g, of.id));
  }
}

// Whether a value is kept from 0 by a constant: added, or as its least.
static bool is_kept_from_zero(const rheos__lint_graph *g, rheos__edge edge) {
  static const char *const ops[] = {"Add", "AddV2", "Maximum", "ClipByValue", "BiasAdd", NULL};
  edge = rheos__lint_behind(g, edge, true);
  if (rheos__lint_is(g, edge.id, "Minimum")) {  // of a value that is clipped
    edge = rheos__lint_behind(g, rheos__lint_input(g, edge.id, 0), true);
  }
  if (!rheos__lint_is_one(g, edge.id, ops)) return false;
  return rheos__lint_is(g, edge.id, "ClipByValue") ||
         rheos__lint_is(g, rheos__lint_input(g, edge.id, 0).id, "Const") ||
         rheos__lint_is(g, rheos__lint_input(g, edge.id, 1).id, "Const");
}

// Whether `value` is the logarithm of `x`, or of a quotient of x.
static bool is_log_of(const rheos__lint_graph *g, rheos__edge value, rheos__edge x) {
  static const char *const quotients[] = {"RealDiv", "Div", NULL};
  const rheos__edge log = rheos__lint_behind(g, value, true);
  if (!rheos__lint_is(g, log.id, "Log")) return false;
  rheos__edge of = rheos__lint_behind(g, rheos__lint_input(g, log.id, 0), false);
  if (rheos__lint_is_one(g, of.id, quotients) && of.id != x.id) {
    of = rheos__lint_behind(g, rheos__lint_input(g, of.id, 0), false);
  }
  return of.id == x.id && of.index == x.index;
}

void rheos__lint_log_at_zero(rheos__lint_findings *found, const rheos__lint_graph *g) {
  for (int32_t id = 0; id < g->num_nodes; id++) {
    if (!rheos__lint_is(g, id, "Mul")) continue;
    for (int32_t i = 0; i < 2; i++) {
      const rheos__edge x = rheos__lint_behind(g, rheos__lint_input(g, id, i), false);
      if (x.id < 0 || rheos__lint_is(g, x.id, "Const")) continue;
      if (!is_log_of(g, rheos__lint_input(g, id, 1 - i), x) || is_kept_from_zero(g, x)) continue;
      rheos__lint_tell(found, g, id,
                       "'%s' is '%s' times its logarithm: where that is 0 no number, and no "
                       "gradient",
                       rheos__lint_name(found, g, id), rheos__lint_name(found, g, x.id));
      break;
    }
  }
}

// Whether a value is a sum of squares, with nothing added that keeps it from 0.
static bool is_sum_of_squares(const rheos__lint_graph *g, rheos__edge edge) {
  const rheos__edge sum = rheos__lint_behind(g, edge, true);
  if (!rheos__lint_is(g, sum.id, "Sum")) return false;
  const rheos__edge square = rheos__lint_behind(g, rheos__lint_input(g, sum.id, 0), true);
  if (rheos__lint_is(g, square.id, "Square") || rheos__lint_is(g, square.id, "SquaredDifference")) {
    return true;
  }
  const rheos__edge a = rheos__lint_input(g, square.id, 0), b = rheos__lint_input(g, square.id, 1);
  return rheos__lint_is(g, square.id, "Mul") && a.id == b.id && a.index == b.index;
}

void rheos__lint_root_at_zero(rheos__lint_findings *found, const rheos__lint_graph *g) {
  for (int32_t id = 0; id < g->num_nodes; id++) {
    if (!rheos__lint_is(g, id, "SqrtGrad")) continue;
    const rheos__edge root = rheos__lint_input(g, id, 0);
    if (!rheos__lint_is(g, root.id, "Sqrt")) continue;
    if (!is_sum_of_squares(g, rheos__lint_input(g, root.id, 0))) continue;
    rheos__lint_tell(found, g, root.id,
                     "a gradient flows through '%s', the root of a sum of squares, which is "
                     "infinite where they are all 0",
                     rheos__lint_name(found, g, root.id));
  }
}

// A value that a program gives: what is fed, read or written down.
static bool is_given(const rheos__lint_graph *g, rheos__edge edge) {
  static const char *const given[] = {"Placeholder", "PlaceholderV2",   "OneHot",
                                      "Const",       "IteratorGetNext", NULL};
  while (rheos__lint_is(g, edge.id, "Cast")) edge = rheos__lint_input(g, edge.id, 0);
  edge = rheos__lint_behind(g, edge, true);
  while (rheos__lint_is(g, edge.id, "Cast")) edge = rheos__lint_input(g, edge.id, 0);
  return rheos__lint_is_one(g, edge.id, given);
}

void rheos__lint_swapped_labels(rheos__lint_findings *found, const rheos__lint_graph *g) {
  for (int32_t id = 0; id < g->num_nodes; id++) {
    if (!rheos__lint_is(g, id, "SoftmaxCrossEntropyWithLogits")) continue;
    const rheos__edge logits = rheos__lint_input(g, id, 0), labels = rheos__lint_input(g, id, 1);
    const rheos__edge source = rheos__lint_behind(g, logits, true);
    const bool is_one_hot = rheos__lint_is(g, source.id, "OneHot");
    if (!is_one_hot && (!is_given(g, logits) || is_given(g, labels) ||
                        !rheos__lint_needs_variable(found, g, labels))) {
      continue;
    }
    rheos__lint_tell(found, g, id, "the loss '%s' takes '%s', which is given, as its logits%s",
                     rheos__lint_name(found, g, id), rheos__lint_name(found, g, source.id),
                     is_one_hot ? "" : ", and what variables compute as its labels");
  }
}

void rheos__lint_one_hot_labels(rheos__lint_findings *found, const rheos__lint_graph *g) {
  for (int32_t id = 0; id < g->num_nodes; id++) {
    if (!rheos__lint_is(g, id, "SparseSoftmaxCrossEntropyWithLogits")) continue;
    rheos__edge labels = rheos__lint_behind(g, rheos__lint_input(g, id, 1), true);
    if (rheos__lint_is(g, labels.id, "Cast")) {
      labels = rheos__lint_behind(g, rheos__lint_input(g, labels.id, 0), true);
    }
    if (!rheos__lint_is(g, labels.id, "OneHot")) continue;
    rheos__lint_tell(found, g, id,
                     "the loss '%s' wants the numbers of classes and takes '%s', "
                     "which is one-hot",
                     rheos__lint_name(found, g, id), rheos__lint_name(found, g, labels.id));
  }
}
