// The formulas of optimizers: statements, and nothing but macros, so that they are part of programs
// for graphics cards too.
//
// In a formula `var` and `s1`, `s2`, `s3` are an element of the variable and of each slot, `g` is
// that of the gradient, `h` are the op's numbers in the order of its inputs, `f` is its flag.
// Sources: Adagrad: Duchi et al. 2011, and its dual averaging; proximal updates: Duchi and Singer
// 2009; Adadelta: Zeiler 2012; Adam and AdaMax: Kingma and Ba 2015; AMSGrad: Reddi et al. 2018;
// RMSProp: Hinton's lecture 6e, centered: Graves 2013; Ftrl: McMahan et al. 2013; AddSign and
// PowerSign: Bello et al. 2017; all in the form of TensorFlow's CPU kernels.
#ifndef RHEOS_SRC_OPS_STATE_APPLY_FORMULAS_H
#define RHEOS_SRC_OPS_STATE_APPLY_FORMULAS_H

#define SIGN(x) ((x) == (x) ? (C)((x) > 0) - (C)((x) < 0) : (x))  // x if it is not a number
#define LARGER(x, y) ((x) < (y) ? (y) : (x))                      // x if either is not a number

#define GRADIENT_DESCENT var -= h[0] * g;

// `x` drawn towards 0 by `l1` and shrunk by `l2`, both times the rate.
#define SHRINK(x, rate, l1, l2)                                                     \
  ((l1) > 0 ? SIGN(x) * LARGER(fabs(x) - (rate) * (l1), (C)0) / (1 + (l2) * (rate)) \
            : (x) / (1 + (l2) * (rate)))

#define PROXIMAL_GRADIENT_DESCENT \
  const C to = var - g * h[0];    \
  var = SHRINK(to, h[0], h[1], h[2]);

#define PROXIMAL_ADAGRAD          \
  s1 += g * g;                    \
  const C rate = h[0] / sqrt(s1); \
  const C to = var - g * rate;    \
  var = SHRINK(to, rate, h[1], h[2]);

#define MOMENTUM      \
  s1 = s1 * h[1] + g; \
  var -= f ? g * h[0] + s1 * h[1] * h[0] : s1 * h[0];

#define KERAS_MOMENTUM       \
  s1 = s1 * h[1] - g * h[0]; \
  var += f ? s1 * h[1] - g * h[0] : s1;

#define ADAGRAD       \
  if (f) s1 += g * g; \
  var -= g * h[0] / sqrt(s1);

#define ADAGRAD_V2    \
  if (f) s1 += g * g; \
  var -= g * h[0] / (sqrt(s1) + h[1]);

// h: lr, l1, l2, global_step
#define ADAGRAD_DA                                                                \
  s1 += g;                                                                        \
  s2 += g * g;                                                                    \
  const C kept = h[1] > 0 ? SIGN(s1) * LARGER(fabs(s1) - h[3] * h[1], (C)0) : s1; \
  var = -h[0] * kept / (h[2] * (h[3] * h[0]) + sqrt(s2));

#define ADADELTA                                          \
  s1 = s1 * h[1] + g * g * (1 - h[1]);                    \
  const C update = sqrt(s2 + h[2]) / sqrt(s1 + h[2]) * g; \
  var -= update * h[0];                                   \
  s2 = s2 * h[1] + update * update * (1 - h[1]);

// h: lr, rho, momentum, epsilon
#define RMSPROP                                \
  s1 += (g * g - s1) * (1 - h[1]);             \
  s2 = s2 * h[2] + g * h[0] / sqrt(s1 + h[3]); \
  var -= s2;

#define CENTERED_RMSPROP                                 \
  s2 += (g * g - s2) * (1 - h[1]);                       \
  s1 += (g - s1) * (1 - h[1]);                           \
  s3 = s3 * h[2] + g * h[0] / sqrt(s2 - s1 * s1 + h[3]); \
  var -= s3;

// h: beta1_power, beta2_power, lr, beta1, beta2, epsilon
#define ADAM_MOMENTS                                  \
  const C alpha = h[2] * sqrt(1 - h[1]) / (1 - h[0]); \
  s1 += (g - s1) * (1 - h[3]);                        \
  s2 += (g * g - s2) * (1 - h[4]);

#define ADAM   \
  ADAM_MOMENTS \
  var -= (f ? g * (1 - h[3]) + h[3] * s1 : s1) * alpha / (sqrt(s2) + h[5]);

#define AMSGRAD        \
  ADAM_MOMENTS         \
  s3 = LARGER(s3, s2); \
  var -= s1 * alpha / (sqrt(s3) + h[5]);

// h: beta1_power, lr, beta1, beta2, epsilon
#define ADAMAX                     \
  s1 += (g - s1) * (1 - h[2]);     \
  s2 = LARGER(h[3] * s2, fabs(g)); \
  var -= h[1] / (1 - h[0]) * (s1 / (s2 + h[4]));

// h: lr, l1, l2, ...; the power is almost always -1/2. With the flag `linear` is kept times the
// rate.
#define FTRL_TO(shrunk, power)                                                              \
  const C rate = f ? 1 : h[0];                                                              \
  const C scale = f ? h[0] : 1;                                                             \
  const C limit = h[1] * scale;                                                             \
  const C sum = s1 + g * g;                                                                 \
  const C from = (power) == (C) - 0.5 ? sqrt(s1) : pow(s1, -(power));                       \
  const C to = (power) == (C) - 0.5 ? sqrt(sum) : pow(sum, -(power));                       \
  s2 += (shrunk) * scale - (to - from) / rate * var;                                        \
  var = fabs(s2) > limit ? (limit * SIGN(s2) - s2) / (to / rate + 2 * h[2] * scale) : (C)0; \
  s1 = sum;

#define FTRL FTRL_TO(g, h[3])
#define FTRL_V2 FTRL_TO(g + 2 * h[3] * var, h[4])

// h: lr, alpha or logbase, sign_decay, beta
#define ADD_SIGN                   \
  s1 = s1 * h[3] + g * (1 - h[3]); \
  var -= h[0] * (h[1] + h[2] * (SIGN(g) * SIGN(s1))) * g;

#define POWER_SIGN                 \
  s1 = s1 * h[3] + g * (1 - h[3]); \
  var -= h[0] * exp(h[1] * h[2] * (SIGN(g) * SIGN(s1))) * g;

#endif  // RHEOS_SRC_OPS_STATE_APPLY_FORMULAS_H
