// Datasets in files: saved and loaded whole, or kept by a snapshot, which writes them the first
// time and reads them afterwards.
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "ops/data/dataset_hash.h"
#include "ops/data/element.h"
#include "ops/data/dataset_spec.h"
#include "ops/io/shard_files.h"
#include "ops/kit/op_util.h"

enum { MAX_SHARDS = 1 << 16 };

static rheos_status *path_of(const rheos__dataset *d, char **out_path) {
  const rheos_string *path;
  RHEOS_TRY(rheos__dataset_string(d, 1, "path", &path));
  if (path->size_bytes == 0) return RHEOS_INVALID("path must not be empty");
  *out_path = rheos__strndup(path->data, path->size_bytes);
  return *out_path != NULL ? NULL : rheos__out_of_memory();
}

static rheos_status *check_shard_function(const rheos__dataset *d, int32_t function) {
  RHEOS_TRY(rheos__dataset_takes(d, function, d->inputs[0]->types, d->inputs[0]->num_components));
  return rheos__dataset_gives_one(d, function, RHEOS_INT64);
}

// ---- Writing a run

typedef struct run {
  char *folder;  // which has the metadata; NULL: no run has begun
  char *run_folder;
  rheos__shard_compression compression;
  rheos__shard_metadata metadata;
  rheos__shard_writer **writers;  // by shard; NULL: not begun
  size_t num_writers, capacity;
  rheos_status *failure;  // of an element that is missing in the files, which are given up
} run;

// What was written of a run that is given up, so that a full disk has its space back.
static void remove_shards(const run *r) {
  for (size_t i = 0; i < r->num_writers; ++i) {
    char *folder = rheos__text_format("%s/%08zu.shard", r->run_folder, i);
    char *file = rheos__text_format("%s/%08zu.shard/00000000.snapshot", r->run_folder, i);
    if (folder != NULL && file != NULL) {
      rheos_status_free(rheos__file_remove(file));
      rheos_status_free(rheos__file_remove_dir(folder));
    }
    rheos__free(folder);
    rheos__free(file);
  }
  rheos_status_free(rheos__file_remove_dir(r->run_folder));
}

static void drop_run(run *r) {
  for (size_t i = 0; i < r->num_writers; ++i) rheos__shard_writer_abandon(r->writers[i]);
  rheos__free(r->writers);
  rheos__free(r->folder);
  rheos__free(r->run_folder);
  rheos_status_free(r->failure);
  rheos__shard_metadata_deinit(&r->metadata);
  *r = (run){0};
}

static int64_t now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static rheos_status *fill_run(run *r, const char *folder, const rheos__dataset *input) {
  int64_t seeds[2] = {0, 0};
  const size_t n = (size_t)input->num_components;
  RHEOS_TRY(rheos__random_seeds(seeds));
  snprintf(r->metadata.run, sizeof r->metadata.run, "%llu", (unsigned long long)seeds[0]);
  r->metadata.created_us = now_us();
  r->metadata.dtypes = rheos__alloc_array(n, sizeof *r->metadata.dtypes);
  r->folder = rheos__strndup(folder, strlen(folder));
  r->run_folder = rheos__path_join(folder, r->metadata.run);
  if (r->metadata.dtypes == NULL || r->folder == NULL || r->run_folder == NULL) {
    return rheos__out_of_memory();
  }
  memcpy(r->metadata.dtypes, input->types, n * sizeof *input->types);
  r->metadata.num_dtypes = input->num_components;
  RHEOS_TRY(rheos__file_make_dirs(r->run_folder));
  return rheos__shard_metadata_write(folder, &r->metadata);
}

// `graph_hash` NULL: of none.
static rheos_status *begin_run(run *r, const char *folder, const char *graph_hash,
                               rheos__shard_compression compression, const rheos__dataset *input) {
  *r = (run){.compression = compression};
  if (graph_hash != NULL) {
    snprintf(r->metadata.graph_hash, sizeof r->metadata.graph_hash, "%s", graph_hash);
  }
  rheos_status *status = fill_run(r, folder, input);
  if (status != NULL) drop_run(r);
  return status;
}

static rheos_status *writer_of(run *r, int64_t shard, rheos__shard_writer **out_writer) {
  if (shard < 0 || shard >= MAX_SHARDS) {
    return RHEOS_INVALID("an element goes to shard %lld, which is not from 0 to %d",
                         (long long)shard, MAX_SHARDS - 1);
  }
  if (!RHEOS_RESERVE(r->writers, r->capacity, (size_t)shard + 1)) return rheos__out_of_memory();
  while (r->num_writers <= (size_t)shard) r->writers[r->num_writers++] = NULL;
  rheos__shard_writer **writer = &r->writers[shard];
  if (*writer == NULL) {
    RHEOS_TRY(rheos__shard_writer_open(r->run_folder, shard, r->compression, writer));
  }
  *out_writer = *writer;
  return NULL;
}

static rheos_status *put_element(run *r, int64_t shard, rheos_tensor *const *element, int32_t n) {
  rheos__shard_writer *writer = NULL;
  RHEOS_TRY(writer_of(r, shard, &writer));
  for (int32_t i = 0; i < n; ++i) RHEOS_TRY(rheos__shard_writer_put(writer, element[i]));
  ++r->metadata.num_elements;
  return NULL;
}

static rheos_status *same_failure(const rheos_status *status) {
  return rheos_status_new(rheos_status_code(status), "%s", rheos_status_message(status));
}

// The elements that come then get the same answer: without this one the files would not be whole.
static rheos_status *give_up(run *r, rheos_status *status) {
  for (size_t i = 0; i < r->num_writers; ++i) {
    rheos__shard_writer_abandon(r->writers[i]);
    r->writers[i] = NULL;
  }
  remove_shards(r);
  r->failure = same_failure(status);
  return status;
}

static rheos_status *end_run(run *r) {
  rheos_status *status = NULL;
  for (size_t i = 0; i < r->num_writers; ++i) {
    if (r->writers[i] == NULL) continue;
    if (status == NULL) {
      status = rheos__shard_writer_close_take(r->writers[i]);
    } else {
      rheos__shard_writer_abandon(r->writers[i]);
    }
    r->writers[i] = NULL;
  }
  if (status == NULL) {
    r->metadata.is_finalized = true;
    status = rheos__shard_metadata_write(r->folder, &r->metadata);
    r->metadata.is_finalized = status == NULL;
  }
  if (status != NULL) return give_up(r, status);
  drop_run(r);
  return NULL;
}

// The shard of an element, by a function of it; 0 if `function` is negative.
static rheos_status *shard_of(const rheos__dataset *d, int32_t function,
                              rheos_tensor *const *element, rheos__step *step, int64_t *out_shard) {
  const int32_t n = d->inputs[0]->num_components;
  rheos_tensor *result = NULL;
  *out_shard = 0;
  if (function < 0) return NULL;
  rheos_tensor **given = rheos__alloc_array((size_t)n, sizeof *given);
  if (given == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < n; ++i) given[i] = rheos_tensor_ref(element[i]);
  rheos_status *status = rheos__dataset_call_take(d, function, given, n, step, &result);
  rheos__free(given);
  if (status != NULL) return status;
  if (result->dtype == RHEOS_INT64 && result->num_elements == 1) {
    *out_shard = *(const int64_t *)result->data;
  } else {
    status = RHEOS_INVALID("shard_func must return a scalar int64.");
  }
  rheos_tensor_unref(result);
  return status;
}

// The next element of the input, written; the run ends with it.
static rheos_status *next_written(rheos__iterator *iterator, run *r, int32_t shard_function,
                                  rheos__step *step, rheos_tensor **element, bool *out_end) {
  const rheos__dataset *d = iterator->dataset;
  int64_t shard = 0;
  if (r->failure != NULL) return same_failure(r->failure);
  RHEOS_TRY(rheos__iterator_next(iterator->input, step, element, out_end));
  if (*out_end) return r->folder != NULL ? end_run(r) : NULL;
  rheos_status *status = shard_of(d, shard_function, element, step, &shard);
  if (status == NULL) status = put_element(r, shard, element, d->inputs[0]->num_components);
  if (status == NULL) return NULL;
  rheos__element_clear(element, d->inputs[0]->num_components);
  return give_up(r, status);
}

// ---- SaveDataset

typedef struct save_data {
  char *path;
  rheos__shard_compression compression;
  int32_t shard_function;  // -1: none
} save_data;

static const char *const save_options[] = {"use_shard_func", NULL};

static rheos_status *init_save(rheos__dataset *d) {
  save_data *data = d->data;
  data->shard_function = rheos__dataset_options(d)[0] != 0 ? 0 : -1;
  RHEOS_TRY(path_of(d, &data->path));
  return data->shard_function < 0 ? NULL : check_shard_function(d, 0);
}

static void deinit_save(rheos__dataset *d) { rheos__free(((save_data *)d->data)->path); }

typedef struct saving {
  rheos__iterator base;
  run run;
  bool has_begun;
} saving;

static rheos_status *next_saved(rheos__iterator *iterator, rheos__step *step,
                                rheos_tensor **element, bool *out_end) {
  saving *it = (saving *)iterator;
  const save_data *data = iterator->dataset->data;
  if (!it->has_begun) {
    RHEOS_TRY(
        begin_run(&it->run, data->path, NULL, data->compression, iterator->dataset->inputs[0]));
    it->has_begun = true;
  }
  return next_written(iterator, &it->run, data->shard_function, step, element, out_end);
}

static void finish_saving(rheos__iterator *iterator) { drop_run(&((saving *)iterator)->run); }

static const rheos__dataset_kind save_kind = {.name = "Save",
                                              .data_bytes = sizeof(save_data),
                                              .iterator_bytes = sizeof(saving),
                                              .opens_input = true,
                                              .options = save_options,
                                              .init = init_save,
                                              .deinit = deinit_save,
                                              .finish = finish_saving,
                                              .next = next_saved};
typedef struct save_state {
  rheos__dataset_spec *spec;
  rheos__shard_compression compression;
} save_state;

static rheos_status *compression_of(const rheos__prepare *p,
                                    rheos__shard_compression *out_compression) {
  return rheos__shard_compression_of(&rheos__attrs_find(p->attrs, "compression")->s,
                                     out_compression);
}

static void release_save(void *state) { rheos__dataset_spec_unref(((save_state *)state)->spec); }

static rheos_status *new_save(const save_state *s, rheos_tensor *const *inputs,
                              rheos__dataset **out_dataset) {
  RHEOS_TRY(rheos__dataset_new(s->spec, inputs, out_dataset));
  ((save_data *)(*out_dataset)->data)->compression = s->compression;
  return NULL;
}

static rheos_status *compute_save_v2(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)step;
  rheos__dataset *d = NULL;
  RHEOS_TRY(new_save(state, inputs, &d));
  rheos_status *status = rheos__dataset_same_types(d, d->inputs[0]);
  if (status == NULL) return rheos__variant_tensor_take(&d->variant, &outputs[0]);
  rheos__dataset_unref(d);
  return status;
}

static rheos_status *save_all(rheos__iterator *iterator, rheos__step *step) {
  const int32_t n = iterator->dataset->inputs[0]->num_components;
  rheos_tensor **element = rheos__alloc_array((size_t)n, sizeof *element);
  if (element == NULL) return rheos__out_of_memory();
  rheos_status *status = NULL;
  for (bool end = false; status == NULL && !end;) {
    status = rheos__iterator_next(iterator, step, element, &end);
    rheos__element_clear(element, n);
    if (status == NULL && rheos__step_should_stop(step)) {
      status = rheos_status_new(RHEOS_CANCELLED, "the step was stopped");
    }
  }
  rheos__free(element);
  return status;
}

static rheos_status *compute_save(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  (void)outputs;
  rheos__dataset *d = NULL;
  rheos__iterator *iterator = NULL;
  RHEOS_TRY(new_save(state, inputs, &d));
  rheos_status *status = rheos__iterator_new_outer(d, step, &iterator);
  if (status == NULL) {
    rheos__call_states *before = rheos__iterator_enter(iterator, step);
    status = save_all(iterator, step);
    rheos__iterator_leave(step, before);
  }
  rheos__iterator_free(iterator);
  rheos__dataset_unref(d);
  return status;
}

static rheos_status *prepare_save(rheos__prepare *p) {
  save_state *s = RHEOS_NEW_STATE(p, save_state);
  if (s == NULL) return rheos__out_of_memory();
  RHEOS_TRY(compression_of(p, &s->compression));
  RHEOS_TRY(rheos__dataset_spec_new(p, p->op->family, &s->spec));
  p->release = release_save;
  p->compute = p->op->compute;
  return NULL;
}

#define SAVE_INPUTS "input_dataset: variant, path: string, shard_func_other_args: Tshard_func_args"
#define SAVE_ATTRS                                                                \
  "; compression: string = \"\"; shard_func: func; use_shard_func: bool = true; " \
  "Tshard_func_args: "                                                            \
  "list(type) >= 0"
const rheos__op_def rheos__op_SaveDataset = {
    .name = "SaveDataset",
    .signature = SAVE_INPUTS " ->" SAVE_ATTRS,
    .doc = "Writes all elements to files, each to the shard that `shard_func` gives.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_CALLS | RHEOS_OP_USES_FILES,
    .shape = rheos__shape_none,
    .gradient = rheos__no_gradient,
    .prepare = prepare_save,
    .compute = compute_save,
    .family = &save_kind,
};
const rheos__op_def rheos__op_SaveDatasetV2 = {
    .name = "SaveDatasetV2",
    .signature = SAVE_INPUTS " -> handle: variant" SAVE_ATTRS RHEOS_DATASET_TYPES,
    .doc = "The elements; going over them writes them to files.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_CALLS | RHEOS_OP_USES_FILES,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .prepare = prepare_save,
    .compute = compute_save_v2,
    .family = &save_kind,
};

// ---- LoadDataset

typedef struct load_data {
  char *run_folder;
  rheos__shard_compression compression;
  int64_t num_elements;
} load_data;

static rheos_status *check_metadata(const rheos__dataset *d, const char *folder,
                                    const rheos__shard_metadata *m) {
  if (!m->is_finalized) {
    return rheos_status_new(RHEOS_FAILED_PRECONDITION,
                            "the dataset in '%s' has not been written to its end", folder);
  }
  if (m->version != 2) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "'%s' has files of version %lld, only 2 is read",
                            folder, (long long)m->version);
  }
  bool same = m->num_dtypes == d->num_components;
  for (int32_t i = 0; same && i < m->num_dtypes; ++i) same = m->dtypes[i] == d->types[i];
  if (same) return NULL;
  return RHEOS_INVALID("the dataset in '%s' has elements of other dtypes than expected", folder);
}

static rheos_status *init_load(rheos__dataset *d) {
  load_data *data = d->data;
  const rheos_string *path;
  RHEOS_TRY(rheos__dataset_string(d, 0, "path", &path));
  char *folder = rheos__strndup(path->size_bytes > 0 ? path->data : "", path->size_bytes);
  if (folder == NULL) return rheos__out_of_memory();
  rheos__shard_metadata m;
  rheos_status *status = rheos__shard_metadata_read(folder, &m);
  if (status == NULL) status = check_metadata(d, folder, &m);
  if (status == NULL) {
    data->num_elements = m.num_elements;
    data->run_folder = rheos__path_join(folder, m.run);
    if (data->run_folder == NULL) status = rheos__out_of_memory();
  }
  rheos__shard_metadata_deinit(&m);
  rheos__free(folder);
  return status;
}

static void deinit_load(rheos__dataset *d) { rheos__free(((load_data *)d->data)->run_folder); }

// An iterator over what the function `reader` makes of the shards of a run.
static rheos_status *open_run(rheos__iterator *iterator, const char *run_folder,
                              rheos__shard_compression compression, int32_t reader,
                              rheos__step *step) {
  rheos_tensor *shards = NULL;
  RHEOS_TRY(rheos__shards_open(iterator->dataset, run_folder, compression, &shards));
  return rheos__dataset_open_take(iterator->dataset, reader, &shards, 1, false, step,
                                  &iterator->input);
}

static rheos_status *start_load(rheos__iterator *iterator, rheos__step *step) {
  const load_data *data = iterator->dataset->data;
  return open_run(iterator, data->run_folder, data->compression, 0, step);
}

static rheos_status *next_loaded(rheos__iterator *iterator, rheos__step *step,
                                 rheos_tensor **element, bool *out_end) {
  return rheos__iterator_next(iterator->input, step, element, out_end);
}

static rheos_status *transfer_loaded(rheos__iterator *iterator, rheos__saved_state *state,
                                     rheos__step *step) {
  return rheos__iterator_transfer(iterator->input, state, step);
}

static int64_t cardinality_loaded(const rheos__dataset *d) {
  return ((const load_data *)d->data)->num_elements;
}

static const rheos__dataset_kind load_kind = {.name = "Load",
                                              .data_bytes = sizeof(load_data),
                                              .iterator_bytes = sizeof(rheos__iterator),
                                              .init = init_load,
                                              .deinit = deinit_load,
                                              .start = start_load,
                                              .next = next_loaded,
                                              .state = transfer_loaded,
                                              .cardinality = cardinality_loaded};

static rheos_status *compute_load(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  (void)step;
  const save_state *s = state;
  rheos__dataset *d = NULL;
  RHEOS_TRY(rheos__dataset_new(s->spec, inputs, &d));
  ((load_data *)d->data)->compression = s->compression;
  return rheos__variant_tensor_take(&d->variant, &outputs[0]);
}

const rheos__op_def rheos__op_LoadDataset = {
    .name = "LoadDataset",
    .signature =
        "path: string, reader_func_other_args: Treader_func_args -> handle: variant; "
        "compression: string = \"\"; reader_func: func; Treader_func_args: list(type) >= "
        "0" RHEOS_DATASET_TYPES,
    .doc =
        "The elements of a dataset that was saved; `reader_func` makes one dataset of those of "
        "its shards.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_CALLS | RHEOS_OP_USES_FILES,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .prepare = prepare_save,
    .compute = compute_load,
    .family = &load_kind,
};

// ---- SnapshotDataset

enum { READER, SHARD };  // its functions
static const int64_t EXPIRED_US =
    86400000000;  // TensorFlow's: what was begun so long ago was given up
static const char *const snapshot_options[] = {"hash_valid", "hash", NULL};

typedef struct snapshot_data {
  char *folder;  // of what makes these elements
  char hash[24];
  rheos__shard_compression compression;
} snapshot_data;

static rheos_status *init_snapshot(rheos__dataset *d) {
  snapshot_data *data = d->data;
  const int64_t *options = rheos__dataset_options(d);
  uint64_t hash = (uint64_t)options[1];
  char *path = NULL;
  RHEOS_TRY(check_shard_function(d, SHARD));
  if (options[0] == 0) RHEOS_TRY(rheos__dataset_hash(d->inputs[0], &hash));
  snprintf(data->hash, sizeof data->hash, "%llu", (unsigned long long)hash);
  RHEOS_TRY(path_of(d, &path));
  data->folder = rheos__path_join(path, data->hash);
  rheos__free(path);
  return data->folder != NULL ? NULL : rheos__out_of_memory();
}

static void deinit_snapshot(rheos__dataset *d) { rheos__free(((snapshot_data *)d->data)->folder); }

typedef enum snapshot_mode { UNDECIDED, WRITES, READS, PASSES } snapshot_mode;

typedef struct snapshot {
  rheos__iterator base;
  int64_t mode;
  run run;
} snapshot;

// Whether to write, read what is whole, or leave it to whoever is writing.
static rheos_status *decide(const rheos__dataset *d, snapshot_mode *out_mode, char **out_run) {
  const snapshot_data *data = d->data;
  rheos__shard_metadata m;
  rheos_status *status = rheos__shard_metadata_read(data->folder, &m);
  if (status != NULL && rheos_status_code(status) == RHEOS_NOT_FOUND) {
    rheos_status_free(status);
    *out_mode = WRITES;
    return NULL;
  }
  if (status != NULL) return status;
  if (!m.is_finalized) {
    *out_mode = now_us() - m.created_us > EXPIRED_US ? WRITES : PASSES;
  } else {
    *out_mode = READS;
    status = check_metadata(d, data->folder, &m);
    *out_run = rheos__path_join(data->folder, m.run);
    if (status == NULL && *out_run == NULL) status = rheos__out_of_memory();
  }
  rheos__shard_metadata_deinit(&m);
  return status;
}

static rheos_status *begin_snapshot(snapshot *it, rheos__step *step) {
  const rheos__dataset *d = it->base.dataset;
  const snapshot_data *data = d->data;
  char *run_folder = NULL;
  snapshot_mode mode = UNDECIDED;
  rheos_status *status = decide(d, &mode, &run_folder);
  if (status == NULL && mode == READS) {
    status = open_run(&it->base, run_folder, data->compression, READER, step);
  } else if (status == NULL) {
    status = rheos__iterator_new(d->inputs[0], step, &it->base.input);
    if (status == NULL && mode == WRITES) {
      status = begin_run(&it->run, data->folder, data->hash, data->compression, d->inputs[0]);
    }
  }
  rheos__free(run_folder);
  if (status == NULL) {
    it->mode = mode;
  } else {
    rheos__iterator_free(it->base.input);
    it->base.input = NULL;
  }
  return status;
}

static rheos_status *next_of_snapshot(rheos__iterator *iterator, rheos__step *step,
                                      rheos_tensor **element, bool *out_end) {
  snapshot *it = (snapshot *)iterator;
  if (it->mode == UNDECIDED) RHEOS_TRY(begin_snapshot(it, step));
  if (it->mode == WRITES) return next_written(iterator, &it->run, SHARD, step, element, out_end);
  return rheos__iterator_next(iterator->input, step, element, out_end);
}

// What was begun and is not whole is told to be so old that the next one may write.
static void finish_snapshot(rheos__iterator *iterator) {
  run *r = &((snapshot *)iterator)->run;
  if (r->folder != NULL) {
    r->metadata.created_us = 0;
    rheos_status_free(rheos__shard_metadata_write(r->folder, &r->metadata));
  }
  drop_run(r);
}

static rheos_status *transfer_snapshot(rheos__iterator *iterator, rheos__saved_state *state,
                                       rheos__step *step) {
  snapshot *it = (snapshot *)iterator;
  if (it->mode == WRITES && it->run.folder != NULL) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED,
                            "an iterator that is writing a snapshot cannot be saved");
  }
  int64_t mode = it->mode;
  RHEOS_TRY(rheos__state_ints(state, &mode, 1));
  if (mode == UNDECIDED) return NULL;
  if (state->is_restoring && it->mode == UNDECIDED) RHEOS_TRY(begin_snapshot(it, step));
  if (it->mode != mode && !(mode == WRITES && it->mode == READS)) {
    return rheos_status_new(RHEOS_FAILED_PRECONDITION,
                            "the snapshot has changed since the iterator was saved");
  }
  return rheos__iterator_transfer(iterator->input, state, step);
}

static const rheos__dataset_kind snapshot_kind = {.name = "Snapshot",
                                                  .data_bytes = sizeof(snapshot_data),
                                                  .iterator_bytes = sizeof(snapshot),
                                                  .like_input = true,
                                                  .options = snapshot_options,
                                                  .init = init_snapshot,
                                                  .deinit = deinit_snapshot,
                                                  .finish = finish_snapshot,
                                                  .next = next_of_snapshot,
                                                  .state = transfer_snapshot};

static rheos_status *compute_snapshot(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                      rheos_tensor **outputs) {
  (void)step;
  const save_state *s = state;
  rheos__dataset *d = NULL;
  RHEOS_TRY(rheos__dataset_new(s->spec, inputs, &d));
  ((snapshot_data *)d->data)->compression = s->compression;
  return rheos__variant_tensor_take(&d->variant, &outputs[0]);
}

const rheos__op_def rheos__op_SnapshotDatasetV2 = {
    .name = "SnapshotDatasetV2",
    .signature =
        "input_dataset: variant, path: string, reader_func_other_args: Treader_func_args, "
        "shard_func_other_args: Tshard_func_args -> handle: variant" RHEOS_DATASET_TYPES
        "; compression: string = \"\"; reader_prefix: string = \"\"; writer_prefix: string = \"\"; "
        "hash_valid: bool = false; hash: int = 0; reader_func: func; shard_func: func; "
        "Treader_func_args: list(type) >= 0; Tshard_func_args: list(type) >= 0; metadata: string = "
        "\"\"",
    .doc = "The elements, kept in files when all of them have been made once.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_CALLS | RHEOS_OP_USES_FILES,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .prepare = prepare_save,
    .compute = compute_snapshot,
    .family = &snapshot_kind,
};
