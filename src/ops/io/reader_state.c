// The state of readers: read, put back, and begun anew. It is TensorFlow's message ReaderBaseState:
//   work_started = 1, work_finished = 2, num_records_produced = 3, current_work = 4 (bytes)
// As there, only readers that give whole files or names can have theirs saved.
#include "codec/wire.h"
#include "ops/io/reader.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

enum { WORK_STARTED = 1, WORK_FINISHED, RECORDS_PRODUCED, CURRENT_WORK };

typedef rheos_status *(*reader_action)(rheos__reader *reader, const rheos_string *given,
                                       rheos__buffer *out);

// An attempt to do something with the reader while nobody reads.
typedef struct turn {
  rheos__attempt attempt;
  reader_action action;
  rheos__buffer given, out;
  bool has_output;
} turn;

static rheos__tried run_turn(rheos__attempt *attempt) {
  turn *t = (turn *)attempt;
  rheos__reader *reader = (rheos__reader *)attempt->on;
  if (reader->is_taken) return RHEOS__TRIED_IN_VAIN;
  const rheos_string given = {t->given.data, t->given.size_bytes};
  attempt->status = t->action(reader, &given, &t->out);
  return RHEOS__TRIED_DONE;
}

static rheos_status *finish_turn(rheos__attempt *attempt, rheos__step *step,
                                 rheos_tensor **outputs) {
  (void)step;
  const turn *t = (const turn *)attempt;
  if (!t->has_output) return NULL;
  if (t->out.failed) return rheos__out_of_memory();
  RHEOS_TRY(rheos__tensor_new(RHEOS_STRING, &RHEOS_SCALAR, &outputs[0]));
  return rheos_tensor_set_string(outputs[0], 0, t->out.data, t->out.size_bytes);
}

static void deinit_turn(rheos__attempt *attempt) {
  turn *t = (turn *)attempt;
  rheos__buffer_deinit(&t->given);
  rheos__buffer_deinit(&t->out);
}

static const rheos__attempt_kind turn_kind = {
    .what = "its turn", .run = run_turn, .finish = finish_turn, .deinit = deinit_turn};

static rheos_status *take_turn(rheos__reader *reader, rheos__step *step, reader_action action,
                               const rheos_tensor *given, rheos_tensor **outputs, bool has_output) {
  turn *t = rheos__alloc_zeroed(sizeof *t);
  if (t == NULL) return rheos__out_of_memory();
  rheos__attempt_init(&t->attempt, &turn_kind, &reader->waitable, RHEOS__TAKES);
  t->action = action;
  t->has_output = has_output;
  if (given != NULL) {
    const rheos_string *text = given->data;
    rheos__buffer_put(&t->given, text->data, text->size_bytes);
  }
  if (t->given.failed) {
    rheos__attempt_free(&t->attempt);
    return rheos__out_of_memory();
  }
  return rheos__step_attempt_take(step, &t->attempt, outputs);
}

// ---- What is done

static const char *name_of(const rheos__reader *reader) { return reader->waitable.base.name; }

static rheos_status *serialize(rheos__reader *reader, const rheos_string *given,
                               rheos__buffer *out) {
  (void)given;
  if (!rheos__reader_gives_whole(reader)) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "Reader SerializeState");
  }
  const int64_t finished = atomic_load(&reader->num_completed);
  rheos__wire_put_unless_0(out, WORK_STARTED, finished + (reader->work != NULL ? 1 : 0));
  rheos__wire_put_unless_0(out, WORK_FINISHED, finished);
  rheos__wire_put_unless_0(out, RECORDS_PRODUCED, atomic_load(&reader->num_produced));
  if (reader->last_work.size_bytes > 0) {
    rheos__wire_put_bytes(out, CURRENT_WORK, reader->last_work.data, reader->last_work.size_bytes);
  }
  return NULL;
}

static rheos_status *start_anew(rheos__reader *reader, const rheos_string *given,
                                rheos__buffer *out) {
  (void)given, (void)out;
  rheos__reader_end_work(reader);
  reader->last_work.size_bytes = 0;
  atomic_store(&reader->num_produced, 0);
  atomic_store(&reader->num_completed, 0);
  return NULL;
}

static bool read_state(const rheos_string *given, int64_t numbers[4], rheos__wire *out_work) {
  rheos__wire message = rheos__wire_of(given->data, given->size_bytes);
  rheos__wire_field field;
  bool is_sound = true;
  *out_work = rheos__wire_of(NULL, 0);
  while (rheos__wire_next(&message, &field, &is_sound)) {
    if (field.type == RHEOS__WIRE_VARINT && field.number >= WORK_STARTED &&
        field.number <= RECORDS_PRODUCED) {
      numbers[field.number] = (int64_t)field.value;
    } else if (field.type == RHEOS__WIRE_BYTES && field.number == CURRENT_WORK) {
      *out_work = field.data;
    }
  }
  return is_sound;
}

static rheos_status *restore(rheos__reader *reader, const rheos_string *given, rheos__buffer *out) {
  int64_t numbers[4] = {0};
  rheos__wire work;
  if (!rheos__reader_gives_whole(reader)) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "Reader RestoreState");
  }
  if (!read_state(given, numbers, &work)) {
    return RHEOS_INVALID("Could not parse state for reader '%s'", name_of(reader));
  }
  for (int i = WORK_STARTED; i <= RECORDS_PRODUCED; ++i) {
    if (numbers[i] >= 0) continue;
    return RHEOS_INVALID("Unexpected negative value when restoring in reader '%s'",
                         name_of(reader));
  }
  if (numbers[WORK_STARTED] > numbers[WORK_FINISHED]) {
    return RHEOS_INVALID(
        "Inconsistent work started vs. finished when restoring in reader '%s': %lld and %lld",
        name_of(reader), (long long)numbers[WORK_STARTED], (long long)numbers[WORK_FINISHED]);
  }
  RHEOS_TRY(start_anew(reader, given, out));
  atomic_store(&reader->num_completed, numbers[WORK_FINISHED]);
  atomic_store(&reader->num_produced, numbers[RECORDS_PRODUCED]);
  rheos__buffer_put(&reader->last_work, work.at, rheos__wire_size(work));
  return NULL;
}

// ---- Ops

static rheos_status *compute_serialize(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                       rheos_tensor **outputs) {
  (void)inputs;
  return take_turn(state, step, serialize, NULL, outputs, true);
}

static rheos_status *compute_restore(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  if (inputs[1]->num_elements != 1) return RHEOS_INVALID("state must be a scalar");
  return take_turn(state, step, restore, inputs[1], outputs, false);
}

static rheos_status *compute_reset(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)inputs;
  return take_turn(state, step, start_anew, NULL, outputs, false);
}

static rheos_status *prepare_turn(rheos__prepare *p) {
  rheos__reader *reader = NULL;
  RHEOS_TRY(rheos__reader_of(p, &reader));
  p->state = reader;
  p->compute = p->op->compute;
  return NULL;
}

static rheos_status *shape_serialize(rheos__infer *c) {
  RHEOS_TRY(rheos__infer_handle(c, 0));
  return rheos__shape_scalar(c);
}

static rheos_status *shape_reset(rheos__infer *c) { return rheos__infer_handle(c, 0); }

static rheos_status *shape_restore(rheos__infer *c) {
  rheos_shape scalar;
  RHEOS_TRY(rheos__infer_handle(c, 0));
  return rheos__infer_rank(c, 1, 0, &scalar);
}

#define STATE_OP_1(op_name, handle_type, rest, text, shape_fn, compute_fn) \
  const rheos__op_def rheos__op_##op_name = {                              \
      .name = #op_name,                                                    \
      .signature = "reader_handle: " handle_type rest,                     \
      .doc = text,                                                         \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES | RHEOS_OP_WAITS,       \
      .shape = shape_fn,                                                   \
      .gradient = rheos__no_gradient,                                      \
      .prepare = prepare_turn,                                             \
      .compute = compute_fn,                                               \
  };
#define STATE_OP(op_name, rest, text, shape_fn, compute_fn)            \
  STATE_OP_1(op_name, "Ref(string)", rest, text, shape_fn, compute_fn) \
  STATE_OP_1(op_name##V2, "resource", rest, text, shape_fn, compute_fn)

STATE_OP(ReaderSerializeState, " -> state: string", "The state of the reader, to be restored.",
         shape_serialize, compute_serialize)
STATE_OP(ReaderRestoreState, ", state: string ->", "Puts the reader into a `state` that was saved.",
         shape_restore, compute_restore)
STATE_OP(ReaderReset, " ->", "Puts the reader into the state of a new one.", shape_reset,
         compute_reset)
