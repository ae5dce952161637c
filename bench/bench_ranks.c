// What sums of two ranks cost under mpirun, beside MPI_Allreduce alone for as many bytes: a large
// one, and a step of many small ones. The program starts mpirun itself, for either side in turn,
// since MPI begins once in a process. Time of day. One JSON object a line; nothing where there is
// no mpirun.
#include <mpi.h>
#include <rheos/ranks.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

enum { LARGE_FLOATS = 25000000, SMALL_FLOATS = 4096, NUM_SMALL = 100 };
enum { LARGE_CALLS = 2, SMALL_CALLS = 50, ROUNDS = 5 };

typedef struct times {
  double large_ns, small_ns;
} times;

// ---- Bare

typedef struct bare {
  float *input, *output;
  int count;
} bare;

static void reduce_bare(void *argument) {
  const bare *b = argument;
  MPI_Allreduce(b->input, b->output, b->count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static int measure_bare(times *out_times) {
  int rank;
  bare b = {.count = LARGE_FLOATS};
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  b.input = calloc(LARGE_FLOATS, sizeof(float));
  b.output = calloc(LARGE_FLOATS, sizeof(float));
  if (b.input == NULL || b.output == NULL) exit(1);
  for (int i = 0; i < LARGE_FLOATS; i++) b.input[i] = 1;
  out_times->large_ns = time_calls(reduce_bare, &b, LARGE_CALLS);
  b.count = SMALL_FLOATS * NUM_SMALL;
  out_times->small_ns = time_calls(reduce_bare, &b, SMALL_CALLS);
  free(b.input);
  free(b.output);
  MPI_Finalize();
  return rank;
}

// ---- By collectives of a graph

typedef struct step {
  rheos_graph *graph;
  rheos_session *session;
  rheos_callable *sums;
  int count;
} step;

static rheos_output sum(rheos_scope *scope, int64_t num_floats, int64_t instance) {
  const int64_t offset = 0;
  const rheos_attr attrs[] = {
      rheos_attr_int("group_size", 2),          rheos_attr_int("group_key", 1),
      rheos_attr_int("instance_key", instance), rheos_attr_string("merge_op", "Add", 3),
      rheos_attr_string("final_op", "Id", 2),   rheos_attr_ints("subdiv_offsets", &offset, 1)};
  rheos_tensor *tensor;
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(num_floats), &tensor));
  float *values = rheos_tensor_data(tensor);
  for (int64_t i = 0; i < num_floats; i++) values[i] = 1;
  const rheos_output input = rheos_constant(scope, tensor, NULL);
  rheos_tensor_unref(tensor);
  const rheos_operation op = rheos_op(scope, &(rheos_op_args){.type = "CollectiveReduce",
                                                              .inputs = &input,
                                                              .num_inputs = 1,
                                                              .attrs = attrs,
                                                              .num_attrs = 6});
  return rheos_operation_output(op, 0);
}

static void make_step(step *s, rheos_host *host, int count, int64_t num_floats) {
  rheos_output outputs[NUM_SMALL];
  s->graph = rheos_graph_new();
  s->count = count;
  rheos_scope *scope = rheos_scope_new(s->graph);
  for (int i = 0; i < count; i++) outputs[i] = sum(scope, num_floats, 1000 * count + i);
  check(rheos_scope_finish(scope));
  rheos_scope_free(scope);
  check(rheos_session_new(s->graph, &(rheos_session_options){.host = host}, &s->session));
  check(rheos_callable_new(s->session, NULL, 0, outputs, (size_t)count, NULL, 0, &s->sums));
}

static void run_step(void *argument) {
  const step *s = argument;
  rheos_tensor *results[NUM_SMALL];
  check(rheos_callable_run(s->sums, NULL, results, NULL));
  for (int i = 0; i < s->count; i++) {
    if (*(float *)rheos_tensor_data(results[i]) != 2) exit(1);
    rheos_tensor_unref(results[i]);
  }
}

static double time_step(rheos_host *host, int count, int64_t num_floats, int calls) {
  step s;
  make_step(&s, host, count, num_floats);
  const double ns = time_calls(run_step, &s, calls);
  rheos_callable_free(s.sums);
  rheos_session_free(s.session);
  rheos_graph_unref(s.graph);
  return ns;
}

static int measure(times *out_times) {
  rheos_ranks *ranks;
  check(rheos_ranks_join(&ranks));
  const int rank = rheos_ranks_rank(ranks);
  rheos_host *host = rheos_ranks_host(ranks);
  out_times->large_ns = time_step(host, 1, LARGE_FLOATS, LARGE_CALLS);
  out_times->small_ns = time_step(host, NUM_SMALL, SMALL_FLOATS, SMALL_CALLS);
  rheos_ranks_free(ranks);
  return rank;
}

// ---- The whole

static times run_under_mpirun(const char *self, const char *which) {
  char command[512];
  times found;
  snprintf(command, sizeof command, "mpirun -n 2 '%s' %s", self, which);
  FILE *told = popen(command, "r");
  const bool is_told =
      told != NULL && fscanf(told, "%lf %lf", &found.large_ns, &found.small_ns) == 2;
  if (told == NULL || pclose(told) != 0 || !is_told) {
    fprintf(stderr, "failed: %s\n", command);
    exit(1);
  }
  return found;
}

static void compare(const char *self) {
  double large[2][ROUNDS], small[2][ROUNDS];
  static const char *const sides[] = {"rheos", "bare"};
  for (int round = 0; round < ROUNDS; round++) {
    for (int side = 0; side < 2; side++) {
      const times t = run_under_mpirun(self, sides[side]);
      large[side][round] = t.large_ns / 1e6;
      small[side][round] = t.small_ns / 1e6;
    }
  }
  const double bare_large = median(large[1], ROUNDS), bare_small = median(small[1], ROUNDS);
  report("MPI: sum of 100 MB, 2 ranks", "ms", median(large[0], ROUNDS), 1.15 * bare_large,
         "MPI_Allreduce", bare_large);
  report("MPI: 100 sums of 16 KB in a step", "ms", median(small[0], ROUNDS), 2 * bare_small,
         "one MPI_Allreduce", bare_small);
}

int main(int argc, char **argv) {
  times found;
  if (argc > 1) {
    const int rank = strcmp(argv[1], "bare") == 0 ? measure_bare(&found) : measure(&found);
    if (rank == 0) printf("%.0f %.0f\n", found.large_ns, found.small_ns);
    return 0;
  }
  if (system("command -v mpirun > /dev/null") != 0) return 0;
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
  compare(argv[0]);
  return 0;
}
