// The library, versions and unread fields that a graph keeps from files.
#include "format/graph/graph_extras.h"

#include "base/hash.h"
#include "codec/wire.h"
#include "format/graph/function_body.h"
#include "format/graph/function_export.h"
#include "format/message/same_message.h"

// Of the library in a GraphDef, of a function in a library.
enum { LIBRARY_FIELD = 2, FUNCTION_FIELD = 1 };

static void release(void *data) {
  rheos__graph_extras *extras = data;
  rheos__buffer_deinit(&extras->functions);
  rheos__buffer_deinit(&extras->library_rest);
  rheos__buffer_deinit(&extras->node_fields);
  rheos__buffer_deinit(&extras->graph_rest);
  rheos__free(extras->function_list);
  rheos__free(extras->function_slots);
  rheos__free(extras->node_list);
  rheos__free(extras->bad_consumers);
  rheos__free(extras);
}

// Appends the message's bytes to the buffer; `out_extra` says where they are.
static rheos_status *put(rheos__buffer *buffer, const ProtobufCMessage *message, int32_t id,
                         rheos__extra *out_extra) {
  *out_extra = (rheos__extra){.id = id, .at = buffer->size_bytes};
  rheos__proto_pack(message, buffer);
  if (!buffer->failed) {
    out_extra->size_bytes = buffer->size_bytes - out_extra->at;
    return NULL;
  }
  // The buffer takes nothing more once it has failed, but what it holds stays good.
  buffer->failed = false;
  buffer->size_bytes = out_extra->at;
  return rheos__out_of_memory();
}

// ---- The library

static bool is_removed(const rheos__extra *function) { return function->size_bytes == 0; }

// Where the function of that name is noted, or is to be.
static uint32_t *slot_of(const rheos__graph_extras *extras, const char *name) {
  const size_t mask = extras->num_function_slots - 1;
  size_t at = rheos__hash_bytes(0, name, strlen(name)) & mask;
  for (; extras->function_slots[at] != 0; at = (at + 1) & mask) {
    const rheos__extra *function = &extras->function_list[extras->function_slots[at] - 1];
    if (!is_removed(function) && strcmp(function->name, name) == 0) break;
  }
  return &extras->function_slots[at];
}

const rheos__extra *rheos__find_function(const rheos__graph_extras *extras, const char *name) {
  if (extras->num_function_slots == 0) return NULL;
  const uint32_t number = *slot_of(extras, name);
  return number != 0 ? &extras->function_list[number - 1] : NULL;
}

static void fill_slots(rheos__graph_extras *extras) {
  for (size_t i = 0; i < extras->num_functions; i++) {
    if (is_removed(&extras->function_list[i])) continue;
    *slot_of(extras, extras->function_list[i].name) = (uint32_t)i + 1;
  }
}

// Closes the gaps that removed functions left.
static void drop_removed(rheos__graph_extras *extras) {
  size_t kept = 0, size_bytes = 0;
  for (size_t i = 0; i < extras->num_functions; i++) {
    rheos__extra *function = &extras->function_list[i];
    if (is_removed(function)) continue;
    memmove(extras->functions.data + size_bytes, extras->functions.data + function->at,
            function->size_bytes);
    function->at = size_bytes;
    size_bytes += function->size_bytes;
    extras->function_list[kept++] = *function;
  }
  extras->functions.size_bytes = size_bytes;
  extras->num_functions = kept;
  extras->removed_bytes = 0;
  memset(extras->function_slots, 0, extras->num_function_slots * sizeof *extras->function_slots);
  fill_slots(extras);
}

// The bytes go when they are half of all, so that each costs little.
static void forget(rheos_graph *graph, const rheos__function *function) {
  rheos__graph_extras *extras = rheos__graph_format_slot(graph)->data;
  const uint32_t number = extras->num_function_slots > 0 ? *slot_of(extras, function->name) : 0;
  if (number == 0) return;
  rheos__extra *found = &extras->function_list[number - 1];
  extras->removed_bytes += found->size_bytes;
  found->size_bytes = 0;
  if (2 * extras->removed_bytes > extras->functions.size_bytes) drop_removed(extras);
}

// Room for one more function.
static rheos_status *reserve_function(rheos__graph_extras *extras) {
  const size_t count = extras->num_functions + 1;
  if (count >= UINT32_MAX) return RHEOS_INVALID("the graph's library has too many functions");
  if (!RHEOS_RESERVE(extras->function_list, extras->function_capacity, count)) {
    return rheos__out_of_memory();
  }
  if (2 * count <= extras->num_function_slots) return NULL;
  const size_t num_slots = extras->num_function_slots > 0 ? 2 * extras->num_function_slots : 64;
  uint32_t *slots = rheos__alloc_array(num_slots, sizeof *slots);
  if (slots == NULL) return rheos__out_of_memory();
  rheos__free(extras->function_slots);
  extras->function_slots = slots;
  extras->num_function_slots = num_slots;
  fill_slots(extras);
  return NULL;
}

rheos__graph_extras *rheos__graph_extras_of(rheos_graph *graph) {
  rheos__graph_slot *slot = rheos__graph_format_slot(graph);
  if (slot->data != NULL) return slot->data;
  rheos__graph_extras *extras = rheos__alloc_zeroed(sizeof *extras);
  if (extras == NULL) return NULL;
  extras->producer = RHEOS__GRAPH_PRODUCER;
  *slot = (rheos__graph_slot){.data = extras, .release = release, .forget = forget};
  return extras;
}

// Appends bytes; `out_extra` says where they are.
static rheos_status *put_bytes(rheos__buffer *buffer, rheos__wire bytes, rheos__extra *out_extra) {
  *out_extra = (rheos__extra){.at = buffer->size_bytes, .size_bytes = rheos__wire_size(bytes)};
  rheos__buffer_put(buffer, bytes.at, out_extra->size_bytes);
  if (!buffer->failed) return NULL;
  buffer->failed = false;
  return rheos__out_of_memory();
}

// Fails if two messages, both called that, are not the same function.
static rheos_status *check_same(const char *name, rheos_string known, rheos_string added) {
  bool is_same;
  RHEOS_TRY(rheos__is_same_message(&tensorflow__function_def__descriptor, known, added, &is_same));
  return is_same ? NULL : rheos__other_function(name);
}

// Of a function that the program made, which is compared as it would be written.
static rheos_status *check_same_as_made(const rheos__made_function *made, rheos_string added) {
  rheos__buffer own = {0};
  rheos_status *status = rheos__made_function_to_bytes(made, &own);
  if (status == NULL && own.failed) status = rheos__out_of_memory();
  if (status == NULL) {
    status = check_same(made->function.name, (rheos_string){own.data, own.size_bytes}, added);
  }
  rheos__buffer_deinit(&own);
  return status;
}

static rheos_status *add_function(rheos_graph *graph, rheos__graph_extras *extras,
                                  const Tensorflow__FunctionDef *def, rheos__wire bytes) {
  if (def->signature == NULL || def->signature->name[0] == '\0') {
    return RHEOS_INVALID("a function of the graph's library has no name");
  }
  const char *name = def->signature->name;
  rheos__buffer *buffer = &extras->functions;
  rheos__extra added;
  RHEOS_TRY(put_bytes(buffer, bytes, &added));
  const rheos__extra *old = rheos__find_function(extras, name);
  const rheos__made_function *made = rheos__library_find_made(graph, name);
  rheos_status *status = NULL;
  if (old != NULL) {
    status = check_same(name, (rheos_string){buffer->data + old->at, old->size_bytes},
                        (rheos_string){buffer->data + added.at, added.size_bytes});
  } else if (made != NULL) {
    status = check_same_as_made(made, (rheos_string){buffer->data + added.at, added.size_bytes});
  } else {
    status = reserve_function(extras);
    if (status == NULL) status = rheos__graph_add_function_op(graph, def->signature);
    if (status == NULL) {
      added.name = rheos__graph_signature(graph, name)->op->name;
      extras->function_list[extras->num_functions] = added;
      *slot_of(extras, added.name) = (uint32_t)++extras->num_functions;
    }
  }
  if (status != NULL || old != NULL || made != NULL) buffer->size_bytes = added.at;
  return status;
}

// The library's bytes are kept as they are.
rheos_status *rheos__graph_add_library(rheos_graph *graph, const Tensorflow__GraphDef *def,
                                       const void *bytes, size_t size_bytes) {
  if (def->library == NULL) return NULL;
  rheos__graph_extras *extras = rheos__graph_extras_of(graph);
  if (extras == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__graph_set_body_maker(graph, rheos__make_body_of_message));
  rheos__wire graph_wire = rheos__wire_of(bytes, size_bytes);
  rheos__wire_field field;
  bool sound;
  size_t next = 0;
  while (rheos__wire_next(&graph_wire, &field, &sound)) {
    if (field.number != LIBRARY_FIELD || field.type != RHEOS__WIRE_BYTES) continue;
    rheos__wire library = field.data;
    for (const char *start = library.at; rheos__wire_next(&library, &field, &sound);
         start = library.at) {
      rheos__extra unused;
      if (field.number != FUNCTION_FIELD || field.type != RHEOS__WIRE_BYTES) {
        RHEOS_TRY(put_bytes(&extras->library_rest, (rheos__wire){start, library.at}, &unused));
      } else if (next < def->library->n_function) {
        RHEOS_TRY(add_function(graph, extras, def->library->function[next++], field.data));
      }
    }
  }
  for (size_t i = 0; i < def->library->n_gradient; i++) {
    const Tensorflow__GradientDef *said = def->library->gradient[i];
    RHEOS_TRY(rheos__library_set_gradient(graph, said->function_name, said->gradient_func, false));
  }
  return NULL;
}

// ---- Versions

rheos_status *rheos__graph_add_versions(rheos_graph *graph,
                                        const Tensorflow__VersionDef *versions) {
  rheos__graph_extras *extras = rheos__graph_extras_of(graph);
  if (extras == NULL) return rheos__out_of_memory();
  if (versions->producer < extras->producer) extras->producer = versions->producer;
  if (versions->min_consumer > extras->min_consumer) extras->min_consumer = versions->min_consumer;
  for (size_t i = 0; i < versions->n_bad_consumers; i++) {
    size_t known = 0;
    while (known < extras->num_bad_consumers &&
           extras->bad_consumers[known] != versions->bad_consumers[i]) {
      known++;
    }
    if (known < extras->num_bad_consumers) continue;
    if (!RHEOS_RESERVE(extras->bad_consumers, extras->bad_consumer_capacity, known + 1)) {
      return rheos__out_of_memory();
    }
    extras->bad_consumers[extras->num_bad_consumers++] = versions->bad_consumers[i];
  }
  return NULL;
}

// ---- Unread fields

rheos_status *rheos__graph_keep_node_fields(rheos_graph *graph, int32_t id,
                                            const Tensorflow__NodeDef *def) {
  if (def->experimental_debug_info == NULL && def->experimental_type == NULL &&
      def->base.n_unknown_fields == 0) {
    return NULL;
  }
  rheos__graph_extras *extras = rheos__graph_extras_of(graph);
  if (extras == NULL ||
      !RHEOS_RESERVE(extras->node_list, extras->node_capacity, extras->num_nodes + 1)) {
    return rheos__out_of_memory();
  }
  Tensorflow__NodeDef rest = *def;
  rest.name = rest.op = rest.device = (char *)(uintptr_t)protobuf_c_empty_string;
  rest.n_input = rest.n_attr = 0;
  RHEOS_TRY(put(&extras->node_fields, &rest.base, id, &extras->node_list[extras->num_nodes]));
  extras->num_nodes++;
  return NULL;
}

const void *rheos__graph_node_fields(const rheos__graph_extras *extras, int32_t id,
                                     size_t *out_size_bytes) {
  size_t first = 0, last = extras != NULL ? extras->num_nodes : 0;
  while (first < last) {
    const size_t middle = first + (last - first) / 2;
    if (extras->node_list[middle].id < id) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  *out_size_bytes = 0;
  if (extras == NULL || first == extras->num_nodes || extras->node_list[first].id != id) return "";
  *out_size_bytes = extras->node_list[first].size_bytes;
  return extras->node_fields.data + extras->node_list[first].at;
}

rheos_status *rheos__graph_keep_fields(rheos_graph *graph, const Tensorflow__GraphDef *def) {
  if (def->debug_info == NULL && def->base.n_unknown_fields == 0) return NULL;
  rheos__graph_extras *extras = rheos__graph_extras_of(graph);
  if (extras == NULL) return rheos__out_of_memory();
  Tensorflow__GraphDef rest = *def;
  rest.n_node = 0;
  rest.library = NULL;
  rest.version = 0;
  rest.versions = NULL;
  rheos__extra unused;
  return put(&extras->graph_rest, &rest.base, 0, &unused);
}
