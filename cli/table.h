// Facts gathered under names, in the order in which the names came.
#ifndef RHEOS_CLI_TABLE_H
#define RHEOS_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct name_row {
  char *name;  // NUL-terminated; may hold NULs itself
  size_t name_bytes;
  int64_t count;        // how often it was met
  int64_t least, most;  // of whatever the caller notes
  const char *kind;     // likewise, borrowed
  double last;
  bool has_last;
} name_row;

typedef struct name_table {
  name_row *rows;
  size_t count, capacity;
  size_t *slots;  // open addressing: row plus 1, 0: free
  size_t num_slots;
} name_table;  // starts as zeros

// The row of that name; a new one has a count of 0. Valid until the next call.
name_row *name_table_row(name_table *table, const char *name, size_t name_bytes);
// Counts one more and widens least and most.
void name_row_note(name_row *row, int64_t value);
void name_table_deinit(name_table *table);

#endif  // RHEOS_CLI_TABLE_H
