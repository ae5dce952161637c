// A hash table of names.
#include "table.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "hash.h"

static size_t *find_slot(const name_table *table, const char *name, size_t name_bytes) {
  size_t at = hash_bytes(0, name, name_bytes) & (table->num_slots - 1);
  for (;; at = (at + 1) & (table->num_slots - 1)) {
    size_t *slot = &table->slots[at];
    if (*slot == 0) return slot;
    const name_row *row = &table->rows[*slot - 1];
    if (row->name_bytes == name_bytes && memcmp(row->name, name, name_bytes) == 0) return slot;
  }
}

static void grow(name_table *table) {
  table->capacity = table->capacity * 2 + 16;
  table->rows = command_realloc(table->rows, table->capacity * sizeof *table->rows);
  free(table->slots);
  table->num_slots = 64;
  while (table->num_slots < 2 * table->capacity) table->num_slots *= 2;
  table->slots = command_alloc(table->num_slots * sizeof *table->slots);
  for (size_t i = 0; i < table->count; i++) {
    *find_slot(table, table->rows[i].name, table->rows[i].name_bytes) = i + 1;
  }
}

name_row *name_table_row(name_table *table, const char *name, size_t name_bytes) {
  if (name_bytes == 0) name = "";
  if (table->count == table->capacity) grow(table);
  size_t *slot = find_slot(table, name, name_bytes);
  if (*slot == 0) {
    char *copy = command_alloc(name_bytes + 1);
    memcpy(copy, name, name_bytes);
    table->rows[table->count++] = (name_row){.name = copy, .name_bytes = name_bytes};
    *slot = table->count;
  }
  return &table->rows[*slot - 1];
}

void name_row_note(name_row *row, int64_t value) {
  if (row->count == 0 || value < row->least) row->least = value;
  if (row->count == 0 || value > row->most) row->most = value;
  row->count++;
}

void name_table_deinit(name_table *table) {
  for (size_t i = 0; i < table->count; i++) free(table->rows[i].name);
  free(table->rows);
  free(table->slots);
  *table = (name_table){0};
}
