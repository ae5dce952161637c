#include "net/rank_part.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

enum { SMALL_BYTES = 1 << 18 };  // of a sum that may be packed

typedef rheos__rank_part part;

// ---- Beginning and end

static void part_free(part *p) {
  rheos__membership_unref(p->membership);
  rheos_tensor_unref(p->output);
  rheos__free(p);
}

void rheos__rank_part_end_take(part *p, rheos_status *failed) {
  rheos_tensor *output = failed == NULL ? p->output : NULL;
  if (failed == NULL) p->output = NULL;
  rheos__membership_end_take(p->membership, failed, output);
  part_free(p);
}

static rheos_status *make_output(const rheos__collective *what, rheos_tensor **out_output) {
  if (what->type == RHEOS__COLLECTIVE_MEETING || what->is_source) {
    *out_output = what->input != NULL ? rheos_tensor_ref(what->input) : NULL;
    return NULL;
  }
  return rheos__tensor_new(what->dtype, &what->shape, out_output);
}

static void write_note(const rheos__collective *what, rheos__rank_note *note) {
  note->says = RHEOS__RANK_COMES;
  note->key = (rheos__rank_key){.group_key = what->group_key,
                                .instance_key = what->instance_key,
                                .frame = what->frame,
                                .trip = what->trip};
  note->rank = what->rank;
  note->type = (int32_t)what->type;
  note->group_size = what->group_size;
  note->dtype = (int32_t)what->dtype;
  note->merge = what->merge;
  note->divides = what->divides;
  note->is_source = what->is_source;
  note->shape.rank = what->shape.rank;
  for (int32_t i = 0; i < what->shape.rank; i++) note->shape.dims[i] = what->shape.dims[i];
}

rheos_status *rheos__rank_part_new(rheos__membership *membership, rheos__rank_part **out_part) {
  part *p = *out_part = rheos__alloc_zeroed(sizeof *p);
  if (p == NULL) return rheos__out_of_memory();
  write_note(&membership->what, &p->note);
  rheos_status *status = make_output(&membership->what, &p->output);
  if (status == NULL) {
    p->membership = membership;
    return NULL;
  }
  rheos__free(p);
  *out_part = NULL;
  return status;
}

// ---- Doing

static bool is_small_sum(const part *p) {
  return p->note.type == RHEOS__COLLECTIVE_REDUCE &&
         rheos_tensor_size_bytes(p->output) <= SMALL_BYTES;
}

static bool is_like(const part *a, const part *b) {
  return a->note.dtype == b->note.dtype && a->note.merge == b->note.merge &&
         a->note.divides == b->note.divides;
}

// How many of the parts go in one.
static size_t num_packed(part *const *parts, size_t count) {
  size_t n = 0, size = 0;
  while (n < count && is_small_sum(parts[n]) && is_like(parts[0], parts[n])) {
    size += rheos_tensor_size_bytes(parts[n]->output);
    if (size > RHEOS__RANK_PACKED_BYTES) break;
    n++;
  }
  return n;
}

static bool reduce_packed(rheos__rank_exchange *e, char *const *packed, part *const *parts,
                          size_t count) {
  const rheos__collective *what = &parts[0]->membership->what;
  size_t at = 0;
  for (size_t i = 0; i < count; i++) {
    const rheos_tensor *input = parts[i]->membership->what.input;
    const size_t size = rheos_tensor_size_bytes(input);
    if (size > 0) memcpy(packed[0] + at, rheos_tensor_data(input), size);
    at += size;
  }
  const int64_t elements = (int64_t)(at / rheos_dtype_size(what->dtype));
  if (!rheos__rank_reduce(e, what, packed[0], packed[1], elements)) return false;
  at = 0;
  for (size_t i = 0; i < count; i++) {
    const size_t size = rheos_tensor_size_bytes(parts[i]->output);
    if (size > 0) memcpy(rheos_tensor_data(parts[i]->output), packed[1] + at, size);
    at += size;
  }
  return true;
}

static bool do_alone(rheos__rank_exchange *e, const part *p, int32_t source) {
  const rheos__collective *what = &p->membership->what;
  if (what->type == RHEOS__COLLECTIVE_MEETING) return true;
  const void *input = what->input != NULL ? rheos_tensor_data(what->input) : NULL;
  void *output = rheos_tensor_data(p->output);
  const int64_t count = rheos_tensor_num_elements(p->output);
  const size_t size = rheos_tensor_size_bytes(p->output);
  switch (what->type) {
    case RHEOS__COLLECTIVE_REDUCE: return rheos__rank_reduce(e, what, input, output, count);
    case RHEOS__COLLECTIVE_REDUCE_SCATTER:
      return rheos__rank_reduce_scatter(e, what, input, output, count);
    case RHEOS__COLLECTIVE_GATHER:
      return rheos__rank_gather(e, input, output, size / (size_t)e->num_ranks);
    case RHEOS__COLLECTIVE_ALL_TO_ALL:
      return rheos__rank_all_to_all(e, input, output, size / (size_t)e->num_ranks);
    case RHEOS__COLLECTIVE_BROADCAST: return rheos__rank_broadcast(e, source, output, size);
    default: return true;
  }
}

bool rheos__rank_parts_do(rheos__rank_exchange *e, char *const *packed,
                          rheos__rank_part *const *parts, size_t count, int32_t source,
                          size_t *out_num_done) {
  const size_t together = num_packed(parts, count);
  *out_num_done = together > 1 ? together : 1;
  return together > 1 ? reduce_packed(e, packed, parts, together) : do_alone(e, parts[0], source);
}
