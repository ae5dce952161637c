// Looking for cards costs a driver's start, tenths of a second: it is left out where the only
// drivers that are registered are for processors and none was asked for.
#include "device/opencl/card.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "device/opencl/card_copy.h"

enum { MAX_CARDS = 16, MAX_PLATFORMS = 16 };

static rheos__card cards[MAX_CARDS];
static int32_t num_cards;
static bool is_child;  // of the process that opened the cards, by fork()

static void note_child(void) { is_child = true; }

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

// The version of the platform, which a driver does not always tell itself.
static void read_platform(const rheos__cl *cl, cl_device_id id, char *text, size_t capacity) {
  cl_platform_id platform = NULL;
  text[0] = '\0';
  if (cl->clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) != CL_SUCCESS ||
      cl->clGetPlatformInfo(platform, CL_PLATFORM_VERSION, capacity, text, NULL) != CL_SUCCESS) {
    text[0] = '\0';
  }
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
  card->blocks = rheos__card_blocks_new();
  if (card->blocks == NULL) return rheos__out_of_memory();
  return rheos__card_pool_new(card, &card->pool);
}

static void describe(rheos__card *card) {
  const rheos__cl *cl = card->cl;
  char extensions[8192];
  read_text(cl, card->id, CL_DEVICE_NAME, card->name, sizeof card->name);
  read_text(cl, card->id, CL_DRIVER_VERSION, card->driver, sizeof card->driver);
  read_text(cl, card->id, CL_DEVICE_EXTENSIONS, extensions, sizeof extensions);
  read_platform(cl, card->id, card->platform, sizeof card->platform);
  card->is_processor = (read_number(cl, card->id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
  card->wants_blocks = card->is_processor;
  card->has_double = strstr(extensions, "cl_khr_fp64") != NULL;
  const uint64_t of_floats = read_number(cl, card->id, CL_DEVICE_SINGLE_FP_CONFIG);
  card->rounds_quotients = (of_floats & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
  card->max_group = (size_t)read_number(cl, card->id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  card->num_units = (int32_t)read_number(cl, card->id, CL_DEVICE_MAX_COMPUTE_UNITS);
  card->memory_bytes = read_number(cl, card->id, CL_DEVICE_GLOBAL_MEM_SIZE);
  card->max_block_bytes = read_number(cl, card->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  if (card->max_block_bytes == 0) card->max_block_bytes = card->memory_bytes / 4;  // the least
  snprintf(card->description, sizeof card->description, "%s, driver %s", card->name, card->driver);
}

static void close_card(rheos__card *card) {
  if (card->queue != NULL) card->cl->clReleaseCommandQueue(card->queue);
  if (card->context != NULL) card->cl->clReleaseContext(card->context);
  rheos__free(card->blocks);
  pthread_mutex_destroy(&card->mutex);
}

static void add_card(const rheos__cl *cl, cl_device_id id) {
  rheos__card *card = &cards[num_cards];
  *card = (rheos__card){.cl = cl, .id = id};
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
  if (cl == NULL || pthread_atfork(NULL, NULL, note_child) != 0) return;
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

rheos_status *rheos__card_check(const rheos__card *card) {
  if (is_child) {
    return rheos_status_new(RHEOS_UNAVAILABLE,
                            "%s was opened by the process that this one was forked from: drivers "
                            "of graphics cards do not work in the child; start it anew instead",
                            card->name);
  }
  if (!atomic_load_explicit(&card->is_lost, memory_order_relaxed)) return NULL;
  return rheos_status_new(RHEOS_UNAVAILABLE,
                          "%s was lost before: this process cannot use it any more", card->name);
}

// What drivers answer once a kernel has crashed, or the card is gone: nothing works afterwards.
static bool says_lost(cl_int code) {
  enum { ILLEGAL_ACCESS = -9999 };  // NVIDIA's
  return code == CL_DEVICE_NOT_AVAILABLE || code == CL_INVALID_CONTEXT ||
         code == CL_INVALID_COMMAND_QUEUE || code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST ||
         code == ILLEGAL_ACCESS;
}

rheos_status *rheos__card_status(rheos__card *card, cl_int code, const char *doing) {
  if (code == CL_SUCCESS) return NULL;
  // No more memory, or a kernel that crashed or took too long: then its queue does not end well.
  const bool is_short =
      code == CL_OUT_OF_RESOURCES && card->cl->clFinish(card->queue) == CL_SUCCESS;
  if (is_short || (code != CL_OUT_OF_RESOURCES && !says_lost(code))) {
    return rheos__cl_status(code, doing);
  }
  atomic_store_explicit(&card->is_lost, true, memory_order_relaxed);
  // Perhaps by one that nobody waited for: the last one is the best that is known.
  const char *last = atomic_load_explicit(&card->last_op, memory_order_relaxed);
  return rheos_status_new(RHEOS_UNAVAILABLE, "%s is lost: OpenCL answered %d while %s%s%s",
                          card->name, (int)code, doing,
                          last != NULL ? "; the last operation that it was given is " : "",
                          last != NULL ? last : "");
}
