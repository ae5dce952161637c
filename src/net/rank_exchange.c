#include "net/rank_exchange.h"

#include <string.h>

#include "base/alloc.h"
#include "ops/collective/collective_combine.h"

// A scratch that the caches hold, so that what came is merged before it leaves them.
enum { SCRATCH_BYTES = 2 << 20, LEAST_SEGMENT_BYTES = 16384, SMALL_BYTES = 1 << 15 };

rheos_status *rheos__rank_exchange_init(rheos__rank_exchange *e, const rheos__rank_link *link,
                                        const rheos__rank_wait *wait, int32_t rank,
                                        int32_t num_ranks) {
  const size_t least = (size_t)num_ranks * LEAST_SEGMENT_BYTES;
  *e = (rheos__rank_exchange){.link = link, .wait = *wait, .rank = rank, .num_ranks = num_ranks};
  e->scratch_bytes = least > SCRATCH_BYTES ? least : SCRATCH_BYTES;
  e->scratch = rheos__alloc(e->scratch_bytes);
  e->pieces = rheos__alloc_array((size_t)num_ranks * RHEOS__PIECES_PER_RANK, sizeof *e->pieces);
  e->runs = rheos__alloc_array((size_t)num_ranks, sizeof *e->runs);
  return e->scratch != NULL && e->pieces != NULL && e->runs != NULL ? NULL : rheos__out_of_memory();
}

void rheos__rank_exchange_deinit(rheos__rank_exchange *e) {
  rheos__free(e->scratch);
  rheos__free(e->pieces);
  rheos__free((void *)e->runs);
}

// ---- Pieces

static void give(rheos__rank_exchange *e, int32_t rank, const void *data, size_t size_bytes) {
  e->pieces[e->num_pieces++] = (rheos__rank_piece){
      .rank = rank, .is_for_it = true, .data = (void *)(uintptr_t)data, .size_bytes = size_bytes};
}

static void take(rheos__rank_exchange *e, int32_t rank, void *data, size_t size_bytes) {
  e->pieces[e->num_pieces++] =
      (rheos__rank_piece){.rank = rank, .data = data, .size_bytes = size_bytes};
}

static bool exchange(rheos__rank_exchange *e) {
  const size_t count = e->num_pieces;
  e->num_pieces = 0;
  return e->link->exchange(e->pieces, count, &e->wait);
}

// The ranks but this one, so that not all begin with the same.
static int32_t other(const rheos__rank_exchange *e, int32_t i) {
  return (int32_t)(((int64_t)e->rank + i) % e->num_ranks);
}

// ---- Reducing

static void merge(rheos__rank_exchange *e, const rheos__collective *what, const char *own,
                  size_t stride_bytes, void *out, int64_t count) {
  for (int32_t i = 0; i < e->num_ranks; i++) e->runs[i] = e->scratch + (size_t)i * stride_bytes;
  e->runs[e->rank] = own;
  rheos__merge_runs(what, e->runs, e->num_ranks, out, count);
}

// Each rank merges all.
static bool reduce_small(rheos__rank_exchange *e, const rheos__collective *what, const void *input,
                         void *output, int64_t count) {
  const size_t size = (size_t)count * rheos_dtype_size(what->dtype);
  for (int32_t i = 1; i < e->num_ranks; i++) {
    const int32_t rank = other(e, i);
    take(e, rank, e->scratch + (size_t)rank * size, size);
    give(e, rank, input, size);
  }
  if (!exchange(e)) return false;
  merge(e, what, input, size, output, count);
  return true;
}

// Elements of a tensor, of which each rank merges a part, segment by segment.
typedef struct parts {
  int64_t count, segment;
  size_t element_bytes;
  const char *input;
  char *output;
} parts;

typedef struct range {
  int64_t first, count;
} range;

static int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }

static range part_of(const rheos__rank_exchange *e, const parts *p, int32_t rank) {
  const int64_t least = p->count / e->num_ranks, more = p->count % e->num_ranks;
  const int64_t first = rank * least + least_of(rank, more);
  return (range){first, least + (rank < more ? 1 : 0)};
}

static range segment_of(const rheos__rank_exchange *e, const parts *p, int32_t rank, int64_t i) {
  const range part = part_of(e, p, rank);
  const int64_t from = least_of(part.count, i * p->segment);
  return (range){part.first + from, least_of(part.count - from, p->segment)};
}

// Gives each rank what it is to merge of segment i, and all ranks what came out of the one before:
// `i` is one more than the last to end with.
static bool exchange_segment(rheos__rank_exchange *e, const parts *p, int64_t i) {
  const size_t size = p->element_bytes, stride = (size_t)p->segment * size;
  const range own = segment_of(e, p, e->rank, i);
  for (int32_t k = 1; k < e->num_ranks; k++) {
    const int32_t rank = other(e, k);
    const range its = segment_of(e, p, rank, i);
    take(e, rank, e->scratch + (size_t)rank * stride, (size_t)own.count * size);
    give(e, rank, p->input + (size_t)its.first * size, (size_t)its.count * size);
    if (i == 0) continue;
    const range merged = segment_of(e, p, e->rank, i - 1);
    const range its_merged = segment_of(e, p, rank, i - 1);
    take(e, rank, p->output + (size_t)its_merged.first * size, (size_t)its_merged.count * size);
    give(e, rank, p->output + (size_t)merged.first * size, (size_t)merged.count * size);
  }
  return exchange(e);
}

bool rheos__rank_reduce(rheos__rank_exchange *e, const rheos__collective *what, const void *input,
                        void *output, int64_t count) {
  const size_t size = rheos_dtype_size(what->dtype);
  if ((size_t)count <= SMALL_BYTES / size / (size_t)e->num_ranks) {
    return reduce_small(e, what, input, output, count);
  }
  const parts p = {.count = count,
                   .segment = (int64_t)(e->scratch_bytes / size) / e->num_ranks,
                   .element_bytes = size,
                   .input = input,
                   .output = output};
  const int64_t num_segments = (part_of(e, &p, 0).count + p.segment - 1) / p.segment;
  for (int64_t i = 0; i <= num_segments; i++) {
    if (!exchange_segment(e, &p, i)) return false;
    const range own = segment_of(e, &p, e->rank, i);
    const size_t from = (size_t)own.first * size;
    if (own.count == 0) continue;
    merge(e, what, p.input + from, (size_t)p.segment * size, p.output + from, own.count);
  }
  return true;
}

bool rheos__rank_reduce_scatter(rheos__rank_exchange *e, const rheos__collective *what,
                                const void *input, void *output, int64_t count) {
  const size_t size = rheos_dtype_size(what->dtype);
  const int64_t segment = (int64_t)(e->scratch_bytes / size) / e->num_ranks;
  for (int64_t from = 0; from < count; from += segment) {
    const int64_t n = least_of(count - from, segment);
    const size_t bytes = (size_t)n * size;
    for (int32_t k = 1; k < e->num_ranks; k++) {
      const int32_t rank = other(e, k);
      take(e, rank, e->scratch + (size_t)rank * bytes, bytes);
      give(e, rank, (const char *)input + (size_t)(rank * count + from) * size, bytes);
    }
    if (!exchange(e)) return false;
    const char *own = (const char *)input + (size_t)(e->rank * count + from) * size;
    merge(e, what, own, bytes, (char *)output + (size_t)from * size, n);
  }
  return true;
}

// ---- Moving

static size_t piece_bytes(size_t left) {
  return left < RHEOS__MAX_PIECE_BYTES ? left : RHEOS__MAX_PIECE_BYTES;
}

// To each rank what lies `stride` bytes after what is for the one before it: 0 gives all the same.
static bool deal(rheos__rank_exchange *e, const char *input, size_t stride, char *output,
                 size_t size_bytes) {
  const char *own = input + (size_t)e->rank * stride;
  if (size_bytes > 0) memcpy(output + (size_t)e->rank * size_bytes, own, size_bytes);
  for (size_t from = 0; from < size_bytes; from += RHEOS__MAX_PIECE_BYTES) {
    const size_t bytes = piece_bytes(size_bytes - from);
    for (int32_t k = 1; k < e->num_ranks; k++) {
      const int32_t rank = other(e, k);
      take(e, rank, output + (size_t)rank * size_bytes + from, bytes);
      give(e, rank, input + (size_t)rank * stride + from, bytes);
    }
    if (!exchange(e)) return false;
  }
  return true;
}

bool rheos__rank_gather(rheos__rank_exchange *e, const void *input, void *output,
                        size_t size_bytes) {
  return deal(e, input, 0, output, size_bytes);
}

bool rheos__rank_all_to_all(rheos__rank_exchange *e, const void *input, void *output,
                            size_t size_bytes) {
  return deal(e, input, size_bytes, output, size_bytes);
}

bool rheos__rank_broadcast(rheos__rank_exchange *e, int32_t source, void *data, size_t size_bytes) {
  for (size_t from = 0; from < size_bytes; from += RHEOS__MAX_PIECE_BYTES) {
    const size_t bytes = piece_bytes(size_bytes - from);
    if (!e->link->broadcast(source, (char *)data + from, bytes, &e->wait)) return false;
  }
  return true;
}
