// Which messages can be read and written as text, and the public functions for it.
#include "format/message/text_format.h"

#include <rheos/format.h>

#include "api_def.pb-c.h"
#include "bundle.pb-c.h"
#include "config.pb-c.h"
#include "event.pb-c.h"
#include "meta_graph.pb-c.h"

// The messages that files hold, or Anys in them, and those that programs give to sessions.
static const ProtobufCMessageDescriptor *const types[] = {
    &tensorflow__graph_def__descriptor,
    &tensorflow__meta_graph_def__descriptor,
    &tensorflow__saved_model__descriptor,
    &tensorflow__node_def__descriptor,
    &tensorflow__attr_value__descriptor,
    &tensorflow__function_def_library__descriptor,
    &tensorflow__function_def__descriptor,
    &tensorflow__op_def__descriptor,
    &tensorflow__op_list__descriptor,
    &tensorflow__tensor_proto__descriptor,
    &tensorflow__tensor_shape_proto__descriptor,
    &tensorflow__saver_def__descriptor,
    &tensorflow__signature_def__descriptor,
    &tensorflow__tensor_info__descriptor,
    &tensorflow__collection_def__descriptor,
    &tensorflow__asset_file_def__descriptor,
    &tensorflow__variable_def__descriptor,
    &tensorflow__queue_runner_def__descriptor,
    &tensorflow__cond_context_def__descriptor,
    &tensorflow__while_context_def__descriptor,
    &tensorflow__trackable_object_graph__descriptor,
    &tensorflow__saved_object_graph__descriptor,
    &tensorflow__checkpoint_state__descriptor,
    &tensorflow__event__descriptor,
    &tensorflow__summary__descriptor,
    &tensorflow__config_proto__descriptor,
    &tensorflow__run_options__descriptor,
    &tensorflow__server_def__descriptor,
    &tensorflow__api_def__descriptor,
    &tensorflow__api_defs__descriptor,
};

const ProtobufCMessageDescriptor *rheos__message_type(const char *name, size_t name_bytes) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    const char *known[] = {types[i]->name, types[i]->short_name};
    for (int j = 0; j < 2; j++) {
      if (strlen(known[j]) == name_bytes && memcmp(known[j], name, name_bytes) == 0) {
        return types[i];
      }
    }
  }
  return NULL;
}

const ProtobufCMessageDescriptor *rheos__any_type(const char *url, size_t url_bytes) {
  const char *slash = url_bytes > 0 ? memrchr(url, '/', url_bytes) : NULL;
  return slash != NULL ? rheos__message_type(slash + 1, url_bytes - (size_t)(slash + 1 - url))
                       : NULL;
}

static rheos_status *find_type(const char *name, const ProtobufCMessageDescriptor **out_type) {
  *out_type = rheos__message_type(name, strlen(name));
  if (*out_type != NULL) return NULL;
  return RHEOS_INVALID("there is no message type '%s'", name);
}

// Gives the buffer's bytes away, followed by a NUL that does not count.
static rheos_status *give(rheos_status *status, rheos__buffer *buffer, char **out_data,
                          size_t *out_size_bytes) {
  rheos__buffer_put(buffer, "", 1);
  if (status == NULL && buffer->failed) status = rheos__out_of_memory();
  if (status != NULL) {
    rheos__buffer_deinit(buffer);
    return status;
  }
  *out_data = buffer->data;
  *out_size_bytes = buffer->size_bytes - 1;
  return NULL;
}

rheos_status *rheos_message_check(const char *type, const void *bytes, size_t size_bytes) {
  RHEOS_NEED(type);
  RHEOS_NEED_BYTES(bytes, size_bytes);
  const ProtobufCMessageDescriptor *descriptor;
  RHEOS_TRY(find_type(type, &descriptor));
  return rheos__proto_check(descriptor, size_bytes > 0 ? bytes : "", size_bytes);
}

rheos_status *rheos_message_to_text(const char *type, const void *bytes, size_t size_bytes,
                                    char **out_text, size_t *out_text_bytes) {
  RHEOS_OUT(out_text);
  RHEOS_OUT(out_text_bytes);
  RHEOS_NEED(type);
  RHEOS_NEED_BYTES(bytes, size_bytes);
  const ProtobufCMessageDescriptor *descriptor;
  RHEOS_TRY(find_type(type, &descriptor));
  rheos__arena arena;
  rheos__arena_init(&arena);
  rheos__buffer text = {0};
  ProtobufCMessage *message;
  rheos_status *status = rheos__proto_unpack(descriptor, bytes, size_bytes, &arena, &message);
  if (status == NULL) status = rheos__text_print(message, &text);
  rheos__arena_deinit(&arena);
  return give(status, &text, out_text, out_text_bytes);
}

rheos_status *rheos_message_from_text(const char *type, const char *text, size_t text_bytes,
                                      void **out_bytes, size_t *out_size_bytes) {
  RHEOS_OUT(out_bytes);
  RHEOS_OUT(out_size_bytes);
  RHEOS_NEED(type);
  RHEOS_NEED_BYTES(text, text_bytes);
  const ProtobufCMessageDescriptor *descriptor;
  RHEOS_TRY(find_type(type, &descriptor));
  rheos__buffer packed = {0};
  rheos_status *status = rheos__text_parse(descriptor, text, text_bytes, "text", &packed);
  char *data = NULL;
  status = give(status, &packed, &data, out_size_bytes);
  *out_bytes = data;
  return status;
}
