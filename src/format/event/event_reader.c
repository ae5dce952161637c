// Reading event files: an event's fields where they lie, the values of a summary in an arena that
// the next event empties.
#include <rheos/events.h>

#include "codec/record.h"
#include "codec/wire.h"
#include "event.pb-c.h"
#include "format/message/tensor_proto.h"

struct rheos_event_reader {
  rheos__file *file;
  uint64_t offset;
  rheos__buffer record;
  rheos_event event;
  rheos__arena arena;  // of the values
};

rheos_status *rheos_event_reader_open(const char *path, rheos_event_reader **out_reader) {
  RHEOS_OUT(out_reader);
  RHEOS_NEED(path);
  rheos_event_reader *reader = rheos__alloc_zeroed(sizeof *reader);
  if (reader == NULL) return rheos__out_of_memory();
  rheos_status *status = rheos__file_open(path, &reader->file);
  if (status != NULL) {
    rheos_event_reader_close(reader);
    return status;
  }
  *out_reader = reader;
  return NULL;
}

void rheos_event_reader_close(rheos_event_reader *reader) {
  if (reader == NULL) return;
  rheos__file_close(reader->file);
  rheos__buffer_deinit(&reader->record);
  rheos__arena_deinit(&reader->arena);
  rheos__free(reader);
}

// ---- Events

static void take_field(const rheos__wire_field *field, rheos_event *event) {
  if (field->number == 1 && field->type == RHEOS__WIRE_64) {
    memcpy(&event->wall_time, &field->value, sizeof event->wall_time);
  } else if (field->number == 2 && field->type == RHEOS__WIRE_VARINT) {
    event->step = (int64_t)field->value;
  } else if (field->number >= RHEOS_EVENT_FILE_VERSION &&
             field->number <= RHEOS_EVENT_META_GRAPH_DEF && field->type == RHEOS__WIRE_BYTES) {
    event->kind = (rheos_event_kind)field->number;
    event->content = field->data.at;
    event->content_bytes = rheos__wire_size(field->data);
  }
}

rheos_status *rheos_event_reader_next(rheos_event_reader *reader, rheos_event *out_event) {
  RHEOS_OUT(out_event);
  RHEOS_NEED(reader);
  rheos_event *event = &reader->event;
  *event = *out_event = (rheos_event){.content = "", .message = ""};
  rheos__arena_reset(&reader->arena);
  const uint64_t offset = reader->offset;
  RHEOS_TRY(rheos__record_read(reader->file, &reader->offset, &reader->record));
  rheos__wire wire = rheos__wire_of(reader->record.data, reader->record.size_bytes);
  event->message = wire.at;
  event->message_bytes = rheos__wire_size(wire);
  rheos__wire_field field;
  bool sound;
  while (rheos__wire_next(&wire, &field, &sound)) take_field(&field, event);
  if (!sound) {
    *event = (rheos_event){.content = "", .message = ""};
    return rheos_status_new(RHEOS_DATA_LOSS, "'%s': the record at %llu is not an event",
                            rheos__file_path(reader->file), (unsigned long long)offset);
  }
  *out_event = *event;
  return NULL;
}

// ---- Values

static void read_image(const Tensorflow__Summary__Image *image, rheos_summary_value *value) {
  value->image.height = image->height;
  value->image.width = image->width;
  value->image.channels = image->colorspace;
  value->image.encoded = image->encoded_image_string.data;
  value->image.encoded_bytes = image->encoded_image_string.len;
}

static void read_audio(const Tensorflow__Summary__Audio *audio, rheos_summary_value *value) {
  value->audio.sample_rate = audio->sample_rate;
  value->audio.num_channels = audio->num_channels;
  value->audio.num_frames = audio->length_frames;
  value->audio.content_type = audio->content_type;
  value->audio.encoded = audio->encoded_audio_string.data;
  value->audio.encoded_bytes = audio->encoded_audio_string.len;
}

static void read_histogram(const Tensorflow__HistogramProto *from, rheos_summary_value *value) {
  const size_t limits = from->n_bucket_limit, counts = from->n_bucket;
  value->histogram.min = from->min;
  value->histogram.max = from->max;
  value->histogram.num = from->num;
  value->histogram.sum = from->sum;
  value->histogram.sum_squares = from->sum_squares;
  value->histogram.bucket_limits = from->bucket_limit;
  value->histogram.buckets = from->bucket;
  value->histogram.num_buckets = limits < counts ? limits : counts;
}

static double element(const rheos_tensor *tensor) {
  const void *data = tensor->data;
  switch (tensor->dtype) {
    case RHEOS_FLOAT: return (double)*(const float *)data;
    case RHEOS_DOUBLE: return *(const double *)data;
    case RHEOS_HALF: return (double)rheos__half_to_float(*(const uint16_t *)data);
    default:
      return rheos_dtype_is_integer(tensor->dtype) ? (double)rheos__tensor_int_at(tensor, 0) : 0;
  }
}

// The number in a tensor that has one. A tensor that cannot be read has none; who asks for it is
// told why.
static rheos_status *read_number(const Tensorflow__TensorProto *proto, double *out_number) {
  rheos_tensor *tensor;
  rheos_status *status = rheos__tensor_from_proto(proto, &tensor);
  if (status != NULL) {
    if (rheos_status_code(status) == RHEOS_RESOURCE_EXHAUSTED) return status;
    rheos_status_free(status);
    return NULL;
  }
  if (tensor->num_elements == 1) *out_number = element(tensor);
  rheos_tensor_unref(tensor);
  return NULL;
}

// Whether reading the tensor to see whether it is one number is cheap.
static bool may_be_number(const Tensorflow__TensorProto *proto) {
  const Tensorflow__TensorShapeProto *shape = proto->tensor_shape;
  for (size_t i = 0; shape != NULL && i < shape->n_dim; i++) {
    if (shape->dim[i]->size != 1) return false;
  }
  return true;
}

static rheos_status *read_value(const Tensorflow__Summary__Value *from,
                                rheos_summary_value *value) {
  const Tensorflow__SummaryMetadata *metadata = from->metadata;
  *value = (rheos_summary_value){.tag = from->tag, .node_name = from->node_name, .plugin_name = ""};
  value->audio.content_type = "";
  if (metadata != NULL && metadata->plugin_data != NULL) {
    value->plugin_name = metadata->plugin_data->plugin_name;
  }
  switch (from->value_case) {
    case TENSORFLOW__SUMMARY__VALUE__VALUE_SIMPLE_VALUE:
      value->kind = RHEOS_SUMMARY_SCALAR;
      value->scalar = (double)from->simple_value;
      break;
    case TENSORFLOW__SUMMARY__VALUE__VALUE_IMAGE:
      value->kind = RHEOS_SUMMARY_IMAGE;
      read_image(from->image, value);
      break;
    case TENSORFLOW__SUMMARY__VALUE__VALUE_HISTO:
      value->kind = RHEOS_SUMMARY_HISTOGRAM;
      read_histogram(from->histo, value);
      break;
    case TENSORFLOW__SUMMARY__VALUE__VALUE_AUDIO:
      value->kind = RHEOS_SUMMARY_AUDIO;
      read_audio(from->audio, value);
      break;
    case TENSORFLOW__SUMMARY__VALUE__VALUE_TENSOR:
      value->kind = RHEOS_SUMMARY_TENSOR;
      value->tensor_ = from->tensor;
      if (may_be_number(from->tensor)) return read_number(from->tensor, &value->scalar);
      break;
    default: break;
  }
  return NULL;
}

rheos_status *rheos_event_reader_values(rheos_event_reader *reader,
                                        const rheos_summary_value **out_values, size_t *out_count) {
  RHEOS_OUT(out_values);
  RHEOS_OUT(out_count);
  RHEOS_NEED(reader);
  if (reader->event.kind != RHEOS_EVENT_SUMMARY) return NULL;
  Tensorflow__Summary *summary;
  RHEOS_TRY(RHEOS_PROTO_UNPACK(summary, reader->event.content, reader->event.content_bytes,
                               &reader->arena, &summary));
  rheos_summary_value *values =
      rheos__arena_alloc(&reader->arena, summary->n_value * sizeof *values);
  if (values == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < summary->n_value; i++) {
    RHEOS_TRY(read_value(summary->value[i], &values[i]));
  }
  *out_values = values;
  *out_count = summary->n_value;
  return NULL;
}

rheos_status *rheos_summary_value_tensor(const rheos_summary_value *value,
                                         rheos_tensor **out_tensor) {
  RHEOS_OUT(out_tensor);
  RHEOS_NEED(value);
  if (value->kind != RHEOS_SUMMARY_TENSOR) {
    return RHEOS_INVALID("the value under '%s' is not a tensor", value->tag);
  }
  return rheos__tensor_from_proto(value->tensor_, out_tensor);
}
