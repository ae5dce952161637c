// What every op of the table costs in a step at a small size beyond its arithmetic. A step runs
// copies of the op on the inputs of one of its recorded cases through a bound callable; what more
// copies take longer is theirs. Beside it the op's kernel by itself, without session and step, on
// tensors that are there (one_kernel.h): the difference is the overhead. Two cases an op: the one
// nearest to 64 elements, and the smallest that is not empty; where the arithmetic of the first
// takes long, the difference is lost in its noise, so the row is the lesser overhead. Processor
// time of the one thread. One JSON object an op, the most overhead first; `--smoke` only tries
// whether each op can be driven, an op's name measures that op alone.
#include <string.h>

#define BENCH_CLOCK CLOCK_THREAD_CPUTIME_ID
#include "bench.h"
#include "graph/op_def.h"
#include "one_kernel.h"
#include "recorded_case.h"

enum { COPIES = 64, WANTED = 64, GOAL_NS = 150 };

static double round_ns = 1e6;  // what the calls of a round take together at least, by half

typedef struct row {
  char op[64];
  // Of the case nearest to 64 elements, of the smallest one
  double step_ns[2], kernel_ns[2];
  int64_t elements[2];
} row;

typedef struct driven {
  op_program program;
  rheos_session *session;
  rheos_callable *callable;
} driven;

static void driven_free(driven *d) {
  rheos_callable_free(d->callable);
  rheos_session_free(d->session);
  op_program_free(&d->program);
}

// A bound callable for a step of `copies` of the case's op.
static rheos_status *drive(const op_case *c, int copies, driven *d) {
  op_program *p = &d->program;
  rheos_operation targets[1 + COPIES];
  memset(d, 0, sizeof *d);
  rheos_status *status = op_program_build(p, c, BUILD_AS_RECORDED);
  if (status) return status;
  targets[0] = p->op;
  for (int i = 1; i < copies; i++) {
    const rheos_op_args args = {.type = c->op,
                                .inputs = p->inputs,
                                .num_inputs = (size_t)c->num_inputs,
                                .attrs = c->attrs,
                                .num_attrs = (size_t)c->num_attrs};
    targets[i] = rheos_op(p->scope, &args);
  }
  status = rheos_scope_finish(p->scope);
  // Or the copies become one.
  const rheos_session_options options = {.num_threads = 1,
                                         .rewrites = {.disable_meta_optimizer = true}};
  if (!status) status = rheos_session_new(p->graph, &options, &d->session);
  if (!status) status = case_run_first_nodes(p, d->session);
  rheos_output feeds[CASE_MAX_INPUTS];
  rheos_tensor *values[CASE_MAX_INPUTS];
  for (size_t i = 0; i < p->num_feeds; i++) {
    feeds[i] = p->feeds[i].output, values[i] = p->feeds[i].value;
  }
  if (!status) {
    status = rheos_callable_new(d->session, feeds, p->num_feeds, NULL, 0, targets, (size_t)copies,
                                &d->callable);
  }
  return status ? status : rheos_callable_bind(d->callable, values, NULL);
}

static rheos_status *run_step(void *argument) {
  return rheos_callable_run_bound(((driven *)argument)->callable, NULL);
}

// ns of a step, 0 if it is to run but once.
static rheos_status *step_ns(driven *d, bool once, double *out_ns) {
  *out_ns = 0;
  return once ? run_step(d) : least_ns(run_step, d, round_ns, out_ns);
}

// ns of the op's kernel alone.
static rheos_status *kernel_ns(const op_case *c, bool once, double *out_ns) {
  op_program program;
  one_kernel *kernel = NULL;
  rheos_status *status = op_program_build(&program, c, BUILD_AS_RECORDED);
  if (!status) status = one_kernel_new(&program, &kernel);
  if (!status && !once) status = one_kernel_ns(kernel, round_ns, out_ns);
  one_kernel_free(kernel);
  op_program_free(&program);
  return status;
}

// ns of one op of the case.
static rheos_status *case_ns(const op_case *from, bool once, double *out_ns,
                             double *out_kernel_ns) {
  op_case c;
  driven many, one;
  double many_ns = 0, one_ns = 0;
  op_case_copy(from, &c);
  case_feed_one(&c);
  rheos_status *status = drive(&c, COPIES, &many);
  if (!status) status = step_ns(&many, once, &many_ns);
  driven_free(&many);
  if (!status && !once) {
    status = drive(&c, 1, &one);
    if (!status) status = step_ns(&one, once, &one_ns);
    driven_free(&one);
  }
  if (!status) status = kernel_ns(&c, once, out_kernel_ns);
  op_case_free(&c);
  *out_ns = (many_ns - one_ns) / (COPIES - 1);
  return status;
}

// False where the op cannot be driven, after a word why; a run that fails is counted.
static bool measure(const op_cases *cases, size_t first, size_t end, bool once, row *r,
                    int *failures) {
  const char *op = cases->items[first].op;
  const op_case *both[] = {case_nearest(cases, first, end, WANTED),
                           case_nearest(cases, first, end, 1)};
  if (!both[0]) {
    fprintf(stderr, "%s: no case can be driven\n", op);
    return false;
  }
  snprintf(r->op, sizeof r->op, "%s", op);
  for (int i = 0; i < (once ? 1 : 2); i++) {
    rheos_status *status = case_ns(both[i], once, &r->step_ns[i], &r->kernel_ns[i]);
    r->elements[i] = case_elements(both[i]);
    if (!status) continue;
    fprintf(stderr, "%s: %s: %s\n", op, both[i]->tag, rheos_status_message(status));
    rheos_status_free(status);
    ++*failures;
    return false;
  }
  return true;
}

static double overhead(const row *r, int i) { return r->step_ns[i] - r->kernel_ns[i]; }

static int better(const row *r) { return overhead(r, 1) < overhead(r, 0); }

static double least(const row *r) { return overhead(r, better(r)); }

static double least_step(const row *r) {
  return r->step_ns[1] < r->step_ns[0] ? r->step_ns[1] : r->step_ns[0];
}

static int by_overhead(const void *a, const void *b) {
  const double x = least(a), y = least(b);
  return (x < y) - (x > y);
}

static void report_row(const row *r) {
  const int i = better(r);
  printf(
      "{\"row\": \"%s beyond its kernel, %lld elements\", \"unit\": \"ns\", \"rheos\": %.4g, "
      "\"goal\": %d, \"peers\": {\"step\": %.4g, \"kernel\": %.4g",
      r->op, (long long)r->elements[i], overhead(r, i), GOAL_NS, r->step_ns[i], r->kernel_ns[i]);
  if (i == 1) {
    printf(", \"with %lld elements\": %.4g", (long long)r->elements[0], overhead(r, 0));
  }
  puts("}}");
  fflush(stdout);
}

int main(int argc, char **argv) {
  const bool once = argc > 1 && strcmp(argv[1], "--smoke") == 0;
  const char *only = argc > 1 && !once ? argv[1] : NULL;
  op_cases cases;
  if (only) round_ns = 1e8;  // long enough for a profile
  op_cases_load(&cases);
  row *rows = calloc(cases.count, sizeof *rows);
  int count = 0, left_out = 0, above = 0, steps_above = 0, failures = 0;
  if (!rows) return 1;
  for (size_t i = 0, end; i < cases.count; i = end) {
    end = op_cases_end(&cases, i);
    if (only && strcmp(cases.items[i].op, only) != 0) continue;
    if (measure(&cases, i, end, once, &rows[count], &failures)) {
      count++;
    } else {
      left_out++;
    }
  }
  qsort(rows, (size_t)count, sizeof *rows, by_overhead);
  for (int i = 0; i < count && !once; i++) {
    report_row(&rows[i]);
    above += least(&rows[i]) > GOAL_NS;
    steps_above += least_step(&rows[i]) > GOAL_NS;
  }
  if (once) {
    report("ops driven", "ops", count, 0, "", 0);
  } else {
    report("ops above the goal", "ops", above, 0, "of", count);
    report("ops above it with their arithmetic", "ops", steps_above, 0, "of", count);
  }
  fprintf(stderr, "%d ops left out\n", left_out);
  free(rows);
  op_cases_free(&cases);
  op_cases_clear_folder(false);
  return failures > 0;
}
