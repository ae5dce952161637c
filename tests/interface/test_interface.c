// Every public function with every wrong argument: NULL, handles that are none, of another graph or
// out of range, counts and sizes that are huge, numbers and enumerators that mean nothing. What
// comes back is an error or an answer; the program goes on. The calls are generated from the
// headers (generate_calls.py), their values are in given.c.
//
// The calls run in a child, which begins anew behind a call that ended it, so that one run lists
// all that do. RHEOS_CALLS=1000 makes so many calls of each function with several random wrong
// arguments; RHEOS_CALL=rheos_session_run calls one function only.
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "interface/given.h"

enum { MAX_PARAMETERS = 10, SECONDS_PER_CALL = 20, LEAKED = -1 };

typedef struct public_function {
  const char *name;
  void (*call)(const int *choice);
  int num_choices[MAX_PARAMETERS];
  int num_parameters;
} public_function;

// The macros of lines.h stand for the functions that are meant here.
#undef rheos_op
#undef rheos_constant
#undef rheos_constant_float
#undef rheos_constant_int
#undef rheos_group
#undef rheos_gradients
#undef rheos_get_variable
#undef rheos_get_variable_record
#undef rheos_variable_new
#undef rheos_variables_initializer
#undef rheos_global_variables_initializer
#undef rheos_compute_gradients
#undef rheos_apply_gradients
#undef rheos_minimize
#undef rheos_minimize_with
#undef rheos_optimizer_make_slot
#undef rheos_saver_new

#include "interface_calls.inc"

enum { NUM_FUNCTIONS = sizeof functions / sizeof functions[0] };

// ---- Which calls there are of a function: number 0 is as it should be, then one wrong argument
// after the other, then all NULL, then random ones.

static uint32_t random_below(uint64_t *state, uint32_t count) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33) % count;
}

static int num_wrong(const public_function *f) {
  int count = 0;
  for (int i = 0; i < f->num_parameters; i++) count += f->num_choices[i] - 1;
  return count;
}

static void choose(const public_function *f, int number, int *choice) {
  memset(choice, 0, MAX_PARAMETERS * sizeof *choice);
  if (number-- == 0) return;
  for (int i = 0; i < f->num_parameters; i++) {
    if (number >= 0 && number < f->num_choices[i] - 1) {
      choice[i] = number + 1;
      return;
    }
    number -= f->num_choices[i] - 1;
  }
  uint64_t state = (uint64_t)number;
  for (int i = 0; i < f->num_parameters; i++) {
    bool is_wrong = number == 0 || random_below(&state, 2) == 0;
    if (!is_wrong || f->num_choices[i] == 1) continue;
    choice[i] = number == 0 ? 1 : 1 + (int)random_below(&state, (uint32_t)f->num_choices[i] - 1);
  }
}

static int num_calls(const public_function *f) {
  const char *wanted = getenv("RHEOS_CALLS"), *only = getenv("RHEOS_CALL");
  if (only != NULL && strcmp(only, f->name) != 0) return 0;
  if (f->num_parameters == 0) return 1;
  return 2 + num_wrong(f) + (wanted != NULL ? atoi(wanted) : 8);
}

// ---- The child

// Where the child is; the parent sees it too.
typedef struct progress {
  int function, number;
} progress;

static void call_all(volatile progress *at) {
  for (; at->function < NUM_FUNCTIONS; at->function++, at->number = 0) {
    const public_function *f = &functions[at->function];
    const int count = num_calls(f);
    for (; at->number < count; at->number++) {
      int choice[MAX_PARAMETERS];
      choose(f, at->number, choice);
      alarm(SECONDS_PER_CALL);
      f->call(choice);
      things_free();
    }
  }
  alarm(0);
}

// Signals end the child as they would end a program, after what a sanitizer says.
static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { NUM_SIGNALS = sizeof signals / sizeof signals[0] };
static struct sigaction before_cmocka[NUM_SIGNALS];

static void quiet(void) {
  for (int i = 0; i < NUM_SIGNALS; i++) sigaction(signals[i], &before_cmocka[i], NULL);
  if (getenv("RHEOS_CALL") != NULL) return;
  int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO);
  close(nowhere);
}

// True if the child went through all.
static bool go_on(volatile progress *at) {
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    quiet();
    call_all(at);
    exit(0);  // where a sanitizer looks for leaks
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  if (at->function == NUM_FUNCTIONS) {
    print_error("what the calls made was not freed\n");
    at->number = LEAKED;
    return true;
  }
  const public_function *f = &functions[at->function];
  int choice[MAX_PARAMETERS];
  choose(f, at->number, choice);
  char text[MAX_PARAMETERS * 8 + 1] = "";
  for (int i = 0; i < f->num_parameters; i++) {
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d", i > 0 ? "," : "", choice[i]);
  }
  print_error("%s(%s) %s %d\n", f->name, text, WIFSIGNALED(status) ? "signal" : "status",
              WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  at->number++;
  return false;
}

static void test_interface__wrong_arguments_do_not_end_the_program(void **state) {
  (void)state;
  char folder[] = "/tmp/rheos-interface-XXXXXX";
  assert_non_null(mkdtemp(folder));
  char *before = getcwd(NULL, 0);
  assert_int_equal(chdir(folder), 0);
  volatile progress *at =
      mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(at, MAP_FAILED);
  int ended = 0;
  while (!go_on(at)) ended++;
  const bool leaked = at->number == LEAKED;
  munmap((void *)at, sizeof *at);
  assert_int_equal(chdir(before), 0);
  free(before);
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  assert_int_equal(system(command), 0);
  assert_int_equal(ended, 0);
  assert_false(leaked);
}

int main(void) {
  for (int i = 0; i < NUM_SIGNALS; i++) sigaction(signals[i], NULL, &before_cmocka[i]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_interface__wrong_arguments_do_not_end_the_program),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
