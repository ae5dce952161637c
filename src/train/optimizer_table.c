// The kinds of optimizers. Names of slots and numbers, and their order, are TensorFlow 1's, so that
// its checkpoints restore here and the other way round.
#include "train/optimizer_table.h"

#include <assert.h>
#include <string.h>

// A number, the name of its node if that is another, and its default.
#define NAMED(name, field, value) \
  {name, #field, offsetof(rheos_optimizer, field), offsetof(rheos_optimizer, field##_tensor), value}
#define NUMBER(field, value) NAMED(#field, field, value)
#define RATE NUMBER(learning_rate, 0)
#define L1_L2 NUMBER(l1_regularization_strength, 0), NUMBER(l2_regularization_strength, 0)
#define RMSPROP_NUMBERS RATE, NUMBER(decay, 0.9), NUMBER(momentum, 0), NUMBER(epsilon, 1e-10)
#define FTRL_NUMBERS \
  RATE, L1_L2, NUMBER(l2_shrinkage_regularization_strength, 0), NUMBER(learning_rate_power, -0.5)
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
                                  {RATE, NUMBER(momentum, 0)}},
    [RHEOS_OPTIMIZER_ADAGRAD] =
        {"Adagrad", "Adagrad", "a0g", {{"accumulator", RHEOS__SLOT_ACCUMULATOR, 0}}, {RATE}},
    [RHEOS_OPTIMIZER_ADAM] = {"Adam",
                              "Adam",
                              "abpq0123g",
                              {{"m", RHEOS__SLOT_ZEROS, 0}, {"v", RHEOS__SLOT_ZEROS, 0}},
                              {RATE, NUMBER(beta1, 0.9), NUMBER(beta2, 0.999),
                               NUMBER(epsilon, 1e-8)}},
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
                                  {NAMED("lr", learning_rate, 0), NAMED("rho", decay, 0.95),
                                   NUMBER(epsilon, 1e-8)}},
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

// ---- What others see of a row

static double slot_value(const rheos_optimizer *optimizer, rheos__slot_start start) {
  switch (start) {
    case RHEOS__SLOT_ZEROS:
    case RHEOS__SLOT_CONSTANT_ZEROS: return 0;
    case RHEOS__SLOT_ONES: return 1;
    default: return optimizer->initial_accumulator_value;
  }
}

rheos_optimizer_parts rheos_optimizer_describe(rheos_optimizer optimizer) {
  rheos_optimizer_parts parts = {0};
  const rheos__optimizer_row *row = rheos__optimizer_row_of(&optimizer);
  if (row == NULL) return parts;
  parts.kind = row->name;
  parts.op = row->op;
  parts.inputs = row->inputs;
  for (int i = 0; i < RHEOS_OPTIMIZER_MAX_SLOTS && row->slots[i].name != NULL; i++) {
    parts.slots[i] = row->slots[i].name;
    parts.slot_values[i] = slot_value(&optimizer, row->slots[i].start);
  }
  for (int i = 0; i < RHEOS_OPTIMIZER_MAX_NUMBERS && row->numbers[i].name != NULL; i++) {
    parts.numbers[i] = row->numbers[i].field;
    parts.defaults[i] = row->numbers[i].value;
  }
  return parts;
}

// ---- The kinds with TensorFlow's defaults

static rheos_optimizer with_defaults(rheos_optimizer_kind kind, double learning_rate) {
  rheos_optimizer made = {.kind = kind};
  const rheos__optimizer_row *row = &rows[kind];
  for (int i = 0; i < RHEOS_OPTIMIZER_MAX_NUMBERS && row->numbers[i].name != NULL; i++) {
    memcpy((char *)&made + row->numbers[i].number, &row->numbers[i].value, sizeof(double));
  }
  for (int i = 0; i < RHEOS_OPTIMIZER_MAX_SLOTS && row->slots[i].name != NULL; i++) {
    const rheos__slot_start start = row->slots[i].start;
    if (start == RHEOS__SLOT_ACCUMULATOR || start == RHEOS__SLOT_CONSTANT_ACCUMULATOR) {
      made.initial_accumulator_value = 0.1;
    }
  }
  made.learning_rate = learning_rate;
  return made;
}

rheos_optimizer rheos_gradient_descent(double learning_rate) {
  return with_defaults(RHEOS_OPTIMIZER_GRADIENT_DESCENT, learning_rate);
}

rheos_optimizer rheos_momentum(double learning_rate, double momentum) {
  rheos_optimizer made = with_defaults(RHEOS_OPTIMIZER_MOMENTUM, learning_rate);
  made.momentum = momentum;
  return made;
}

rheos_optimizer rheos_adagrad(double learning_rate) {
  return with_defaults(RHEOS_OPTIMIZER_ADAGRAD, learning_rate);
}

rheos_optimizer rheos_adam(double learning_rate) {
  return with_defaults(RHEOS_OPTIMIZER_ADAM, learning_rate);
}

rheos_optimizer rheos_rmsprop(double learning_rate) {
  return with_defaults(RHEOS_OPTIMIZER_RMSPROP, learning_rate);
}

rheos_optimizer rheos_adadelta(double learning_rate) {
  return with_defaults(RHEOS_OPTIMIZER_ADADELTA, learning_rate);
}

rheos_optimizer rheos_ftrl(double learning_rate) {
  return with_defaults(RHEOS_OPTIMIZER_FTRL, learning_rate);
}

rheos_optimizer rheos_proximal_gradient_descent(double learning_rate) {
  return with_defaults(RHEOS_OPTIMIZER_PROXIMAL_GRADIENT_DESCENT, learning_rate);
}

rheos_optimizer rheos_proximal_adagrad(double learning_rate) {
  return with_defaults(RHEOS_OPTIMIZER_PROXIMAL_ADAGRAD, learning_rate);
}

rheos_optimizer rheos_adagrad_da(double learning_rate, rheos_variable global_step) {
  rheos_optimizer made = with_defaults(RHEOS_OPTIMIZER_ADAGRAD_DA, learning_rate);
  made.global_step = global_step;
  return made;
}
