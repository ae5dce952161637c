// oneDNN runs its own OpenMP threads unless told otherwise. The session's pool owns the cores, so
// every call here is made with one thread, and the caller's setting is put back.
//
// The code oneDNN 2.6 generates for matrix products keeps data below the stack pointer, further
// down than the 128 bytes that a signal's frame leaves alone: a timer or Ctrl-C in the middle of a
// product corrupted the heap. So signals wait until the call is over; only those that tell of a
// fault do not.
#include "device/cpu/onednn.h"

#include <dnnl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/alloc.h"

// The threads of a call; a benchmark asks for more.
#ifndef RHEOS__DNNL_THREADS
#define RHEOS__DNNL_THREADS 1
#endif

// Of the OpenMP runtime; declared here because not every compiler ships its header.
extern int omp_get_max_threads(void);
extern void omp_set_num_threads(int num_threads);

// What is set aside around calls of oneDNN.
typedef struct guarded {
  int threads;
  sigset_t signals;
} guarded;

static void hold_signals(sigset_t *out_before) {
  sigset_t held;
  sigfillset(&held);
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; ++i) sigdelset(&held, faults[i]);
  pthread_sigmask(SIG_BLOCK, &held, out_before);
}

static guarded guard_begin(void) {
  guarded g = {.threads = omp_get_max_threads()};
  if (g.threads != RHEOS__DNNL_THREADS) omp_set_num_threads(RHEOS__DNNL_THREADS);
  hold_signals(&g.signals);
  return g;
}

static void guard_end(const guarded *g) {
  pthread_sigmask(SIG_SETMASK, &g->signals, NULL);
  if (g->threads != RHEOS__DNNL_THREADS) omp_set_num_threads(g->threads);
}

static rheos_status *status_of(dnnl_status_t result, const char *what) {
  if (result == dnnl_success) return NULL;
  if (result == dnnl_out_of_memory) return rheos__out_of_memory();
  return rheos_status_new(RHEOS_INTERNAL, "oneDNN's %s failed with status %d", what, (int)result);
}

rheos_status *rheos__sgemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                           const float *a, int64_t lda, const float *b, int64_t ldb, float *c,
                           int64_t ldc) {
  const guarded before = guard_begin();
  const dnnl_status_t result = dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k,
                                          1.0f, a, lda, b, ldb, 0.0f, c, ldc);
  guard_end(&before);
  return status_of(result, "sgemm");
}

// ---- Descriptors of memory: a struct in version 2, a handle from version 3 on

#if DNNL_VERSION_MAJOR >= 3
typedef dnnl_memory_desc_t layout_held;
typedef const_dnnl_memory_desc_t layout;
static layout layout_of(const layout_held *held) { return *held; }
static void layout_free(layout_held *held) {
  if (*held != NULL) dnnl_memory_desc_destroy(*held);
}
// `strides` NULL: whichever layout is fastest.
static dnnl_status_t layout_make(layout_held *out, int rank, const int64_t *dims,
                                 const int64_t *strides) {
  if (strides == NULL) {
    return dnnl_memory_desc_create_with_tag(out, rank, dims, dnnl_f32, dnnl_format_tag_any);
  }
  return dnnl_memory_desc_create_with_strides(out, rank, dims, dnnl_f32, strides);
}
#else
typedef dnnl_memory_desc_t layout_held;
typedef const dnnl_memory_desc_t *layout;
static layout layout_of(const layout_held *held) { return held; }
static void layout_free(layout_held *held) { (void)held; }
static dnnl_status_t layout_make(layout_held *out, int rank, const int64_t *dims,
                                 const int64_t *strides) {
  if (strides == NULL) {
    return dnnl_memory_desc_init_by_tag(out, rank, dims, dnnl_f32, dnnl_format_tag_any);
  }
  return dnnl_memory_desc_init_by_strides(out, rank, dims, dnnl_f32, strides);
}
#endif

// ---- Convolutions

enum { IMAGE, FILTER, RESULT, NUM_OPERANDS };

typedef struct conv_layouts {
  layout_held operands[NUM_OPERANDS], any_filter;
} conv_layouts;

struct rheos__dnnl_conv {
  rheos__dnnl_pass pass;
  dnnl_engine_t engine;
  dnnl_primitive_attr_t attr;
  dnnl_primitive_desc_t desc;
  dnnl_primitive_t primitive;
  dnnl_primitive_t
      reorder;  // of the filter, to or from the layout the primitive wants; may be NULL
  conv_layouts layouts;
  layout filter;  // the one it wants
  size_t filter_bytes, workspace_bytes;
};

static dnnl_status_t make_layouts(conv_layouts *l, const rheos__dnnl_conv_shape *s) {
  dnnl_status_t result = layout_make(&l->operands[IMAGE], s->rank, s->image, s->image_strides);
  if (result == dnnl_success) {
    result = layout_make(&l->operands[RESULT], s->rank, s->result, s->result_strides);
  }
  if (result == dnnl_success) {
    result = layout_make(&l->operands[FILTER], s->filter_rank, s->filter, s->filter_strides);
  }
  if (result == dnnl_success) {
    result = layout_make(&l->any_filter, s->filter_rank, s->filter, NULL);
  }
  return result;
}

#if DNNL_VERSION_MAJOR >= 3
static dnnl_status_t forward_desc(const rheos__dnnl_conv *c, const rheos__dnnl_conv_shape *s,
                                  dnnl_prop_kind_t kind, dnnl_primitive_desc_t *out) {
  const conv_layouts *l = &c->layouts;
  return dnnl_convolution_forward_primitive_desc_create(
      out, c->engine, kind, dnnl_convolution_direct, layout_of(&l->operands[IMAGE]),
      layout_of(&l->any_filter), NULL, layout_of(&l->operands[RESULT]), s->strides, s->dilations,
      s->before, s->after, c->attr);
}
static dnnl_status_t backward_desc(const rheos__dnnl_conv *c, const rheos__dnnl_conv_shape *s,
                                   dnnl_primitive_desc_t hint, dnnl_primitive_desc_t *out) {
  const conv_layouts *l = &c->layouts;
  if (c->pass == RHEOS__DNNL_BACKWARD_IMAGE) {
    return dnnl_convolution_backward_data_primitive_desc_create(
        out, c->engine, dnnl_convolution_direct, layout_of(&l->operands[IMAGE]),
        layout_of(&l->any_filter), layout_of(&l->operands[RESULT]), s->strides, s->dilations,
        s->before, s->after, hint, c->attr);
  }
  return dnnl_convolution_backward_weights_primitive_desc_create(
      out, c->engine, dnnl_convolution_direct, layout_of(&l->operands[IMAGE]),
      layout_of(&l->any_filter), NULL, layout_of(&l->operands[RESULT]), s->strides, s->dilations,
      s->before, s->after, hint, c->attr);
}
#else
static dnnl_status_t forward_desc(const rheos__dnnl_conv *c, const rheos__dnnl_conv_shape *s,
                                  dnnl_prop_kind_t kind, dnnl_primitive_desc_t *out) {
  const conv_layouts *l = &c->layouts;
  dnnl_convolution_desc_t desc;
  const dnnl_status_t result = dnnl_dilated_convolution_forward_desc_init(
      &desc, kind, dnnl_convolution_direct, layout_of(&l->operands[IMAGE]),
      layout_of(&l->any_filter), NULL, layout_of(&l->operands[RESULT]), s->strides, s->dilations,
      s->before, s->after);
  if (result != dnnl_success) return result;
  return dnnl_primitive_desc_create(out, &desc, c->attr, c->engine, NULL);
}
static dnnl_status_t backward_desc(const rheos__dnnl_conv *c, const rheos__dnnl_conv_shape *s,
                                   dnnl_primitive_desc_t hint, dnnl_primitive_desc_t *out) {
  const conv_layouts *l = &c->layouts;
  dnnl_convolution_desc_t desc;
  dnnl_status_t result;
  if (c->pass == RHEOS__DNNL_BACKWARD_IMAGE) {
    result = dnnl_dilated_convolution_backward_data_desc_init(
        &desc, dnnl_convolution_direct, layout_of(&l->operands[IMAGE]), layout_of(&l->any_filter),
        layout_of(&l->operands[RESULT]), s->strides, s->dilations, s->before, s->after);
  } else {
    result = dnnl_dilated_convolution_backward_weights_desc_init(
        &desc, dnnl_convolution_direct, layout_of(&l->operands[IMAGE]), layout_of(&l->any_filter),
        NULL, layout_of(&l->operands[RESULT]), s->strides, s->dilations, s->before, s->after);
  }
  if (result != dnnl_success) return result;
  return dnnl_primitive_desc_create(out, &desc, c->attr, c->engine, hint);
}
#endif

static dnnl_status_t make_desc(rheos__dnnl_conv *c, const rheos__dnnl_conv_shape *s) {
  if (c->pass == RHEOS__DNNL_FORWARD) return forward_desc(c, s, dnnl_forward_inference, &c->desc);
  dnnl_primitive_desc_t hint = NULL;
  dnnl_status_t result = forward_desc(c, s, dnnl_forward_training, &hint);
  if (result == dnnl_success) result = backward_desc(c, s, hint, &c->desc);
  if (hint != NULL) dnnl_primitive_desc_destroy(hint);
  return result;
}

static dnnl_status_t make_reorder(rheos__dnnl_conv *c) {
  const bool back = c->pass == RHEOS__DNNL_BACKWARD_FILTER;
  c->filter = dnnl_primitive_desc_query_md(
      c->desc, back ? dnnl_query_diff_weights_md : dnnl_query_weights_md, 0);
  const layout plain = layout_of(&c->layouts.operands[FILTER]);
  if (dnnl_memory_desc_equal(c->filter, plain)) return dnnl_success;
  c->filter_bytes = dnnl_memory_desc_get_size(c->filter);
  dnnl_primitive_desc_t desc = NULL;
  dnnl_status_t result = dnnl_reorder_primitive_desc_create(
      &desc, back ? c->filter : plain, c->engine, back ? plain : c->filter, c->engine, NULL);
  if (result == dnnl_success) result = dnnl_primitive_create(&c->reorder, desc);
  if (desc != NULL) dnnl_primitive_desc_destroy(desc);
  return result;
}

// Reference implementations of oneDNN are slower than ours.
static bool is_reference(const_dnnl_primitive_desc_t desc) {
  const char *name = NULL;
  dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, &name);
  return name == NULL || strncmp(name, "ref", 3) == 0;
}

static dnnl_status_t make_conv(rheos__dnnl_conv *c, const rheos__dnnl_conv_shape *s) {
  dnnl_status_t result = dnnl_engine_create(&c->engine, dnnl_cpu, 0);
  if (result == dnnl_success) result = dnnl_primitive_attr_create(&c->attr);
  if (result == dnnl_success) {
    result = dnnl_primitive_attr_set_scratchpad_mode(c->attr, dnnl_scratchpad_mode_user);
  }
  if (result == dnnl_success) result = make_layouts(&c->layouts, s);
  if (result == dnnl_success) result = make_desc(c, s);
  if (result == dnnl_success && is_reference(c->desc)) result = dnnl_unimplemented;
  if (result == dnnl_success) result = make_reorder(c);
  if (result == dnnl_success) result = dnnl_primitive_create(&c->primitive, c->desc);
  if (result == dnnl_success) {
    c->workspace_bytes = dnnl_memory_desc_get_size(
        dnnl_primitive_desc_query_md(c->desc, dnnl_query_scratchpad_md, 0));
  }
  return result;
}

rheos_status *rheos__dnnl_conv_new(rheos__dnnl_pass pass, const rheos__dnnl_conv_shape *shape,
                                   rheos__dnnl_conv **out_conv) {
  *out_conv = NULL;
  rheos__dnnl_conv *c = rheos__alloc_zeroed(sizeof *c);
  if (c == NULL) return rheos__out_of_memory();
  c->pass = pass;
  const guarded before = guard_begin();
  const dnnl_status_t result = make_conv(c, shape);
  guard_end(&before);
  if (result == dnnl_success) {
    *out_conv = c;
    return NULL;
  }
  rheos__dnnl_conv_free(c);
  return result == dnnl_out_of_memory ? rheos__out_of_memory() : NULL;
}

void rheos__dnnl_conv_free(rheos__dnnl_conv *c) {
  if (c == NULL) return;
  if (c->primitive != NULL) dnnl_primitive_destroy(c->primitive);
  if (c->reorder != NULL) dnnl_primitive_destroy(c->reorder);
  if (c->desc != NULL) dnnl_primitive_desc_destroy(c->desc);
  for (int i = 0; i < NUM_OPERANDS; i++) layout_free(&c->layouts.operands[i]);
  layout_free(&c->layouts.any_filter);
  if (c->attr != NULL) dnnl_primitive_attr_destroy(c->attr);
  if (c->engine != NULL) dnnl_engine_destroy(c->engine);
  rheos__free(c);
}

static size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

size_t rheos__dnnl_conv_scratch_bytes(const rheos__dnnl_conv *c) {
  return aligned(c->filter_bytes) + aligned(c->workspace_bytes);
}

// What one call works with.
typedef struct conv_call {
  dnnl_stream_t stream;
  dnnl_memory_t operands[NUM_OPERANDS], plain_filter, workspace;
} conv_call;

static dnnl_status_t begin_call(const rheos__dnnl_conv *c, void *filter, void *scratch,
                                conv_call *call) {
  const layout plain = layout_of(&c->layouts.operands[FILTER]);
  dnnl_status_t result = dnnl_stream_create(&call->stream, c->engine, dnnl_stream_default_flags);
  if (result == dnnl_success) {
    result = dnnl_memory_create(&call->operands[FILTER], c->filter, c->engine,
                                c->reorder != NULL ? scratch : filter);
  }
  if (result == dnnl_success && c->reorder != NULL) {
    result = dnnl_memory_create(&call->plain_filter, plain, c->engine, filter);
  }
  for (int i = 0; i < NUM_OPERANDS && result == dnnl_success; i++) {
    if (i == FILTER) continue;
    result = dnnl_memory_create(&call->operands[i], layout_of(&c->layouts.operands[i]), c->engine,
                                DNNL_MEMORY_NONE);
  }
  if (result == dnnl_success) {
    result = dnnl_memory_create(&call->workspace,
                                dnnl_primitive_desc_query_md(c->desc, dnnl_query_scratchpad_md, 0),
                                c->engine, (char *)scratch + aligned(c->filter_bytes));
  }
  return result;
}

static dnnl_status_t execute_conv(const rheos__dnnl_conv *c, const conv_call *call) {
  static const int arguments[][NUM_OPERANDS] = {
      {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
      {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST},
      {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST},
  };
  dnnl_exec_arg_t list[NUM_OPERANDS + 1];
  for (int i = 0; i < NUM_OPERANDS; i++) {
    list[i] = (dnnl_exec_arg_t){arguments[c->pass][i], call->operands[i]};
  }
  list[NUM_OPERANDS] = (dnnl_exec_arg_t){DNNL_ARG_SCRATCHPAD, call->workspace};
  return dnnl_primitive_execute(c->primitive, call->stream, NUM_OPERANDS + 1, list);
}

static dnnl_status_t reorder_filter(const rheos__dnnl_conv *c, const conv_call *call) {
  const bool back = c->pass == RHEOS__DNNL_BACKWARD_FILTER;
  const dnnl_exec_arg_t list[] = {
      {DNNL_ARG_FROM, back ? call->operands[FILTER] : call->plain_filter},
      {DNNL_ARG_TO, back ? call->plain_filter : call->operands[FILTER]}};
  return dnnl_primitive_execute(c->reorder, call->stream, 2, list);
}

static dnnl_status_t run_call(const rheos__dnnl_conv *c, const conv_call *call, float *image,
                              float *result, int64_t image_step, int64_t result_step,
                              int64_t count) {
  const bool back = c->pass == RHEOS__DNNL_BACKWARD_FILTER;
  dnnl_status_t code = dnnl_success;
  if (c->reorder != NULL && !back) code = reorder_filter(c, call);
  for (int64_t i = 0; i < count && code == dnnl_success; i++) {
    code = dnnl_memory_set_data_handle(call->operands[IMAGE], image + i * image_step);
    if (code == dnnl_success) {
      code = dnnl_memory_set_data_handle(call->operands[RESULT], result + i * result_step);
    }
    if (code == dnnl_success) code = execute_conv(c, call);
  }
  if (c->reorder != NULL && back && code == dnnl_success) code = reorder_filter(c, call);
  return code;
}

rheos_status *rheos__dnnl_conv_run(const rheos__dnnl_conv *c, float *image, float *filter,
                                   float *result, int64_t image_step, int64_t result_step,
                                   int64_t count, void *scratch) {
  conv_call call = {0};
  const guarded before = guard_begin();
  dnnl_status_t code = begin_call(c, filter, scratch, &call);
  if (code == dnnl_success) {
    code = run_call(c, &call, image, result, image_step, result_step, count);
  }
  if (call.stream != NULL) dnnl_stream_wait(call.stream);
  for (int i = 0; i < NUM_OPERANDS; i++) {
    if (call.operands[i] != NULL) dnnl_memory_destroy(call.operands[i]);
  }
  if (call.plain_filter != NULL) dnnl_memory_destroy(call.plain_filter);
  if (call.workspace != NULL) dnnl_memory_destroy(call.workspace);
  if (call.stream != NULL) dnnl_stream_destroy(call.stream);
  guard_end(&before);
  return status_of(code, "convolution");
}
