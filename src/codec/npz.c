// NumPy's archives of arrays: zip files whose members are .npy files, stored or deflated. An
// archive is read from its end, where its directory is; nothing it says about places and sizes is
// believed before it is checked. An array takes at most 1032 times the bytes that it has in the
// file, which is the best that deflate can do.
#include <rheos/format.h>

#include <assert.h>
#include <zlib.h>

#include "codec/buffer.h"

enum {
  END_BYTES = 22,
  END64_BYTES = 56,
  LOCATOR64_BYTES = 20,
  ENTRY_BYTES = 46,
  LOCAL_BYTES = 30,
  MAX_COMMENT_BYTES = 65535,
  MAX_RATIO = 1032,
  STORED = 0,
  DEFLATED = 8,
};
static const uint32_t end_mark = 0x06054b50, end64_mark = 0x06064b50, locator64_mark = 0x07064b50,
                      entry_mark = 0x02014b50, local_mark = 0x04034b50;

typedef struct member {
  char *name;  // without ".npy"
  uint16_t method;
  uint32_t crc;
  uint64_t packed_bytes, size_bytes, local_at;
} member;

struct rheos_npz {
  const char *bytes;
  size_t size_bytes;
  member *members;
  size_t count, capacity;
};

static rheos_status *damaged(const char *what) {
  return rheos_status_new(RHEOS_DATA_LOSS, "not a sound .npz file: %s", what);
}

static uint16_t load_16(const void *data) {
  uint16_t value;
  memcpy(&value, data, sizeof value);
  return value;
}

// ---- The directory

// What the end of the archive says of its directory.
typedef struct directory {
  uint64_t count, size_bytes, at;
} directory;

static bool lies_in(const rheos_npz *npz, uint64_t at, uint64_t size_bytes) {
  return at <= npz->size_bytes && size_bytes <= npz->size_bytes - at;
}

// Of an archive whose numbers do not fit 32 bits.
static rheos_status *read_end64(const rheos_npz *npz, size_t end_at, directory *d) {
  if (end_at < LOCATOR64_BYTES) return NULL;
  const char *locator = npz->bytes + end_at - LOCATOR64_BYTES;
  if (rheos__load_32(locator) != locator64_mark) return NULL;
  const uint64_t at = rheos__load_64(locator + 8);
  if (!lies_in(npz, at, END64_BYTES) || rheos__load_32(npz->bytes + at) != end64_mark) {
    return damaged("its end is not where it should be");
  }
  const char *end64 = npz->bytes + at;
  *d = (directory){rheos__load_64(end64 + 32), rheos__load_64(end64 + 40),
                   rheos__load_64(end64 + 48)};
  return NULL;
}

static rheos_status *find_directory(const rheos_npz *npz, directory *d) {
  if (npz->size_bytes < END_BYTES) return damaged("it is cut short");
  const size_t last = npz->size_bytes - END_BYTES;
  const size_t first = last > MAX_COMMENT_BYTES ? last - MAX_COMMENT_BYTES : 0;
  for (size_t at = last + 1; at-- > first;) {
    const char *end = npz->bytes + at;
    if (rheos__load_32(end) != end_mark || load_16(end + 20) > last - at) continue;
    *d = (directory){load_16(end + 10), rheos__load_32(end + 12), rheos__load_32(end + 16)};
    return read_end64(npz, at, d);
  }
  return damaged("its directory is missing");
}

// Sizes that do not fit 32 bits are in a field of 64-bit numbers, in this order.
static rheos_status *read_sizes64(const char *extra, size_t extra_bytes, member *m) {
  while (extra_bytes >= 4) {
    const size_t size_bytes = load_16(extra + 2);
    if (size_bytes > extra_bytes - 4) return damaged("a bad extra field");
    if (load_16(extra) == 1) {
      const char *at = extra + 4, *end = at + size_bytes;
      uint64_t *const numbers[] = {&m->size_bytes, &m->packed_bytes, &m->local_at};
      for (size_t i = 0; i < 3; i++) {
        if (*numbers[i] != UINT32_MAX) continue;
        if (end - at < 8) return damaged("a bad extra field");
        *numbers[i] = rheos__load_64(at);
        at += 8;
      }
      return NULL;
    }
    extra += 4 + size_bytes;
    extra_bytes -= 4 + size_bytes;
  }
  return NULL;
}

static rheos_status *read_entry(rheos_npz *npz, const char *at, size_t name_bytes,
                                size_t extra_bytes) {
  member m = {.method = load_16(at + 10),
              .crc = rheos__load_32(at + 16),
              .packed_bytes = rheos__load_32(at + 20),
              .size_bytes = rheos__load_32(at + 24),
              .local_at = rheos__load_32(at + 42)};
  RHEOS_TRY(read_sizes64(at + ENTRY_BYTES + name_bytes, extra_bytes, &m));
  const char *name = at + ENTRY_BYTES;
  if (memchr(name, '\0', name_bytes) != NULL) return damaged("a name holds a NUL byte");
  if (name_bytes > 4 && memcmp(name + name_bytes - 4, ".npy", 4) == 0) name_bytes -= 4;
  if (!RHEOS_RESERVE(npz->members, npz->capacity, npz->count + 1)) return rheos__out_of_memory();
  m.name = rheos__strndup(name, name_bytes);
  if (m.name == NULL) return rheos__out_of_memory();
  npz->members[npz->count++] = m;
  return NULL;
}

static rheos_status *read_directory(rheos_npz *npz) {
  directory d = {0};
  RHEOS_TRY(find_directory(npz, &d));
  if (!lies_in(npz, d.at, d.size_bytes)) return damaged("its directory is not where it should be");
  const char *at = npz->bytes + d.at, *end = at + d.size_bytes;
  for (uint64_t i = 0; i < d.count; i++) {
    if (end - at < ENTRY_BYTES || rheos__load_32(at) != entry_mark) {
      return damaged("its directory is cut short");
    }
    const size_t name_bytes = load_16(at + 28), extra_bytes = load_16(at + 30);
    const size_t all = ENTRY_BYTES + name_bytes + extra_bytes + load_16(at + 32);
    if (all > (size_t)(end - at)) return damaged("its directory is cut short");
    RHEOS_TRY(read_entry(npz, at, name_bytes, extra_bytes));
    at += all;
  }
  assert(npz->count == d.count && npz->count <= npz->capacity);
  return NULL;
}

// ---- Reading

rheos_status *rheos_npz_open(const void *bytes, size_t size_bytes, rheos_npz **out_npz) {
  RHEOS_OUT(out_npz);
  RHEOS_NEED_BYTES(bytes, size_bytes);
  rheos_npz *npz = rheos__alloc_zeroed(sizeof *npz);
  if (npz == NULL) return rheos__out_of_memory();
  npz->bytes = bytes;
  npz->size_bytes = size_bytes;
  rheos_status *status = read_directory(npz);
  if (status != NULL) {
    rheos_npz_free(npz);
    return status;
  }
  *out_npz = npz;
  return NULL;
}

void rheos_npz_free(rheos_npz *npz) {
  if (npz == NULL) return;
  for (size_t i = 0; i < npz->count; i++) rheos__free(npz->members[i].name);
  rheos__free(npz->members);
  rheos__free(npz);
}

size_t rheos_npz_count(const rheos_npz *npz) { return npz != NULL ? npz->count : 0; }
const char *rheos_npz_name(const rheos_npz *npz, size_t index) {
  return npz != NULL && index < npz->count ? npz->members[index].name : NULL;
}

static bool inflate_all(const char *from, size_t packed_bytes, char *to, size_t size_bytes) {
  z_stream stream = {0};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;
  int result = Z_OK;
  while (result == Z_OK) {
    // zlib counts in 32 bits.
    stream.next_in = (Bytef *)(uintptr_t)from;
    stream.avail_in = packed_bytes > INT32_MAX ? INT32_MAX : (uInt)packed_bytes;
    stream.next_out = (Bytef *)to;
    stream.avail_out = size_bytes > INT32_MAX ? INT32_MAX : (uInt)size_bytes;
    const size_t in = stream.avail_in, out = stream.avail_out;
    result = inflate(&stream, Z_NO_FLUSH);
    const size_t taken = in - stream.avail_in, made = out - stream.avail_out;
    assert(taken <= packed_bytes && made <= size_bytes);
    if (result == Z_OK && taken == 0 && made == 0) result = Z_BUF_ERROR;
    from += taken;
    packed_bytes -= taken;
    to += made;
    size_bytes -= made;
  }
  inflateEnd(&stream);
  return result == Z_STREAM_END && size_bytes == 0;
}

static uint32_t crc_of(const char *data, size_t size_bytes) {
  return (uint32_t)crc32_z(0, (const Bytef *)data, size_bytes);
}

static rheos_status *decode_member(const member *m, const char *data, rheos_tensor **out_tensor) {
  if (crc_of(data, (size_t)m->size_bytes) != m->crc) return damaged("a checksum is wrong");
  rheos_status *status = rheos_npy_decode(data, (size_t)m->size_bytes, out_tensor);
  if (status == NULL || rheos_status_code(status) == RHEOS_RESOURCE_EXHAUSTED) return status;
  // Other programs' archives hold other files.
  rheos_status *named = rheos_status_new(rheos_status_code(status), "'%s' in the archive: %s",
                                         m->name, rheos_status_message(status));
  rheos_status_free(status);
  return named;
}

rheos_status *rheos_npz_read(const rheos_npz *npz, size_t index, rheos_tensor **out_tensor) {
  RHEOS_OUT(out_tensor);
  RHEOS_NEED(npz);
  if (index >= npz->count) return RHEOS_INVALID("the archive has no array %zu", index);
  const member *m = &npz->members[index];
  if (!lies_in(npz, m->local_at, LOCAL_BYTES)) return damaged("an array is not where it should be");
  const char *local = npz->bytes + m->local_at;
  if (rheos__load_32(local) != local_mark) return damaged("an array is not where it should be");
  if ((load_16(local + 6) & 1) != 0) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "encrypted archives are not read");
  }
  const uint64_t at = m->local_at + LOCAL_BYTES + load_16(local + 26) + load_16(local + 28);
  if (!lies_in(npz, at, m->packed_bytes)) return damaged("an array is cut short");
  const char *data = npz->bytes + at;
  if (m->method == STORED) {
    if (m->size_bytes != m->packed_bytes) return damaged("two sizes differ");
    return decode_member(m, data, out_tensor);
  }
  if (m->method != DEFLATED) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "archives of compression method %d are not read",
                            m->method);
  }
  if (m->size_bytes / MAX_RATIO > m->packed_bytes) return damaged("an impossible size");
  char *inflated = rheos__alloc((size_t)m->size_bytes);
  if (inflated == NULL) return rheos__out_of_memory();
  rheos_status *status = inflate_all(data, (size_t)m->packed_bytes, inflated, (size_t)m->size_bytes)
                             ? decode_member(m, inflated, out_tensor)
                             : damaged("an array cannot be decompressed");
  rheos__free(inflated);
  return status;
}

// ---- Writing

static void put_16(rheos__buffer *buffer, size_t value) {
  const char bytes[2] = {(char)(value & 0xff), (char)(value >> 8 & 0xff)};
  rheos__buffer_put(buffer, bytes, sizeof bytes);
}

// What the local header and the entry of the directory have in common.
static void put_common(rheos__buffer *buffer, const member *m) {
  enum { VERSION = 20, FIRST_OF_JANUARY_1980 = 1 << 5 | 1 };
  assert(m->packed_bytes <= UINT32_MAX && m->size_bytes <= UINT32_MAX);
  put_16(buffer, VERSION);
  put_16(buffer, 1 << 11);  // the name is UTF-8
  put_16(buffer, m->method);
  put_16(buffer, 0);
  put_16(buffer, FIRST_OF_JANUARY_1980);
  rheos__buffer_put_32(buffer, m->crc);
  rheos__buffer_put_32(buffer, (uint32_t)m->packed_bytes);
  rheos__buffer_put_32(buffer, (uint32_t)m->size_bytes);
  put_16(buffer, strlen(m->name) + 4);
  put_16(buffer, 0);
}

static void put_name(rheos__buffer *buffer, const member *m) {
  rheos__buffer_put(buffer, m->name, strlen(m->name));
  rheos__buffer_put(buffer, ".npy", 4);
}

// Deflated, in fresh memory; NULL when it is short.
static char *deflate_all(const char *data, size_t size_bytes, size_t *out_packed_bytes) {
  z_stream stream = {0};
  enum { MEMORY_LEVEL = 8 };
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, MEMORY_LEVEL,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return NULL;
  }
  const size_t bound = deflateBound(&stream, size_bytes);
  char *packed = bound <= UINT32_MAX ? rheos__alloc(bound) : NULL;
  if (packed != NULL) {
    stream.next_in = (Bytef *)(uintptr_t)data;
    stream.avail_in = (uInt)size_bytes;
    stream.next_out = (Bytef *)packed;
    stream.avail_out = (uInt)bound;
    deflate(&stream, Z_FINISH);
    *out_packed_bytes = stream.total_out;
    assert(stream.avail_in == 0 && stream.total_out <= bound);
  }
  deflateEnd(&stream);
  return packed;
}

static rheos_status *put_member(rheos__buffer *buffer, member *m, const char *data) {
  char *packed = NULL;
  if (m->method == DEFLATED) {
    size_t packed_bytes = 0;
    packed = deflate_all(data, (size_t)m->size_bytes, &packed_bytes);
    if (packed == NULL) return rheos__out_of_memory();
    m->packed_bytes = packed_bytes;
  }
  rheos__buffer_put_32(buffer, local_mark);
  put_common(buffer, m);
  put_name(buffer, m);
  rheos__buffer_put(buffer, packed != NULL ? packed : data, (size_t)m->packed_bytes);
  rheos__free(packed);
  return NULL;
}

static rheos_status *put_array(rheos__buffer *buffer, const char *name, const rheos_tensor *tensor,
                               bool compress, member *m) {
  void *data;
  size_t size_bytes;
  if (strlen(name) > UINT16_MAX - 4) return RHEOS_INVALID("a name is too long for an archive");
  RHEOS_TRY(rheos_npy_encode(tensor, &data, &size_bytes));
  *m = (member){.name = (char *)(uintptr_t)name,
                .method = compress ? DEFLATED : STORED,
                .crc = crc_of(data, size_bytes),
                .packed_bytes = size_bytes,
                .size_bytes = size_bytes,
                .local_at = buffer->size_bytes};
  rheos_status *status = size_bytes < UINT32_MAX / 2
                             ? put_member(buffer, m, data)
                             : RHEOS_INVALID("'%s' is too large for an archive", name);
  rheos_free(data);
  if (status == NULL && buffer->size_bytes >= UINT32_MAX) {
    status = RHEOS_INVALID("the arrays are too large for one archive");
  }
  return status;
}

static void put_directory(rheos__buffer *buffer, const member *members, size_t count) {
  const size_t at = buffer->size_bytes;
  for (size_t i = 0; i < count; i++) {
    const member *m = &members[i];
    rheos__buffer_put_32(buffer, entry_mark);
    put_16(buffer, 20);
    put_common(buffer, m);
    for (int k = 0; k < 3; k++) put_16(buffer, 0);  // comment, disk, kind of content
    rheos__buffer_put_32(buffer, 0);
    rheos__buffer_put_32(buffer, (uint32_t)m->local_at);
    put_name(buffer, m);
  }
  assert(count <= UINT16_MAX && at <= buffer->size_bytes);
  const size_t size_bytes = buffer->size_bytes - at;
  rheos__buffer_put_32(buffer, end_mark);
  put_16(buffer, 0);
  put_16(buffer, 0);
  put_16(buffer, count);
  put_16(buffer, count);
  rheos__buffer_put_32(buffer, (uint32_t)size_bytes);
  rheos__buffer_put_32(buffer, (uint32_t)at);
  put_16(buffer, 0);
}

rheos_status *rheos_npz_encode(const char *const *names, rheos_tensor *const *tensors, size_t count,
                               bool compress, void **out_bytes, size_t *out_size_bytes) {
  RHEOS_OUT(out_bytes);
  RHEOS_OUT(out_size_bytes);
  RHEOS_NEED_TEXTS(names, count);
  RHEOS_NEED_LIST(tensors, count);
  if (count > UINT16_MAX) return RHEOS_INVALID("%zu arrays are too many for an archive", count);
  member *members = rheos__alloc_array(count, sizeof *members);
  if (members == NULL) return rheos__out_of_memory();
  rheos__buffer buffer = {0};
  rheos_status *status = NULL;
  for (size_t i = 0; i < count && status == NULL; i++) {
    status = put_array(&buffer, names[i], tensors[i], compress, &members[i]);
  }
  if (status == NULL) put_directory(&buffer, members, count);
  rheos__free(members);
  if (status == NULL && buffer.failed) status = rheos__out_of_memory();
  if (status != NULL) {
    rheos__buffer_deinit(&buffer);
    return status;
  }
  *out_bytes = buffer.data;
  *out_size_bytes = buffer.size_bytes;
  return NULL;
}
