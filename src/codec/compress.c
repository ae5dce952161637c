// zlib behind a few functions, with our memory. Inputs larger than zlib counts go in pieces.
// Streams that follow each other are one, as gzip's own tool has it.
#include "codec/compress.h"

#include <assert.h>
#include <limits.h>
#include <zlib.h>

enum { PIECE_BYTES = 1 << 16, GZIP_HEADERS = 16 };

static void *allocate(void *unused, uInt count, uInt size_bytes) {
  (void)unused;
  return rheos__alloc_array(count, size_bytes);
}

static void release(void *unused, void *memory) {
  (void)unused;
  rheos__free(memory);
}

static int window_bits(rheos_compression compression) {
  return compression == RHEOS_GZIP ? MAX_WBITS + GZIP_HEADERS : MAX_WBITS;
}

static uInt piece_of(size_t size_bytes) {
  return size_bytes < INT_MAX ? (uInt)size_bytes : INT_MAX;
}

bool rheos__compression_of(const char *name, rheos_compression *out_compression) {
  static const char *const names[] = {"", "ZLIB", "GZIP"};
  for (int i = 0; i < 3; i++) {
    if (strcmp(name, names[i]) != 0) continue;
    *out_compression = (rheos_compression)i;
    return true;
  }
  return false;
}

// ---- Out of it

struct rheos__inflater {
  z_stream z;
  bool inside;  // a stream has begun and not ended
};

rheos_status *rheos__inflater_new(rheos_compression compression, rheos__inflater **out_inflater) {
  *out_inflater = NULL;
  rheos__inflater *inflater = rheos__alloc_zeroed(sizeof *inflater);
  if (inflater == NULL) return rheos__out_of_memory();
  inflater->z.zalloc = allocate;
  inflater->z.zfree = release;
  if (inflateInit2(&inflater->z, window_bits(compression)) != Z_OK) {
    rheos__free(inflater);
    return rheos__out_of_memory();
  }
  *out_inflater = inflater;
  return NULL;
}

void rheos__inflater_free(rheos__inflater *inflater) {
  if (inflater == NULL) return;
  inflateEnd(&inflater->z);
  rheos__free(inflater);
}

bool rheos__inflater_is_whole(const rheos__inflater *inflater) { return !inflater->inside; }

rheos_status *rheos__inflater_run(rheos__inflater *inflater, const char **in, size_t *in_bytes,
                                  char *out, size_t out_bytes, size_t *out_made) {
  z_stream *z = &inflater->z;
  *out_made = 0;
  while (*out_made < out_bytes) {
    const uInt piece = piece_of(*in_bytes), room = piece_of(out_bytes - *out_made);
    z->next_in = (Bytef *)(uintptr_t)*in;
    z->avail_in = piece;
    z->next_out = (Bytef *)out + *out_made;
    z->avail_out = room;
    if (!inflater->inside && piece == 0) return NULL;
    inflater->inside = true;
    const int result = inflate(z, Z_NO_FLUSH);
    const uInt used = piece - z->avail_in, made = room - z->avail_out;
    assert(used <= piece && used <= *in_bytes && made <= out_bytes - *out_made);
    *in += used;
    *in_bytes -= used;
    *out_made += made;
    if (result == Z_STREAM_END) {
      inflater->inside = false;
      if (inflateReset(z) != Z_OK) return rheos__out_of_memory();
    } else if (result == Z_MEM_ERROR) {
      return rheos__out_of_memory();
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      return rheos_status_new(RHEOS_DATA_LOSS, "the compressed bytes are damaged: %s",
                              z->msg != NULL ? z->msg : "they are no zlib stream");
    } else if (used == 0 && made == 0) {
      return NULL;  // it wants more input
    }
  }
  return NULL;
}

static rheos_status *decompress_all(rheos__inflater *inflater, const char *in, size_t in_bytes,
                                    rheos__buffer *out) {
  for (;;) {
    size_t made;
    char *room = rheos__buffer_extend(out, PIECE_BYTES);
    if (room == NULL) return rheos__out_of_memory();
    RHEOS_TRY(rheos__inflater_run(inflater, &in, &in_bytes, room, PIECE_BYTES, &made));
    assert(made <= PIECE_BYTES && out->size_bytes >= PIECE_BYTES);
    out->size_bytes -= PIECE_BYTES - made;
    if (made < PIECE_BYTES) break;
  }
  if (rheos__inflater_is_whole(inflater)) return NULL;
  return rheos_status_new(RHEOS_DATA_LOSS, "the compressed bytes are cut short");
}

rheos_status *rheos__decompress(rheos_compression compression, const void *data, size_t size_bytes,
                                rheos__buffer *out) {
  if (compression == RHEOS_NO_COMPRESSION) {
    rheos__buffer_put(out, data, size_bytes);
    return out->failed ? rheos__out_of_memory() : NULL;
  }
  rheos__inflater *inflater;
  RHEOS_TRY(rheos__inflater_new(compression, &inflater));
  rheos_status *status = decompress_all(inflater, size_bytes > 0 ? data : "", size_bytes, out);
  rheos__inflater_free(inflater);
  return status;
}

// ---- Into it

struct rheos__deflater {
  z_stream z;
  char piece[PIECE_BYTES];
};

rheos_status *rheos__deflater_new(rheos_compression compression, int level,
                                  rheos__deflater **out_deflater) {
  const rheos_record_options options = {.compression = compression, .level = level};
  return rheos__deflater_new_with(&options, out_deflater);
}

static rheos_status *check_range(const char *what, int value, int least, int most) {
  if (value >= least && value <= most) return NULL;
  return RHEOS_INVALID("%s %d is not between %d and %d", what, value, least, most);
}

rheos_status *rheos__deflater_new_with(const rheos_record_options *options,
                                       rheos__deflater **out_deflater) {
  *out_deflater = NULL;
  const int window = options->window_bits != 0 ? options->window_bits : MAX_WBITS;
  const int memory = options->memory_level != 0 ? options->memory_level : MAX_MEM_LEVEL;
  RHEOS_TRY(check_range("compression level", options->level, -1, 9));
  RHEOS_TRY(check_range("the logarithm of the window's size", window, 9, MAX_WBITS));
  RHEOS_TRY(check_range("memory level", memory, 1, MAX_MEM_LEVEL));
  RHEOS_TRY(
      check_range("compression strategy", (int)options->strategy, Z_DEFAULT_STRATEGY, Z_FIXED));
  rheos__deflater *deflater = rheos__alloc_zeroed(sizeof *deflater);
  if (deflater == NULL) return rheos__out_of_memory();
  deflater->z.zalloc = allocate;
  deflater->z.zfree = release;
  const int bits = window + (options->compression == RHEOS_GZIP ? GZIP_HEADERS : 0);
  if (deflateInit2(&deflater->z, options->level, Z_DEFLATED, bits, memory,
                   (int)options->strategy) != Z_OK) {
    rheos__free(deflater);
    return rheos__out_of_memory();
  }
  *out_deflater = deflater;
  return NULL;
}

void rheos__deflater_free(rheos__deflater *deflater) {
  if (deflater == NULL) return;
  deflateEnd(&deflater->z);
  rheos__free(deflater);
}

rheos_status *rheos__deflater_run(
    rheos__deflater *deflater, const void *data, size_t size_bytes, rheos__deflate_until until,
    rheos_status *(*put)(void *argument, const void *data, size_t size_bytes), void *argument) {
  static const int flushes[] = {Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FINISH};
  z_stream *z = &deflater->z;
  const char *at = data;
  do {
    z->next_in = (Bytef *)(uintptr_t)at;
    z->avail_in = piece_of(size_bytes);
    at = size_bytes > 0 ? at + z->avail_in : at;
    size_bytes -= z->avail_in;
    do {
      z->next_out = (Bytef *)deflater->piece;
      z->avail_out = PIECE_BYTES;
      deflate(z, size_bytes > 0 ? Z_NO_FLUSH : flushes[until]);
      RHEOS_TRY(put(argument, deflater->piece, PIECE_BYTES - z->avail_out));
    } while (z->avail_out == 0);
    assert(z->avail_in == 0);  // nothing is given behind the end of the stream
  } while (size_bytes > 0);
  return NULL;
}
