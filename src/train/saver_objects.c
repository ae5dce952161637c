// Savers and checkpoints that TensorFlow 2 wrote by objects: the names that a restore asks for are
// fed, so that it asks for the keys of the variables with these names.
#include "train/restoring.h"

#include <stdlib.h>
#include <string.h>

#include "ops/kit/op_util.h"

rheos_status *rheos__prefix_tensor(const char *prefix, rheos_tensor **out_tensor) {
  RHEOS_TRY(rheos_tensor_new(RHEOS_STRING, RHEOS_SCALAR, out_tensor));
  rheos_status *status = rheos_tensor_set_string(*out_tensor, 0, prefix, strlen(prefix));
  if (status == NULL) return NULL;
  rheos_tensor_unref(*out_tensor);
  *out_tensor = NULL;
  return status;
}

typedef struct objects {
  rheos_object_name *names;
  size_t count;
  const char *missing;  // the first name that has no key
} objects;

static int compare_names(const void *a, const void *b) {
  return strcmp(((const rheos_object_name *)a)->full_name,
                ((const rheos_object_name *)b)->full_name);
}

static const char *key_of(const objects *o, const char *name) {
  const rheos_object_name wanted = {.full_name = name};
  const rheos_object_name *found =
      bsearch(&wanted, o->names, o->count, sizeof *o->names, compare_names);
  return found != NULL ? found->key : NULL;
}

// The names that a RestoreV2 node asks for, as keys.
static rheos_status *keys_for(objects *o, rheos_operation restore, rheos_feed *out_feed) {
  out_feed->output = rheos_operation_input(restore, 1);
  const rheos_tensor *names = rheos__constant_value(out_feed->output);
  if (names == NULL || names->dtype != RHEOS_STRING) {
    return RHEOS_INVALID("the names that the saver restores are not constant");
  }
  RHEOS_TRY(rheos_tensor_new(RHEOS_STRING, names->shape, &out_feed->value));
  for (int64_t i = 0; i < names->num_elements; i++) {
    const rheos_string *text = (const rheos_string *)names->data + i;
    const char *name = text->size_bytes > 0 ? text->data : "", *key = key_of(o, name);
    if (key == NULL && o->missing == NULL) o->missing = name;
    if (key == NULL) key = name;
    RHEOS_TRY(rheos_tensor_set_string(out_feed->value, i, key, strlen(key)));
  }
  return NULL;
}

static rheos_status *run(objects *o, const rheos__wants *wants, rheos_saver saver,
                         rheos_session *session, const char *prefix, rheos_feed *feeds) {
  feeds[0].output = saver.filename;
  RHEOS_TRY(rheos__prefix_tensor(prefix, &feeds[0].value));
  for (size_t i = 0; i < wants->num_restores; i++) {
    RHEOS_TRY(keys_for(o, wants->restores[i], &feeds[1 + i]));
  }
  if (o->missing != NULL) {
    return RHEOS_NOTFOUND(
        "the checkpoint '%s' holds objects, and none of their variables is named "
        "'%s'",
        prefix, o->missing);
  }
  return rheos_session_run(session, feeds, 1 + wants->num_restores, NULL, 0, &saver.restore, 1,
                           NULL);
}

static rheos_status *restore(objects *o, rheos_saver saver, rheos_session *session,
                             const char *prefix) {
  rheos__wants wants = {0};
  rheos_status *status = rheos__wants_collect(&wants, saver.restore);
  rheos_feed *feeds = rheos__alloc_array(1 + wants.num_restores, sizeof *feeds);
  if (status == NULL && feeds == NULL) status = rheos__out_of_memory();
  if (status == NULL) status = run(o, &wants, saver, session, prefix, feeds);
  for (size_t i = 0; feeds != NULL && i <= wants.num_restores; i++) {
    rheos_tensor_unref(feeds[i].value);
  }
  rheos__free(feeds);
  rheos__wants_deinit(&wants);
  return status;
}

rheos_status *rheos__restore_by_objects(rheos_saver saver, rheos_session *session,
                                        const char *prefix, bool *out_is_by_objects) {
  *out_is_by_objects = false;
  rheos_checkpoint_reader *reader;
  RHEOS_TRY(rheos_checkpoint_reader_open(prefix, &reader));
  objects o = {NULL, 0, NULL};
  rheos_status *status = rheos_checkpoint_reader_object_names(reader, &o.names, &o.count);
  rheos_checkpoint_reader_free(reader);
  *out_is_by_objects = status == NULL && o.count > 0;
  if (*out_is_by_objects) status = restore(&o, saver, session, prefix);
  rheos_free(o.names);
  return status;
}
