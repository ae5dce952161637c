// Prints the table of ops as Markdown, in alphabetical order: for tools/op-docs, and for people.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cpu/cpu.h"

static int by_name(const void *a, const void *b) {
  const rheos__op_def *const *x = a, *const *y = b;
  return strcmp((*x)->name, (*y)->name);
}

static int count_variants(const rheos__op_def *op) {
  const rheos__prepare_fn *variants = rheos__cpu_variants(op);
  int count = 0;
  while (variants && variants[count]) count++;
  return count;
}

static const char *gradient_text(const rheos__op_def *op) {
  if (!op->gradient) return "";
  return op->gradient == rheos__no_gradient ? "none flows" : "yes";
}

// A default in a signature may hold a newline.
static void print_signature(const char *text) {
  for (; *text; text++) {
    if (*text == '\n')
      fputs("\\n", stdout);
    else
      putchar(*text);
  }
}

static void print_op(const rheos__op_def *op) {
  int variants = count_variants(op);
  printf("| `%s` | %s | `", op->name, op->doc ? op->doc : "");
  print_signature(op->signature);
  printf("` | %s | ", gradient_text(op));
  if (op->flow != RHEOS__FLOW_NONE)
    printf("the executor");
  else if (!rheos__has_reference(op))
    printf("cannot run");
  else if (variants > 0)
    printf("reference and %d faster", variants);
  else
    printf("reference");
  printf(" |\n");
}

int main(void) {
  const rheos__op_def **ops = malloc(((size_t)rheos__op_table_size + 1) * sizeof *ops);
  if (!ops) return 1;
  memcpy(ops, rheos__op_table, (size_t)rheos__op_table_size * sizeof *ops);
  qsort(ops, (size_t)rheos__op_table_size, sizeof *ops, by_name);
  printf("%d ops.\n\n", rheos__op_table_size);
  printf("| op | what it does | signature | gradient | kernels |\n|---|---|---|---|---|\n");
  for (int32_t i = 0; i < rheos__op_table_size; i++) print_op(ops[i]);
  free(ops);
  return 0;
}
