// Checkpoints of the first kind. Written byte for byte as TensorFlow writes them (it does not
// compress them); read with their blocks compressed or not.
#include "format/checkpoint/checkpoint_v1.h"

#include <stdlib.h>

#include "codec/table.h"
#include "format/message/tensor_proto.h"
#include "tensor_slices.pb-c.h"

enum { FILE_VERSION = 1 };
// What a byte of a file can stand for at most: snappy and varints each make much of little.
enum { MAX_ELEMENTS_PER_BYTE = 64 };

static int compare_names(const char *a, size_t a_bytes, const char *b, size_t b_bytes) {
  const size_t least = a_bytes < b_bytes ? a_bytes : b_bytes;
  const int order = least > 0 ? memcmp(a, b, least) : 0;
  return order != 0 ? order : (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

// ---- Writing

static bool can_hold(rheos_dtype dtype) {
  switch (dtype) {
    case RHEOS_FLOAT:
    case RHEOS_DOUBLE:
    case RHEOS_INT32:
    case RHEOS_UINT8:
    case RHEOS_INT16:
    case RHEOS_INT8:
    case RHEOS_STRING:
    case RHEOS_COMPLEX64:
    case RHEOS_COMPLEX128:
    case RHEOS_INT64:
    case RHEOS_BOOL:
    case RHEOS_QINT8:
    case RHEOS_QUINT8:
    case RHEOS_QINT32:
    case RHEOS_UINT16:
    case RHEOS_HALF: return true;
    default: return false;
  }
}

// A slice with its key, to be sorted by it.
typedef struct keyed {
  const rheos__v1_item *item;
  const char *key;
  size_t key_bytes;
} keyed;

static int compare_items(const void *a, const void *b) {
  const rheos__v1_item *x = a, *y = b;
  return compare_names(x->name, x->name_bytes, y->name, y->name_bytes);
}

static int compare_keyed(const void *a, const void *b) {
  const keyed *x = a, *y = b;
  return compare_names(x->key, x->key_bytes, y->key, y->key_bytes);
}

static char *copy_name(rheos__arena *arena, const rheos__v1_item *item) {
  char *name = rheos__arena_alloc(arena, item->name_bytes + 1);
  if (name == NULL) return NULL;
  if (item->name_bytes > 0) memcpy(name, item->name, item->name_bytes);
  name[item->name_bytes] = '\0';
  return name;
}

static rheos_status *check_item(const rheos__v1_item *item) {
  rheos_shape expected;
  if (!can_hold(item->tensor->dtype)) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "Saving data type %s not yet supported",
                            rheos_dtype_name(item->tensor->dtype));
  }
  if (item->name_bytes > 0 && memchr(item->name, '\0', item->name_bytes) != NULL) {
    return RHEOS_INVALID("the name of a tensor holds a NUL byte: '%s...'", item->name);
  }
  RHEOS_TRY(rheos__slice_shape(&item->slice, &item->shape, &expected));
  if (rheos_shape_equal(&expected, &item->tensor->shape)) return NULL;
  rheos__shape_text a, b;
  return RHEOS_INVALID(
      "Slice in shape_and_slice specification does not match the shape of the "
      "tensor to save: %s, tensor: %s",
      rheos__shape_text_of(&expected, &a), rheos__shape_text_of(&item->tensor->shape, &b));
}

static rheos_status *check_same_tensor(const rheos__v1_item *old, const rheos__v1_item *new) {
  rheos__shape_text a, b;
  if (!rheos_shape_equal(&old->shape, &new->shape)) {
    return rheos_status_new(
        RHEOS_INTERNAL,
        "Mismatching shapes: existing tensor = %s, trying to add name %.*s, shape = %s",
        rheos__shape_text_of(&old->shape, &a), (int)new->name_bytes, new->name,
        rheos__shape_text_of(&new->shape, &b));
  }
  if (old->tensor->dtype == new->tensor->dtype) return NULL;
  return rheos_status_new(
      RHEOS_INTERNAL, "Mismatching types: existing type = %s, trying to add name %.*s, type = %s",
      rheos_dtype_name(old->tensor->dtype), (int)new->name_bytes, new->name,
      rheos_dtype_name(new->tensor->dtype));
}

static rheos_status *describe(const rheos__v1_item *items, size_t count, rheos__arena *arena,
                              Tensorflow__SavedSliceMeta *meta) {
  tensorflow__saved_slice_meta__init(meta);
  meta->name = copy_name(arena, items);
  meta->slice = rheos__arena_alloc(arena, count * sizeof *meta->slice);
  if (meta->name == NULL || meta->slice == NULL) return rheos__out_of_memory();
  meta->type = (Tensorflow__DataType)items->tensor->dtype;
  meta->n_slice = count;
  for (size_t i = 0; i < count; i++) {
    RHEOS_TRY(check_same_tensor(items, &items[i]));
    RHEOS_TRY(rheos__slice_to_proto(&items[i].slice, arena, &meta->slice[i]));
  }
  return rheos__shape_to_proto(&items->shape, arena, &meta->shape);
}

// The entry under the empty key.
static rheos_status *write_meta(rheos__table_writer *table, const rheos__v1_item *items,
                                size_t count, rheos__arena *arena) {
  Tensorflow__SavedTensorSlices value = TENSORFLOW__SAVED_TENSOR_SLICES__INIT;
  Tensorflow__SavedTensorSliceMeta meta = TENSORFLOW__SAVED_TENSOR_SLICE_META__INIT;
  Tensorflow__VersionDef version = TENSORFLOW__VERSION_DEF__INIT;
  Tensorflow__SavedSliceMeta *tensors = rheos__arena_alloc(arena, count * sizeof *tensors);
  meta.tensor = rheos__arena_alloc(arena, count * sizeof *meta.tensor);
  if (tensors == NULL || meta.tensor == NULL) return rheos__out_of_memory();
  for (size_t i = 0, same; i < count; i += same) {
    for (same = 1; i + same < count && compare_items(&items[i], &items[i + same]) == 0;) same++;
    RHEOS_TRY(describe(&items[i], same, arena, &tensors[meta.n_tensor]));
    meta.tensor[meta.n_tensor] = &tensors[meta.n_tensor];
    meta.n_tensor++;
  }
  version.producer = FILE_VERSION;
  meta.versions = &version;
  value.meta = &meta;
  rheos__buffer bytes = {0};
  rheos__proto_pack(&value.base, &bytes);
  rheos_status *status = bytes.failed
                             ? rheos__out_of_memory()
                             : rheos__table_writer_add(table, "", 0, bytes.data, bytes.size_bytes);
  rheos__buffer_deinit(&bytes);
  return status;
}

static rheos_status *write_slice(rheos__table_writer *table, const keyed *k,
                                 rheos__arena *scratch) {
  Tensorflow__SavedTensorSlices value = TENSORFLOW__SAVED_TENSOR_SLICES__INIT;
  Tensorflow__SavedSlice slice = TENSORFLOW__SAVED_SLICE__INIT;
  Tensorflow__TensorProto data = TENSORFLOW__TENSOR_PROTO__INIT;
  slice.name = copy_name(scratch, k->item);
  if (slice.name == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__slice_to_proto(&k->item->slice, scratch, &slice.slice));
  RHEOS_TRY(rheos__tensor_to_lists(k->item->tensor, scratch, &data));
  slice.data = &data;
  value.data = &slice;
  if (protobuf_c_message_get_packed_size(&value.base) > INT32_MAX) {
    return RHEOS_INVALID("Tensor slice is too large to serialize: %s", slice.name);
  }
  rheos__buffer bytes = {0};
  rheos__proto_pack(&value.base, &bytes);
  rheos_status *status = bytes.failed ? rheos__out_of_memory()
                                      : rheos__table_writer_add(table, k->key, k->key_bytes,
                                                                bytes.data, bytes.size_bytes);
  rheos__buffer_deinit(&bytes);
  return status;
}

static rheos_status *write_slices(rheos__table_writer *table, const rheos__v1_item *items,
                                  size_t count, rheos__arena *arena) {
  keyed *slices = rheos__arena_alloc(arena, count * sizeof *slices);
  if (slices == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; i++) {
    rheos__buffer key = {0};
    rheos__slice_key(&key, items[i].name, items[i].name_bytes, &items[i].slice);
    char *copy = key.failed ? NULL : rheos__arena_copy(arena, key.data, key.size_bytes);
    slices[i] = (keyed){&items[i], copy, key.size_bytes};
    rheos__buffer_deinit(&key);
    if (copy == NULL) return rheos__out_of_memory();
  }
  if (count > 1) qsort(slices, count, sizeof *slices, compare_keyed);
  rheos__arena scratch;
  rheos__arena_init(&scratch);
  rheos_status *status = NULL;
  for (size_t i = 0; status == NULL && i < count; i++) {
    if (i > 0 && compare_keyed(&slices[i - 1], &slices[i]) == 0) {
      status = RHEOS_INVALID("Adding duplicate key: %.*s", (int)slices[i].item->name_bytes,
                             slices[i].item->name);
    } else {
      status = write_slice(table, &slices[i], &scratch);
    }
    rheos__arena_reset(&scratch);
  }
  rheos__arena_deinit(&scratch);
  return status;
}

static rheos_status *write_table(rheos__file_writer *file, const rheos__v1_item *items,
                                 size_t count) {
  rheos__table_writer *table = rheos__table_writer_new(file);
  if (table == NULL) return rheos__out_of_memory();
  rheos__arena arena;
  rheos__arena_init(&arena);
  rheos_status *status = write_meta(table, items, count, &arena);
  if (status == NULL) status = write_slices(table, items, count, &arena);
  if (status == NULL) status = rheos__table_writer_finish(table);
  if (status == NULL) status = rheos__file_writer_sync(file);
  rheos__arena_deinit(&arena);
  rheos__table_writer_free(table);
  return status;
}

static rheos_status *write_file(const char *path, const rheos__v1_item *items, size_t count) {
  rheos__file_writer *file;
  RHEOS_TRY(rheos__file_writer_open(path, &file));
  rheos_status *status = write_table(file, items, count);
  if (status == NULL) return rheos__file_writer_close_take(file);
  rheos__file_writer_abandon(file);
  return status;
}

rheos_status *rheos__v1_checkpoint_write(const char *path, rheos__v1_item *items, size_t count) {
  for (size_t i = 0; i < count; i++) RHEOS_TRY(check_item(&items[i]));
  // Slices of one tensor stay in their order: those of equal names are few and mostly in order.
  for (size_t i = 1; i < count; i++) {
    const rheos__v1_item item = items[i];
    size_t at = i;
    for (; at > 0 && compare_items(&items[at - 1], &item) > 0; at--) items[at] = items[at - 1];
    items[at] = item;
  }
  char *temporary = rheos__path_unfinished(path, ".tempstate");
  if (temporary == NULL) return rheos__out_of_memory();
  rheos_status *status = write_file(temporary, items, count);
  if (status == NULL) status = rheos__file_rename(temporary, path);
  if (status == NULL) {
    status = rheos__file_sync_dir_of(path);
  } else {
    rheos_status_free(rheos__file_remove(temporary));
  }
  rheos__free(temporary);
  return status;
}

// ---- Reading

// One slice and the file it is in.
typedef struct part {
  rheos__v1_entry tensor;
  rheos__slice slice;
  size_t file;
} part;

struct rheos__v1_checkpoint {
  rheos__table **files;
  size_t num_files;
  rheos__v1_entry *entries;  // sorted by name
  size_t count;
  part *parts;  // sorted by name, then as in the files
  size_t num_parts, parts_capacity;
  rheos__arena arena;
};

static rheos_status *damaged(const char *path, const char *what) {
  return rheos_status_new(RHEOS_DATA_LOSS, "checkpoint '%s': %s", path, what);
}

static rheos_status *add_part(rheos__v1_checkpoint *c, const rheos__v1_entry *tensor,
                              const Tensorflow__TensorSliceProto *proto, size_t file) {
  rheos_shape unused;
  part p = {.tensor = *tensor, .file = file};
  RHEOS_TRY(rheos__slice_from_proto(proto, &p.slice));
  RHEOS_TRY(rheos__slice_shape(&p.slice, &tensor->shape, &unused));
  if (!RHEOS_RESERVE(c->parts, c->parts_capacity, c->num_parts + 1)) return rheos__out_of_memory();
  c->parts[c->num_parts++] = p;
  return NULL;
}

static rheos_status *add_tensor(rheos__v1_checkpoint *c, const Tensorflow__SavedSliceMeta *meta,
                                size_t file) {
  rheos__v1_entry tensor = {.name = meta->name, .name_bytes = strlen(meta->name)};
  int64_t num_elements;
  size_t size_bytes;
  RHEOS_TRY(rheos__dtype_from_proto(meta->type, &tensor.dtype));
  RHEOS_TRY(rheos__shape_from_proto(meta->shape, &tensor.shape));
  RHEOS_TRY(rheos__shape_size(tensor.dtype, &tensor.shape, &num_elements, &size_bytes));
  for (size_t i = 0; i < meta->n_slice; i++) {
    RHEOS_TRY(add_part(c, &tensor, meta->slice[i], file));
  }
  return NULL;
}

static rheos_status *read_meta(rheos__v1_checkpoint *c, const char *path, size_t file) {
  rheos__buffer bytes = {0};
  bool found;
  Tensorflow__SavedTensorSlices *value = NULL;
  rheos_status *status = rheos__table_get(c->files[file], "", 0, &bytes, &found);
  if (status == NULL && !found) status = damaged(path, "it has no list of tensors");
  if (status == NULL) {
    status =
        RHEOS_PROTO_UNPACK(saved_tensor_slices, bytes.data, bytes.size_bytes, &c->arena, &value);
  }
  rheos__buffer_deinit(&bytes);
  if (status != NULL) return status;
  if (value->meta == NULL) return damaged(path, "it has no list of tensors");
  if (value->meta->versions != NULL && value->meta->versions->min_consumer > FILE_VERSION) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED,
                            "checkpoint '%s' asks for format version %d, this is version %d", path,
                            value->meta->versions->min_consumer, FILE_VERSION);
  }
  for (size_t i = 0; status == NULL && i < value->meta->n_tensor; i++) {
    status = add_tensor(c, value->meta->tensor[i], file);
  }
  if (status == NULL || status == rheos__out_of_memory()) return status;
  rheos_status *named = damaged(path, rheos_status_message(status));
  rheos_status_free(status);
  return named;
}

static int compare_parts(const void *a, const void *b) {
  const part *x = a, *y = b;
  const int order =
      compare_names(x->tensor.name, x->tensor.name_bytes, y->tensor.name, y->tensor.name_bytes);
  return order != 0 ? order : (x->file > y->file) - (x->file < y->file);
}

// Entries from the parts, which become sorted.
static rheos_status *gather(rheos__v1_checkpoint *c) {
  if (c->num_parts > 1) qsort(c->parts, c->num_parts, sizeof *c->parts, compare_parts);
  c->entries = rheos__alloc_array(c->num_parts, sizeof *c->entries);
  if (c->entries == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < c->num_parts; i++) {
    const rheos__v1_entry *tensor = &c->parts[i].tensor;
    rheos__v1_entry *last = c->count > 0 ? &c->entries[c->count - 1] : NULL;
    if (last == NULL ||
        compare_names(last->name, last->name_bytes, tensor->name, tensor->name_bytes) != 0) {
      last = &c->entries[c->count++];
      *last = *tensor;
      last->first_part = i;
    }
    if (last->dtype != tensor->dtype || !rheos_shape_equal(&last->shape, &tensor->shape)) {
      return rheos_status_new(RHEOS_DATA_LOSS,
                              "the shards of a checkpoint disagree about tensor '%s'", last->name);
    }
    last->num_parts++;
  }
  return NULL;
}

static rheos_status *open_files(rheos__v1_checkpoint *c, const char *pattern) {
  char **paths;
  size_t count;
  RHEOS_TRY(rheos__file_match_names(pattern, &paths, &count));
  rheos_status *status = NULL;
  c->files = rheos__alloc_array(count, sizeof *c->files);
  if (c->files == NULL) {
    status = rheos__out_of_memory();
  } else if (count == 0) {
    status = RHEOS_NOTFOUND(
        "Unsuccessful TensorSliceReader constructor: Failed to find any "
        "matching files for %s",
        pattern);
  }
  for (size_t i = 0; status == NULL && i < count; i++) {
    status = rheos__table_open(paths[i], &c->files[i]);
    if (status != NULL) break;
    c->num_files++;
    status = read_meta(c, paths[i], i);
  }
  rheos__file_list_free(paths, count);
  return status;
}

rheos_status *rheos__v1_checkpoint_open(const char *pattern,
                                        rheos__v1_checkpoint **out_checkpoint) {
  *out_checkpoint = NULL;
  rheos__v1_checkpoint *c = rheos__alloc_zeroed(sizeof *c);
  if (c == NULL) return rheos__out_of_memory();
  rheos__arena_init(&c->arena);
  rheos_status *status = open_files(c, pattern);
  if (status == NULL) status = gather(c);
  if (status != NULL) {
    rheos__v1_checkpoint_close(c);
    return status;
  }
  *out_checkpoint = c;
  return NULL;
}

void rheos__v1_checkpoint_close(rheos__v1_checkpoint *c) {
  if (c == NULL) return;
  for (size_t i = 0; i < c->num_files; i++) rheos__table_close(c->files[i]);
  rheos__free(c->files);
  rheos__free(c->entries);
  rheos__free(c->parts);
  rheos__arena_deinit(&c->arena);
  rheos__free(c);
}

size_t rheos__v1_checkpoint_count(const rheos__v1_checkpoint *c) { return c->count; }

const rheos__v1_entry *rheos__v1_checkpoint_at(const rheos__v1_checkpoint *c, size_t index) {
  return &c->entries[index];
}

const rheos__v1_entry *rheos__v1_checkpoint_find(const rheos__v1_checkpoint *c, const char *name,
                                                 size_t name_bytes) {
  size_t low = 0, high = c->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const rheos__v1_entry *entry = &c->entries[middle];
    const int order = compare_names(entry->name, entry->name_bytes, name, name_bytes);
    if (order == 0) return entry;
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return NULL;
}

// The tensor of a slice from the message that holds its elements.
static rheos_status *tensor_of(const part *p, const rheos__buffer *bytes, rheos__arena *scratch,
                               rheos_tensor **out_tensor) {
  Tensorflow__SavedTensorSlices *value;
  rheos_shape shape;
  RHEOS_TRY(rheos__slice_shape(&p->slice, &p->tensor.shape, &shape));
  RHEOS_TRY(
      RHEOS_PROTO_UNPACK(saved_tensor_slices, bytes->data, bytes->size_bytes, scratch, &value));
  Tensorflow__TensorProto *data = value->data != NULL ? value->data->data : NULL;
  if (data == NULL || data->tensor_content.len > 0 ||
      rheos__tensor_proto_length(data, p->tensor.dtype) !=
          (size_t)rheos_shape_num_elements(&shape)) {
    return rheos_status_new(RHEOS_DATA_LOSS, "the elements of tensor '%s' are not all there",
                            p->tensor.name);
  }
  data->dtype = (Tensorflow__DataType)p->tensor.dtype;
  RHEOS_TRY(rheos__shape_to_proto(&shape, scratch, &data->tensor_shape));
  return rheos__tensor_from_proto(data, out_tensor);
}

static rheos_status *read_part(rheos__v1_checkpoint *c, const part *p, rheos_tensor **out_tensor) {
  rheos__buffer key = {0}, bytes = {0};
  rheos__arena scratch;
  rheos__arena_init(&scratch);
  bool found = false;
  rheos__slice_key(&key, p->tensor.name, p->tensor.name_bytes, &p->slice);
  rheos_status *status =
      key.failed ? rheos__out_of_memory()
                 : rheos__table_get(c->files[p->file], key.data, key.size_bytes, &bytes, &found);
  if (status == NULL && !found) {
    status = rheos_status_new(RHEOS_DATA_LOSS, "a slice of tensor '%s' is missing", p->tensor.name);
  }
  if (status == NULL) status = tensor_of(p, &bytes, &scratch, out_tensor);
  rheos__arena_deinit(&scratch);
  rheos__buffer_deinit(&key);
  rheos__buffer_deinit(&bytes);
  return status;
}

static rheos_status *copy_parts(rheos__v1_checkpoint *c, const rheos__v1_entry *entry,
                                const rheos__slice *slice, rheos_tensor *tensor) {
  for (size_t i = 0; i < entry->num_parts; i++) {
    const part *p = &c->parts[entry->first_part + i];
    if (!rheos__slices_meet(&entry->shape, &p->slice, slice)) continue;
    rheos_tensor *piece = NULL;
    RHEOS_TRY(read_part(c, p, &piece));
    rheos_status *status = rheos__slice_copy(&entry->shape, &p->slice, piece, slice, tensor);
    rheos_tensor_unref(piece);
    if (status != NULL) return status;
  }
  return NULL;
}

static rheos_status *check_cover(const rheos__v1_checkpoint *c, const rheos__v1_entry *entry,
                                 const rheos__slice *slice, int64_t num_elements) {
  uint64_t total_bytes = 0;
  for (size_t i = 0; i < c->num_files; i++) total_bytes += rheos__table_file_size(c->files[i]);
  rheos__slice *stored = rheos__alloc_array(entry->num_parts, sizeof *stored);
  if (stored == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < entry->num_parts; i++) stored[i] = c->parts[entry->first_part + i].slice;
  bool covered;
  rheos_status *status =
      rheos__slices_cover(&entry->shape, stored, entry->num_parts, slice, &covered);
  rheos__free(stored);
  if (status != NULL) return status;
  if (!covered) return RHEOS_INVALID("Error copying slice data");
  if ((uint64_t)num_elements / MAX_ELEMENTS_PER_BYTE > total_bytes) {
    return rheos_status_new(RHEOS_DATA_LOSS, "tensor '%s' is larger than its file", entry->name);
  }
  return NULL;
}

rheos_status *rheos__v1_checkpoint_read(rheos__v1_checkpoint *c, const rheos__v1_entry *entry,
                                        const rheos__slice *slice, rheos_tensor **out_tensor) {
  *out_tensor = NULL;
  rheos_shape shape;
  RHEOS_TRY(rheos__slice_shape(slice, &entry->shape, &shape));
  RHEOS_TRY(check_cover(c, entry, slice, rheos_shape_num_elements(&shape)));
  rheos_tensor *tensor;
  RHEOS_TRY(rheos_tensor_new(entry->dtype, shape, &tensor));
  rheos_status *status = copy_parts(c, entry, slice, tensor);
  if (status != NULL) {
    rheos_tensor_unref(tensor);
    return status;
  }
  *out_tensor = tensor;
  return NULL;
}
