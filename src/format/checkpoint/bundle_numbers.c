// Numbers on their way between checkpoints and memory. They are cut into pieces, which the step's
// threads share: each reads or writes its piece and makes the checksum of it while it is in the
// cache. The checksum of the whole is joined from theirs, so it does not depend on the number of
// threads.
#include "format/checkpoint/bundle_files.h"

#include "base/crc32c.h"

enum { PIECE_BYTES = 1 << 18 };

typedef struct piece {
  rheos__bundle_numbers *whole;
  size_t at, size_bytes;
  uint32_t crc;
} piece;

static rheos_status *read_pieces(void *argument, int64_t first, int64_t last) {
  for (piece *p = (piece *)argument + first; p < (piece *)argument + last; p++) {
    char *bytes = p->whole->bytes + p->at;
    RHEOS_TRY(rheos__file_read_at(p->whole->from, p->whole->offset + p->at, bytes, p->size_bytes));
    p->crc = rheos__crc32c(0, bytes, p->size_bytes);
  }
  return NULL;
}

static rheos_status *write_pieces(void *argument, int64_t first, int64_t last) {
  for (piece *p = (piece *)argument + first; p < (piece *)argument + last; p++) {
    const char *bytes = p->whole->bytes + p->at;
    p->crc = rheos__crc32c(0, bytes, p->size_bytes);
    RHEOS_TRY(
        rheos__file_writer_write_at(p->whole->to, p->whole->offset + p->at, bytes, p->size_bytes));
  }
  return NULL;
}

static size_t num_pieces(const rheos__bundle_numbers *whole) {
  return whole->size_bytes / PIECE_BYTES + (whole->size_bytes % PIECE_BYTES != 0);
}

// Cuts everything into pieces, which come in the order of the file.
static piece *cut_up(rheos__bundle_numbers *numbers, size_t count, size_t *out_pieces) {
  size_t total = 0;
  for (size_t i = 0; i < count; i++) {
    if (!rheos__add_size(total, num_pieces(&numbers[i]), &total)) return NULL;
  }
  *out_pieces = total;
  piece *pieces = rheos__alloc_array(total, sizeof *pieces), *p = pieces;
  for (size_t i = 0; pieces != NULL && i < count; i++) {
    rheos__bundle_numbers *whole = &numbers[i];
    for (size_t at = 0; at < whole->size_bytes; at += PIECE_BYTES) {
      const size_t left = whole->size_bytes - at;
      *p++ =
          (piece){.whole = whole, .at = at, .size_bytes = left < PIECE_BYTES ? left : PIECE_BYTES};
    }
  }
  return pieces;
}

static rheos_status *move(rheos__bundle_numbers *numbers, size_t count, rheos__step *step,
                          rheos_status *(*body)(void *, int64_t, int64_t)) {
  size_t total;
  piece *pieces = cut_up(numbers, count, &total);
  if (pieces == NULL) return rheos__out_of_memory();
  const double flops = (double)total * PIECE_BYTES;
  rheos_status *status =
      rheos__step_parallel(step, (int64_t)total, rheos__flops(flops), body, pieces);
  for (size_t i = 0; i < count; i++) numbers[i].crc = 0;
  for (size_t i = 0; status == NULL && i < total; i++) {
    uint32_t *crc = &pieces[i].whole->crc;
    *crc = pieces[i].at == 0 ? pieces[i].crc
                             : rheos__crc32c_join(*crc, pieces[i].crc, pieces[i].size_bytes);
  }
  rheos__free(pieces);
  return status;
}

rheos_status *rheos__bundle_read_numbers(rheos__bundle_numbers *numbers, size_t count,
                                         rheos__step *step) {
  return move(numbers, count, step, read_pieces);
}

rheos_status *rheos__bundle_write_numbers(rheos__bundle_numbers *numbers, size_t count,
                                          rheos__step *step) {
  return move(numbers, count, step, write_pieces);
}
