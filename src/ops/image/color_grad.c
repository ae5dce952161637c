// The gradient of RGBToHSV, as nodes. With M and m 1 at the largest and smallest of a pixel's three
// channels x (0 elsewhere), V and v these two, D = V - v, and n = M shifted against itself, so that
// N = sum n x is the numerator of the hue:
//   dV = M    dS = (v M - V m) / V^2    dH = (n - N / D (M - m)) / 6 D    each for its channel
// Gray has no hue and black no saturation: 0 there.
#include "ops/image/color_grad.h"

#include "ops/kit/array_grad.h"
#include "ops/kit/op_util.h"

enum { RED, GREEN, BLUE, CHANNELS };

static void unpack(rheos_scope *s, rheos_output x, rheos_output out[CHANNELS]) {
  rheos_attr attrs[] = {rheos_attr_int("num", CHANNELS), rheos_attr_int("axis", -1)};
  const rheos_operation node = rheos__op_n(s, "Unpack", NULL, &x, 1, attrs, 2);
  for (int32_t c = 0; c < CHANNELS; c++) out[c] = rheos_operation_output(node, c);
}

// 1 where both comparisons hold, in the dtype of a.
static rheos_output where_both(rheos_scope *s, const char *first, rheos_output a, rheos_output b,
                               const char *second, rheos_output c, rheos_output d) {
  const rheos_output both =
      rheos__op_2(s, "LogicalAnd", rheos__op_2(s, first, a, b), rheos__op_2(s, second, c, d));
  return rheos__cast_to(s, both, rheos_output_dtype(a));
}

// Of equal channels the first is the largest, and the last but red the smallest.
static void find_ends(rheos_scope *s, const rheos_output *x, rheos_output *largest,
                      rheos_output *smallest) {
  const rheos_output r = x[RED], g = x[GREEN], b = x[BLUE];
  largest[RED] = where_both(s, "GreaterEqual", r, b, "GreaterEqual", r, g);
  largest[GREEN] = where_both(s, "Greater", g, r, "GreaterEqual", g, b);
  largest[BLUE] = where_both(s, "Greater", b, r, "Greater", b, g);
  smallest[RED] = where_both(s, "Less", r, b, "Less", r, g);
  smallest[GREEN] = where_both(s, "LessEqual", g, r, "Less", g, b);
  smallest[BLUE] = where_both(s, "LessEqual", b, r, "LessEqual", b, g);
}

static rheos_output dot(rheos_scope *s, const rheos_output *a, const rheos_output *b) {
  rheos_output sum = rheos__py_mul(s, a[0], b[0]);
  for (int c = 1; c < CHANNELS; c++) sum = rheos__py_add(s, sum, rheos__py_mul(s, a[c], b[c]));
  return sum;
}

void rheos__gradient_RGBToHSV(rheos__grad *g) {
  rheos_scope *s = g->scope;
  rheos_output x[CHANNELS], grad[CHANNELS], largest[CHANNELS], smallest[CHANNELS], n[CHANNELS];
  unpack(s, g->inputs[0], x);
  unpack(s, rheos__grad_dense(g, 0), grad);
  find_ends(s, x, largest, smallest);
  for (int c = 0; c < CHANNELS; c++) {
    n[c] = rheos__py_sub(s, largest[(c + 2) % CHANNELS], largest[(c + 1) % CHANNELS]);
  }
  const rheos_output most = dot(s, largest, x), least = dot(s, smallest, x);
  const rheos_output range = rheos__py_sub(s, most, least);
  const rheos_output turn = rheos__op_2(s, "DivNoNan", dot(s, n, x), range);
  const rheos_output six = rheos__const_scalar(s, rheos_output_dtype(most), 6, NULL);
  const rheos_output six_ranges = rheos__py_mul(s, six, range);
  const rheos_output square = rheos__py_mul(s, most, most);
  rheos_output channels[CHANNELS];
  for (int c = 0; c < CHANNELS; c++) {
    const rheos_output ends = rheos__py_sub(s, largest[c], smallest[c]);
    const rheos_output hue = rheos__op_2(
        s, "DivNoNan", rheos__py_sub(s, n[c], rheos__py_mul(s, turn, ends)), six_ranges);
    const rheos_output saturation = rheos__op_2(
        s, "DivNoNan",
        rheos__py_sub(s, rheos__py_mul(s, least, largest[c]), rheos__py_mul(s, most, smallest[c])),
        square);
    const rheos_output by[CHANNELS] = {hue, saturation, largest[c]};
    channels[c] = dot(s, grad, by);
  }
  rheos__grad_set(g, 0, rheos__stack(s, channels, CHANNELS, -1));
}
