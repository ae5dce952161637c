// Which stage of a pipeline is slow: what the datasets have noted, as a text.
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "ops/kit/op_util.h"
#include "ops/data/stage.h"

// More stages than a program has; what is further away is left out.
enum { MOST_STAGES = 256 };
// Of the caller's time, below which the pipeline does not hold it up.
static const double LITTLE = 0.2;

typedef struct row {
  rheos__dataset *dataset;
  rheos__iterator *iterator;  // NULL: not known
  int32_t depth;
  bool is_elsewhere;                        // a stage's threads may be at work on it
  double first, first_ns, timed, timed_ns;  // rheos__dataset_times
  double worked_ns, pulled_ns, waited_ns, held_ns;
  double elements, total_ns;  // with what the inputs take
  double own_ns;              // without, over the threads of a stage
  double share;               // of the time of these threads, 0 to 1
} row;

typedef struct rows {
  row items[MOST_STAGES];
  int32_t count;
} rows;

struct rheos__explain_since {
  int64_t ns;
  bool has_no_caller;  // elements are made for the explanation alone
  int32_t count;
  row items[];
};

static double read_times(const _Atomic int64_t *number) {
  return (double)atomic_load_explicit(number, memory_order_relaxed);
}

static void add_row(rows *r, rheos__dataset *dataset, rheos__iterator *iterator, int32_t depth) {
  if (r->count == MOST_STAGES) return;
  row *new_row = &r->items[r->count++];
  const rheos__dataset_times *t = &dataset->times;
  *new_row = (row){.dataset = dataset,
                   .iterator = iterator,
                   .depth = depth,
                   .first = read_times(&t->first),
                   .first_ns = read_times(&t->first_ns),
                   .timed = read_times(&t->timed),
                   .timed_ns = read_times(&t->timed_ns),
                   .worked_ns = read_times(&t->worked_ns),
                   .pulled_ns = read_times(&t->pulled_ns),
                   .waited_ns = read_times(&t->waited_ns),
                   .held_ns = read_times(&t->held_ns),
                   .elements = read_times(&t->asked)};
}

// Runs ahead of who asks for elements, on threads.
static bool runs_ahead(const rheos__dataset *dataset) { return dataset->kind->pause != NULL; }

// The iterator over the first input, as far as it stays while others may be at work on it.
static rheos__iterator *input_of(const row *here) {
  if (here->iterator == NULL) return NULL;
  rheos__iterator *input = here->iterator->input;
  if (here->is_elsewhere && !here->dataset->kind->opens_input) return NULL;
  return input != NULL && input->dataset == here->dataset->inputs[0] ? input : NULL;
}

// Inputs follow those whose inputs they are.
static void find_rows(rows *r, rheos__iterator *iterator) {
  add_row(r, iterator->dataset, iterator, 0);
  for (int32_t at = 0; at < r->count; ++at) {
    const row *here = &r->items[at];
    const rheos__dataset *d = here->dataset;
    const bool is_elsewhere = here->is_elsewhere || runs_ahead(d);
    for (int32_t i = 0; i < d->num_inputs; ++i) {
      add_row(r, d->inputs[i], i == 0 ? input_of(here) : NULL, here->depth + 1);
      r->items[r->count - 1].is_elsewhere = is_elsewhere;
    }
  }
}

// Takes off what was noted before: the same rows, found earlier, of other iterators over the
// datasets.
static void take_off(rows *r, const rheos__explain_since *before) {
  for (int32_t i = 0; before != NULL && i < r->count && i < before->count; ++i) {
    r->items[i].first -= before->items[i].first;
    r->items[i].first_ns -= before->items[i].first_ns;
    r->items[i].timed -= before->items[i].timed;
    r->items[i].timed_ns -= before->items[i].timed_ns;
    r->items[i].worked_ns -= before->items[i].worked_ns;
    r->items[i].pulled_ns -= before->items[i].pulled_ns;
    r->items[i].waited_ns -= before->items[i].waited_ns;
    r->items[i].held_ns -= before->items[i].held_ns;
    r->items[i].elements -= before->items[i].elements;
  }
  for (int32_t i = 0; i < r->count; ++i) {
    row *here = &r->items[i];
    here->total_ns = here->first_ns;
    if (here->timed > 0) {
      here->total_ns += here->timed_ns / here->timed * (here->elements - here->first);
    }
  }
}

static double inputs_ns(const rows *r, const rheos__dataset *dataset) {
  double ns = 0;
  for (int32_t i = 0; i < dataset->num_inputs; ++i) {
    for (int32_t k = 0; k < r->count; ++k) {
      if (r->items[k].dataset != dataset->inputs[i]) continue;
      ns += r->items[k].total_ns;
      break;
    }
  }
  return ns;
}

// Counts of a stage; of others, and of those whose iterator is not known, there are none.
static bool has_counts(const row *here, rheos__stage_counts *out_counts) {
  *out_counts = (rheos__stage_counts){0};
  if (here->dataset->kind->count == NULL || here->iterator == NULL) return false;
  if (here->is_elsewhere && !runs_ahead(here->dataset)) return false;
  here->dataset->kind->count(here->iterator, out_counts);
  return true;
}

// Threads may have become fewer since they worked, and what is timed now and then is guessed.
static double share_of(const row *here, double wall_ns) {
  rheos__stage_counts counts;
  const bool is_shared = has_counts(here, &counts) && runs_ahead(here->dataset);
  const double num_threads = is_shared && counts.num_threads > 1 ? (double)counts.num_threads : 1;
  const double share = wall_ns > 0 ? here->own_ns / (wall_ns * num_threads) : 0;
  return share < 1 ? share : 1;
}

static void find_own(rows *r, double wall_ns) {
  for (int32_t i = 0; i < r->count; ++i) {
    if (r->items[i].total_ns > wall_ns) r->items[i].total_ns = wall_ns;
  }
  for (int32_t i = 0; i < r->count; ++i) {
    row *here = &r->items[i];
    if (runs_ahead(here->dataset)) {
      here->own_ns = here->worked_ns;
      here->share = share_of(here, wall_ns);
      continue;
    }
    here->pulled_ns = inputs_ns(r, here->dataset);
    here->own_ns = here->total_ns - here->pulled_ns;
    if (here->own_ns < 0) here->own_ns = 0;
    here->held_ns = wall_ns - here->total_ns;
    here->share = share_of(here, wall_ns);
  }
}

static void add_line(rheos__text *text, const char *line, int length) {
  rheos__text_add(text, line, (size_t)length);
}

static void add_buffer(rheos__text *text, const row *here) {
  char line[160];
  rheos__stage_counts counts;
  if (!has_counts(here, &counts)) return;
  add_line(
      text, line,
      snprintf(line, sizeof line, ", buffer %lld of %lld, %lld bytes", (long long)counts.buffered,
               (long long)counts.capacity, (long long)counts.bytes));
  if (!runs_ahead(here->dataset)) return;
  add_line(text, line,
           snprintf(line, sizeof line, ", %lld threads, waited for %.3g ms",
                    (long long)counts.num_threads, here->waited_ns * 1e-6));
}

static void add_stage(rheos__text *text, const row *here, double wall_ns) {
  char line[256];
  const double own_us = here->elements > 0 ? here->own_ns / here->elements * 1e-3 : 0;
  add_line(text, line,
           snprintf(line, sizeof line, "%*s%s: %.0f elements, %.3g/s, %.3g us each, busy %.0f %%",
                    (int)(here->depth < 40 ? 2 * here->depth : 80), "", here->dataset->kind->name,
                    here->elements, wall_ns > 0 ? here->elements / wall_ns * 1e9 : 0, own_us,
                    here->share * 100));
  if (here->dataset->num_inputs > 0) {
    add_line(text, line,
             snprintf(line, sizeof line, ", %.3g ms for its input", here->pulled_ns * 1e-6));
  }
  add_line(text, line,
           snprintf(line, sizeof line, ", %.3g ms for its consumer", here->held_ns * 1e-6));
  add_buffer(text, here);
  add_line(text, "\n", 1);
}

static void add_verdict(rheos__text *text, const rows *r, double wall_ns, bool has_caller) {
  char line[256];
  const row *most = &r->items[0];
  for (int32_t i = 1; i < r->count; ++i) {
    if (r->items[i].share > most->share) most = &r->items[i];
  }
  const double waited = wall_ns > 0 ? r->items[0].total_ns / wall_ns : 0;
  int length;
  if (r->items[0].elements == 0) {
    length = snprintf(line, sizeof line, "Nothing was asked for yet.");
  } else if (has_caller && (waited < LITTLE || 1 - waited > most->share)) {
    length =
        snprintf(line, sizeof line, "The caller binds: it waited for elements %.0f %% of the time.",
                 waited * 100);
  } else {
    length = snprintf(
        line, sizeof line, "%s binds: its own work took %.3g us an element, %.0f %% of the time.",
        most->dataset->kind->name, most->elements > 0 ? most->own_ns / most->elements * 1e-3 : 0,
        most->share * 100);
  }
  add_line(text, line, length);
}

rheos_status *rheos__explain_since_new(rheos__iterator *iterator,
                                       rheos__explain_since **out_since) {
  rows *r = rheos__alloc_zeroed(sizeof *r);
  *out_since = NULL;
  if (r == NULL) return rheos__out_of_memory();
  find_rows(r, iterator);
  const size_t bytes = (size_t)r->count * sizeof *r->items;
  rheos__explain_since *since = rheos__alloc_zeroed(sizeof *since + bytes);
  if (since != NULL) {
    memcpy(since->items, r->items, bytes);
    since->count = r->count;
    since->ns = rheos__now_ns();
  }
  rheos__free(r);
  *out_since = since;
  return since != NULL ? NULL : rheos__out_of_memory();
}

rheos_status *rheos__iterator_explain(rheos__iterator *iterator, const rheos__explain_since *since,
                                      char **out_text) {
  rows *r = rheos__alloc_zeroed(sizeof *r);
  rheos__text text = {0};
  *out_text = NULL;
  if (r == NULL) return rheos__out_of_memory();
  const double wall_ns = (double)(rheos__now_ns() - since->ns);
  find_rows(r, iterator);
  take_off(r, since);
  find_own(r, wall_ns);
  for (int32_t i = 0; i < r->count; ++i) add_stage(&text, &r->items[i], wall_ns);
  add_verdict(&text, r, wall_ns, !since->has_no_caller);
  rheos__free(r);
  *out_text = text.failed ? NULL : rheos__strndup(text.data, text.size);
  rheos__text_deinit(&text);
  return *out_text != NULL ? NULL : rheos__out_of_memory();
}

void rheos__iterator_tell(rheos__iterator *iterator, const rheos__explain_since *since) {
  const char *wish = getenv("RHEOS_EXPLAIN");
  if (wish == NULL || strcmp(wish, "on") != 0 || iterator == NULL || since == NULL) return;
  char *text = NULL;
  if (iterator->asked > 0) rheos_status_free(rheos__iterator_explain(iterator, since, &text));
  if (text != NULL) fprintf(stderr, "%s\n\n", text);
  rheos__free(text);
}

// ---- Ops

static rheos_status *give_text_take(rheos_status *status, char *text, rheos_tensor **output) {
  if (status == NULL) status = rheos__tensor_new(RHEOS_STRING, &RHEOS_SCALAR, output);
  if (status == NULL) status = rheos_tensor_set_string(*output, 0, text, strlen(text));
  rheos__free(text);
  return status;
}

static rheos_status *compute_explain_iterator(void *state, rheos__step *step,
                                              rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)state, (void)step;
  char *text = NULL;
  rheos_status *status = rheos__iterator_handle_explain(inputs[0], &text);
  return give_text_take(status, text, &outputs[0]);
}

// Goes over the elements until there are `most` of them (-1: no such end) or the time is over.
static rheos_status *go_over(rheos__iterator *iterator, int64_t most, int64_t until_ns,
                             rheos__step *step) {
  const int32_t n = iterator->dataset->num_components;
  rheos_tensor **element = rheos__alloc_array((size_t)n, sizeof *element);
  if (element == NULL) return rheos__out_of_memory();
  rheos_status *status = NULL;
  bool end = false;
  for (int64_t i = 0; status == NULL && !end && (most < 0 || i < most); ++i) {
    status = rheos__iterator_next(iterator, step, element, &end);
    rheos__element_clear(element, n);
    if (rheos__now_ns() >= until_ns) break;
    if (status == NULL && rheos__step_should_stop(step)) {
      status = rheos_status_new(RHEOS_CANCELLED, "the step was stopped");
    }
  }
  rheos__free(element);
  return status;
}

static rheos_status *compute_explain_dataset(void *state, rheos__step *step,
                                             rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)state;
  rheos__dataset *d = NULL;
  rheos__iterator *iterator = NULL;
  char *text = NULL;
  RHEOS_TRY(rheos__dataset_of(inputs[0], "ExplainDataset", &d));
  if (inputs[1]->shape.rank != 0 || inputs[2]->shape.rank != 0) {
    return RHEOS_INVALID("max_elements and max_seconds must be scalars");
  }
  const double seconds = *(const double *)inputs[2]->data;
  const double most_ns = seconds >= 0 && seconds < 1e9 ? seconds * 1e9 : 1e18;
  rheos__explain_since *since = NULL;
  RHEOS_TRY(rheos__iterator_new_outer(d, step, &iterator));
  rheos_status *status = rheos__explain_since_new(iterator, &since);
  if (status == NULL) {
    since->has_no_caller = true;
    rheos__call_states *outer = rheos__iterator_enter(iterator, step);
    status =
        go_over(iterator, *(const int64_t *)inputs[1]->data, since->ns + (int64_t)most_ns, step);
    rheos__iterator_leave(step, outer);
  }
  if (status == NULL) status = rheos__iterator_explain(iterator, since, &text);
  rheos__iterator_free(iterator);
  rheos__free(since);
  return give_text_take(status, text, &outputs[0]);
}

const rheos__op_def rheos__op_ExplainDataset = {
    .name = "ExplainDataset",
    .signature =
        "input_dataset: variant, max_elements: int64, max_seconds: double -> explanation: "
        "string",
    .doc = "Goes over elements and tells which stage of the pipeline is slow.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .compute = compute_explain_dataset,
};
const rheos__op_def rheos__op_ExplainIterator = {
    .name = "ExplainIterator",
    .signature = "iterator: resource -> explanation: string",
    .doc = "Tells which stage of an iterator's pipeline has been slow so far.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .compute = compute_explain_iterator,
};
