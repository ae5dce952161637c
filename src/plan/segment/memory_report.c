// Reads the memory plan back: offsets and shapes say all there is to know.
#include "plan/segment/memory_report.h"

#include "plan/segment/packed_operand.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_BYTES = 4000 };

static void insert(rheos__memory_report *report, const rheos__large_tensor *tensor) {
  int32_t at = report->num_largest;
  while (at > 0 && report->largest[at - 1].bytes < tensor->bytes) --at;
  if (at == RHEOS__NUM_LARGEST) return;
  assert(at >= 0 && report->num_largest <= RHEOS__NUM_LARGEST);
  if (report->num_largest < RHEOS__NUM_LARGEST) ++report->num_largest;
  memmove(&report->largest[at + 1], &report->largest[at],
          (size_t)(report->num_largest - 1 - at) * sizeof *tensor);
  report->largest[at] = *tensor;
}

// Whether the value, returned by an instruction, is the tensor that a variable holds.
static bool is_read(const rheos__segment *segment, int32_t index) {
  const rheos__edge origin = segment->plan->origins[index];
  const rheos__node *node = rheos__plan_node(segment->plan, origin.id);
  return rheos_dtype_is_ref(node->outputs[origin.index].dtype) ||
         (node->signature->op->flags & RHEOS_OP_READS_VARIABLE) != 0;
}

static size_t bytes_of(const rheos__value *value) {  // the plan has checked these sizes
  if (value->shape == NULL) return 0;
  return (size_t)rheos_shape_num_elements(value->shape) *
         rheos_dtype_size((rheos_dtype)value->dtype);
}

// Of a tensor that an instruction returns and a kernel has made.
static size_t made_bytes(const rheos__segment *segment, int32_t index) {
  return is_read(segment, index) ? 0 : bytes_of(&segment->values[index - segment->first_value]);
}

// Tensors that instructions return, each held until the last that needs it has run.
static void add_returned(const rheos__segment *segment, rheos__memory_report *report) {
  size_t held = 0;
  for (int32_t i = 0; i < segment->num_instructions; ++i) {
    const rheos__instruction *in = &segment->instructions[i];
    for (int32_t index = in->first_value; index < in->first_value + in->num_outputs; ++index) {
      const rheos__value *value = &segment->values[index - segment->first_value];
      if (value->kind != RHEOS__VALUE_TENSOR || value->shape == NULL) continue;
      const rheos__large_tensor tensor = {segment->plan->origins[index], (rheos_dtype)value->dtype,
                                          value->shape, bytes_of(value), is_read(segment, index)};
      insert(report, &tensor);
      held += made_bytes(segment, index);
    }
    if (held > report->kernel_bytes) report->kernel_bytes = held;
    for (int32_t k = 0; k < in->num_releases; ++k) {
      held -= made_bytes(segment, segment->releases[in->first_release + k]);
    }
  }
}

// The node whose shape the entry behind the segment waits for, -1 if the segment ends for its
// device.
static int32_t awaited_node(const rheos__segment *segment) {
  const rheos__plan *plan = segment->plan;
  assert(segment->end_entry < plan->num_entries);
  const rheos__entry *next = &plan->entries[segment->end_entry];
  for (int32_t i = 0; i < next->num_inputs; ++i) {
    const int32_t value = plan->operands[next->first_operand + i];
    for (int32_t k = 0; k < segment->num_dynamic_values; ++k) {
      if (segment->dynamic_values[k] == value) return plan->origins[value].id;
    }
  }
  return -1;
}

void rheos__memory_report_of(const rheos__segment *segment, rheos__memory_report *out_report) {
  const rheos__plan *plan = segment->plan;
  *out_report = (rheos__memory_report){.shared_bytes = segment->memory_bytes,
                                       .packed_bytes = rheos__packed_bytes(segment),
                                       .waits_for = -1};
  if (segment->end_entry < plan->num_entries) {
    out_report->waits_for = awaited_node(segment);
  }
  for (int32_t i = 0; i < segment->num_values; ++i) {
    const rheos__value *value = &segment->values[i];
    const bool is_fetched = value->kind == RHEOS__VALUE_HEAP;
    if (value->root != segment->first_value + i || value->shape == NULL ||
        (value->kind != RHEOS__VALUE_ARENA && !is_fetched)) {
      continue;
    }
    rheos__large_tensor tensor = {.origin = plan->origins[segment->first_value + i],
                                  .dtype = (rheos_dtype)value->dtype,
                                  .shape = value->shape,
                                  .bytes = bytes_of(value)};
    if (is_fetched) {
      out_report->fetched_bytes += tensor.bytes;
    } else {
      out_report->separate_bytes += tensor.bytes;
    }
    insert(out_report, &tensor);
  }
  add_returned(segment, out_report);
}

// ---- Plans on tokens

typedef struct token_values {
  const rheos__plan *plan;
  int32_t *roots;  // by value: the one that a kernel made which it is
  int32_t *ends;   // by root: the last entry that takes it
  size_t *bytes;   // by root; 0: not known, or no kernel's
} token_values;

static bool passes_on(const rheos__entry *entry) {
  return entry->signature->op->flow != RHEOS__FLOW_NONE;
}

// What an entry with a role in the flow gives is what it was given.
static int32_t root_of(const token_values *t, const rheos__entry *entry, int32_t value) {
  if (!passes_on(entry) || entry->num_inputs == 0) return value;
  return t->roots[t->plan->operands[entry->first_operand]];
}

static void find_roots(token_values *t, rheos__memory_report *report) {
  const rheos__plan *plan = t->plan;
  for (int32_t i = 0; i < plan->num_feeds; ++i) t->roots[i] = i;
  for (int32_t i = 0; i < plan->num_entries; ++i) {
    const rheos__entry *entry = &plan->entries[i];
    for (int32_t k = 0; k < entry->num_outputs; ++k) {
      const int32_t value = entry->first_value + k, root = root_of(t, entry, value);
      t->roots[value] = root;
      if (t->ends[root] < plan->last_uses[value]) t->ends[root] = plan->last_uses[value];
      if (root != value) continue;
      const rheos_dtype dtype = (rheos_dtype)plan->dtypes[value];
      const rheos__edge origin = plan->origins[value];
      const rheos_shape *shape = rheos__plan_node(plan, origin.id)->outputs[origin.index].shape;
      if (rheos_dtype_is_ref(dtype) || dtype == RHEOS_RESOURCE) continue;
      if (!rheos_shape_is_known(shape)) {
        ++report->num_unknown;
        continue;
      }
      t->bytes[value] = (size_t)rheos_shape_num_elements(shape) * rheos_dtype_size(dtype);
      const rheos__large_tensor tensor = {origin, dtype, shape, t->bytes[value], false};
      insert(report, &tensor);
    }
  }
}

// Entries in their order, each value held until the last that takes it has run.
static void add_held(const token_values *t, rheos__memory_report *report) {
  const rheos__plan *plan = t->plan;
  size_t held = 0;
  for (int32_t i = 0; i < plan->num_entries; ++i) {
    const rheos__entry *entry = &plan->entries[i];
    for (int32_t k = 0; k < entry->num_outputs; ++k) held += t->bytes[entry->first_value + k];
    if (held > report->kernel_bytes) report->kernel_bytes = held;
    for (int32_t k = 0; k < entry->num_outputs; ++k) {
      const int32_t value = entry->first_value + k;
      if (t->ends[value] < i) held -= t->bytes[value];
    }
    for (int32_t k = 0; k < entry->num_inputs; ++k) {
      const int32_t root = t->roots[plan->operands[entry->first_operand + k]];
      if (t->ends[root] != i) continue;
      held -= t->bytes[root];
      t->bytes[root] = 0;
    }
  }
}

rheos_status *rheos__memory_report_of_tokens(const rheos__plan *plan,
                                             rheos__memory_report *out_report) {
  assert(plan->flow != NULL);
  *out_report = (rheos__memory_report){.waits_for = -1};
  const size_t count = (size_t)plan->num_values;
  token_values t = {.plan = plan,
                    .roots = rheos__alloc_array(count, sizeof *t.roots),
                    .ends = rheos__alloc_array(count, sizeof *t.ends),
                    .bytes = rheos__alloc_array(count, sizeof *t.bytes)};
  rheos_status *status = NULL;
  if (t.roots == NULL || t.ends == NULL || t.bytes == NULL) {
    status = rheos__out_of_memory();
  } else {
    find_roots(&t, out_report);
    add_held(&t, out_report);
  }
  rheos__free(t.roots);
  rheos__free(t.ends);
  rheos__free(t.bytes);
  return status;
}

// Appends "NAME float[2,3] (24 bytes) at FILE:LINE".
static size_t describe(char *text, size_t length, const rheos__plan *plan,
                       const rheos__large_tensor *tensor) {
  char *name = rheos__inlined_name(plan->inlined, plan->graph, tensor->origin.id);
  int32_t id;
  const rheos_graph *graph =
      rheos__inlined_place(plan->inlined, plan->graph, tensor->origin.id, &id);
  const char *file;
  int32_t line;
  rheos_operation_source((rheos_operation){(rheos_graph *)(uintptr_t)graph, id}, &file, &line);
  rheos__shape_text shape;
  const size_t room = MESSAGE_BYTES - length;
  int written =
      snprintf(text + length, room, "%s %s:%d %s%s (%zu bytes)%s", length > 0 ? "," : "",
               name != NULL ? name : "?", (int)tensor->origin.index,
               rheos_dtype_name(tensor->dtype), rheos__shape_text_of(tensor->shape, &shape),
               tensor->bytes, tensor->is_variable ? " of a variable" : "");
  rheos__free(name);
  if (written < 0 || (size_t)written >= room) return MESSAGE_BYTES;
  length += (size_t)written;
  if (file == NULL) return length;
  written = snprintf(text + length, MESSAGE_BYTES - length, " at %s:%d", file, (int)line);
  return written < 0 ? MESSAGE_BYTES : length + (size_t)written;
}

// "the step needs 24 bytes for intermediate values, 8 bytes for what is fetched", without what is
// nothing. Empty where all of it is.
static void describe_needs(char *text, size_t size, const rheos__memory_report *report) {
  const struct {
    size_t bytes;
    const char *what;
  } parts[] = {{report->shared_bytes, "for intermediate values"},
               {report->fetched_bytes, "for what is fetched"},
               {report->kernel_bytes, "for what kernels make"}};
  size_t length = 0;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    if (parts[i].bytes == 0) continue;
    const int written =
        snprintf(text + length, size - length, "%s%zu bytes %s",
                 length > 0 ? ", " : "the step needs ", parts[i].bytes, parts[i].what);
    if (written > 0) length += (size_t)written;
  }
}

rheos_status *rheos__no_memory_take(rheos_status *status, const rheos__segment *segment) {
  if (status == NULL || rheos_status_code(status) != RHEOS_RESOURCE_EXHAUSTED ||
      rheos_status_node(status) != NULL) {
    return status;
  }
  rheos__memory_report report;
  rheos__memory_report_of(segment, &report);
  char text[MESSAGE_BYTES] = "", whole[MESSAGE_BYTES + 300];
  size_t length = 0;
  for (int32_t i = 0; i < report.num_largest && length < MESSAGE_BYTES; ++i) {
    const size_t before = length;
    length = describe(text, length, segment->plan, &report.largest[i]);
    if (length >= MESSAGE_BYTES) text[before] = '\0';  // whole ones only
  }
  char needs[200] = "";
  describe_needs(needs, sizeof needs, &report);
  if (needs[0] == '\0') {
    if (status != rheos__out_of_memory()) return status;
    snprintf(needs, sizeof needs, "what the step needs is not known before it runs");
  }
  snprintf(whole, sizeof whole, "%s%s%s", needs, length > 0 ? ". The largest:" : "", text);
  if (status == rheos__out_of_memory()) {
    const bool is_host = rheos__is_on_host(segment->device);
    return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "out of memory%s%s: %s",
                            is_host ? "" : " on ", is_host ? "" : segment->device->name, whole);
  }
  rheos_status *longer =
      rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "%s; %s", rheos_status_message(status), whole);
  rheos_status_free(status);
  return longer;
}

rheos_status *rheos__no_memory_for(const rheos__segment *segment) {
  return rheos__no_memory_take(rheos__out_of_memory(), segment);
}
