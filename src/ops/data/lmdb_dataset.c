// The keys and values of databases of LMDB.
#include "codec/lmdb.h"
#include "ops/data/dataset.h"
#include "ops/kit/string_util.h"

typedef struct databases {
  rheos__iterator base;
  rheos__lmdb *lmdb;  // NULL: none is open
  int64_t next;       // name
  int64_t num_given;  // of the one that is open
  rheos__buffer key, value;
} databases;

static rheos_status *init_lmdb(rheos__dataset *d) {
  const rheos_tensor *names = d->args[0];
  if (names == NULL || names->shape.rank > 1) {
    return RHEOS_INVALID("`filenames` must be a scalar or a vector.");
  }
  if (d->num_components == 2 && d->types[0] == RHEOS_STRING && d->types[1] == RHEOS_STRING) {
    return NULL;
  }
  return RHEOS_INVALID("a database gives keys and values: two strings");
}

static void finish_lmdb(rheos__iterator *iterator) {
  databases *it = (databases *)iterator;
  rheos__lmdb_close(it->lmdb);
  rheos__buffer_deinit(&it->key);
  rheos__buffer_deinit(&it->value);
}

static rheos_status *open_next(databases *it) {
  const rheos_string *name = (const rheos_string *)it->base.dataset->args[0]->data + it->next;
  char *path = NULL;
  RHEOS_TRY(rheos__string_path(name, &path));
  ++it->next;
  it->num_given = 0;
  rheos_status *status = rheos__lmdb_open(path, &it->lmdb);
  rheos__free(path);
  return status;
}

// The next pair is in the buffers.
static rheos_status *advance(databases *it, bool *out_end) {
  for (;;) {
    if (it->lmdb == NULL) {
      *out_end = it->next >= it->base.dataset->args[0]->num_elements;
      if (*out_end) return NULL;
      RHEOS_TRY(open_next(it));
    }
    it->key.size_bytes = it->value.size_bytes = 0;
    rheos_status *status = rheos__lmdb_next(it->lmdb, &it->key, &it->value, out_end);
    if (status == NULL && !*out_end) {
      ++it->num_given;
      return NULL;
    }
    rheos__lmdb_close(it->lmdb);
    it->lmdb = NULL;
    if (status != NULL) return status;
  }
}

static rheos_status *give(const rheos__buffer *buffer, rheos_tensor **out_tensor) {
  RHEOS_TRY(rheos__tensor_new(RHEOS_STRING, &RHEOS_SCALAR, out_tensor));
  return rheos_tensor_set_string(*out_tensor, 0, buffer->size_bytes > 0 ? buffer->data : "",
                                 buffer->size_bytes);
}

static rheos_status *next_lmdb(rheos__iterator *iterator, rheos__step *step, rheos_tensor **element,
                               bool *out_end) {
  (void)step;
  databases *it = (databases *)iterator;
  RHEOS_TRY(advance(it, out_end));
  if (*out_end) return NULL;
  rheos_status *status = give(&it->key, &element[0]);
  if (status == NULL) status = give(&it->value, &element[1]);
  if (status != NULL) rheos__element_clear(element, 2);
  return status;
}

static rheos_status *transfer_lmdb(rheos__iterator *iterator, rheos__saved_state *state,
                                   rheos__step *step) {
  databases *it = (databases *)iterator;
  int64_t at[] = {it->lmdb != NULL ? it->next - 1 : it->next, it->lmdb != NULL ? it->num_given : 0};
  RHEOS_TRY(rheos__state_ints(state, at, 2));
  if (!state->is_restoring) return NULL;
  if (at[0] < 0 || at[1] < 0) return RHEOS_INVALID("the state is damaged");
  it->next = at[0];
  bool end = false;
  for (int64_t i = 0; i < at[1] && !end; ++i) {
    RHEOS_TRY(advance(it, &end));
    if (rheos__step_should_stop(step)) {
      return rheos_status_new(RHEOS_CANCELLED, "the step was stopped");
    }
  }
  return NULL;
}

static const rheos__dataset_kind lmdb_kind = {.name = "LMDB",
                                              .iterator_bytes = sizeof(databases),
                                              .init = init_lmdb,
                                              .finish = finish_lmdb,
                                              .next = next_lmdb,
                                              .state = transfer_lmdb};
#define LMDB_OP(op)                                                                            \
  RHEOS_FILE_DATASET_OP(op, lmdb_kind, "filenames: string", RHEOS_DATASET_TYPES,               \
                        "The keys and values of databases of LMDB, in the order of the keys.", \
                        NULL)
LMDB_OP(LMDBDataset)
LMDB_OP(ExperimentalLMDBDataset)
