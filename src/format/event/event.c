// Event files for TensorBoard: a record of Event messages each, the first one the file's version.
#include <rheos/events.h>

#include <rheos/format.h>
#include <time.h>
#include <unistd.h>

#include "codec/record.h"
#include "event.pb-c.h"
#include "format/message/protobuf.h"
#include "ops/io/summary.h"

// Fields of Event.
enum {
  EVENT_WALL_TIME = 1,
  EVENT_STEP = 2,
  EVENT_SOURCE_METADATA = 10,
  SOURCE_WRITER = 1,
};

struct rheos_event_writer {
  rheos__file_writer *file;
  char *path;
  rheos__buffer event;  // the one that is being made
};

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

// Begins an event of the time it is.
static rheos__buffer *start_event(rheos_event_writer *writer, int64_t step) {
  rheos__buffer *event = &writer->event;
  event->size_bytes = 0;
  event->failed = false;
  rheos__wire_put_double(event, EVENT_WALL_TIME, now());
  if (step != 0) rheos__wire_put_varint(event, EVENT_STEP, (uint64_t)step);
  return event;
}

static rheos_status *write_event(rheos_event_writer *writer) {
  if (writer->event.failed) return rheos__out_of_memory();
  return rheos__record_write(writer->file, writer->event.data, writer->event.size_bytes);
}

// An event that holds those bytes under its `kind`.
static rheos_status *write_content(rheos_event_writer *writer, rheos_event_kind kind,
                                   const void *content, size_t size_bytes, int64_t step) {
  rheos__wire_put_bytes(start_event(writer, step), (int)kind, content, size_bytes);
  return write_event(writer);
}

// An event that holds a message, which is emptied, under its `kind`.
static rheos_status *write_message(rheos_event_writer *writer, rheos_event_kind kind,
                                   rheos__buffer *message, int64_t step) {
  rheos__wire_put_message(start_event(writer, step), (int)kind, message);
  return write_event(writer);
}

static rheos_status *write_version(rheos_event_writer *writer) {
  static const char version[] = "brain.Event:2", name[] = "rheos";
  rheos__buffer *event = start_event(writer, 0), source = {0};
  rheos__wire_put_bytes(event, RHEOS_EVENT_FILE_VERSION, version, sizeof version - 1);
  rheos__wire_put_bytes(&source, SOURCE_WRITER, name, sizeof name - 1);
  rheos__wire_put_message(event, EVENT_SOURCE_METADATA, &source);
  return write_event(writer);
}

// The first such name that is free, counting the seconds up.
static rheos_status *free_path(const char *logdir, const char *suffix, char **out_path) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  for (long long seconds = (long long)now();; seconds++) {
    char *name =
        rheos__text_format("events.out.tfevents.%010lld.%s%s", seconds,
                           host[0] != '\0' ? host : "localhost", suffix != NULL ? suffix : "");
    *out_path = name != NULL ? rheos__path_join(logdir, name) : NULL;
    rheos__free(name);
    if (*out_path == NULL) return rheos__out_of_memory();
    bool exists;
    rheos_status *status = rheos__file_exists(*out_path, &exists);
    if (status == NULL && !exists) return NULL;
    rheos__free(*out_path);
    *out_path = NULL;
    if (status != NULL) return status;
  }
}

static rheos_status *open_file(rheos_event_writer *writer, const char *logdir, const char *suffix) {
  RHEOS_TRY(rheos__file_make_dirs(logdir));
  RHEOS_TRY(free_path(logdir, suffix, &writer->path));
  RHEOS_TRY(rheos__file_writer_open(writer->path, &writer->file));
  rheos_status *status = write_version(writer);
  if (status == NULL) status = rheos__file_writer_flush(writer->file);
  if (status != NULL) rheos_status_free(rheos__file_remove(writer->path));
  return status;
}

static void free_writer(rheos_event_writer *writer) {
  rheos__file_writer_abandon(writer->file);
  rheos__buffer_deinit(&writer->event);
  rheos__free(writer->path);
  rheos__free(writer);
}

rheos_status *rheos_event_writer_open(const char *logdir, const char *suffix,
                                      rheos_event_writer **out_writer) {
  RHEOS_OUT(out_writer);
  RHEOS_NEED(logdir);
  rheos_event_writer *writer = rheos__alloc_zeroed(sizeof *writer);
  if (writer == NULL) return rheos__out_of_memory();
  rheos_status *status = open_file(writer, logdir[0] != '\0' ? logdir : ".", suffix);
  if (status != NULL) {
    free_writer(writer);
    return status;
  }
  *out_writer = writer;
  return NULL;
}

const char *rheos_event_writer_path(const rheos_event_writer *writer) {
  return writer != NULL ? writer->path : NULL;
}

rheos_status *rheos_event_writer_add_graph(rheos_event_writer *writer, rheos_graph *graph) {
  RHEOS_NEED(writer, graph);
  void *bytes;
  size_t size_bytes;
  RHEOS_TRY(rheos_graph_to_graph_def(graph, &bytes, &size_bytes));
  rheos_status *status = rheos_event_writer_add_graph_def(writer, bytes, size_bytes, 0);
  rheos_free(bytes);
  return status;
}

// ---- Summaries

// A summary of one value under the tag; `value` is emptied.
static rheos_status *write_value(rheos_event_writer *writer, rheos__buffer *value, int64_t step) {
  rheos__buffer summary = {0};
  rheos__wire_put_message(&summary, RHEOS__SUMMARY_VALUE, value);
  return write_message(writer, RHEOS_EVENT_SUMMARY, &summary, step);
}

static void put_tag(rheos__buffer *value, const char *tag) {
  if (tag[0] != '\0') rheos__wire_put_bytes(value, RHEOS__VALUE_TAG, tag, strlen(tag));
}

// Written in one go: programs write many of them.
rheos_status *rheos_event_writer_add_scalar(rheos_event_writer *writer, const char *tag,
                                            float value, int64_t step) {
  RHEOS_NEED(writer, tag);
  char text[256];
  rheos__buffer local = {.data = text, .capacity = sizeof text};
  const bool fits = strlen(tag) + 16 < sizeof text;
  rheos__buffer heap = {0}, *message = fits ? &local : &heap;
  put_tag(message, tag);
  rheos__wire_put_float(message, RHEOS__VALUE_SIMPLE, value);
  if (!fits) return write_value(writer, message, step);
  char field[sizeof text + 16];
  rheos__buffer summary = {.data = field, .capacity = sizeof field};
  rheos__wire_put_bytes(&summary, RHEOS__SUMMARY_VALUE, text, message->size_bytes);
  return write_content(writer, RHEOS_EVENT_SUMMARY, field, summary.size_bytes, step);
}

static bool is_real(rheos_dtype dtype) {
  return rheos_dtype_is_floating(dtype) || rheos_dtype_is_integer(dtype);
}

rheos_status *rheos_event_writer_add_histogram(rheos_event_writer *writer, const char *tag,
                                               const rheos_tensor *values, int64_t step) {
  RHEOS_NEED(writer, tag, values);
  RHEOS_TRY(rheos__tensor_to_host(&values));
  if (!is_real(values->dtype)) {
    return RHEOS_INVALID("a histogram cannot be made of %s", rheos_dtype_name(values->dtype));
  }
  rheos__buffer value = {0};
  put_tag(&value, tag);
  rheos_status *status = rheos__put_histogram(tag, values, &value);
  if (status == NULL) return write_value(writer, &value, step);
  rheos__buffer_deinit(&value);
  return status;
}

static rheos_string string_of(const char *text) { return rheos__borrow_string(text, strlen(text)); }

rheos_status *rheos_event_writer_add_images(rheos_event_writer *writer, const char *tag,
                                            const rheos_tensor *images, int64_t max_images,
                                            int64_t step) {
  RHEOS_NEED(writer, tag, images);
  RHEOS_TRY(rheos__tensor_to_host(&images));
  const rheos_dtype dtype = images->dtype;
  if (dtype != RHEOS_UINT8 && dtype != RHEOS_FLOAT && dtype != RHEOS_HALF &&
      dtype != RHEOS_DOUBLE) {
    return RHEOS_INVALID("an image cannot be made of %s", rheos_dtype_name(dtype));
  }
  const rheos_string name = string_of(tag);
  rheos__buffer summary = {0};
  rheos_status *status = rheos__put_pictures(&name, images, max_images, &summary);
  if (status == NULL) return write_message(writer, RHEOS_EVENT_SUMMARY, &summary, step);
  rheos__buffer_deinit(&summary);
  return status;
}

rheos_status *rheos_event_writer_add_audio(rheos_event_writer *writer, const char *tag,
                                           const rheos_tensor *sounds, float sample_rate,
                                           int64_t max_sounds, int64_t step) {
  RHEOS_NEED(writer, tag, sounds);
  RHEOS_TRY(rheos__tensor_to_host(&sounds));
  if (sounds->dtype != RHEOS_FLOAT) {
    return RHEOS_INVALID("sound cannot be made of %s", rheos_dtype_name(sounds->dtype));
  }
  const rheos_string name = string_of(tag);
  rheos__buffer summary = {0};
  rheos_status *status = rheos__put_sounds(&name, sounds, sample_rate, max_sounds, &summary);
  if (status == NULL) return write_message(writer, RHEOS_EVENT_SUMMARY, &summary, step);
  rheos__buffer_deinit(&summary);
  return status;
}

// A value that a plugin of TensorBoard shows.
static rheos_status *write_tensor(rheos_event_writer *writer, const char *tag,
                                  const rheos_tensor *tensor, const char *plugin, int64_t step) {
  enum { METADATA_PLUGIN_DATA = 1, PLUGIN_NAME = 1 };
  rheos__buffer value = {0}, message = {0}, data = {0}, metadata = {0};
  put_tag(&value, tag);
  rheos__wire_put_tensor(&message, tensor);
  rheos__wire_put_message(&value, RHEOS__VALUE_TENSOR, &message);
  if (plugin != NULL) {
    rheos__wire_put_bytes(&data, PLUGIN_NAME, plugin, strlen(plugin));
    rheos__wire_put_message(&metadata, METADATA_PLUGIN_DATA, &data);
  }
  // Empty without a plugin, as TensorFlow has it.
  rheos__wire_put_message(&value, RHEOS__VALUE_METADATA, &metadata);
  return write_value(writer, &value, step);
}

rheos_status *rheos_event_writer_add_text(rheos_event_writer *writer, const char *tag,
                                          const char *text, int64_t step) {
  RHEOS_NEED(writer, tag, text);
  rheos_tensor *tensor;
  RHEOS_TRY(rheos_tensor_new(RHEOS_STRING, RHEOS_SCALAR, &tensor));
  rheos_status *status = rheos_tensor_set_string(tensor, 0, text, strlen(text));
  if (status == NULL) status = write_tensor(writer, tag, tensor, "text", step);
  rheos_tensor_unref(tensor);
  return status;
}

rheos_status *rheos_event_writer_add_tensor(rheos_event_writer *writer, const char *tag,
                                            const rheos_tensor *tensor, const char *plugin_name,
                                            int64_t step) {
  RHEOS_NEED(writer, tag, tensor);
  if (tensor->dtype == RHEOS_RESOURCE || tensor->dtype == RHEOS_VARIANT) {
    return RHEOS_INVALID("a tensor of dtype %s cannot be written to a message",
                         rheos_dtype_name(tensor->dtype));
  }
  RHEOS_TRY(rheos__tensor_to_host(&tensor));
  return write_tensor(writer, tag, tensor, plugin_name, step);
}

// ---- Messages made elsewhere

// Whether the bytes are a message of that type.
static rheos_status *check_message(const ProtobufCMessageDescriptor *descriptor, const void *bytes,
                                   size_t size_bytes) {
  rheos__arena arena;
  rheos__arena_init(&arena);
  ProtobufCMessage *message;
  rheos_status *status = rheos__proto_unpack(descriptor, bytes, size_bytes, &arena, &message);
  rheos__arena_deinit(&arena);
  return status;
}

rheos_status *rheos_event_writer_add_event(rheos_event_writer *writer, const void *event,
                                           size_t size_bytes) {
  RHEOS_NEED(writer);
  RHEOS_NEED_BYTES(event, size_bytes);
  RHEOS_TRY(check_message(&tensorflow__event__descriptor, event, size_bytes));
  return rheos__record_write(writer->file, event, size_bytes);
}

rheos_status *rheos_event_writer_add_summary(rheos_event_writer *writer, const void *summary,
                                             size_t size_bytes, int64_t step) {
  RHEOS_NEED(writer);
  RHEOS_NEED_BYTES(summary, size_bytes);
  RHEOS_TRY(check_message(&tensorflow__summary__descriptor, summary, size_bytes));
  return write_content(writer, RHEOS_EVENT_SUMMARY, summary, size_bytes, step);
}

rheos_status *rheos_event_writer_add_graph_def(rheos_event_writer *writer, const void *graph_def,
                                               size_t size_bytes, int64_t step) {
  RHEOS_NEED(writer);
  RHEOS_NEED_BYTES(graph_def, size_bytes);
  return write_content(writer, RHEOS_EVENT_GRAPH_DEF, graph_def, size_bytes, step);
}

rheos_status *rheos_event_writer_add_meta_graph(rheos_event_writer *writer,
                                                const void *meta_graph_def, size_t size_bytes,
                                                int64_t step) {
  RHEOS_NEED(writer);
  RHEOS_NEED_BYTES(meta_graph_def, size_bytes);
  return write_content(writer, RHEOS_EVENT_META_GRAPH_DEF, meta_graph_def, size_bytes, step);
}

rheos_status *rheos_event_writer_add_run_metadata(rheos_event_writer *writer, const char *tag,
                                                  const void *run_metadata, size_t size_bytes,
                                                  int64_t step) {
  RHEOS_NEED(writer, tag);
  RHEOS_NEED_BYTES(run_metadata, size_bytes);
  enum { TAGGED_TAG = 1, TAGGED_RUN_METADATA = 2 };
  rheos__buffer tagged = {0};
  if (tag[0] != '\0') rheos__wire_put_bytes(&tagged, TAGGED_TAG, tag, strlen(tag));
  if (size_bytes > 0) {
    rheos__wire_put_bytes(&tagged, TAGGED_RUN_METADATA, run_metadata, size_bytes);
  }
  return write_message(writer, RHEOS_EVENT_TAGGED_RUN_METADATA, &tagged, step);
}

rheos_status *rheos_event_writer_add_session_log(rheos_event_writer *writer,
                                                 rheos_session_status session_status,
                                                 const char *checkpoint_path, const char *message,
                                                 int64_t step) {
  RHEOS_NEED(writer);
  enum { LOG_STATUS = 1, LOG_CHECKPOINT_PATH = 2, LOG_MESSAGE = 3 };
  rheos__buffer log = {0};
  if (session_status != RHEOS_SESSION_STATUS_UNSPECIFIED) {
    rheos__wire_put_varint(&log, LOG_STATUS, (uint64_t)session_status);
  }
  if (checkpoint_path != NULL && checkpoint_path[0] != '\0') {
    rheos__wire_put_bytes(&log, LOG_CHECKPOINT_PATH, checkpoint_path, strlen(checkpoint_path));
  }
  if (message != NULL && message[0] != '\0') {
    rheos__wire_put_bytes(&log, LOG_MESSAGE, message, strlen(message));
  }
  return write_message(writer, RHEOS_EVENT_SESSION_LOG, &log, step);
}

rheos_status *rheos_event_writer_flush(rheos_event_writer *writer) {
  RHEOS_NEED(writer);
  return rheos__file_writer_flush(writer->file);
}

rheos_status *rheos_event_writer_close(rheos_event_writer *writer) {
  if (writer == NULL) return NULL;
  rheos_status *status = rheos__file_writer_close_take(writer->file);
  writer->file = NULL;
  free_writer(writer);
  return status;
}
