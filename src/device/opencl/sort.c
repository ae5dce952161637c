#include "device/opencl/sort.h"

#include "device/opencl/source.h"

#include "opencl/sort.inc"

enum { CHUNK = 2 * RHEOS__GROUP };

int64_t rheos__sort_padded(int64_t count) {
  int64_t padded = CHUNK;
  while (padded < count) padded *= 2;
  return padded;
}

int32_t rheos__sort_stages(int64_t padded) {
  int32_t count = 1, apart = 0;
  for (int64_t width = 2 * CHUNK; width <= padded; width *= 2) count += ++apart + 1;
  return count;
}

typedef struct sorting {
  rheos__launch *launch;
  const rheos__stage_operand *keys;
  int64_t row, pairs;
} sorting;

static void add(const sorting *s, const char *name, int64_t width, int64_t number) {
  const rheos__grid grid = {1, {(size_t)s->pairs}, {RHEOS__GROUP, 1, 1}};
  rheos__text text = {0};
  rheos__cl_add_prelude(&text);
  rheos__cl_add(&text, "#define GROUP %d\n", (int)RHEOS__GROUP);
  rheos__text_add_string(&text, rheos__cl_sort);
  rheos__launch_add_text(s->launch, &text, name, s->keys, 1, &grid);
  rheos__launch_set_number(s->launch, s->row);
  rheos__launch_set_number(s->launch, width);
  rheos__launch_set_number(s->launch, number);
}

void rheos__sort_add(rheos__launch *launch, const rheos__stage_operand *keys, int64_t num_rows,
                     int64_t padded) {
  const sorting s = {launch, keys, padded, num_rows * padded / 2};
  add(&s, "sort_chunks", CHUNK, 1);
  for (int64_t width = 2 * CHUNK; width <= padded; width *= 2) {
    for (int64_t apart = width / 2; apart >= CHUNK; apart /= 2) {
      add(&s, "sort_apart", width, apart);
      rheos__launch_set_number(launch, s.pairs);
    }
    add(&s, "sort_chunks", width, 0);
  }
}
