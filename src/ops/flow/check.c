// Ops that look at values on the way: checks that can fail a step, and printing.
#include "ops/flow/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/build.h"
#include "ops/kit/array_util.h"
#include "ops/kit/summarize.h"

// ---- CheckNumerics

static unsigned flaws_of(double value) {
  return isnan(value)    ? RHEOS__HAS_NAN
         : !isinf(value) ? 0
         : value < 0     ? RHEOS__HAS_MINUS_INF
                         : RHEOS__HAS_INF;
}

static unsigned flaws(rheos_dtype dtype, const void *data, int64_t count) {
  unsigned found = 0;
  for (int64_t i = 0; i < count; ++i) {
    switch (dtype) {
      case RHEOS_FLOAT: found |= flaws_of((double)((const float *)data)[i]); break;
      case RHEOS_DOUBLE: found |= flaws_of(((const double *)data)[i]); break;
      case RHEOS_HALF:
        found |= flaws_of((double)rheos__half_to_float(((const uint16_t *)data)[i]));
        break;
      default: found |= flaws_of((double)rheos__bfloat16_to_float(((const uint16_t *)data)[i]));
    }
  }
  return found;
}

extern const rheos__op_def rheos__op_CheckNumericsV2;

// By the flaws that were found.
static const char *const names[] = {"",    "Inf", "NaN",         "Inf and NaN",
                                    "Inf", "Inf", "Inf and NaN", "Inf and NaN"};
static const char *const signed_names[] = {
    "",     "+Inf",          "NaN",          "+Inf and NaN",
    "-Inf", "-Inf and +Inf", "-Inf and NaN", "-Inf, +Inf, and NaN",
};

rheos_status *rheos__flaws_status(const rheos__op_def *op, const rheos__attrs *attrs,
                                  unsigned flaws) {
  const bool tells_signs = op == &rheos__op_CheckNumericsV2;
  if (flaws == 0) return NULL;
  return RHEOS_INVALID("%s : Tensor had %s values", rheos__attr_string(attrs, "message"),
                       tells_signs ? signed_names[flaws] : names[flaws]);
}

typedef struct numerics_check {
  const rheos__op_def *op;
  const rheos__attrs *attrs;
  rheos_dtype dtype;
  int64_t count;
} numerics_check;

static rheos_status *run_check_numerics(const void *state, const void *const *inputs,
                                        void *const *outputs, void *scratch, int64_t first_unit,
                                        int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  const numerics_check *c = state;
  RHEOS_TRY(rheos__flaws_status(c->op, c->attrs, flaws(c->dtype, inputs[0], c->count)));
  if (outputs[0] == inputs[0]) return NULL;
  return rheos__copy_elements(c->dtype, outputs[0], inputs[0], c->count);
}

static rheos_status *prepare_check_numerics(rheos__prepare *p) {
  numerics_check *c = RHEOS_NEW_STATE(p, numerics_check);
  if (c == NULL) return rheos__out_of_memory();
  *c = (numerics_check){p->op, p->attrs, p->input_dtypes[0],
                        rheos_shape_num_elements(&p->input_shapes[0])};
  p->reuse_input = 0;
  p->run = run_check_numerics;
  return NULL;
}

static void gradient_check_numerics(rheos__grad *g) {
  static const char prefix[] = "Not a number (NaN) or infinity (Inf) values detected in gradient. ";
  rheos__text text = {0};
  rheos__text_add_string(&text, prefix);
  rheos__text_add_string(&text, rheos__attr_string(g->attrs, "message"));
  if (text.failed) {
    rheos_scope_fail_take(g->scope, rheos__out_of_memory());
  } else {
    rheos_attr attr = rheos_attr_string("message", text.data, text.size);
    rheos_output grad = rheos__grad_dense(g, 0);
    rheos_operation check = rheos__op_n(g->scope, g->op->name, NULL, &grad, 1, &attr, 1);
    if (check.graph != NULL) rheos__grad_set(g, 0, rheos_operation_output(check, 0));
  }
  rheos__free(text.data);
}

const rheos__op_def rheos__op_CheckNumerics = {
    .name = "CheckNumerics",
    .signature = "tensor: T -> output: T; T: {bfloat16, half, float, double}; message: string",
    .doc = "The value of `tensor`; fails with `message` if an element is infinite or NaN.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = rheos__shape_unchanged,
    .gradient = gradient_check_numerics,
    .prepare = prepare_check_numerics,
};

const rheos__op_def rheos__op_CheckNumericsV2 = {
    .name = "CheckNumericsV2",
    .signature = "tensor: T -> output: T; T: {bfloat16, half, float, double}; message: string",
    .doc = "CheckNumerics that tells the signs of infinite elements.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = rheos__shape_unchanged,
    .gradient = gradient_check_numerics,
    .prepare = prepare_check_numerics,
};

// ---- Assert

typedef struct print {
  int32_t num_inputs;
  int64_t summarize;
  const char *message;
  int64_t first_n;
  rheos__resource *counter;  // NULL: every time
} print;

static rheos_status *compute_assert(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step, (void)outputs;
  const print *k = state;
  if (inputs[0]->shape.rank != 0) {  // which no program is refused for before it runs
    rheos__shape_text text;
    return RHEOS_INVALID("the condition should be a scalar: %s",
                         rheos__shape_text_of(&inputs[0]->shape, &text));
  }
  if (*(const bool *)inputs[0]->data) return NULL;
  rheos__text text = {0};
  rheos__text_add_string(&text, "assertion failed:");
  for (int32_t i = 1; i < k->num_inputs; ++i) {
    rheos__text_add_string(&text, " [");
    rheos__summarize(&text, inputs[i], k->summarize);
    rheos__text_add_string(&text, "]");
  }
  rheos_status *status = text.failed ? rheos__out_of_memory() : RHEOS_INVALID("%s", text.data);
  rheos__free(text.data);
  return status;
}

static rheos_status *prepare_assert(rheos__prepare *p) {
  print *k = RHEOS_NEW_STATE(p, print);
  if (k == NULL) return rheos__out_of_memory();
  k->num_inputs = p->num_inputs;
  k->summarize = rheos__attr_int(p->attrs, "summarize");
  p->compute = compute_assert;
  return NULL;
}

const rheos__op_def rheos__op_Assert = {
    .name = "Assert",
    .signature = "condition: bool, data: T ->; T: list(type) >= 1; summarize: int = 3",
    .doc = "Fails, telling `summarize` elements of each of `data`, unless `condition` is true.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_ASSERTS,
    .gradient = rheos__no_gradient,
    .prepare = prepare_assert,
};

// ---- Print

// How often a node has printed in this session.
typedef struct print_counter {
  rheos__resource base;
  _Atomic int64_t count;
} print_counter;

static rheos_status *init_counter(rheos__resource *resource, const void *argument) {
  (void)argument;
  atomic_init(&((print_counter *)resource)->count, 0);
  return NULL;
}

static void deinit_counter(rheos__resource *resource) { (void)resource; }

static const rheos__resource_kind print_counter_kind = {"print_counter", sizeof(print_counter),
                                                        init_counter, deinit_counter};

// One write, so that lines of several threads do not mix.
static rheos_status *write_line(const print *k, rheos_tensor *const *inputs) {
  rheos__text text = {0};
  rheos__text_add_string(&text, k->message);
  for (int32_t i = 1; i < k->num_inputs; ++i) {
    rheos__text_add_string(&text, "[");
    rheos__summarize(&text, inputs[i], k->summarize);
    rheos__text_add_string(&text, "]");
  }
  rheos__text_add_string(&text, "\n");
  if (!text.failed) fwrite(text.data, 1, text.size, stderr);
  rheos__free(text.data);
  return text.failed ? rheos__out_of_memory() : NULL;
}

static rheos_status *compute_print(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)step;
  const print *k = state;
  if (k->counter == NULL ||
      atomic_fetch_add(&((print_counter *)k->counter)->count, 1) < k->first_n) {
    RHEOS_TRY(write_line(k, inputs));
  }
  return rheos__tensor_keep(inputs[0], &outputs[0]);
}

static void release_print(void *state) { rheos__resource_unref(((print *)state)->counter); }

static rheos_status *prepare_print(rheos__prepare *p) {
  print *k = RHEOS_NEW_STATE(p, print);
  if (k == NULL) return rheos__out_of_memory();
  k->num_inputs = p->num_inputs;
  k->summarize = rheos__attr_int(p->attrs, "summarize");
  k->message = rheos__attr_string(p->attrs, "message");
  k->first_n = rheos__attr_int(p->attrs, "first_n");
  if (k->first_n >= 0 && p->resources != NULL) {
    RHEOS_TRY(
        rheos__resources_get(p->resources, &print_counter_kind, p->node_name, NULL, &k->counter));
  }
  p->release = release_print;
  p->compute = compute_print;
  return NULL;
}

// Only the value printed on the way is passed on.
static void gradient_print(rheos__grad *g) { g->in_grads[0] = g->out_grads[0]; }

const rheos__op_def rheos__op_Print = {
    .name = "Print",
    .signature =
        "input: T, data: U -> output: T; T: type; U: list(type) >= 0; "
        "message: string = \"\"; first_n: int = -1; summarize: int = 3",
    .doc = "The value of `input`; writes `message` and the values of `data` to standard error.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = rheos__shape_unchanged,
    .gradient = gradient_print,
    .prepare = prepare_print,
};

// ---- PrintV2

typedef struct print_v2 {
  FILE *file;  // NULL: `path`
  const char *path, *end;
} print_v2;

static rheos_status *write_string(FILE *file, const rheos_string *string, const char *end) {
  const char *data = string->size_bytes > 0 ? string->data : "";
  size_t written = fwrite(data, 1, string->size_bytes, file);
  bool ok = written == string->size_bytes && fputs(end, file) >= 0 && fflush(file) == 0;
  return ok ? NULL : rheos_status_new(RHEOS_UNKNOWN, "cannot write the printed text");
}

static rheos_status *compute_print_v2(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                      rheos_tensor **outputs) {
  (void)step, (void)outputs;
  const print_v2 *k = state;
  if (k->file != NULL) return write_string(k->file, inputs[0]->data, k->end);
  FILE *file = fopen(k->path, "a");
  if (file == NULL) return RHEOS_INVALID("cannot open %s for the printed text", k->path);
  rheos_status *status = write_string(file, inputs[0]->data, k->end);
  fclose(file);
  return status;
}

static rheos_status *prepare_print_v2(rheos__prepare *p) {
  print_v2 *k = RHEOS_NEW_STATE(p, print_v2);
  if (k == NULL) return rheos__out_of_memory();
  const char *stream = rheos__attr_string(p->attrs, "output_stream");
  k->end = rheos__attr_string(p->attrs, "end");
  if (strcmp(stream, "stdout") == 0) {
    k->file = stdout;
  } else if (strncmp(stream, "file://", 7) == 0) {
    k->path = stream + 7;
  } else if (strcmp(stream, "stderr") == 0 || strncmp(stream, "log(", 4) == 0) {
    k->file = stderr;
  } else {
    return RHEOS_INVALID("Unknown output stream: %s", stream);
  }
  p->compute = compute_print_v2;
  return NULL;
}

static rheos_status *shape_print_v2(rheos__infer *c) {
  rheos_shape ignored;
  return rheos__infer_rank(c, 0, 0, &ignored);
}

const rheos__op_def rheos__op_PrintV2 = {
    .name = "PrintV2",
    .signature = "input: string ->; output_stream: string = \"stderr\"; end: string = \"\\n\"",
    .doc = "Writes the string `input` and `end` to `output_stream`.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_USES_FILES,
    .shape = shape_print_v2,
    .gradient = rheos__no_gradient,
    .prepare = prepare_print_v2,
    .file_argument = "output_stream",
};
