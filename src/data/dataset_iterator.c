// Going over a dataset without a plan for each element: the session makes the dataset once, and
// each element is made in a step of its own.
#include <rheos/dataset.h>

#include "base/options.h"
#include "ops/data/dataset.h"
#include "runtime/step/home.h"
#include "runtime/session/session_kind.h"

struct rheos_dataset_iterator {
  rheos__home *home;      // of the caller's session
  rheos_tensor *dataset;  // a variant
  rheos__iterator *iterator;
  rheos__explain_since *since;
};

static rheos_status *make_dataset(rheos_session *session, rheos_output dataset,
                                  rheos_tensor **out_tensor) {
  rheos_fetch fetch = {.output = dataset};
  RHEOS_TRY(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  *out_tensor = fetch.value;
  return NULL;
}

static rheos_status *begin(rheos_dataset_iterator *it) {
  rheos__dataset *dataset = NULL;
  rheos__step step;
  RHEOS_TRY(rheos__dataset_of(it->dataset, "rheos_dataset_iterator_new", &dataset));
  RHEOS_TRY(rheos__home_begin_step(it->home, NULL, &step));
  rheos_status *status = rheos__iterator_new_outer(dataset, &step, &it->iterator);
  if (status == NULL) status = rheos__explain_since_new(it->iterator, &it->since);
  return rheos__home_end_step_take(&step, status);
}

rheos_status *rheos_dataset_iterator_new(rheos_session *session, rheos_output dataset,
                                         rheos_dataset_iterator **out_iterator) {
  RHEOS_OUT(out_iterator);
  RHEOS_NEED(session);
  rheos_dataset_iterator *it = rheos__alloc_zeroed(sizeof *it);
  if (it == NULL) return rheos__out_of_memory();
  rheos_status *status = rheos__session_home(session, &it->home);
  if (status == NULL) status = make_dataset(session, dataset, &it->dataset);
  if (status == NULL) status = begin(it);
  if (status == NULL) {
    *out_iterator = it;
  } else {
    rheos_dataset_iterator_free(it);
  }
  return status;
}

void rheos_dataset_iterator_free(rheos_dataset_iterator *iterator) {
  if (iterator == NULL) return;
  rheos__iterator_tell(iterator->iterator, iterator->since);
  rheos__iterator_free(iterator->iterator);
  rheos__free(iterator->since);
  rheos_tensor_unref(iterator->dataset);
  rheos__free(iterator);
}

rheos_status *rheos_dataset_iterator_next_sized(rheos_dataset_iterator *iterator,
                                                rheos_tensor **out_element, bool *out_end,
                                                const rheos_run_options *options,
                                                size_t options_bytes) {
  RHEOS_OUT(out_end);
  RHEOS_NEED(iterator, out_element);
  rheos_run_options known;
  if (options != NULL) {
    RHEOS_TRY(RHEOS_READ_OPTIONS(rheos_run_options, options, options_bytes, &known));
    options = &known;
  }
  const int32_t count = iterator->iterator->dataset->num_components;
  for (int32_t i = 0; i < count; ++i) out_element[i] = NULL;
  rheos__step step;
  RHEOS_TRY(rheos__home_begin_step(iterator->home, options, &step));
  step.may_wait = true;
  rheos__iterator_enter(iterator->iterator, &step);
  rheos__iterator_watch(iterator->iterator, &step);
  rheos_status *status = rheos__iterator_next(iterator->iterator, &step, out_element, out_end);
  const bool is_made = status == NULL;
  status = rheos__home_end_step_take(&step, status);
  if (is_made && status != NULL) {
    rheos__element_clear(out_element, count);
    *out_end = false;
  }
  return status;
}

rheos_status *rheos_dataset_explain(rheos_dataset_iterator *iterator, char **out_text) {
  RHEOS_OUT(out_text);
  RHEOS_NEED(iterator);
  return rheos__iterator_explain(iterator->iterator, iterator->since, out_text);
}
