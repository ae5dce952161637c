// A card reads and writes neighbours at once, so a group brings a square of elements into its own
// memory along the dimension in which the source has them, and takes it from there along that of
// the result. Rows of the square are one longer than they need be: the elements of a column then
// lie in different banks.
#include "device/opencl/transpose.h"

#include "device/opencl/move.h"
#include "device/opencl/source.h"

enum { SIDE = 32, ROWS = 8, LEAST = 8 };

// The loops of a copy: over `down`, in which the source has neighbours, over `across`, in which the
// result has them, and over all others, the innermost last.
typedef struct turned {
  int32_t down, across, num_others, others[RHEOS__COPY_RANK];
} turned;

static bool find_loops(const rheos__copy *copy, turned *out) {
  const int32_t last = copy->rank - 1;
  *out = (turned){.down = -1, .across = -1};
  for (int32_t d = last; d >= 0; d--) {
    if (copy->in_steps[d] == 1 && copy->out_steps[d] != 1) out->down = d;
    if (copy->out_steps[d] == 1 && copy->in_steps[d] != 1) out->across = d;
  }
  for (int32_t d = 0; d <= last; d++) {
    if (d != out->down && d != out->across) out->others[out->num_others++] = d;
  }
  return out->down >= 0 && out->across >= 0 && copy->dims[out->down] >= LEAST &&
         copy->dims[out->across] >= LEAST;
}

static const char body[] =
    "local WORD square[SIDE][SIDE + 1];\n"
    "const int x = get_local_id(0), y = get_local_id(1);\n"
    "const long first_down = (long)(tile % (number)tiles_down) * SIDE;\n"
    "const long first_across = (long)(tile / (number)tiles_down) * SIDE;\n"
    "global const WORD *xs = (global const WORD *)(bx + ox) + from;\n"
    "global WORD *zs = (global WORD *)(bz + oz) + to;\n"
    "for (int row = y; row < SIDE; row += ROWS) {\n"
    "  const long i = first_down + x, j = first_across + row;\n"
    "  if (i < down && j < across) square[row][x] = xs[i + j * across_from];\n"
    "}\n"
    "barrier(CLK_LOCAL_MEM_FENCE);\n"
    "for (int row = y; row < SIDE; row += ROWS) {\n"
    "  const long i = first_down + row, j = first_across + x;\n"
    "  if (i < down && j < across) zs[i * down_to + j] = square[x][row];\n"
    "}\n}\n";

static void write_source(rheos__text *text, int32_t num_others, const char *word,
                         const char *number) {
  rheos__cl_add(text,
                "#define WORD %s\n#define SIDE %d\n#define ROWS %d\ntypedef %s number;\n"
                "kernel __attribute__((reqd_work_group_size(SIDE, ROWS, 1))) void transpose(\n"
                "global const char *bx, ulong ox, global char *bz, ulong oz, long from_start, "
                "long to_start, long down, long across, long down_to, long across_from",
                word, (int)SIDE, (int)ROWS, number);
  rheos__move_add_loops(text, num_others);
  rheos__text_add_string(
      text,
      ") {\nconst long tiles_down = (down + SIDE - 1) / SIDE;\n"
      "const number tiles = (number)(tiles_down * ((across + SIDE - 1) / SIDE));\n"
      "const number group = get_group_id(0), tile = group % tiles, at = group / tiles;\n");
  rheos__move_add_walk(text, num_others, "long");
  rheos__text_add_string(text, body);
}

bool rheos__transpose_add(rheos__launch *launch, const rheos__copy *copy, int32_t from,
                          int32_t to) {
  turned t;
  const char *word = rheos__cl_word_of(rheos_dtype_size(copy->dtype));
  if (launch->card->wants_blocks || launch->card->max_group < SIDE * ROWS || word == NULL ||
      rheos_dtype_size(copy->dtype) > sizeof(uint64_t) || !find_loops(copy, &t)) {
    return false;
  }
  const int64_t down = copy->dims[t.down], across = copy->dims[t.across];
  const int64_t tiles = ((down + SIDE - 1) / SIDE) * ((across + SIDE - 1) / SIDE);
  const int64_t groups = copy->num_elements / (down * across) * tiles;
  const rheos__stage_operand operands[] = {{from, 0}, {to, 0}};
  const rheos__grid grid = {2, {(size_t)groups * SIDE, ROWS, 1}, {SIDE, ROWS, 1}};
  rheos__text text = {0};
  write_source(&text, t.num_others, word, groups < INT32_MAX ? "uint" : "ulong");
  rheos__launch_add_text(launch, &text, "transpose", operands, 2, &grid);
  const int64_t numbers[] = {copy->in_start, copy->out_start,         down,
                             across,         copy->out_steps[t.down], copy->in_steps[t.across]};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    rheos__launch_set_number(launch, numbers[i]);
  }
  for (int32_t i = 0; i < t.num_others; i++) {
    rheos__launch_set_number(launch, copy->dims[t.others[i]]);
    rheos__launch_set_number(launch, copy->in_steps[t.others[i]]);
    rheos__launch_set_number(launch, copy->out_steps[t.others[i]]);
  }
  return true;
}
