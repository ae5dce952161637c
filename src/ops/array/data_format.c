// DataFormatDimMap and DataFormatVecPermute: dimensions, and what belongs to them, when the letters
// of one data format become those of another.
#include <string.h>

#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

enum { MAX_LETTERS = 5 };

typedef struct format_map {
  const rheos__operands *operands;
  int32_t count;
  // Of letters of the destination, where they stand in the source; and the other way round.
  int32_t from[MAX_LETTERS], to[MAX_LETTERS];
} format_map;

static rheos_status *map_of(const char *source, const char *target, format_map *out) {
  const size_t count = strlen(source);
  if (count != 4 && count != 5) {
    return RHEOS_INVALID("Source format must be of length 4 or 5, received src_format = %s",
                         source);
  }
  if (strlen(target) != 4 && strlen(target) != 5) {
    return RHEOS_INVALID("Destination format must be of length 4 or 5, received dst_format = %s",
                         target);
  }
  bool fits = strlen(target) == count;
  out->count = (int32_t)count;
  for (size_t i = 0; fits && i < count; i++) {
    const char *found = strchr(source, target[i]);
    fits = found != NULL && strchr(target + i + 1, target[i]) == NULL;
    if (!fits) break;
    out->from[i] = (int32_t)(found - source);
    out->to[found - source] = (int32_t)i;
  }
  if (fits) return NULL;
  return RHEOS_INVALID("Destination and source format must determine a permutation, got %s and %s",
                       source, target);
}

static rheos_status *map_of_attrs(const rheos__attrs *attrs, format_map *out) {
  return map_of(rheos__attr_string(attrs, "src_format"), rheos__attr_string(attrs, "dst_format"),
                out);
}

// Without the letters N and C.
static rheos_status *spatial_map_of(const rheos__attrs *attrs, format_map *out) {
  char parts[2][MAX_LETTERS + 1] = {{0}};
  const char *whole[] = {rheos__attr_string(attrs, "src_format"),
                         rheos__attr_string(attrs, "dst_format")};
  for (int k = 0; k < 2; k++) {
    int count = 0;
    for (const char *c = whole[k]; *c != '\0' && count < MAX_LETTERS; c++) {
      if (*c != 'N' && *c != 'C') parts[k][count++] = *c;
    }
  }
  const int32_t count = (int32_t)strlen(parts[0]);
  if (count != out->count - 2 || count != (int32_t)strlen(parts[1])) {
    return RHEOS_INVALID("the formats %s and %s do not have one N and one C each", whole[0],
                         whole[1]);
  }
  out->count = count;
  for (int32_t i = 0; i < count; i++) {
    out->from[i] = (int32_t)(strchr(parts[0], parts[1][i]) - parts[0]);
  }
  return NULL;
}

// ---- DataFormatDimMap

static rheos_status *run_dim_map(const void *state, const void *const *inputs, void *const *outputs,
                                 void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  const format_map *map = state;
  const rheos__operands *o = map->operands;
  const int64_t count = rheos_shape_num_elements(&o->input_shapes[0]);
  for (int64_t i = 0; i < count; i++) {
    const int64_t dim = rheos__operand_int(o, inputs, 0, i);
    if (dim < -map->count || dim >= map->count) {
      return RHEOS_INVALID("dimension %lld is not in [%d, %d)", (long long)dim, -map->count,
                           map->count);
    }
    rheos__set_int(o->output_dtypes[0], outputs[0], i, map->to[dim < 0 ? dim + map->count : dim]);
  }
  return NULL;
}

static rheos_status *prepare_dim_map(rheos__prepare *p) {
  format_map *map = RHEOS_NEW_STATE(p, format_map);
  if (map == NULL) return rheos__out_of_memory();
  RHEOS_TRY(map_of_attrs(p->attrs, map));
  map->operands = rheos__keep_operands(p);
  if (map->operands == NULL) return rheos__out_of_memory();
  p->state = map;
  return rheos__answer_run(p, run_dim_map, 1);
}

#define FORMAT_SIGNATURE \
  "x: T -> y: T; T: index = int32; src_format: string = \"NHWC\"; dst_format: string = \"NCHW\""
const rheos__op_def rheos__op_DataFormatDimMap = {
    .name = "DataFormatDimMap",
    .signature = FORMAT_SIGNATURE,
    .doc = "Where the dimensions `x` of the format `src_format` are in `dst_format`.",
    .shape = rheos__shape_unchanged,
    .gradient = rheos__no_gradient,
    .prepare = prepare_dim_map,
};

// ---- DataFormatVecPermute

static rheos_status *shape_permute(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0];
  if (in->rank >= 0 && in->rank != 1 && in->rank != 2) {
    rheos__shape_text text;
    return RHEOS_INVALID("input must be a vector or 2D tensor, but got shape %s",
                         rheos__shape_text_of(in, &text));
  }
  if (in->rank == 2 && in->dims[1] >= 0 && in->dims[1] != 2) {
    return RHEOS_INVALID("Second dimension of 2D input must be of size 2, but got %lld",
                         (long long)in->dims[1]);
  }
  return rheos__shape_unchanged(c);
}

static rheos_status *run_permute(const void *state, const void *const *inputs, void *const *outputs,
                                 void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  const format_map *map = state;
  const rheos__operands *o = map->operands;
  const int64_t width = o->input_shapes[0].rank == 2 ? 2 : 1;
  for (int64_t i = 0; i < map->count * width; i++) {
    const int64_t from = map->from[i / width] * width + i % width;
    rheos__set_int(o->output_dtypes[0], outputs[0], i, rheos__operand_int(o, inputs, 0, from));
  }
  return NULL;
}

static rheos_status *prepare_permute(rheos__prepare *p) {
  format_map *map = RHEOS_NEW_STATE(p, format_map);
  if (map == NULL) return rheos__out_of_memory();
  RHEOS_TRY(map_of_attrs(p->attrs, map));
  const int64_t rows = p->input_shapes[0].dims[0];
  if (rows != map->count && rows != map->count - 2) {
    return RHEOS_INVALID("%dD input must be of size %d or %d, but got %lld",
                         p->input_shapes[0].rank, map->count - 2, map->count, (long long)rows);
  }
  if (rows != map->count) RHEOS_TRY(spatial_map_of(p->attrs, map));
  map->operands = rheos__keep_operands(p);
  if (map->operands == NULL) return rheos__out_of_memory();
  p->state = map;
  return rheos__answer_run(p, run_permute, 1);
}

const rheos__op_def rheos__op_DataFormatVecPermute = {
    .name = "DataFormatVecPermute",
    .signature = FORMAT_SIGNATURE,
    .doc =
        "The numbers in `x`, one for each dimension of `src_format`, in the order of `dst_format`.",
    .shape = shape_permute,
    .gradient = rheos__no_gradient,
    .prepare = prepare_permute,
};
