// Every faster variant of a kernel against the reference kernel, on the recorded cases and on
// larger inputs made from them, called through the kernel contract: whole, and split into units in
// pieces. Usage: test_op_variants [op]
#include <string.h>

#include "device/cpu/cpu.h"
#include "graph/graph.h"
#include "ops/op_harness.h"

enum { MAX_VARIANTS = 8, MAX_ELEMENTS = 1 << 22, MAX_FLOPS = 100000000 };

// What a kernel is prepared from, taken from a program that is built.
typedef struct kernel_call {
  rheos__arena arena;
  rheos__prepare prepare;
  rheos_dtype input_dtypes[CASE_MAX_INPUTS], output_dtypes[CASE_MAX_OUTPUTS];
  rheos_shape input_shapes[CASE_MAX_INPUTS], output_shapes[CASE_MAX_OUTPUTS];
  rheos_tensor *values[CASE_MAX_INPUTS];
  rheos__resource *resources[CASE_MAX_INPUTS];
  rheos_tensor *outputs[CASE_MAX_OUTPUTS];
} kernel_call;

// A kernel is only asked about shapes that fit together: false if these do not.
static bool infer_shapes(kernel_call *k, const rheos__node *node) {
  for (int i = 0; i < node->num_outputs; i++) {
    k->output_dtypes[i] = rheos_dtype_base(node->outputs[i].dtype);
    k->output_shapes[i] = RHEOS_UNKNOWN_SHAPE;
  }
  rheos__infer infer = {.op = k->prepare.op,
                        .attrs = k->prepare.attrs,
                        .num_inputs = k->prepare.num_inputs,
                        .num_outputs = k->prepare.num_outputs,
                        .input_dtypes = k->input_dtypes,
                        .input_shapes = k->input_shapes,
                        .input_values = k->values,
                        .output_dtypes = k->output_dtypes,
                        .output_shapes = k->output_shapes};
  rheos_status *status = infer.op->shape ? infer.op->shape(&infer) : NULL;
  rheos_status_free(status);
  return status == NULL;
}

// False if the outputs' shapes are not known before the op runs, or too large.
static bool fill_call(kernel_call *k, const op_program *program, const op_case *c) {
  const rheos__node *node = rheos__graph_node(program->graph, program->op.id);
  rheos__arena_init(&k->arena);
  rheos__prepare *p = &k->prepare;
  p->op = node->signature->op;
  p->attrs = node->attrs;
  p->variants = rheos__cpu_variants;
  p->node_name = "op";
  p->num_inputs = node->num_inputs;
  p->num_outputs = node->num_outputs;
  p->input_dtypes = k->input_dtypes;
  p->input_shapes = k->input_shapes;
  p->input_values = k->values;
  p->input_resources = k->resources;
  p->output_dtypes = k->output_dtypes;
  p->output_shapes = k->output_shapes;
  p->arena = &k->arena;
  p->alias_input = p->reuse_input = -1;
  for (int i = 0; i < c->num_inputs; i++) {
    k->input_dtypes[i] = c->inputs[i].dtype;
    k->input_shapes[i] = c->inputs[i].shape;
    if (c->inputs[i].kind == INPUT_CONST) k->values[i] = c->inputs[i].tensor;
  }
  if (!infer_shapes(k, node)) return false;
  for (int i = 0; i < node->num_outputs; i++) {
    int64_t elements = rheos_shape_num_elements(&k->output_shapes[i]);
    if (elements < 0 || elements > MAX_ELEMENTS) return false;
  }
  return true;
}

static void free_call(kernel_call *k) {
  if (k->prepare.release) k->prepare.release(k->prepare.state);
  for (int i = 0; i < k->prepare.num_outputs; i++) rheos_tensor_unref(k->outputs[i]);
  rheos__arena_deinit(&k->arena);
}

// Runs units [0, n) in pieces of `piece` (0: all at once) into fresh outputs.
static rheos_status *run_call(kernel_call *k, const op_case *c, int64_t piece) {
  const void *inputs[CASE_MAX_INPUTS];
  void *outputs[CASE_MAX_OUTPUTS];
  for (int i = 0; i < c->num_inputs; i++) inputs[i] = rheos_tensor_data(c->inputs[i].tensor);
  for (int i = 0; i < k->prepare.num_outputs; i++) {
    rheos_status *status =
        rheos_tensor_new(k->output_dtypes[i], k->output_shapes[i], &k->outputs[i]);
    if (status) return status;
    outputs[i] = rheos_tensor_data(k->outputs[i]);
    memset(outputs[i], 0x5a, rheos_tensor_size_bytes(k->outputs[i]));
  }
  void *scratch = rheos__alloc_aligned(k->prepare.scratch_bytes);
  if (!scratch) return rheos__out_of_memory();
  int64_t n = k->prepare.num_units > 1 ? k->prepare.num_units : 1;
  rheos_status *status = NULL;
  if (piece == 0) piece = n;
  for (int64_t first = 0; first < n && !status; first += piece) {
    int64_t last = first + piece < n ? first + piece : n;
    status = k->prepare.run(k->prepare.state, inputs, outputs, scratch, first, last);
  }
  rheos__free_aligned(scratch);
  return status;
}

static rheos_status *compute_call(kernel_call *k, const op_case *c) {
  rheos_tensor *inputs[CASE_MAX_INPUTS];
  for (int i = 0; i < c->num_inputs; i++) inputs[i] = c->inputs[i].tensor;
  return k->prepare.compute(k->prepare.state, NULL, inputs, k->outputs);
}

// The outputs of one kernel in `result`; false if it declines, fails, or would take very long.
static bool outputs_of(rheos__prepare_fn prepare, const op_program *program, const op_case *c,
                       int64_t piece, bool may_fail, op_result *result) {
  kernel_call k;
  memset(&k, 0, sizeof k);
  memset(result, 0, sizeof *result);
  bool ran = false;
  rheos_status *status = NULL;
  if (fill_call(&k, program, c)) {
    status = prepare(&k.prepare);
    // Only ops with variants are known to compute without a step.
    const bool can_compute = k.prepare.compute && rheos__cpu_variants(k.prepare.op);
    if (!status && !k.prepare.decline_reason && k.prepare.flops < MAX_FLOPS &&
        (k.prepare.run || can_compute)) {
      status = k.prepare.run ? run_call(&k, c, piece) : compute_call(&k, c);
      ran = !status;
    }
  }
  if (status && !may_fail) op_wrong(c, "a kernel failed: %s", op_status_text(status));
  rheos_status_free(status);
  for (int i = 0; ran && i < k.prepare.num_outputs; i++) {
    result->outputs[result->num_outputs++] = rheos_tensor_ref(k.outputs[i]);
  }
  free_call(&k);
  return ran;
}

static void compare(const op_case *c, int variant, const op_result *reference,
                    const op_result *result) {
  char message[300];
  for (int i = 0; i < reference->num_outputs; i++) {
    op_tolerance near = op_tolerance_of(c, rheos_tensor_dtype(reference->outputs[i]));
    if (!op_tensors_agree(reference->outputs[i], result->outputs[i], near, message,
                          sizeof message)) {
      op_wrong(c, "variant %d, output %d: %s", variant, i, message);
    }
  }
}

static void check_variant(rheos__prepare_fn prepare, int variant, const op_program *program,
                          const op_case *c, const op_result *reference, int *ran) {
  op_result whole, pieces;
  if (!outputs_of(prepare, program, c, 0, false, &whole)) return;
  ++*ran;
  compare(c, variant, reference, &whole);
  if (outputs_of(prepare, program, c, 1, false, &pieces)) {
    if (!op_results_identical(&whole, &pieces)) {
      op_wrong(c, "variant %d: other bits when its units run one by one", variant);
    }
  }
  op_result_free(&pieces);
  op_result_free(&whole);
}

// Inputs made larger may not fit together: then the reference kernel may fail.
static void check_kernels(const op_case *c, bool may_fail, int ran[MAX_VARIANTS]) {
  op_program program;
  rheos_status *status = op_program_build(&program, c, BUILD_AS_RECORDED);
  if (!status) {
    const rheos__op_def *op = rheos__graph_node(program.graph, program.op.id)->signature->op;
    op_result reference;
    // Stateful kernels keep their state in a session; they are compared through one elsewhere.
    bool pure = rheos__has_reference(op) && !(op->flags & RHEOS_OP_STATEFUL);
    if (pure && outputs_of(rheos__prepare_reference, &program, c, 0, may_fail, &reference)) {
      check_variant(rheos__prepare_reference, 0, &program, c, &reference, &ran[0]);
      const rheos__prepare_fn *variants = rheos__cpu_variants(op);
      for (int i = 0; variants && variants[i] && i + 1 < MAX_VARIANTS; i++) {
        check_variant(variants[i], i + 1, &program, c, &reference, &ran[i + 1]);
      }
      op_result_free(&reference);
    }
  }
  rheos_status_free(status);
  op_program_free(&program);
}

// A copy of the case with the first dimension of every fed input `times` as long, its elements
// repeated.
static bool enlarge(const op_case *c, int64_t times, op_case *out) {
  op_case_copy(c, out);
  bool grown = false;
  for (int i = 0; i < out->num_inputs; i++) {
    op_input *input = &out->inputs[i];
    if (input->kind != INPUT_FEED || input->shape.rank < 1 || input->shape.dims[0] < 2) continue;
    if (input->dtype == RHEOS_STRING || input->dtype == RHEOS_INT32) continue;
    rheos_shape shape = input->shape;
    shape.dims[0] *= times;
    rheos_tensor *tensor = NULL;
    rheos_status *status = rheos_tensor_new(input->dtype, shape, &tensor);
    if (status) {
      rheos_status_free(status);
      continue;
    }
    size_t size = rheos_tensor_size_bytes(input->tensor);
    for (int64_t t = 0; t < times; t++) {
      memcpy((char *)rheos_tensor_data(tensor) + (size_t)t * size, rheos_tensor_data(input->tensor),
             size);
    }
    rheos_tensor_unref(input->tensor);
    input->tensor = tensor;
    input->shape = shape;
    grown = true;
  }
  return grown;
}

// A copy of the case with every dimension of every fed matrix `times` as long, so that products
// still fit together.
static bool enlarge_all(const op_case *c, int64_t times, op_case *out) {
  op_case_copy(c, out);
  bool grown = false;
  for (int i = 0; i < out->num_inputs; i++) {
    op_input *input = &out->inputs[i];
    if (input->kind != INPUT_FEED || input->shape.rank < 2) continue;
    if (input->dtype == RHEOS_STRING || rheos_shape_num_elements(&input->shape) == 0) continue;
    rheos_shape shape = input->shape;
    for (int32_t d = 0; d < shape.rank; d++) shape.dims[d] *= times;
    if (rheos_shape_num_elements(&shape) > MAX_ELEMENTS / 16) return false;
    rheos_tensor *tensor = NULL;
    rheos_status *status = rheos_tensor_new(input->dtype, shape, &tensor);
    rheos_status_free(status);
    if (tensor == NULL) return false;
    const size_t size = rheos_tensor_size_bytes(input->tensor);
    const size_t copies = rheos_tensor_size_bytes(tensor) / size;
    for (size_t k = 0; k < copies; k++) {
      memcpy((char *)rheos_tensor_data(tensor) + k * size, rheos_tensor_data(input->tensor), size);
    }
    rheos_tensor_unref(input->tensor);
    input->tensor = tensor;
    input->shape = shape;
    grown = true;
  }
  return grown;
}

static bool is_affordable(const op_case *c) {
  op_program program;
  rheos_status *status = op_program_build(&program, c, BUILD_AS_RECORDED);
  bool affordable = !status;
  int32_t n = status ? 0 : rheos_operation_num_outputs(program.op);
  for (int32_t i = 0; i < n; i++) {
    rheos_shape shape = rheos_output_shape(rheos_operation_output(program.op, i));
    if (rheos_shape_num_elements(&shape) > MAX_ELEMENTS) affordable = false;
  }
  rheos_status_free(status);
  op_program_free(&program);
  return affordable;
}

// A large case in sessions of 1, 2 and 8 threads: the same bits.
static void check_threads(const op_case *c) {
  op_result one, many;
  rheos_status *status = op_case_run(c, BUILD_AS_RECORDED, 1, &one);
  for (int threads = 2; threads <= 8 && !status; threads += 6) {
    rheos_status *other = op_case_run(c, BUILD_AS_RECORDED, threads, &many);
    if (other || !op_results_identical(&one, &many)) {
      op_wrong(c, "enlarged: other bits with %d threads: %s", threads, op_status_text(other));
    }
    rheos_status_free(other);
    op_result_free(&many);
  }
  rheos_status_free(status);  // the larger inputs may not fit together; then there is no answer
  op_result_free(&one);
}

static bool is_wanted(const op_case *c) {
  if (c->error != RHEOS_OK) return false;
  for (int i = 0; i < c->num_inputs; i++) {
    if (c->inputs[i].kind != INPUT_FEED && c->inputs[i].kind != INPUT_CONST) return false;
    if (c->inputs[i].dtype == RHEOS_STRING) return false;
  }
  return true;
}

static bool misses_variant(const rheos__prepare_fn *variants, const int ran[MAX_VARIANTS]) {
  for (int i = 0; variants && variants[i] && i + 1 < MAX_VARIANTS; i++) {
    if (ran[i + 1] == 0) return true;
  }
  return false;
}

// How many times as long the inputs are made: fewer where each element of one meets all of another,
// or takes long by itself.
static int64_t growth_of(const op_case *c) {
  static const char *const slow[] = {"Conv3DBackpropFilter", "Igamma", "Igammac"};
  if (strcmp(c->op, "NearestNeighbors") == 0) return 60;
  for (size_t i = 0; i < sizeof slow / sizeof *slow; i++) {
    if (strcmp(c->op, slow[i]) == 0) return 600;
  }
  return 6000;
}

static void check_cases(const op_cases *cases, size_t first, size_t end) {
  int ran[MAX_VARIANTS] = {0};
  const rheos__op_def *op = rheos__signature_by_name(cases->items[first].op)->op;
  int enlarged = 0;
  const rheos__prepare_fn *variants = rheos__cpu_variants(op);
  for (size_t i = first; i < end; i++) {
    const op_case *c = &cases->items[i];
    if (!is_wanted(c)) continue;
    check_kernels(c, false, ran);
    op_case large;
    if (enlarged < 6) {
      if (enlarge(c, growth_of(c), &large)) {
        check_kernels(&large, true, ran);
        if (is_affordable(&large)) check_threads(&large);
        enlarged++;
      }
      op_case_free(&large);
    }
  }
  // Variants that take no small matrices.
  const bool is_missing = misses_variant(variants, ran);
  for (size_t i = first; i < end && is_missing; i++) {
    op_case large;
    if (!is_wanted(&cases->items[i])) continue;
    if (enlarge_all(&cases->items[i], 12, &large)) check_kernels(&large, true, ran);
    op_case_free(&large);
  }
  for (int i = 0; variants && variants[i] && i + 1 < MAX_VARIANTS; i++) {
    if (ran[i + 1] == 0) op_wrong(&cases->items[first], "variant %d never ran", i + 1);
  }
}

int main(int argc, char **argv) {
  return op_tests_run("op_variants", check_cases, is_wanted, argc, argv);
}
