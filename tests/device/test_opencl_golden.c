// Conformance: every recorded case whose op OpenCL's devices have a kernel for gives the CPU's
// answer there, within the tolerance of functions that are not exact. Skipped where there is no
// device. Usage: test_opencl_golden [op]
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/opencl/opencl.h"
#include "ops/op_harness.h"
#include "runtime/step/host.h"

static rheos_host *host, *without_device;
static rheos__device device;
static int num_compared, num_on_cpu;

// Each kernel is compiled, which takes PoCL a tenth of a second: the whole takes minutes. Without
// RHEOS_OPENCL_CASES=all, or an op, a share of the cases is run.
enum { SHARE = 12 };
static bool all;

static bool is_wanted(const op_case *c) { return op_case_runs_on(c, &device); }

static bool is_host_only(const rheos_status *status) {
  return strstr(rheos_status_message(status), "no supported kernel for GPU devices") != NULL;
}

// A few units in the last place more than the CPU's functions are allowed; of Ftrl, which takes the
// difference of two powers, more.
static op_tolerance tolerance_of(const op_case *c, rheos_dtype dtype) {
  op_tolerance t = op_tolerance_of(c, dtype);
  if (rheos_dtype_is_floating(dtype)) {
    const double few = strstr(c->op, "Ftrl") != NULL ? 50 : 1;
    const double unit = few * (dtype == RHEOS_FLOAT ? 1e-6 : dtype == RHEOS_DOUBLE ? 1e-14 : 0);
    t.relative = fmax(t.relative, unit);
    t.absolute = fmax(t.absolute, unit * 1e-2);
  }
  return t;
}

// Whether a case is one of an error in data that the host never sees: as on TensorFlow's GPUs an
// index that is out of range reads 0 and is not written to, a label that is none makes NaN, and an
// optimizer's numbers are taken as they are, and a quotient by the whole number 0 is -1;
// a bound of a band may be beyond the matrix, a crop be of no picture, and a range end before it
// begins.
static bool may_go_unseen(const op_case *c) {
  static const char *const ops[] = {"Gather",
                                    "SparseSoftmax",
                                    "Apply",
                                    "SparseApply",
                                    "ResourceSparseApply",
                                    "ResourceApply",
                                    "Scatter",
                                    "ResourceGather",
                                    "ResourceScatter",
                                    "TensorScatter",
                                    "UnsortedSegment",
                                    "Segment",
                                    "SparseSegment",
                                    "MatrixBandPart",
                                    "Div",
                                    "Floor",
                                    "Truncate",
                                    "Mod",
                                    "Pow",
                                    "Inv",
                                    "Reciprocal",
                                    "Roll",
                                    "ReverseSequence",
                                    "CropAndResize",
                                    "QuantizeAndDequantize"};
  if (strncmp(c->tag, "bad_", 4) != 0) return false;
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    if (strncmp(c->op, ops[i], strlen(ops[i])) == 0) return true;
  }
  return false;
}

// Where no window covers a place the card multiplies by 0, which is not nothing for infinity.
static bool is_infinite(const op_case *c) {
  return strstr(c->op, "BackpropInput") != NULL && strcmp(c->tag, "not_finite") == 0;
}

static void compare(const op_case *c, build_mode mode, rheos_tensor *const *expected,
                    rheos_tensor *const *actual, int count, const char *what) {
  for (int i = 0; i < count; i++) {
    char message[512];
    if (expected[i] == NULL || actual[i] == NULL) continue;
    const op_tolerance tolerance = tolerance_of(c, rheos_tensor_dtype(expected[i]));
    if (op_tensors_agree(expected[i], actual[i], tolerance, message, sizeof message)) continue;
    op_wrong(c, "mode %d: %s %d: %s", (int)mode, what, i, message);
  }
}

static void check_mode(const op_case *c, build_mode mode) {
  const rheos_session_options options = {.host = host}, plain = {.host = without_device};
  op_result expected, actual;
  rheos_status *on_cpu = op_case_run_on(c, mode, &plain, NULL, &expected);
  rheos_status *on_device = op_case_run_on(c, mode, &options, "/device:GPU:0", &actual);
  if (on_device != NULL && is_host_only(on_device)) {
    num_on_cpu++;
  } else if (rheos_status_code(on_cpu) != rheos_status_code(on_device)) {
    if (on_device != NULL || !may_go_unseen(c)) {
      op_wrong(c, "mode %d: on the device %s", (int)mode, op_status_text(on_device));
    }
  } else if (on_cpu == NULL) {
    num_compared++;
    compare(c, mode, expected.outputs, actual.outputs, expected.num_outputs, "output");
    compare(c, mode, expected.after, actual.after, expected.num_after, "variable");
  }
  rheos_status_free(on_cpu);
  rheos_status_free(on_device);
  op_result_free(&expected);
  op_result_free(&actual);
}

// Kernels are those of graphics cards and those of processors in turn; RHEOS_OPENCL_GRIDS=cards
// leaves the latter out.
static bool wants_blocks(void) {
  const char *grids = getenv("RHEOS_OPENCL_GRIDS");
  static bool last;
  if (grids != NULL && strcmp(grids, "cards") == 0) return false;
  return last = !last;
}

// Whether the op's kernels launch something, other than those of ops that keep tensors, hand them
// on or give them other shapes, and those whose answers a plan knows from shapes alone.
static bool launches(const char *op) {
  static const char *const others[] = {"Identity", "Assign", "OnesLike", "ZerosLike"};
  const rheos__op_def *def = rheos__signature_by_name(op)->op;
  if (device.kind->variants(def) == NULL) return false;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    const rheos__op_def *other = rheos__signature_by_name(others[i])->op;
    if (device.kind->variants(def)[0] == device.kind->variants(other)[0]) return false;
  }
  return true;
}

static void check_case(const op_case *c) {
  rheos__opencl_want_blocks(0, wants_blocks());
  check_mode(c, BUILD_AS_RECORDED);
  if (!all) return;
  rheos__opencl_want_blocks(0, wants_blocks());
  check_mode(c, BUILD_UNKNOWN_SHAPES);
}

// A share of the cases, and of the others as many as it takes until the device has computed one.
static void check_cases(const op_cases *cases, size_t first, size_t end) {
  const int64_t before = rheos__opencl_num_kernels(0);
  const int compared = num_compared;
  for (int others = 0; others < (all ? 1 : 2); others++) {
    for (size_t i = first; i < end; i++) {
      if (!is_wanted(&cases->items[i]) || is_infinite(&cases->items[i])) continue;
      const bool has_launched = rheos__opencl_num_kernels(0) > before;
      const bool in_share = all || (i - first) % SHARE == 0;
      if (others ? !in_share && !has_launched : in_share) check_case(&cases->items[i]);
    }
  }
  if (num_compared > compared && launches(cases->items[first].op) &&
      rheos__opencl_num_kernels(0) == before) {
    op_wrong(&cases->items[first], "no case of the op was computed by the device");
  }
}

int main(int argc, char **argv) {
  const char *cases = getenv("RHEOS_OPENCL_CASES");
  all = argc > 1 || (cases != NULL && strcmp(cases, "all") == 0);
  setenv("RHEOS_OPENCL", "cpu", 1);
  if (rheos__opencl_count() == 0) {
    printf("no device of OpenCL\n");
    return 77;
  }
  const rheos_host_options with = {.num_threads = 2, .num_gpu_devices = 1};
  const rheos_host_options without = {.num_threads = 2, .num_gpu_devices = -1};
  rheos_status *status = rheos_host_new(&with, &host);
  if (!status) status = rheos_host_new(&without, &without_device);
  if (!status) status = rheos__opencl_device_init(&device, 0, 0, 0);
  if (status) {
    fprintf(stderr, "%s\n", rheos_status_message(status));
    return 1;
  }
  const int failed = op_tests_run("opencl_golden", check_cases, is_wanted, argc, argv);
  printf("%d runs compared, %d refused, %lld kernels on the device\n", num_compared, num_on_cpu,
         (long long)rheos__opencl_num_kernels(0));
  rheos_host_unref(host);
  rheos__device_deinit(&device);
  rheos_host_unref(without_device);
  return failed;
}
