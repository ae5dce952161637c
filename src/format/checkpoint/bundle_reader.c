// Reads checkpoints. The whole index is read, checked and sorted when a bundle is opened; data only
// when a tensor is asked for. Every size is held against the file it lies in before memory is
// asked for.
#include "format/checkpoint/bundle.h"

#include "base/crc32c.h"
#include "codec/table.h"
#include "format/checkpoint/bundle_files.h"
#include "format/message/tensor_proto.h"
#include "format/message/variant_proto.h"

static const size_t MAX_INDEX_BYTES = (size_t)1 << 30;
// Keys share prefixes, so a small hostile file could stand for endless names.
enum { MAX_NAME_EXPANSION = 256 };

// "" ends the file's own name, other suffixes that of one that is not finished.
static char *with_suffix_take(char *path, const char *suffix) {
  if (path == NULL || suffix[0] == '\0') return path;
  char *unfinished = rheos__path_unfinished(path, suffix);
  rheos__free(path);
  return unfinished;
}

char *rheos__bundle_index_path(const char *prefix, const char *suffix) {
  return with_suffix_take(rheos__text_format("%s.index", prefix), suffix);
}

char *rheos__bundle_data_path(const char *prefix, int32_t shard, int32_t num_shards,
                              const char *suffix) {
  return with_suffix_take(rheos__text_format("%s.data-%05d-of-%05d", prefix, shard, num_shards),
                          suffix);
}

// ---- The index

static rheos_status *damaged(const rheos__bundle *bundle, const char *what) {
  return rheos_status_new(RHEOS_DATA_LOSS, "the index of checkpoint '%s': %s", bundle->prefix,
                          what);
}

static rheos_status *read_header(rheos__bundle *bundle, const char *value, size_t value_bytes) {
  Tensorflow__BundleHeaderProto *header;
  RHEOS_TRY(RHEOS_PROTO_UNPACK(bundle_header_proto, value, value_bytes, &bundle->arena, &header));
  if (header->num_shards < 1 || header->num_shards > RHEOS__MAX_SHARDS) {
    return damaged(bundle, "a bad number of shards");
  }
  if (header->endianness != TENSORFLOW__BUNDLE_HEADER_PROTO__ENDIANNESS__LITTLE) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED,
                            "checkpoint '%s' was written on a big-endian machine", bundle->prefix);
  }
  if (header->version != NULL && header->version->min_consumer > RHEOS__BUNDLE_VERSION) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED,
                            "checkpoint '%s' asks for format version %d, this is version %d",
                            bundle->prefix, header->version->min_consumer, RHEOS__BUNDLE_VERSION);
  }
  bundle->num_shards = header->num_shards;
  bundle->shards = rheos__alloc_array((size_t)header->num_shards, sizeof *bundle->shards);
  return bundle->shards != NULL ? NULL : rheos__out_of_memory();
}

// Whether each element has a size of its own.
static bool is_listed(rheos_dtype dtype) { return dtype == RHEOS_STRING || dtype == RHEOS_VARIANT; }

static rheos_status *entry_from_proto(const rheos__bundle *bundle,
                                      const Tensorflow__BundleEntryProto *proto,
                                      rheos__bundle_entry *entry) {
  RHEOS_TRY(rheos__dtype_from_proto(proto->dtype, &entry->dtype));
  RHEOS_TRY(rheos__shape_from_proto(proto->shape, &entry->shape));
  int64_t num_elements;
  size_t size_bytes;
  RHEOS_TRY(rheos__shape_size(entry->dtype, &entry->shape, &num_elements, &size_bytes));
  if (proto->shard_id < 0 || proto->shard_id >= bundle->num_shards) {
    return rheos_status_new(RHEOS_DATA_LOSS, "it lies in shard %d of %d", proto->shard_id,
                            bundle->num_shards);
  }
  if (proto->offset < 0 || proto->size < 0) {
    return rheos_status_new(RHEOS_DATA_LOSS, "its offset is %lld and its size %lld",
                            (long long)proto->offset, (long long)proto->size);
  }
  bool is_plain =
      !is_listed(entry->dtype) && entry->dtype != RHEOS_RESOURCE && proto->n_slices == 0;
  if (is_plain && (uint64_t)proto->size != size_bytes) {
    rheos__shape_text text;
    return rheos_status_new(RHEOS_DATA_LOSS, "%s %s has %lld bytes", rheos_dtype_name(entry->dtype),
                            rheos__shape_text_of(&entry->shape, &text), (long long)proto->size);
  }
  entry->shard = proto->shard_id;
  entry->offset = (uint64_t)proto->offset;
  entry->size_bytes = (uint64_t)proto->size;
  entry->crc = rheos__crc32c_unmask(proto->crc32c);
  entry->num_slices = proto->n_slices > INT32_MAX ? INT32_MAX : (int32_t)proto->n_slices;
  return NULL;
}

static rheos_status *parse_entry(rheos__bundle *bundle, const char *value, size_t value_bytes,
                                 rheos__bundle_entry *entry) {
  rheos__arena scratch;
  rheos__arena_init(&scratch);
  Tensorflow__BundleEntryProto *proto;
  rheos_status *status =
      RHEOS_PROTO_UNPACK(bundle_entry_proto, value, value_bytes, &scratch, &proto);
  if (status == NULL) status = entry_from_proto(bundle, proto, entry);
  rheos__arena_deinit(&scratch);
  if (status == NULL || status == rheos__out_of_memory()) return status;
  rheos_status *named =
      rheos_status_new(RHEOS_DATA_LOSS, "the index of checkpoint '%s', tensor '%s': %s",
                       bundle->prefix, entry->name, rheos_status_message(status));
  rheos_status_free(status);
  return named;
}

static rheos_status *visit_entry(void *argument, const char *key, size_t key_bytes,
                                 const char *value, size_t value_bytes) {
  rheos__bundle *bundle = argument;
  if (bundle->num_shards == 0) {
    if (key_bytes != 0) return damaged(bundle, "it has no header");
    return read_header(bundle, value, value_bytes);
  }
  bundle->names_bytes += key_bytes;
  if (bundle->names_bytes > bundle->max_names_bytes) return damaged(bundle, "absurdly long names");
  char *name = rheos__arena_alloc(&bundle->arena, key_bytes + 1);
  char *copy = rheos__arena_copy(&bundle->arena, value, value_bytes);
  if (name == NULL || copy == NULL ||
      !RHEOS_RESERVE(bundle->entries, bundle->capacity, bundle->count + 1) ||
      !RHEOS_RESERVE(bundle->values, bundle->values_capacity, bundle->count + 1)) {
    return rheos__out_of_memory();
  }
  memcpy(name, key, key_bytes);
  name[key_bytes] = '\0';
  rheos__bundle_entry *entry = &bundle->entries[bundle->count];
  *entry = (rheos__bundle_entry){.name = name, .name_bytes = key_bytes};
  RHEOS_TRY(parse_entry(bundle, value, value_bytes, entry));
  bundle->values[bundle->count++] = (ProtobufCBinaryData){value_bytes, (uint8_t *)copy};
  return NULL;
}

rheos_status *rheos__bundle_open_index(const char *prefix, const char *index_path, bool is_pending,
                                       rheos__bundle **out_bundle) {
  *out_bundle = NULL;
  char *bytes;
  size_t size_bytes;
  RHEOS_TRY(rheos__file_read_all(index_path, MAX_INDEX_BYTES, &bytes, &size_bytes));
  rheos__bundle *bundle = rheos__alloc_zeroed(sizeof *bundle);
  rheos_status *status = NULL;
  if (bundle == NULL || (bundle->prefix = rheos__strdup(prefix)) == NULL) {
    status = rheos__out_of_memory();
  } else {
    bundle->is_pending = is_pending;
    bundle->max_names_bytes = size_bytes * MAX_NAME_EXPANSION;
    status = rheos__table_each(index_path, bytes, size_bytes, visit_entry, bundle);
  }
  if (status == NULL && bundle->num_shards == 0) status = damaged(bundle, "it has no header");
  rheos__free(bytes);
  if (status != NULL) {
    rheos__bundle_close(bundle);
    return status;
  }
  *out_bundle = bundle;
  return NULL;
}

rheos_status *rheos__bundle_open(const char *prefix, rheos__bundle **out_bundle) {
  *out_bundle = NULL;
  char *pending = rheos__bundle_index_path(prefix, ".new");
  char *index = rheos__bundle_index_path(prefix, "");
  rheos_status *status = NULL;
  if (pending == NULL || index == NULL) {
    status = rheos__out_of_memory();
  } else {
    status = rheos__bundle_open_index(prefix, pending, true, out_bundle);
    // The usual case; or another program just put it in place.
    if (rheos_status_code(status) == RHEOS_NOT_FOUND) {
      rheos_status_free(status);
      status = rheos__bundle_open_index(prefix, index, false, out_bundle);
    }
  }
  if (rheos_status_code(status) == RHEOS_NOT_FOUND) {
    rheos_status_free(status);
    status = RHEOS_NOTFOUND(
        "Unsuccessful TensorSliceReader constructor: Failed to find any "
        "matching files for %s",
        prefix);
  }
  rheos__free(pending);
  rheos__free(index);
  return status;
}

void rheos__bundle_close(rheos__bundle *bundle) {
  if (bundle == NULL) return;
  for (int32_t i = 0; bundle->shards != NULL && i < bundle->num_shards; i++) {
    rheos__file_close(bundle->shards[i]);
  }
  rheos__free(bundle->shards);
  rheos__free(bundle->entries);
  rheos__free(bundle->values);
  rheos__free(bundle->prefix);
  rheos__arena_deinit(&bundle->arena);
  rheos__free(bundle);
}

size_t rheos__bundle_count(const rheos__bundle *bundle) { return bundle->count; }

const rheos__bundle_entry *rheos__bundle_at(const rheos__bundle *bundle, size_t index) {
  return &bundle->entries[index];
}

static int compare_names(const char *a, size_t a_bytes, const char *b, size_t b_bytes) {
  const size_t common_bytes = a_bytes < b_bytes ? a_bytes : b_bytes;
  int order = common_bytes > 0 ? memcmp(a, b, common_bytes) : 0;
  return order != 0 ? order : (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

const rheos__bundle_entry *rheos__bundle_find(const rheos__bundle *bundle, const char *name,
                                              size_t name_bytes) {
  size_t low = 0, high = bundle->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const rheos__bundle_entry *entry = &bundle->entries[middle];
    int order = compare_names(entry->name, entry->name_bytes, name, name_bytes);
    if (order == 0) return entry;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

// ---- The data

static rheos_status *open_shard(rheos__bundle *bundle, int32_t shard, rheos__file **out_file) {
  *out_file = bundle->shards[shard];
  if (*out_file != NULL) return NULL;
  rheos_status *status = NULL;
  for (int pending = bundle->is_pending; pending >= 0; pending--) {
    char *path =
        rheos__bundle_data_path(bundle->prefix, shard, bundle->num_shards, pending ? ".new" : "");
    if (path == NULL) return rheos__out_of_memory();
    status = rheos__file_open(path, &bundle->shards[shard]);
    rheos__free(path);
    if (!pending || rheos_status_code(status) != RHEOS_NOT_FOUND) break;
    rheos_status_free(status);
  }
  *out_file = bundle->shards[shard];
  return status;
}

static rheos_status *bad_tensor(const rheos__bundle *bundle, const rheos__bundle_entry *entry,
                                const char *what) {
  return rheos_status_new(RHEOS_DATA_LOSS, "checkpoint '%s', tensor '%s': %s", bundle->prefix,
                          entry->name, what);
}

static rheos_status *check_crc(const rheos__bundle *bundle, const rheos__bundle_entry *entry,
                               uint32_t crc) {
  if (rheos__crc32c_holds(rheos__crc32c_mask(entry->crc), crc)) return NULL;
  return rheos_status_new(RHEOS_DATA_LOSS,
                          "checkpoint '%s', tensor '%s': Checksum does not match: stored %u vs. "
                          "calculated on the restored bytes %u",
                          bundle->prefix, entry->name, entry->crc, crc);
}

// The lengths of strings enter checksums as numbers of 32 bits, or 64 where they need them.
static uint32_t crc_of_length(uint32_t crc, uint64_t length) {
  return rheos__crc32c(crc, &length, length <= UINT32_MAX ? 4 : 8);
}

// Lengths as varints, the masked checksum of the lengths, the bytes.
static rheos_status *decode_strings(const rheos__bundle *bundle, const rheos__bundle_entry *entry,
                                    const char *bytes, rheos_tensor *tensor) {
  const char *at = bytes, *end = bytes + entry->size_bytes;
  uint32_t crc = 0;
  uint64_t length, total = 0;
  for (int64_t i = 0; i < tensor->num_elements; i++) {
    if (!rheos__read_varint(&at, end, &length) || length > entry->size_bytes - total) {
      return bad_tensor(bundle, entry, "a bad string length");
    }
    crc = crc_of_length(crc, length);
    total += length;
  }
  if ((uint64_t)(end - at) != total + 4) return bad_tensor(bundle, entry, "bad string lengths");
  if (!rheos__crc32c_holds(rheos__load_32(at), crc)) {
    return bad_tensor(bundle, entry, "the checksum of its string lengths does not match");
  }
  RHEOS_TRY(check_crc(bundle, entry, rheos__crc32c(crc, at, (size_t)(end - at))));
  const char *text = at + 4;
  at = bytes;
  for (int64_t i = 0; i < tensor->num_elements; i++) {
    rheos__read_varint(&at, end, &length);
    RHEOS_TRY(rheos_tensor_set_string(tensor, i, text, (size_t)length));
    text += length;
  }
  return NULL;
}

// Of each variant the size of its message, the message, and the masked checksum of all that is
// before it, the sizes as numbers of 64 bits.
static rheos_status *decode_variants(const rheos__bundle *bundle, const rheos__bundle_entry *entry,
                                     const char *bytes, rheos_tensor *tensor) {
  const char *at = bytes, *end = bytes + entry->size_bytes;
  uint32_t crc = 0;
  uint64_t size;
  for (int64_t i = 0; i < tensor->num_elements; i++) {
    if (!rheos__read_varint(&at, end, &size) || (uint64_t)(end - at) < 4 ||
        size > (uint64_t)(end - at) - 4) {
      return bad_tensor(bundle, entry, "a bad size of a variant");
    }
    crc = rheos__crc32c(rheos__crc32c(crc, &size, sizeof size), at, (size_t)size);
    if (!rheos__crc32c_holds(rheos__load_32(at + size), crc)) {
      return bad_tensor(bundle, entry, "the checksum of a variant does not match");
    }
    crc = rheos__crc32c(crc, at + size, 4);
    RHEOS_TRY(rheos__variant_message_parse(at, (size_t)size, (rheos__variant **)tensor->data + i));
    at += size + 4;
  }
  if (at != end) return bad_tensor(bundle, entry, "more bytes than its variants have");
  return check_crc(bundle, entry, crc);
}

static rheos_status *decode(const rheos__bundle *bundle, const rheos__bundle_entry *entry,
                            const char *bytes, rheos_tensor *tensor) {
  return entry->dtype == RHEOS_STRING ? decode_strings(bundle, entry, bytes, tensor)
                                      : decode_variants(bundle, entry, bytes, tensor);
}

// Strings or variants.
static rheos_status *read_messages(rheos__bundle *bundle, const rheos__bundle_entry *entry,
                                   rheos__file *file, rheos_tensor *tensor) {
  char *bytes = rheos__alloc((size_t)entry->size_bytes);
  if (bytes == NULL) return rheos__out_of_memory();
  rheos_status *status = rheos__file_read_at(file, entry->offset, bytes, (size_t)entry->size_bytes);
  if (status == NULL) status = decode(bundle, entry, bytes, tensor);
  rheos__free(bytes);
  return status;
}

// Numbers that were read: whether they are sound.
static rheos_status *check_numbers(const rheos__bundle *bundle, const rheos__bundle_entry *entry,
                                   const rheos__bundle_numbers *numbers) {
  RHEOS_TRY(check_crc(bundle, entry, numbers->crc));
  for (size_t i = 0; entry->dtype == RHEOS_BOOL && i < numbers->size_bytes; i++) {
    numbers->bytes[i] = numbers->bytes[i] != 0;  // a C bool must be 0 or 1
  }
  return NULL;
}

// The tensor, or part of one, whose bytes lie together, still without them.
static rheos_status *make_room(rheos__bundle *bundle, const rheos__bundle_entry *entry,
                               rheos__file **out_file, rheos_tensor **out_tensor) {
  *out_tensor = NULL;
  if (entry->dtype == RHEOS_RESOURCE) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED,
                            "checkpoint '%s', tensor '%s' is of a dtype without bytes",
                            bundle->prefix, entry->name);
  }
  RHEOS_TRY(open_shard(bundle, entry->shard, out_file));
  uint64_t size_bytes = rheos__file_size(*out_file);
  if (entry->offset > size_bytes || entry->size_bytes > size_bytes - entry->offset) {
    return bad_tensor(bundle, entry, "its bytes lie behind the end of the data file");
  }
  int64_t num_elements = rheos_shape_num_elements(&entry->shape);
  if (is_listed(entry->dtype) && (uint64_t)num_elements > entry->size_bytes) {
    return bad_tensor(bundle, entry, "fewer bytes than elements");
  }
  return rheos_tensor_new(entry->dtype, entry->shape, out_tensor);
}

static rheos__bundle_numbers numbers_of(const rheos__bundle_entry *entry, rheos__file *file,
                                        const rheos_tensor *tensor) {
  return (rheos__bundle_numbers){.from = file,
                                 .offset = entry->offset,
                                 .bytes = tensor->data,
                                 .size_bytes = tensor->size_bytes};
}

static rheos_status *read_piece(rheos__bundle *bundle, const rheos__bundle_entry *entry,
                                rheos_tensor **out_tensor) {
  rheos__file *file;
  rheos_tensor *tensor;
  *out_tensor = NULL;
  RHEOS_TRY(make_room(bundle, entry, &file, &tensor));
  rheos_status *status;
  if (is_listed(entry->dtype)) {
    status = read_messages(bundle, entry, file, tensor);
  } else {
    rheos__bundle_numbers numbers = numbers_of(entry, file, tensor);
    status = rheos__bundle_read_numbers(&numbers, 1, NULL);
    if (status == NULL) status = check_numbers(bundle, entry, &numbers);
  }
  if (status != NULL) {
    rheos_tensor_unref(tensor);
    return status;
  }
  *out_tensor = tensor;
  return NULL;
}

// ---- Tensors saved in parts

// The entry of a part, which must be what the slice says.
static rheos_status *find_part(const rheos__bundle *bundle, const rheos__bundle_entry *entry,
                               const rheos__slice *slice, const rheos__bundle_entry **out_part) {
  rheos_shape shape;
  RHEOS_TRY(rheos__slice_shape(slice, &entry->shape, &shape));
  rheos__buffer key = {0};
  rheos__slice_key(&key, entry->name, entry->name_bytes, slice);
  bool failed = key.failed;
  *out_part = failed ? NULL : rheos__bundle_find(bundle, key.data, key.size_bytes);
  rheos__buffer_deinit(&key);
  if (failed) return rheos__out_of_memory();
  if (*out_part == NULL) return bad_tensor(bundle, entry, "a slice is missing");
  if ((*out_part)->num_slices > 0 || (*out_part)->dtype != entry->dtype ||
      !rheos_shape_equal(&(*out_part)->shape, &shape)) {
    return bad_tensor(bundle, entry, "a slice is not what it should be");
  }
  return NULL;
}

static rheos_status *stored_slices(rheos__bundle *bundle, const rheos__bundle_entry *entry,
                                   rheos__slice **out_slices) {
  const ProtobufCBinaryData *value = &bundle->values[entry - bundle->entries];
  rheos__arena scratch;
  rheos__arena_init(&scratch);
  Tensorflow__BundleEntryProto *proto;
  rheos__slice *slices = rheos__alloc_array((size_t)entry->num_slices, sizeof *slices);
  rheos_status *status = slices != NULL ? RHEOS_PROTO_UNPACK(bundle_entry_proto, value->data,
                                                             value->len, &scratch, &proto)
                                        : rheos__out_of_memory();
  for (int32_t i = 0; status == NULL && i < entry->num_slices; i++) {
    rheos_shape unused;
    status = rheos__slice_from_proto(proto->slices[i], &slices[i]);
    if (status == NULL) status = rheos__slice_shape(&slices[i], &entry->shape, &unused);
  }
  rheos__arena_deinit(&scratch);
  if (status != NULL) {
    rheos__free(slices);
    slices = NULL;
  }
  *out_slices = slices;
  return status;
}

// Looks whether the parts are all there, before memory is asked for.
static rheos_status *check_parts(rheos__bundle *bundle, const rheos__bundle_entry *entry,
                                 const rheos__slice *stored, const rheos__slice *slice) {
  bool covered;
  RHEOS_TRY(rheos__slices_cover(&entry->shape, stored, (size_t)entry->num_slices, slice, &covered));
  if (!covered) {
    rheos__slice_text text;
    return RHEOS_INVALID(
        "Does not have sufficient slices for partitioned tensor %s to restore in slice_spec: %s",
        entry->name, rheos__slice_text_of(slice, &text));
  }
  for (int32_t i = 0; i < entry->num_slices; i++) {
    const rheos__bundle_entry *part;
    rheos__file *file;
    if (!rheos__slices_meet(&entry->shape, &stored[i], slice)) continue;
    RHEOS_TRY(find_part(bundle, entry, &stored[i], &part));
    RHEOS_TRY(open_shard(bundle, part->shard, &file));
    const uint64_t size_bytes = rheos__file_size(file);
    if (part->offset > size_bytes || part->size_bytes > size_bytes - part->offset) {
      return bad_tensor(bundle, entry, "a slice lies behind the end of its data file");
    }
  }
  return NULL;
}

static rheos_status *copy_part(rheos__bundle *bundle, const rheos__bundle_entry *entry,
                               const rheos__slice *stored, const rheos__slice *slice,
                               rheos_tensor *tensor) {
  if (!rheos__slices_meet(&entry->shape, stored, slice)) return NULL;
  const rheos__bundle_entry *part;
  rheos_tensor *piece;
  RHEOS_TRY(find_part(bundle, entry, stored, &part));
  RHEOS_TRY(read_piece(bundle, part, &piece));
  rheos_status *status = rheos__slice_copy(&entry->shape, stored, piece, slice, tensor);
  rheos_tensor_unref(piece);
  return status;
}

// `stored` are slices of what the checkpoint has; fills a new tensor of the wanted one.
static rheos_status *assemble(rheos__bundle *bundle, const rheos__bundle_entry *entry,
                              const rheos__slice *stored, const rheos__slice *slice,
                              rheos_tensor **out_tensor) {
  rheos_shape shape;
  RHEOS_TRY(rheos__slice_shape(slice, &entry->shape, &shape));
  RHEOS_TRY(check_parts(bundle, entry, stored, slice));
  rheos_tensor *tensor;
  RHEOS_TRY(rheos_tensor_new(entry->dtype, shape, &tensor));
  rheos_status *status = NULL;
  for (int32_t i = 0; status == NULL && i < entry->num_slices; i++) {
    status = copy_part(bundle, entry, &stored[i], slice, tensor);
  }
  if (status != NULL) {
    rheos_tensor_unref(tensor);
    return status;
  }
  *out_tensor = tensor;
  return NULL;
}

// A part of a tensor that was saved whole.
static rheos_status *cut(rheos__bundle *bundle, const rheos__bundle_entry *entry,
                         const rheos__slice *slice, rheos_tensor **out_tensor) {
  const rheos__slice all = rheos__slice_whole(entry->shape.rank);
  rheos_shape shape;
  rheos_tensor *whole, *tensor = NULL;
  RHEOS_TRY(rheos__slice_shape(slice, &entry->shape, &shape));
  RHEOS_TRY(read_piece(bundle, entry, &whole));
  rheos_status *status = rheos_tensor_new(entry->dtype, shape, &tensor);
  if (status == NULL) status = rheos__slice_copy(&entry->shape, &all, whole, slice, tensor);
  rheos_tensor_unref(whole);
  if (status != NULL) {
    rheos_tensor_unref(tensor);
    return status;
  }
  *out_tensor = tensor;
  return NULL;
}

rheos_status *rheos__bundle_read_slice(rheos__bundle *bundle, const rheos__bundle_entry *entry,
                                       const rheos__slice *slice, rheos_tensor **out_tensor) {
  *out_tensor = NULL;
  if (entry->num_slices == 0) return cut(bundle, entry, slice, out_tensor);
  rheos__slice *stored;
  RHEOS_TRY(stored_slices(bundle, entry, &stored));
  rheos_status *status = assemble(bundle, entry, stored, slice, out_tensor);
  rheos__free(stored);
  return status;
}

rheos_status *rheos__bundle_read(rheos__bundle *bundle, const rheos__bundle_entry *entry,
                                 rheos_tensor **out_tensor) {
  if (entry->num_slices == 0) return read_piece(bundle, entry, out_tensor);
  const rheos__slice all = rheos__slice_whole(entry->shape.rank);
  return rheos__bundle_read_slice(bundle, entry, &all, out_tensor);
}

// ---- Several at once

static rheos_status *read_together(rheos__bundle *bundle, const rheos__bundle_entry *const *entries,
                                   size_t count, rheos__step *step, rheos__bundle_numbers *numbers,
                                   rheos_tensor **out_tensors) {
  size_t num_numbers = 0;
  for (size_t i = 0; i < count; i++) {
    if (entries[i]->num_slices > 0 || is_listed(entries[i]->dtype)) {
      RHEOS_TRY(rheos__bundle_read(bundle, entries[i], &out_tensors[i]));
      continue;
    }
    rheos__file *file;
    RHEOS_TRY(make_room(bundle, entries[i], &file, &out_tensors[i]));
    numbers[num_numbers++] = numbers_of(entries[i], file, out_tensors[i]);
  }
  RHEOS_TRY(rheos__bundle_read_numbers(numbers, num_numbers, step));
  for (size_t i = 0; i < count; i++) {
    if (entries[i]->num_slices > 0 || is_listed(entries[i]->dtype)) continue;
    RHEOS_TRY(check_numbers(bundle, entries[i], numbers++));
  }
  return NULL;
}

rheos_status *rheos__bundle_read_all(rheos__bundle *bundle,
                                     const rheos__bundle_entry *const *entries, size_t count,
                                     rheos__step *step, rheos_tensor **out_tensors) {
  for (size_t i = 0; i < count; i++) out_tensors[i] = NULL;
  rheos__bundle_numbers *numbers = rheos__alloc_array(count, sizeof *numbers);
  if (numbers == NULL) return rheos__out_of_memory();
  rheos_status *status = read_together(bundle, entries, count, step, numbers, out_tensors);
  rheos__free(numbers);
  for (size_t i = 0; status != NULL && i < count; i++) {
    rheos_tensor_unref(out_tensors[i]);
    out_tensors[i] = NULL;
  }
  return status;
}
