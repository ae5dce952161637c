// See variant_proto.h. A kind is a row of `kinds`: its name in files, how it comes apart, how it is
// made.
#include "format/message/variant_proto.h"

#include "codec/wire.h"
#include "format/message/tensor_proto.h"
#include "ops/data/dataset.h"
#include "ops/flow/tensor_list_util.h"
#include "ops/kit/packed_tensors.h"
#include "plan/segment/staged_node.h"

enum { MOST_DEPTH = 16 };  // of variants in each other

// Fields of TensorProto and of VariantTensorDataProto.
enum { TENSOR_DTYPE = 1, TENSOR_SHAPE = 2, TENSOR_CONTENT = 4 };
enum { TYPE_NAME = 1, METADATA = 2, TENSORS = 3 };

// A message taken apart. The tensors are references that whoever makes a variant takes.
typedef struct parts {
  ProtobufCBinaryData metadata;
  rheos_tensor **tensors;
  int32_t count;
} parts;

// ---- Writing

static rheos_status *put_tensor(rheos__buffer *buffer, const rheos_tensor *tensor, int32_t depth);

static rheos_status *put_tensors(rheos__buffer *to, rheos_tensor *const *tensors, int32_t count,
                                 int32_t depth) {
  for (int32_t i = 0; i < count; ++i) {
    if (tensors[i] == NULL) continue;
    rheos__buffer message = {0};
    rheos_status *status = put_tensor(&message, tensors[i], depth + 1);
    if (status != NULL) {
      rheos__buffer_deinit(&message);
      return status;
    }
    rheos__wire_put_message(to, TENSORS, &message);
  }
  return NULL;
}

static void put_name(rheos__buffer *to, const char *name) {
  rheos__wire_put_bytes(to, TYPE_NAME, name, strlen(name));
}

static rheos_status *put_packed(rheos__buffer *to, const rheos_tensor *variants, int64_t index,
                                rheos__packed_form form, int32_t depth) {
  rheos_tensor *const *tensors = NULL;
  int32_t count = 0;
  RHEOS_TRY(rheos__packed_tensors_of(variants, index, "a file", &tensors, &count));
  put_name(to, form == RHEOS__PACKED_RAGGED ? "RaggedTensorVariant" : "tensorflow::Tensor");
  return put_tensors(to, tensors, count, depth);
}

static rheos_status *put_optional(rheos__buffer *to, rheos_tensor *const *components, int32_t count,
                                  int32_t depth) {
  const char has_value = count >= 0;
  put_name(to, "tensorflow::data::Optional");
  rheos__wire_put_bytes(to, METADATA, &has_value, 1);
  return put_tensors(to, components, count, depth);
}

// How many elements hold nothing, where these are, the dtype, the largest length, the shape.
static void put_list_metadata(rheos__buffer *to, const rheos__list_spec *spec,
                              rheos_tensor *const *items, int64_t length) {
  rheos__buffer metadata = {0}, shape = {0};
  int64_t missing = 0;
  for (int64_t i = 0; i < length; ++i) missing += items[i] == NULL;
  rheos__buffer_put_varint(&metadata, (uint64_t)missing);
  for (int64_t i = 0; i < length; ++i) {
    if (items[i] == NULL) rheos__buffer_put_varint(&metadata, (uint64_t)i);
  }
  rheos__buffer_put_varint(&metadata, (uint64_t)spec->dtype);
  rheos__buffer_put_varint(&metadata, (uint64_t)spec->max_length);
  rheos__wire_put_shape(&shape, TENSOR_SHAPE, &spec->shape);
  rheos__wire field = rheos__wire_of(shape.data, shape.size_bytes);
  rheos__wire_field message;
  bool is_sound;
  if (rheos__wire_next(&field, &message, &is_sound)) {
    rheos__buffer_put(&metadata, message.data.at, rheos__wire_size(message.data));
  }
  if (shape.failed) metadata.failed = true;
  rheos__buffer_deinit(&shape);
  rheos__wire_put_message(to, METADATA, &metadata);
}

static rheos_status *put_list(rheos__buffer *to, rheos__list *list, int32_t depth) {
  const int64_t length = rheos__list_length(list);
  if (length > INT32_MAX) return RHEOS_INVALID("a list of %lld tensors", (long long)length);
  rheos_tensor **items = rheos__alloc_array((size_t)length, sizeof *items);
  if (items == NULL) return rheos__out_of_memory();
  rheos__list_items(list, items);
  put_name(to, "tensorflow::TensorList");
  put_list_metadata(to, rheos__list_spec_of(list), items, length);
  rheos_status *status = rheos__bring_to_host_take(items, (int32_t)length);
  if (status == NULL) status = put_tensors(to, items, (int32_t)length, depth);
  rheos__element_clear(items, (int32_t)length);
  rheos__free(items);
  return status;
}

static rheos_status *put_variant(rheos__buffer *to, const rheos_tensor *variants, int64_t index,
                                 int32_t depth) {
  rheos__variant *variant = ((rheos__variant *const *)variants->data)[index];
  rheos__packed_form form;
  rheos_tensor *const *components = NULL;
  int32_t count = 0;
  if (variant == NULL) return NULL;
  if (depth > MOST_DEPTH) return RHEOS_INVALID("variants lie too deep in each other");
  if (rheos__packed_form_of(variant, &form)) return put_packed(to, variants, index, form, depth);
  if (rheos__optional_parts(variant, &components, &count)) {
    return put_optional(to, components, count, depth);
  }
  if (variant->kind == &rheos__list_kind) return put_list(to, (rheos__list *)variant, depth);
  return rheos_status_new(RHEOS_UNIMPLEMENTED,
                          "a variant that holds a %s cannot be put in files or sent",
                          variant->kind->name);
}

// As the content: the sizes of all messages, then these.
static rheos_status *put_variants(rheos__buffer *to, const rheos_tensor *tensor, int32_t depth) {
  rheos__buffer content = {0}, messages = {0};
  rheos_status *status = NULL;
  for (int64_t i = 0; status == NULL && i < tensor->num_elements; ++i) {
    const size_t start = messages.size_bytes;
    status = put_variant(&messages, tensor, i, depth);
    rheos__buffer_put_varint(&content, messages.size_bytes - start);
  }
  rheos__buffer_put(&content, messages.data, messages.size_bytes);
  if (messages.failed) content.failed = true;
  rheos__buffer_deinit(&messages);
  rheos__wire_put_varint(to, TENSOR_DTYPE, (uint64_t)tensor->dtype);
  rheos__wire_put_shape(to, TENSOR_SHAPE, &tensor->shape);
  rheos__wire_put_message(to, TENSOR_CONTENT, &content);
  return status;
}

static rheos_status *put_tensor(rheos__buffer *buffer, const rheos_tensor *tensor, int32_t depth) {
  if (tensor->dtype == RHEOS_VARIANT) return put_variants(buffer, tensor, depth);
  if (tensor->dtype == RHEOS_RESOURCE) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED,
                            "tensors of resource cannot be put in files or sent");
  }
  rheos__wire_put_tensor(buffer, tensor);
  return NULL;
}

static rheos_status *finish_put(const rheos__buffer *buffer, rheos_status *status) {
  return status == NULL && buffer->failed ? rheos__out_of_memory() : status;
}

rheos_status *rheos__tensor_message_put(rheos__buffer *buffer, const rheos_tensor *tensor) {
  return finish_put(buffer, put_tensor(buffer, tensor, 0));
}

rheos_status *rheos__variant_message_put(rheos__buffer *buffer, const rheos_tensor *variants,
                                         int64_t index) {
  return finish_put(buffer, put_variant(buffer, variants, index, 0));
}

// ---- Reading

static rheos_status *damaged(const char *what) {
  return RHEOS_INVALID("the message of a variant is damaged: %s", what);
}

static rheos_status *take_packed(rheos__packed_form form, parts *p, rheos__variant **out) {
  if (p->count < 1 || p->count > (form == RHEOS__PACKED_RAGGED ? RHEOS_MAX_RANK + 1 : 1)) {
    return damaged("it holds another number of tensors");
  }
  const int32_t count = p->count;
  p->count = 0;
  return rheos__packed_tensors_take(form, p->tensors, count, out);
}

static rheos_status *take_tensor(parts *p, rheos__variant **out) {
  return take_packed(RHEOS__PACKED_TENSOR, p, out);
}

static rheos_status *take_ragged(parts *p, rheos__variant **out) {
  return take_packed(RHEOS__PACKED_RAGGED, p, out);
}

// The variant of a scalar tensor, which is given up.
static void variant_out(rheos_tensor *tensor, rheos__variant **out) {
  *out = rheos__variant_ref(*(rheos__variant *const *)tensor->data);
  rheos_tensor_unref(tensor);
}

static rheos_status *take_optional(parts *p, rheos__variant **out) {
  const bool has_value = p->metadata.len == 1 && p->metadata.data[0] != 0;
  if (p->metadata.len != 1 || has_value != (p->count > 0)) {
    return damaged("an optional has tensors if it has a value");
  }
  const int32_t count = p->count;
  rheos_tensor *tensor = NULL;
  p->count = 0;
  RHEOS_TRY(rheos__optional_take(p->tensors, has_value ? count : -1, &tensor));
  variant_out(tensor, out);
  return NULL;
}

// What the metadata of a list says, but for where nothing is held; `at` stands at the number of
// these.
static rheos_status *list_spec_of(rheos__wire at, rheos__list_spec *out_spec,
                                  uint64_t *out_missing) {
  uint64_t ignored, dtype, max_length;
  bool is_sound = rheos__read_varint(&at.at, at.end, out_missing);
  is_sound = is_sound && *out_missing <= rheos__wire_size(at);  // each takes a byte
  for (uint64_t i = 0; is_sound && i < *out_missing; ++i) {
    is_sound = rheos__read_varint(&at.at, at.end, &ignored);
  }
  is_sound = is_sound && rheos__read_varint(&at.at, at.end, &dtype) &&
             rheos__read_varint(&at.at, at.end, &max_length) && dtype <= INT32_MAX;
  if (!is_sound) return damaged("a list's metadata");
  out_spec->max_length = (int64_t)max_length;
  RHEOS_TRY(rheos__dtype_from_proto((int64_t)dtype, &out_spec->dtype));
  rheos__arena arena;
  rheos__arena_init(&arena);
  Tensorflow__TensorShapeProto *shape = NULL;
  rheos_status *status =
      RHEOS_PROTO_UNPACK(tensor_shape_proto, at.at, rheos__wire_size(at), &arena, &shape);
  if (status == NULL) status = rheos__shape_from_proto(shape, &out_spec->shape);
  rheos__arena_deinit(&arena);
  return status;
}

static rheos_status *check_item(const rheos__list_spec *spec, const rheos_tensor *item) {
  if (item->dtype == spec->dtype && rheos_shape_compatible(&spec->shape, &item->shape)) return NULL;
  return damaged("an element of a list has another dtype or shape than the list says");
}

// Puts the tensors where something is held. The places of the others are in their order.
static rheos_status *fill_list(rheos__wire at, uint64_t missing, parts *p, rheos__list *list) {
  const int64_t length = rheos__list_length(list);
  uint64_t left = missing, place = 0;
  int32_t next = 0;
  rheos__read_varint(&at.at, at.end, &place);  // how many there are
  if (left > 0) rheos__read_varint(&at.at, at.end, &place);
  for (int64_t i = 0; i < length; ++i) {
    if (left > 0 && place == (uint64_t)i) {
      if (--left > 0) rheos__read_varint(&at.at, at.end, &place);
    } else if (next == p->count) {
      return damaged("a list has fewer elements than it says");
    } else {
      RHEOS_TRY(check_item(rheos__list_spec_of(list), p->tensors[next]));
      rheos__list_fill_take(list, i, p->tensors[next]);
      p->tensors[next++] = NULL;
    }
  }
  return left == 0 ? NULL : damaged("a list has fewer elements than it says");
}

static rheos_status *take_list(parts *p, rheos__variant **out) {
  const rheos__wire metadata = rheos__wire_of(p->metadata.data, p->metadata.len);
  rheos__list_spec spec;
  uint64_t missing = 0;
  RHEOS_TRY(list_spec_of(metadata, &spec, &missing));
  rheos__list *list = NULL;
  RHEOS_TRY(rheos__list_new(&spec, p->count + (int64_t)missing, &list));
  rheos_status *status = fill_list(metadata, missing, p, list);
  if (status != NULL) {
    rheos__list_unref(list);
    return status;
  }
  rheos_tensor *tensor = NULL;
  RHEOS_TRY(rheos__list_tensor_take(list, &tensor));
  variant_out(tensor, out);
  return NULL;
}

static const struct {
  const char *name;
  rheos_status *(*take)(parts *p, rheos__variant **out);
} kinds[] = {
    {"tensorflow::Tensor", take_tensor},
    {"RaggedTensorVariant", take_ragged},
    {"tensorflow::data::Optional", take_optional},
    {"tensorflow::TensorList", take_list},
};

static rheos_status *tensor_of(const Tensorflow__TensorProto *proto, rheos__arena *arena,
                               int32_t depth, rheos_tensor **out_tensor);

static rheos_status *make_variant(const char *name, parts *p, rheos__variant **out) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    if (strcmp(kinds[i].name, name) == 0) return kinds[i].take(p, out);
  }
  return rheos_status_new(RHEOS_UNIMPLEMENTED, "variants of '%s' cannot be read from files", name);
}

static rheos_status *variant_of(const Tensorflow__VariantTensorDataProto *proto,
                                rheos__arena *arena, int32_t depth, rheos__variant **out) {
  *out = NULL;
  if (proto->type_name[0] == 0 && proto->n_tensors == 0) return NULL;
  if (depth > MOST_DEPTH || proto->n_tensors > INT32_MAX) return damaged("it is too deep");
  parts p = {.metadata = proto->metadata,
             .tensors = rheos__alloc_array(proto->n_tensors, sizeof *p.tensors)};
  rheos_status *status = p.tensors != NULL ? NULL : rheos__out_of_memory();
  for (size_t i = 0; status == NULL && i < proto->n_tensors; ++i) {
    status = tensor_of(proto->tensors[i], arena, depth + 1, &p.tensors[i]);
    if (status == NULL) ++p.count;
  }
  if (status == NULL) status = make_variant(proto->type_name, &p, out);
  if (p.tensors != NULL) rheos__element_clear(p.tensors, p.count);
  rheos__free(p.tensors);
  return status;
}

// The variants of a content: the sizes of all messages, then these.
static rheos_status *fill_from_content(const ProtobufCBinaryData *content, rheos__arena *arena,
                                       int32_t depth, rheos_tensor *tensor) {
  const char *sizes = (const char *)content->data, *end = sizes + content->len;
  const char *at = sizes;
  uint64_t size = 0;
  for (int64_t i = 0; i < tensor->num_elements; ++i) {
    if (!rheos__read_varint(&at, end, &size)) return damaged("the sizes are cut");
  }
  for (int64_t i = 0; i < tensor->num_elements; ++i) {
    Tensorflow__VariantTensorDataProto *proto = NULL;
    rheos__read_varint(&sizes, end, &size);
    if (size > (uint64_t)(end - at)) return damaged("it is cut");
    RHEOS_TRY(RHEOS_PROTO_UNPACK(variant_tensor_data_proto, at, (size_t)size, arena, &proto));
    RHEOS_TRY(variant_of(proto, arena, depth, (rheos__variant **)tensor->data + i));
    at += size;
  }
  return NULL;
}

static rheos_status *fill_variants(const Tensorflow__TensorProto *proto, rheos__arena *arena,
                                   int32_t depth, rheos_tensor *tensor) {
  if (proto->tensor_content.len > 0) {
    return fill_from_content(&proto->tensor_content, arena, depth, tensor);
  }
  for (int64_t i = 0; i < tensor->num_elements; ++i) {
    RHEOS_TRY(variant_of(proto->variant_val[i], arena, depth, (rheos__variant **)tensor->data + i));
  }
  return NULL;
}

static rheos_status *tensor_of(const Tensorflow__TensorProto *proto, rheos__arena *arena,
                               int32_t depth, rheos_tensor **out_tensor) {
  if (proto->dtype != (Tensorflow__DataType)RHEOS_VARIANT) {
    return rheos__tensor_from_proto(proto, out_tensor);
  }
  rheos_shape shape;
  RHEOS_TRY(rheos__shape_from_proto(proto->tensor_shape, &shape));
  const int64_t count = rheos_shape_num_elements(&shape);
  const bool has_content = proto->tensor_content.len > 0;
  if (count < 0 || (has_content ? (uint64_t)count > proto->tensor_content.len
                                : (uint64_t)count != proto->n_variant_val)) {
    return damaged("a tensor of variants holds another number of them than its shape says");
  }
  rheos_tensor *tensor = NULL;
  RHEOS_TRY(rheos__tensor_new(RHEOS_VARIANT, &shape, &tensor));
  rheos_status *status = fill_variants(proto, arena, depth, tensor);
  if (status == NULL) {
    *out_tensor = tensor;
  } else {
    rheos_tensor_unref(tensor);
  }
  return status;
}

rheos_status *rheos__tensor_message_parse(const char *bytes, size_t size_bytes,
                                          rheos_tensor **out_tensor) {
  *out_tensor = NULL;
  rheos__arena arena;
  rheos__arena_init(&arena);
  Tensorflow__TensorProto *proto = NULL;
  rheos_status *status = RHEOS_PROTO_UNPACK(tensor_proto, bytes, size_bytes, &arena, &proto);
  if (status == NULL) status = tensor_of(proto, &arena, 0, out_tensor);
  rheos__arena_deinit(&arena);
  return status;
}

rheos_status *rheos__variant_message_parse(const char *bytes, size_t size_bytes,
                                           rheos__variant **out_variant) {
  *out_variant = NULL;
  rheos__arena arena;
  rheos__arena_init(&arena);
  Tensorflow__VariantTensorDataProto *proto = NULL;
  rheos_status *status =
      RHEOS_PROTO_UNPACK(variant_tensor_data_proto, bytes, size_bytes, &arena, &proto);
  if (status == NULL) status = variant_of(proto, &arena, 0, out_variant);
  rheos__arena_deinit(&arena);
  return status;
}
