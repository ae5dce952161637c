#include "device/opencl/reduce.h"

#include <string.h>

#include "base/numbers.h"
#include "device/opencl/source.h"
#include "ops/math/reduction.h"

// Elements of an output for which one work-item is enough, work-items of a group, and elements that
// a piece has at least. ACROSS and DOWN: of a group that reduces columns; of these a piece has
// COLUMN_PIECE elements at least.
enum {
  FEW = 32,
  GROUP = 128,
  PIECE = 4096,
  MAX_PIECES = 256,
  LANES = 16,
  ACROSS = 32,
  DOWN = 8,
  COLUMN_PIECE = 256
};

// Where an output and its elements lie: kept dimensions, then reduced ones, the innermost last.
typedef struct layout {
  int32_t num_kept, num_reduced;
  int64_t kept_dims[RHEOS_MAX_RANK], kept_steps[RHEOS_MAX_RANK];
  int64_t reduced_dims[RHEOS_MAX_RANK], reduced_steps[RHEOS_MAX_RANK];
  bool is_short;  // a place fits an unsigned int, with which cards divide several times as fast
} layout;

// Compilers for processors do not see that short places count up.
static layout layout_of(const rheos__card *card, const rheos__reduction *r) {
  layout l = {.num_kept = r->num_kept, .num_reduced = r->num_reduced};
  l.is_short = !card->wants_blocks && (double)r->num_outputs * (double)r->count < INT32_MAX;
  memcpy(l.kept_dims, r->kept_dims, sizeof l.kept_dims);
  memcpy(l.kept_steps, r->kept_steps, sizeof l.kept_steps);
  memcpy(l.reduced_dims, r->reduced_dims, sizeof l.reduced_dims);
  memcpy(l.reduced_steps, r->reduced_steps, sizeof l.reduced_steps);
  if (r->inner_reduced) {
    l.reduced_dims[l.num_reduced] = r->inner;
    l.reduced_steps[l.num_reduced++] = 1;
  } else {
    l.kept_dims[l.num_kept] = r->inner;
    l.kept_steps[l.num_kept++] = 1;
  }
  return l;
}

static void add_dims(rheos__text *text, char prefix, int32_t rank) {
  for (int32_t d = 0; d < rank; d++) {
    rheos__cl_add(text, ", long %cd%d, long %cs%d", prefix, (int)d, prefix, (int)d);
  }
}

static void add_head(rheos__text *text, const rheos__reducer *by, const rheos__cl_dtype *dtype,
                     const char *of, bool is_short) {
  rheos__cl_add_prelude(text);
  rheos__cl_add(text, "typedef %s place;\n", is_short ? "uint" : "ulong");
  rheos__cl_add_types(text, dtype);
  rheos__cl_add(text, "\n#define RHEOS__LOWEST %s\n#define RHEOS__HIGHEST %s\n", dtype->lowest,
                dtype->highest);
  rheos__cl_add(text, "typedef %s total; typedef %s stored;\n",
                strcmp(by->total, "bool") == 0 ? "int" : by->total, of);
}

// The sum of what this work-item takes: every `stride`th element from `first` on.
static void add_sum(rheos__text *text, const rheos__reducer *by, const layout *l,
                    const rheos__cl_dtype *dtype) {
  rheos__cl_add(text, "total sum = (total)(%s);\n", by->initial);
  rheos__text_add_string(text, "for (place at = first; at < last; at += stride) {\n");
  rheos__cl_add_index(text, "inside", "r", l->num_reduced, l->reduced_steps);
  rheos__cl_add(text,
                "const C x = %sxs[base + inside]);\nconst total a = sum;\nsum = (total)(%s);\n}\n",
                dtype->load, by->step);
}

// As add_sum(), of neighbours that one work-item takes alone: in sums that processors make side by
// side in a register.
static void add_sum_of_neighbours(rheos__text *text, const rheos__reducer *by,
                                  const rheos__cl_dtype *dtype) {
  static const char step[] =
      "const C x = %sxs[base + at + lane]);\nconst total a = lanes[lane];\n"
      "lanes[lane] = (total)(%s);\n}\n";
  rheos__cl_add(text,
                "total lanes[%d];\nplace at = first;\n"
                "for (int lane = 0; lane < %d; lane++) lanes[lane] = (total)(%s);\n"
                "for (; at + %d <= last; at += %d) {\nfor (int lane = 0; lane < %d; lane++) {\n",
                LANES, LANES, by->initial, LANES, LANES, LANES);
  rheos__cl_add(text, step, dtype->load, by->step);
  rheos__text_add_string(text, "}\nfor (int lane = 0; at + lane < last; lane++) {\n");
  rheos__cl_add(text, step, dtype->load, by->step);
  rheos__cl_add(text,
                "total sum = lanes[0];\nfor (int lane = 1; lane < %d; lane++) {\n"
                "const total a = sum, b = lanes[lane];\nsum = (total)(%s);\n}\n",
                LANES, by->joined);
}

// All sums of the group of so many into that of its first work-item.
static void add_tree(rheos__text *text, const rheos__reducer *by, int32_t group) {
  rheos__cl_add(text,
                "const uint mine = get_local_id(0);\nlocal total sums[%d];\nsums[mine] = sum;\n"
                "for (uint width = %d; width > 0; width /= 2) {\n"
                "barrier(CLK_LOCAL_MEM_FENCE);\nif (mine < width) {\n"
                "const total a = sums[mine], b = sums[mine + width];\nsums[mine] = (total)(%s);\n"
                "}\n}\n",
                (int)group, (int)group / 2, by->joined);
}

static void add_result(rheos__text *text, const rheos__reducer *by, const rheos__cl_dtype *dtype,
                       const char *sum) {
  rheos__cl_add(text, "const total a = %s;\nzs[output] = %s%s);\n", sum, dtype->store, by->result);
}

static const char parameters[] =
    "(global const char *bx, ulong ox, global char *bz, ulong oz, long outputs, long count, "
    "long pieces";
static const char pointers[] = "global const stored *xs = (global const stored *)(bx + ox);\n";

// One work-item for each output.
static void write_columns(rheos__text *text, const rheos__reducer *by, const layout *l,
                          const rheos__cl_dtype *dtype) {
  add_head(text, by, dtype, dtype->stored, l->is_short);
  rheos__cl_add(text, "kernel void reduce%s", parameters);
  add_dims(text, 'k', l->num_kept);
  add_dims(text, 'r', l->num_reduced);
  rheos__cl_add(text,
                ") {\n%sglobal stored *zs = (global stored *)(bz + oz);\n"
                "const place output = get_global_id(0);\nif (output >= (place)outputs) return;\n"
                "place base;\n{ const place at = output;\n",
                pointers);
  rheos__cl_add_index(text, "kept", "k", l->num_kept, l->kept_steps);
  rheos__text_add_string(
      text, "base = kept; }\nconst place first = 0, last = (place)count, stride = 1;\n");
  add_sum(text, by, l, dtype);
  add_result(text, by, dtype, "sum");
  rheos__text_add_string(text, "}\n");
}

// One group for each piece of ACROSS outputs, which are neighbours and so read at once: its items
// go down side by side. `whole`: it is all of them.
static void write_groups_of_columns(rheos__text *text, const rheos__reducer *by, const layout *l,
                                    const rheos__cl_dtype *dtype, bool whole) {
  add_head(text, by, dtype, dtype->stored, l->is_short);
  rheos__cl_add(text, "#define ACROSS %d\n#define DOWN %d\nkernel void reduce%s", (int)ACROSS,
                (int)DOWN, parameters);
  add_dims(text, 'k', l->num_kept);
  add_dims(text, 'r', l->num_reduced);
  rheos__cl_add(text,
                ") {\n%sconst place group = get_group_id(0), piece = group %% (place)pieces;\n"
                "const int x = get_local_id(0), y = get_local_id(1);\n"
                "const place output = group / (place)pieces * ACROSS + x;\n"
                "const bool is_there = output < (place)outputs;\n"
                "place base;\n{ const place at = is_there ? output : 0;\n",
                pointers);
  rheos__cl_add_index(text, "kept", "k", l->num_kept, l->kept_steps);
  rheos__text_add_string(
      text,
      "base = kept; }\nconst place each = ((place)count + (place)pieces - 1) / (place)pieces;\n"
      "const place first = piece * each + y, stride = DOWN;\n"
      "const place last = is_there ? min((piece + 1) * each, (place)count) : 0;\n");
  add_sum(text, by, l, dtype);
  rheos__cl_add(text,
                "local total sums[DOWN][ACROSS];\nsums[y][x] = sum;\n"
                "barrier(CLK_LOCAL_MEM_FENCE);\nif (y != 0 || !is_there) return;\n"
                "for (int i = 1; i < DOWN; i++) {\n"
                "const total a = sum, b = sums[i][x];\nsum = (total)(%s);\n}\n",
                by->joined);
  if (whole) {
    rheos__text_add_string(text, "global stored *zs = (global stored *)(bz + oz);\n");
    add_result(text, by, dtype, "sum");
  } else {
    rheos__text_add_string(text, "((global total *)(bz + oz))[output * pieces + piece] = sum;\n");
  }
  rheos__text_add_string(text, "}\n");
}

// One group for each piece of an output; `whole`: it is all of it.
static void write_rows(rheos__text *text, const rheos__reducer *by, const layout *l,
                       const rheos__cl_dtype *dtype, int32_t group, bool whole) {
  const bool are_neighbours = l->num_reduced == 1 && l->reduced_steps[0] == 1;
  add_head(text, by, dtype, dtype->stored, l->is_short);
  rheos__cl_add(text, "kernel void reduce%s", parameters);
  add_dims(text, 'k', l->num_kept);
  add_dims(text, 'r', l->num_reduced);
  rheos__cl_add(text,
                ") {\n%sconst place group = get_group_id(0), output = group / (place)pieces;\n"
                "const place piece = group %% (place)pieces;\n"
                "place base;\n{ const place at = output;\n",
                pointers);
  rheos__cl_add_index(text, "kept", "k", l->num_kept, l->kept_steps);
  rheos__cl_add(text,
                "base = kept; }\nconst place each = ((place)count + pieces - 1) / pieces;\n"
                "const place first = piece * each + get_local_id(0), stride = %d;\n"
                "const place last = min((piece + 1) * each, (place)count);\n",
                (int)group);
  if (group == 1 && are_neighbours) {
    add_sum_of_neighbours(text, by, dtype);
  } else {
    add_sum(text, by, l, dtype);
  }
  add_tree(text, by, group);
  rheos__text_add_string(text, "if (mine != 0) return;\n");
  if (whole) {
    rheos__text_add_string(text, "global stored *zs = (global stored *)(bz + oz);\n");
    add_result(text, by, dtype, "sums[0]");
  } else {
    rheos__text_add_string(text, "((global total *)(bz + oz))[group] = sums[0];\n");
  }
  rheos__text_add_string(text, "}\n");
}

// What the pieces gave, joined: one group for each output.
static void write_join(rheos__text *text, const rheos__reducer *by, const rheos__cl_dtype *dtype,
                       int32_t group) {
  add_head(text, by, dtype, dtype->stored, false);
  rheos__cl_add(text,
                "kernel void reduce%s) {\n"
                "global const total *xs = (global const total *)(bx + ox);\n"
                "global stored *zs = (global stored *)(bz + oz);\n"
                "const place output = get_group_id(0);\ntotal sum = (total)(%s);\n"
                "for (place at = get_local_id(0); at < (place)pieces; at += %d) {\n"
                "const total a = sum, b = xs[output * pieces + at];\nsum = (total)(%s);\n}\n",
                parameters, by->initial, (int)group, by->joined);
  add_tree(text, by, group);
  rheos__text_add_string(text, "if (mine != 0) return;\n");
  add_result(text, by, dtype, "sums[0]");
  rheos__text_add_string(text, "}\n");
}

static void add_stage(rheos__launch *launch, rheos__text *text, int32_t from, int32_t to,
                      const rheos__grid *grid, const rheos__reduction *r, int64_t pieces,
                      const layout *l) {
  const rheos__stage_operand operands[] = {{from, 0}, {to, 0}};
  rheos__launch_add_text(launch, text, "reduce", operands, 2, grid);
  rheos__launch_set_number(launch, r->num_outputs);
  rheos__launch_set_number(launch, r->count);
  rheos__launch_set_number(launch, pieces);
  for (int32_t d = 0; l != NULL && d < l->num_kept; d++) {
    rheos__launch_set_number(launch, l->kept_dims[d]);
    rheos__launch_set_number(launch, l->kept_steps[d]);
  }
  for (int32_t d = 0; l != NULL && d < l->num_reduced; d++) {
    rheos__launch_set_number(launch, l->reduced_dims[d]);
    rheos__launch_set_number(launch, l->reduced_steps[d]);
  }
}

static rheos__grid groups(int64_t count, int32_t group) {
  return (rheos__grid){1, {(size_t)(count * group)}, {(size_t)group, 1, 1}};
}

static int64_t pieces_of(const rheos__reduction *r) {
  if (r->num_outputs >= 64) return 1;
  const int64_t pieces = rheos__min(r->count / PIECE, MAX_PIECES / r->num_outputs);
  return pieces > 1 ? pieces : 1;
}

// So many that a card has something to do everywhere.
static int64_t pieces_of_columns(const rheos__card *card, const rheos__reduction *r) {
  const int64_t wanted = (int64_t)card->num_units * 8 * ACROSS / r->num_outputs;
  const int64_t pieces = rheos__min(rheos__min(r->count / COLUMN_PIECE, wanted), MAX_PIECES);
  return pieces > 1 ? pieces : 1;
}

// What is made of more pieces than one: of those in scratch memory, whose bytes are returned.
static size_t add_join(rheos__launch *launch, const rheos__reduction *r,
                       const rheos__cl_dtype *dtype, int64_t pieces, int32_t group) {
  rheos__text text = {0};
  const rheos__grid grid = groups(r->num_outputs, group);
  if (pieces == 1) return 0;
  write_join(&text, r->by, dtype, group);
  add_stage(launch, &text, RHEOS__SCRATCH, launch->num_inputs, &grid, r, pieces, NULL);
  return (size_t)(r->num_outputs * pieces) * RHEOS__TOTAL_BYTES;
}

static size_t add_kernels(rheos__launch *launch, const rheos__reduction *r,
                          const rheos__cl_dtype *dtype) {
  const bool blocks = launch->card->wants_blocks;
  const layout l = layout_of(launch->card, r);
  const int32_t output = launch->num_inputs;
  rheos__text text = {0};
  if (r->count <= FEW || (blocks && !r->inner_reduced && r->num_outputs >= 1024)) {
    const rheos__grid grid = {1, {(size_t)r->num_outputs}, {0}};
    write_columns(&text, r->by, &l, dtype);
    add_stage(launch, &text, 0, output, &grid, r, 1, &l);
    return 0;
  }
  // Work-items of processors wait for each other at a cost, and gain nothing.
  const int32_t group = blocks ? 1 : GROUP;
  const bool columns = !blocks && !r->inner_reduced && r->num_outputs > 1;
  const int64_t pieces = columns ? pieces_of_columns(launch->card, r) : pieces_of(r);
  const int32_t to = pieces == 1 ? output : RHEOS__SCRATCH;
  rheos__grid grid = groups(r->num_outputs * pieces, group);
  if (columns) {
    const int64_t across = (r->num_outputs + ACROSS - 1) / ACROSS * pieces;
    grid = (rheos__grid){2, {(size_t)across * ACROSS, DOWN, 1}, {ACROSS, DOWN, 1}};
    write_groups_of_columns(&text, r->by, &l, dtype, pieces == 1);
  } else {
    write_rows(&text, r->by, &l, dtype, group, pieces == 1);
  }
  add_stage(launch, &text, 0, to, &grid, r, pieces, &l);
  return add_join(launch, r, dtype, pieces, group);
}

rheos_status *rheos__cl_prepare_reduction(rheos__prepare *p) {
  rheos__card *card = rheos__card_of(p->device);
  RHEOS_TRY(p->op->prepare(p));
  if (p->alias_input >= 0) return NULL;
  const rheos__reduction *r = rheos__reduction_of(p->run, p->compute, p->state);
  const rheos__cl_dtype *dtype =
      r != NULL && r->by->dtype != 0 ? rheos__cl_dtype_of(card, (rheos_dtype)r->by->dtype) : NULL;
  if (dtype == NULL || !rheos__cl_can_write(r->by->step) || !rheos__cl_can_write(r->by->total) ||
      card->max_group < ACROSS * DOWN) {
    if (p->release != NULL) p->release(p->state);
    p->decline_reason = "the device does not reduce numbers of this dtype";
    return NULL;
  }
  rheos__launch *launch = rheos__launch_begin(card, p->arena, p->num_inputs, 2);
  if (launch == NULL) return rheos__out_of_memory();
  size_t scratch_bytes = 0;
  if (r->num_outputs > 0) scratch_bytes = add_kernels(launch, r, dtype);
  return rheos__launch_end(launch, p, scratch_bytes);
}
