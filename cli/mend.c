// What goes is found by the library, on the graph; here only the nodes that went, and inputs that
// were moved, change in the bytes.
#include "mend.h"

#include <rheos/lint.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "message.h"
#include "status.h"
#include "table.h"
#include "view.h"
#include "wire.h"

enum {
  GRAPH_NODE = 1,
  NODE_NAME = 1,
  NODE_INPUT = 3,
  META_GRAPH_INFO = 1,  // tags, and the ops' own words
  META_GRAPH_GRAPH = 2,
  SAVED_MODEL_META_GRAPH = 2,
};

// ---- Writing

static void put_varint(FILE *out, uint64_t value) {
  for (; value >= 128; value >>= 7) fputc((int)(value & 127) | 128, out);
  fputc((int)value, out);
}

static void put_bytes(FILE *out, uint32_t number, const char *bytes, size_t size_bytes) {
  put_varint(out, (uint64_t)number << 3 | WIRE_BYTES);
  put_varint(out, size_bytes);
  fwrite(bytes, 1, size_bytes, out);
}

static void put_same(FILE *out, const char *begin, const char *end) {
  fwrite(begin, 1, (size_t)(end - begin), out);
}

// ---- What stays

enum { MOST_DEPTH = 12 };  // of messages in each other

// Notes all texts in a message as names of nodes, "x" of "x:0" and "^x". Which of its fields are
// messages is not known: each is looked at as one, too.
static void note_names(name_table *words, wire bytes, int depth) {
  wire_field field;
  bool is_sound;
  while (wire_next(&bytes, &field, &is_sound)) {
    if (field.type != WIRE_BYTES) continue;
    const char *at = field.data.at;
    if (at < field.data.end && *at == '^') at++;
    const size_t size_bytes = (size_t)(field.data.end - at);
    const char *colon = memchr(at, ':', size_bytes);
    name_table_row(words, at, colon != NULL ? (size_t)(colon - at) : size_bytes)->count = 1;
    if (depth < MOST_DEPTH) note_names(words, field.data, depth + 1);
  }
}

// What a meta graph says beside its graph.
static void note_named(name_table *words, wire meta_graph) {
  wire_field field;
  bool is_sound;
  while (wire_next(&meta_graph, &field, &is_sound)) {
    if (field.number == META_GRAPH_INFO || field.number == META_GRAPH_GRAPH) continue;
    if (field.type == WIRE_BYTES) note_names(words, field.data, 0);
  }
}

// Nodes that others say they stand with.
static void note_colocated(name_table *words, const Tensorflow__GraphDef *def) {
  static const char mark[] = "loc:@";
  for (size_t i = 0; i < def->n_node; i++) {
    const Tensorflow__AttrValue *value = view_attr(def->node[i], "_class");
    if (value == NULL || value->value_case != TENSORFLOW__ATTR_VALUE__VALUE_LIST) continue;
    for (size_t k = 0; k < value->list->n_s; k++) {
      const ProtobufCBinaryData text = value->list->s[k];
      const size_t begin = sizeof mark - 1;
      if (text.len <= begin || memcmp(text.data, mark, begin) != 0) continue;
      name_table_row(words, (const char *)text.data + begin, text.len - begin)->count = 1;
    }
  }
}

static size_t input_name(const char *input, const char **out_name) {
  *out_name = input + (*input == '^');
  return strcspn(*out_name, ":");
}

// Adds the nodes that are named, and with `ends` those that nothing takes or waits for.
static void add_what_stays(text_list *names, const Tensorflow__GraphDef *def, name_table *words,
                           bool ends) {
  name_table used = {.count = 0};
  for (size_t i = 0; i < def->n_node; i++) {
    for (size_t k = 0; k < def->node[i]->n_input; k++) {
      const char *name;
      const size_t length = input_name(def->node[i]->input[k], &name);
      name_table_row(&used, name, length)->count = 1;
    }
  }
  for (size_t i = 0; i < def->n_node; i++) {
    const char *name = def->node[i]->name;
    const size_t length = strlen(name);
    const bool is_named = name_table_row(words, name, length)->count > 0;
    const bool is_end = ends && name_table_row(&used, name, length)->count == 0;
    if (is_named || is_end) text_list_add(names, name);
  }
  name_table_deinit(&used);
}

// ---- The graph's bytes

static bool has_same_inputs(wire node, const Tensorflow__NodeDef *mended) {
  wire_field field;
  bool is_sound;
  size_t count = 0;
  while (wire_next(&node, &field, &is_sound)) {
    if (field.number != NODE_INPUT || field.type != WIRE_BYTES) continue;
    const char *input = count < mended->n_input ? mended->input[count] : NULL;
    const char *name;
    if (input == NULL) return false;
    // "x:0" is "x".
    const size_t length = strlen(input), own_length = wire_size(field.data);
    const bool is_same = own_length == length && memcmp(field.data.at, input, length) == 0;
    const bool is_same_first = own_length == length + 2 && input_name(input, &name) == length &&
                               memcmp(field.data.at, input, length) == 0 &&
                               memcmp(field.data.at + length, ":0", 2) == 0;
    if (!is_same && !is_same_first) return false;
    count++;
  }
  return count == mended->n_input;
}

// The node with the mended inputs in the place of its own.
static void put_node(FILE *out, wire node, const Tensorflow__NodeDef *mended) {
  char *bytes;
  size_t size_bytes;
  FILE *inner = open_memstream(&bytes, &size_bytes);
  wire_field field;
  bool is_sound, has_inputs = false;
  if (inner == NULL) return;
  for (const char *begin = node.at; wire_next(&node, &field, &is_sound); begin = node.at) {
    if (field.number != NODE_INPUT) {
      put_same(inner, begin, node.at);
      continue;
    }
    for (size_t i = 0; !has_inputs && i < mended->n_input; i++) {
      put_bytes(inner, NODE_INPUT, mended->input[i], strlen(mended->input[i]));
    }
    has_inputs = true;
  }
  fclose(inner);
  put_bytes(out, GRAPH_NODE, bytes, size_bytes);
  free(bytes);
}

static wire name_of(wire node) {
  wire_field field;
  bool is_sound;
  wire name = wire_of("", 0);
  while (wire_next(&node, &field, &is_sound)) {
    if (field.number == NODE_NAME && field.type == WIRE_BYTES) name = field.data;
  }
  return name;
}

static void put_graph(FILE *out, wire graph, const Tensorflow__GraphDef *mended) {
  name_table left = {.count = 0};
  wire_field field;
  bool is_sound;
  for (size_t i = 0; i < mended->n_node; i++) {
    name_row *row = name_table_row(&left, mended->node[i]->name, strlen(mended->node[i]->name));
    row->count = 1;
    row->least = (int64_t)i;
  }
  for (const char *begin = graph.at; wire_next(&graph, &field, &is_sound); begin = graph.at) {
    if (field.number == GRAPH_NODE && field.type == WIRE_BYTES) {
      const wire name = name_of(field.data);
      const name_row *row = name_table_row(&left, name.at, wire_size(name));
      if (row->count == 0) continue;
      const Tensorflow__NodeDef *node = mended->node[row->least];
      if (!has_same_inputs(field.data, node)) {
        put_node(out, field.data, node);
        continue;
      }
    }
    put_same(out, begin, graph.at);
  }
  name_table_deinit(&left);
}

static rheos_status *mend_graph(FILE *out, wire graph, const text_list *names,
                                int32_t *out_num_removed) {
  message_memory memory = {0};
  void *mended;
  size_t mended_bytes;
  ProtobufCMessage *message;
  TRY(rheos_graph_def_mend(graph.at, wire_size(graph), names->items, names->count, &mended,
                           &mended_bytes, out_num_removed));
  rheos_status *status =
      message_unpack(&tensorflow__graph_def__descriptor, mended, mended_bytes, &memory, &message);
  if (status == NULL) put_graph(out, graph, (const Tensorflow__GraphDef *)message);
  message_memory_free(&memory);
  rheos_free(mended);
  return status;
}

// ---- What it lies in

typedef struct mending {
  const mend_options *options;
  const Tensorflow__GraphDef *def;
  const Tensorflow__MetaGraphDef *meta_graph;  // NULL: a plain graph
  wire graph;
  int32_t num_removed;
} mending;

static rheos_status *put_mended_graph(mending *m, FILE *out, const wire *meta_graph) {
  const mend_options *options = m->options;
  const bool has_outputs = options->outputs.count > 0;
  name_table words = {.count = 0};
  text_list names = {0};
  for (size_t i = 0; i < options->outputs.count; i++) {
    text_list_add(&names, options->outputs.items[i]);
  }
  if (meta_graph != NULL) note_named(&words, *meta_graph);
  if (meta_graph != NULL || !has_outputs) note_colocated(&words, m->def);
  add_what_stays(&names, m->def, &words, !has_outputs && !options->is_serving);
  rheos_status *status = mend_graph(out, m->graph, &names, &m->num_removed);
  text_list_deinit(&names);
  name_table_deinit(&words);
  return status;
}

static rheos_status *put_meta_graph(mending *m, FILE *out, wire meta_graph) {
  const wire whole = meta_graph;
  wire_field field;
  bool is_sound, is_put = false;
  for (const char *begin = meta_graph.at; wire_next(&meta_graph, &field, &is_sound);
       begin = meta_graph.at) {
    if (field.number != META_GRAPH_GRAPH || field.type != WIRE_BYTES) {
      put_same(out, begin, meta_graph.at);
      continue;
    }
    char *bytes;
    size_t size_bytes;
    if (is_put) return INVALID("its graph is in several parts");
    FILE *inner = open_memstream(&bytes, &size_bytes);
    if (inner == NULL) return NO_MEMORY();
    m->graph = field.data;
    rheos_status *status = put_mended_graph(m, inner, &whole);
    fclose(inner);
    if (status == NULL) put_bytes(out, META_GRAPH_GRAPH, bytes, size_bytes);
    free(bytes);
    TRY(status);
    is_put = true;
  }
  return NULL;
}

static rheos_status *put_saved_model(mending *m, FILE *out, source *from) {
  wire model = wire_of(from->bytes, from->size_bytes);
  wire_field field;
  bool is_sound;
  size_t number = 0;
  for (const char *begin = model.at; wire_next(&model, &field, &is_sound); begin = model.at) {
    const bool is_meta_graph = field.number == SAVED_MODEL_META_GRAPH && field.type == WIRE_BYTES;
    if (!is_meta_graph || from->saved_model->meta_graphs[number++] != m->meta_graph) {
      put_same(out, begin, model.at);
      continue;
    }
    char *bytes;
    size_t size_bytes;
    FILE *inner = open_memstream(&bytes, &size_bytes);
    if (inner == NULL) return NO_MEMORY();
    rheos_status *status = put_meta_graph(m, inner, field.data);
    fclose(inner);
    if (status == NULL) put_bytes(out, SAVED_MODEL_META_GRAPH, bytes, size_bytes);
    free(bytes);
    TRY(status);
  }
  return NULL;
}

static rheos_status *put_source(mending *m, FILE *out, source *from) {
  const wire bytes = wire_of(from->bytes, from->size_bytes);
  if (from->kind == SOURCE_SAVED_MODEL) return put_saved_model(m, out, from);
  if (from->kind == SOURCE_META_GRAPH) return put_meta_graph(m, out, bytes);
  m->graph = bytes;
  return put_mended_graph(m, out, NULL);
}

rheos_status *mend_source(source *from, const mend_options *options, char **out_bytes,
                          size_t *out_size_bytes, int32_t *out_num_removed) {
  mending m = {.options = options};
  *out_bytes = NULL;
  TRY(source_read_message(from));
  TRY(source_meta_graph(from, options->tags, &m.meta_graph));
  m.def = m.meta_graph != NULL ? m.meta_graph->graph_def : from->graph_def;
  if (m.def == NULL) return INVALID("it has no graph");
  FILE *out = open_memstream(out_bytes, out_size_bytes);
  if (out == NULL) return NO_MEMORY();
  rheos_status *status = put_source(&m, out, from);
  if (fclose(out) != 0 && status == NULL) status = NO_MEMORY();
  *out_num_removed = m.num_removed;
  if (status == NULL) return NULL;
  free(*out_bytes);
  *out_bytes = NULL;
  return status;
}
