#include "ops/collective/collective_combine.h"

#include <string.h>

#include "ops/kit/elementwise.h"

// ---- Reducing

enum { MERGED_ELEMENTS = 4096 };  // that stay in the cache while one member after another is merged

void rheos__divide_run(const rheos__collective *what, int32_t num_members, void *values,
                       int64_t count) {
  union {
    float f;
    double d;
    uint16_t h;
    int32_t i;
    int64_t l;
  } by = {.l = num_members};
  switch (what->dtype) {
    case RHEOS_FLOAT: by.f = (float)num_members; break;
    case RHEOS_DOUBLE: by.d = (double)num_members; break;
    case RHEOS_HALF: by.h = rheos_float_to_half((float)num_members); break;
    case RHEOS_BFLOAT16: by.h = rheos_float_to_bfloat16((float)num_members); break;
    case RHEOS_INT32: by.i = num_members; break;
    default: break;
  }
  const void *const operands[] = {values, &by};
  rheos__binary_loop(RHEOS__DIV, what->dtype)(operands, values, count, 1u << 1, 0);
}

void rheos__merge_runs(const rheos__collective *what, const void *const *runs, int32_t num_members,
                       void *out, int64_t count) {
  const rheos__loop merge = rheos__binary_loop((rheos__binary)what->merge, what->dtype);
  const int64_t size = (int64_t)rheos_dtype_size(what->dtype);
  for (int64_t first = 0; first < count; first += MERGED_ELEMENTS) {
    const int64_t n = count - first < MERGED_ELEMENTS ? count - first : MERGED_ELEMENTS;
    char *to = (char *)out + first * size;
    const void *so_far = (const char *)runs[0] + first * size;
    for (int32_t i = 1; i < num_members; ++i) {
      const void *const operands[] = {so_far, (const char *)runs[i] + first * size};
      merge(operands, to, n, 0, 0);
      so_far = to;
    }
    if (so_far != to) memcpy(to, so_far, (size_t)(n * size));
    if (what->divides) rheos__divide_run(what, num_members, to, n);
  }
}

// A part of the members' tensors, which begins `offset` elements into each.
typedef struct reducing {
  const rheos__collective *what;
  const rheos__contribution *members;
  const void **runs;  // of each unit, where the members' elements begin
  int64_t offset, count;
  char *out;
} reducing;

enum { UNIT_ELEMENTS = 65536 };

static rheos_status *reduce_units(void *argument, int64_t first, int64_t last) {
  const reducing *r = argument;
  const int32_t num_members = r->what->group_size;
  const int64_t size = (int64_t)rheos_dtype_size(r->what->dtype);
  for (int64_t unit = first; unit < last; ++unit) {
    const int64_t from = unit * UNIT_ELEMENTS;
    const int64_t n = r->count - from < UNIT_ELEMENTS ? r->count - from : UNIT_ELEMENTS;
    const void **runs = r->runs + unit * num_members;
    for (int32_t i = 0; i < num_members; ++i) {
      runs[i] = (const char *)rheos_tensor_data(r->members[i].input) + (r->offset + from) * size;
    }
    rheos__merge_runs(r->what, runs, num_members, r->out + from * size, n);
  }
  return NULL;
}

// The members' elements from `offset` on, reduced, as a tensor of that shape.
static rheos_status *reduce_part(const rheos__collective *what, rheos__step *step,
                                 const rheos__contribution *members, int64_t offset,
                                 const rheos_shape *shape, rheos_tensor **out_tensor) {
  rheos_tensor *made = NULL;
  RHEOS_TRY(rheos__tensor_new(what->dtype, shape, &made));
  reducing r = {.what = what,
                .members = members,
                .offset = offset,
                .count = rheos_tensor_num_elements(made),
                .out = rheos_tensor_data(made)};
  const int64_t num_units = (r.count + UNIT_ELEMENTS - 1) / UNIT_ELEMENTS;
  const size_t num_runs = (size_t)(num_units * what->group_size);
  r.runs = rheos__alloc_array(num_runs > 0 ? num_runs : 1, sizeof *r.runs);
  rheos_status *status =
      r.runs == NULL
          ? rheos__out_of_memory()
          : rheos__step_parallel(step, num_units, r.count * what->group_size, reduce_units, &r);
  rheos__free((void *)r.runs);
  if (status != NULL) {
    rheos_tensor_unref(made);
    return status;
  }
  *out_tensor = made;
  return NULL;
}

static void give_all(const rheos__collective *what, rheos__contribution *members,
                     rheos_tensor *tensor) {
  for (int32_t i = 0; i < what->group_size; ++i) members[i].output = rheos_tensor_ref(tensor);
}

static rheos_status *combine_reduce(const rheos__collective *what, rheos__step *step,
                                    rheos__contribution *members) {
  rheos_tensor *made = NULL;
  RHEOS_TRY(reduce_part(what, step, members, 0, &what->shape, &made));
  give_all(what, members, made);
  rheos_tensor_unref(made);
  return NULL;
}

// `what->shape` is that of a part.
static rheos_status *combine_reduce_scatter(const rheos__collective *what, rheos__step *step,
                                            rheos__contribution *members) {
  const int64_t part = rheos_shape_num_elements(&what->shape);
  for (int32_t i = 0; i < what->group_size; ++i) {
    RHEOS_TRY(reduce_part(what, step, members, i * part, &what->shape, &members[i].output));
  }
  return NULL;
}

// ---- Moving

// `what->shape` is that of the whole.
static rheos_status *combine_gather(const rheos__collective *what, rheos__step *step,
                                    rheos__contribution *members) {
  (void)step;
  rheos_tensor *made = NULL;
  RHEOS_TRY(rheos__tensor_new(what->dtype, &what->shape, &made));
  char *to = rheos_tensor_data(made);
  for (int32_t i = 0; i < what->group_size; ++i) {
    const size_t size = rheos_tensor_size_bytes(members[i].input);
    if (size > 0) memcpy(to, rheos_tensor_data(members[i].input), size);
    to += size;
  }
  give_all(what, members, made);
  rheos_tensor_unref(made);
  return NULL;
}

static rheos_status *combine_broadcast(const rheos__collective *what, rheos__step *step,
                                       rheos__contribution *members) {
  (void)step;
  for (int32_t i = 0; i < what->group_size; ++i) {
    if (members[i].is_source) give_all(what, members, members[i].input);
  }
  return NULL;
}

// A member gets, from all in the order of ranks, the element that its rank says, as TensorFlow has
// it; where the program said the ranks, the one that the order of the devices' names says.
static rheos_status *combine_all_to_all(const rheos__collective *what, rheos__step *step,
                                        rheos__contribution *members) {
  (void)step;
  const int32_t count = what->group_size;
  for (int32_t to = 0; to < count; ++to) {
    RHEOS_TRY(rheos__tensor_new(what->dtype, &what->shape, &members[to].output));
    const size_t part = rheos_tensor_size_bytes(members[to].output) / (size_t)count;
    const int32_t element = what->rank >= 0 ? members[to].by_name : to;
    char *bytes = rheos_tensor_data(members[to].output);
    for (int32_t from = 0; part > 0 && from < count; ++from) {
      const char *in = rheos_tensor_data(members[from].input);
      memcpy(bytes + (size_t)from * part, in + (size_t)element * part, part);
    }
  }
  return NULL;
}

static rheos_status *combine_meeting(const rheos__collective *what, rheos__step *step,
                                     rheos__contribution *members) {
  (void)step;
  for (int32_t i = 0; i < what->group_size; ++i) {
    members[i].output = rheos_tensor_ref(members[i].input);
  }
  return NULL;
}

rheos__combine_fn rheos__combine_for(rheos__collective_type type) {
  switch (type) {
    case RHEOS__COLLECTIVE_REDUCE: return combine_reduce;
    case RHEOS__COLLECTIVE_REDUCE_SCATTER: return combine_reduce_scatter;
    case RHEOS__COLLECTIVE_GATHER: return combine_gather;
    case RHEOS__COLLECTIVE_BROADCAST: return combine_broadcast;
    case RHEOS__COLLECTIVE_ALL_TO_ALL: return combine_all_to_all;
    default: return combine_meeting;
  }
}
