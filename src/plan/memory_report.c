// Reads the memory plan back: offsets and shapes say all there is to know.
#include "plan/memory_report.h"

#include "plan/kept_operand.h"

#include <stdio.h>
#include <string.h>

enum { MESSAGE_BYTES = 4000 };

static void insert(rheos__memory_report *report, const rheos__large_tensor *tensor) {
  int32_t at = report->num_largest;
  while (at > 0 && report->largest[at - 1].bytes < tensor->bytes) --at;
  if (at == RHEOS__NUM_LARGEST) return;
  if (report->num_largest < RHEOS__NUM_LARGEST) ++report->num_largest;
  memmove(&report->largest[at + 1], &report->largest[at],
          (size_t)(report->num_largest - 1 - at) * sizeof *tensor);
  report->largest[at] = *tensor;
}

void rheos__memory_report_of(const rheos__stretch *stretch, rheos__memory_report *out_report) {
  const rheos__plan *plan = stretch->plan;
  *out_report = (rheos__memory_report){.shared_bytes = stretch->memory_bytes,
                                       .kept_bytes = rheos__kept_bytes(stretch),
                                       .waits_for = -1};
  if (stretch->end_entry < plan->num_entries) {
    out_report->waits_for = plan->entries[stretch->end_entry - 1].id;
  }
  for (int32_t i = 0; i < stretch->num_values; ++i) {
    const rheos__value *value = &stretch->values[i];
    const bool is_fetched = value->kind == RHEOS__VALUE_HEAP;
    if (value->root != stretch->first_value + i || value->shape == NULL ||
        (value->kind != RHEOS__VALUE_ARENA && !is_fetched)) {
      continue;
    }
    // The plan has checked these sizes.
    rheos__large_tensor tensor = {.origin = plan->origins[stretch->first_value + i],
                                  .dtype = (rheos_dtype)value->dtype,
                                  .shape = value->shape};
    tensor.bytes = (size_t)rheos_shape_num_elements(value->shape) * rheos_dtype_size(tensor.dtype);
    if (is_fetched) {
      out_report->fetched_bytes += tensor.bytes;
    } else {
      out_report->separate_bytes += tensor.bytes;
    }
    insert(out_report, &tensor);
  }
}

// Appends "NAME float[2,3] (24 bytes) at FILE:LINE".
static size_t describe(char *text, size_t length, const rheos_graph *graph,
                       const rheos__large_tensor *tensor) {
  char *name = rheos__node_name(graph, rheos__graph_node(graph, tensor->origin.id));
  const char *file;
  int32_t line;
  rheos_operation_source((rheos_operation){(rheos_graph *)(uintptr_t)graph, tensor->origin.id},
                         &file, &line);
  rheos__shape_text shape;
  const size_t room = MESSAGE_BYTES - length;
  int written = snprintf(text + length, room, "%s %s:%d %s%s (%zu bytes)", length > 0 ? "," : "",
                         name != NULL ? name : "?", (int)tensor->origin.index,
                         rheos_dtype_name(tensor->dtype),
                         rheos__shape_text_of(tensor->shape, &shape), tensor->bytes);
  rheos__free(name);
  if (written < 0 || (size_t)written >= room) return MESSAGE_BYTES;
  length += (size_t)written;
  if (file == NULL) return length;
  written = snprintf(text + length, MESSAGE_BYTES - length, " at %s:%d", file, (int)line);
  return written < 0 ? MESSAGE_BYTES : length + (size_t)written;
}

rheos_status *rheos__no_memory_for(const rheos__stretch *stretch) {
  rheos__memory_report report;
  rheos__memory_report_of(stretch, &report);
  char text[MESSAGE_BYTES] = "";
  size_t length = 0;
  for (int32_t i = 0; i < report.num_largest && length < MESSAGE_BYTES; ++i) {
    const size_t before = length;
    length = describe(text, length, stretch->plan->graph, &report.largest[i]);
    if (length >= MESSAGE_BYTES) text[before] = '\0';  // whole ones only
  }
  return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED,
                          "out of memory: the step needs %zu bytes for intermediate values and %zu "
                          "for what is fetched. The largest:%s",
                          report.shared_bytes, report.fetched_bytes, text);
}
