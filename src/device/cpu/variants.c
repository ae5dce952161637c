// The CPU's faster kernels, best first, for the ops that have any.
#include <string.h>

#include "device/cpu/matmul.h"
#include "graph/op_def.h"

typedef struct op_variants {
  const char *op;
  const rheos__prepare_fn *kernels;  // NULL-terminated
} op_variants;

static const rheos__prepare_fn matmul[] = {rheos__matmul_prepare_small, rheos__matmul_prepare_blas,
                                           NULL};

static const op_variants table[] = {
    {"MatMul", matmul},
};

const rheos__prepare_fn *rheos__op_variants(const rheos__op_def *op) {
  for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
    if (op->name[0] == table[i].op[0] && strcmp(op->name, table[i].op) == 0) {
      return table[i].kernels;
    }
  }
  return NULL;
}
