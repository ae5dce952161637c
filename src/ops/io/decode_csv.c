// Records of comma-separated values, and tensors as messages.
#include <string.h>

#include "codec/wire.h"
#include "format/message/tensor_proto.h"
#include "ops/data/dataset.h"
#include "ops/io/tensor_message.h"
#include "ops/kit/op_util.h"
#include "ops/kit/string_util.h"

// ---- DecodeCSV

typedef struct csv_state {
  int32_t num_outputs;
  rheos_dtype *dtypes;
  char delimiter;
  bool quotes;
  rheos_string na_value;
  int64_t num_selected;
  const int64_t *selected;  // rising; none: all fields
} csv_state;

// The fields of a record, taken out of their quotes.
typedef struct fields {
  rheos__text *items;
  size_t count, capacity;
} fields;

static void fields_deinit(fields *f) {
  for (size_t i = 0; i < f->capacity; i++) rheos__text_deinit(&f->items[i]);
  rheos__free(f->items);
  *f = (fields){0};
}

static rheos__text *next_field(fields *f) {
  const size_t old = f->capacity;
  if (!RHEOS_RESERVE(f->items, f->capacity, f->count + 1)) return NULL;
  if (f->capacity > old) memset(f->items + old, 0, (f->capacity - old) * sizeof *f->items);
  rheos__text *field = &f->items[f->count++];
  field->size = 0;
  return field;
}

// A field in quotes, which are doubled inside; `*at` moves from its first quote behind its last.
static rheos_status *quoted_field(const char **at, const char *end, char delimiter,
                                  rheos__text *out) {
  for (++*at; *at < end; ++*at) {
    if (**at != '"') {
      rheos__text_add(out, *at, 1);
    } else if (*at + 1 == end || (*at)[1] == delimiter) {
      ++*at;
      return NULL;
    } else if ((*at)[1] == '"') {
      rheos__text_add(out, *at, 1);
      ++*at;
    } else {
      return RHEOS_INVALID("Quote inside a string has to be escaped by another quote");
    }
  }
  return RHEOS_INVALID("Quoted field has to end with quote followed by delim or end");
}

static rheos_status *plain_field(const csv_state *s, const char **at, const char *end,
                                 rheos__text *out) {
  const char *start = *at;
  while (*at < end && **at != s->delimiter) {
    if (s->quotes && (**at == '"' || **at == '\n' || **at == '\r')) {
      return RHEOS_INVALID("Unquoted fields cannot have quotes/CRLFs inside");
    }
    ++*at;
  }
  rheos__text_add(out, start, (size_t)(*at - start));
  return NULL;
}

static rheos_status *split_record(const csv_state *s, const rheos_string *record, fields *f) {
  f->count = 0;
  const char *at = record->size_bytes > 0 ? record->data : "", *end = at + record->size_bytes;
  if (at == end) return NULL;
  for (;;) {
    rheos__text *field = next_field(f);
    if (field == NULL) return rheos__out_of_memory();
    if (s->quotes && at < end && *at == '"') {
      RHEOS_TRY(quoted_field(&at, end, s->delimiter, field));
    } else {
      RHEOS_TRY(plain_field(s, &at, end, field));
    }
    if (field->failed) return rheos__out_of_memory();
    if (at == end) return NULL;
    at++;  // the delimiter; a field follows even at the end
  }
}

static bool is_missing(const csv_state *s, const rheos__text *field) {
  return field->size == 0 || (field->size == s->na_value.size_bytes &&
                              memcmp(field->data, s->na_value.data, field->size) == 0);
}

static rheos_status *set_field(const csv_state *s, int32_t column, int64_t record,
                               const rheos__text *field, const rheos_tensor *standby,
                               rheos_tensor *output) {
  char *to = (char *)output->data + (size_t)record * rheos_dtype_size(output->dtype);
  if (is_missing(s, field)) {
    if (standby->num_elements == 0) {
      return RHEOS_INVALID("Field %d is required but missing in record %lld!", (int)column,
                           (long long)record);
    }
    return rheos__copy_elements(output->dtype, to, standby->data, 1);
  }
  if (output->dtype == RHEOS_STRING) return rheos__set_text(output, record, field);
  const rheos_string text = {field->data, field->size};
  if (rheos__parse_number(&text, output->dtype, to)) return NULL;
  return RHEOS_INVALID("Field %d in record %lld is not a valid %s: %.*s", (int)column,
                       (long long)record, rheos_dtype_name(output->dtype),
                       (int)(field->size < 200 ? field->size : 200), field->data);
}

static rheos_status *decode_record(const csv_state *s, int64_t record, const fields *f,
                                   rheos_tensor *const *inputs, rheos_tensor **outputs) {
  if (s->num_selected == 0 && f->count != (size_t)s->num_outputs) {
    return RHEOS_INVALID("Expect %d fields but have %zu in record %lld", (int)s->num_outputs,
                         f->count, (long long)record);
  }
  for (int32_t i = 0; i < s->num_outputs; i++) {
    const int64_t field = s->num_selected > 0 ? s->selected[i] : i;
    if (field >= (int64_t)f->count) {  // i of those that are selected are there
      return RHEOS_INVALID("Expect %d fields but have %d in record %lld", (int)s->num_outputs,
                           (int)i, (long long)record);
    }
    RHEOS_TRY(set_field(s, i, record, &f->items[field], inputs[1 + i], outputs[i]));
  }
  return NULL;
}

static rheos_status *compute_csv(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                 rheos_tensor **outputs) {
  const csv_state *s = argument;
  const rheos_string *records = inputs[0]->data;
  for (int32_t i = 0; i < s->num_outputs; i++) {
    if (inputs[1 + i]->num_elements > 1) {
      return RHEOS_INVALID("There should only be 1 default per field but field %d has %lld", (int)i,
                           (long long)inputs[1 + i]->num_elements);
    }
    RHEOS_TRY(rheos__tensor_new(s->dtypes[i], &inputs[0]->shape, &outputs[i]));
  }
  fields f = {0};
  rheos_status *status = NULL;
  for (int64_t r = 0; status == NULL && r < inputs[0]->num_elements; r++) {
    if (r % 1024 == 1023 && step != NULL && rheos__step_should_stop(step)) {
      status = rheos_status_new(RHEOS_CANCELLED, "Step was cancelled.");
    }
    if (status == NULL) status = split_record(s, &records[r], &f);
    if (status == NULL) status = decode_record(s, r, &f, inputs, outputs);
  }
  fields_deinit(&f);
  return status;
}

static rheos_status *prepare_csv(rheos__prepare *p) {
  csv_state *s = RHEOS_NEW_STATE(p, csv_state);
  if (s == NULL) return rheos__out_of_memory();
  const rheos_attr_value *delimiter = rheos__attrs_find(p->attrs, "field_delim");
  const rheos_attr_value *na_value = rheos__attrs_find(p->attrs, "na_value");
  const rheos_attr_value *selected = rheos__attrs_find(p->attrs, "select_cols");
  if (delimiter->s.size_bytes != 1) return RHEOS_INVALID("field_delim should be only 1 char");
  if (selected->count > 0 && selected->count != p->num_outputs) {
    return RHEOS_INVALID("select_cols should match output size");
  }
  for (int32_t i = 0; i < selected->count; i++) {
    if (selected->ints[i] < 0 || (i > 0 && selected->ints[i] <= selected->ints[i - 1])) {
      return RHEOS_INVALID("select_cols should be strictly increasing indices");
    }
  }
  s->num_outputs = p->num_outputs;
  s->dtypes =
      rheos__arena_copy(p->arena, p->output_dtypes, (size_t)p->num_outputs * sizeof *s->dtypes);
  if (s->dtypes == NULL) return rheos__out_of_memory();
  s->delimiter = delimiter->s.data[0];
  s->quotes = rheos__attr_bool(p->attrs, "use_quote_delim");
  s->na_value = rheos__borrow_string(na_value->s.data, na_value->s.size_bytes);
  s->num_selected = selected->count;
  s->selected = selected->ints;
  p->compute = compute_csv;
  return NULL;
}

static rheos_status *shape_csv(rheos__infer *c) {
  for (int32_t i = 0; i < c->num_outputs; i++) {
    const rheos_shape *standby = &c->input_shapes[1 + i];
    if (standby->rank > 1) {
      return RHEOS_INVALID("record_defaults[%d] must be a scalar or a vector", (int)i);
    }
    if (standby->rank == 1 && standby->dims[0] > 1) {
      return RHEOS_INVALID("Shape of a default must be a length-0 or length-1 vector, or a scalar");
    }
    c->output_shapes[i] = c->input_shapes[0];
  }
  return NULL;
}

const rheos__op_def rheos__op_DecodeCSV = {
    .name = "DecodeCSV",
    .signature =
        "records: string, record_defaults: OUT_TYPE -> output: OUT_TYPE; "
        "OUT_TYPE: list({float, double, int32, int64, string}) >= 1; "
        "field_delim: string = \",\"; use_quote_delim: bool = true; na_value: string = \"\"; "
        "select_cols: list(int) = []",
    .doc =
        "The fields of each record, as one tensor a column; a default stands for an empty field.",
    .shape = shape_csv,
    .prepare = prepare_csv,
};

// ---- SerializeTensor, ParseTensor

rheos_status *rheos__put_tensor_message(const rheos_tensor *tensor, rheos_tensor *strings,
                                        int64_t index) {
  rheos__buffer message = {0};
  rheos__wire_put_tensor(&message, tensor);
  rheos_status *status =
      message.failed ? rheos__out_of_memory()
                     : rheos_tensor_set_string(strings, index, message.data, message.size_bytes);
  rheos__buffer_deinit(&message);
  return status;
}

// Of variants the states of iterators are saved, by the message of the strings that files have of
// them.
static rheos_status *compute_serialize_state(void *state, rheos__step *step,
                                             rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)state, (void)step;
  rheos_tensor *strings = NULL;
  RHEOS_TRY(rheos__iterator_state_to_strings(inputs[0], &strings));
  rheos_status *status = rheos__tensor_new(RHEOS_STRING, &RHEOS_SCALAR, &outputs[0]);
  if (status == NULL) status = rheos__put_tensor_message(strings, outputs[0], 0);
  rheos_tensor_unref(strings);
  return status;
}

static rheos_status *compute_serialize(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                       rheos_tensor **outputs) {
  (void)state, (void)step;
  RHEOS_TRY(rheos__tensor_new(RHEOS_STRING, &RHEOS_SCALAR, &outputs[0]));
  return rheos__put_tensor_message(inputs[0], outputs[0], 0);
}

static rheos_status *prepare_serialize(rheos__prepare *p) {
  const rheos_dtype dtype = p->input_dtypes[0];
  if (dtype == RHEOS_RESOURCE) return rheos__no_kernel(p, dtype);
  p->compute = dtype == RHEOS_VARIANT ? compute_serialize_state : compute_serialize;
  return NULL;
}

const rheos__op_def rheos__op_SerializeTensor = {
    .name = "SerializeTensor",
    .signature = "tensor: T -> serialized: string; T: type",
    .doc = "The tensor as the bytes of a TensorProto.",
    .flags = RHEOS_OP_TAKES_VARIANTS,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .prepare = prepare_serialize,
};

typedef struct parse_state {
  rheos_dtype dtype;
} parse_state;

static rheos_status *parse_message(const rheos_string *bytes, rheos__arena *arena,
                                   rheos_tensor **out_tensor) {
  Tensorflow__TensorProto *proto;
  rheos_status *status = RHEOS_PROTO_UNPACK(tensor_proto, bytes->size_bytes > 0 ? bytes->data : "",
                                            bytes->size_bytes, arena, &proto);
  if (status == NULL) status = rheos__tensor_from_proto(proto, out_tensor);
  if (status == NULL || rheos_status_code(status) == RHEOS_RESOURCE_EXHAUSTED) return status;
  const int shown = bytes->size_bytes < 64 ? (int)bytes->size_bytes : 64;
  rheos_status *invalid =
      RHEOS_INVALID("Could not parse `serialized` as TensorProto: '%.*s': %s", shown,
                    shown > 0 ? bytes->data : "", rheos_status_message(status));
  rheos_status_free(status);
  return invalid;
}

rheos_status *rheos__tensor_of_message(const rheos_string *bytes, rheos_tensor **out_tensor) {
  rheos__arena arena;
  rheos__arena_init(&arena);
  rheos_status *status = parse_message(bytes, &arena, out_tensor);
  rheos__arena_deinit(&arena);
  return status;
}

static rheos_status *compute_parse(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)step;
  const parse_state *state = argument;
  const rheos_string *bytes;
  RHEOS_TRY(rheos__string_scalar(inputs[0], "serialized", &bytes));
  RHEOS_TRY(rheos__tensor_of_message(bytes, &outputs[0]));
  if (outputs[0]->dtype == state->dtype) return NULL;
  if (state->dtype == RHEOS_VARIANT && outputs[0]->dtype == RHEOS_STRING) {
    rheos_tensor *strings = outputs[0];
    outputs[0] = NULL;
    rheos_status *status = rheos__iterator_state_of_strings(strings, &outputs[0]);
    rheos_tensor_unref(strings);
    return status;
  }
  return RHEOS_INVALID("Type mismatch between parsed tensor (%s) and dtype (%s)",
                       rheos_dtype_name(outputs[0]->dtype), rheos_dtype_name(state->dtype));
}

static rheos_status *prepare_parse(rheos__prepare *p) {
  parse_state *state = RHEOS_NEW_STATE(p, parse_state);
  if (state == NULL) return rheos__out_of_memory();
  state->dtype = p->output_dtypes[0];
  p->compute = compute_parse;
  return NULL;
}

static rheos_status *shape_parse(rheos__infer *c) {
  rheos_shape unused;
  return rheos__infer_rank(c, 0, 0, &unused);
}

const rheos__op_def rheos__op_ParseTensor = {
    .name = "ParseTensor",
    .signature = "serialized: string -> output: out_type; out_type: type",
    .doc = "The tensor in the bytes of a TensorProto.",
    .flags = RHEOS_OP_TAKES_VARIANTS,
    .shape = shape_parse,
    .gradient = rheos__no_gradient,
    .prepare = prepare_parse,
};
