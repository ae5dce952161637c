#include "net/grpc/grpc_transport.h"

static grpc_slice slice_of(const rheos__piece *piece) {
  if (piece->release == NULL) {
    return grpc_slice_from_copied_buffer(piece->data, piece->size_bytes);
  }
  return grpc_slice_new_with_user_data((void *)(uintptr_t)piece->data, piece->size_bytes,
                                       piece->release, piece->owner);
}

grpc_byte_buffer *rheos__grpc_buffer_of(rheos__pieces pieces) {
  enum { FEW = 16 };
  grpc_slice few[FEW];
  grpc_slice *slices = pieces.count <= FEW ? few : calloc(pieces.count, sizeof *slices);
  if (slices == NULL) {
    for (size_t i = 0; i < pieces.count; i++) {
      if (pieces.pieces[i].release != NULL) pieces.pieces[i].release(pieces.pieces[i].owner);
    }
    return NULL;
  }
  for (size_t i = 0; i < pieces.count; i++) slices[i] = slice_of(&pieces.pieces[i]);
  grpc_byte_buffer *buffer = grpc_raw_byte_buffer_create(slices, pieces.count);
  for (size_t i = 0; i < pieces.count; i++) grpc_slice_unref(slices[i]);
  if (slices != few) free(slices);
  return buffer;
}

static bool add_slice(rheos__grpc_bytes *bytes, size_t *capacity, grpc_slice slice) {
  const size_t count = bytes->chunks.count;
  if (count == *capacity) {
    *capacity = *capacity > 0 ? 2 * *capacity : 4;
    void *grown = realloc(bytes->slices, *capacity * sizeof *bytes->slices);
    if (grown == NULL) return false;
    bytes->slices = grown;
  }
  bytes->slices[count] = slice;
  bytes->chunks.count = count + 1;
  return true;
}

// Where the bytes of slices lie is known when no slice is moved any more.
static bool point_at_slices(rheos__grpc_bytes *bytes) {
  const size_t count = bytes->chunks.count;
  rheos__chunk *chunks = malloc((count + 1) * sizeof *chunks);
  if (chunks == NULL) return false;
  for (size_t i = 0; i < count; i++) {
    chunks[i] = (rheos__chunk){(const char *)GRPC_SLICE_START_PTR(bytes->slices[i]),
                               GRPC_SLICE_LENGTH(bytes->slices[i])};
  }
  bytes->chunks.chunks = chunks;
  return true;
}

bool rheos__grpc_bytes_init(rheos__grpc_bytes *bytes, grpc_byte_buffer *buffer) {
  size_t capacity = 0;
  *bytes = (rheos__grpc_bytes){.has_reader = false};
  if (buffer == NULL) return true;
  if (!grpc_byte_buffer_reader_init(&bytes->reader, buffer)) return false;
  bytes->has_reader = true;
  grpc_slice slice;
  while (grpc_byte_buffer_reader_next(&bytes->reader, &slice)) {
    if (add_slice(bytes, &capacity, slice)) continue;
    grpc_slice_unref(slice);
    rheos__grpc_bytes_deinit(bytes);
    return false;
  }
  if (point_at_slices(bytes)) return true;
  rheos__grpc_bytes_deinit(bytes);
  return false;
}

void rheos__grpc_bytes_deinit(rheos__grpc_bytes *bytes) {
  for (size_t i = 0; i < bytes->chunks.count; i++) grpc_slice_unref(bytes->slices[i]);
  free(bytes->slices);
  free((void *)(uintptr_t)bytes->chunks.chunks);
  if (bytes->has_reader) grpc_byte_buffer_reader_destroy(&bytes->reader);
  *bytes = (rheos__grpc_bytes){.has_reader = false};
}
