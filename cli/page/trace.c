// RunMetadata field by field: step_stats 1 { dev_stats 1 { device 1, node_stats 2 } }. Of the many
// fields of a node's a few are wanted.
#include "trace.h"

#include <stdlib.h>
#include <string.h>

#include "../command.h"
#include "../wire.h"

static int32_t name_of(trace *t, wire text) {
  name_table_row(&t->names, text.at, wire_size(text))->count++;
  return (int32_t)(name_table_row(&t->names, text.at, wire_size(text)) - t->names.rows);
}

// The number in a field of a message that lies `depth` messages deep; the last one of several.
static int64_t number_at(wire message, const uint32_t *way, size_t depth) {
  wire_field field;
  bool is_sound;
  int64_t number = 0;
  while (wire_next(&message, &field, &is_sound)) {
    if (field.number != way[0]) continue;
    if (depth == 1 && field.type == WIRE_VARINT) number = (int64_t)field.value;
    if (depth > 1 && field.type == WIRE_BYTES) number = number_at(field.data, way + 1, depth - 1);
  }
  return number;
}

// tensor_description { allocation_description { requested_bytes } }
static int64_t output_bytes(wire output) {
  static const uint32_t way[] = {3, 4, 1};
  const int64_t bytes = number_at(output, way, 3);
  return bytes > 0 ? bytes : 0;
}

// Numbers of a node's fields by their numbers in the message.
enum { START_US = 2, OP_START_US, OP_END_US, END_US, THREAD = 10, START_NS = 13, END_NS = 16 };

static void read_node(trace *t, int32_t device, wire node) {
  int64_t numbers[END_NS + 1] = {0};
  trace_slice slice = {.name = -1, .device = device};
  wire_field field;
  bool is_sound;
  while (wire_next(&node, &field, &is_sound)) {
    if (field.type == WIRE_VARINT && field.number <= END_NS) {
      numbers[field.number] = (int64_t)field.value;
    }
    if (field.type != WIRE_BYTES) continue;
    if (field.number == 1) slice.name = name_of(t, field.data);
    if (field.number == 7 &&
        __builtin_add_overflow(slice.bytes, output_bytes(field.data), &slice.bytes)) {
      slice.bytes = INT64_MAX;
    }
  }
  if (slice.name < 0) return;
  if (t->count == TRACE_MOST_SLICES) {
    t->left_out++;
    return;
  }
  const bool has_ns = numbers[START_NS] > 0;
  slice.thread = numbers[THREAD];
  slice.duration_ns = has_ns ? numbers[END_NS] : 0;
  if (__builtin_mul_overflow(numbers[START_US], 1000, &slice.start_ns)) slice.start_ns = 0;
  if (has_ns) slice.start_ns = numbers[START_NS];
  if (!has_ns && __builtin_mul_overflow(numbers[END_US], 1000, &slice.duration_ns)) return;
  if (slice.duration_ns < 0) slice.duration_ns = 0;
  if (t->count == t->capacity) {
    t->capacity = 2 * t->capacity + 64;
    t->slices = command_realloc(t->slices, t->capacity * sizeof *t->slices);
  }
  t->slices[t->count++] = slice;
}

static void read_device(trace *t, wire stats) {
  wire_field field;
  bool is_sound;
  int32_t device = -1;
  for (wire w = stats; wire_next(&w, &field, &is_sound);) {
    if (field.number == 1 && field.type == WIRE_BYTES) device = name_of(t, field.data);
  }
  if (device < 0) device = name_of(t, wire_of("", 0));
  while (wire_next(&stats, &field, &is_sound)) {
    if (field.number == 2 && field.type == WIRE_BYTES) read_node(t, device, field.data);
  }
}

void trace_read(trace *t, const char *tag, int64_t step, const void *bytes, size_t size_bytes) {
  *t = (trace){.tag = command_format("%s", tag), .step = step};
  wire metadata = wire_of(bytes, size_bytes);
  wire_field field, device;
  bool is_sound;
  while (wire_next(&metadata, &field, &is_sound)) {
    if (field.number != 1 || field.type != WIRE_BYTES) continue;
    while (wire_next(&field.data, &device, &is_sound)) {
      if (device.number == 1 && device.type == WIRE_BYTES) read_device(t, device.data);
    }
  }
}

void trace_deinit(trace *t) {
  free(t->tag);
  free(t->slices);
  name_table_deinit(&t->names);
}

bool trace_graph(const void *bytes, size_t size_bytes, const void **out_graph,
                 size_t *out_graph_bytes) {
  wire metadata = wire_of(bytes, size_bytes);
  wire_field field, graph;
  bool is_sound;
  *out_graph = NULL;
  *out_graph_bytes = 0;
  while (wire_next(&metadata, &field, &is_sound)) {
    // partition_graphs; function_graphs { pre_optimization_graph }
    if (field.type != WIRE_BYTES || (field.number != 3 && field.number != 4)) continue;
    wire found = field.data;
    bool is_graph = field.number == 3;
    for (wire w = field.data; field.number == 4 && wire_next(&w, &graph, &is_sound);) {
      if (graph.number != 2 || graph.type != WIRE_BYTES) continue;
      found = graph.data;
      is_graph = true;
    }
    if (!is_graph) continue;
    *out_graph = found.at;
    *out_graph_bytes = wire_size(found);
    if (field.number == 4) return true;
  }
  return *out_graph != NULL;
}

// ---- As columns; times in microseconds from the first one

static int64_t first_start(const trace *t) {
  int64_t first = t->count > 0 ? t->slices[0].start_ns : 0;
  for (size_t i = 1; i < t->count; i++) {
    if (t->slices[i].start_ns < first) first = t->slices[i].start_ns;
  }
  return first;
}

void trace_json(const trace *t, json *j) {
  const int64_t first = first_start(t);
  json_begin(j, NULL, '{');
  json_text(j, "tag", t->tag);
  json_int(j, "step", t->step);
  json_int(j, "left_out", (int64_t)t->left_out);
  json_begin(j, "names", '[');
  for (size_t i = 0; i < t->names.count; i++) {
    json_bytes(j, NULL, t->names.rows[i].name, t->names.rows[i].name_bytes);
  }
  json_end(j, ']');
  json_begin(j, "slices", '[');
  for (size_t i = 0; i < t->count; i++) {
    const trace_slice *slice = &t->slices[i];
    json_int(j, NULL, slice->name);
    json_int(j, NULL, slice->device);
    json_int(j, NULL, slice->thread);
    json_number(j, NULL, (double)(slice->start_ns - first) / 1000, false);
    json_number(j, NULL, (double)slice->duration_ns / 1000, false);
    json_int(j, NULL, slice->bytes);
  }
  json_end(j, ']');
  json_end(j, '}');
}
