// Event files: what TensorBoard shows, written and read. A file is a sequence of events; the first
// one tells the file's version.
#ifndef RHEOS_EVENTS_H
#define RHEOS_EVENTS_H

#include <rheos/scope.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Writing

// Writes one event file, which TensorBoard shows. One thread at a time.
typedef struct rheos_event_writer rheos_event_writer;

// Makes `logdir`/events.out.tfevents.SECONDS.HOST and `suffix` (NULL: none), and the folder if it
// is missing. A file of that name that exists already is left alone: the seconds move on.
RHEOS_STATUS rheos_event_writer_open(const char *logdir, const char *suffix,
                                     rheos_event_writer **out_writer);
RHEOS_API const char *rheos_event_writer_path(const rheos_event_writer *writer);
RHEOS_STATUS rheos_event_writer_add_graph(rheos_event_writer *writer, rheos_graph *graph);
RHEOS_STATUS rheos_event_writer_add_scalar(rheos_event_writer *writer, const char *tag, float value,
                                           int64_t step);
// An Event or a Summary made elsewhere, as message bytes. A Summary is stamped with the time.
RHEOS_STATUS rheos_event_writer_add_event(rheos_event_writer *writer, const void *event,
                                          size_t size_bytes);
RHEOS_STATUS rheos_event_writer_add_summary(rheos_event_writer *writer, const void *summary,
                                            size_t size_bytes, int64_t step);

// How the `values` (real numbers of any dtype) are distributed, in TensorFlow's buckets.
RHEOS_STATUS rheos_event_writer_add_histogram(rheos_event_writer *writer, const char *tag,
                                              const rheos_tensor *values, int64_t step);
// Up to `max_images` pictures [batch, height, width, 1, 3 or 4]; numbers that are not uint8 (float,
// half, double) are scaled to it. Tags are "TAG/image", or "TAG/image/0" where there can be
// several.
RHEOS_STATUS rheos_event_writer_add_images(rheos_event_writer *writer, const char *tag,
                                           const rheos_tensor *images, int64_t max_images,
                                           int64_t step);
// Up to `max_sounds` pieces of sound [batch, frames] or [batch, frames, channels], floats between
// -1 and 1, under tags "TAG/audio" or "TAG/audio/0".
RHEOS_STATUS rheos_event_writer_add_audio(rheos_event_writer *writer, const char *tag,
                                          const rheos_tensor *sounds, float sample_rate,
                                          int64_t max_sounds, int64_t step);
// Markdown, for the dashboard of texts.
RHEOS_STATUS rheos_event_writer_add_text(rheos_event_writer *writer, const char *tag,
                                         const char *text, int64_t step);
// Any tensor, for the plugin of that name (NULL: none).
RHEOS_STATUS rheos_event_writer_add_tensor(rheos_event_writer *writer, const char *tag,
                                           const rheos_tensor *tensor, const char *plugin_name,
                                           int64_t step);
// A graph, what a step took (RunMetadata), or a MetaGraphDef, as message bytes.
RHEOS_STATUS rheos_event_writer_add_graph_def(rheos_event_writer *writer, const void *graph_def,
                                              size_t size_bytes, int64_t step);
RHEOS_STATUS rheos_event_writer_add_run_metadata(rheos_event_writer *writer, const char *tag,
                                                 const void *run_metadata, size_t size_bytes,
                                                 int64_t step);
RHEOS_STATUS rheos_event_writer_add_meta_graph(rheos_event_writer *writer,
                                               const void *meta_graph_def, size_t size_bytes,
                                               int64_t step);

typedef enum rheos_session_status {
  RHEOS_SESSION_STATUS_UNSPECIFIED,
  RHEOS_SESSION_START,
  RHEOS_SESSION_STOP,
  RHEOS_SESSION_CHECKPOINT,
} rheos_session_status;
// Adds the event that training began or ended or a checkpoint was written. `checkpoint_path` and
// `message` may be NULL.
RHEOS_STATUS rheos_event_writer_add_session_log(rheos_event_writer *writer,
                                                rheos_session_status session_status,
                                                const char *checkpoint_path, const char *message,
                                                int64_t step);

// Hands what is buffered to the system, so that readers see it.
RHEOS_STATUS rheos_event_writer_flush(rheos_event_writer *writer);
// Flushes and frees; the writer is gone whatever comes back. NULL is accepted.
RHEOS_STATUS rheos_event_writer_close(rheos_event_writer *writer);

// ---- One writer for each folder, for parts of a program that do not know of each other

typedef struct rheos_event_writer_cache rheos_event_writer_cache;

RHEOS_API rheos_event_writer_cache *rheos_event_writer_cache_new(
    void);  // NULL when memory is short
// Closes the writers. NULL is accepted.
RHEOS_API void rheos_event_writer_cache_free(rheos_event_writer_cache *cache);
// The writer of a folder, which stays the cache's: opened at the first call of that name, with
// `graph` (NULL: none) in it. Several threads may ask, but a writer is for one thread at a time.
RHEOS_STATUS rheos_event_writer_cache_get(rheos_event_writer_cache *cache, const char *logdir,
                                          rheos_graph *graph, rheos_event_writer **out_writer);
// Closes the writers and forgets them, so that the next call begins a file of its own. What went
// wrong with the first of those that could not be closed.
RHEOS_STATUS rheos_event_writer_cache_clear(rheos_event_writer_cache *cache);

// ---- Summaries that a graph computes

#define RHEOS_COLLECTION_SUMMARIES "summaries"

// Enters a summary (of rheos_scalar_summary() and its like) in that collection.
RHEOS_API void rheos_collect_summary(rheos_scope *scope, rheos_output summary);
// One summary of all that are in a collection (NULL: the one above), to be fetched and given to
// rheos_event_writer_add_summary(). None (graph NULL) if there are none.
RHEOS_API rheos_output rheos_merge_all_summaries(rheos_scope *scope, const char *key);

// ---- Reading

// Goes through the events of one file. One thread at a time.
typedef struct rheos_event_reader rheos_event_reader;

RHEOS_STATUS rheos_event_reader_open(const char *path, rheos_event_reader **out_reader);
RHEOS_API void rheos_event_reader_close(rheos_event_reader *reader);  // NULL is accepted

// The numbers are the fields' in the message.
typedef enum rheos_event_kind {
  RHEOS_EVENT_EMPTY = 0,
  RHEOS_EVENT_FILE_VERSION = 3,
  RHEOS_EVENT_GRAPH_DEF = 4,
  RHEOS_EVENT_SUMMARY = 5,
  RHEOS_EVENT_LOG_MESSAGE = 6,
  RHEOS_EVENT_SESSION_LOG = 7,
  RHEOS_EVENT_TAGGED_RUN_METADATA = 8,
  RHEOS_EVENT_META_GRAPH_DEF = 9,
} rheos_event_kind;

// Valid until the reader moves on.
typedef struct rheos_event {
  double wall_time;       // seconds since 1970
  int64_t step;           // of the training; 0 where none was given
  rheos_event_kind kind;  // says what `content` is
  // What the event holds: the text of the version, the bytes of the GraphDef, Summary, LogMessage,
  // SessionLog, TaggedRunMetadata or MetaGraphDef.
  const void *content;
  size_t content_bytes;
  const void *message;  // the whole Event
  size_t message_bytes;
} rheos_event;

// The next event. RHEOS_OUT_OF_RANGE behind the last one, RHEOS_DATA_LOSS where the file is damaged
// or cut.
RHEOS_STATUS rheos_event_reader_next(rheos_event_reader *reader, rheos_event *out_event);

typedef enum rheos_summary_kind {
  RHEOS_SUMMARY_EMPTY = 0,
  RHEOS_SUMMARY_SCALAR = 2,
  RHEOS_SUMMARY_IMAGE = 4,
  RHEOS_SUMMARY_HISTOGRAM = 5,
  RHEOS_SUMMARY_AUDIO = 6,
  RHEOS_SUMMARY_TENSOR = 8,
} rheos_summary_kind;

// One value of a summary; what is not of its kind is zero or "". Valid until the reader moves on.
typedef struct rheos_summary_value {
  // The name of the value, and the node and the plugin that it is for; "" if not said.
  const char *tag, *node_name, *plugin_name;
  rheos_summary_kind kind;  // which of the following it has
  double scalar;  // also of a tensor of one real number, which is how TensorFlow 2 writes scalars
  struct {
    int32_t height, width, channels;  // in pixels
    const void *encoded;              // the file: PNG, JPEG, GIF
    size_t encoded_bytes;
  } image;
  struct {
    double min, max, num, sum, sum_squares;  // of all numbers
    const double *bucket_limits, *buckets;   // the upper end of each, and how many are in it
    size_t num_buckets;
  } histogram;
  struct {
    float sample_rate;                 // frames a second
    int64_t num_channels, num_frames;  // numbers a frame
    const char *content_type;          // "audio/wav"
    const void *encoded;               // the file
    size_t encoded_bytes;
  } audio;
  const void *tensor_;  // for rheos_summary_value_tensor()
} rheos_summary_value;

// The values of the event that was read last: none unless it is a summary. The array is the
// reader's.
RHEOS_STATUS rheos_event_reader_values(rheos_event_reader *reader,
                                       const rheos_summary_value **out_values, size_t *out_count);
// The tensor of a value of that kind, for rheos_tensor_unref().
RHEOS_STATUS rheos_summary_value_tensor(const rheos_summary_value *value,
                                        rheos_tensor **out_tensor);

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_EVENTS_H
