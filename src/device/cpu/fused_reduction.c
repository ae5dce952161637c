// A block of a reduction is asked of the loop as a whole, so that lanes are joined where they are
// without the loop. Short rows, and rows of columns, are asked for several at a time.
#include "device/cpu/fused_reduction.h"

#include "base/numbers.h"

enum { MIN_RUN = 256 };

typedef rheos__fused_reduction fused;

static size_t in_lines(size_t bytes) { return (bytes + 63) / 64 * 64; }

static bool is_rows(const rheos__reduction *r) {
  return r->inner_reduced && r->runs == 1 && r->num_kept <= 1;
}

bool rheos__reduction_can_fuse(const rheos__reduction *r) {
  if (r->inner_reduced) return is_rows(r) || r->inner >= MIN_RUN;
  const int64_t last = r->inner % RHEOS__REDUCED_TILE;
  return r->inner <= RHEOS__REDUCED_TILE || last == 0 || last >= MIN_RUN;
}

fused *rheos__fused_reduction_new(const rheos__reduction *r, const rheos__fused *loop,
                                  int32_t reduced, int64_t flops, rheos__arena *arena) {
  fused *f = rheos__arena_alloc_zeroed(arena, sizeof *f);
  if (f == NULL) return NULL;
  f->r = r;
  f->loop = loop;
  f->flops = flops;
  if (reduced == loop->num_operands) {
    f->piece_bytes = in_lines(RHEOS__REDUCED_BLOCK * (size_t)r->in_bytes);
  }
  f->reduced = reduced;
  f->scratch_bytes = in_lines(rheos__reduction_total_bytes(r)) + f->piece_bytes +
                     rheos__max((int64_t)loop->scratch_bytes, 1);
  return f;
}

typedef struct work {
  const fused *f;
  const void *const *inputs;
  char *scratch;  // behind the totals
} work;

// Computes elements [begin, begin + count), a block at most.
static const void *elements(const work *w, int64_t begin, int64_t count) {
  const fused *f = w->f;
  const int32_t reduced = f->reduced;
  char *out = w->scratch;
  rheos__fused_range(f->loop, w->inputs, out, w->scratch + f->piece_bytes, begin, count);
  if (reduced == f->loop->num_operands) return out;
  return (const char *)w->inputs[reduced] + begin * f->loop->steps[reduced];
}

// A run of `count` elements from `begin` on.
static void add_run(const work *w, int64_t begin, int64_t count, void *total) {
  const rheos__reducer *by = w->f->r->by;
  for (int64_t done = 0; done < count;) {
    const int64_t n = rheos__min(RHEOS__REDUCED_BLOCK, count - done);
    const void *x = elements(w, begin + done, n);
    if (count < RHEOS__REDUCED_LANES) {
      by->run(total, x, n);
    } else {
      by->block(total, x, n);
    }
    done += n;
  }
}

static void add_runs(const work *w, const rheos__reduced_item *it, const rheos__reduced_span *s,
                     void *total) {
  for (int64_t k = s->first_run; k < s->last_run; k++) {
    const int64_t begin = it->at + rheos__reduction_offset(w->f->r, k) + s->start;
    add_run(w, begin, s->count, total);
  }
}

// Several rows at a time where the tile is as wide as they are.
static void add_columns(const work *w, const rheos__reduced_item *it, const rheos__reduced_span *s,
                        void *totals) {
  const rheos__reduction *r = w->f->r;
  const int32_t last = r->num_reduced - 1;
  const int64_t rows = last < 0 ? 1 : r->reduced_dims[last];
  const bool whole = last >= 0 && r->reduced_steps[last] == it->width;
  const int64_t most = whole ? rheos__max(RHEOS__REDUCED_BLOCK / it->width, 1) : 1;
  for (int64_t k = s->first_run; k < s->last_run;) {
    const int64_t count = rheos__min(rheos__min(rows - k % rows, s->last_run - k), most);
    const int64_t begin = it->at + rheos__reduction_offset(r, k);
    r->by->columns(totals, elements(w, begin, count * it->width), it->width, count, it->width);
    k += count;
  }
}

static void add_span(const work *w, const rheos__reduced_item *it, const rheos__reduced_span *s,
                     void *totals) {
  w->f->r->by->start(totals, it->width);
  if (w->f->r->inner_reduced) {
    add_runs(w, it, s, totals);
  } else {
    add_columns(w, it, s, totals);
  }
}

// Items [first, end), rows of at most half a block.
static void reduce_rows(const work *w, int64_t first, int64_t end, char *total, char *out) {
  const rheos__reduction *r = w->f->r;
  const int64_t most = RHEOS__REDUCED_BLOCK / r->inner;
  for (int64_t i = first; i < end;) {
    const int64_t count = rheos__min(most, end - i);
    const char *row = elements(w, i * r->inner, count * r->inner);
    for (int64_t k = 0; k < count; k++, row += r->inner * r->in_bytes) {
      r->by->start(total, 1);
      r->by->run(total, row, r->inner);
      r->by->finish(out + (i + k) * r->out_bytes, total, 1, r->count);
    }
    i += count;
  }
}

rheos_status *rheos__run_fused_reduction(const void *state, const void *const *inputs,
                                         void *const *outputs, void *scratch, int64_t first_unit,
                                         int64_t last_unit) {
  const fused *f = state;
  const rheos__reduction *r = f->r;
  const int64_t first = first_unit * r->unit_items;
  const int64_t end = rheos__min(last_unit * r->unit_items, r->num_items);
  char *totals = scratch, *out = outputs[0];
  const work w = {f, inputs, totals + in_lines(rheos__reduction_total_bytes(r))};
  if (is_rows(r) && r->inner <= RHEOS__REDUCED_BLOCK / 2) {
    reduce_rows(&w, first, end, totals, out);
    return NULL;
  }
  const rheos__reduced_span all = {0, r->runs, 0, r->inner};
  for (int64_t i = first; i < end; i++) {
    const rheos__reduced_item it = rheos__reduction_item(r, i);
    add_span(&w, &it, &all, totals);
    r->by->finish(out + it.output * r->out_bytes, totals, it.width, r->count);
  }
  return NULL;
}

// ---- In pieces, whose totals are joined in order

typedef struct piecewise {
  const fused *f;
  const void *const *inputs;
  char *totals;
} piecewise;

static rheos_status *run_pieces(void *argument, int64_t first, int64_t last) {
  const piecewise *p = argument;
  const rheos__reduction *r = p->f->r;
  const work w = {p->f, p->inputs, rheos__alloc_aligned(p->f->scratch_bytes)};
  if (w.scratch == NULL) return rheos__out_of_memory();
  for (int64_t i = first; i < last; i++) {
    const rheos__reduced_item it = rheos__reduction_item(r, i / r->num_pieces);
    const rheos__reduced_span s = rheos__reduction_span(r, i % r->num_pieces);
    add_span(&w, &it, &s, p->totals + (size_t)i * rheos__reduction_total_bytes(r));
  }
  rheos__free_aligned(w.scratch);
  return NULL;
}

rheos_status *rheos__compute_fused_reduction(void *state, rheos__step *step,
                                             rheos_tensor *const *inputs, rheos_tensor **outputs) {
  const fused *f = state;
  const rheos__reduction *r = f->r;
  const void *data[RHEOS__FUSED_OPERANDS];
  for (int32_t k = 0; k < f->loop->num_operands; k++) data[k] = inputs[k]->data;
  RHEOS_TRY(rheos__tensor_new(r->out_dtype, &r->out_shape, &outputs[0]));
  const int64_t pieces = r->num_items * r->num_pieces;
  char *totals = rheos__alloc_aligned((size_t)pieces * rheos__reduction_total_bytes(r));
  if (totals == NULL) return rheos__out_of_memory();
  piecewise p = {f, data, totals};
  rheos_status *status = rheos__step_parallel(step, pieces, f->flops, run_pieces, &p);
  if (status == NULL) rheos__reduction_join(r, totals, outputs[0]->data);
  rheos__free_aligned(totals);
  return status;
}
