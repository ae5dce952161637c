// Counts of ops, in the order in which they were met.
#include "graph/op_tally.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"

rheos_status *rheos__op_tally_add(rheos__op_tally *tally, const char *op, const char *node) {
  for (size_t i = 0; i < tally->count; i++) {
    if (strcmp(tally->items[i].op, op) != 0) continue;
    tally->items[i].count++;
    return NULL;
  }
  char *copy = rheos__text_format("%s", node);
  if (copy == NULL || !RHEOS_RESERVE(tally->items, tally->capacity, tally->count + 1)) {
    rheos__free(copy);
    return rheos__out_of_memory();
  }
  tally->items[tally->count++] = (struct rheos__op_count){op, copy, 1};
  return NULL;
}

void rheos__op_tally_text(const rheos__op_tally *tally, char *text, size_t size_bytes) {
  size_t at = 0;
  text[0] = '\0';
  for (size_t i = 0; i < tally->count; i++) {
    const struct rheos__op_count *item = &tally->items[i];
    const char *comma = i > 0 ? ", " : "";
    const int length =
        item->count > 1
            ? snprintf(text + at, size_bytes - at, "%s'%s' (%lld nodes, the first is '%s')", comma,
                       item->op, (long long)item->count, item->node)
            : snprintf(text + at, size_bytes - at, "%s'%s' ('%s')", comma, item->op, item->node);
    if (length < 0) return;
    at += (size_t)length;
    if (at >= size_bytes) {
      if (size_bytes > 4) memcpy(text + size_bytes - 4, "...", 4);
      return;
    }
  }
}

void rheos__op_tally_deinit(rheos__op_tally *tally) {
  for (size_t i = 0; i < tally->count; i++) rheos__free(tally->items[i].node);
  rheos__free(tally->items);
  *tally = (rheos__op_tally){0};
}
