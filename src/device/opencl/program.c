#include "device/opencl/program.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "device/opencl/program_cache.h"

enum { LOG_BYTES = 4096, OPTIONS_BYTES = 128 };

struct rheos__card_program {
  char *source;
  uint64_t hash;
  cl_program program;  // NULL: it does not compile
};

// Once for a card: a driver without a compiler would say nothing else.
static void say_log(rheos__card *card, cl_program program, cl_int code) {
  char log[LOG_BYTES];
  if (card->said) return;
  card->said = true;
  log[0] = '\0';
  if (program != NULL) {
    card->cl->clGetProgramBuildInfo(program, card->id, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
  }
  log[sizeof log - 1] = '\0';
  fprintf(stderr,
          "rheos: %s: a kernel does not compile (OpenCL answered %d), the CPU's takes its place; "
          "further ones are not told of; the driver says:\n%.600s\n",
          card->description, (int)code, log);
}

// Whether the answer is about the text, or what compiles it: no other text would fare better.
static bool is_of_text(cl_int code) {
  return code != CL_OUT_OF_HOST_MEMORY && code != CL_OUT_OF_RESOURCES &&
         code != CL_DEVICE_NOT_AVAILABLE && code != CL_INVALID_CONTEXT;
}

static void describe_options(const rheos__card *card, char *options) {
  snprintf(options, OPTIONS_BYTES, "-w -cl-std=CL1.2%s%s",
           card->rounds_quotients ? " -cl-fp32-correctly-rounded-divide-sqrt" : "",
           card->has_double ? " -DRHEOS_HAS_DOUBLE" : " -cl-single-precision-constant");
}

// With the lock held. *out_program is NULL where it does not compile.
static rheos_status *build(rheos__card *card, const char *source, cl_program *out_program) {
  const rheos__cl *cl = card->cl;
  char options[OPTIONS_BYTES];
  cl_int code;
  describe_options(card, options);
  if (rheos__program_cache_read(card, source, options, out_program)) return NULL;
  cl_program program = cl->clCreateProgramWithSource(card->context, 1, &source, NULL, &code);
  if (code == CL_SUCCESS) code = cl->clBuildProgram(program, 1, &card->id, options, NULL, NULL);
  if (code == CL_SUCCESS) {
    rheos__program_cache_write(card, source, options, program);
    *out_program = program;
    return NULL;
  }
  if (is_of_text(code)) say_log(card, program, code);
  if (program != NULL) cl->clReleaseProgram(program);
  return is_of_text(code) ? NULL : rheos__card_status(card, code, "compiling a kernel");
}

static rheos_status *find_program(rheos__card *card, const char *source, cl_program *out_program) {
  const size_t size = strlen(source) + 1;
  const uint64_t hash = rheos__hash_bytes(0, source, size);
  for (size_t i = 0; i < card->num_programs; i++) {
    const rheos__card_program *p = &card->programs[i];
    if (p->hash != hash || strcmp(p->source, source) != 0) continue;
    *out_program = p->program;
    return NULL;
  }
  if (!RHEOS_RESERVE(card->programs, card->program_capacity, card->num_programs + 1)) {
    return rheos__out_of_memory();
  }
  rheos__card_program made = {.source = rheos__alloc(size), .hash = hash};
  if (made.source == NULL) return rheos__out_of_memory();
  memcpy(made.source, source, size);
  rheos_status *status = build(card, source, &made.program);
  if (status != NULL) {
    rheos__free(made.source);
    return status;
  }
  card->programs[card->num_programs++] = made;
  *out_program = made.program;
  return NULL;
}

rheos_status *rheos__card_kernel(rheos__card *card, const char *source, const char *name,
                                 cl_kernel *out_kernel) {
  *out_kernel = NULL;
  RHEOS_TRY(rheos__card_check(card));
  cl_program program = NULL;
  pthread_mutex_lock(&card->mutex);
  rheos_status *status = find_program(card, source, &program);
  pthread_mutex_unlock(&card->mutex);
  if (status != NULL || program == NULL) return status;
  cl_int code;
  cl_kernel kernel = card->cl->clCreateKernel(program, name, &code);
  if (code == CL_SUCCESS) *out_kernel = kernel;
  return rheos__card_status(card, code, "making a kernel");
}

void rheos__card_forget_programs(rheos__card *card) {
  pthread_mutex_lock(&card->mutex);
  for (size_t i = 0; i < card->num_programs; i++) {
    if (card->programs[i].program != NULL) card->cl->clReleaseProgram(card->programs[i].program);
    rheos__free(card->programs[i].source);
  }
  card->num_programs = 0;
  pthread_mutex_unlock(&card->mutex);
}
