// Graphics cards, or what PoCL makes of the processor: what a step costs beside the bare calls of
// OpenCL that it makes, copies beside bare ones, elementwise ops and reductions beside kernels
// written by hand, products beside CLBlast alone. Sides take turns; the least of some rounds. One
// JSON object a line.
//
// RHEOS_OPENCL says which device (default here: cpu), RHEOS_OPENCL_BLAS=on adds the rows of
// CLBlast.
#include <string.h>

#include <rheos/rheos.h>

#include "bench.h"
#include "device/opencl/blast.h"
#include "device/opencl/card.h"
#include "device/opencl/opencl.h"
#include "device/opencl/program.h"

enum { ROUNDS = 9, SMALL = 256, LARGE = 1 << 22, CHAIN = 20 };

static rheos__card *card;

static void check_code(cl_int code) { check(rheos__cl_status(code, "measuring")); }

// ---- Bare OpenCL

typedef struct bare {
  cl_kernel kernels[CHAIN];
  int num_kernels;
  size_t items, group;
  cl_mem in, out, between;
  size_t in_bytes, out_bytes;
  void *host_in, *host_out;
} bare;

static cl_mem buffer_of(size_t bytes) {
  cl_int code;
  cl_mem made = card->cl->clCreateBuffer(card->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
  check_code(code);
  return made;
}

// A step as it has to be: the input to the card, the kernels, the output from it.
static double bare_steps(const bare *b, int calls) {
  const rheos__cl *cl = card->cl;
  const double begin = now_ns();
  for (int i = 0; i < calls; i++) {
    check_code(cl->clEnqueueWriteBuffer(card->queue, b->in, CL_TRUE, 0, b->in_bytes, b->host_in, 0,
                                        NULL, NULL));
    for (int k = 0; k < b->num_kernels; k++) {
      const cl_mem from = k == 0 ? b->in : b->between;
      const cl_mem to = k + 1 == b->num_kernels ? b->out : b->between;
      check_code(cl->clSetKernelArg(b->kernels[k], 0, sizeof from, &from));
      check_code(cl->clSetKernelArg(b->kernels[k], 1, sizeof to, &to));
      check_code(cl->clEnqueueNDRangeKernel(card->queue, b->kernels[k], 1, NULL, &b->items,
                                            &b->group, 0, NULL, NULL));
    }
    check_code(cl->clEnqueueReadBuffer(card->queue, b->out, CL_TRUE, 0, b->out_bytes, b->host_out,
                                       0, NULL, NULL));
  }
  return now_ns() - begin;
}

static void bare_init(bare *b, const char *source, const char *name, int num_kernels,
                      size_t in_bytes, size_t out_bytes, size_t items, size_t group) {
  *b = (bare){.num_kernels = num_kernels,
              .items = items,
              .group = group,
              .in = buffer_of(in_bytes),
              .out = buffer_of(out_bytes),
              .between = buffer_of(in_bytes),
              .in_bytes = in_bytes,
              .out_bytes = out_bytes,
              .host_out = malloc(out_bytes)};
  for (int k = 0; k < num_kernels; k++) {
    check(rheos__card_kernel(card, source, name, &b->kernels[k]));
    if (b->kernels[k] == NULL) exit(1);
  }
}

static void bare_deinit(bare *b) {
  for (int k = 0; k < b->num_kernels; k++) card->cl->clReleaseKernel(b->kernels[k]);
  card->cl->clReleaseMemObject(b->in);
  card->cl->clReleaseMemObject(b->out);
  card->cl->clReleaseMemObject(b->between);
  free(b->host_out);
}

// ---- Rheos

typedef struct side {
  rheos_session *session;
  rheos_callable *callable;
  rheos_tensor *input;
} side;

static double our_steps(const side *s, int calls) {
  const double begin = now_ns();
  for (int i = 0; i < calls; i++) {
    rheos_tensor *result = NULL;
    rheos_tensor *input = s->input;
    check(rheos_callable_run(s->callable, &input, &result, NULL));
    rheos_tensor_unref(result);
  }
  return now_ns() - begin;
}

typedef rheos_output (*body)(rheos_scope *s, rheos_output x);

static void side_init(side *to, rheos_shape shape, body build) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  rheos_feed feed;
  check(rheos_tensor_new(RHEOS_FLOAT, shape, &to->input));
  float *x = rheos_tensor_data(to->input);
  for (int64_t i = 0; i < rheos_tensor_num_elements(to->input); i++)
    x[i] = (float)(i % 100) * 0.01f;
  rheos_push_device(s, "/device:GPU:0");
  const rheos_output from = fed(s, to->input, &feed), y = build(s, from);
  check(rheos_scope_finish(s));
  check(rheos_session_new(graph, NULL, &to->session));
  check(rheos_callable_new(to->session, &from, 1, &y, 1, NULL, 0, &to->callable));
  rheos_scope_free(s);
  rheos_graph_unref(graph);
  our_steps(to, 3);
}

static void side_deinit(side *s) {
  rheos_callable_free(s->callable);
  rheos_session_free(s->session);
  rheos_tensor_unref(s->input);
}

// ---- Rows

static void compare(const char *row, const side *ours, bare *theirs, int calls, double goal) {
  double least = 0, least_bare = 0;
  theirs->host_in = rheos_tensor_data(ours->input);
  bare_steps(theirs, 3);
  for (int r = 0; r < ROUNDS; r++) {
    const double ns = our_steps(ours, calls), bare_ns = bare_steps(theirs, calls);
    if (r == 0 || ns < least) least = ns;
    if (r == 0 || bare_ns < least_bare) least_bare = bare_ns;
  }
  least /= 1e3 * calls;
  least_bare /= 1e3 * calls;
  report(row, "us", least, goal * least_bare, "bare OpenCL", least_bare);
}

static rheos_output one_op(rheos_scope *s, rheos_output x) { return rheos_tanh(s, x); }

// Reversals, which are part of no cluster: a kernel each.
static rheos_output chain_of_kernels(rheos_scope *s, rheos_output x) {
  const int32_t axis = 0;
  rheos_tensor *axes = NULL;
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(1), &axis, &axes));
  const rheos_output along = rheos_constant(s, axes, NULL);
  rheos_tensor_unref(axes);
  for (int i = 0; i < CHAIN; i++) x = rheos_reverse_v2(s, x, along);
  return x;
}

static rheos_output cheap(rheos_scope *s, rheos_output x) {
  rheos_output y = rheos_mul(s, x, rheos_constant_float(s, 0.5f, NULL));
  y = rheos_relu(s, rheos_add(s, y, rheos_constant_float(s, 0.1f, NULL)));
  return rheos_sub(s, rheos_mul(s, y, rheos_constant_float(s, 0.7f, NULL)), x);
}

static rheos_output sum_over(rheos_scope *s, rheos_output x, int32_t first, int32_t count) {
  const int32_t dims[] = {first, first + 1};
  rheos_tensor *axes = NULL;
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(count), dims, &axes));
  const rheos_output along = rheos_constant(s, axes, NULL);
  rheos_tensor_unref(axes);
  return rheos_sum(s, x, along);
}
static rheos_output sum_all(rheos_scope *s, rheos_output x) { return sum_over(s, x, 0, 2); }
static rheos_output sum_rows(rheos_scope *s, rheos_output x) { return sum_over(s, x, 1, 1); }
static rheos_output sum_columns(rheos_scope *s, rheos_output x) { return sum_over(s, x, 0, 1); }

static const char tanh_source[] =
    "kernel void f(global const float *x, global float *y) {\n"
    "  size_t i = get_global_id(0);\n  y[i] = tanh(x[i]);\n}\n";
static const char reverse_source[] =
    "kernel void f(global const float *x, global float *y) {\n"
    "  size_t i = get_global_id(0);\n  y[i] = x[get_global_size(0) - 1 - i];\n}\n";
static const char cheap_source[] =
    "kernel void f(global const float *x, global float *y) {\n"
    "  size_t i = get_global_id(0);\n"
    "  y[i] = fmax(x[i] * 0.5f + 0.1f, 0.0f) * 0.7f - x[i];\n}\n";
// A work-item a row of 2,048; a column of as many; and 1/2,048 of all, whose sums one more adds.
static const char row_source[] =
    "kernel void f(global const float *x, global float *y) {\n"
    "  size_t i = get_global_id(0);\n  float4 s = 0;\n"
    "  global const float4 *v = (global const float4 *)(x + i * 2048);\n"
    "  for (int k = 0; k < 512; k++) s += v[k];\n  y[i] = s.x + s.y + s.z + s.w;\n}\n";
static const char column_source[] =
    "kernel void f(global const float *x, global float *y) {\n"
    "  size_t i = get_global_id(0);\n  float s = 0;\n"
    "  for (int k = 0; k < 2048; k++) s += x[k * 2048 + i];\n  y[i] = s;\n}\n";

static void bench_steps(void) {
  side ours;
  bare theirs;
  side_init(&ours, RHEOS_SHAPE(SMALL), one_op);
  bare_init(&theirs, tanh_source, "f", 1, 4 * SMALL, 4 * SMALL, SMALL, 128);
  compare("a step of 1 kernel, 256 floats in and out, C", &ours, &theirs, 400, 1.2);
  side_deinit(&ours);
  bare_deinit(&theirs);
  side_init(&ours, RHEOS_SHAPE(SMALL), chain_of_kernels);
  bare_init(&theirs, reverse_source, "f", CHAIN, 4 * SMALL, 4 * SMALL, SMALL, 128);
  compare("a step of 20 kernels, 256 floats in and out, C", &ours, &theirs, 100, 1.2);
  side_deinit(&ours);
  bare_deinit(&theirs);
}

static void bench_loops(void) {
  static const struct {
    const char *row, *source;
    body build;
    size_t out_bytes, items;
  } rows[] = {
      {"5 cheap ops on 4M floats, C", cheap_source, cheap, 4 * LARGE, LARGE},
      {"sums of 2,048 rows of 2,048 floats, C", row_source, sum_rows, 4 * 2048, 2048},
      {"sums of 2,048 columns of 2,048 floats, C", column_source, sum_columns, 4 * 2048, 2048},
      {"sum of 4M floats, C; by hand: of rows", row_source, sum_all, 4 * 2048, 2048},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    side ours;
    bare theirs;
    side_init(&ours, RHEOS_SHAPE(2048, 2048), rows[i].build);
    bare_init(&theirs, rows[i].source, "f", 1, 4 * (size_t)LARGE, rows[i].out_bytes, rows[i].items,
              64);
    compare(rows[i].row, &ours, &theirs, 10, 1.2);
    side_deinit(&ours);
    bare_deinit(&theirs);
  }
}

// ---- Copies

// There and back; both sides by what they have for that.
static double our_copies(rheos__memory *memory, void *there, void *bytes, size_t size, int calls) {
  const double begin = now_ns();
  for (int i = 0; i < calls; i++) {
    check(rheos__memory_copy(memory, there, NULL, bytes, size));
    check(rheos__memory_copy(NULL, bytes, memory, there, size));
  }
  return now_ns() - begin;
}

static double bare_copies(cl_mem there, void *bytes, size_t size, int calls) {
  const double begin = now_ns();
  for (int i = 0; i < calls; i++) {
    check_code(
        card->cl->clEnqueueWriteBuffer(card->queue, there, CL_TRUE, 0, size, bytes, 0, NULL, NULL));
    check_code(
        card->cl->clEnqueueReadBuffer(card->queue, there, CL_TRUE, 0, size, bytes, 0, NULL, NULL));
  }
  return now_ns() - begin;
}

static void bench_copies(void) {
  static const struct {
    const char *row;
    size_t size;
    int calls;
  } rows[] = {{"a copy of 1 kB there and back, C", 1 << 10, 400},
              {"a copy of 256 kB there and back, C", 256 << 10, 100},
              {"a copy of 16 MB there and back, C", 16 << 20, 4}};
  rheos__device device;
  check(rheos__opencl_device_init(&device, 0, 0, 0));
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const size_t size = rows[i].size;
    const int calls = rows[i].calls;
    void *bytes = calloc(1, size), *ours = rheos__memory_allocate(device.memory, size);
    cl_mem theirs = buffer_of(size);
    double least = 0, least_bare = 0;
    our_copies(device.memory, ours, bytes, size, calls);
    bare_copies(theirs, bytes, size, calls);
    for (int r = 0; r < ROUNDS; r++) {
      const double ns = our_copies(device.memory, ours, bytes, size, calls);
      const double bare_ns = bare_copies(theirs, bytes, size, calls);
      if (r == 0 || ns < least) least = ns;
      if (r == 0 || bare_ns < least_bare) least_bare = bare_ns;
    }
    least_bare /= 1e3 * calls;
    report(rows[i].row, "us", least / 1e3 / calls, 1.2 * least_bare, "bare OpenCL", least_bare);
    rheos__memory_free(device.memory, ours);
    card->cl->clReleaseMemObject(theirs);
    free(bytes);
  }
  rheos__device_deinit(&device);
}

static rheos_output square(rheos_scope *s, rheos_output x) { return rheos_matmul(s, x, x); }

// The peer's step: the input to the card, CLBlast's product, the output from it.
static double blast_steps(const bare *b, int n, int calls) {
  const rheos__blast_product p = {.m = (size_t)n, .n = (size_t)n, .k = (size_t)n, .count = 1};
  const rheos__card_place in = {b->in, 0}, out = {b->out, 0};
  const double begin = now_ns();
  for (int i = 0; i < calls; i++) {
    check_code(card->cl->clEnqueueWriteBuffer(card->queue, b->in, CL_TRUE, 0, b->in_bytes,
                                              b->host_in, 0, NULL, NULL));
    check(rheos__blast_run(card, &p, &in, &in, &out, NULL));
    check_code(card->cl->clEnqueueReadBuffer(card->queue, b->out, CL_TRUE, 0, b->out_bytes,
                                             b->host_out, 0, NULL, NULL));
  }
  return now_ns() - begin;
}

static void bench_products(bool by_blast) {
  static const int sizes[] = {64, 256, 512};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const int n = sizes[i], calls = n < 100 ? 100 : 4;
    const size_t bytes = (size_t)n * (size_t)n * sizeof(float);
    char row[100];
    side ours;
    bare theirs = {.in = buffer_of(bytes),
                   .out = buffer_of(bytes),
                   .in_bytes = bytes,
                   .out_bytes = bytes,
                   .host_out = malloc(bytes)};
    side_init(&ours, RHEOS_SHAPE(n, n), square);
    theirs.host_in = rheos_tensor_data(ours.input);
    double least = 0, least_blast = 0;
    if (by_blast) blast_steps(&theirs, n, 3);
    for (int r = 0; r < ROUNDS; r++) {
      const double ns = our_steps(&ours, calls);
      const double blast_ns = by_blast ? blast_steps(&theirs, n, calls) : 0;
      if (r == 0 || ns < least) least = ns;
      if (r == 0 || blast_ns < least_blast) least_blast = blast_ns;
    }
    snprintf(row, sizeof row, "a product of %d x %d floats%s, C", n, n,
             by_blast ? "" : ", own kernel");
    report(row, "us", least / 1e3 / calls, 1.05 * least_blast / 1e3 / calls, "CLBlast",
           least_blast / 1e3 / calls);
    side_deinit(&ours);
    card->cl->clReleaseMemObject(theirs.in);
    card->cl->clReleaseMemObject(theirs.out);
    free(theirs.host_out);
  }
}

int main(void) {
  setenv("RHEOS_OPENCL", "cpu", 0);
  if (rheos__opencl_count() == 0) {
    fprintf(stderr, "benchmark: no device of OpenCL\n");
    return 0;
  }
  card = rheos__card_at(0);
  bench_steps();
  bench_copies();
  bench_loops();
  const char *wish = getenv("RHEOS_OPENCL_BLAS");
  const bool wants_blast = wish == NULL ? !card->is_processor : strcmp(wish, "on") == 0;
  setenv("RHEOS_OPENCL_BLAS", "off", 1);
  bench_products(false);
  setenv("RHEOS_OPENCL_BLAS", "on", 1);
  if (wants_blast && rheos__blast_can(card, false)) bench_products(true);
  return 0;
}
