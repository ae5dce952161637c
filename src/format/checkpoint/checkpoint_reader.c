// Checkpoints for those who have no graph: both kinds behind one face.
#include <rheos/format.h>

#include "format/checkpoint/checkpoint_name.h"

struct rheos_checkpoint_reader {
  rheos__bundle *bundle;                // either this
  rheos__v1_checkpoint *v1;             // or this
  const rheos__bundle_entry **entries;  // of the bundle, without parts of tensors
  size_t count;
};

// Parts of tensors are entries too, which are nobody's business here.
static rheos_status *list_tensors(rheos_checkpoint_reader *reader) {
  const size_t all = rheos__bundle_count(reader->bundle);
  reader->entries = rheos__alloc_array(all, sizeof *reader->entries);
  if (reader->entries == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < all; i++) {
    const rheos__bundle_entry *entry = rheos__bundle_at(reader->bundle, i);
    if (!rheos__bundle_is_part(entry)) reader->entries[reader->count++] = entry;
  }
  return NULL;
}

static rheos_status *open_either(rheos_checkpoint_reader *reader, const char *prefix) {
  RHEOS_TRY(rheos__checkpoint_open(prefix, &reader->bundle, &reader->v1));
  if (reader->bundle != NULL) return list_tensors(reader);
  reader->count = rheos__v1_checkpoint_count(reader->v1);
  return NULL;
}

rheos_status *rheos_checkpoint_reader_open(const char *prefix,
                                           rheos_checkpoint_reader **out_reader) {
  RHEOS_OUT(out_reader);
  RHEOS_NEED(prefix);
  rheos_checkpoint_reader *reader = rheos__alloc_zeroed(sizeof *reader);
  if (reader == NULL) return rheos__out_of_memory();
  rheos_status *status = open_either(reader, prefix);
  if (status != NULL) {
    rheos_checkpoint_reader_free(reader);
    return status;
  }
  *out_reader = reader;
  return NULL;
}

void rheos_checkpoint_reader_free(rheos_checkpoint_reader *reader) {
  if (reader == NULL) return;
  rheos__bundle_close(reader->bundle);
  rheos__v1_checkpoint_close(reader->v1);
  rheos__free(reader->entries);
  rheos__free(reader);
}

size_t rheos_checkpoint_reader_count(const rheos_checkpoint_reader *reader) {
  return reader != NULL ? reader->count : 0;
}

const char *rheos_checkpoint_reader_name(const rheos_checkpoint_reader *reader, size_t index) {
  if (reader == NULL || index >= reader->count) return NULL;
  return reader->v1 != NULL ? rheos__v1_checkpoint_at(reader->v1, index)->name
                            : reader->entries[index]->name;
}

rheos_dtype rheos_checkpoint_reader_dtype(const rheos_checkpoint_reader *reader, size_t index) {
  if (reader == NULL || index >= reader->count) return RHEOS_INVALID_DTYPE;
  return reader->v1 != NULL ? rheos__v1_checkpoint_at(reader->v1, index)->dtype
                            : reader->entries[index]->dtype;
}

rheos_shape rheos_checkpoint_reader_shape(const rheos_checkpoint_reader *reader, size_t index) {
  if (reader == NULL || index >= reader->count) return RHEOS_UNKNOWN_SHAPE;
  return reader->v1 != NULL ? rheos__v1_checkpoint_at(reader->v1, index)->shape
                            : reader->entries[index]->shape;
}

rheos_status *rheos_checkpoint_reader_read(rheos_checkpoint_reader *reader, size_t index,
                                           rheos_tensor **out_tensor) {
  RHEOS_OUT(out_tensor);
  RHEOS_NEED(reader);
  if (index >= reader->count) return RHEOS_INVALID("the checkpoint has no tensor %zu", index);
  if (reader->v1 == NULL) {
    return rheos__bundle_read(reader->bundle, reader->entries[index], out_tensor);
  }
  const rheos__v1_entry *entry = rheos__v1_checkpoint_at(reader->v1, index);
  const rheos__slice all = rheos__slice_whole(entry->shape.rank);
  return rheos__v1_checkpoint_read(reader->v1, entry, &all, out_tensor);
}

bool rheos_checkpoint_reader_find(const rheos_checkpoint_reader *reader, const char *name,
                                  size_t *out_index) {
  if (reader == NULL || name == NULL) return false;
  size_t low = 0, high = reader->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const int order = strcmp(rheos_checkpoint_reader_name(reader, middle), name);
    if (order == 0) {
      if (out_index != NULL) *out_index = middle;
      return true;
    }
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return false;
}

rheos_status *rheos_checkpoint_reader_read_named(rheos_checkpoint_reader *reader, const char *name,
                                                 rheos_tensor **out_tensor) {
  RHEOS_OUT(out_tensor);
  RHEOS_NEED(reader, name);
  size_t index;
  if (!rheos_checkpoint_reader_find(reader, name, &index)) {
    return RHEOS_NOTFOUND("Key %s not found in checkpoint", name);
  }
  return rheos_checkpoint_reader_read(reader, index, out_tensor);
}
