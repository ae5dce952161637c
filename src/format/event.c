// Event files for TensorBoard: a record of Event messages each, the first one the file's version.
#include "format/record.h"

#include <rheos/format.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "event.pb-c.h"
#include "format/protobuf.h"

struct rheos_event_writer {
  rheos__file_writer *file;
  char *path;
};

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static rheos_status *write_event(rheos_event_writer *writer, Tensorflow__Event *event) {
  event->wall_time = now();
  rheos__buffer buffer = {0};
  rheos__proto_pack(&event->base, &buffer);
  rheos_status *status = buffer.failed
                             ? rheos__out_of_memory()
                             : rheos__record_write(writer->file, buffer.data, buffer.size_bytes);
  rheos__buffer_deinit(&buffer);
  return status;
}

static rheos_status *write_version(rheos_event_writer *writer) {
  Tensorflow__Event event = TENSORFLOW__EVENT__INIT;
  Tensorflow__SourceMetadata source = TENSORFLOW__SOURCE_METADATA__INIT;
  static char version[] = "brain.Event:2", name[] = "rheos";
  source.writer = name;
  event.source_metadata = &source;
  event.what_case = TENSORFLOW__EVENT__WHAT_FILE_VERSION;
  event.file_version = version;
  return write_event(writer, &event);
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
  RHEOS_TRY(write_version(writer));
  return rheos__file_writer_flush(writer->file);
}

static void free_writer(rheos_event_writer *writer) {
  rheos__file_writer_abandon(writer->file);
  rheos__free(writer->path);
  rheos__free(writer);
}

rheos_status *rheos_event_writer_open(const char *logdir, const char *suffix,
                                      rheos_event_writer **out_writer) {
  *out_writer = NULL;
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
  return writer->path;
}

rheos_status *rheos_event_writer_add_graph(rheos_event_writer *writer, rheos_graph *graph) {
  void *bytes;
  size_t size_bytes;
  RHEOS_TRY(rheos_graph_to_graph_def(graph, &bytes, &size_bytes));
  Tensorflow__Event event = TENSORFLOW__EVENT__INIT;
  event.what_case = TENSORFLOW__EVENT__WHAT_GRAPH_DEF;
  event.graph_def = (ProtobufCBinaryData){size_bytes, bytes};
  rheos_status *status = write_event(writer, &event);
  rheos_free(bytes);
  return status;
}

static rheos_status *write_summary(rheos_event_writer *writer, Tensorflow__Summary *summary,
                                   int64_t step) {
  Tensorflow__Event event = TENSORFLOW__EVENT__INIT;
  event.step = step;
  event.what_case = TENSORFLOW__EVENT__WHAT_SUMMARY;
  event.summary = summary;
  return write_event(writer, &event);
}

rheos_status *rheos_event_writer_add_scalar(rheos_event_writer *writer, const char *tag,
                                            float value, int64_t step) {
  Tensorflow__Summary summary = TENSORFLOW__SUMMARY__INIT;
  Tensorflow__Summary__Value scalar = TENSORFLOW__SUMMARY__VALUE__INIT;
  Tensorflow__Summary__Value *values[] = {&scalar};
  scalar.tag = (char *)(uintptr_t)tag;
  scalar.value_case = TENSORFLOW__SUMMARY__VALUE__VALUE_SIMPLE_VALUE;
  scalar.simple_value = value;
  summary.n_value = 1;
  summary.value = values;
  return write_summary(writer, &summary, step);
}

rheos_status *rheos_event_writer_add_event(rheos_event_writer *writer, const void *event,
                                           size_t size_bytes) {
  rheos__arena arena;
  rheos__arena_init(&arena);
  Tensorflow__Event *message;  // only to see that it is one
  rheos_status *status = RHEOS_PROTO_UNPACK(event, event, size_bytes, &arena, &message);
  if (status == NULL) status = rheos__record_write(writer->file, event, size_bytes);
  rheos__arena_deinit(&arena);
  return status;
}

rheos_status *rheos_event_writer_add_summary(rheos_event_writer *writer, const void *summary,
                                             size_t size_bytes, int64_t step) {
  rheos__arena arena;
  rheos__arena_init(&arena);
  Tensorflow__Summary *message;
  rheos_status *status = RHEOS_PROTO_UNPACK(summary, summary, size_bytes, &arena, &message);
  if (status == NULL) status = write_summary(writer, message, step);
  rheos__arena_deinit(&arena);
  return status;
}

rheos_status *rheos_event_writer_flush(rheos_event_writer *writer) {
  return rheos__file_writer_flush(writer->file);
}

rheos_status *rheos_event_writer_close(rheos_event_writer *writer) {
  if (writer == NULL) return NULL;
  rheos_status *status = rheos__file_writer_close_take(writer->file);
  rheos__free(writer->path);
  rheos__free(writer);
  return status;
}
