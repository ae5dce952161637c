// The kinds of optimizers. Names of slots and numbers, and their order, are TensorFlow 1's, so that
// its checkpoints restore here and the other way round.
#include "train/optimizer_table.h"

#include <assert.h>

#define NUMBER(name, field) \
  {name, offsetof(rheos_optimizer, field), offsetof(rheos_optimizer, field##_tensor)}
#define RATE NUMBER("learning_rate", learning_rate)
#define L1_L2                                                       \
  NUMBER("l1_regularization_strength", l1_regularization_strength), \
      NUMBER("l2_regularization_strength", l2_regularization_strength)
#define RMSPROP_NUMBERS \
  RATE, NUMBER("decay", decay), NUMBER("momentum", momentum), NUMBER("epsilon", epsilon)
#define FTRL_NUMBERS                                                                        \
  RATE, L1_L2,                                                                              \
      NUMBER("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength), \
      NUMBER("learning_rate_power", learning_rate_power)
#define FTRL_SLOTS                                                                      \
  {"accum", RHEOS__SLOT_CONSTANT_ACCUMULATOR, offsetof(rheos_optimizer, accum_name)}, { \
    "linear", RHEOS__SLOT_ZEROS, offsetof(rheos_optimizer, linear_name)                 \
  }

enum { CENTERED_RMSPROP = RHEOS_OPTIMIZER_ADAGRAD_DA + 1, SHRINKING_FTRL, NUM_ROWS };

static const rheos__optimizer_row rows[NUM_ROWS] = {
    [RHEOS_OPTIMIZER_GRADIENT_DESCENT] =
        {"GradientDescent", "GradientDescent", "0g", {{0}}, {RATE}},
    [RHEOS_OPTIMIZER_MOMENTUM] = {"Momentum",
                                  "Momentum",
                                  "a0g1",
                                  {{"momentum", RHEOS__SLOT_ZEROS, 0}},
                                  {RATE, NUMBER("momentum", momentum)}},
    [RHEOS_OPTIMIZER_ADAGRAD] =
        {"Adagrad", "Adagrad", "a0g", {{"accumulator", RHEOS__SLOT_ACCUMULATOR, 0}}, {RATE}},
    [RHEOS_OPTIMIZER_ADAM] = {"Adam",
                              "Adam",
                              "abpq0123g",
                              {{"m", RHEOS__SLOT_ZEROS, 0}, {"v", RHEOS__SLOT_ZEROS, 0}},
                              {RATE, NUMBER("beta1", beta1), NUMBER("beta2", beta2),
                               NUMBER("epsilon", epsilon)}},
    [RHEOS_OPTIMIZER_RMSPROP] = {"RMSProp",
                                 "RMSProp",
                                 "ab0123g",
                                 {{"rms", RHEOS__SLOT_ONES, 0}, {"momentum", RHEOS__SLOT_ZEROS, 0}},
                                 {RMSPROP_NUMBERS}},
    [CENTERED_RMSPROP] = {"RMSProp",
                          "CenteredRMSProp",
                          "bac0123g",
                          {{"rms", RHEOS__SLOT_ONES, 0},
                           {"mg", RHEOS__SLOT_ZEROS, 0},
                           {"momentum", RHEOS__SLOT_ZEROS, 0}},
                          {RMSPROP_NUMBERS}},
    [RHEOS_OPTIMIZER_ADADELTA] = {"Adadelta",
                                  "Adadelta",
                                  "ab012g",
                                  {{"accum", RHEOS__SLOT_ZEROS, 0},
                                   {"accum_update", RHEOS__SLOT_ZEROS, 0}},
                                  {NUMBER("lr", learning_rate), NUMBER("rho", decay),
                                   NUMBER("epsilon", epsilon)}},
    [RHEOS_OPTIMIZER_FTRL] = {"Ftrl", "Ftrl", "abg0124", {FTRL_SLOTS}, {FTRL_NUMBERS}},
    [SHRINKING_FTRL] = {"Ftrl", "FtrlV2", "abg01234", {FTRL_SLOTS}, {FTRL_NUMBERS}},
    [RHEOS_OPTIMIZER_PROXIMAL_GRADIENT_DESCENT] =
        {"ProximalGradientDescent", "ProximalGradientDescent", "012g", {{0}}, {RATE, L1_L2}},
    [RHEOS_OPTIMIZER_PROXIMAL_ADAGRAD] = {"ProximalAdagrad",
                                          "ProximalAdagrad",
                                          "a012g",
                                          {{"accumulator", RHEOS__SLOT_CONSTANT_ACCUMULATOR, 0}},
                                          {RATE, L1_L2}},
    [RHEOS_OPTIMIZER_ADAGRAD_DA] = {"AdagradDA",
                                    "AdagradDA",
                                    "abg0lms",
                                    {{"gradient_accumulator", RHEOS__SLOT_CONSTANT_ZEROS, 0},
                                     {"gradient_squared_accumulator",
                                      RHEOS__SLOT_CONSTANT_ACCUMULATOR, 0}},
                                    {RATE}},
};

const rheos__optimizer_row *rheos__optimizer_row_of(const rheos_optimizer *o) {
  int kind = (int)o->kind;
  if (kind < 1 || kind > RHEOS_OPTIMIZER_ADAGRAD_DA) return NULL;
  if (kind == RHEOS_OPTIMIZER_RMSPROP && o->centered) kind = CENTERED_RMSPROP;
  if (kind == RHEOS_OPTIMIZER_FTRL && o->l2_shrinkage_regularization_strength > 0) {
    kind = SHRINKING_FTRL;
  }
  assert(kind < NUM_ROWS && rows[kind].name != NULL);
  return &rows[kind];
}

const char *rheos__optimizer_name(const rheos_optimizer *optimizer) {
  if (optimizer->name != NULL) return optimizer->name;
  const rheos__optimizer_row *row = rheos__optimizer_row_of(optimizer);
  return row != NULL ? row->name : NULL;
}

// ---- The kinds with TensorFlow's defaults

rheos_optimizer rheos_gradient_descent(double learning_rate) {
  return (rheos_optimizer){.kind = RHEOS_OPTIMIZER_GRADIENT_DESCENT,
                           .learning_rate = learning_rate};
}

rheos_optimizer rheos_momentum(double learning_rate, double momentum) {
  return (rheos_optimizer){
      .kind = RHEOS_OPTIMIZER_MOMENTUM, .learning_rate = learning_rate, .momentum = momentum};
}

rheos_optimizer rheos_adagrad(double learning_rate) {
  return (rheos_optimizer){.kind = RHEOS_OPTIMIZER_ADAGRAD,
                           .learning_rate = learning_rate,
                           .initial_accumulator_value = 0.1};
}

rheos_optimizer rheos_adam(double learning_rate) {
  return (rheos_optimizer){.kind = RHEOS_OPTIMIZER_ADAM,
                           .learning_rate = learning_rate,
                           .beta1 = 0.9,
                           .beta2 = 0.999,
                           .epsilon = 1e-8};
}

rheos_optimizer rheos_rmsprop(double learning_rate) {
  return (rheos_optimizer){.kind = RHEOS_OPTIMIZER_RMSPROP,
                           .learning_rate = learning_rate,
                           .decay = 0.9,
                           .epsilon = 1e-10};
}

rheos_optimizer rheos_adadelta(double learning_rate) {
  return (rheos_optimizer){.kind = RHEOS_OPTIMIZER_ADADELTA,
                           .learning_rate = learning_rate,
                           .decay = 0.95,
                           .epsilon = 1e-8};
}

rheos_optimizer rheos_ftrl(double learning_rate) {
  return (rheos_optimizer){.kind = RHEOS_OPTIMIZER_FTRL,
                           .learning_rate = learning_rate,
                           .learning_rate_power = -0.5,
                           .initial_accumulator_value = 0.1};
}

rheos_optimizer rheos_proximal_gradient_descent(double learning_rate) {
  return (rheos_optimizer){.kind = RHEOS_OPTIMIZER_PROXIMAL_GRADIENT_DESCENT,
                           .learning_rate = learning_rate};
}

rheos_optimizer rheos_proximal_adagrad(double learning_rate) {
  return (rheos_optimizer){.kind = RHEOS_OPTIMIZER_PROXIMAL_ADAGRAD,
                           .learning_rate = learning_rate,
                           .initial_accumulator_value = 0.1};
}

rheos_optimizer rheos_adagrad_da(double learning_rate, rheos_variable global_step) {
  return (rheos_optimizer){.kind = RHEOS_OPTIMIZER_ADAGRAD_DA,
                           .learning_rate = learning_rate,
                           .initial_accumulator_value = 0.1,
                           .global_step = global_step};
}
