// Checkpoints for those who have no graph: tensors under names.
#include <rheos/format.h>

#include "format/checkpoint/bundle.h"

struct rheos_checkpoint_writer {
  rheos__bundle_writer *bundle;
};

rheos_status *rheos_checkpoint_writer_open(const char *prefix,
                                           rheos_checkpoint_writer **out_writer) {
  RHEOS_OUT(out_writer);
  RHEOS_NEED(prefix);
  rheos_checkpoint_writer *writer = rheos__alloc_zeroed(sizeof *writer);
  if (writer == NULL) return rheos__out_of_memory();
  rheos_status *status = rheos__bundle_writer_open(prefix, &writer->bundle);
  if (status != NULL) {
    rheos__free(writer);
    return status;
  }
  *out_writer = writer;
  return NULL;
}

rheos_status *rheos_checkpoint_writer_add(rheos_checkpoint_writer *writer, const char *name,
                                          const rheos_tensor *tensor) {
  RHEOS_NEED(writer, name, tensor);
  RHEOS_TRY(rheos__tensor_to_host(&tensor));
  return rheos__bundle_writer_add(writer->bundle, name, strlen(name), tensor);
}

rheos_status *rheos_checkpoint_writer_finish(rheos_checkpoint_writer *writer) {
  RHEOS_NEED(writer);
  rheos_status *status = rheos__bundle_writer_finish_take(writer->bundle);
  rheos__free(writer);
  return status;
}

void rheos_checkpoint_writer_abandon(rheos_checkpoint_writer *writer) {
  if (writer == NULL) return;
  rheos__bundle_writer_abandon(writer->bundle);
  rheos__free(writer);
}
