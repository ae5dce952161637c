// How late a step comes back that a deadline should end while one op works on large inputs. The
// inputs of recorded cases are grown, by tiles or by longer strings, in each of some ways, from
// thousands of elements to millions, until the step is late; cancellation and Ctrl-C are seen by
// the same polls as deadlines. Each op has a process of its own, so that one that needs all the
// memory or never comes back is a row too. One JSON object for each op that is late, the latest
// first; `--smoke` only tries whether each op can be driven, an op's name tries that op alone and
// tells each way.
#include <errno.h>
#include <math.h>
#include <string.h>
#include <signal.h>
#include <sys/mman.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "recorded_case.h"

enum {
  TIMEOUT_MS = 20,
  GOAL_MS = 50,    // late
  ENOUGH_MS = 80,  // and no larger inputs are tried
  LIMIT_SECONDS = 40,
  MAX_DIMENSIONS = 8,
};
static const double LEAST_ELEMENTS = 1 << 14, MOST_ELEMENTS = 1 << 22, STEP = 16;
static const rlim_t MEMORY_BYTES = (rlim_t)9 << 30;

// How the inputs grow with a factor.
typedef enum way {
  FIRST_DIMENSIONS,  // of all inputs
  LAST_DIMENSIONS,
  ALL_DIMENSIONS,
  PLANES,  // dimensions 1 and 2 of what has three and more
  FIRST_OF_ONE,
  LAST_OF_ONE,
  ALL_OF_ONE,
  PLANES_OF_ONE,
  FIRST_OF_SECOND,
  NUMBERS,  // integers that say how much there is to be
  STRINGS,  // longer ones
  NUM_WAYS,
} way;

static const char *const way_names[NUM_WAYS] = {
    "first dimensions", "last dimensions",        "all dimensions",
    "planes",           "first dimension of one", "last dimension of one",
    "all of one",       "planes of one",          "first dimension of the second",
    "numbers",          "longer strings",
};

typedef struct row {
  char op[64];
  double late_ms;
  double elements;
  int way;
  rheos_code code;  // that the latest step ended with
  int num_ways;     // that ran
} row;

// ---- Larger inputs

static bool grows(way how, int input) {
  if (how == FIRST_OF_ONE || how == LAST_OF_ONE || how == ALL_OF_ONE || how == PLANES_OF_ONE) {
    return input == 0;
  }
  return how != FIRST_OF_SECOND || input == 1;
}

static int64_t grown(int64_t dimension, double factor) {
  const double size = (double)dimension * factor;
  return size < 1e12 ? (int64_t)(size + 0.5) : (int64_t)1e12;
}

static void grow_shape(way how, double factor, const rheos_shape *from, rheos_shape *to) {
  *to = *from;
  const int rank = from->rank;
  switch (how) {
    case FIRST_DIMENSIONS:
    case FIRST_OF_ONE:
    case FIRST_OF_SECOND: to->dims[0] = grown(from->dims[0], factor); return;
    case LAST_DIMENSIONS:
    case LAST_OF_ONE: to->dims[rank - 1] = grown(from->dims[rank - 1], factor); return;
    case ALL_DIMENSIONS:
    case ALL_OF_ONE:
      for (int i = 0; i < rank; i++) to->dims[i] = grown(from->dims[i], pow(factor, 1.0 / rank));
      return;
    case PLANES:
    case PLANES_OF_ONE:
      for (int i = 1; rank >= 3 && i <= 2; i++) to->dims[i] = grown(from->dims[i], sqrt(factor));
      return;
    case NUMBERS:
    case STRINGS:
    case NUM_WAYS: return;
  }
}

// The element of `from` that is repeated at element `index` of the larger `to`.
static int64_t source_of(const rheos_shape *from, const rheos_shape *to, int64_t index) {
  int64_t at[MAX_DIMENSIONS], source = 0;
  for (int i = to->rank; i-- > 0;) {
    at[i] = index % to->dims[i];
    index /= to->dims[i];
  }
  for (int i = 0; i < to->rank; i++) source = source * from->dims[i] + at[i] % from->dims[i];
  return source;
}

// The values of a tensor, repeated to fill the shape.
static rheos_tensor *tiled(const rheos_tensor *from, rheos_shape shape) {
  rheos_tensor *to = NULL;
  const rheos_dtype dtype = rheos_tensor_dtype(from);
  check(rheos_tensor_new(dtype, shape, &to));
  const rheos_shape source_shape = *rheos_tensor_shape(from);
  const size_t size = rheos_dtype_size(dtype);
  const char *values = rheos_tensor_data(from);
  char *data = rheos_tensor_data(to);
  const int64_t count = rheos_tensor_num_elements(to);
  const int64_t run = shape.rank > 0 ? source_shape.dims[shape.rank - 1] : 1;
  const int64_t row_length = shape.rank > 0 ? shape.dims[shape.rank - 1] : 1;
  for (int64_t i = 0, length; i < count; i += length) {  // as much as lies side by side
    const int64_t source = source_of(&source_shape, &shape, i), left = row_length - i % row_length;
    length = run < left ? run : left;
    for (int64_t k = 0; dtype == RHEOS_STRING && k < length; k++) {
      const rheos_string *s = (const rheos_string *)values + source + k;
      check(rheos_tensor_set_string(to, i + k, s->data, s->size_bytes));
    }
    if (dtype != RHEOS_STRING) {
      memcpy(data + (size_t)i * size, values + (size_t)source * size, (size_t)length * size);
    }
  }
  return to;
}

// Each string repeated `factor` times.
static rheos_tensor *longer(const rheos_tensor *from, double factor) {
  rheos_tensor *to = NULL;
  check(rheos_tensor_new(RHEOS_STRING, *rheos_tensor_shape(from), &to));
  const rheos_string *strings = rheos_tensor_data(from);
  for (int64_t i = 0; i < rheos_tensor_num_elements(from); i++) {
    const size_t size = strings[i].size_bytes, times = (size_t)factor;
    char *text = malloc(size * times + 1);
    if (!text) exit(1);
    for (size_t k = 0; k < times && size > 0; k++) memcpy(text + k * size, strings[i].data, size);
    check(rheos_tensor_set_string(to, i, text, size * times));
    free(text);
  }
  return to;
}

// The first number above 1 becomes larger.
static rheos_tensor *with_more(const rheos_tensor *from, double factor) {
  rheos_tensor *to = tiled(from, *rheos_tensor_shape(from));
  int32_t *narrow = rheos_tensor_data(to);
  int64_t *wide = rheos_tensor_data(to);
  const bool is_wide = rheos_tensor_dtype(from) == RHEOS_INT64;
  for (int64_t i = 0; i < rheos_tensor_num_elements(to); i++) {
    const int64_t value = is_wide ? wide[i] : narrow[i];
    if (value < 1) continue;
    const int64_t more = grown(value, factor);
    if (is_wide) {
      wide[i] = more;
    } else {
      narrow[i] = more < INT32_MAX ? (int32_t)more : INT32_MAX;
    }
    return to;
  }
  rheos_tensor_unref(to);
  return NULL;
}

// NULL: this input stays as it is.
static rheos_tensor *larger(way how, double factor, const rheos_tensor *from) {
  const rheos_dtype dtype = rheos_tensor_dtype(from);
  const rheos_shape shape = *rheos_tensor_shape(from);
  if (how == STRINGS) return dtype == RHEOS_STRING ? longer(from, factor) : NULL;
  const bool is_integer = dtype == RHEOS_INT32 || dtype == RHEOS_INT64;
  if (how == NUMBERS) {
    return is_integer && rheos_tensor_num_elements(from) <= 8 ? with_more(from, factor) : NULL;
  }
  if (shape.rank < 1 || shape.rank > MAX_DIMENSIONS || rheos_tensor_num_elements(from) == 0) {
    return NULL;
  }
  rheos_shape to;
  grow_shape(how, factor, &shape, &to);
  return rheos_shape_equal(&shape, &to) ? NULL : tiled(from, to);
}

// Two ways may be one for a case: whether all inputs grow alike.
static bool is_same(const op_case *c, way how, way other) {
  if (how >= NUMBERS || other >= NUMBERS) return false;
  for (int i = 0; i < c->num_inputs; i++) {
    const rheos_tensor *from = c->inputs[i].tensor;
    if (!from || rheos_tensor_shape(from)->rank < 1) continue;
    rheos_shape one = *rheos_tensor_shape(from), two = one;
    if (grows(how, i)) grow_shape(how, STEP, rheos_tensor_shape(from), &one);
    if (grows(other, i)) grow_shape(other, STEP, rheos_tensor_shape(from), &two);
    if (!rheos_shape_equal(&one, &two)) return false;
  }
  return true;
}

static bool is_new(const op_case *c, way how) {
  for (int other = 0; other < (int)how; other++) {
    if (is_same(c, how, (way)other)) return false;
  }
  return true;
}

// Whether anything has grown.
static bool grow(op_case *c, way how, double factor) {
  bool any = false;
  for (int i = 0; i < c->num_inputs; i++) {
    op_input *input = &c->inputs[i];
    if (!input->tensor || !grows(how, i)) continue;
    rheos_tensor *to = larger(how, factor, input->tensor);
    if (!to) continue;
    rheos_tensor_unref(input->tensor);
    input->tensor = to;
    input->shape = *rheos_tensor_shape(to);
    any = true;
  }
  return any;
}

// Which elements the factor multiplies, at most.
static double elements_that_grow(const op_case *c, way how) {
  double most = 1;
  for (int i = 0; i < c->num_inputs; i++) {
    const rheos_tensor *t = c->inputs[i].tensor;
    if (!t || !grows(how, i)) continue;
    double count = (double)rheos_tensor_num_elements(t);
    if (how == STRINGS) count *= 4;
    if (rheos_tensor_dtype(t) == RHEOS_STRING && how != STRINGS) count *= 8;  // cost as much
    if (count > most) most = count;
  }
  return how == NUMBERS ? 4 : most;
}

// ---- A step with a deadline

typedef struct outcome {
  double late_ms;
  rheos_code code;
} outcome;

static rheos_status *run_late(op_program *p, rheos_session *session, outcome *out) {
  rheos_status *first = case_run_first_nodes(p, session);
  if (first) return first;
  const rheos_run_options options = {.timeout_ms = TIMEOUT_MS};
  const double start = now_ns();
  rheos_status *status =
      rheos_session_run(session, p->feeds, p->num_feeds, NULL, 0, &p->op, 1, &options);
  out->late_ms = (now_ns() - start) / 1e6 - TIMEOUT_MS;
  out->code = status ? rheos_status_code(status) : RHEOS_OK;
  return status;
}

// False where the case does not fit this way to grow.
static bool try_size(const op_case *from, way how, double factor, outcome *out) {
  op_case c;
  op_case_copy(from, &c);
  *out = (outcome){0};
  bool ran = grow(&c, how, factor);
  if (ran) {
    op_program program;
    rheos_session *session = NULL;
    rheos_status *status = op_program_build(&program, &c, BUILD_UNKNOWN_SHAPES);
    if (!status) {
      const rheos_session_options options = {.num_threads = 1};
      status = rheos_session_new(program.graph, &options, &session);
    }
    if (!status) status = run_late(&program, session, out);
    const rheos_code code = status ? rheos_status_code(status) : RHEOS_OK;
    // What refuses a larger input after a long time is late too.
    ran = code == RHEOS_OK || code == RHEOS_DEADLINE_EXCEEDED || out->late_ms > GOAL_MS;
    rheos_status_free(status);
    rheos_session_free(session);
    op_program_free(&program);
  }
  op_case_free(&c);
  return ran;
}

static void try_way(const op_case *c, way how, bool once, bool tells, row *r) {
  if (!is_new(c, how)) return;
  const double elements = elements_that_grow(c, how);
  bool any = false;
  for (double size = LEAST_ELEMENTS; size <= (once ? LEAST_ELEMENTS : MOST_ELEMENTS);
       size *= STEP) {
    outcome o, again;
    if (size < elements * 2 || !try_size(c, how, size / elements, &o)) break;
    any = true;
    if (o.late_ms > GOAL_MS && try_size(c, how, size / elements, &again) &&
        again.late_ms < o.late_ms) {
      o = again;  // the machine may have been busy
    }
    if (tells) {
      fprintf(stderr, "%s: %s: %s, %.0f: %.1f ms late, %s\n", c->op, c->tag, way_names[how], size,
              o.late_ms, rheos_code_name(o.code));
    }
    if (o.late_ms > r->late_ms) {
      r->late_ms = o.late_ms;
      r->elements = size;
      r->way = (int)how;
      r->code = o.code;
    }
    if (o.late_ms > ENOUGH_MS) break;
  }
  r->num_ways += any;
}

static void try_op(const op_cases *cases, size_t first, size_t end, bool once, bool tells, row *r) {
  const op_case *small = case_nearest(cases, first, end, 64);
  for (int how = 0; small && how < NUM_WAYS; how++) try_way(small, (way)how, once, tells, r);
}

// ---- A process for each op

static void limit_process(void) {
  const struct rlimit memory = {MEMORY_BYTES, MEMORY_BYTES};
  setrlimit(RLIMIT_AS, &memory);
  alarm(LIMIT_SECONDS);
}

// The row is in memory that is read also when the process was ended.
static bool try_in_process(const op_cases *cases, size_t first, size_t end, bool once, bool tells,
                           row *shared) {
  *shared = (row){.late_ms = -TIMEOUT_MS};
  snprintf(shared->op, sizeof shared->op, "%s", cases->items[first].op);
  fflush(stdout);
  const pid_t child = fork();
  if (child < 0) exit(1);
  if (child == 0) {
    limit_process();
    try_op(cases, first, end, once, tells, shared);
    _exit(0);
  }
  int ended = 0;
  while (waitpid(child, &ended, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(ended)) return WEXITSTATUS(ended) == 0;
  const bool was_alarm = WTERMSIG(ended) == SIGALRM;
  fprintf(stderr, "%s: ended by signal %d\n", shared->op, WTERMSIG(ended));
  if (was_alarm)
    shared->late_ms = LIMIT_SECONDS * 1e3;  // a guess: ways that are not late take less
  return was_alarm;
}

static int latest_first(const void *a, const void *b) {
  const double x = ((const row *)a)->late_ms, y = ((const row *)b)->late_ms;
  return (x < y) - (x > y);
}

static void report_row(const row *r) {
  printf(
      "{\"row\": \"%s, %s, %.0f elements, %s\", \"unit\": \"ms late\", \"rheos\": %.4g, "
      "\"goal\": %d}\n",
      r->op, way_names[r->way], r->elements, rheos_code_name(r->code), r->late_ms, GOAL_MS);
}

int main(int argc, char **argv) {
  const bool once = argc > 1 && strcmp(argv[1], "--smoke") == 0;
  const char *only = argc > 1 && !once ? argv[1] : NULL;
  op_cases cases;
  op_cases_load(&cases);
  row *rows = calloc(cases.count, sizeof *rows);
  row *shared =
      mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (!rows || shared == MAP_FAILED) return 1;
  int count = 0, driven = 0, late = 0, failures = 0;
  for (size_t i = 0, end; i < cases.count; i = end) {
    end = op_cases_end(&cases, i);
    if (only && strcmp(cases.items[i].op, only) != 0) continue;
    failures += !try_in_process(&cases, i, end, once, only != NULL, shared);
    rows[count++] = *shared;
    driven += shared->num_ways > 0;
    late += shared->late_ms > GOAL_MS;
  }
  qsort(rows, (size_t)count, sizeof *rows, latest_first);
  for (int i = 0; i < count && !once; i++) {
    if (rows[i].late_ms > GOAL_MS || only) report_row(&rows[i]);
  }
  report("ops with larger inputs", "ops", driven, 0, "of", count);
  if (!once) report("ops that come back late", "ops", late, 0, "of", driven);
  free(rows);
  op_cases_free(&cases);
  op_cases_clear_folder(false);
  return failures > 0;
}
