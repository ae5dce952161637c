#include "device/opencl/blast.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

// As CLBlast's C interface has them, of 1.5 and later.
enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 };

#define OPERANDS cl_mem a, size_t a_offset, size_t a_row, cl_mem b, size_t b_offset, size_t b_row
#define STEPPED                                                                                    \
  cl_mem a, size_t a_offset, size_t a_row, size_t a_step, cl_mem b, size_t b_offset, size_t b_row, \
      size_t b_step
#define FUNCTIONS_OF(number)                                                                      \
  typedef int (*number##_gemm)(int layout, int a_form, int b_form, size_t m, size_t n, size_t k,  \
                               number alpha, OPERANDS, number beta, cl_mem c, size_t c_offset,    \
                               size_t c_row, cl_command_queue *queue, cl_event *event,            \
                               cl_mem scratch);                                                   \
  typedef int (*number##_batch)(int layout, int a_form, int b_form, size_t m, size_t n, size_t k, \
                                number alpha, STEPPED, number beta, cl_mem c, size_t c_offset,    \
                                size_t c_row, size_t c_step, size_t count,                        \
                                cl_command_queue *queue, cl_event *event);
FUNCTIONS_OF(float)
FUNCTIONS_OF(double)
#undef FUNCTIONS_OF

typedef int (*scratch_size)(int layout, int a_form, int b_form, size_t m, size_t n, size_t k,
                            size_t a_offset, size_t a_row, size_t b_offset, size_t b_row,
                            size_t c_offset, size_t c_row, cl_command_queue *queue,
                            size_t *out_bytes);

static struct {
  float_gemm float_gemm;
  double_gemm double_gemm;
  float_batch float_batch;
  double_batch double_batch;
  scratch_size float_scratch, double_scratch;
  bool is_loaded;
} clblast;

// Versions before 1.6.1 are not to be called by two threads at once.
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static void load(void) {
  const struct {
    const char *name;
    void *to;
  } functions[] = {
      {"CLBlastSgemmWithTempBuffer", &clblast.float_gemm},
      {"CLBlastDgemmWithTempBuffer", &clblast.double_gemm},
      {"CLBlastSgemmStridedBatched", &clblast.float_batch},
      {"CLBlastDgemmStridedBatched", &clblast.double_batch},
      {"CLBlastSGemmTempBufferSize", &clblast.float_scratch},
      {"CLBlastDGemmTempBufferSize", &clblast.double_scratch},
  };
  void *library = dlopen("libclblast.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return;
  clblast.is_loaded = true;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    void *found = dlsym(library, functions[i].name);
    memcpy(functions[i].to, &found, sizeof found);
    clblast.is_loaded &= found != NULL;
  }
}

static bool is_wanted(const rheos__card *card) {
  const char *wish = getenv("RHEOS_OPENCL_BLAS");
  if (wish != NULL && strcmp(wish, "off") == 0) return false;
  return !card->is_processor || (wish != NULL && strcmp(wish, "on") == 0);
}

// ---- Products

typedef struct forms {
  int a, b;
  size_t a_row, b_row, a_offset, b_offset, c_offset;
} forms;

static forms forms_of(const rheos__blast_product *p, const rheos__card_place *a,
                      const rheos__card_place *b, const rheos__card_place *c) {
  const size_t size = p->is_double ? sizeof(double) : sizeof(float);
  return (forms){.a = p->transpose_a ? TRANSPOSED : PLAIN,
                 .b = p->transpose_b ? TRANSPOSED : PLAIN,
                 .a_row = p->transpose_a ? p->m : p->k,
                 .b_row = p->transpose_b ? p->k : p->n,
                 .a_offset = a->offset / size,
                 .b_offset = b->offset / size,
                 .c_offset = c->offset / size};
}

static int run_one(rheos__card *card, const rheos__blast_product *p, const forms *f, cl_mem a,
                   cl_mem b, cl_mem c, cl_event *event) {
  const scratch_size size_of = p->is_double ? clblast.double_scratch : clblast.float_scratch;
  cl_command_queue queue = card->queue;
  size_t scratch_bytes = 0;
  int code = size_of(ROW_MAJOR, f->a, f->b, p->m, p->n, p->k, f->a_offset, f->a_row, f->b_offset,
                     f->b_row, f->c_offset, p->n, &queue, &scratch_bytes);
  if (code == 0) {
    code = rheos__card_pool_take(card, scratch_bytes, &card->blast_scratch,
                                 &card->blast_scratch_bytes);
  }
  if (code != 0) return code;
  return p->is_double ? clblast.double_gemm(ROW_MAJOR, f->a, f->b, p->m, p->n, p->k, 1, a,
                                            f->a_offset, f->a_row, b, f->b_offset, f->b_row, 0, c,
                                            f->c_offset, p->n, &queue, event, card->blast_scratch)
                      : clblast.float_gemm(ROW_MAJOR, f->a, f->b, p->m, p->n, p->k, 1, a,
                                           f->a_offset, f->a_row, b, f->b_offset, f->b_row, 0, c,
                                           f->c_offset, p->n, &queue, event, card->blast_scratch);
}

static int run_batch(rheos__card *card, const rheos__blast_product *p, const forms *f, cl_mem a,
                     cl_mem b, cl_mem c, cl_event *event) {
  cl_command_queue queue = card->queue;
  return p->is_double
             ? clblast.double_batch(ROW_MAJOR, f->a, f->b, p->m, p->n, p->k, 1, a, f->a_offset,
                                    f->a_row, p->a_step, b, f->b_offset, f->b_row, p->b_step, 0, c,
                                    f->c_offset, p->n, p->c_step, p->count, &queue, event)
             : clblast.float_batch(ROW_MAJOR, f->a, f->b, p->m, p->n, p->k, 1, a, f->a_offset,
                                   f->a_row, p->a_step, b, f->b_offset, f->b_row, p->b_step, 0, c,
                                   f->c_offset, p->n, p->c_step, p->count, &queue, event);
}

rheos_status *rheos__blast_run(rheos__card *card, const rheos__blast_product *p,
                               const rheos__card_place *a, const rheos__card_place *b,
                               const rheos__card_place *c, cl_event *event) {
  enum { NO_MEMORY = -2050 };
  const forms f = forms_of(p, a, b, c);
  pthread_mutex_lock(&one_at_a_time);
  const int code =
      (p->count == 1 ? run_one : run_batch)(card, p, &f, a->buffer, b->buffer, c->buffer, event);
  pthread_mutex_unlock(&one_at_a_time);
  if (code == 0) return NULL;
  if (code > -1000 || code < -9000) {
    return rheos__card_status(card, code, "multiplying matrices by CLBlast");
  }
  return rheos_status_new(code == NO_MEMORY ? RHEOS_RESOURCE_EXHAUSTED : RHEOS_INTERNAL,
                          "CLBlast answered %d to a product of %zu x %zu x %zu", code, p->m, p->n,
                          p->k);
}

// ---- Whether its products are right

static double entry(size_t row, size_t column, int salt) {
  return (double)((row * 7 + column * 5 + (size_t)salt) % 4);
}

// Whether c v = a (b v) for some v: small whole numbers, of which no sum is rounded.
static bool is_product(const void *c, bool is_double, size_t n) {
  bool is_right = true;
  double *between = rheos__alloc_array(n, sizeof *between);
  if (between == NULL) return false;
  for (size_t i = 0; i < n; i++) {
    between[i] = 0;
    for (size_t j = 0; j < n; j++) between[i] += entry(i, j, 2) * entry(j, 0, 1);
  }
  for (size_t i = 0; i < n; i++) {
    double left = 0, right = 0;
    for (size_t j = 0; j < n; j++) {
      const double got =
          is_double ? ((const double *)c)[i * n + j] : (double)((const float *)c)[i * n + j];
      left += got * entry(j, 0, 1);
      right += entry(i, j, 0) * between[j];
    }
    is_right &= left == right;
  }
  rheos__free(between);
  return is_right;
}

static void fill(void *to, bool is_double, size_t n, int salt) {
  for (size_t i = 0; i < n * n; i++) {
    const double value = entry(i / n, i % n, salt);
    if (is_double) {
      ((double *)to)[i] = value;
    } else {
      ((float *)to)[i] = (float)value;
    }
  }
}

// With buffers of n x n numbers, and their bytes here.
static bool try_product(rheos__card *card, bool is_double, size_t n, cl_mem *buffers, void *bytes) {
  const rheos__cl *cl = card->cl;
  const size_t size = n * n * (is_double ? sizeof(double) : sizeof(float));
  const rheos__blast_product p = {.is_double = is_double, .m = n, .n = n, .k = n, .count = 1};
  rheos__card_place places[3];
  for (int i = 0; i < 3; i++) {
    fill(bytes, is_double, n, 2 * i);
    places[i] = (rheos__card_place){buffers[i], 0};
    if (cl->clEnqueueWriteBuffer(card->queue, buffers[i], CL_TRUE, 0, size, bytes, 0, NULL, NULL) !=
        CL_SUCCESS) {
      return false;
    }
  }
  rheos_status *status = rheos__blast_run(card, &p, &places[0], &places[1], &places[2], NULL);
  const bool is_done =
      status == NULL && cl->clEnqueueReadBuffer(card->queue, buffers[2], CL_TRUE, 0, size, bytes, 0,
                                                NULL, NULL) == CL_SUCCESS;
  rheos_status_free(status);
  return is_done && is_product(bytes, is_double, n);
}

// With the card's lock held.
static bool is_right(rheos__card *card, bool is_double, size_t n) {
  const size_t size = n * n * (is_double ? sizeof(double) : sizeof(float));
  cl_mem buffers[3] = {NULL};
  void *bytes = rheos__alloc(size);
  bool is_fine = bytes != NULL;
  for (int i = 0; i < 3 && is_fine; i++) {
    cl_int code;
    buffers[i] = card->cl->clCreateBuffer(card->context, CL_MEM_READ_WRITE, size, NULL, &code);
    is_fine = code == CL_SUCCESS;
  }
  is_fine = is_fine && try_product(card, is_double, n, buffers, bytes);
  for (int i = 0; i < 3; i++) {
    if (buffers[i] != NULL) card->cl->clReleaseMemObject(buffers[i]);
  }
  rheos__free(bytes);
  return is_fine;
}

// Small products and large ones are made by different kernels; processors are asked for one alone,
// for each takes them long to compile.
static rheos__blast_verdict try_card(rheos__card *card, bool is_double) {
  enum { SMALL = 96, LARGE = 768 };
  if (is_right(card, is_double, SMALL) &&
      (card->is_processor || is_right(card, is_double, LARGE))) {
    return RHEOS__BLAST_RIGHT;
  }
  fprintf(stderr, "rheos: %s: CLBlast's %s products are wrong, our own take their place\n",
          card->description, is_double ? "double" : "float");
  return RHEOS__BLAST_WRONG;
}

bool rheos__blast_can(rheos__card *card, bool is_double) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (!is_wanted(card) || (is_double && !card->has_double)) return false;
  pthread_once(&once, load);
  if (!clblast.is_loaded) return false;
  pthread_mutex_lock(&card->mutex);
  rheos__blast_verdict *verdict = &card->blast[is_double];
  if (*verdict == RHEOS__BLAST_UNKNOWN) *verdict = try_card(card, is_double);
  const bool can = *verdict == RHEOS__BLAST_RIGHT;
  pthread_mutex_unlock(&card->mutex);
  return can;
}
