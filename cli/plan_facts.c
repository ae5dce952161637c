#include "plan_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "status.h"

// "w/_read_7" is "w/_read": the number is a place in one plan. What is there again gets a number.
static char *name_of(plan_facts *f, const char *name) {
  static const char *const marks[] = {"/_read_", "/_copy_", "/_bring_", "/_watch_"};
  size_t length = strlen(name), digits = length;
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') digits--;
  for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
    const size_t mark = strlen(marks[i]);
    const bool is_marked =
        digits < length && digits >= mark && memcmp(name + digits - mark, marks[i], mark) == 0;
    if (is_marked) length = digits - 1;
  }
  char *own = command_format("%.*s", (int)length, name);
  name_row *row = name_table_row(&f->by_name, own, length);
  if (row->count++ == 0) {
    row->least = (int64_t)f->count;
    return own;
  }
  char *numbered = command_format("%s (%lld)", own, (long long)row->count);
  free(own);
  row = name_table_row(&f->by_name, numbered, strlen(numbered));
  row->count++;
  row->least = (int64_t)f->count;
  return numbered;
}

static int compare_links(const void *a, const void *b) {
  const plan_link *x = a, *y = b;
  if (x->from != y->from) return x->from < y->from ? -1 : 1;
  return (x->to > y->to) - (x->to < y->to);
}

static size_t first_link(const plan_link *links, size_t count, int64_t from) {
  size_t low = 0, high = count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (links[middle].from < from) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static size_t count_items(const json_item *first) {
  size_t count = 0;
  for (; first != NULL; first = first->next) count++;
  return count;
}

static rheos_status *read_entries(plan_facts *f, const json_item *plan) {
  const json_item *first = json_list(plan, "entries");
  f->rows = command_alloc(count_items(first) * sizeof *f->rows);
  for (const json_item *at = first; at != NULL; at = at->next) {
    const char *name = json_text_of(at, "name");
    const int64_t entry = json_int_of(at, "entry");
    const bool is_behind = f->count == 0 || entry > f->rows[f->count - 1].entry;
    if (name == NULL || entry < 0 || !is_behind) return INVALID("it has an entry that is none");
    char *own = name_of(f, name);
    f->rows[f->count++] = (plan_fact){.name = own,
                                      .op = json_text_of(at, "op"),
                                      .fused = json_list(at, "fused_ops"),
                                      .rule = json_text_of(at, "rule"),
                                      .device = json_text_of(at, "device"),
                                      .entry = entry};
  }
  return NULL;
}

// The row of an entry, or count.
static size_t row_of_entry(const plan_facts *f, int64_t entry) {
  size_t low = 0, high = f->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (f->rows[middle].entry < entry) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < f->count && f->rows[low].entry == entry ? low : f->count;
}

static int64_t int_of(const json_item *item) {
  return item->kind == JSON_NUMBER && item->number >= 0 && item->number < 9e15
             ? (int64_t)item->number
             : -1;
}

// ---- Who takes what

// By value the entry that gives it, for free().
static plan_link *find_producers(const json_item *plan, size_t *out_count) {
  plan_link *producers = NULL;
  size_t count = 0, capacity = 0;
  int64_t row = 0;
  for (const json_item *at = json_list(plan, "entries"); at != NULL; at = at->next, row++) {
    for (const json_item *v = json_list(at, "values"); v != NULL; v = v->next) {
      if (count == capacity) {
        capacity = 2 * capacity + 64;
        producers = command_realloc(producers, capacity * sizeof *producers);
      }
      producers[count++] = (plan_link){int_of(v), row};
    }
  }
  if (count > 1) qsort(producers, count, sizeof *producers, compare_links);
  *out_count = count;
  return producers;
}

static void find_uses(plan_facts *f, const json_item *plan) {
  size_t count, capacity = 0;
  plan_link *producers = find_producers(plan, &count);
  int64_t row = 0;
  for (const json_item *at = json_list(plan, "entries"); at != NULL; at = at->next, row++) {
    for (const json_item *v = json_list(at, "operands"); v != NULL; v = v->next) {
      const size_t found = first_link(producers, count, int_of(v));
      if (found == count || producers[found].from != int_of(v)) continue;
      if (f->num_uses == capacity) {
        capacity = 2 * capacity + 64;
        f->uses = command_realloc(f->uses, capacity * sizeof *f->uses);
      }
      f->uses[f->num_uses++] = (plan_link){producers[found].to, row};
    }
  }
  if (f->num_uses > 1) qsort(f->uses, f->num_uses, sizeof *f->uses, compare_links);
  free(producers);
}

void plan_fact_uses(const plan_facts *f, size_t row, size_t *out_first, size_t *out_end) {
  *out_first = first_link(f->uses, f->num_uses, (int64_t)row);
  *out_end = first_link(f->uses, f->num_uses, (int64_t)row + 1);
}

// ---- How entries run

static void read_group(plan_facts *f, const json_item *instruction) {
  const json_item *first = json_list(instruction, "runs");
  char *names = NULL;
  size_t size_bytes;
  if (count_items(first) < 2) return;
  FILE *out = open_memstream(&names, &size_bytes);
  if (out == NULL) return;
  for (const json_item *at = first; at != NULL; at = at->next) {
    const size_t row = row_of_entry(f, int_of(at));
    if (row < f->count) fprintf(out, "%s%s", at == first ? "" : "\n", f->rows[row].name);
  }
  fclose(out);
  f->groups = command_realloc(f->groups, (f->num_groups + 1) * sizeof *f->groups);
  f->groups[f->num_groups++] = names;
  for (const json_item *at = first; at != NULL; at = at->next) {
    const size_t row = row_of_entry(f, int_of(at));
    if (row == f->count) continue;
    f->rows[row].group = names;
    f->rows[row].made_by = json_text_of(instruction, "made_by");
  }
}

static void read_segment(plan_facts *f, const json_item *segment, const plan_link *producers,
                         size_t count) {
  const int64_t bytes = json_int_of(segment, "block_bytes");
  if (bytes > f->block_bytes) f->block_bytes = bytes;
  for (const json_item *at = json_list(segment, "values"); at != NULL; at = at->next) {
    const char *lies = json_text_of(at, "lies"), *made_by = json_text_of(at, "made_by");
    const size_t found = first_link(producers, count, json_int_of(at, "value"));
    if (lies == NULL || made_by == NULL || strcmp(lies, "constant") != 0) continue;
    if (found == count || producers[found].from != json_int_of(at, "value")) continue;
    f->rows[producers[found].to].folded = made_by;
  }
  for (const json_item *at = json_list(segment, "instructions"); at != NULL; at = at->next) {
    f->num_instructions++;
    read_group(f, at);
  }
}

rheos_status *plan_facts_read(plan_facts *f, const json_item *plan) {
  *f = (plan_facts){.count = 0};
  TRY(read_entries(f, plan));
  size_t count;
  plan_link *producers = find_producers(plan, &count);
  find_uses(f, plan);
  for (const json_item *at = json_list(plan, "segments"); at != NULL; at = at->next) {
    read_segment(f, at, producers, count);
  }
  free(producers);
  return NULL;
}

void plan_facts_deinit(plan_facts *f) {
  for (size_t i = 0; i < f->count; i++) free(f->rows[i].name);
  for (size_t i = 0; i < f->num_groups; i++) free(f->groups[i]);
  free(f->rows);
  free(f->groups);
  free(f->uses);
  name_table_deinit(&f->by_name);
}

const plan_fact *plan_fact_of(plan_facts *f, const char *name) {
  const name_row *row = name_table_row(&f->by_name, name, strlen(name));
  return row->count > 0 && (size_t)row->least < f->count ? &f->rows[row->least] : NULL;
}
