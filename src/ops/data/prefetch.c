// PrefetchDataset: the elements of another dataset, made ahead.
#include "ops/data/stage.h"

typedef struct prefetch_data {
  int64_t buffer;
  rheos__dataset *counted;  // the input of a dataset that no op made
} prefetch_data;

typedef struct prefetch {
  rheos__iterator base;
  rheos__stage *stage;
} prefetch;

static rheos_status *init_prefetch(rheos__dataset *d) {
  prefetch_data *data = d->data;
  RHEOS_TRY(rheos__dataset_int(d, 1, "buffer_size", &data->buffer));
  if (data->buffer >= -1) return NULL;
  return RHEOS_INVALID("buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning");
}

static void deinit_prefetch(rheos__dataset *d) {
  rheos__dataset *counted = ((prefetch_data *)d->data)->counted;
  if (counted != NULL) rheos__dataset_unref(counted);
}

static rheos_status *start_prefetch(rheos__iterator *iterator, rheos__step *step) {
  const prefetch_data *data = iterator->dataset->data;
  const rheos__stage_options options = {.buffer = data->buffer};
  return rheos__stage_new(iterator, &options, step, &((prefetch *)iterator)->stage);
}

static void finish_prefetch(rheos__iterator *iterator) {
  rheos__stage_leave(((prefetch *)iterator)->stage, iterator);
}

static rheos_status *next_prefetched(rheos__iterator *iterator, rheos__step *step,
                                     rheos_tensor **element, bool *out_end) {
  return rheos__stage_next(((prefetch *)iterator)->stage, step, element, out_end);
}

static void count_prefetch(rheos__iterator *iterator, rheos__stage_counts *out_counts) {
  rheos__stage_count(((prefetch *)iterator)->stage, out_counts);
}

static rheos_status *pause_prefetch(rheos__iterator *iterator, rheos__step *step) {
  return rheos__stage_pause(((prefetch *)iterator)->stage, step);
}

static rheos_status *transfer_prefetch(rheos__iterator *iterator, rheos__saved_state *state,
                                       rheos__step *step) {
  (void)step;
  return rheos__stage_transfer(((prefetch *)iterator)->stage, state);
}

static int64_t cardinality_prefetch(const rheos__dataset *d) {
  return rheos__dataset_cardinality(d->inputs[0]);
}

static const rheos__dataset_kind prefetch_kind = {.name = "Prefetch",
                                                  .data_bytes = sizeof(prefetch_data),
                                                  .iterator_bytes = sizeof(prefetch),
                                                  .opens_input = true,
                                                  .like_input = true,
                                                  .init = init_prefetch,
                                                  .deinit = deinit_prefetch,
                                                  .start = start_prefetch,
                                                  .finish = finish_prefetch,
                                                  .next = next_prefetched,
                                                  .pause = pause_prefetch,
                                                  .count = count_prefetch,
                                                  .state = transfer_prefetch,
                                                  .cardinality = cardinality_prefetch,
                                                  .at = rheos__dataset_at_input};
RHEOS_DATASET_OP(PrefetchDataset, prefetch_kind, "input_dataset: variant, buffer_size: int64",
                 RHEOS_DATASET_TYPES
                 "; slack_period: int = 0; legacy_autotune: bool = true; buffer_size_min: int = 0; "
                 "metadata: string = \"\"",
                 "The elements of `input_dataset`, up to `buffer_size` of them made ahead.")

rheos_status *rheos__dataset_ahead(rheos__dataset *input, rheos__dataset **out_dataset) {
  rheos__dataset *d = NULL;
  *out_dataset = NULL;
  RHEOS_TRY(rheos__dataset_new_of_kind(&prefetch_kind, input->num_components, &d));
  prefetch_data *data = d->data;
  data->buffer = -1;
  d->inputs = rheos__alloc_array(1, sizeof *d->inputs);
  if (d->inputs == NULL) {
    rheos__dataset_unref(d);
    return rheos__out_of_memory();
  }
  rheos__variant_ref(&input->variant);
  data->counted = d->inputs[0] = input;
  d->num_inputs = 1;
  d->types = input->types;
  d->shapes = input->shapes;
  d->is_live = input->is_live;
  *out_dataset = d;
  return NULL;
}
