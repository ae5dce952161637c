// Looking for cards costs a driver's start, tenths of a second: it is left out where the only
// drivers that are registered are for processors and none was asked for.
#include "device/opencl/card.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "device/opencl/card_memory.h"

enum { MAX_CARDS = 16, MAX_PLATFORMS = 16, LOG_BYTES = 4096 };

static rheos__card cards[MAX_CARDS];
static int32_t num_cards;

// ---- Looking for them

static bool wants_processors(void) {
  const char *wish = getenv("RHEOS_OPENCL");
  return wish != NULL && strcmp(wish, "cpu") == 0;
}

static bool is_off(void) {
  const char *wish = getenv("RHEOS_OPENCL");
  return wish != NULL && strcmp(wish, "off") == 0;
}

// Whether a driver is registered that may have graphics cards.
static bool may_have_cards(void) {
  static const char folder[] = "/etc/OpenCL/vendors";
  if (getenv("OCL_ICD_VENDORS") != NULL || getenv("OCL_ICD_FILENAMES") != NULL) return true;
  DIR *d = opendir(folder);
  if (d == NULL) return false;
  bool found = false;
  for (const struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
    const size_t length = strlen(e->d_name);
    if (length < 4 || strcmp(e->d_name + length - 4, ".icd") != 0) continue;
    found |= strncmp(e->d_name, "pocl", 4) != 0;
  }
  closedir(d);
  return found;
}

static void read_text(const rheos__cl *cl, cl_device_id id, cl_device_info what, char *text,
                      size_t capacity) {
  if (cl->clGetDeviceInfo(id, what, capacity, text, NULL) != CL_SUCCESS) text[0] = '\0';
  text[capacity - 1] = '\0';
}

static uint64_t read_number(const rheos__cl *cl, cl_device_id id, cl_device_info what) {
  cl_ulong number = 0;  // little-endian, as all machines that Rheos runs on: shorter ones fit
  if (cl->clGetDeviceInfo(id, what, sizeof number, &number, NULL) != CL_SUCCESS) return 0;
  return number;
}

static rheos_status *open_card(rheos__card *card) {
  const rheos__cl *cl = card->cl;
  cl_int code;
  card->context = cl->clCreateContext(NULL, 1, &card->id, NULL, NULL, &code);
  RHEOS_TRY(rheos__cl_status(code, "opening a device"));
  card->queue = cl->clCreateCommandQueue(card->context, card->id, 0, &code);
  RHEOS_TRY(rheos__cl_status(code, "making a device's queue"));
  return rheos__card_pool_new(card, &card->pool);
}

static void describe(rheos__card *card) {
  const rheos__cl *cl = card->cl;
  char extensions[8192];
  read_text(cl, card->id, CL_DEVICE_NAME, card->name, sizeof card->name);
  read_text(cl, card->id, CL_DRIVER_VERSION, card->driver, sizeof card->driver);
  read_text(cl, card->id, CL_DEVICE_EXTENSIONS, extensions, sizeof extensions);
  card->has_double = strstr(extensions, "cl_khr_fp64") != NULL;
  const uint64_t of_floats = read_number(cl, card->id, CL_DEVICE_SINGLE_FP_CONFIG);
  card->rounds_quotients = (of_floats & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
  card->max_group = (size_t)read_number(cl, card->id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  card->memory_bytes = read_number(cl, card->id, CL_DEVICE_GLOBAL_MEM_SIZE);
  card->max_block_bytes = read_number(cl, card->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  snprintf(card->description, sizeof card->description, "%s, driver %s", card->name, card->driver);
}

static void close_card(rheos__card *card) {
  if (card->queue != NULL) card->cl->clReleaseCommandQueue(card->queue);
  if (card->context != NULL) card->cl->clReleaseContext(card->context);
  pthread_mutex_destroy(&card->mutex);
}

static void add_card(const rheos__cl *cl, cl_device_id id) {
  rheos__card *card = &cards[num_cards];
  *card = (rheos__card){.cl = cl, .id = id, .process = getpid()};
  pthread_mutex_init(&card->mutex, NULL);
  describe(card);
  rheos_status *status = open_card(card);
  if (status == NULL) {
    num_cards++;
    return;
  }
  fprintf(stderr, "rheos: %s is left out: %s\n", card->description, rheos_status_message(status));
  rheos_status_free(status);
  close_card(card);
}

static void find_cards(void) {
  cl_platform_id platforms[MAX_PLATFORMS];
  cl_uint num_platforms = 0;
  cl_device_type types = CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR;
  if (is_off() || (!wants_processors() && !may_have_cards())) return;
  if (wants_processors()) types |= CL_DEVICE_TYPE_CPU;
  const rheos__cl *cl = rheos__cl_load();
  if (cl == NULL) return;
  if (cl->clGetPlatformIDs(MAX_PLATFORMS, platforms, &num_platforms) != CL_SUCCESS) return;
  for (cl_uint p = 0; p < num_platforms && p < MAX_PLATFORMS; p++) {
    cl_device_id ids[MAX_CARDS];
    cl_uint num_ids = 0;
    if (cl->clGetDeviceIDs(platforms[p], types, MAX_CARDS, ids, &num_ids) != CL_SUCCESS) continue;
    for (cl_uint i = 0; i < num_ids && num_cards < MAX_CARDS; i++) add_card(cl, ids[i]);
  }
}

int32_t rheos__card_count(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_cards);
  return num_cards;
}

rheos__card *rheos__card_at(int32_t index) { return &cards[index]; }

rheos_status *rheos__card_check_process(const rheos__card *card) {
  if (card->process == getpid()) return NULL;
  return rheos_status_new(RHEOS_UNAVAILABLE,
                          "%s was opened by the process that this one was forked from: drivers of "
                          "graphics cards do not work in the child; start it anew instead",
                          card->name);
}

// ---- Programs

static void say_log(const rheos__card *card, cl_program program) {
  char log[LOG_BYTES];
  log[0] = '\0';
  card->cl->clGetProgramBuildInfo(program, card->id, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
  log[sizeof log - 1] = '\0';
  fprintf(stderr,
          "rheos: %s: a kernel does not compile, the CPU's takes its place; the driver says:\n"
          "%.600s\n",
          card->description, log);
}

// With the lock held. *out_program is NULL where it does not compile.
static rheos_status *build(rheos__card *card, const char *source, cl_program *out_program) {
  const rheos__cl *cl = card->cl;
  cl_int code;
  *out_program = NULL;
  cl_program program = cl->clCreateProgramWithSource(card->context, 1, &source, NULL, &code);
  RHEOS_TRY(rheos__cl_status(code, "making a program"));
  char options[128];
  snprintf(options, sizeof options, "-w -cl-std=CL1.2%s%s",
           card->rounds_quotients ? " -cl-fp32-correctly-rounded-divide-sqrt" : "",
           card->has_double ? " -DRHEOS_HAS_DOUBLE" : " -cl-single-precision-constant");
  code = cl->clBuildProgram(program, 1, &card->id, options, NULL, NULL);
  if (code == CL_SUCCESS) {
    *out_program = program;
    return NULL;
  }
  if (code == CL_BUILD_PROGRAM_FAILURE) say_log(card, program);
  cl->clReleaseProgram(program);
  return code == CL_BUILD_PROGRAM_FAILURE ? NULL : rheos__cl_status(code, "compiling a kernel");
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
  RHEOS_TRY(rheos__card_check_process(card));
  cl_program program = NULL;
  pthread_mutex_lock(&card->mutex);
  rheos_status *status = find_program(card, source, &program);
  pthread_mutex_unlock(&card->mutex);
  if (status != NULL || program == NULL) return status;
  cl_int code;
  cl_kernel kernel = card->cl->clCreateKernel(program, name, &code);
  if (code == CL_SUCCESS) *out_kernel = kernel;
  return rheos__cl_status(code, "making a kernel");
}
