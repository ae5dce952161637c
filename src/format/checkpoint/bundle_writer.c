// Writes checkpoints, and merges them. bundle.h says in which order files appear and why.
#include "format/checkpoint/bundle.h"

#include <stdlib.h>

#include "base/crc32c.h"
#include "codec/table.h"
#include "format/checkpoint/bundle_files.h"
#include "format/message/tensor_proto.h"
#include "format/message/variant_proto.h"

// ---- The index

static int compare_entries(const void *left, const void *right) {
  const rheos__index_entry *a = left, *b = right;
  int order =
      memcmp(a->name, b->name, a->name_bytes < b->name_bytes ? a->name_bytes : b->name_bytes);
  return order != 0 ? order : (a->name_bytes > b->name_bytes) - (a->name_bytes < b->name_bytes);
}

static rheos_status *add_header(rheos__table_writer *table, int32_t num_shards) {
  Tensorflow__BundleHeaderProto header = TENSORFLOW__BUNDLE_HEADER_PROTO__INIT;
  Tensorflow__VersionDef version = TENSORFLOW__VERSION_DEF__INIT;
  version.producer = RHEOS__BUNDLE_VERSION;
  header.num_shards = num_shards;
  header.version = &version;
  rheos__buffer value = {0};
  rheos__proto_pack(&header.base, &value);
  rheos_status *status = value.failed
                             ? rheos__out_of_memory()
                             : rheos__table_writer_add(table, "", 0, value.data, value.size_bytes);
  rheos__buffer_deinit(&value);
  return status;
}

static rheos_status *write_entries(rheos__table_writer *table, int32_t num_shards,
                                   const rheos__index_entry *entries, size_t count) {
  RHEOS_TRY(add_header(table, num_shards));
  for (size_t i = 0; i < count; i++) {
    const rheos__index_entry *entry = &entries[i];
    if (i > 0 && compare_entries(entry - 1, entry) == 0) {
      return RHEOS_INVALID("Adding duplicate key: %.*s", (int)entry->name_bytes, entry->name);
    }
    RHEOS_TRY(rheos__table_writer_add(table, entry->name, entry->name_bytes, entry->value,
                                      entry->value_bytes));
  }
  return rheos__table_writer_finish(table);
}

static rheos_status *write_index_file(rheos__file_writer *file, int32_t num_shards,
                                      const rheos__index_entry *entries, size_t count) {
  rheos__table_writer *table = rheos__table_writer_new(file);
  if (table == NULL) return rheos__out_of_memory();
  rheos_status *status = write_entries(table, num_shards, entries, count);
  rheos__table_writer_free(table);
  return status != NULL ? status : rheos__file_writer_sync(file);
}

// Closes the file, or gives it up if something failed already.
static rheos_status *close_file(rheos__file_writer *file, rheos_status *status) {
  if (status == NULL) return rheos__file_writer_close_take(file);
  rheos__file_writer_abandon(file);
  return status;
}

rheos_status *rheos__bundle_write_index(const char *prefix, int32_t num_shards,
                                        rheos__index_entry *entries, size_t count) {
  if (count > 0) qsort(entries, count, sizeof *entries, compare_entries);
  char *path = rheos__bundle_index_path(prefix, ".tmp");
  if (path == NULL) return rheos__out_of_memory();
  rheos__file_writer *file;
  rheos_status *status = rheos__file_writer_open(path, &file);
  if (status == NULL) {
    status = close_file(file, write_index_file(file, num_shards, entries, count));
  }
  rheos__free(path);
  return status;
}

// ---- Putting a save in place

// Renames `from` to `to` and frees both; NULL strings mean that memory was short.
static rheos_status *rename_take(char *from, char *to) {
  rheos_status *status =
      from != NULL && to != NULL ? rheos__file_rename(from, to) : rheos__out_of_memory();
  rheos__free(from);
  rheos__free(to);
  return status;
}

static rheos_status *place_shard(const char *prefix, int32_t shard, int32_t num_shards) {
  char *from = rheos__bundle_data_path(prefix, shard, num_shards, ".new");
  if (from == NULL) return rheos__out_of_memory();
  bool exists;
  rheos_status *status = rheos__file_exists(from, &exists);
  if (status != NULL || !exists) {
    rheos__free(from);
    return status;
  }
  return rename_take(from, rheos__bundle_data_path(prefix, shard, num_shards, ""));
}

static rheos_status *place_files(const char *prefix, int32_t num_shards) {
  for (int32_t i = 0; i < num_shards; i++) RHEOS_TRY(place_shard(prefix, i, num_shards));
  // The data must not come after the index that names it, even if power is cut.
  RHEOS_TRY(rheos__file_sync_dir_of(prefix));
  RHEOS_TRY(
      rename_take(rheos__bundle_index_path(prefix, ".new"), rheos__bundle_index_path(prefix, "")));
  return rheos__file_sync_dir_of(prefix);
}

rheos_status *rheos__bundle_commit(const char *prefix, int32_t num_shards, bool *out_committed) {
  *out_committed = false;
  RHEOS_TRY(rename_take(rheos__bundle_index_path(prefix, ".tmp"),
                        rheos__bundle_index_path(prefix, ".new")));
  *out_committed = true;
  RHEOS_TRY(rheos__file_sync_dir_of(prefix));
  return place_files(prefix, num_shards);
}

rheos_status *rheos__bundle_finish_interrupted(const char *prefix) {
  char *path = rheos__bundle_index_path(prefix, ".new");
  if (path == NULL) return rheos__out_of_memory();
  rheos__bundle *bundle;
  rheos_status *status = rheos__bundle_open_index(prefix, path, true, &bundle);
  int32_t num_shards = status == NULL ? bundle->num_shards : 0;
  if (status == NULL) {
    rheos__bundle_close(bundle);
    status = place_files(prefix, num_shards);
  } else if (rheos_status_code(status) == RHEOS_NOT_FOUND) {
    rheos_status_free(status);
    status = NULL;
  } else if (rheos_status_code(status) == RHEOS_DATA_LOSS) {
    // Damaged since: nothing can be made of it.
    rheos_status_free(status);
    status = rheos__file_remove(path);
  }
  rheos__free(path);
  return status;
}

// ---- Writing tensors

// A tensor saved in parts: its own entry lists them, and is written at the end.
typedef struct partial {
  const char *name;
  size_t name_bytes;
  rheos_dtype dtype;
  rheos_shape shape;
  Tensorflow__TensorSliceProto **slices;
  size_t num_slices, capacity;
} partial;

struct rheos__bundle_writer {
  char *prefix;
  char *data_path;  // ".new"
  rheos__file_writer *data;
  int hold;           // of the data file, so that no other save takes it for a leftover
  rheos__step *step;  // whose threads write large tensors; may be NULL
  rheos__index_entry *entries;
  size_t count, capacity;
  partial *partials;
  size_t num_partials, partials_capacity;
  rheos__arena arena;  // names and values of entries
};

static void free_writer(rheos__bundle_writer *writer) {
  rheos__file_let_go(writer->hold);
  rheos__free(writer->prefix);
  rheos__free(writer->data_path);
  rheos__free(writer->entries);
  for (size_t i = 0; i < writer->num_partials; i++) rheos__free(writer->partials[i].slices);
  rheos__free(writer->partials);
  rheos__arena_deinit(&writer->arena);
  rheos__free(writer);
}

static rheos_status *make_folder_of(const char *prefix) {
  char *folder = rheos__path_folder(prefix);
  if (folder == NULL) return rheos__out_of_memory();
  rheos_status *status = rheos__file_make_dirs(folder);
  rheos__free(folder);
  return status;
}

// Twice where another save took the file away before it was held. Without locks it goes on unheld.
static rheos_status *open_data(rheos__bundle_writer *writer) {
  RHEOS_TRY(rheos__file_writer_open(writer->data_path, &writer->data));
  writer->hold = rheos__file_hold(writer->data_path);
  if (writer->hold >= 0) return NULL;
  rheos__file_writer_abandon(writer->data);
  RHEOS_TRY(rheos__file_writer_open(writer->data_path, &writer->data));
  writer->hold = rheos__file_hold(writer->data_path);
  return NULL;
}

rheos_status *rheos__bundle_writer_open(const char *prefix, rheos__bundle_writer **out_writer) {
  *out_writer = NULL;
  RHEOS_TRY(make_folder_of(prefix));
  RHEOS_TRY(rheos__bundle_finish_interrupted(prefix));
  RHEOS_TRY(rheos__checkpoint_sweep(prefix));
  rheos__bundle_writer *writer = rheos__alloc_zeroed(sizeof *writer);
  if (writer == NULL) return rheos__out_of_memory();
  writer->hold = -1;
  writer->prefix = rheos__strdup(prefix);
  writer->data_path = rheos__bundle_data_path(prefix, 0, 1, ".new");
  rheos_status *status = writer->prefix != NULL && writer->data_path != NULL
                             ? open_data(writer)
                             : rheos__out_of_memory();
  if (status != NULL) {
    free_writer(writer);
    return status;
  }
  *out_writer = writer;
  return NULL;
}

void rheos__bundle_writer_use(rheos__bundle_writer *writer, rheos__step *step) {
  writer->step = step;
}

void rheos__bundle_writer_abandon(rheos__bundle_writer *writer) {
  if (writer == NULL) return;
  rheos__file_writer_abandon(writer->data);
  rheos_status_free(rheos__file_remove(writer->data_path));
  free_writer(writer);
}

static rheos_status *write_strings(rheos__file_writer *file, const rheos_tensor *tensor,
                                   uint32_t *out_crc) {
  const rheos_string *strings = tensor->data;
  rheos__buffer lengths = {0};
  uint32_t crc = 0;
  for (int64_t i = 0; i < tensor->num_elements; i++) {
    uint64_t length = strings[i].size_bytes;
    rheos__buffer_put_varint(&lengths, length);
    crc = rheos__crc32c(crc, &length, length <= UINT32_MAX ? 4 : 8);
  }
  uint32_t masked = rheos__crc32c_mask(crc);
  rheos__buffer_put_32(&lengths, masked);
  crc = rheos__crc32c(crc, &masked, sizeof masked);
  rheos_status *status = lengths.failed
                             ? rheos__out_of_memory()
                             : rheos__file_writer_write(file, lengths.data, lengths.size_bytes);
  rheos__buffer_deinit(&lengths);
  for (int64_t i = 0; status == NULL && i < tensor->num_elements; i++) {
    crc = rheos__crc32c(crc, strings[i].data, strings[i].size_bytes);
    status = rheos__file_writer_write(file, strings[i].data, strings[i].size_bytes);
  }
  *out_crc = crc;
  return status;
}

// Of each variant the size of its message as a varint, the message, and the masked checksum so far:
// of all that is before it, the sizes as numbers of 64 bits.
static rheos_status *write_variants(rheos__file_writer *file, const rheos_tensor *tensor,
                                    uint32_t *out_crc) {
  rheos__buffer message = {0}, size = {0};
  rheos_status *status = NULL;
  *out_crc = 0;
  for (int64_t i = 0; status == NULL && i < tensor->num_elements; i++) {
    size.size_bytes = message.size_bytes = 0;
    status = rheos__variant_message_put(&message, tensor, i);
    const uint64_t size_bytes = message.size_bytes;
    *out_crc = rheos__crc32c(*out_crc, &size_bytes, sizeof size_bytes);
    *out_crc = rheos__crc32c(*out_crc, message.data, message.size_bytes);
    rheos__buffer_put_varint(&size, size_bytes);
    const uint32_t masked = rheos__crc32c_mask(*out_crc);
    rheos__buffer_put_32(&message, masked);
    *out_crc = rheos__crc32c(*out_crc, &masked, sizeof masked);
    if (status == NULL && (size.failed || message.failed)) status = rheos__out_of_memory();
    if (status == NULL) status = rheos__file_writer_write(file, size.data, size.size_bytes);
    if (status == NULL) status = rheos__file_writer_write(file, message.data, message.size_bytes);
  }
  rheos__buffer_deinit(&message);
  rheos__buffer_deinit(&size);
  return status;
}

// Large tensors go to the disk while the next ones are written.
enum { LARGE_BYTES = 1 << 20 };

static rheos_status *write_numbers(const rheos__bundle_writer *writer, const rheos_tensor *tensor,
                                   uint32_t *out_crc) {
  if (tensor->size_bytes < LARGE_BYTES) {
    *out_crc = rheos__crc32c(0, tensor->data, tensor->size_bytes);
    return rheos__file_writer_write(writer->data, tensor->data, tensor->size_bytes);
  }
  rheos__bundle_numbers numbers = {
      .to = writer->data, .bytes = tensor->data, .size_bytes = tensor->size_bytes};
  RHEOS_TRY(rheos__file_writer_reserve(writer->data, numbers.size_bytes, &numbers.offset));
  RHEOS_TRY(rheos__bundle_write_numbers(&numbers, 1, writer->step));
  rheos__file_writer_start_sync(writer->data, numbers.offset, numbers.size_bytes);
  *out_crc = numbers.crc;
  return NULL;
}

static rheos_status *add_entry(rheos__bundle_writer *writer, const char *name, size_t name_bytes,
                               const Tensorflow__BundleEntryProto *proto) {
  size_t value_bytes = protobuf_c_message_get_packed_size(&proto->base);
  char *value = rheos__arena_alloc(&writer->arena, value_bytes);
  char *name_copy = rheos__arena_copy(&writer->arena, name, name_bytes);
  if (value == NULL || name_copy == NULL ||
      !RHEOS_RESERVE(writer->entries, writer->capacity, writer->count + 1)) {
    return rheos__out_of_memory();
  }
  protobuf_c_message_pack(&proto->base, (uint8_t *)value);
  writer->entries[writer->count++] =
      (rheos__index_entry){name_copy, name_bytes, value, value_bytes};
  return NULL;
}

// The index entry for bytes [offset, now) of the data file.
static rheos_status *add_data_entry(rheos__bundle_writer *writer, const char *name,
                                    size_t name_bytes, const rheos_tensor *tensor, uint64_t offset,
                                    uint32_t crc) {
  Tensorflow__BundleEntryProto proto = TENSORFLOW__BUNDLE_ENTRY_PROTO__INIT;
  proto.dtype = (Tensorflow__DataType)tensor->dtype;
  RHEOS_TRY(rheos__shape_to_proto(&tensor->shape, &writer->arena, &proto.shape));
  proto.offset = (int64_t)offset;
  proto.size = (int64_t)(rheos__file_writer_position(writer->data) - offset);
  proto.crc32c = rheos__crc32c_mask(crc);
  return add_entry(writer, name, name_bytes, &proto);
}

rheos_status *rheos__bundle_writer_add(rheos__bundle_writer *writer, const char *name,
                                       size_t name_bytes, const rheos_tensor *tensor) {
  if (name_bytes == 0) return RHEOS_INVALID("a tensor of a checkpoint needs a name");
  if (tensor->dtype == RHEOS_RESOURCE) {
    return RHEOS_INVALID("tensor '%.*s' of dtype %s cannot be saved", (int)name_bytes, name,
                         rheos_dtype_name(tensor->dtype));
  }
  uint64_t offset = rheos__file_writer_position(writer->data);
  uint32_t crc = 0;
  rheos_status *status = tensor->dtype == RHEOS_STRING ? write_strings(writer->data, tensor, &crc)
                         : tensor->dtype == RHEOS_VARIANT
                             ? write_variants(writer->data, tensor, &crc)
                             : write_numbers(writer, tensor, &crc);
  if (status != NULL) return status;
  return add_data_entry(writer, name, name_bytes, tensor, offset, crc);
}

// ---- Tensors in parts

static rheos_status *partial_of(rheos__bundle_writer *writer, const char *name, size_t name_bytes,
                                const rheos_shape *shape, rheos_dtype dtype,
                                partial **out_partial) {
  *out_partial = NULL;
  for (size_t i = 0; i < writer->num_partials; i++) {
    partial *p = &writer->partials[i];
    if (p->name_bytes != name_bytes || memcmp(p->name, name, name_bytes) != 0) continue;
    if (p->dtype != dtype || !rheos_shape_equal(&p->shape, shape)) {
      return RHEOS_INVALID("slices of tensor '%.*s' differ in the shape or dtype of the whole",
                           (int)name_bytes, name);
    }
    *out_partial = p;
    return NULL;
  }
  char *copy = rheos__arena_copy(&writer->arena, name, name_bytes);
  if (copy == NULL ||
      !RHEOS_RESERVE(writer->partials, writer->partials_capacity, writer->num_partials + 1)) {
    return rheos__out_of_memory();
  }
  *out_partial = &writer->partials[writer->num_partials++];
  **out_partial =
      (partial){.name = copy, .name_bytes = name_bytes, .dtype = dtype, .shape = *shape};
  return NULL;
}

rheos_status *rheos__bundle_writer_add_slice(rheos__bundle_writer *writer, const char *name,
                                             size_t name_bytes, const rheos_shape *shape,
                                             const rheos__slice *slice,
                                             const rheos_tensor *tensor) {
  // What is the whole tensor after all is saved as such.
  if (name_bytes == 0 || rheos_shape_equal(shape, &tensor->shape)) {
    return rheos__bundle_writer_add(writer, name, name_bytes, tensor);
  }
  partial *p;
  RHEOS_TRY(partial_of(writer, name, name_bytes, shape, tensor->dtype, &p));
  if (!RHEOS_RESERVE(p->slices, p->capacity, p->num_slices + 1)) return rheos__out_of_memory();
  RHEOS_TRY(rheos__slice_to_proto(slice, &writer->arena, &p->slices[p->num_slices]));
  p->num_slices++;
  rheos__buffer key = {0};
  rheos__slice_key(&key, name, name_bytes, slice);
  rheos_status *status = key.failed
                             ? rheos__out_of_memory()
                             : rheos__bundle_writer_add(writer, key.data, key.size_bytes, tensor);
  rheos__buffer_deinit(&key);
  return status;
}

static rheos_status *add_partials(rheos__bundle_writer *writer) {
  for (size_t i = 0; i < writer->num_partials; i++) {
    const partial *p = &writer->partials[i];
    Tensorflow__BundleEntryProto proto = TENSORFLOW__BUNDLE_ENTRY_PROTO__INIT;
    proto.dtype = (Tensorflow__DataType)p->dtype;
    RHEOS_TRY(rheos__shape_to_proto(&p->shape, &writer->arena, &proto.shape));
    proto.n_slices = p->num_slices;
    proto.slices = p->slices;
    RHEOS_TRY(add_entry(writer, p->name, p->name_bytes, &proto));
  }
  return NULL;
}

static void remove_index_tmp(const char *prefix) {
  char *path = rheos__bundle_index_path(prefix, ".tmp");
  if (path != NULL) rheos_status_free(rheos__file_remove(path));
  rheos__free(path);
}

rheos_status *rheos__bundle_writer_finish_take(rheos__bundle_writer *writer) {
  bool committed = false;
  rheos_status *status = close_file(writer->data, rheos__file_writer_sync(writer->data));
  writer->data = NULL;
  if (status == NULL) status = add_partials(writer);
  if (status == NULL) {
    status = rheos__bundle_write_index(writer->prefix, 1, writer->entries, writer->count);
  }
  if (status == NULL) status = rheos__bundle_commit(writer->prefix, 1, &committed);
  if (!committed) {
    remove_index_tmp(writer->prefix);
    rheos_status_free(rheos__file_remove(writer->data_path));
  }
  free_writer(writer);
  return status;
}

// ---- Merging

typedef struct merge {
  const char *const *prefixes;
  size_t num_prefixes;
  const char *destination;
  rheos__bundle **bundles;
  int32_t num_shards;
  rheos__index_entry *entries;
  size_t count, capacity;
  size_t *partials;  // entries of tensors in parts
  size_t num_partials, partials_capacity;
  rheos__arena arena;
} merge;

static rheos_status *open_sources(merge *m) {
  for (size_t i = 0; i < m->num_prefixes; i++) {
    RHEOS_TRY(rheos__bundle_finish_interrupted(m->prefixes[i]));
    RHEOS_TRY(rheos__bundle_open(m->prefixes[i], &m->bundles[i]));
    if (m->bundles[i]->num_shards > RHEOS__MAX_SHARDS - m->num_shards) {
      return RHEOS_INVALID("merging '%s' makes more than %d shards", m->prefixes[i],
                           RHEOS__MAX_SHARDS);
    }
    m->num_shards += m->bundles[i]->num_shards;
  }
  return NULL;
}

static rheos_status *pack_entry(merge *m, const Tensorflow__BundleEntryProto *proto,
                                rheos__index_entry *entry) {
  entry->value_bytes = protobuf_c_message_get_packed_size(&proto->base);
  char *value = rheos__arena_alloc(&m->arena, entry->value_bytes);
  if (value == NULL) return rheos__out_of_memory();
  protobuf_c_message_pack(&proto->base, (uint8_t *)value);
  entry->value = value;
  return NULL;
}

// The entry that lists slices of the same tensor, found in a source before; NULL if there is none.
static rheos__index_entry *find_partial(const merge *m, const rheos__bundle_entry *entry) {
  for (size_t i = 0; i < m->num_partials; i++) {
    rheos__index_entry *other = &m->entries[m->partials[i]];
    if (other->name_bytes == entry->name_bytes &&
        memcmp(other->name, entry->name, entry->name_bytes) == 0) {
      return other;
    }
  }
  return NULL;
}

static rheos_status *join_slices(merge *m, const Tensorflow__BundleEntryProto *proto,
                                 rheos__index_entry *entry) {
  Tensorflow__BundleEntryProto *joined;
  rheos_shape a, b;
  RHEOS_TRY(
      RHEOS_PROTO_UNPACK(bundle_entry_proto, entry->value, entry->value_bytes, &m->arena, &joined));
  RHEOS_TRY(rheos__shape_from_proto(joined->shape, &a));
  RHEOS_TRY(rheos__shape_from_proto(proto->shape, &b));
  if (joined->dtype != proto->dtype || !rheos_shape_equal(&a, &b)) {
    return RHEOS_INVALID("slices of tensor '%.*s' differ in the shape or dtype of the whole",
                         (int)entry->name_bytes, entry->name);
  }
  Tensorflow__TensorSliceProto **slices =
      rheos__arena_alloc(&m->arena, (joined->n_slices + proto->n_slices) * sizeof *slices);
  if (slices == NULL) return rheos__out_of_memory();
  memcpy(slices, joined->slices, joined->n_slices * sizeof *slices);
  memcpy(slices + joined->n_slices, proto->slices, proto->n_slices * sizeof *slices);
  joined->slices = slices;
  joined->n_slices += proto->n_slices;
  return pack_entry(m, joined, entry);
}

// Copies an entry with its shard moved up by `first_shard`.
static rheos_status *collect_entry(merge *m, const rheos__bundle *bundle, size_t index,
                                   int32_t first_shard) {
  Tensorflow__BundleEntryProto *proto;
  const rheos__bundle_entry *entry = &bundle->entries[index];
  RHEOS_TRY(RHEOS_PROTO_UNPACK(bundle_entry_proto, bundle->values[index].data,
                               bundle->values[index].len, &m->arena, &proto));
  if (proto->n_slices > 0) {
    rheos__index_entry *other = find_partial(m, entry);
    if (other != NULL) return join_slices(m, proto, other);
    if (!RHEOS_RESERVE(m->partials, m->partials_capacity, m->num_partials + 1)) {
      return rheos__out_of_memory();
    }
    m->partials[m->num_partials++] = m->count;
  } else {
    proto->shard_id += first_shard;
  }
  if (!RHEOS_RESERVE(m->entries, m->capacity, m->count + 1)) return rheos__out_of_memory();
  rheos__index_entry *new = &m->entries[m->count++];
  *new = (rheos__index_entry){.name = entry->name, .name_bytes = entry->name_bytes};
  return pack_entry(m, proto, new);
}

static rheos_status *move_data(const merge *m) {
  int32_t to = 0;
  for (size_t i = 0; i < m->num_prefixes; i++) {
    for (int32_t from = 0; from < m->bundles[i]->num_shards; from++, to++) {
      RHEOS_TRY(
          rename_take(rheos__bundle_data_path(m->prefixes[i], from, m->bundles[i]->num_shards, ""),
                      rheos__bundle_data_path(m->destination, to, m->num_shards, ".new")));
    }
  }
  return NULL;
}

static rheos_status *remove_source_indexes(const merge *m) {
  for (size_t i = 0; i < m->num_prefixes; i++) {
    if (strcmp(m->prefixes[i], m->destination) == 0) continue;
    char *path = rheos__bundle_index_path(m->prefixes[i], "");
    if (path == NULL) return rheos__out_of_memory();
    rheos_status *status = rheos__file_remove(path);
    rheos__free(path);
    if (status != NULL) return status;
  }
  return NULL;
}

static rheos_status *run_merge(merge *m) {
  RHEOS_TRY(make_folder_of(m->destination));
  RHEOS_TRY(rheos__bundle_finish_interrupted(m->destination));
  RHEOS_TRY(rheos__checkpoint_sweep(m->destination));
  RHEOS_TRY(open_sources(m));
  int32_t first_shard = 0;
  for (size_t i = 0; i < m->num_prefixes; i++) {
    for (size_t k = 0; k < m->bundles[i]->count; k++) {
      RHEOS_TRY(collect_entry(m, m->bundles[i], k, first_shard));
    }
    first_shard += m->bundles[i]->num_shards;
  }
  // The index first: it finds names that come twice while nothing has moved yet.
  RHEOS_TRY(rheos__bundle_write_index(m->destination, m->num_shards, m->entries, m->count));
  RHEOS_TRY(move_data(m));
  bool committed;
  RHEOS_TRY(rheos__bundle_commit(m->destination, m->num_shards, &committed));
  return remove_source_indexes(m);
}

rheos_status *rheos__bundle_merge(const char *const *prefixes, size_t count,
                                  const char *destination) {
  if (count == 0) return RHEOS_INVALID("no checkpoints to merge");
  merge m = {.prefixes = prefixes, .num_prefixes = count, .destination = destination};
  m.bundles = rheos__alloc_array(count, sizeof *m.bundles);
  if (m.bundles == NULL) return rheos__out_of_memory();
  rheos_status *status = run_merge(&m);
  if (status != NULL) remove_index_tmp(destination);
  for (size_t i = 0; i < count; i++) rheos__bundle_close(m.bundles[i]);
  rheos__free(m.bundles);
  rheos__free(m.entries);
  rheos__free(m.partials);
  rheos__arena_deinit(&m.arena);
  return status;
}
