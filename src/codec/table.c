// Tables. The block size, restart interval and shortened index keys are those TensorFlow writes
// with, so that the same entries give the same bytes. The index of a checkpoint is wanted as a
// whole: a reader walks it, and then nothing unchecked stays behind. Tables that hold tensors are
// looked up.
#include "codec/table.h"

#include <assert.h>
#include <snappy-c.h>

#include "base/crc32c.h"

enum {
  BLOCK_BYTES = 256 * 1024,
  RESTART_INTERVAL = 16,
  TRAILER_BYTES = 5,
  HANDLES_BYTES = 40,
  FOOTER_BYTES = 48,
  // Snappy's copies make at most 64 bytes out of 3.
  MAX_EXPANSION = 32,
};
static const uint64_t MAGIC = 0xdb4775248b80fb57u;

// ---- Blocks, written

typedef struct block_builder {
  rheos__buffer bytes;
  rheos__buffer restarts;  // 32 bits each
  rheos__buffer last_key;
  int interval;  // entries between restarts
  int since_restart;
} block_builder;

static void block_deinit(block_builder *block) {
  rheos__buffer_deinit(&block->bytes);
  rheos__buffer_deinit(&block->restarts);
  rheos__buffer_deinit(&block->last_key);
}

static void block_reset(block_builder *block) {
  block->bytes.size_bytes = block->restarts.size_bytes = block->last_key.size_bytes = 0;
  block->since_restart = 0;
}

static size_t shared_prefix(const char *a, size_t a_bytes, const char *b, size_t b_bytes) {
  size_t limit = a_bytes < b_bytes ? a_bytes : b_bytes;
  size_t count = 0;
  while (count < limit && a[count] == b[count]) count++;
  return count;
}

static void block_add(block_builder *block, const char *key, size_t key_bytes, const void *value,
                      size_t value_bytes) {
  size_t shared = 0;
  if (block->restarts.size_bytes == 0 || block->since_restart == block->interval) {
    rheos__buffer_put_32(&block->restarts, (uint32_t)block->bytes.size_bytes);
    block->since_restart = 0;
  } else {
    shared = shared_prefix(block->last_key.data, block->last_key.size_bytes, key, key_bytes);
  }
  rheos__buffer_put_varint(&block->bytes, shared);
  rheos__buffer_put_varint(&block->bytes, key_bytes - shared);
  rheos__buffer_put_varint(&block->bytes, value_bytes);
  rheos__buffer_put(&block->bytes, key + shared, key_bytes - shared);
  rheos__buffer_put(&block->bytes, value, value_bytes);
  assert(shared <= key_bytes && block->since_restart < block->interval);
  block->last_key.size_bytes = shared;
  rheos__buffer_put(&block->last_key, key + shared, key_bytes - shared);
  block->since_restart++;
}

static size_t block_size(const block_builder *block) {
  return block->bytes.size_bytes + block->restarts.size_bytes + 4;
}

static bool block_failed(const block_builder *block) {
  return block->bytes.failed || block->restarts.failed || block->last_key.failed;
}

// ---- Tables, written

struct rheos__table_writer {
  rheos__file_writer *file;
  block_builder data, index;
  rheos__buffer handle;     // of the block written last
  bool index_entry_is_due;  // it waits for the next key, to be given a short one of its own
};

rheos__table_writer *rheos__table_writer_new(rheos__file_writer *file) {
  rheos__table_writer *writer = rheos__alloc_zeroed(sizeof *writer);
  if (writer == NULL) return NULL;
  writer->file = file;
  writer->data.interval = RESTART_INTERVAL;
  writer->index.interval = 1;
  return writer;
}

void rheos__table_writer_free(rheos__table_writer *writer) {
  if (writer == NULL) return;
  block_deinit(&writer->data);
  block_deinit(&writer->index);
  rheos__buffer_deinit(&writer->handle);
  rheos__free(writer);
}

// Writes the block and empties it; appends its handle to `out_handle`.
static rheos_status *write_block(rheos__table_writer *writer, block_builder *block,
                                 rheos__buffer *out_handle) {
  if (block->restarts.size_bytes == 0) rheos__buffer_put_32(&block->restarts, 0);
  rheos__buffer_put(&block->bytes, block->restarts.data, block->restarts.size_bytes);
  rheos__buffer_put_32(&block->bytes, (uint32_t)(block->restarts.size_bytes / 4));
  assert(block->restarts.failed || block->restarts.size_bytes % 4 == 0);
  size_t content_bytes = block->bytes.size_bytes;
  rheos__buffer_put(&block->bytes, "\0", 1);  // not compressed
  if (block_failed(block)) return rheos__out_of_memory();
  uint32_t crc = rheos__crc32c(0, block->bytes.data, block->bytes.size_bytes);
  rheos__buffer_put_32(&block->bytes, rheos__crc32c_mask(crc));
  rheos__buffer_put_varint(out_handle, rheos__file_writer_position(writer->file));
  rheos__buffer_put_varint(out_handle, content_bytes);
  if (block->bytes.failed || out_handle->failed) return rheos__out_of_memory();
  RHEOS_TRY(rheos__file_writer_write(writer->file, block->bytes.data, block->bytes.size_bytes));
  block_reset(block);
  return NULL;
}

// Shortens `key` to a key that is not below it and, unless `next` is NULL, below `next`.
static void shorten(rheos__buffer *key, const char *next, size_t next_bytes) {
  if (next == NULL) {
    for (size_t i = 0; i < key->size_bytes; i++) {
      if ((unsigned char)key->data[i] != 0xff) {
        key->data[i]++;
        key->size_bytes = i + 1;
        return;
      }
    }
    return;
  }
  size_t shared = shared_prefix(key->data, key->size_bytes, next, next_bytes);
  if (shared >= key->size_bytes || shared >= next_bytes) return;
  unsigned char byte = (unsigned char)key->data[shared];
  if (byte < 0xff && byte + 1 < (unsigned char)next[shared]) {
    key->data[shared]++;
    key->size_bytes = shared + 1;
  }
}

static void add_due_index_entry(rheos__table_writer *writer, rheos__buffer *last_key,
                                const char *next, size_t next_bytes) {
  shorten(last_key, next, next_bytes);
  block_add(&writer->index, last_key->data, last_key->size_bytes, writer->handle.data,
            writer->handle.size_bytes);
  writer->index_entry_is_due = false;
}

static rheos_status *flush_data(rheos__table_writer *writer) {
  if (block_failed(&writer->data)) return rheos__out_of_memory();
  if (writer->data.restarts.size_bytes == 0) return NULL;
  assert(!writer->index_entry_is_due);  // the first key of this block made it
  // The key outlives the block: the index entry is made from it.
  rheos__buffer last_key = writer->data.last_key;
  writer->data.last_key = (rheos__buffer){0};
  writer->handle.size_bytes = 0;
  rheos_status *status = write_block(writer, &writer->data, &writer->handle);
  rheos__buffer_deinit(&writer->data.last_key);
  writer->data.last_key = last_key;
  writer->index_entry_is_due = status == NULL;
  return status;
}

rheos_status *rheos__table_writer_add(rheos__table_writer *writer, const char *key,
                                      size_t key_bytes, const void *value, size_t value_bytes) {
  if (writer->index_entry_is_due) {
    add_due_index_entry(writer, &writer->data.last_key, key, key_bytes);
    writer->data.last_key.size_bytes = 0;
  }
  block_add(&writer->data, key, key_bytes, value, value_bytes);
  return block_size(&writer->data) >= BLOCK_BYTES ? flush_data(writer) : NULL;
}

rheos_status *rheos__table_writer_finish(rheos__table_writer *writer) {
  rheos__buffer footer = {0};
  block_builder empty = {.interval = 1};
  rheos_status *status = flush_data(writer);
  if (status == NULL) status = write_block(writer, &empty, &footer);
  if (status == NULL) {
    if (writer->index_entry_is_due) {
      add_due_index_entry(writer, &writer->data.last_key, NULL, 0);
    }
    status = write_block(writer, &writer->index, &footer);
  }
  static const char zeros[HANDLES_BYTES] = {0};
  if (status == NULL) {
    assert(footer.size_bytes <= HANDLES_BYTES);
    rheos__buffer_put(&footer, zeros, HANDLES_BYTES - footer.size_bytes);
    rheos__buffer_put_64(&footer, MAGIC);
    status = footer.failed ? rheos__out_of_memory()
                           : rheos__file_writer_write(writer->file, footer.data, footer.size_bytes);
  }
  block_deinit(&empty);
  rheos__buffer_deinit(&footer);
  return status;
}

// ---- Reading

typedef struct reader {
  const char *name;
  const char *bytes;  // of the whole table, or NULL: it is in `file`
  rheos__file *file;
  uint64_t size_bytes;
  rheos__table_visit visit;
  void *argument;
  rheos__buffer last_key;  // of the data entries so far
  bool has_last_key;
} reader;

static rheos_status *damaged(const reader *r, const char *what) {
  return rheos_status_new(RHEOS_DATA_LOSS, "'%s' is not a sound table file: %s", r->name, what);
}

typedef struct block {
  const char *data;
  size_t size_bytes;
  char *owned;  // what to free
} block;

static rheos_status *unpack(const reader *r, block *b) {
  size_t size_bytes;
  if (snappy_uncompressed_length(b->data, b->size_bytes, &size_bytes) != SNAPPY_OK ||
      size_bytes / MAX_EXPANSION > b->size_bytes) {
    return damaged(r, "a compressed block with a bad length");
  }
  char *unpacked = rheos__alloc(size_bytes);
  if (unpacked == NULL) return rheos__out_of_memory();
  if (snappy_uncompress(b->data, b->size_bytes, unpacked, &size_bytes) != SNAPPY_OK) {
    rheos__free(unpacked);
    return damaged(r, "a compressed block that does not unpack");
  }
  rheos__free(b->owned);
  *b = (block){unpacked, size_bytes, unpacked};
  return NULL;
}

// The bytes of a block with its trailer.
static rheos_status *load_block(const reader *r, uint64_t offset, block *b) {
  if (r->bytes != NULL) {
    b->data = r->bytes + offset;
    return NULL;
  }
  b->owned = rheos__alloc(b->size_bytes + TRAILER_BYTES);
  b->data = b->owned;
  if (b->owned == NULL) return rheos__out_of_memory();
  return rheos__file_read_at(r->file, offset, b->owned, b->size_bytes + TRAILER_BYTES);
}

// Checks a block that was loaded, unpacks it and cuts its restarts off.
static rheos_status *open_block(const reader *r, block *b) {
  uint32_t stored = rheos__load_32(b->data + b->size_bytes + 1);
  char type = b->data[b->size_bytes];
  if (!rheos__crc32c_holds(stored, rheos__crc32c(0, b->data, b->size_bytes + 1))) {
    return damaged(r, "block checksum mismatch");
  }
  if (type != 0 && type != 1) return damaged(r, "a block of an unknown type");
  if (type == 1) RHEOS_TRY(unpack(r, b));
  uint32_t restarts = b->size_bytes >= 4 ? rheos__load_32(b->data + b->size_bytes - 4) : 0;
  if (b->size_bytes < 4 || restarts > (b->size_bytes - 4) / 4) {
    return damaged(r, "a block with bad restarts");
  }
  b->size_bytes -= 4 + 4 * (size_t)restarts;
  return NULL;
}

// Reads a handle and the block it names, without its restarts.
static rheos_status *read_block(const reader *r, const char **at, const char *end,
                                block *out_block) {
  *out_block = (block){0};
  uint64_t offset, size_bytes;
  if (!rheos__read_varint(at, end, &offset) || !rheos__read_varint(at, end, &size_bytes)) {
    return damaged(r, "a bad block handle");
  }
  assert(r->size_bytes >= FOOTER_BYTES);
  uint64_t limit = r->size_bytes - FOOTER_BYTES;
  if (offset > limit || size_bytes > limit - offset ||
      limit - offset - size_bytes < TRAILER_BYTES) {
    return damaged(r, "a block lies outside the file");
  }
  block b = {.size_bytes = (size_t)size_bytes};
  rheos_status *status = load_block(r, offset, &b);
  if (status == NULL) status = open_block(r, &b);
  if (status != NULL) {
    rheos__free(b.owned);
    return status;
  }
  *out_block = b;
  return NULL;
}

// Reads the entry at `*at`: `key` holds the key before it and then its own.
static rheos_status *read_entry(const reader *r, const char **at, const char *end,
                                rheos__buffer *key, const char **out_value,
                                size_t *out_value_bytes) {
  uint64_t shared, unshared, value_bytes;
  if (!rheos__read_varint(at, end, &shared) || !rheos__read_varint(at, end, &unshared) ||
      !rheos__read_varint(at, end, &value_bytes)) {
    return damaged(r, "a bad entry");
  }
  uint64_t left = (uint64_t)(end - *at);
  if (shared > key->size_bytes || unshared > left || value_bytes > left - unshared) {
    return damaged(r, "an entry lies outside its block");
  }
  key->size_bytes = (size_t)shared;
  rheos__buffer_put(key, *at, (size_t)unshared);
  if (key->failed) return rheos__out_of_memory();
  *out_value = *at + unshared;
  *out_value_bytes = (size_t)value_bytes;
  *at += unshared + value_bytes;
  assert(*at <= end);
  return NULL;
}

// Keys must rise, across blocks too: readers search by them.
static rheos_status *check_order(reader *r, const rheos__buffer *key) {
  size_t shared =
      shared_prefix(r->last_key.data, r->last_key.size_bytes, key->data, key->size_bytes);
  bool rises = !r->has_last_key ||
               (shared < key->size_bytes &&
                (shared == r->last_key.size_bytes ||
                 (unsigned char)r->last_key.data[shared] < (unsigned char)key->data[shared]));
  if (!rises) return damaged(r, "its keys are not in order");
  r->last_key.size_bytes = shared;
  // The first key may be empty, and then has no bytes at all.
  const char *rest = key->size_bytes > 0 ? key->data + shared : "";
  rheos__buffer_put(&r->last_key, rest, key->size_bytes - shared);
  r->has_last_key = true;
  return r->last_key.failed ? rheos__out_of_memory() : NULL;
}

static rheos_status *visit_block(reader *r, const block *b) {
  // An index could otherwise name one large block without entries over and over.
  if (b->size_bytes == 0) return damaged(r, "an empty block");
  rheos__buffer key = {0};
  rheos_status *status = NULL;
  const char *at = b->data, *end = b->data + b->size_bytes;
  while (status == NULL && at < end) {
    const char *value;
    size_t value_bytes;
    status = read_entry(r, &at, end, &key, &value, &value_bytes);
    if (status == NULL) status = check_order(r, &key);
    if (status == NULL) {
      status = r->visit(r->argument, key.size_bytes > 0 ? key.data : "", key.size_bytes, value,
                        value_bytes);
    }
  }
  rheos__buffer_deinit(&key);
  return status;
}

static rheos_status *visit_index(reader *r, const block *index) {
  rheos__buffer key = {0};
  rheos_status *status = NULL;
  const char *at = index->data, *end = index->data + index->size_bytes;
  while (status == NULL && at < end) {
    const char *handle;
    size_t handle_bytes;
    block b;
    status = read_entry(r, &at, end, &key, &handle, &handle_bytes);
    if (status == NULL) status = read_block(r, &handle, handle + handle_bytes, &b);
    if (status == NULL) {
      status = visit_block(r, &b);
      rheos__free(b.owned);
    }
  }
  rheos__buffer_deinit(&key);
  return status;
}

// Reads the block of the index, by the footer.
static rheos_status *read_index(const reader *r, const char *footer, block *out_index) {
  if (rheos__load_64(footer + HANDLES_BYTES) != MAGIC) return damaged(r, "bad magic number");
  const char *at = footer, *end = footer + HANDLES_BYTES;
  uint64_t unused;
  if (!rheos__read_varint(&at, end, &unused) || !rheos__read_varint(&at, end, &unused)) {
    return damaged(r, "a bad footer");
  }
  return read_block(r, &at, end, out_index);
}

rheos_status *rheos__table_each(const char *name, const char *bytes, size_t size_bytes,
                                rheos__table_visit visit, void *argument) {
  reader r = {
      .name = name, .bytes = bytes, .size_bytes = size_bytes, .visit = visit, .argument = argument};
  if (size_bytes < FOOTER_BYTES) return damaged(&r, "it is too short");
  block index;
  rheos_status *status = read_index(&r, bytes + size_bytes - FOOTER_BYTES, &index);
  if (status == NULL) {
    status = visit_index(&r, &index);
    rheos__free(index.owned);
  }
  rheos__buffer_deinit(&r.last_key);
  return status;
}

// ---- Looking up

struct rheos__table {
  reader r;
  block index;
  block recent;  // the block read last: keys are mostly asked for in order
  const char *recent_handle;
};

rheos_status *rheos__table_open(const char *path, rheos__table **out_table) {
  *out_table = NULL;
  rheos__table *table = rheos__alloc_zeroed(sizeof *table);
  if (table == NULL) return rheos__out_of_memory();
  rheos_status *status = rheos__file_open(path, &table->r.file);
  if (status == NULL) {
    table->r.name = rheos__file_path(table->r.file);
    table->r.size_bytes = rheos__file_size(table->r.file);
    char footer[FOOTER_BYTES];
    status = table->r.size_bytes < FOOTER_BYTES
                 ? damaged(&table->r, "it is too short")
                 : rheos__file_read_at(table->r.file, table->r.size_bytes - FOOTER_BYTES, footer,
                                       FOOTER_BYTES);
    if (status == NULL) status = read_index(&table->r, footer, &table->index);
  }
  if (status != NULL) {
    rheos__table_close(table);
    return status;
  }
  *out_table = table;
  return NULL;
}

void rheos__table_close(rheos__table *table) {
  if (table == NULL) return;
  rheos__free(table->index.owned);
  rheos__free(table->recent.owned);
  rheos__file_close(table->r.file);
  rheos__free(table);
}

uint64_t rheos__table_file_size(const rheos__table *table) { return table->r.size_bytes; }

static int compare_keys(const char *a, size_t a_bytes, const char *b, size_t b_bytes) {
  size_t least = a_bytes < b_bytes ? a_bytes : b_bytes;
  int order = least > 0 ? memcmp(a, b, least) : 0;
  return order != 0 ? order : (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

// The first entry of a block whose key is not below `key`. *out_value is NULL if there is none.
static rheos_status *seek(const reader *r, const block *b, const char *key, size_t key_bytes,
                          bool *out_equal, const char **out_value, size_t *out_value_bytes) {
  rheos__buffer entry_key = {0};
  rheos_status *status = NULL;
  const char *at = b->data, *end = b->data + b->size_bytes;
  int order = -1;
  while (status == NULL && order < 0 && at < end) {
    status = read_entry(r, &at, end, &entry_key, out_value, out_value_bytes);
    if (status == NULL) order = compare_keys(entry_key.data, entry_key.size_bytes, key, key_bytes);
  }
  rheos__buffer_deinit(&entry_key);
  *out_equal = order == 0;
  if (order < 0) *out_value = NULL;
  return status;
}

rheos_status *rheos__table_get(rheos__table *table, const char *key, size_t key_bytes,
                               rheos__buffer *out_value, bool *out_found) {
  *out_found = false;
  out_value->size_bytes = 0;
  bool equal;
  const char *handle, *value;
  size_t handle_bytes, value_bytes;
  RHEOS_TRY(seek(&table->r, &table->index, key, key_bytes, &equal, &handle, &handle_bytes));
  if (handle == NULL) return NULL;
  if (handle != table->recent_handle) {
    const char *at = handle;
    block b;
    RHEOS_TRY(read_block(&table->r, &at, handle + handle_bytes, &b));
    rheos__free(table->recent.owned);
    table->recent = b;
    table->recent_handle = handle;
  }
  RHEOS_TRY(seek(&table->r, &table->recent, key, key_bytes, out_found, &value, &value_bytes));
  if (!*out_found) return NULL;
  rheos__buffer_put(out_value, value, value_bytes);
  return out_value->failed ? rheos__out_of_memory() : NULL;
}
