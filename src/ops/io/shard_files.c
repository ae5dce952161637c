#include "ops/io/shard_files.h"

#include <snappy-c.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "codec/record.h"
#include "codec/wire.h"
#include "format/message/variant_proto.h"
#include "ops/data/file_source.h"

enum { VERSION = 2 };
static const size_t MAX_METADATA_BYTES = 1 << 20;

rheos_status *rheos__shard_compression_of(const rheos_string *name,
                                          rheos__shard_compression *out_compression) {
  static const char *const names[] = {"", "GZIP", "SNAPPY", "AUTO"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    if (strlen(names[i]) != name->size_bytes) continue;
    if (name->size_bytes > 0 && memcmp(names[i], name->data, name->size_bytes) != 0) continue;
    *out_compression = i == 3 ? RHEOS__SHARD_SNAPPY : (rheos__shard_compression)i;
    return NULL;
  }
  return RHEOS_INVALID("compression must be either '', 'GZIP', 'SNAPPY' or 'AUTO'.");
}

// ---- Metadata: a SnapshotMetadataRecord

enum {
  GRAPH_HASH = 1,
  RUN = 2,
  CREATED = 3,
  FILE_VERSION = 4,
  DTYPE = 5,
  NUM_ELEMENTS = 6,
  FINALIZED = 1000,
};

static bool take_text(const rheos__wire_field *field, char *to, size_t room) {
  const size_t size = rheos__wire_size(field->data);
  if (field->type != RHEOS__WIRE_BYTES || size >= room) return false;
  memcpy(to, field->data.at, size);
  to[size] = 0;
  return memchr(to, '/', size) == NULL && strlen(to) == size;
}

static bool take_dtype(rheos__shard_metadata *m, uint64_t value) {
  rheos_dtype *grown = rheos__realloc(m->dtypes, ((size_t)m->num_dtypes + 1) * sizeof *m->dtypes);
  if (grown == NULL || value > INT32_MAX) return false;
  m->dtypes = grown;
  m->dtypes[m->num_dtypes++] = (rheos_dtype)value;
  return true;
}

static bool take_dtypes(rheos__shard_metadata *m, const rheos__wire_field *field) {
  if (field->type == RHEOS__WIRE_VARINT) return take_dtype(m, field->value);
  rheos__wire packed = field->data;
  while (field->type == RHEOS__WIRE_BYTES && rheos__wire_size(packed) > 0) {
    uint64_t value;
    if (!rheos__read_varint(&packed.at, packed.end, &value) || !take_dtype(m, value)) return false;
  }
  return field->type == RHEOS__WIRE_BYTES;
}

static bool take_field(rheos__shard_metadata *m, const rheos__wire_field *field) {
  const bool is_number = field->type == RHEOS__WIRE_VARINT;
  switch (field->number) {
    case GRAPH_HASH: return take_text(field, m->graph_hash, sizeof m->graph_hash);
    case RUN: return take_text(field, m->run, sizeof m->run);
    case CREATED: m->created_us = (int64_t)field->value; return is_number;
    case FILE_VERSION: m->version = (int64_t)field->value; return is_number;
    case DTYPE: return take_dtypes(m, field);
    case NUM_ELEMENTS: m->num_elements = (int64_t)field->value; return is_number;
    case FINALIZED: m->is_finalized = field->value != 0; return is_number;
    default: return true;
  }
}

static bool parse(const char *data, size_t size_bytes, rheos__shard_metadata *m) {
  rheos__wire wire = rheos__wire_of(data, size_bytes);
  bool is_sound = true;
  rheos__wire_field field;
  while (is_sound && rheos__wire_next(&wire, &field, &is_sound)) {
    is_sound = take_field(m, &field);
  }
  return is_sound && m->run[0] != 0 && m->num_elements >= 0;
}

static char *metadata_path(const char *folder) {
  return rheos__text_format("%s/snapshot.metadata", folder);
}

rheos_status *rheos__shard_metadata_read(const char *folder, rheos__shard_metadata *out_metadata) {
  *out_metadata = (rheos__shard_metadata){0};
  char *path = metadata_path(folder), *data = NULL;
  size_t size_bytes = 0;
  if (path == NULL) return rheos__out_of_memory();
  rheos_status *status = rheos__file_read_all(path, MAX_METADATA_BYTES, &data, &size_bytes);
  if (status == NULL && !parse(data, size_bytes, out_metadata)) {
    status = rheos_status_new(RHEOS_DATA_LOSS, "'%s' is damaged", path);
  }
  rheos__free(data);
  rheos__free(path);
  if (status != NULL) rheos__shard_metadata_deinit(out_metadata);
  return status;
}

rheos_status *rheos__shard_metadata_write(const char *folder, const rheos__shard_metadata *m) {
  rheos__buffer message = {0};
  if (m->graph_hash[0] != 0) {
    rheos__wire_put_bytes(&message, GRAPH_HASH, m->graph_hash, strlen(m->graph_hash));
  }
  rheos__wire_put_bytes(&message, RUN, m->run, strlen(m->run));
  rheos__wire_put_unless_0(&message, CREATED, m->created_us);
  rheos__wire_put_unless_0(&message, FILE_VERSION, VERSION);
  for (int32_t i = 0; i < m->num_dtypes; ++i) {
    rheos__wire_put_varint(&message, DTYPE, (uint64_t)m->dtypes[i]);
  }
  rheos__wire_put_unless_0(&message, NUM_ELEMENTS, m->num_elements);
  rheos__wire_put_unless_0(&message, FINALIZED, m->is_finalized);
  char *path = metadata_path(folder);
  rheos_status *status = message.failed || path == NULL
                             ? rheos__out_of_memory()
                             : rheos__file_replace(path, message.data, message.size_bytes);
  rheos__free(path);
  rheos__buffer_deinit(&message);
  return status;
}

void rheos__shard_metadata_deinit(rheos__shard_metadata *metadata) {
  rheos__free(metadata->dtypes);
  *metadata = (rheos__shard_metadata){0};
}

// ---- Writing

// What TensorFlow's buffers hold; it reads no larger blocks.
enum { BLOCK_BYTES = 256 * 1024 };

struct rheos__shard_writer {
  rheos__file_writer *file;
  rheos__shard_compression compression;
  rheos__deflater *deflater;
  rheos__buffer block, packed, message;  // of snappy: what waits to be compressed; room; a record
};

static rheos_status *put_in_file(void *argument, const void *data, size_t size_bytes) {
  return rheos__file_writer_write(((rheos__shard_writer *)argument)->file, data, size_bytes);
}

// A block: its size when compressed, in four bytes, the first the highest, and it.
static rheos_status *put_block(rheos__shard_writer *w) {
  if (w->block.size_bytes == 0) return NULL;
  size_t size = snappy_max_compressed_length(w->block.size_bytes);
  w->packed.size_bytes = 0;
  char *to = rheos__buffer_extend(&w->packed, size + 4);
  if (to == NULL) return rheos__out_of_memory();
  if (snappy_compress(w->block.data, w->block.size_bytes, to + 4, &size) != SNAPPY_OK) {
    return rheos_status_new(RHEOS_INTERNAL, "a block cannot be compressed");
  }
  for (int i = 0; i < 4; ++i) to[i] = (char)(size >> (24 - 8 * i));
  w->block.size_bytes = 0;
  return put_in_file(w, to, size + 4);
}

static rheos_status *put_in_blocks(rheos__shard_writer *w, const char *data, size_t size_bytes) {
  while (size_bytes > 0) {
    const size_t room = BLOCK_BYTES - w->block.size_bytes;
    const size_t count = size_bytes < room ? size_bytes : room;
    rheos__buffer_put(&w->block, data, count);
    if (w->block.failed) return rheos__out_of_memory();
    data += count;
    size_bytes -= count;
    if (w->block.size_bytes == BLOCK_BYTES) RHEOS_TRY(put_block(w));
  }
  return NULL;
}

static rheos_status *put_bytes(void *argument, const void *data, size_t size_bytes) {
  rheos__shard_writer *w = argument;
  switch (w->compression) {
    case RHEOS__SHARD_GZIP:
      return rheos__deflater_run(w->deflater, data, size_bytes, RHEOS__DEFLATE_FULL, put_in_file,
                                 w);
    case RHEOS__SHARD_SNAPPY: return put_in_blocks(w, data, size_bytes);
    default: return put_in_file(w, data, size_bytes);
  }
}

rheos_status *rheos__shard_writer_open(const char *run_folder, int64_t shard,
                                       rheos__shard_compression compression,
                                       rheos__shard_writer **out_writer) {
  *out_writer = NULL;
  rheos__shard_writer *w = rheos__alloc_zeroed(sizeof *w);
  char *folder = rheos__text_format("%s/%08lld.shard", run_folder, (long long)shard);
  char *path =
      rheos__text_format("%s/%08lld.shard/00000000.snapshot", run_folder, (long long)shard);
  rheos_status *status =
      w == NULL || folder == NULL || path == NULL ? rheos__out_of_memory() : NULL;
  if (status == NULL) status = rheos__file_make_dirs(folder);
  if (status == NULL) {
    w->compression = compression;
    status = rheos__file_writer_open(path, &w->file);
  }
  if (status == NULL && compression == RHEOS__SHARD_GZIP) {
    status = rheos__deflater_new(RHEOS_GZIP, -1, &w->deflater);
  }
  rheos__free(folder);
  rheos__free(path);
  if (status == NULL) {
    *out_writer = w;
  } else {
    rheos__shard_writer_abandon(w);
  }
  return status;
}

rheos_status *rheos__shard_writer_put(rheos__shard_writer *w, const rheos_tensor *tensor) {
  w->message.size_bytes = 0;
  RHEOS_TRY(rheos__tensor_message_put(&w->message, tensor));
  return rheos__record_put(put_bytes, w, w->message.data, w->message.size_bytes);
}

static void free_writer(rheos__shard_writer *w) {
  rheos__deflater_free(w->deflater);
  rheos__buffer_deinit(&w->block);
  rheos__buffer_deinit(&w->packed);
  rheos__buffer_deinit(&w->message);
  rheos__free(w);
}

void rheos__shard_writer_abandon(rheos__shard_writer *w) {
  if (w == NULL) return;
  if (w->file != NULL) rheos__file_writer_abandon(w->file);
  free_writer(w);
}

rheos_status *rheos__shard_writer_close_take(rheos__shard_writer *w) {
  rheos_status *status = NULL;
  if (w->compression == RHEOS__SHARD_GZIP) {
    status = rheos__deflater_run(w->deflater, NULL, 0, RHEOS__DEFLATE_END, put_in_file, w);
  } else if (w->compression == RHEOS__SHARD_SNAPPY) {
    status = put_block(w);
  }
  if (status == NULL) status = rheos__file_writer_sync(w->file);
  if (status != NULL) {
    rheos__shard_writer_abandon(w);
    return status;
  }
  rheos__file_writer *file = w->file;
  free_writer(w);
  return rheos__file_writer_close_take(file);
}

// ---- Reading: the elements of a shard

typedef struct shard_data {
  char *folder;
  rheos__shard_compression compression;
  rheos_dtype *types;
  rheos_shape *shapes;
} shard_data;

typedef struct shard {
  rheos__iterator base;
  int64_t at[2];  // the file, how many elements of it were given: what is saved
  rheos__source source;
  char *path;
  uint64_t offset;
  rheos__buffer record;
} shard;

static void deinit_shard(rheos__dataset *d) {
  shard_data *data = d->data;
  rheos__free(data->folder);
  rheos__free(data->types);
  rheos__free(data->shapes);
}

static void close_file(shard *it) {
  rheos__source_close(&it->source);
  rheos__free(it->path);
  it->path = NULL;
}

static void finish_shard(rheos__iterator *iterator) {
  shard *it = (shard *)iterator;
  close_file(it);
  rheos__buffer_deinit(&it->record);
}

// The next file of the shard, if there is one.
static rheos_status *open_file(shard *it, bool *out_end) {
  const shard_data *data = it->base.dataset->data;
  static const rheos_compression kinds[] = {
      [RHEOS__SHARD_PLAIN] = RHEOS_NO_COMPRESSION, [RHEOS__SHARD_GZIP] = RHEOS_GZIP};
  it->path = rheos__text_format("%s/%08lld.snapshot", data->folder, (long long)it->at[0]);
  if (it->path == NULL) return rheos__out_of_memory();
  bool exists = false;
  rheos_status *status = rheos__file_exists(it->path, &exists);
  *out_end = !exists;
  it->offset = 0;
  if (status == NULL && exists) {
    const rheos_string path = rheos__borrow_string(it->path, strlen(it->path));
    status = data->compression == RHEOS__SHARD_SNAPPY
                 ? rheos__source_open_blocks(&it->source, &path)
                 : rheos__source_open(&it->source, &path, kinds[data->compression]);
  }
  if (status != NULL || *out_end) close_file(it);
  return status;
}

static rheos_status *read_component(shard *it, int32_t component, rheos_tensor **out_tensor,
                                    bool *out_end) {
  rheos_status *status =
      rheos__record_get(rheos__source_get, &it->source, it->path, &it->offset, &it->record);
  *out_end = status != NULL && component == 0 && rheos_status_code(status) == RHEOS_OUT_OF_RANGE;
  if (*out_end) {
    rheos_status_free(status);
    return NULL;
  }
  if (status != NULL) return status;
  RHEOS_TRY(rheos__tensor_message_parse(it->record.data, it->record.size_bytes, out_tensor));
  if ((*out_tensor)->dtype == it->base.dataset->types[component]) return NULL;
  return rheos_status_new(RHEOS_DATA_LOSS, "'%s' has %s as component %d of an element, not %s",
                          it->path, rheos_dtype_name((*out_tensor)->dtype), (int)component,
                          rheos_dtype_name(it->base.dataset->types[component]));
}

static rheos_status *read_element(shard *it, rheos_tensor **element, bool *out_end) {
  const int32_t n = it->base.dataset->num_components;
  rheos_status *status = NULL;
  *out_end = false;
  for (int32_t i = 0; status == NULL && !*out_end && i < n; ++i) {
    status = read_component(it, i, &element[i], out_end);
  }
  if (status != NULL && rheos_status_code(status) == RHEOS_OUT_OF_RANGE) {
    rheos_status_free(status);
    status = rheos_status_new(RHEOS_DATA_LOSS, "'%s' ends within an element", it->path);
  }
  if (status != NULL) rheos__element_clear(element, n);
  return status;
}

static rheos_status *next_of_shard(rheos__iterator *iterator, rheos__step *step,
                                   rheos_tensor **element, bool *out_end) {
  (void)step;
  shard *it = (shard *)iterator;
  for (;;) {
    if (it->source.file == NULL) {
      RHEOS_TRY(open_file(it, out_end));
      if (*out_end) return NULL;
    }
    bool end = false;
    rheos_status *status = read_element(it, element, &end);
    if (status == NULL && !end) {
      ++it->at[1];
      *out_end = false;
      return NULL;
    }
    close_file(it);
    ++it->at[0];
    it->at[1] = 0;
    if (status != NULL) return status;
  }
}

static rheos_status *transfer_shard(rheos__iterator *iterator, rheos__saved_state *state,
                                    rheos__step *step) {
  shard *it = (shard *)iterator;
  int64_t at[2] = {it->at[0], it->at[1]};
  RHEOS_TRY(rheos__state_ints(state, at, 2));
  if (!state->is_restoring) return NULL;
  it->at[0] = at[0] > 0 ? at[0] : 0;
  while (it->at[1] < at[1]) {
    bool end = false;
    RHEOS_TRY(rheos__iterator_skip(iterator, step, &end));
    if (end || rheos__step_should_stop(step)) {
      return rheos_status_new(RHEOS_DATA_LOSS, "the files of a restored iterator are others");
    }
  }
  return NULL;
}

static const rheos__dataset_kind shard_kind = {.name = "SnapshotReader",
                                               .data_bytes = sizeof(shard_data),
                                               .iterator_bytes = sizeof(shard),
                                               .deinit = deinit_shard,
                                               .finish = finish_shard,
                                               .next = next_of_shard,
                                               .state = transfer_shard};

static rheos_status *open_shard(const rheos__dataset *like, const char *run_folder,
                                const char *name, rheos__shard_compression compression,
                                rheos_tensor **out_tensor) {
  const size_t n = (size_t)like->num_components;
  rheos__dataset *d = NULL;
  RHEOS_TRY(rheos__dataset_new_of_kind(&shard_kind, like->num_components, &d));
  shard_data *data = d->data;
  data->compression = compression;
  data->folder = rheos__path_join(run_folder, name);
  data->types = rheos__alloc_array(n, sizeof *data->types);
  data->shapes = rheos__alloc_array(n, sizeof *data->shapes);
  if (data->folder == NULL || data->types == NULL || data->shapes == NULL) {
    rheos__dataset_unref(d);
    return rheos__out_of_memory();
  }
  memcpy(data->types, like->types, n * sizeof *data->types);
  memcpy(data->shapes, like->shapes, n * sizeof *data->shapes);
  d->types = data->types;
  d->shapes = data->shapes;
  return rheos__variant_tensor_take(&d->variant, out_tensor);
}

static bool is_shard(const char *name) {
  static const char end[] = ".shard";
  const size_t length = strlen(name);
  return length >= sizeof end && strcmp(name + length - (sizeof end - 1), end) == 0;
}

rheos_status *rheos__shards_open(const rheos__dataset *like, const char *run_folder,
                                 rheos__shard_compression compression, rheos_tensor **out_shards) {
  static const rheos_dtype variant = RHEOS_VARIANT;
  static const rheos_shape scalar = {.rank = 0};
  const rheos__dataset of_variants = {.num_components = 1, .types = &variant, .shapes = &scalar};
  char **names = NULL;
  size_t num_names = 0;
  int64_t count = 0;
  *out_shards = NULL;
  RHEOS_TRY(rheos__file_list(run_folder, &names, &num_names));
  rheos_tensor **shards = rheos__alloc_array(num_names, sizeof *shards);
  rheos_status *status = shards == NULL ? rheos__out_of_memory() : NULL;
  for (size_t i = 0; status == NULL && i < num_names; ++i) {
    if (!is_shard(names[i])) continue;
    status = open_shard(like, run_folder, names[i], compression, &shards[count]);
    count += status == NULL;
  }
  rheos__file_list_free(names, num_names);
  if (status == NULL) {
    status = rheos__dataset_of_elements_take(&of_variants, 0, 1, shards, count, out_shards);
  } else {
    rheos__element_clear(shards, (int32_t)count);
  }
  rheos__free(shards);
  return status;
}
