// Readers as ops. Who reads takes the reader first, waiting for who has it; a reader without work
// then waits for a queue to name some.
#include <string.h>

#include "codec/compress.h"
#include "ops/data_flow/queue_util.h"
#include "ops/io/reader.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

// ---- Making a reader

static void unref_reader(void *state) { rheos__resource_unref(*(rheos__resource **)state); }

static int64_t int_of(const rheos__prepare *p, const char *name) {
  const rheos_attr_value *value = rheos__attrs_find(p->attrs, name);
  return value != NULL ? value->i : 0;
}

static rheos_status *read_spec(const rheos__prepare *p, rheos__reader_spec *spec) {
  static const char *const names[] = {"compression_type", "encoding"};
  *spec = (rheos__reader_spec){.type = *(const rheos__reader_type *)p->op->family,
                               .header_bytes = int_of(p, "header_bytes"),
                               .record_bytes = int_of(p, "record_bytes"),
                               .footer_bytes = int_of(p, "footer_bytes"),
                               .hop_bytes = int_of(p, "hop_bytes"),
                               .header_lines = int_of(p, "skip_header_lines")};
  if (spec->header_bytes < 0 || spec->footer_bytes < 0 || spec->hop_bytes < 0) {
    return RHEOS_INVALID("header_bytes, footer_bytes and hop_bytes must be >= 0");
  }
  if (spec->type == RHEOS__READS_BLOCKS && spec->record_bytes <= 0) {
    return RHEOS_INVALID("record_bytes must be > 0 but got %lld", (long long)spec->record_bytes);
  }
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    if (rheos__attrs_find(p->attrs, names[i]) == NULL) continue;
    const char *name = rheos__attr_string(p->attrs, names[i]);
    if (rheos__compression_of(name, &spec->compression)) continue;
    return RHEOS_INVALID("Unsupported %s: '%s'", names[i], name);
  }
  return NULL;
}

static rheos_status *prepare_reader(rheos__prepare *p) {
  rheos__reader_spec spec;
  RHEOS_TRY(read_spec(p, &spec));
  rheos__resource **state = RHEOS_NEW_STATE(p, rheos__resource *);
  if (state == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__named_resource(p, &rheos__reader_kind, &spec, state));
  if (((rheos__reader *)*state)->spec.type != spec.type) {
    unref_reader(state);
    return RHEOS_INVALID("the reader of that shared_name is of another kind");
  }
  p->release = unref_reader;
  p->output_resource = *state;
  return NULL;
}

#define NAMING "container: string = \"\"; shared_name: string = \"\""
#define BLOCKS \
  "header_bytes: int = 0; record_bytes: int; footer_bytes: int = 0; hop_bytes: int = 0; " NAMING

#define READER_OP(op_name, handle_type, attributes, text, TYPE)      \
  const rheos__op_def rheos__op_##op_name = {                        \
      .name = #op_name,                                              \
      .signature = "-> reader_handle: " handle_type "; " attributes, \
      .doc = text,                                                   \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_USES_FILES,              \
      .shape = rheos__shape_handle,                                  \
      .gradient = rheos__no_gradient,                                \
      .prepare = prepare_reader,                                     \
      .family = &(const rheos__reader_type){TYPE},                   \
  };
#define READER_OPS(op_name, attributes, text, TYPE)         \
  READER_OP(op_name, "Ref(string)", attributes, text, TYPE) \
  READER_OP(op_name##V2, "resource", attributes, text, TYPE)

READER_OPS(IdentityReader, NAMING, "A reader of what is in the queue itself.", RHEOS__READS_NAMES)
READER_OPS(WholeFileReader, NAMING, "A reader of whole files.", RHEOS__READS_FILES)
READER_OPS(TextLineReader, "skip_header_lines: int = 0; " NAMING, "A reader of the lines of files.",
           RHEOS__READS_LINES)
READER_OPS(TFRecordReader, NAMING "; compression_type: string = \"\"",
           "A reader of TensorFlow's records.", RHEOS__READS_RECORDS)
READER_OP(LMDBReader, "Ref(string)", NAMING,
          "A reader of the keys and values of databases of LMDB.", RHEOS__READS_PAIRS)
READER_OP(FixedLengthRecordReader, "Ref(string)", BLOCKS, "A reader of records of one length.",
          RHEOS__READS_BLOCKS)
READER_OP(FixedLengthRecordReaderV2, "resource", BLOCKS "; encoding: string = \"\"",
          "A reader of records of one length.", RHEOS__READS_BLOCKS)

// ---- A read under way

typedef struct read_state {
  rheos__reader *reader;
  rheos__queue *queue;
} read_state;

typedef struct reading {
  rheos__reader *reader;  // counted
  rheos__queue *queue;    // counted
  bool has_reader;        // it is taken
  bool is_batch;
  int64_t wanted, count;
  rheos_string *keys, *values;
  size_t key_capacity, value_capacity;
} reading;

static void give_reader_back(reading *r) {
  if (!r->has_reader) return;
  rheos__waitable *waitable = &r->reader->waitable;
  pthread_mutex_lock(&waitable->mutex);
  r->reader->is_taken = false;
  rheos__waitable_serve(waitable);
  pthread_mutex_unlock(&waitable->mutex);
  r->has_reader = false;
}

static void reading_free(reading *r) {
  if (r == NULL) return;
  give_reader_back(r);
  for (int64_t i = 0; i < r->count; ++i) {
    rheos__free(r->keys[i].data);
    rheos__free(r->values[i].data);
  }
  rheos__free(r->keys);
  rheos__free(r->values);
  rheos__resource_unref(&r->reader->waitable.base);
  if (r->queue != NULL) rheos__resource_unref(&r->queue->waitable.base);
  rheos__free(r);
}

// One more record, or the end of the work.
static rheos_status *read_one(reading *r, bool *out_at_end) {
  if (!RHEOS_RESERVE(r->keys, r->key_capacity, (size_t)r->count + 1) ||
      !RHEOS_RESERVE(r->values, r->value_capacity, (size_t)r->count + 1)) {
    return rheos__out_of_memory();
  }
  rheos__buffer key = {0}, value = {0};
  rheos_status *status = rheos__reader_next(r->reader, &key, &value, out_at_end);
  if (status != NULL || *out_at_end) {
    rheos__buffer_deinit(&key);
    rheos__buffer_deinit(&value);
    return status;
  }
  r->keys[r->count] = (rheos_string){key.data, key.size_bytes};
  r->values[r->count++] = (rheos_string){value.data, value.size_bytes};
  ++r->reader->num_produced;
  return NULL;
}

// As TensorFlow's, a batch never goes from one work into the next.
static rheos_status *read_work(reading *r) {
  while (r->reader->work != NULL && r->count < r->wanted) {
    bool at_end = false;
    rheos_status *status = read_one(r, &at_end);
    if (status != NULL) {
      rheos__reader_end_work(r->reader);
      return status;
    }
    if (!at_end && !rheos__reader_gives_whole(r->reader)) continue;
    rheos__reader_end_work(r->reader);
    ++r->reader->num_completed;
    if (r->count > 0) break;
  }
  return NULL;
}

static rheos_status *give_strings(rheos_string *strings, int64_t count, bool is_batch,
                                  rheos_tensor **output) {
  const rheos_shape shape = is_batch ? RHEOS_SHAPE(count) : RHEOS_SCALAR;
  RHEOS_TRY(rheos__tensor_new(RHEOS_STRING, &shape, output));
  for (int64_t i = 0; i < count; ++i) {
    RHEOS_TRY(rheos_tensor_set_string(*output, i, strings[i].data, strings[i].size_bytes));
  }
  return NULL;
}

static const rheos__attempt_kind name_kind;

// Goes on until there are records, with the queue's next name where there is no work. Takes the
// reading.
static rheos_status *go_on_take(reading *r, rheos__step *step, rheos_tensor **outputs) {
  rheos_status *status = read_work(r);
  if (status == NULL && r->count == 0 && r->wanted > 0) {
    rheos__dequeue *d = rheos__dequeue_new(r->queue, &name_kind);
    if (d != NULL) {
      d->state = r;
      return rheos__step_attempt_take(step, &d->attempt, outputs);
    }
    status = rheos__out_of_memory();
  }
  give_reader_back(r);
  if (status == NULL) status = give_strings(r->keys, r->count, r->is_batch, &outputs[0]);
  if (status == NULL) status = give_strings(r->values, r->count, r->is_batch, &outputs[1]);
  reading_free(r);
  return status;
}

static rheos_status *take_name(rheos__attempt *attempt, rheos__step *step, rheos_tensor **outputs) {
  rheos__dequeue *d = (rheos__dequeue *)attempt;
  reading *r = d->state;
  RHEOS_TRY(rheos__reader_begin(r->reader, d->tuples[0][0]->data));
  d->state = NULL;
  return go_on_take(r, step, outputs);
}

static void deinit_name(rheos__attempt *attempt) {
  reading_free(((rheos__dequeue *)attempt)->state);
  rheos__dequeue_deinit(attempt);
}

static const rheos__attempt_kind name_kind = {.what = "a name to read",
                                              .run = rheos__dequeue_run,
                                              .give_back = rheos__dequeue_give_back,
                                              .finish = take_name,
                                              .deinit = deinit_name};

// ---- Taking the reader

typedef struct taking {
  rheos__attempt attempt;
  reading *reading;
} taking;

static rheos__tried run_taking(rheos__attempt *attempt) {
  reading *r = ((taking *)attempt)->reading;
  if (r->reader->is_taken) return RHEOS__TRIED_IN_VAIN;
  r->reader->is_taken = r->has_reader = true;
  return RHEOS__TRIED_DONE;
}

static rheos_status *finish_taking(rheos__attempt *attempt, rheos__step *step,
                                   rheos_tensor **outputs) {
  taking *t = (taking *)attempt;
  reading *r = t->reading;
  t->reading = NULL;
  return go_on_take(r, step, outputs);
}

static void deinit_taking(rheos__attempt *attempt) { reading_free(((taking *)attempt)->reading); }

static const rheos__attempt_kind taking_kind = {
    .what = "its turn", .run = run_taking, .finish = finish_taking, .deinit = deinit_taking};

static rheos_status *read_records(const read_state *s, rheos__step *step, bool is_batch,
                                  int64_t wanted, rheos_tensor **outputs) {
  reading *r = rheos__alloc_zeroed(sizeof *r);
  taking *t = rheos__alloc_zeroed(sizeof *t);
  if (r == NULL || t == NULL) {
    rheos__free(r);
    rheos__free(t);
    return rheos__out_of_memory();
  }
  r->reader = (rheos__reader *)rheos__resource_ref(&s->reader->waitable.base);
  r->queue = (rheos__queue *)rheos__resource_ref(&s->queue->waitable.base);
  r->is_batch = is_batch;
  r->wanted = wanted;
  rheos__attempt_init(&t->attempt, &taking_kind, &s->reader->waitable, RHEOS__TAKES);
  t->reading = r;
  return rheos__step_attempt_take(step, &t->attempt, outputs);
}

static rheos_status *compute_read(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  (void)inputs;
  return read_records(state, step, false, 1, outputs);
}

static rheos_status *compute_read_up_to(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                        rheos_tensor **outputs) {
  if (inputs[2]->num_elements != 1) return RHEOS_INVALID("num_records must be a scalar");
  const int64_t wanted = rheos__tensor_int_at(inputs[2], 0);
  if (wanted < 0) return RHEOS_INVALID("num_records must be >= 0, got %lld", (long long)wanted);
  return read_records(state, step, true, wanted, outputs);
}

rheos_status *rheos__reader_of(const rheos__prepare *p, rheos__reader **out_reader) {
  rheos__resource *resource = p->input_resources[0];
  if (resource == NULL) return RHEOS_INVALID("input 0 is not a reader");
  if (resource->kind != &rheos__reader_kind) {
    return RHEOS_INVALID("%s is a %s, not a reader", resource->name, resource->kind->name);
  }
  *out_reader = (rheos__reader *)resource;
  return NULL;
}

static rheos_status *prepare_read(rheos__prepare *p) {
  read_state *state = RHEOS_NEW_STATE(p, read_state);
  if (state == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__reader_of(p, &state->reader));
  RHEOS_TRY(rheos__queue_of(p, 1, &state->queue));
  const rheos__queue_spec *spec = &state->queue->spec;
  if (spec->num_components != 1 || spec->dtypes[0] != RHEOS_STRING ||
      (spec->num_shapes > 0 && spec->shapes[0].rank != 0)) {
    return RHEOS_INVALID("a reader takes names from a queue of string scalars");
  }
  p->compute = p->op->compute;
  return NULL;
}

// ---- What a reader has done

static rheos_status *give_count(const _Atomic int64_t *count, rheos_tensor **output) {
  const int64_t answer = atomic_load(count);
  return rheos_tensor_from_values(RHEOS_INT64, RHEOS_SCALAR, &answer, output);
}

static rheos_status *compute_produced(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                      rheos_tensor **outputs) {
  (void)step, (void)inputs;
  return give_count(&((const rheos__reader *)state)->num_produced, &outputs[0]);
}

static rheos_status *compute_completed(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                       rheos_tensor **outputs) {
  (void)step, (void)inputs;
  return give_count(&((const rheos__reader *)state)->num_completed, &outputs[0]);
}

static rheos_status *prepare_look(rheos__prepare *p) {
  rheos__reader *reader = NULL;
  RHEOS_TRY(rheos__reader_of(p, &reader));
  p->state = reader;
  p->compute = p->op->compute;
  return NULL;
}

static rheos_status *shape_tell(rheos__infer *c) {
  RHEOS_TRY(rheos__infer_handle(c, 0));
  return rheos__shape_scalar(c);
}

static rheos_status *shape_read(rheos__infer *c) {
  RHEOS_TRY(rheos__infer_handle(c, 1));
  return shape_tell(c);
}

static rheos_status *shape_batch(rheos__infer *c) {
  rheos_shape scalar;
  RHEOS_TRY(shape_read(c));
  RHEOS_TRY(rheos__infer_rank(c, 2, 0, &scalar));
  c->output_shapes[0] = c->output_shapes[1] = RHEOS_SHAPE(-1);
  return NULL;
}

#define ON_READER_1(op_name, handle_type, rest, text, flags_, shape_fn, prepare_fn, compute_fn) \
  const rheos__op_def rheos__op_##op_name = {                                                   \
      .name = #op_name,                                                                         \
      .signature = "reader_handle: " handle_type rest,                                          \
      .doc = text,                                                                              \
      .flags = RHEOS_OP_STATEFUL | (flags_),                                                    \
      .shape = shape_fn,                                                                        \
      .gradient = rheos__no_gradient,                                                           \
      .prepare = prepare_fn,                                                                    \
      .compute = compute_fn,                                                                    \
  };
#define READS(op_name, queue_and_rest, text, shape_fn, compute_fn)                        \
  ON_READER_1(op_name, "Ref(string)", ", queue_handle: Ref(string)" queue_and_rest, text, \
              RHEOS_OP_WRITES | RHEOS_OP_WAITS, shape_fn, prepare_read, compute_fn)       \
  ON_READER_1(op_name##V2, "resource", ", queue_handle: resource" queue_and_rest, text,   \
              RHEOS_OP_WRITES | RHEOS_OP_WAITS, shape_fn, prepare_read, compute_fn)
#define TELLS(op_name, rest, text, compute_fn)                                             \
  ON_READER_1(op_name, "Ref(string)", rest, text, 0, shape_tell, prepare_look, compute_fn) \
  ON_READER_1(op_name##V2, "resource", rest, text, 0, shape_tell, prepare_look, compute_fn)

READS(ReaderRead, " -> key: string, value: string",
      "The next record and its key, of what the queue names.", shape_read, compute_read)
READS(ReaderReadUpTo, ", num_records: int64 -> keys: string, values: string",
      "At most `num_records` records of what the queue names, and their keys.", shape_batch,
      compute_read_up_to)
TELLS(ReaderNumRecordsProduced, " -> records_produced: int64",
      "How many records the reader has given.", compute_produced)
TELLS(ReaderNumWorkUnitsCompleted, " -> units_completed: int64",
      "How many of the queue's names the reader is done with.", compute_completed)
