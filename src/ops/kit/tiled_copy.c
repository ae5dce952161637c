// Transposes of any order by tiles. A tile lies in a buffer between reading and writing, so that
// memory is read and written in long runs and rows a power of two apart do not push each other out
// of the caches. The next tile is read while one is written, so that neither waits for the other.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include "ops/kit/tiled_copy.h"

#include <assert.h>
#include <string.h>

#include "base/numbers.h"
#include "ops/kit/stream.h"
#include "ops/kit/transpose_square.h"

enum {
  LINE = RHEOS__LINE_BYTES,
  MOST_BYTES = 64,  // of an element
  LONG_RUN = 1024,
  SHORT_RUN = 512,   // bytes
  LEAD = 24,         // lines that are fetched before the first is written
  SHORT_PIECE = 32,  // bytes, which are moved element by element
  FETCHED = 2048,    // bytes that are fetched beyond those that are read
};

static int64_t quotient_up(int64_t a, int64_t b) { return a / b + (a % b != 0); }

// ---- Planning

static void loops_of(const rheos__copy *copy, int64_t size, rheos__tiled *t) {
  t->size = size, t->rank = copy->rank;
  for (int32_t d = 0; d < t->rank; ++d) {
    int32_t at = d;
    for (; at > 0 && t->loops[at - 1].out_step < copy->out_steps[d] * size; --at) {
      t->loops[at] = t->loops[at - 1];
    }
    t->loops[at] =
        (rheos__tiled_loop){copy->dims[d], copy->in_steps[d] * size, copy->out_steps[d] * size, 1};
  }
}

// The loops by their steps, the least first.
static void order_by_source(const rheos__tiled *t, int32_t *order) {
  for (int32_t d = 0; d < t->rank; ++d) {
    int32_t at = d;
    for (; at > 0 && t->loops[order[at - 1]].in_step > t->loops[d].in_step; --at) {
      order[at] = order[at - 1];
    }
    order[at] = d;
  }
}
static void order_by_result(const rheos__tiled *t, int32_t *order) {
  for (int32_t d = 0; d < t->rank; ++d) order[d] = t->rank - 1 - d;
}

// Whether each step is as long as all loops inside together.
static bool is_dense(const rheos__tiled *t, const int32_t *order, bool result) {
  int64_t step = t->size;
  for (int32_t i = 0; i < t->rank; ++i) {
    const rheos__tiled_loop *loop = &t->loops[order[i]];
    if ((result ? loop->out_step : loop->in_step) != step) return false;
    step *= loop->dim;
  }
  return true;
}

// How much of a loop of `dim` makes runs of `made` elements at least `wanted` long and at most
// twice that. Runs end with a line where they can.
static int64_t block_of(int64_t dim, int64_t made, int64_t wanted) {
  enum { WHOLE = 16 };
  if (dim <= 2 * wanted / made) return dim;
  const int64_t needed = quotient_up(wanted, made);
  int64_t multiple = WHOLE;
  for (int64_t m = made; m % 2 == 0 && multiple > 1; m /= 2) multiple /= 2;
  const int64_t rounded = quotient_up(needed, multiple) * multiple;
  return rounded <= 2 * wanted / made ? rheos__min(rounded, dim) : needed;
}

// Takes loops in `order` into the tile until they make a run of so many bytes. Returns the loop
// that is cut for it, or -1.
static int32_t take_loops(rheos__tiled *t, const int32_t *order, int64_t bytes) {
  const int64_t wanted = bytes / rheos__max(t->size, 4);
  int64_t made = 1;
  for (int32_t i = 0; i < t->rank && made < wanted; ++i) {
    rheos__tiled_loop *loop = &t->loops[order[i]];
    const int64_t block = block_of(loop->dim, made, wanted);
    loop->block = rheos__max(loop->block, block);
    if (block < loop->dim) return order[i];
    made *= block;
  }
  return -1;
}

// Long runs are better to read than to write. Where one loop makes both, the tile would be too
// large.
static void choose_blocks(rheos__tiled *t, const int32_t *by_source, const int32_t *by_result) {
  const int32_t in_cut = take_loops(t, by_source, SHORT_RUN);
  if (take_loops(t, by_result, LONG_RUN) == in_cut) return;
  for (int32_t d = 0; d < t->rank; ++d) t->loops[d].block = 1;
  take_loops(t, by_source, LONG_RUN);
  take_loops(t, by_result, SHORT_RUN);
}

// The length of what is one run with the loops in `order`, at most `most`; marks these loops and
// says which is cut.
static int64_t mark_run(const rheos__tiled *t, const int32_t *order, int64_t most, bool *in_run,
                        int32_t *out_cut) {
  int64_t run = 1;
  *out_cut = -1;
  for (int32_t i = 0; i < t->rank; ++i) {
    const rheos__tiled_loop *loop = &t->loops[order[i]];
    if (loop->block > most / run) break;
    run *= loop->block;
    in_run[order[i]] = true;
    if (loop->block == loop->dim) continue;
    *out_cut = order[i];
    break;
  }
  assert(run >= 1 && run <= most);
  return run;
}

// Loops that are gone over as an odometer goes, the last first.
typedef struct odometer {
  int32_t count;
  int32_t loops[RHEOS__COPY_RANK];
  int64_t index[RHEOS__COPY_RANK];
} odometer;

static void count_on(const rheos__tiled *t, odometer *o) {
  for (int32_t i = o->count - 1; i >= 0; --i) {
    if (++o->index[i] < t->loops[o->loops[i]].block) return;
    o->index[i] = 0;
  }
}

// The loops of the tile that are not in its runs. The one that is cut comes first, so that where it
// has less the first runs are left. Returns their number.
static int64_t loops_of_runs(const rheos__tiled *t, const bool *in_run, odometer *o,
                             int32_t *out_cut) {
  int64_t runs = 1;
  *out_cut = -1;
  for (int32_t d = 0; d < t->rank; ++d) {
    const rheos__tiled_loop *loop = &t->loops[d];
    if (in_run[d] || loop->block == 1) continue;
    runs *= loop->block;
    o->loops[o->count++] = d;
    if (loop->block == loop->dim) continue;
    *out_cut = d;
    memmove(o->loops + 1, o->loops, (size_t)(o->count - 1) * sizeof *o->loops);
    o->loops[0] = d;
  }
  return runs;
}

// Where runs begin, and where elements lie in the buffer; `steps` are those of the loops there.
static void fill_tables(rheos__tiled *t, odometer *in, odometer *out, odometer *run,
                        const int64_t *steps) {
  for (int64_t r = 0; r < t->in_runs; ++r, count_on(t, in)) {
    t->in_offsets[r] = 0;
    for (int32_t i = 0; i < in->count; ++i) {
      t->in_offsets[r] += in->index[i] * t->loops[in->loops[i]].in_step;
    }
  }
  for (int64_t r = 0; r < t->out_runs; ++r, count_on(t, out)) {
    t->out_offsets[r] = 0, t->starts[r] = 0;
    for (int32_t i = 0; i < out->count; ++i) {
      t->out_offsets[r] += out->index[i] * t->loops[out->loops[i]].out_step;
      t->starts[r] += (int32_t)(out->index[i] * steps[out->loops[i]]);
    }
  }
  for (int64_t k = 0; k < t->out_run; ++k, count_on(t, run)) {
    int64_t place = 0;
    for (int32_t i = 0; i < run->count; ++i) place += run->index[i] * steps[run->loops[i]];
    t->places[k] = (int32_t)(place / t->size);
  }
}

// The longest pieces that all runs, cut ones too, are made of.
static int64_t piece_of(const rheos__tiled *t) {
  int64_t piece = 1;
  for (int32_t d = t->rank - 1; d >= 0; --d) {
    const rheos__tiled_loop *loop = &t->loops[d];
    if (loop->in_step != loop->out_step || loop->block < loop->dim) break;
    piece *= loop->dim;
  }
  return piece <= t->out_run ? piece : t->out_run;
}

bool rheos__tiled_plan(const rheos__copy *copy, int64_t size, rheos__tiled *out_tiled) {
  rheos__tiled *t = out_tiled;
  if (copy->rank < 2 || copy->in_start != 0 || copy->out_start != 0) return false;
  if (size > MOST_BYTES || copy->num_elements == 0) return false;
  int32_t by_source[RHEOS__COPY_RANK], by_result[RHEOS__COPY_RANK];
  loops_of(copy, size, t);
  order_by_source(t, by_source);
  order_by_result(t, by_result);
  if (!is_dense(t, by_source, false) || !is_dense(t, by_result, true)) return false;
  choose_blocks(t, by_source, by_result);

  bool in_source_run[RHEOS__COPY_RANK] = {false}, in_result_run[RHEOS__COPY_RANK] = {false};
  odometer in = {.count = 0}, out = {.count = 0}, run = {.count = 0};
  t->in_run = mark_run(t, by_source, INT64_MAX, in_source_run, &t->in_run_cut);
  t->out_run = mark_run(t, by_result, RHEOS__TILED_RUN, in_result_run, &t->out_run_cut);
  t->in_runs = loops_of_runs(t, in_source_run, &in, &t->in_runs_cut);
  t->out_runs = loops_of_runs(t, in_result_run, &out, &t->out_runs_cut);
  for (int32_t d = 0; d < t->rank; ++d) {
    if (in_result_run[d]) run.loops[run.count++] = d;
  }
  assert(t->in_run * t->in_runs == t->out_run * t->out_runs);  // one tile, seen from both sides
  if (t->in_runs > RHEOS__TILED_RUNS || t->out_runs > RHEOS__TILED_RUNS) return false;
  t->pitch = quotient_up(t->in_run * size, LINE) * LINE;
  if (t->pitch / LINE % 2 == 0) t->pitch += LINE;  // no power of two apart

  assert(t->pitch % LINE == 0 && t->pitch >= t->in_run * size);
  int64_t steps[RHEOS__COPY_RANK] = {0}, step = t->pitch;
  for (int32_t d = 0; d < t->rank; ++d) steps[d] = t->loops[d].in_step;
  for (int32_t i = in.count - 1; i >= 0; --i) {
    steps[in.loops[i]] = step;
    step *= t->loops[in.loops[i]].block;
  }
  if (step > INT32_MAX) return false;
  fill_tables(t, &in, &out, &run, steps);
  t->piece = piece_of(t);
  assert(t->piece >= 1 && t->piece <= t->out_run);
  t->fours = size == 4 && t->piece == 1;
  t->num_tiles = 1;
  for (int32_t d = 0; d < t->rank; ++d) {
    t->num_tiles *= quotient_up(t->loops[d].dim, t->loops[d].block);
  }
  return t->piece > 1 || size >= 4;  // smaller ones would be moved one by one
}

static size_t buffer_bytes(const rheos__tiled *t) { return (size_t)(t->in_runs * t->pitch); }

// What is read beyond the last element of a piece is in the last line.
size_t rheos__tiled_scratch_bytes(const rheos__tiled *t) { return 2 * buffer_bytes(t) + LINE; }

// ---- Tiles

typedef struct tile {
  const char *from;
  char *to;
  int64_t firsts[RHEOS__COPY_RANK];
  int64_t in_run, in_runs, out_run, out_runs;
} tile;

static int64_t cut(const rheos__tiled *t, const int64_t *extents, int64_t count, int32_t loop) {
  if (loop < 0 || extents[loop] == t->loops[loop].block) return count;
  return count / t->loops[loop].block * extents[loop];
}

// Sets what follows from the tile's firsts.
static void place_tile(const rheos__tiled *t, const char *in, char *out, tile *at) {
  int64_t extents[RHEOS__COPY_RANK];
  at->from = in, at->to = out;
  for (int32_t d = 0; d < t->rank; ++d) {
    const rheos__tiled_loop *loop = &t->loops[d];
    extents[d] = rheos__min(loop->block, loop->dim - at->firsts[d]);
    at->from += at->firsts[d] * loop->in_step;
    at->to += at->firsts[d] * loop->out_step;
  }
  at->in_run = cut(t, extents, t->in_run, t->in_run_cut);
  at->in_runs = cut(t, extents, t->in_runs, t->in_runs_cut);
  at->out_run = cut(t, extents, t->out_run, t->out_run_cut);
  at->out_runs = cut(t, extents, t->out_runs, t->out_runs_cut);
}

static tile tile_at(const rheos__tiled *t, const char *in, char *out, int64_t number) {
  tile at;
  for (int32_t d = t->rank - 1; d >= 0; --d) {
    const int64_t blocks = quotient_up(t->loops[d].dim, t->loops[d].block);
    at.firsts[d] = number % blocks * t->loops[d].block;
    number /= blocks;
  }
  place_tile(t, in, out, &at);
  return at;
}

static void next_tile(const rheos__tiled *t, const char *in, char *out, tile *at) {
  for (int32_t d = t->rank - 1; d >= 0; --d) {
    at->firsts[d] += t->loops[d].block;
    if (at->firsts[d] < t->loops[d].dim) break;
    at->firsts[d] = 0;
  }
  place_tile(t, in, out, at);
}

// ---- Reading

static void fetch(const char *from) { __builtin_prefetch(from, 0, 3); }

// Reads runs [first, last) into the buffer, and fetches those that come some later.
static void read_runs(const rheos__tiled *t, const tile *at, char *buffer, int64_t first,
                      int64_t last) {
  const int64_t bytes = at->in_run * t->size, ahead = FETCHED / bytes + 1;
  for (int64_t r = first; r < last; ++r) {
    const char *from = at->from + t->in_offsets[r];
    const char *later = at->from + t->in_offsets[rheos__min(r + ahead, at->in_runs - 1)];
    char *to = buffer + r * t->pitch;
    int64_t b = 0;
    for (; b + LINE <= bytes; b += LINE) {
      fetch(later + b);
      memcpy(to + b, from + b, LINE);
    }
    if (b == bytes) continue;
    fetch(later + b);
    memcpy(to + b, from + b, (size_t)(bytes - b));
  }
}

// Long runs to be read next, which are fetched a line for each one written.
typedef struct fetched {
  const rheos__tiled *t;
  const tile *at;
  int64_t run, byte, run_bytes;
} fetched;

static inline void fetch_line(fetched *f) {
  if (f->run >= f->at->in_runs) return;
  fetch(f->at->from + f->t->in_offsets[f->run] + f->byte);
  f->byte += LINE;
  if (f->byte < f->run_bytes) return;
  f->byte = 0;
  f->run++;
}

static fetched fetch_from(const rheos__tiled *t, const tile *next) {
  enum { FEW = 8 };
  fetched f = {t, next, 0, 0, next->in_run * t->size};
  if (f.run_bytes < FETCHED && next->in_runs > FEW) f.run = next->in_runs;
  for (int i = 0; i < LEAD; ++i) fetch_line(&f);
  return f;
}

// ---- Writing: runs of the result, from the buffer

typedef uint32_t four __attribute__((vector_size(16)));
typedef uint64_t two __attribute__((vector_size(16)));
#define PART_uint32_t(x, p) ((four){x[(p)[0]], x[(p)[1]], x[(p)[2]], x[(p)[3]]})
#define PART_uint64_t(x, p) ((two){x[(p)[0]], x[(p)[1]]})

// Elements from anywhere, put together in registers.
#define WRITE_PLACES(type, part_type)                                                     \
  static void write_places_##type(char *to, const char *from, const int32_t *places,      \
                                  int64_t count, fetched *f) {                            \
    enum { PER_LINE = LINE / sizeof(type), PER_PART = sizeof(part_type) / sizeof(type) }; \
    const type *x = (const type *)from;                                                   \
    int64_t k = 0;                                                                        \
    for (; k < count && (uintptr_t)to % LINE != 0; ++k, to += sizeof(type)) {             \
      memcpy(to, &x[places[k]], sizeof(type));                                            \
    }                                                                                     \
    for (; k + PER_LINE <= count; k += PER_LINE) {                                        \
      fetch_line(f);                                                                      \
      for (int i = 0; i < PER_LINE; i += PER_PART, to += sizeof(part_type)) {             \
        const part_type part = PART_##type(x, places + k + i);                            \
        rheos__stream_part(to, &part);                                                    \
      }                                                                                   \
    }                                                                                     \
    for (; k < count; ++k, to += sizeof(type)) memcpy(to, &x[places[k]], sizeof(type));   \
  }
WRITE_PLACES(uint32_t, four)
WRITE_PLACES(uint64_t, two)

static void write_run(char *to, const char *from, int64_t bytes, fetched *f) {
  const int64_t head = rheos__min((int64_t)(-(uintptr_t)to % LINE), bytes);
  memcpy(to, from, (size_t)head);
  int64_t b = head;
  for (; b + LINE <= bytes; b += LINE) {
    fetch_line(f);
    rheos__stream_line(to + b, from + b);
  }
  memcpy(to + b, from + b, (size_t)(bytes - b));
}

// Moves of 16 bytes go beyond the end of a piece, over what the next one puts right.
static void write_pieces(const rheos__tiled *t, char *to, const char *from, int64_t count,
                         fetched *f) {
  enum { PART = RHEOS__STREAM_PART };
  _Alignas(LINE) char run[RHEOS__TILED_RUN * MOST_BYTES + LINE];
  const int64_t piece = t->piece * t->size;
  char *next = run;
  for (int64_t k = 0; k < count; k += t->piece, next += piece) {
    const char *x = from + t->places[k] * t->size;
    for (int64_t b = 0; b < piece; b += PART) memcpy(next + b, x + b, PART);
  }
  write_run(to, run, count * t->size, f);
}

// Pieces of whole parts, which are streamed from where they lie.
static void write_parts(const rheos__tiled *t, char *to, const char *from, int64_t count) {
  enum { PART = RHEOS__STREAM_PART };
  const int64_t piece = t->piece * t->size;
  const uintptr_t end = (uintptr_t)to + (uintptr_t)(count * t->size);
  const uintptr_t first = ((uintptr_t)to + LINE - 1) / LINE * LINE, last = end / LINE * LINE;
  for (int64_t k = 0; k < count; k += t->piece) {
    const char *x = from + t->places[k] * t->size;
    for (int64_t b = 0; b < piece; b += PART, to += PART) {
      if ((uintptr_t)to >= first && (uintptr_t)to < last) {
        rheos__stream_part(to, x + b);
      } else {
        memcpy(to, x + b, PART);
      }
    }
  }
}

// Four runs whose elements lie side by side in the buffer. They go through the caches: parts of
// four lines at once would leave memory's buffers half filled.
static void write_four(const rheos__tiled *t, char *to, const int64_t *offsets, const char *from,
                       int64_t count, fetched *f) {
  enum { SIZE = 4, ROW = RHEOS__TILED_RUN * SIZE + LINE };
  _Alignas(LINE) char runs[4][ROW];
  const int32_t *places = t->places;
  int64_t k = 0;
  for (; k + 4 <= count; k += 4) {
    const char *columns[4];
    for (int j = 0; j < 4; ++j) columns[j] = from + places[k + j] * SIZE;
    rheos__transpose_square(runs[0] + k * SIZE, ROW, columns);
  }
  for (; k < count; ++k) {
    for (int j = 0; j < 4; ++j) {
      memcpy(runs[j] + k * SIZE, from + (places[k] + j) * SIZE, SIZE);
    }
  }
  for (int j = 0; j < 4; ++j) write_run(to + offsets[j], runs[j], count * SIZE, f);
}

static bool are_four(const int32_t *starts) {
  return starts[1] == starts[0] + 4 && starts[2] == starts[0] + 8 && starts[3] == starts[0] + 12;
}

// Writes run `r`, or some from there on; returns how many.
static int64_t write_runs(const rheos__tiled *t, const tile *at, const char *buffer, int64_t r,
                          fetched *f) {
  const char *from = buffer + t->starts[r];
  char *to = at->to + t->out_offsets[r];
  if (t->fours && r + 4 <= at->out_runs && are_four(t->starts + r)) {
    write_four(t, at->to, t->out_offsets + r, from, at->out_run, f);
    return 4;
  }
  const bool short_pieces = t->piece * t->size < SHORT_PIECE;
  if (t->piece == t->out_run) {
    write_run(to, from, at->out_run * t->size, f);
  } else if (t->size == 4 && short_pieces) {
    write_places_uint32_t(to, from, t->places, at->out_run, f);
  } else if (t->size == 8 && short_pieces) {
    write_places_uint64_t(to, from, t->places, at->out_run, f);
  } else if (t->piece * t->size % RHEOS__STREAM_PART == 0 &&
             rheos__is_aligned(to, RHEOS__STREAM_PART)) {
    write_parts(t, to, from, at->out_run);
  } else {
    write_pieces(t, to, from, at->out_run, f);
  }
  return 1;
}

void rheos__tiled_run(const rheos__tiled *t, const void *in, void *out, void *scratch,
                      int64_t first, int64_t last) {
  if (first >= last) return;
  char *buffer = scratch, *other = buffer + buffer_bytes(t);
  tile now = tile_at(t, in, out, first);
  read_runs(t, &now, buffer, 0, now.in_runs);
  for (int64_t number = first; number < last; ++number) {
    tile next = now;
    if (number + 1 < last) {
      next_tile(t, in, out, &next);
    } else {
      next.in_runs = 0;
    }
    fetched f = fetch_from(t, &next);
    int64_t read = 0;
    for (int64_t r = 0; r < now.out_runs;) {
      r += write_runs(t, &now, buffer, r, &f);
      const int64_t until = r * next.in_runs / now.out_runs;
      read_runs(t, &next, other, read, until);
      read = until;
    }
    char *const written = buffer;
    buffer = other, other = written, now = next;
  }
  rheos__stream_end();
}
