// RecordInput: batches of records of files, in random order, epoch after epoch. Each epoch goes
// through the files in an order of its own, and through a buffer out of which records are taken at
// random; a record comes once an epoch. Which order it is follows from the seed and is not
// TensorFlow's, whose threads race.
#include <string.h>

#include "codec/compress.h"
#include "codec/record.h"
#include "ops/kit/op_util.h"
#include "ops/kit/philox.h"
#include "resource/resource.h"

static const size_t MAX_FILE_BYTES = (size_t)1 << 40;

typedef struct record_input {
  rheos__resource base;
  pthread_mutex_t mutex;
  char **paths;
  size_t num_paths;
  rheos_compression compression;
  int64_t buffer_size;
  float shift_ratio;
  uint64_t seed;
  rheos__philox_singles random;
  // The epoch under way
  int64_t epoch;     // 0: none has begun
  size_t *order;     // of the files
  size_t next_file;  // in that order
  bool has_record;   // in this epoch
  // The file under way: open, or decompressed in `content`; neither: none
  rheos__file *file;
  rheos__buffer content;
  uint64_t offset, content_offset;
  const char *path;
  rheos__buffer *records;
  int64_t count;
} record_input;

typedef struct record_input_spec {
  const char *pattern;
  rheos_compression compression;
  int64_t buffer_size, seed;
  float shift_ratio;
} record_input_spec;

static rheos_status *init_input(rheos__resource *resource, const void *argument) {
  record_input *input = (record_input *)resource;
  const record_input_spec *spec = argument;
  pthread_mutex_init(&input->mutex, NULL);
  input->compression = spec->compression;
  input->buffer_size = spec->buffer_size;
  input->shift_ratio = spec->shift_ratio;
  input->seed = (uint64_t)spec->seed;
  input->random = rheos__philox_singles_of(rheos__philox_of(input->seed, 0));
  RHEOS_TRY(rheos__file_match(spec->pattern, &input->paths, &input->num_paths));
  if (input->num_paths == 0) return RHEOS_NOTFOUND("Found no files at %s", spec->pattern);
  input->order = rheos__alloc_array(input->num_paths, sizeof *input->order);
  input->records = rheos__alloc_array((size_t)input->buffer_size, sizeof *input->records);
  return input->order != NULL && input->records != NULL ? NULL : rheos__out_of_memory();
}

static void close_file(record_input *input) {
  rheos__file_close(input->file);
  input->file = NULL;
  rheos__buffer_deinit(&input->content);
  input->path = NULL;
}

static void deinit_input(rheos__resource *resource) {
  record_input *input = (record_input *)resource;
  close_file(input);
  for (int64_t i = 0; i < input->count; ++i) rheos__buffer_deinit(&input->records[i]);
  rheos__free(input->records);
  rheos__free(input->order);
  rheos__file_list_free(input->paths, input->num_paths);
  pthread_mutex_destroy(&input->mutex);
}

static const rheos__resource_kind input_kind = {"record input", sizeof(record_input), init_input,
                                                deinit_input};

static size_t random_below(record_input *input, size_t limit) {
  const uint64_t high = rheos__philox_next(&input->random);
  return (size_t)((high << 32 | rheos__philox_next(&input->random)) % limit);
}

static void begin_epoch(record_input *input) {
  const size_t count = input->num_paths;
  ++input->epoch;
  input->next_file = 0;
  input->has_record = false;
  for (size_t i = 0; i < count; ++i) input->order[i] = i;
  for (size_t i = count; i > 1; --i) {
    const size_t other = random_below(input, i);
    const size_t moved = input->order[i - 1];
    input->order[i - 1] = input->order[other];
    input->order[other] = moved;
  }
  // From epoch to epoch the files are begun with another one.
  const float shift = input->shift_ratio * (float)count * (float)(input->epoch - 1);
  const size_t first = shift > 0 ? (size_t)shift % count : 0;
  input->next_file = 0;
  for (size_t k = 0; k < first; ++k) {
    const size_t head = input->order[0];
    memmove(input->order, input->order + 1, (count - 1) * sizeof head);
    input->order[count - 1] = head;
  }
}

// ---- Reading

static rheos_status *decompress(record_input *input, const char *path) {
  char *data = NULL;
  size_t size_bytes = 0;
  RHEOS_TRY(rheos__file_read_all(path, MAX_FILE_BYTES, &data, &size_bytes));
  rheos_status *status = rheos__decompress(input->compression, data, size_bytes, &input->content);
  rheos__free(data);
  return status == NULL && input->content.failed ? rheos__out_of_memory() : status;
}

static rheos_status *open_next(record_input *input) {
  const char *path = input->paths[input->order[input->next_file++]];
  input->offset = input->content_offset = 0;
  if (input->compression == RHEOS_NO_COMPRESSION) {
    RHEOS_TRY(rheos__file_open(path, &input->file));
  } else {
    RHEOS_TRY(decompress(input, path));
  }
  input->path = path;
  return NULL;
}

static rheos_status *get_content(void *argument, void *data, size_t size_bytes, size_t *out_read) {
  record_input *input = argument;
  const uint64_t left = input->content.size_bytes - input->content_offset;
  *out_read = left < size_bytes ? (size_t)left : size_bytes;
  if (*out_read > 0) memcpy(data, input->content.data + input->content_offset, *out_read);
  input->content_offset += *out_read;
  return NULL;
}

static bool is_at_end(const record_input *input) {
  const uint64_t size =
      input->file != NULL ? rheos__file_size(input->file) : input->content.size_bytes;
  return input->offset >= size;
}

static rheos_status *read_next(record_input *input, rheos__buffer *record) {
  if (input->file != NULL) return rheos__record_read(input->file, &input->offset, record);
  return rheos__record_get(get_content, input, input->path, &input->offset, record);
}

// The next record into the buffer; at the end of the epoch's files there is none.
static rheos_status *fill_one(record_input *input, bool *out_at_end) {
  *out_at_end = false;
  while (input->path == NULL || is_at_end(input)) {
    close_file(input);
    *out_at_end = input->next_file == input->num_paths;
    if (*out_at_end) return NULL;
    RHEOS_TRY(open_next(input));
  }
  rheos__buffer record = {0};
  rheos_status *status = read_next(input, &record);
  if (status == NULL && record.failed) status = rheos__out_of_memory();
  if (status != NULL) {
    rheos__buffer_deinit(&record);
    close_file(input);
    return status;
  }
  input->records[input->count++] = record;
  input->has_record = true;
  return NULL;
}

static rheos_status *fill(record_input *input) {
  bool at_end = false;
  while (input->count < input->buffer_size && !at_end) RHEOS_TRY(fill_one(input, &at_end));
  return NULL;
}

static rheos_status *give_one(record_input *input, rheos_tensor *records, int64_t index) {
  while (input->count == 0) {
    if (input->epoch > 0 && input->next_file == input->num_paths && !input->has_record) {
      return rheos_status_new(RHEOS_OUT_OF_RANGE, "the files of '%s' hold no records",
                              input->base.name);
    }
    begin_epoch(input);
    RHEOS_TRY(fill(input));
  }
  const size_t chosen = random_below(input, (size_t)input->count);
  rheos__buffer record = input->records[chosen];
  input->records[chosen] = input->records[--input->count];
  rheos_status *status = rheos_tensor_set_string(records, index, record.data, record.size_bytes);
  rheos__buffer_deinit(&record);
  return status != NULL ? status : fill(input);
}

// ---- The op

typedef struct record_state {
  record_input *input;  // counted
  int64_t batch_size;
} record_state;

static rheos_status *compute_records(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)inputs;
  const record_state *state = argument;
  record_input *input = state->input;
  RHEOS_TRY(rheos__tensor_new(RHEOS_STRING, &RHEOS_SHAPE(state->batch_size), &outputs[0]));
  rheos_status *status = NULL;
  pthread_mutex_lock(&input->mutex);
  for (int64_t i = 0; status == NULL && i < state->batch_size; ++i) {
    if (rheos__step_should_stop(step)) break;
    status = give_one(input, outputs[0], i);
  }
  pthread_mutex_unlock(&input->mutex);
  return status;
}

static void release_state(void *state) {
  rheos__resource_unref(&((record_state *)state)->input->base);
}

static rheos_status *prepare_records(rheos__prepare *p) {
  record_input_spec spec = {.pattern = rheos__attr_string(p->attrs, "file_pattern"),
                            .buffer_size = rheos__attr_int(p->attrs, "file_buffer_size"),
                            .seed = rheos__attr_int(p->attrs, "file_random_seed"),
                            .shift_ratio = rheos__attr_float(p->attrs, "file_shuffle_shift_ratio")};
  const char *compression = rheos__attr_string(p->attrs, "compression_type");
  const int64_t batch_size = rheos__attr_int(p->attrs, "batch_size");
  if (!rheos__compression_of(compression, &spec.compression)) {
    return RHEOS_INVALID("Unsupported compression_type: '%s'", compression);
  }
  if (spec.buffer_size < 1 || spec.buffer_size > INT32_MAX || batch_size < 1) {
    return RHEOS_INVALID("file_buffer_size and batch_size must be > 0, got %lld and %lld",
                         (long long)spec.buffer_size, (long long)batch_size);
  }
  record_state *state = RHEOS_NEW_STATE(p, record_state);
  if (state == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__resources_get(p->resources, &input_kind, p->node_name, &spec,
                                 (rheos__resource **)&state->input));
  state->batch_size = batch_size;
  p->release = release_state;
  p->compute = p->op->compute;
  return NULL;
}

static rheos_status *shape_records(rheos__infer *c) {
  c->output_shapes[0] = RHEOS_SHAPE(rheos__attr_int(c->attrs, "batch_size"));
  return NULL;
}

const rheos__op_def rheos__op_RecordInput = {
    .name = "RecordInput",
    .signature =
        "-> records: string; file_pattern: string; file_random_seed: int = 301; "
        "file_shuffle_shift_ratio: float = 0; file_buffer_size: int = 10000; "
        "file_parallelism: int = 16; batch_size: int = 32; "
        "compression_type: string = \"\"",
    .doc = "Batches of records of files, in random order, for ever.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_USES_FILES,
    .shape = shape_records,
    .gradient = rheos__no_gradient,
    .prepare = prepare_records,
    .compute = compute_records,
};
