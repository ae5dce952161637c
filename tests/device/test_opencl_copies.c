// Copies between the host and a graphics card, by pinned blocks and without them, whole or failing
// at any of their commands, on what PoCL makes of a processor. Skipped where there is none.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "device/opencl/card_copy.h"
#include "device/opencl/opencl.h"

static void check(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

// ---- Faults

// Of card 0, until faults_end(): what is not 0 is answered instead of doing it.
static struct {
  int create_buffer, map, write, read, wait;
  int late;  // writes, reads or waits that go well before
} faults;
static rheos__cl failing;
static const rheos__cl *sound;

static cl_mem create_buffer(cl_context context, cl_mem_flags flags, size_t size, void *host,
                            cl_int *code) {
  *code = faults.create_buffer;
  return *code != 0 ? NULL : sound->clCreateBuffer(context, flags, size, host, code);
}

static void *map_buffer(cl_command_queue queue, cl_mem buffer, cl_bool waits, cl_map_flags flags,
                        size_t offset, size_t size, cl_uint num_waits, const cl_event *events,
                        cl_event *event, cl_int *code) {
  *code = faults.map;
  return *code != 0 ? NULL
                    : sound->clEnqueueMapBuffer(queue, buffer, waits, flags, offset, size,
                                                num_waits, events, event, code);
}

static bool fails_now(int fault) { return fault != 0 && faults.late-- <= 0; }

static cl_int write_buffer(cl_command_queue queue, cl_mem buffer, cl_bool waits, size_t offset,
                           size_t size, const void *from, cl_uint num_waits, const cl_event *events,
                           cl_event *event) {
  if (fails_now(faults.write)) return faults.write;
  return sound->clEnqueueWriteBuffer(queue, buffer, waits, offset, size, from, num_waits, events,
                                     event);
}

static cl_int read_buffer(cl_command_queue queue, cl_mem buffer, cl_bool waits, size_t offset,
                          size_t size, void *to, cl_uint num_waits, const cl_event *events,
                          cl_event *event) {
  if (fails_now(faults.read)) return faults.read;
  return sound->clEnqueueReadBuffer(queue, buffer, waits, offset, size, to, num_waits, events,
                                    event);
}

static cl_int wait_for(cl_uint count, const cl_event *events) {
  if (fails_now(faults.wait)) return faults.wait;
  return sound->clWaitForEvents(count, events);
}

static void faults_begin(void) {
  rheos__card *card = rheos__card_at(0);
  sound = card->cl;
  failing = *sound;
  failing.clCreateBuffer = create_buffer;
  failing.clEnqueueMapBuffer = map_buffer;
  failing.clEnqueueWriteBuffer = write_buffer;
  failing.clEnqueueReadBuffer = read_buffer;
  failing.clWaitForEvents = wait_for;
  memset(&faults, 0, sizeof faults);
  card->cl = &failing;
}

static void faults_end(void) { rheos__card_at(0)->cl = sound; }

// ---- Copies

enum { LONG = (3 << 20) + 12345 };

typedef struct copied {
  rheos__device device;
  char *there, *here, *back;
} copied;

static void copied_init(copied *c) {
  check(rheos__opencl_device_init(&c->device, 0, 0, 0));
  c->there = rheos__memory_allocate(c->device.memory, LONG);
  c->here = rheos__alloc(LONG);
  c->back = rheos__alloc(LONG);
  assert_true(c->there != NULL && c->here != NULL && c->back != NULL);
}

static void copied_deinit(copied *c) {
  rheos__memory_free(c->device.memory, c->there);
  rheos__device_deinit(&c->device);
  rheos__free(c->here);
  rheos__free(c->back);
}

// There and back, bytes that were not there before.
static rheos_status *copy_both_ways(const copied *c, size_t size) {
  static unsigned char salt;
  salt++;
  for (size_t i = 0; i < size; i++) c->here[i] = (char)(i * 7 / 5 + salt);
  RHEOS_TRY(rheos__memory_copy(c->device.memory, c->there, NULL, c->here, size));
  RHEOS_TRY(rheos__memory_copy(NULL, c->back, c->device.memory, c->there, size));
  assert_memory_equal(c->back, c->here, size);
  return NULL;
}

// As a card does it and as a processor, with pinned blocks and without.
static void test_copies_of_all_sizes(void **unused) {
  (void)unused;
  static const size_t sizes[] = {1, 64 << 10, (64 << 10) + 1, 512 << 10, (512 << 10) + 1, LONG};
  rheos__card *card = rheos__card_at(0);
  rheos__card_blocks *own = card->blocks;
  copied c;
  copied_init(&c);
  for (int way = 0; way < 8; way++) {
    faults_begin();
    card->is_processor = (way & 1) != 0;
    if ((way & 6) != 0) card->blocks = rheos__card_blocks_new();
    faults.create_buffer = (way & 2) != 0 ? CL_MEM_OBJECT_ALLOCATION_FAILURE : 0;
    faults.map = (way & 4) != 0 ? CL_OUT_OF_HOST_MEMORY : 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) check(copy_both_ways(&c, sizes[i]));
    if (card->blocks != own) rheos__free(card->blocks);
    card->blocks = own;
    card->is_processor = true;
    faults_end();
  }
  copied_deinit(&c);
}

// At each of its commands in turn; the next copy is whole.
static void test_copies_that_fail(void **unused) {
  (void)unused;
  rheos__card *card = rheos__card_at(0);
  copied c;
  copied_init(&c);
  for (int kind = 0; kind < 3; kind++) {
    for (int late = 0;; late++) {
      int *const fault = kind == 0 ? &faults.write : kind == 1 ? &faults.read : &faults.wait;
      faults_begin();
      card->is_processor = false;
      faults.late = late;
      *fault = CL_OUT_OF_HOST_MEMORY;
      rheos_status *status = copy_both_ways(&c, LONG);
      const rheos_code code = rheos_status_code(status);
      rheos_status_free(status);
      *fault = 0;
      check(copy_both_ways(&c, LONG));
      card->is_processor = true;
      faults_end();
      if (code == RHEOS_OK) {
        assert_true(late >= 7);  // as many as there are pieces
        break;
      }
      assert_int_equal(code, RHEOS_RESOURCE_EXHAUSTED);
    }
  }
  copied_deinit(&c);
}

int main(void) {
  setenv("RHEOS_OPENCL", "cpu", 1);
  if (rheos__opencl_count() == 0) return 77;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_copies_of_all_sizes),
      cmocka_unit_test(test_copies_that_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
