// `rheos bench`: times one step of a graph, and says where the time goes. Every run that is timed
// is traced, so that latencies and the time of each kind of operation are of the same runs.
#include <rheos/trace.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench_bodies.h"
#include "bench_pipeline.h"
#include "command.h"
#include "files.h"
#include "options.h"
#include "peaks.h"
#include "progress.h"
#include "request.h"
#include "status.h"
#include "text.h"

const char command_bench_help[] =
    "usage: rheos bench [OPTIONS] PATH\n"
    "\n"
    "Times a step of a graph, a meta graph with its checkpoint, or a saved model. Inputs that\n"
    "are not given are random: numbers in [0, 1), integers 0 and 1, empty strings.\n"
    "\n"
    "  --feed NAME=VALUE    a value for an input, as for 'rheos exec'\n"
    "  --shape NAME=2,3     the shape of a random input (else unknown dimensions are 1)\n"
    "  --fetch NAME         an output, or an operation to run; may come several times\n"
    "                       (without it, all outputs of the signature)\n"
    "  --seed N             of the random inputs (0)\n"
    "  --threads N          that work inside operations (one for each core)\n"
    "  --runs N             time so many runs (else as many as fit into --seconds)\n"
    "  --seconds S          how long to measure (2)\n"
    "  --json               print one JSON object\n"
    "  --pipeline           go over the graph's datasets, and tell which stage is slow; of a\n"
    "                       SCRIPT.py, which is run with what follows it: those it goes over\n"
    "  --trace FILE         write a trace of ten more runs for chrome://tracing or Perfetto\n"
    "  --signature NAME     of a saved model or meta graph; serving_default if it has one\n"
    "  --tags A,B           which graph of a saved model (else its first)\n"
    "  --checkpoint PATH    the variables' values for a graph or a meta graph\n"
    "  --init NAME          an operation to run before; may come several times\n";

enum { MAX_RUNS = 1000000, WARM_RUNS = 3, WRITTEN_RUNS = 10, MAX_KINDS_SHOWN = 20 };

typedef struct op_kind {
  const char *name;
  int64_t count;  // a run
  double ns, flops, bytes;
} op_kind;

typedef struct bench {
  request request;
  text_list shapes;
  const char *seed_text, *threads_text, *runs_text, *seconds_text, *trace_path;
  bool as_json, of_pipelines;
  uint64_t random;
  int64_t num_runs_wanted;
  double seconds;
  rheos_callable *callable;
  rheos_tensor **values;  // by feed
  rheos_tensor **results;
  double *times_ns;  // sorted
  double *sums_ns;   // sorted: what the operations of a run took together, of the run's own time
  size_t num_times;
  double first_ns;
  rheos_trace *trace;
  op_kind *kinds;  // most time first
  size_t num_kinds;
  rheos_profile *profile;
  bench_bodies bodies;
  peaks peaks;
} bench;

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

// ---- Random inputs

static uint64_t next_random(uint64_t *state) {  // splitmix64
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

// "2,3" as dimensions; "" is a scalar.
static bool parse_shape(const char *text, rheos_shape *out_shape) {
  *out_shape = RHEOS_SCALAR;
  while (*text != '\0') {
    char *end;
    const long long dim = strtoll(text, &end, 10);
    if (end == text || dim < 0 || out_shape->rank == RHEOS_MAX_RANK) return false;
    if (*end != '\0' && (*end != ',' || end[1] == '\0')) return false;
    out_shape->dims[out_shape->rank++] = dim;
    text = *end == ',' ? end + 1 : end;
  }
  return true;
}

// The shape of --shape for this input, or its own with 1 for what is not known.
static rheos_status *shape_for(const bench *b, rheos_output output, rheos_shape *out_shape) {
  *out_shape = rheos_output_shape(output);
  if (out_shape->rank < 0) *out_shape = RHEOS_SCALAR;
  for (int32_t i = 0; i < out_shape->rank; i++) {
    if (out_shape->dims[i] < 0) out_shape->dims[i] = 1;
  }
  for (size_t i = 0; i < b->shapes.count; i++) {
    const char *text = b->shapes.items[i], *equals = strchr(text, '=');
    char *name = command_format("%.*s", (int)(equals - text), text);
    rheos_output named;
    rheos_status *status = runner_input(&b->request.runner, name, &named);
    free(name);
    TRY(status);
    if (named.id != output.id || named.index != output.index) continue;
    if (!parse_shape(equals + 1, out_shape)) {
      return INVALID("--shape %s is no shape like NAME=2,3", text);
    }
  }
  return NULL;
}

// Complex and quantized inputs are zeros.
static rheos_status *random_value(bench *b, rheos_output output, rheos_tensor **out_value) {
  rheos_shape shape;
  TRY(shape_for(b, output, &shape));
  const rheos_dtype dtype = rheos_dtype_base(rheos_output_dtype(output));
  TRY(rheos_tensor_new(dtype, shape, out_value));
  char *data = rheos_tensor_data(*out_value);
  const int64_t count = rheos_shape_num_elements(&shape);
  const size_t size = rheos_dtype_size(dtype);
  const bool is_integer = rheos_dtype_is_integer(dtype) || dtype == RHEOS_BOOL;
  if (dtype == RHEOS_STRING) return NULL;  // empty strings
  memset(data, 0, (size_t)count * size);
  for (int64_t i = 0; i < count; i++) {
    const uint64_t bits = next_random(&b->random);
    const float number = (float)(bits >> 40) * 0x1p-24f;
    char *element = data + (size_t)i * size;
    if (is_integer)
      element[0] = (char)(bits >> 63);
    else if (dtype == RHEOS_FLOAT)
      memcpy(element, &number, sizeof number);
    else if (dtype == RHEOS_DOUBLE)
      memcpy(element, &(double){number}, sizeof(double));
    else if (dtype == RHEOS_HALF)
      memcpy(element, &(uint16_t){rheos_float_to_half(number)}, 2);
    else if (dtype == RHEOS_BFLOAT16) {
      memcpy(element, &(uint16_t){rheos_float_to_bfloat16(number)}, 2);
    }
  }
  return NULL;
}

// Feeds a random value. There is room for one more.
static rheos_status *feed_random(bench *b, rheos_output output) {
  request *r = &b->request;
  r->fed[r->num_fed].output = output;
  r->fed[r->num_fed].value = NULL;
  rheos_status *status = random_value(b, output, &r->fed[r->num_fed].value);
  if (status == NULL) r->num_fed++;
  return status;
}

// The placeholders that the fetches need and nobody fed.
static rheos_status *feed_placeholders(bench *b) {
  request *r = &b->request;
  const int32_t count = rheos_graph_num_operations(r->runner.graph);
  bool *needed = command_alloc((size_t)count * sizeof *needed);
  int32_t *stack = command_alloc((size_t)count * sizeof *stack), depth = 0;
  for (size_t i = 0; i < r->num_fetched + r->num_targets; i++) {
    const int32_t id =
        i < r->num_fetched ? r->fetched[i].output.id : r->targets[i - r->num_fetched].id;
    if (!needed[id]) stack[depth++] = id;
    needed[id] = true;
  }
  rheos_status *status = NULL;
  while (depth > 0 && status == NULL) {
    const int32_t id = stack[--depth];
    const rheos_operation operation = {r->runner.graph, id};
    const char *op = rheos_operation_type(operation);
    const rheos_output first = {r->runner.graph, id, 0};
    if ((strcmp(op, "Placeholder") == 0 || strcmp(op, "PlaceholderV2") == 0) &&
        !request_is_fed(r, first)) {
      r->fed = command_realloc(r->fed, (r->num_fed + 1) * sizeof *r->fed);
      status = feed_random(b, first);
    }
    for (int32_t i = 0; i < rheos_operation_num_inputs(operation); i++) {
      const rheos_output input = rheos_operation_input(operation, i);
      if (needed[input.id] || request_is_fed(r, input)) continue;
      needed[input.id] = true;
      stack[depth++] = input.id;
    }
    for (int32_t i = 0; i < rheos_operation_num_control_inputs(operation); i++) {
      const int32_t from = rheos_operation_control_input(operation, i).id;
      if (needed[from]) continue;
      needed[from] = true;
      stack[depth++] = from;
    }
  }
  free(needed);
  free(stack);
  return status;
}

static rheos_status *feed_signature(bench *b) {
  request *r = &b->request;
  const rheos_signature_def *signature = r->runner.signature;
  if (signature == NULL || r->fetches.count > 0) return NULL;
  r->fed = command_realloc(r->fed, (r->num_fed + signature->num_inputs + 1) * sizeof *r->fed);
  for (size_t i = 0; i < signature->num_inputs; i++) {
    rheos_output output;
    TRY(runner_input(&r->runner, signature->inputs[i].key, &output));
    if (!request_is_fed(r, output)) TRY(feed_random(b, output));
  }
  return NULL;
}

// ---- Where the time goes

static int by_time(const void *a, const void *b) {
  const double x = ((const op_kind *)a)->ns, y = ((const op_kind *)b)->ns;
  return (x < y) - (x > y);
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// Of sorted numbers.
static double percentile_of(const double *numbers, size_t count, double share) {
  return numbers[(size_t)(share * (double)(count - 1) + 0.5)];
}

static double percentile(const bench *b, double share) {
  return percentile_of(b->times_ns, b->num_times, share);
}

// From sums over all runs to those of one: the shares are the means, of the median of what the
// operations took together. So a few slow runs do not make the operations take more than a run.
static void finish_kinds(bench *b) {
  double whole_ns = 0;
  b->num_kinds = rheos_profile_num_ops(b->profile);
  b->kinds = command_alloc(b->num_kinds * sizeof *b->kinds);
  for (size_t i = 0; i < b->num_kinds; i++) {
    whole_ns += (double)rheos_profile_op_at(b->profile, i).ns;
  }
  const double num_runs = (double)b->num_times;
  const double median_ns = percentile_of(b->sums_ns, b->num_times, 0.5) * num_runs;
  const double scale = whole_ns > 0 ? median_ns / whole_ns : 1;
  for (size_t i = 0; i < b->num_kinds; i++) {
    const rheos_profile_op op = rheos_profile_op_at(b->profile, i);
    b->kinds[i] = (op_kind){.name = op.op,
                            .count = op.count / (int64_t)b->num_times,
                            .ns = (double)op.ns * scale / num_runs,
                            .flops = op.flops / num_runs,
                            .bytes = op.bytes / num_runs};
  }
  if (b->num_kinds > 1) qsort(b->kinds, b->num_kinds, sizeof *b->kinds, by_time);
  bench_bodies_init(&b->bodies, b->profile, b->num_times, scale);
}

// ---- Timing

static rheos_status *run_once(bench *b, rheos_trace *trace) {
  const rheos_run_options options = {.trace = trace};
  rheos_status *status = rheos_callable_run(b->callable, b->values, b->results, &options);
  for (size_t i = 0; i < b->request.num_fetched; i++) {
    rheos_tensor_unref(b->results[i]);
    b->results[i] = NULL;
  }
  return status;
}

static rheos_status *make_callable(bench *b) {
  request *r = &b->request;
  rheos_output *feeds = command_alloc((r->num_fed + 1) * sizeof *feeds);
  rheos_output *fetches = command_alloc((r->num_fetched + 1) * sizeof *fetches);
  b->values = command_alloc((r->num_fed + 1) * sizeof *b->values);
  b->results = command_alloc((r->num_fetched + 1) * sizeof *b->results);
  for (size_t i = 0; i < r->num_fed; i++) {
    feeds[i] = r->fed[i].output;
    b->values[i] = r->fed[i].value;
  }
  for (size_t i = 0; i < r->num_fetched; i++) fetches[i] = r->fetched[i].output;
  rheos_status *status =
      rheos_callable_new(r->runner.session, feeds, r->num_fed, fetches, r->num_fetched, r->targets,
                         r->num_targets, &b->callable);
  free(feeds);
  free(fetches);
  return status;
}

static rheos_status *time_runs(bench *b) {
  double begin = now_ns();
  TRY(run_once(b, NULL));
  b->first_ns = now_ns() - begin;
  b->trace = rheos_trace_new(RHEOS_TRACE_STEPS);
  b->profile = rheos_profile_new();
  if (b->trace == NULL || b->profile == NULL) return NO_MEMORY();
  for (int i = 0; i < WARM_RUNS; i++) TRY(run_once(b, b->trace));
  const size_t most = b->num_runs_wanted > 0 ? (size_t)b->num_runs_wanted : MAX_RUNS;
  b->times_ns = command_alloc(most * sizeof *b->times_ns);
  b->sums_ns = command_alloc(most * sizeof *b->sums_ns);
  const double start = now_ns();
  while (b->num_times < most) {
    rheos_trace_clear(b->trace);
    begin = now_ns();
    TRY(run_once(b, b->trace));
    const double end = now_ns();
    // What threads do side by side takes more than the run: each operation has its share of that.
    int64_t ops_ns;
    TRY(rheos_profile_add(b->profile, b->trace, &ops_ns));
    const double sum_ns = (double)ops_ns;
    b->sums_ns[b->num_times] = sum_ns < end - begin ? sum_ns : end - begin;
    b->times_ns[b->num_times++] = end - begin;
    if (b->num_runs_wanted == 0 && end - start > b->seconds * 1e9) break;
  }
  qsort(b->times_ns, b->num_times, sizeof *b->times_ns, by_value);
  qsort(b->sums_ns, b->num_times, sizeof *b->sums_ns, by_value);
  finish_kinds(b);
  return NULL;
}

// ---- The trace

static rheos_status *write_trace(bench *b) {
  rheos_trace_clear(b->trace);
  for (int i = 0; i < WRITTEN_RUNS; i++) TRY(run_once(b, b->trace));
  char *text;
  size_t size_bytes;
  TRY(rheos_trace_to_chrome(b->trace, &text, &size_bytes));
  rheos_status *status = file_replace(b->trace_path, text, size_bytes);
  rheos_free(text);
  return status;
}

// ---- What is printed

static op_kind total_of(const bench *b) {
  op_kind total = {.name = "all"};
  for (size_t i = 0; i < b->num_kinds; i++) {
    total.count += b->kinds[i].count;
    total.ns += b->kinds[i].ns;
    total.flops += b->kinds[i].flops;
    total.bytes += b->kinds[i].bytes;
  }
  return total;
}

static double rate(double work, double ns) { return ns > 0 ? work / ns : 0; }

static void print_json(const bench *b, const char *path) {
  json j = {.out = stdout};
  const op_kind total = total_of(b);
  const double median = percentile(b, 0.5);
  json_begin(&j, NULL, '{');
  json_text(&j, "path", path);
  json_int(&j, "threads", b->peaks.num_threads);
  json_int(&j, "runs", (int64_t)b->num_times);
  json_begin(&j, "latency_us", '{');
  json_number(&j, "first", b->first_ns / 1e3, false);
  json_number(&j, "min", b->times_ns[0] / 1e3, false);
  json_number(&j, "p50", median / 1e3, false);
  json_number(&j, "p90", percentile(b, 0.9) / 1e3, false);
  json_number(&j, "p99", percentile(b, 0.99) / 1e3, false);
  json_number(&j, "max", percentile(b, 1) / 1e3, false);
  json_end(&j, '}');
  json_number(&j, "runs_per_second", 1e9 / median, false);
  json_number(&j, "gflops", rate(total.flops, median), false);
  json_number(&j, "gbytes_per_second", rate(total.bytes, median), false);
  json_begin(&j, "peak", '{');
  json_number(&j, "gflops", b->peaks.gflops, false);
  json_number(&j, "gbytes_per_second", b->peaks.gbytes, false);
  json_end(&j, '}');
  json_begin(&j, "ops", '[');
  for (size_t i = 0; i < b->num_kinds; i++) {
    const op_kind *kind = &b->kinds[i];
    json_begin(&j, NULL, '{');
    json_text(&j, "op", kind->name);
    json_int(&j, "count", kind->count);
    json_number(&j, "us", kind->ns / 1e3, false);
    json_number(&j, "gflops", rate(kind->flops, kind->ns), false);
    json_number(&j, "gbytes_per_second", rate(kind->bytes, kind->ns), false);
    json_end(&j, '}');
  }
  json_end(&j, ']');
  bench_bodies_print_json(&b->bodies, &j);
  json_end(&j, '}');
  putchar('\n');
}

static double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

static void print_text(const bench *b) {
  const op_kind total = total_of(b);
  const double median = percentile(b, 0.5);
  const double gflops = rate(total.flops, median), gbytes = rate(total.bytes, median);
  printf("%zu runs on %d thread%s, after the first one of %.1f us\n", b->num_times,
         b->peaks.num_threads, b->peaks.num_threads == 1 ? "" : "s", b->first_ns / 1e3);
  printf("latency     min %.1f  p50 %.1f  p90 %.1f  p99 %.1f us\n", b->times_ns[0] / 1e3,
         median / 1e3, percentile(b, 0.9) / 1e3, percentile(b, 0.99) / 1e3);
  printf("throughput  %.1f runs a second\n", 1e9 / median);
  printf("arithmetic  %.2f GFLOP/s, %.1f %% of the %.0f that the machine can do\n", gflops,
         percent(gflops, b->peaks.gflops), b->peaks.gflops);
  printf("memory      %.2f GB/s by the operations; a copy beyond the caches has %.1f\n", gbytes,
         b->peaks.gbytes);
  printf("\n%-32s %7s %10s %6s %9s %9s\n", "operation", "count", "us", "%", "GFLOP/s", "GB/s");
  for (size_t i = 0; i < b->num_kinds && i < MAX_KINDS_SHOWN; i++) {
    const op_kind *kind = &b->kinds[i];
    printf("%-32s %7lld %10.1f %6.1f %9.2f %9.2f\n", kind->name, (long long)kind->count,
           kind->ns / 1e3, percent(kind->ns, total.ns), rate(kind->flops, kind->ns),
           rate(kind->bytes, kind->ns));
  }
  if (b->num_kinds > MAX_KINDS_SHOWN) {
    printf("and %zu more\n", b->num_kinds - MAX_KINDS_SHOWN);
  }
  bench_bodies_print(&b->bodies);
}

// ---- The command

static rheos_status *run(bench *b, const char *path) {
  request *r = &b->request;
  progress_begin("loading", 0);
  TRY(runner_open(path, &r->runner_options, &r->runner));
  if (b->of_pipelines) {
    TRY(request_run_inits(r));
    progress_end();
    return bench_pipelines(&r->runner, b->seconds);
  }
  TRY(request_find_fetches(r));
  TRY(request_read_feeds(r));
  TRY(request_run_inits(r));
  TRY(feed_signature(b));
  TRY(feed_placeholders(b));
  progress_begin("measuring", 0);
  TRY(make_callable(b));
  TRY(time_runs(b));
  b->peaks = peaks_measure(r->runner_options.num_threads);
  progress_end();
  if (b->as_json)
    print_json(b, path);
  else
    print_text(b);
  return b->trace_path != NULL ? write_trace(b) : NULL;
}

static void clean_up(bench *b) {
  rheos_callable_free(b->callable);
  rheos_trace_free(b->trace);
  rheos_profile_free(b->profile);
  free(b->values);
  free(b->results);
  free(b->times_ns);
  free(b->sums_ns);
  free(b->kinds);
  bench_bodies_deinit(&b->bodies);
}

// A number from 0 (or `least`) to `most`; `text` NULL: the default that is there.
static bool parse_int(const char *text, int64_t least, int64_t most, int64_t *number) {
  if (text == NULL) return true;
  char *end;
  const long long value = strtoll(text, &end, 10);
  if (end == text || *end != '\0' || value < least || value > most) return false;
  *number = value;
  return true;
}

static int check(bench *b, const text_list *paths) {
  if (paths->count == 0) {
    return command_usage_error("bench: a path is missing; see 'rheos help bench'");
  }
  if (paths->count > 1) return command_usage_error("bench: one path at a time");
  if (request_check(&b->request, "bench") != EXIT_SUCCESS) return EXIT_USAGE;
  for (size_t i = 0; i < b->shapes.count; i++) {
    const char *equals = strchr(b->shapes.items[i], '=');
    rheos_shape shape;
    if (equals == NULL || equals == b->shapes.items[i] || !parse_shape(equals + 1, &shape)) {
      return command_usage_error("bench: --shape wants NAME=2,3, not '%s'", b->shapes.items[i]);
    }
  }
  int64_t threads = sysconf(_SC_NPROCESSORS_ONLN), seed = 0;
  if (!parse_int(b->seed_text, 0, INT64_MAX, &seed)) {
    return command_usage_error("bench: --seed wants a number, not '%s'", b->seed_text);
  }
  if (!parse_int(b->threads_text, 1, 256, &threads)) {
    return command_usage_error("bench: --threads wants 1 to 256, not '%s'", b->threads_text);
  }
  if (!parse_int(b->runs_text, 1, MAX_RUNS, &b->num_runs_wanted)) {
    return command_usage_error("bench: --runs wants 1 to %d, not '%s'", MAX_RUNS, b->runs_text);
  }
  if (b->seconds_text != NULL) {
    char *end;
    b->seconds = strtod(b->seconds_text, &end);
    if (end == b->seconds_text || *end != '\0' || !(b->seconds > 0 && b->seconds <= 3600)) {
      return command_usage_error("bench: --seconds wants a number up to 3600, not '%s'",
                                 b->seconds_text);
    }
  }
  b->random = (uint64_t)seed;
  b->request.runner_options.num_threads = (int32_t)(threads > 0 ? threads : 1);
  return EXIT_SUCCESS;
}

// A program whose pipelines tell what held them up, and the arguments that are its own: `bench
// --pipeline [OPTIONS of run] SCRIPT.py ...`. 0: it is none.
static int find_script(int argc, char **argv) {
  bool of_pipelines = false;
  for (int i = 1; i < argc; i++) {
    if (of_pipelines && ends_with(argv[i], ".py")) return i;
    of_pipelines = of_pipelines || strcmp(argv[i], "--pipeline") == 0;
  }
  return 0;
}

static int bench_script(int argc, char **argv, int script) {
  int first = script;
  while (first > 1 && strncmp(argv[first - 1], "--tf", 4) == 0) --first;
  if (first != 2) return command_usage_error("bench: of a script there is --pipeline alone");
  if (setenv("RHEOS_EXPLAIN", "on", 1) != 0) return command_usage_error("bench: out of memory");
  return command_run(argc - first + 1, argv + first - 1);
}

int command_bench(int argc, char **argv) {
  const int script = find_script(argc, argv);
  if (script > 0) return bench_script(argc, argv, script);
  bench b = {.seconds = 2};
  text_list paths = {0};
  const option rows[] = {
      {"--feed", .list = &b.request.feeds},
      {"--shape", .list = &b.shapes},
      {"--fetch", .list = &b.request.fetches},
      {"--seed", .text = &b.seed_text},
      {"--threads", .text = &b.threads_text},
      {"--runs", .text = &b.runs_text},
      {"--seconds", .text = &b.seconds_text},
      {"--json", .flag = &b.as_json},
      {"--pipeline", .flag = &b.of_pipelines},
      {"--trace", .text = &b.trace_path},
      {"--init", .list = &b.request.inits},
      {"--signature", .text = &b.request.runner_options.signature, .kinds = SOURCE_SIGNED},
      {"--tags", .text = &b.request.runner_options.tags, .kinds = SOURCE_TAGGED},
      {"--checkpoint", .text = &b.request.runner_options.checkpoint, .kinds = SOURCE_RESTORED},
  };
  const size_t num_rows = sizeof rows / sizeof rows[0];
  int result = EXIT_USAGE;
  if (options_parse("bench", rows, num_rows, argc, argv, &paths)) {
    result = check(&b, &paths);
    if (result == EXIT_SUCCESS && !path_fits_options(paths.items[0], "bench", rows, num_rows)) {
      result = EXIT_USAGE;
    }
    if (result == EXIT_SUCCESS) {
      rheos_status *status = run(&b, paths.items[0]);
      progress_end();
      if (status != NULL) result = command_fail_take(paths.items[0], status);
    }
  }
  clean_up(&b);
  text_list_deinit(&paths);
  text_list_deinit(&b.shapes);
  request_deinit(&b.request);
  return result;
}
