// Which of TensorFlow's files a path names. The order of the questions matters: first what has a
// mark of its own (records by their checksum, checkpoints by their footer), then text, then
// messages, which are told apart by what their first fields can be.
#include "source.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "files.h"
#include "status.h"
#include "wire.h"

enum { HEAD_BYTES = 4096, RECORD_HEAD_BYTES = 12 };
static const uint64_t table_mark = UINT64_C(0xdb4775248b80fb57);

const char *source_kind_name(source_kind kind) {
  static const char *const names[] = {"graph",   "meta_graph", "saved_model", "checkpoint",
                                      "records", "events",     "arrays",      "unknown"};
  return names[kind];
}

void source_close(source *s) {
  free(s->path);
  free(s->folder);
  free(s->file);
  rheos_free(s->parsed);
  free(s->merged);
  folder_list_free(s->event_files, s->num_event_files);
  rheos_checkpoint_state_deinit(&s->checkpoint_list);
  message_memory_free(&s->memory);
}

static bool has_index(const char *prefix) {
  char *index = command_format("%s.index", prefix), *pending = command_format("%s.new", index);
  const bool found = is_file(index) || is_file(pending);
  free(index);
  free(pending);
  return found;
}

// ---- Records

// The checksum of records (CRC-32C), masked as it is written beside what it is of.
static uint32_t checksum_of(const char *bytes, size_t size_bytes) {
  uint32_t crc = UINT32_MAX;
  for (size_t i = 0; i < size_bytes; i++) {
    crc ^= (unsigned char)bytes[i];
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0x82f63b78) : 0);
  }
  crc = ~crc;
  return (crc >> 15 | crc << 17) + UINT32_C(0xa282ead8);
}

static bool is_record_head(const char *head, size_t size_bytes) {
  uint32_t checksum;
  if (size_bytes < RECORD_HEAD_BYTES) return false;
  memcpy(&checksum, head + 8, sizeof checksum);
  return checksum_of(head, 8) == checksum;
}

// An Event of a file's first record tells the version of the format.
static bool is_event(const void *record, size_t size_bytes) {
  static const char version[] = "brain.Event:";
  wire event = wire_of(record, size_bytes);
  wire_field field;
  bool sound;
  while (wire_next(&event, &field, &sound)) {
    if (field.number == 3 && field.type == WIRE_BYTES &&
        wire_size(field.data) >= sizeof version - 1) {
      return memcmp(field.data.at, version, sizeof version - 1) == 0;
    }
  }
  return false;
}

// False if the file's first record cannot be read that way.
static bool look_at_records(source *s, rheos_compression compression) {
  rheos_record_reader *reader;
  const void *record;
  size_t size_bytes;
  rheos_status *status = rheos_record_reader_open(s->path, compression, &reader);
  if (status == NULL) status = rheos_record_reader_next(reader, &record, &size_bytes);
  const bool is_sound = status == NULL || rheos_status_code(status) == RHEOS_OUT_OF_RANGE;
  s->kind = SOURCE_RECORDS;
  s->compression = compression;
  if (status == NULL && is_event(record, size_bytes)) s->kind = SOURCE_EVENTS;
  rheos_status_free(status);
  rheos_record_reader_close(reader);
  return is_sound;
}

// ---- Messages

// Which message a text is of, by the name of its first field.
static source_kind kind_of_field(const char *name, size_t size_bytes) {
  static const struct {
    const char *name;
    source_kind kind;
  } fields[] = {
      {"node", SOURCE_GRAPH},
      {"library", SOURCE_GRAPH},
      {"versions", SOURCE_GRAPH},
      {"version", SOURCE_GRAPH},
      {"debug_info", SOURCE_GRAPH},
      {"meta_info_def", SOURCE_META_GRAPH},
      {"graph_def", SOURCE_META_GRAPH},
      {"saver_def", SOURCE_META_GRAPH},
      {"collection_def", SOURCE_META_GRAPH},
      {"signature_def", SOURCE_META_GRAPH},
      {"asset_file_def", SOURCE_META_GRAPH},
      {"object_graph_def", SOURCE_META_GRAPH},
      {"saved_model_schema_version", SOURCE_SAVED_MODEL},
      {"meta_graphs", SOURCE_SAVED_MODEL},
      {"model_checkpoint_path", SOURCE_CHECKPOINT},
      {"all_model_checkpoint_paths", SOURCE_CHECKPOINT},
      {"all_model_checkpoint_timestamps", SOURCE_CHECKPOINT},
      {"last_preserved_timestamp", SOURCE_CHECKPOINT},
  };
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
    if (strlen(fields[i].name) == size_bytes && memcmp(fields[i].name, name, size_bytes) == 0) {
      return fields[i].kind;
    }
  }
  return SOURCE_UNKNOWN;
}

static source_kind kind_of_text(const char *at, const char *end) {
  static const char spaces[] = " \t\r\n", bom[] = "\xef\xbb\xbf";
  if (end - at >= 3 && memcmp(at, bom, 3) == 0) at += 3;
  for (;;) {
    while (at < end && *at != '\0' && strchr(spaces, *at) != NULL) at++;
    if (at == end || *at != '#') break;
    while (at < end && *at != '\n') at++;
  }
  const char *name = at;
  while (at < end && ((*at >= 'a' && *at <= 'z') || *at == '_')) at++;
  const size_t size_bytes = (size_t)(at - name);
  while (at < end && (*at == ' ' || *at == '\t')) at++;
  if (at == end || (*at != ':' && *at != '{' && *at != '<')) return SOURCE_UNKNOWN;
  return kind_of_field(name, size_bytes);
}

// The first field of that number, if it is bytes.
static bool find_bytes(wire message, uint32_t number, wire *out_data) {
  wire_field field;
  bool sound;
  while (wire_next(&message, &field, &sound)) {
    if (field.number != number) continue;
    *out_data = field.data;
    return field.type == WIRE_BYTES;
  }
  return false;
}

// A NodeDef says its op in field 2, where the other messages have a message, whose first byte is
// a tag and no letter.
static bool is_node(wire message) {
  wire op;
  if (!find_bytes(message, 2, &op) || wire_size(op) == 0) return false;
  const char c = *op.at;
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '>';
}

static bool is_graph(wire message, bool *out_is_sound) {
  wire_field field;
  bool is_graph = false;
  while (wire_next(&message, &field, out_is_sound)) {
    if (field.number == 1) return field.type == WIRE_BYTES && is_node(field.data);
    // Without nodes: a library, versions.
    if (field.number == 4 && field.type == WIRE_BYTES) {
      wire_field producer;
      bool sound;
      is_graph = wire_next(&field.data, &producer, &sound) && producer.type == WIRE_VARINT;
    }
  }
  return is_graph;
}

static bool is_meta_graph(wire message) {
  wire meta_info, part;
  bool sound;
  if (find_bytes(message, 2, &part) && is_graph(part, &sound)) return true;
  // The version of TensorFlow that wrote it, or the ops that it uses. Keras has JSON in that place.
  return find_bytes(message, 1, &meta_info) &&
         ((find_bytes(meta_info, 5, &part) && wire_size(part) > 0 && *part.at != '{') ||
          find_bytes(meta_info, 2, &part));
}

// Whether it has only fields that a meta graph can have.
static bool may_be_meta_graph(wire message) {
  wire_field field;
  bool sound;
  while (wire_next(&message, &field, &sound)) {
    if (field.number > 7 || field.type != WIRE_BYTES) return false;
  }
  return true;  // what is damaged too: reading it says where
}

// After the version, which other messages begin with too, come meta graphs or nothing.
static bool is_saved_model(wire message) {
  wire_field field;
  bool sound;
  while (wire_next(&message, &field, &sound)) {
    if (field.number == 2) {
      return field.type == WIRE_BYTES && may_be_meta_graph(field.data);
    }
  }
  return true;
}

static source_kind kind_of_message(const char *bytes, size_t size_bytes) {
  const wire message = wire_of(bytes, size_bytes);
  wire rest = message, meta_graph;
  wire_field field;
  bool sound;
  if (!wire_next(&rest, &field, &sound)) return SOURCE_UNKNOWN;
  if (field.number == 1 && field.type == WIRE_VARINT) {
    return is_saved_model(message) ? SOURCE_SAVED_MODEL : SOURCE_UNKNOWN;
  }
  if (is_graph(message, &sound)) return SOURCE_GRAPH;
  if (is_meta_graph(message)) return SOURCE_META_GRAPH;
  // A saved model that does not tell its version.
  if (field.number == 2 && find_bytes(message, 2, &meta_graph) && is_meta_graph(meta_graph)) {
    return SOURCE_SAVED_MODEL;
  }
  return SOURCE_UNKNOWN;
}

const char *source_message_type(source_kind kind) {
  return kind == SOURCE_GRAPH        ? "GraphDef"
         : kind == SOURCE_META_GRAPH ? "MetaGraphDef"
                                     : "SavedModel";
}

static const ProtobufCMessageDescriptor *descriptor_of(source_kind kind) {
  return kind == SOURCE_GRAPH        ? &tensorflow__graph_def__descriptor
         : kind == SOURCE_META_GRAPH ? &tensorflow__meta_graph_def__descriptor
                                     : &tensorflow__saved_model__descriptor;
}

// An error of a text names the text and the place in it: "text:3:7: ..."; the file's name comes
// there.
static rheos_status *at_file_take(const source *s, rheos_status *status) {
  static const char text[] = "text:";
  const char *message = rheos_status_message(status);
  if (strncmp(message, text, sizeof text - 1) != 0) return status;
  rheos_status *named = rheos_status_new(rheos_status_code(status), "%s:%s", path_base(s->path),
                                         message + sizeof text - 1);
  rheos_status_free(status);
  return named;
}

rheos_status *source_read_message(source *s) {
  ProtobufCMessage *message;
  if (s->file == NULL) TRY(file_read(s->path, &s->file, &s->size_bytes));
  s->bytes = s->file;
  if (s->is_text) {
    rheos_status *status = rheos_message_from_text(source_message_type(s->kind), s->file,
                                                   s->size_bytes, &s->parsed, &s->size_bytes);
    if (status != NULL) return at_file_take(s, status);
    free(s->file);
    s->file = NULL;
    s->bytes = s->parsed;
  }
  TRY(message_unpack(descriptor_of(s->kind), s->bytes, s->size_bytes, &s->memory, &message));
  if (s->kind == SOURCE_GRAPH) s->graph_def = (Tensorflow__GraphDef *)message;
  if (s->kind == SOURCE_META_GRAPH) s->meta_graph_def = (Tensorflow__MetaGraphDef *)message;
  if (s->kind == SOURCE_SAVED_MODEL) s->saved_model = (Tensorflow__SavedModel *)message;
  return NULL;
}

// ---- Files

// The part of a file name before ".data-00000-of-00001" or ".index", NULL if it ends in neither.
static char *prefix_of(const char *path) {
  const char *dot = strrchr(path, '.');
  if (dot == NULL || strchr(dot, '/') != NULL) return NULL;
  int shard, count, length = 0;
  const bool is_data =
      sscanf(dot, ".data-%5d-of-%5d%n", &shard, &count, &length) == 2 && dot[length] == '\0';
  if (!is_data && strcmp(dot, ".index") != 0) return NULL;
  return command_format("%.*s", (int)(dot - path), path);
}

static void become_checkpoint(source *s, char *prefix) {
  free(s->path);
  s->path = prefix;
  s->kind = SOURCE_CHECKPOINT;
}

static rheos_status *open_list(source *s) {
  char *folder = path_folder(s->path);
  rheos_status *status =
      rheos_checkpoint_state_read(folder, path_base(s->path), &s->checkpoint_list);
  free(folder);
  if (status != NULL) return status;
  const char *newest = s->checkpoint_list.model_checkpoint_path;
  if (newest == NULL || newest[0] == '\0') {
    return INVALID("this list of checkpoints names no checkpoint");
  }
  if (!has_index(newest) && !is_file(newest)) {
    return NOT_FOUND("its newest checkpoint is '%s', which is not there", newest);
  }
  become_checkpoint(s, command_format("%s", newest));
  return NULL;
}

static bool is_zlib(const unsigned char *head, size_t size_bytes) {
  return size_bytes >= 2 && (head[0] & 0x0f) == 8 && (head[0] << 8 | head[1]) % 31 == 0;
}

static rheos_status *not_known(const char *path) {
  if (ends_with(path, ".py")) {
    return INVALID(
        "this is a program, not a file with a graph or values: 'rheos run --view' runs it and "
        "shows "
        "its graph and the times of its steps, 'rheos bench --pipeline' the times of its datasets");
  }
  return INVALID(
      "this is none of the files that Rheos reads: graph, meta graph, saved model, checkpoint, "
      "records, events, arrays");
}

// By a mark in the file; false if it has none.
static bool look_at_marks(source *s, const char *head, size_t head_bytes, uint64_t tail_mark) {
  if (head_bytes >= 6 && memcmp(head, "\x93NUMPY", 6) == 0) s->kind = SOURCE_ARRAYS;
  if (head_bytes >= 4 && memcmp(head, "PK\3\4", 4) == 0) s->kind = SOURCE_ARRAYS;
  if (s->kind != SOURCE_UNKNOWN) return true;
  if (tail_mark == table_mark) {
    char *prefix = prefix_of(s->path);
    become_checkpoint(s, prefix != NULL ? prefix : command_format("%s", s->path));
    return true;
  }
  if (is_record_head(head, head_bytes)) {
    look_at_records(s, RHEOS_NO_COMPRESSION);
    return true;
  }
  const unsigned char *bytes = (const unsigned char *)head;
  if (head_bytes >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b) {
    return look_at_records(s, RHEOS_GZIP);
  }
  return is_zlib(bytes, head_bytes) && look_at_records(s, RHEOS_ZLIB);
}

static rheos_status *look_at_message(source *s, const char *head, size_t head_bytes) {
  s->kind = kind_of_text(head, head + head_bytes);
  s->is_text = s->kind != SOURCE_UNKNOWN;
  if (s->kind == SOURCE_CHECKPOINT) return open_list(s);
  if (s->is_text) return NULL;
  TRY(file_read(s->path, &s->file, &s->size_bytes));
  s->kind = kind_of_message(s->file, s->size_bytes);
  return s->kind != SOURCE_UNKNOWN ? NULL : not_known(s->path);
}

static rheos_status *open_file(source *s) {
  char *prefix = prefix_of(s->path);
  if (prefix != NULL && has_index(prefix)) {
    become_checkpoint(s, prefix);
    return NULL;
  }
  free(prefix);
  char head[HEAD_BYTES];
  size_t head_bytes;
  uint64_t tail_mark, size_bytes;
  TRY(file_read_ends(s->path, head, HEAD_BYTES, &head_bytes, &tail_mark, &size_bytes));
  if (size_bytes == 0) return INVALID("the file is empty");
  if (look_at_marks(s, head, head_bytes, tail_mark)) return NULL;
  return look_at_message(s, head, head_bytes);
}

// ---- Folders

static void become_file_in(source *s, const char *name) {
  char *path = command_format("%s/%s", s->path, name);
  free(s->path);
  s->path = path;
}

static bool has_file(const char *folder, const char *name) {
  char *path = command_format("%s/%s", folder, name);
  const bool found = is_file(path);
  free(path);
  return found;
}

// The one file whose name ends so; a status if there are several.
static rheos_status *find_only(const char *folder, const char *end, char **out_name) {
  *out_name = NULL;
  char **names;
  size_t count;
  TRY(folder_list(folder, &names, &count));
  rheos_status *status = NULL;
  for (size_t i = 0; i < count && status == NULL; i++) {
    if (!ends_with(names[i], end)) continue;
    if (*out_name != NULL) {
      status = INVALID("the folder has several files of one kind, '%s' and '%s': name one",
                       *out_name, names[i]);
    } else {
      *out_name = command_format("%s", names[i]);
    }
  }
  folder_list_free(names, count);
  if (status != NULL) {
    free(*out_name);
    *out_name = NULL;
  }
  return status;
}

// A program that was started several times leaves as many files of events; all are shown as one.
static rheos_status *find_events(source *s) {
  char **names;
  size_t count;
  TRY(folder_list(s->path, &names, &count));
  s->event_files = command_alloc(count * sizeof *s->event_files);
  for (size_t i = 0; i < count; i++) {
    if (strstr(names[i], "tfevents") == NULL) continue;
    s->event_files[s->num_event_files++] = command_format("%s/%s", s->path, names[i]);
  }
  folder_list_free(names, count);
  return NULL;
}

static rheos_status *open_folder(source *s) {
  static const char *const saved_models[] = {"saved_model.pb", "saved_model.pbtxt"};
  for (size_t i = 0; i < 2; i++) {
    if (!has_file(s->path, saved_models[i])) continue;
    s->folder = command_format("%s", s->path);
    become_file_in(s, saved_models[i]);
    s->kind = SOURCE_SAVED_MODEL;
    s->is_text = i == 1;
    return NULL;
  }
  if (has_file(s->path, "checkpoint")) {
    become_file_in(s, "checkpoint");
    return open_list(s);
  }
  char *name;
  TRY(find_only(s->path, ".index", &name));
  if (name != NULL) {
    become_file_in(s, name);
    free(name);
    return open_file(s);
  }
  TRY(find_events(s));
  s->kind = SOURCE_EVENTS;
  if (s->num_event_files > 0) return NULL;
  if (has_file(s->path, "saved_model.cpb")) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "saved models in pieces (.cpb) are not read");
  }
  return NOT_FOUND("the folder has no saved model, no checkpoint and no events");
}

rheos_status *source_open(const char *path, source *out_source) {
  source *s = out_source;
  *s = (source){.kind = SOURCE_UNKNOWN, .path = command_format("%s", path)};
  if (is_folder(path)) return open_folder(s);
  if (is_file(path)) return open_file(s);
  char *prefix = prefix_of(path);
  const bool is_prefix = has_index(path);
  if (is_prefix || (prefix != NULL && has_index(prefix)) || strpbrk(path, "*?[") != NULL) {
    become_checkpoint(s, !is_prefix && prefix != NULL ? prefix : command_format("%s", path));
    return NULL;
  }
  free(prefix);
  return NOT_FOUND("there is no such file, folder or checkpoint");
}

// ---- Meta graphs

static bool has_tag(const Tensorflow__MetaGraphDef *meta_graph, const char *tag, size_t bytes) {
  const Tensorflow__MetaGraphDef__MetaInfoDef *info = meta_graph->meta_info_def;
  for (size_t i = 0; info != NULL && i < info->n_tags; i++) {
    if (strlen(info->tags[i]) == bytes && memcmp(info->tags[i], tag, bytes) == 0) return true;
  }
  return false;
}

static bool has_tags(const Tensorflow__MetaGraphDef *meta_graph, const char *tags) {
  size_t count = 0;
  while (*tags != '\0') {
    const size_t bytes = strcspn(tags, ",");
    if (bytes > 0 && !has_tag(meta_graph, tags, bytes)) return false;
    count += bytes > 0;
    tags += bytes + (tags[bytes] == ',');
  }
  return count == (meta_graph->meta_info_def != NULL ? meta_graph->meta_info_def->n_tags : 0);
}

rheos_status *source_meta_graph(const source *s, const char *tags,
                                const Tensorflow__MetaGraphDef **out_meta_graph) {
  *out_meta_graph = s->meta_graph_def;
  if (s->saved_model == NULL) return NULL;
  for (size_t i = 0; i < s->saved_model->n_meta_graphs && *out_meta_graph == NULL; i++) {
    const Tensorflow__MetaGraphDef *candidate = s->saved_model->meta_graphs[i];
    if (tags == NULL || has_tags(candidate, tags)) *out_meta_graph = candidate;
  }
  if (*out_meta_graph != NULL) return NULL;
  if (tags == NULL) return INVALID("the saved model has no meta graph");
  return NOT_FOUND("the saved model has no meta graph with the tags '%s'", tags);
}

// All that a message holds under this number, one behind the other, which is what merging it gives.
static rheos_status *merge_parts(source *s, wire message, uint32_t number, wire *out_part) {
  wire rest = message;
  wire_field field;
  bool sound;
  size_t count = 0, size_bytes = 0;
  *out_part = wire_of("", 0);
  while (wire_next(&rest, &field, &sound)) {
    if (field.number != number || field.type != WIRE_BYTES) continue;
    *out_part = field.data;
    size_bytes += wire_size(field.data);
    count++;
  }
  if (count < 2) return NULL;
  s->merged = malloc(size_bytes + 1);
  if (s->merged == NULL) return NO_MEMORY();
  char *to = s->merged;
  while (wire_next(&message, &field, &sound)) {
    if (field.number != number || field.type != WIRE_BYTES) continue;
    memcpy(to, field.data.at, wire_size(field.data));
    to += wire_size(field.data);
  }
  *out_part = wire_of(s->merged, size_bytes);
  return NULL;
}

rheos_status *source_graph_bytes(source *s, const Tensorflow__MetaGraphDef *meta_graph,
                                 const char **out_bytes, size_t *out_size_bytes) {
  enum { MODEL_META_GRAPHS = 2, META_GRAPH_GRAPH = 2 };
  wire part = wire_of(s->bytes, s->size_bytes), rest = part;
  wire_field field;
  bool sound;
  free(s->merged);
  s->merged = NULL;
  for (size_t i = 0; s->saved_model != NULL && wire_next(&rest, &field, &sound);) {
    if (field.number != MODEL_META_GRAPHS || field.type != WIRE_BYTES) continue;
    part = field.data;
    if (s->saved_model->meta_graphs[i++] == meta_graph) break;
  }
  if (meta_graph != NULL) TRY(merge_parts(s, part, META_GRAPH_GRAPH, &part));
  *out_bytes = part.at;
  *out_size_bytes = wire_size(part);
  return NULL;
}

// ---- Options

bool source_fits_options(const source *s, const char *command, const option *options,
                         size_t num_options) {
  for (size_t i = 0; i < num_options && s->kind != SOURCE_UNKNOWN; i++) {
    const option *o = &options[i];
    if (o->kinds == 0 || (o->kinds & 1u << s->kind) != 0 || !option_is_given(o)) continue;
    command_usage_error("%s: %s does not apply: '%s' holds %s", command, o->name, s->path,
                        source_kind_name(s->kind));
    return false;
  }
  return true;
}

bool path_fits_options(const char *path, const char *command, const option *options,
                       size_t num_options) {
  source s;
  rheos_status *status = source_open(path, &s);
  const bool fits = status != NULL || source_fits_options(&s, command, options, num_options);
  rheos_status_free(status);
  source_close(&s);
  return fits;
}
