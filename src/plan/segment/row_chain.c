// A chain of dense layers is cut by rows of the batch: handing work to a thread costs as much as a
// small layer, so it is done once for all of them. That is right where row r of a layer needs only
// row r of the layers before, and where no layer writes bytes that another thread may still read:
// intermediates that share memory must have the same rows at the same places.
#include "plan/segment/row_chain.h"

#include <assert.h>

enum { MOST_RANGES = 16 };

// A chain as a whole is looked at between steps only: no longer than that.
static const double MOST_NS = 4e6, LEAST_NS = 60000;

// Bytes of the segment's memory that the chain touches: by rows of `row_bytes`, or (0) as a whole.
typedef struct range {
  size_t first, end, row_bytes;
  bool written;
} range;

typedef struct finder {
  rheos__segment *segment;
  rheos__section chain;  // the one that grows
  int32_t num_members;
  int64_t rows, unit_rows;
  range ranges[MOST_RANGES];
  int32_t num_ranges;
} finder;

// ---- Instructions

static const rheos__entry *entry_of(const finder *f, const rheos__instruction *in) {
  return &f->segment->plan->entries[in->entry];
}

static bool is_read(const finder *f, const rheos__instruction *in) {
  if (in->kind == RHEOS__READ) return true;
  return in->kind == RHEOS__COMPUTE &&
         (entry_of(f, in)->signature->op->flags & RHEOS_OP_READS_VARIABLE) != 0;
}

// Whether row r of the output needs row r of input 0 only, and all of the other inputs.
static bool is_by_rows(const rheos__entry *entry) {
  return (entry->signature->op->flags & RHEOS_OP_BY_ROWS) != 0 &&
         !rheos__attr_bool(entry->attrs, "transpose_a");
}

static int64_t rows_of(const rheos__value *value) {
  return value->shape != NULL && value->shape->rank > 0 ? value->shape->dims[0] : -1;
}

static bool size_of(const rheos__value *value, size_t *out_bytes) {
  int64_t count;
  rheos_status *status =
      rheos__shape_size((rheos_dtype)value->dtype, value->shape, &count, out_bytes);
  const bool known = status == NULL;
  rheos_status_free(status);
  return known;
}

// ---- Memory

static bool add_range(finder *f, const range *added) {
  for (int32_t i = 0; i < f->num_ranges; i++) {
    range *at = &f->ranges[i];
    if (added->first >= at->end || at->first >= added->end) continue;
    const bool same = added->first == at->first && added->end == at->end &&
                      added->row_bytes == at->row_bytes && added->row_bytes > 0;
    if (!same && (added->written || at->written)) return false;
    if (!same) continue;
    at->written = at->written || added->written;
    return true;
  }
  if (f->num_ranges == MOST_RANGES) return false;
  f->ranges[f->num_ranges++] = *added;
  return true;
}

// `row_bytes` 0: the value is read as a whole.
static bool add_value(finder *f, const rheos__value *value, size_t row_bytes, bool written) {
  size_t bytes;
  if (value->kind != RHEOS__VALUE_ARENA) return true;  // of its own, and nobody else's
  if (!size_of(value, &bytes)) return false;
  const range added = {value->offset, value->offset + bytes, row_bytes, written};
  return bytes == 0 || add_range(f, &added);
}

static bool made_in_chain(const finder *f, int32_t value) {
  const rheos__instruction *first = &f->segment->instructions[f->chain.first];
  return value >= first->first_value && value >= f->segment->first_value;
}

// ---- Growing a chain

static void begin(finder *f, int32_t index) {
  f->chain = (rheos__section){.kind = RHEOS__SECTION_ROWS, .first = index, .end = index};
  f->num_members = f->num_ranges = 0;
}

// Adds the instruction, unless it has to wait for rows of others or gets in their way.
static bool add_member(finder *f, int32_t index) {
  const rheos__segment *segment = f->segment;
  const rheos__instruction *in = &segment->instructions[index];
  if (in->kind != RHEOS__RUN || in->num_outputs != 1 || in->scratch_bytes > 0 ||
      in->num_units < 2 || in->num_inputs > RHEOS__ROW_CHAIN_INPUTS || in->unit_elements <= 0 ||
      !is_by_rows(entry_of(f, in))) {
    return false;
  }
  const rheos__value *out = rheos__find_value(segment, in->first_value);
  const int64_t rows = rows_of(out), elements = rheos_shape_num_elements(out->shape);
  size_t out_bytes;
  const bool is_over = out->kind == RHEOS__VALUE_HEAP && out->over != 0;
  if (is_over) return false;  // another thread may still read the bytes as a whole
  if (rows < 2 || elements % rows != 0 || !size_of(out, &out_bytes)) return false;
  const int64_t row_elements = elements / rows;
  if (row_elements == 0 || in->unit_elements % row_elements != 0) return false;
  const int64_t unit_rows = in->unit_elements / row_elements;
  if (f->num_members > 0 &&
      (rows != f->rows || unit_rows != f->unit_rows || in->num_units != f->chain.rows.num_units ||
       f->chain.cost_ns + (double)in->cost_ns > MOST_NS)) {
    return false;
  }
  for (int32_t i = 0; i < in->num_inputs; i++) {
    const int32_t root = segment->operands[in->first_operand + i];
    const rheos__value *value = rheos__find_value(segment, root);
    const rheos__value *seen =
        rheos__find_value(segment, segment->input_values[in->first_operand + i]);
    size_t bytes;
    const bool by_rows = i == 0 && rows_of(value) == rows && rows_of(seen) == rows;
    if (f->num_members > 0 && made_in_chain(f, root) && value->kind != RHEOS__VALUE_TENSOR &&
        value->kind != RHEOS__VALUE_CONSTANT && !by_rows) {
      return false;
    }
    if (by_rows && !size_of(value, &bytes)) return false;
    if (!add_value(f, value, by_rows ? bytes / (size_t)rows : 0, false)) return false;
  }
  if (!add_value(f, out, out_bytes / (size_t)rows, true)) return false;
  assert(f->num_members == 0 || f->rows == rows);
  assert(index >= f->chain.end);
  f->rows = rows;
  f->unit_rows = unit_rows;
  f->chain.rows.num_units = in->num_units;
  f->chain.cost_ns += (double)in->cost_ns;
  f->chain.end = index + 1;
  f->num_members++;
  return true;
}

static rheos_status *finish(finder *f) {
  if (f->num_members < 2 || f->chain.cost_ns < LEAST_NS) return NULL;
  assert(f->chain.rows.num_units > 1 && f->num_ranges <= MOST_RANGES);
  return rheos__segment_add_section(f->segment, &f->chain);
}

// The end of the section that begins with the instruction; the instruction itself if none does.
// `at` counts the sections that were passed.
static int32_t end_of_section(const rheos__segment *segment, int32_t index, int32_t *at) {
  while (*at < segment->num_sections && segment->sections[*at].first < index) ++*at;
  const bool begins = *at < segment->num_sections && segment->sections[*at].first == index;
  return begins ? segment->sections[*at].end : index;
}

rheos_status *rheos__find_row_chains(rheos__segment *segment) {
  finder f = {.segment = segment};
  int32_t at = 0;
  for (int32_t i = 0; i < segment->num_instructions; i++) {
    const int32_t end = end_of_section(segment, i, &at);
    if (end > i) {  // threads are busy there already
      RHEOS_TRY(finish(&f));
      begin(&f, end);
      i = end - 1;
      continue;
    }
    // Reads between the layers may come before all of them: nothing here writes a variable.
    if (f.num_members > 0 && is_read(&f, &segment->instructions[i])) continue;
    if (f.num_members > 0 && add_member(&f, i)) continue;
    RHEOS_TRY(finish(&f));
    begin(&f, i);
    add_member(&f, i);
  }
  return finish(&f);
}
