// GeneratorDataset: elements that functions of the program make, one begins, one goes on, one ends.
#include "graph/tasks.h"
#include "ops/data/dataset.h"

enum { BEGIN, NEXT, END };

typedef struct generator {
  rheos__iterator base;
  rheos_tensor **state, **room;  // what the first function gave; room for one more of it
  rheos__tasks *tasks;           // by which the last function runs where no step is under way
  bool has_begun, has_ended;
} generator;

static int32_t num_state(const rheos__dataset *d) {
  return rheos__dataset_function(d, BEGIN)->num_results;
}

static rheos_status *init_generator(rheos__dataset *d) {
  const rheos__data_function *begin = rheos__dataset_function(d, BEGIN);
  RHEOS_TRY(rheos__dataset_takes(d, BEGIN, NULL, 0));
  RHEOS_TRY(rheos__dataset_takes(d, NEXT, begin->result_types, begin->num_results));
  RHEOS_TRY(rheos__dataset_takes(d, END, begin->result_types, begin->num_results));
  return rheos__dataset_gives(d, NEXT, d->types, d->num_components);
}

static rheos_status *start_generator(rheos__iterator *iterator, rheos__step *step) {
  generator *it = (generator *)iterator;
  const size_t count = (size_t)num_state(iterator->dataset);
  it->tasks = rheos__step_tasks(step);
  it->state = rheos__alloc_array(count, sizeof *it->state);
  it->room = rheos__alloc_array(count, sizeof *it->room);
  return it->state != NULL && it->room != NULL ? NULL : rheos__out_of_memory();
}

static rheos_status *call_with_state(generator *it, int32_t function, rheos__step *step,
                                     rheos_tensor **results) {
  const int32_t count = num_state(it->base.dataset);
  for (int32_t i = 0; i < count; ++i) it->room[i] = rheos_tensor_ref(it->state[i]);
  return rheos__dataset_call_take(it->base.dataset, function, it->room, count, step, results);
}

static rheos_status *end_generator(generator *it, rheos__step *step) {
  const rheos__dataset *d = it->base.dataset;
  const int32_t count = rheos__dataset_function(d, END)->num_results;
  rheos_tensor **results = rheos__alloc_array((size_t)count, sizeof *results);
  if (results == NULL) return rheos__out_of_memory();
  it->has_ended = true;
  rheos_status *status = call_with_state(it, END, step, results);
  rheos__element_clear(results, count);
  rheos__free(results);
  return status;
}

static void end_unasked(void *argument, rheos__step *step) {
  rheos_status_free(end_generator(argument, step));
}

static void finish_generator(rheos__iterator *iterator) {
  generator *it = (generator *)iterator;
  if (it->has_begun && !it->has_ended) rheos__tasks_run_here(it->tasks, end_unasked, it);
  if (it->state != NULL) rheos__element_clear(it->state, num_state(iterator->dataset));
  rheos__free(it->state);
  rheos__free(it->room);
  rheos__tasks_unref(it->tasks);
}

static rheos_status *next_generated(rheos__iterator *iterator, rheos__step *step,
                                    rheos_tensor **element, bool *out_end) {
  generator *it = (generator *)iterator;
  *out_end = it->has_ended;
  if (it->has_ended) return NULL;
  if (!it->has_begun) {
    RHEOS_TRY(rheos__dataset_call_take(iterator->dataset, BEGIN, NULL, 0, step, it->state));
    it->has_begun = true;
  }
  rheos_status *status = call_with_state(it, NEXT, step, element);
  if (status == NULL || rheos_status_code(status) != RHEOS_OUT_OF_RANGE) return status;
  rheos_status_free(status);
  *out_end = true;
  return end_generator(it, step);
}

static const rheos__dataset_kind generator_kind = {.name = "Generator",
                                                   .iterator_bytes = sizeof(generator),
                                                   .is_live = true,
                                                   .init = init_generator,
                                                   .start = start_generator,
                                                   .finish = finish_generator,
                                                   .next = next_generated};
RHEOS_DATASET_OP(
    GeneratorDataset, generator_kind,
    "init_func_other_args: Tinit_func_args, next_func_other_args: Tnext_func_args, "
    "finalize_func_other_args: Tfinalize_func_args",
    "; init_func: func; next_func: func; finalize_func: func; Tinit_func_args: list(type) >= 0; "
    "Tnext_func_args: list(type) >= 0; Tfinalize_func_args: list(type) >= 0" RHEOS_DATASET_TYPES
    "; metadata: string = \"\"",
    "What `next_func` gives for the state that `init_func` made, until that is out of range; then "
    "`finalize_func` is called.")
