// Graphics cards that fail: programs that do not compile, lost cards, memory that is short, damaged
// files of compiled programs, no driver or one that fails at the start, several processes. On what
// PoCL makes of a processor; skipped where there is none.
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/alloc.h"
#include "device/card_program.h"
#include "device/opencl/card_memory.h"
#include "device/opencl/opencl.h"
#include "device/opencl/program.h"

static char folder[] = "/tmp/rheos-cards-XXXXXX";
static const char *self;

static void check(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

// ---- Faults

// Of card 0, until faults_end(): what is not 0 is answered instead of doing it.
static struct {
  const char *bad_text;  // programs with this text do not compile; NULL: all do
  int create_buffer, start_kernel, finish;
  size_t group;     // the largest that kernels can have; 0: as the card says
  int num_sources;  // programs that were compiled from text
} faults;
static rheos__cl failing;
static const rheos__cl *sound;

static cl_program create_program(cl_context context, cl_uint count, const char **texts,
                                 const size_t *lengths, cl_int *code) {
  static const char *broken = "no C\n";
  const char *bad = faults.bad_text;
  faults.num_sources++;
  if (bad != NULL && strstr(texts[0], bad) != NULL) texts = &broken;
  return sound->clCreateProgramWithSource(context, count, texts, lengths, code);
}

static cl_mem create_buffer(cl_context context, cl_mem_flags flags, size_t size, void *host,
                            cl_int *code) {
  *code = faults.create_buffer;
  return *code != 0 ? NULL : sound->clCreateBuffer(context, flags, size, host, code);
}

static cl_int start_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint rank,
                           const size_t *from, const size_t *items, const size_t *group,
                           cl_uint num_waits, const cl_event *waits, cl_event *event) {
  if (faults.start_kernel != 0) return faults.start_kernel;
  return sound->clEnqueueNDRangeKernel(queue, kernel, rank, from, items, group, num_waits, waits,
                                       event);
}

static cl_int group_info(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what,
                         size_t size, void *value, size_t *out_size) {
  if (faults.group == 0) {
    return sound->clGetKernelWorkGroupInfo(kernel, device, what, size, value, out_size);
  }
  *(size_t *)value = faults.group;
  return CL_SUCCESS;
}

static cl_int finish(cl_command_queue queue) {
  return faults.finish != 0 ? faults.finish : sound->clFinish(queue);
}

static void faults_begin(void) {
  rheos__card *card = rheos__card_at(0);
  sound = card->cl;
  failing = *sound;
  failing.clCreateProgramWithSource = create_program;
  failing.clCreateBuffer = create_buffer;
  failing.clEnqueueNDRangeKernel = start_kernel;
  failing.clGetKernelWorkGroupInfo = group_info;
  failing.clFinish = finish;
  memset(&faults, 0, sizeof faults);
  rheos__card_forget_programs(card);
  card->cl = &failing;
}

static void faults_end(void) {
  rheos__card *card = rheos__card_at(0);
  card->cl = sound;
  card->is_lost = false;
  card->said = false;
  rheos__card_forget_programs(card);
}

// ---- Running

enum { ROWS = 40 };

static rheos_status *run_on(const char *device, int64_t rows, float *out) {
  card_program p;
  rheos_session *session = NULL;
  rheos_tensor *y = NULL;
  card_program_init(&p, device);
  rheos_status *status = rheos_session_new(p.graph, NULL, &session);
  if (status == NULL) status = card_program_run(&p, session, rows, &y);
  if (status == NULL) memcpy(out, rheos_tensor_data(y), (size_t)rows * sizeof *out);
  rheos_tensor_unref(y);
  rheos_session_free(session);
  card_program_deinit(&p);
  return status;
}

static void assert_as_on_cpu(void) {
  float expected[ROWS], actual[ROWS];
  check(run_on("/device:CPU:0", ROWS, expected));
  check(run_on("/device:GPU:0", ROWS, actual));
  for (int i = 0; i < ROWS; i++) assert_float_equal(actual[i], expected[i], 1e-5);
}

static void test_what_does_not_compile_runs_on_the_cpu(void **unused) {
  (void)unused;
  // A cluster of two, each of an elementwise op, products, and all there are.
  static const char *const bad[] = {"v1", "kernel void loop", "void product", ""};
  setenv("RHEOS_CACHE_DIR", "", 1);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    faults_begin();
    faults.bad_text = bad[i];
    assert_as_on_cpu();
    assert_true(faults.num_sources > 0);
    assert_true(rheos__card_at(0)->said);
    faults_end();
  }
  assert_as_on_cpu();
}

// Of 16 elementwise kernels shrink to them and sums run on the CPU; of 1 nearly all does.
static void test_small_groups(void **unused) {
  (void)unused;
  rheos__opencl_want_blocks(0, false);
  for (size_t group = 1; group <= 128; group *= 2) {
    faults_begin();
    faults.group = group;
    assert_as_on_cpu();
    assert_false(rheos__card_at(0)->said);
    faults_end();
  }
  rheos__opencl_want_blocks(0, true);
}

static void test_members_of_clusters_are_not_compiled(void **unused) {
  (void)unused;
  float y[ROWS];
  setenv("RHEOS_CACHE_DIR", "", 1);
  faults_begin();
  check(run_on("/device:GPU:0", ROWS, y));
  assert_int_equal(faults.num_sources, 3);  // the product, a cluster of two, the mean
  faults_end();
}

static void test_lost_card(void **unused) {
  (void)unused;
  card_program p;
  rheos_session *session = NULL;
  rheos_tensor *y = NULL;
  card_program_init(&p, "/device:GPU:0");
  check(rheos_session_new(p.graph, NULL, &session));
  faults_begin();
  check(card_program_run(&p, session, ROWS, &y));
  rheos_tensor_unref(y);
  faults.start_kernel = CL_OUT_OF_RESOURCES;  // and the queue ends well: it is memory
  rheos_status *status = card_program_run(&p, session, ROWS, &y);
  assert_int_equal(rheos_status_code(status), RHEOS_RESOURCE_EXHAUSTED);
  rheos_status_free(status);
  faults.start_kernel = 0;
  check(card_program_run(&p, session, ROWS, &y));
  rheos_tensor_unref(y);
  faults.start_kernel = faults.finish = CL_OUT_OF_RESOURCES;
  for (int i = 0; i < 3; i++) {
    status = card_program_run(&p, session, ROWS, &y);
    assert_int_equal(rheos_status_code(status), RHEOS_UNAVAILABLE);
    assert_non_null(strstr(rheos_status_message(status), "lost"));
    const char *last = strstr(rheos_status_message(status), "the last operation that it was given");
    assert_true((last != NULL) == (i == 0));  // then it is not given any
    rheos_status_free(status);
  }
  float on_cpu[ROWS];
  check(run_on("/device:CPU:0", ROWS, on_cpu));  // goes on
  rheos_session_free(session);
  faults_end();
  assert_as_on_cpu();
  card_program_deinit(&p);
}

// So large that a new buffer is needed.
static void test_short_memory_in_a_step(void **unused) {
  (void)unused;
  enum { MANY = 4000 };
  card_program p;
  rheos_session *session = NULL;
  rheos_tensor *y = NULL;
  card_program_init(&p, "/device:GPU:0");
  check(rheos_session_new(p.graph, NULL, &session));
  check(card_program_run(&p, session, ROWS, &y));
  rheos_tensor_unref(y);
  faults_begin();
  faults.create_buffer = CL_MEM_OBJECT_ALLOCATION_FAILURE;
  rheos_status *status = card_program_run(&p, session, MANY, &y);
  assert_int_equal(rheos_status_code(status), RHEOS_RESOURCE_EXHAUSTED);
  assert_non_null(strstr(rheos_status_message(status), "[4000,4000]"));
  assert_non_null(strstr(rheos_status_message(status), "/device:GPU:0"));
  rheos_status_free(status);
  check(card_program_run(&p, session, ROWS, &y));
  rheos_tensor_unref(y);
  faults_end();
  check(card_program_run(&p, session, MANY, &y));
  rheos_tensor_unref(y);
  rheos_session_free(session);
  card_program_deinit(&p);
}

static void test_a_driver_that_tells_of_no_memory(void **unused) {
  (void)unused;
  rheos__card card = {.cl = rheos__card_at(0)->cl};
  rheos_status *status = rheos__card_pool_new(&card, &card.pool);
  assert_int_equal(rheos_status_code(status), RHEOS_FAILED_PRECONDITION);
  rheos_status_free(status);
}

// What is no tensor's memory counts too.
static void test_buffers_of_libraries_count(void **unused) {
  (void)unused;
  rheos__card *card = rheos__card_at(0);
  cl_mem memory = NULL;
  size_t bytes = 0;
  assert_int_equal(rheos__card_pool_take(card, (size_t)card->memory_bytes, &memory, &bytes),
                   CL_MEM_OBJECT_ALLOCATION_FAILURE);
  assert_null(memory);
  assert_int_equal(rheos__card_pool_take(card, 1000, &memory, &bytes), CL_SUCCESS);
  const cl_mem first = memory;
  assert_int_equal(rheos__card_pool_take(card, 900, &memory, &bytes), CL_SUCCESS);
  assert_ptr_equal(memory, first);
  assert_int_equal(bytes, 1000);
  assert_int_equal(rheos__card_pool_take(card, 5000, &memory, &bytes), CL_SUCCESS);
  assert_int_equal(bytes, 5000);
  card->cl->clReleaseMemObject(memory);
}

// ---- Files of compiled programs

static const char SOURCE[] =
    "kernel void one(global const char *b, ulong o) { ((global int *)(b + o))[0] = 7; }";

// How many programs were compiled from text to have the kernel.
static int compile_once(void) {
  cl_kernel kernel = NULL;
  faults_begin();
  check(rheos__card_kernel(rheos__card_at(0), SOURCE, "one", &kernel));
  const int count = faults.num_sources;
  assert_non_null(kernel);
  rheos__card_at(0)->cl->clReleaseKernel(kernel);
  faults_end();
  return count;
}

static char *only_file(void) {
  char **names = NULL;
  size_t count = 0;
  char *where = rheos__path_join(folder, "opencl");
  check(rheos__file_list(where, &names, &count));
  assert_int_equal(count, 1);
  char *path = rheos__path_join(where, names[0]);
  rheos__file_list_free(names, count);
  rheos__free(where);
  return path;
}

static void remove_file(void) {
  char *path = only_file();
  check(rheos__file_remove(path));
  rheos__free(path);
}

static void test_programs_are_kept(void **unused) {
  (void)unused;
  setenv("RHEOS_CACHE_DIR", folder, 1);
  assert_int_equal(compile_once(), 1);
  assert_int_equal(compile_once(), 0);
  remove_file();
  assert_int_equal(compile_once(), 1);
  setenv("RHEOS_CACHE_DIR", "", 1);
  assert_int_equal(compile_once(), 1);
  setenv("RHEOS_CACHE_DIR", folder, 1);
  remove_file();
}

static void test_damaged_programs_are_replaced(void **unused) {
  (void)unused;
  setenv("RHEOS_CACHE_DIR", folder, 1);
  assert_int_equal(compile_once(), 1);
  char *path = only_file(), *sound_bytes = NULL;
  size_t size = 0;
  check(rheos__file_read_all(path, 1 << 24, &sound_bytes, &size));
  for (size_t at = 0; at < size; at += at < 100 ? 9 : size / 7) {  // the header, and behind it
    sound_bytes[at] ^= 4;
    check(rheos__file_replace(path, sound_bytes, size));
    sound_bytes[at] ^= 4;
    assert_int_equal(compile_once(), 1);
    assert_int_equal(compile_once(), 0);
  }
  for (size_t cut = 0; cut < size; cut += size / 5) {
    check(rheos__file_replace(path, sound_bytes, cut));
    assert_int_equal(compile_once(), 1);
    assert_int_equal(compile_once(), 0);
  }
  rheos__free(sound_bytes);
  rheos__free(path);
  remove_file();
}

static void test_a_folder_that_cannot_be_written(void **unused) {
  (void)unused;
  char *path = rheos__path_join(folder, "file");
  check(rheos__file_replace(path, "x", 1));
  setenv("RHEOS_CACHE_DIR", path, 1);  // a file: no folder comes inside, whoever asks
  assert_int_equal(compile_once(), 1);
  assert_int_equal(compile_once(), 1);
  check(rheos__file_remove(path));
  rheos__free(path);
}

// ---- Processes

static pid_t start(const char *what) {
  const pid_t child = fork();
  if (child == 0) {
    execl(self, self, what, (char *)NULL);
    _exit(9);
  }
  return child;
}

static int status_of(pid_t child) {
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_two_processes_on_a_card(void **unused) {
  (void)unused;
  setenv("RHEOS_CACHE_DIR", folder, 1);
  const pid_t a = start("steps"), b = start("steps");
  assert_int_equal(status_of(a), 0);
  assert_int_equal(status_of(b), 0);
  char *where = rheos__path_join(folder, "opencl"), **names = NULL;
  size_t count = 0;
  check(rheos__file_list(where, &names, &count));
  assert_int_equal(count, 3);  // whole ones
  for (size_t i = 0; i < count; i++) {
    char *path = rheos__path_join(where, names[i]);
    assert_non_null(strstr(names[i], ".program"));
    check(rheos__file_remove(path));
    rheos__free(path);
  }
  rheos__file_list_free(names, count);
  rheos__free(where);
}

static void test_a_fork_is_refused(void **unused) {
  (void)unused;
  float y[ROWS];
  setenv("RHEOS_CACHE_DIR", "", 1);
  check(run_on("/device:GPU:0", ROWS, y));
  const pid_t child = fork();
  if (child == 0) {
    rheos_status *status = run_on("/device:GPU:0", ROWS, y);
    const bool told = rheos_status_code(status) == RHEOS_UNAVAILABLE &&
                      strstr(rheos_status_message(status), "forked") != NULL;
    _exit(told ? 0 : 3);
  }
  assert_int_equal(status_of(child), 0);
}

// No registered driver; one that is missing; one that is no driver.
static void test_without_drivers(void **unused) {
  (void)unused;
  static const char *const drivers[] = {NULL, "libthere-is-none.so.1", "libm.so.6"};
  char *vendors = rheos__path_join(folder, "vendors");
  char *icd = rheos__path_join(vendors, "a.icd");
  check(rheos__file_make_dirs(vendors));
  setenv("OCL_ICD_VENDORS", vendors, 1);
  for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++) {
    if (drivers[i] != NULL) check(rheos__file_replace(icd, drivers[i], strlen(drivers[i])));
    assert_int_equal(status_of(start("none")), 0);
  }
  unsetenv("OCL_ICD_VENDORS");
  check(rheos__file_remove(icd));
  check(rheos__file_remove_dir(vendors));
  rheos__free(icd);
  rheos__free(vendors);
}

// ---- Drivers that fail at the start

// Of calls that open a card, in a process of its own: the first so many fail.
static struct {
  int contexts, queues;
  int num_made, num_released;  // contexts
} opening;

static cl_context create_context(const cl_context_properties *properties, cl_uint count,
                                 const cl_device_id *ids,
                                 void(CL_CALLBACK *told)(const char *, const void *, size_t,
                                                         void *),
                                 void *argument, cl_int *code) {
  *code = opening.contexts-- > 0 ? CL_DEVICE_NOT_AVAILABLE : CL_SUCCESS;
  if (*code != CL_SUCCESS) return NULL;
  opening.num_made++;
  return sound->clCreateContext(properties, count, ids, told, argument, code);
}

static cl_int release_context(cl_context context) {
  opening.num_released++;
  return sound->clReleaseContext(context);
}

static cl_command_queue create_queue(cl_context context, cl_device_id id,
                                     cl_command_queue_properties properties, cl_int *code) {
  *code = opening.queues-- > 0 ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
  return *code != CL_SUCCESS ? NULL : sound->clCreateCommandQueue(context, id, properties, code);
}

static cl_int find_none(cl_platform_id platform, cl_device_type type, cl_uint most,
                        cl_device_id *ids, cl_uint *count) {
  (void)platform, (void)type, (void)most, (void)ids, (void)count;
  return CL_OUT_OF_HOST_MEMORY;
}

// Before anybody looks for cards.
static rheos__cl *replace_functions(void) {
  rheos__cl *functions = (rheos__cl *)(uintptr_t)rheos__cl_load();
  failing = *functions;
  sound = &failing;  // what they were
  functions->clCreateContext = create_context;
  functions->clReleaseContext = release_context;
  functions->clCreateCommandQueue = create_queue;
  return functions;
}

// Starts itself as `start` does, and counts the lines about cards that are left out.
static int lines_of(const char *what, int *out_status) {
  char *path = rheos__path_join(folder, "errors"), *text = NULL;
  size_t size = 0;
  int count = 0;
  const int kept = dup(STDERR_FILENO);
  const int file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
  dup2(file, STDERR_FILENO);
  *out_status = status_of(start(what));
  dup2(kept, STDERR_FILENO);
  close(file);
  close(kept);
  check(rheos__file_read_all(path, 1 << 20, &text, &size));
  for (size_t i = 0; i + 8 <= size; i++) count += memcmp(text + i, "left out", 8) == 0;
  check(rheos__file_remove(path));
  rheos__free(text);
  rheos__free(path);
  return count;
}

static void test_cards_that_cannot_be_opened_are_left_out(void **unused) {
  (void)unused;
  const int num_cards = rheos__opencl_count();
  int status;
  assert_int_equal(lines_of("no context", &status), num_cards);
  assert_int_equal(status, 0);
  assert_int_equal(lines_of("no queue", &status), num_cards);
  assert_int_equal(status, 0);
  assert_int_equal(lines_of("no devices", &status), 0);
  assert_int_equal(status, 0);
}

// The other card is the first one then.
static void test_a_card_beside_one_that_cannot_be_opened(void **unused) {
  (void)unused;
  int status;
  setenv("POCL_DEVICES", "pthread pthread", 1);
  assert_int_equal(lines_of("one context", &status), 1);
  assert_true(status == 0 || status == 77);
  unsetenv("POCL_DEVICES");
}

static int run_steps(void) {
  float y[ROWS];
  for (int i = 0; i < 30; i++) {
    rheos_status *status = run_on("/device:GPU:0", ROWS, y);
    if (status != NULL) return 1;
  }
  return 0;
}

// The CPU works, and who asks for a card is told.
static int run_without_cards(void) {
  float y[ROWS];
  if (rheos__opencl_count() != 0 || run_on("/device:CPU:0", ROWS, y) != NULL) return 1;
  rheos_status *status = run_on("/device:GPU:0", ROWS, y);
  const bool told = rheos_status_code(status) == RHEOS_INVALID_ARGUMENT;
  rheos_status_free(status);
  return told ? 0 : 2;
}

enum { MANY = 100 };

static int run_unopened(const char *what) {
  rheos__cl *functions = replace_functions();
  if (strcmp(what, "no context") == 0) opening.contexts = MANY;
  if (strcmp(what, "no queue") == 0) opening.queues = MANY;
  if (strcmp(what, "no devices") == 0) functions->clGetDeviceIDs = find_none;
  const int result = run_without_cards();
  return result == 0 && opening.num_released != opening.num_made ? 3 : result;
}

static int run_beside_unopened(void) {
  float y[ROWS];
  (void)replace_functions();
  opening.contexts = 1;
  if (rheos__opencl_count() == 0) return 77;  // the driver makes one card alone
  return rheos__opencl_count() == 1 && run_on("/device:GPU:0", ROWS, y) == NULL ? 0 : 1;
}

static int run_as(const char *what) {
  if (strcmp(what, "none") == 0) return run_without_cards();
  if (strcmp(what, "steps") == 0) return run_steps();
  return strcmp(what, "one context") == 0 ? run_beside_unopened() : run_unopened(what);
}

static int end(void **unused) {
  (void)unused;
  char *where = rheos__path_join(folder, "opencl");
  rheos_status_free(rheos__file_remove_dir(where));
  rheos__free(where);
  rheos_status_free(rheos__file_remove_dir(folder));
  return 0;
}

int main(int argc, char **argv) {
  setenv("RHEOS_OPENCL", "cpu", 1);
  if (argc > 1) return run_as(argv[1]);
  self = argv[0];
  if (rheos__opencl_count() == 0 || mkdtemp(folder) == NULL) return 77;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_does_not_compile_runs_on_the_cpu),
      cmocka_unit_test(test_small_groups),
      cmocka_unit_test(test_members_of_clusters_are_not_compiled),
      cmocka_unit_test(test_lost_card),
      cmocka_unit_test(test_short_memory_in_a_step),
      cmocka_unit_test(test_a_driver_that_tells_of_no_memory),
      cmocka_unit_test(test_buffers_of_libraries_count),
      cmocka_unit_test(test_programs_are_kept),
      cmocka_unit_test(test_damaged_programs_are_replaced),
      cmocka_unit_test(test_a_folder_that_cannot_be_written),
      cmocka_unit_test(test_two_processes_on_a_card),
      cmocka_unit_test(test_a_fork_is_refused),
      cmocka_unit_test(test_without_drivers),
      cmocka_unit_test(test_cards_that_cannot_be_opened_are_left_out),
      cmocka_unit_test(test_a_card_beside_one_that_cannot_be_opened),
  };
  return cmocka_run_group_tests(tests, NULL, end);
}
