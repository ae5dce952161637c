// Sessions, whole runs and runs in parts, SavedModels, lists of devices.
#include "handles.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct TF_Session {
  TF_Graph *graph;
  rheos_session *session;
  rheos_saved_model *model;  // whose session it is, or NULL
  int64_t timeout_ms;        // of runs that say nothing else; 0: none
  atomic_bool is_closed;
};

// ---- Options

TF_SessionOptions *TF_NewSessionOptions(void) { return calloc(1, sizeof(TF_SessionOptions)); }

void TF_SetTarget(TF_SessionOptions *options, const char *target) {
  if (options == NULL) return;
  char *copy = target == NULL ? NULL : strdup(target);
  free(options->target);
  options->target = copy;
}

void TF_SetConfig(TF_SessionOptions *options, const void *proto, size_t proto_len,
                  TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(options, "the options", status)) return;
  rheos_status *error = proto == NULL && proto_len > 0
                            ? rheos_status_new(RHEOS_INVALID_ARGUMENT, "the message is NULL")
                            : rheos_message_check("ConfigProto", proto, proto_len);
  if (error != NULL) {
    rheos_status_free(error);
    capi_fail(status, TF_INVALID_ARGUMENT, "Unparseable ConfigProto");
    return;
  }
  void *copy = malloc(proto_len == 0 ? 1 : proto_len);
  if (copy == NULL) {
    capi_fail_for_memory(status);
    return;
  }
  if (proto_len > 0) memcpy(copy, proto, proto_len);
  free(options->config);
  options->config = copy;
  options->config_bytes = proto_len;
}

void TF_DeleteSessionOptions(TF_SessionOptions *options) {
  if (options == NULL) return;
  free(options->target);
  free(options->config);
  free(options);
}

static int32_t small(uint64_t value) {
  int64_t number = (int64_t)value;
  return number < 0 || number > INT32_MAX ? 0 : (int32_t)number;
}

// The number of a device type in ConfigProto.device_count, a map: key 1, value 2.
static void read_device_count(capi_wire entry, rheos_session_options *options) {
  capi_wire key = {0};
  if (!capi_wire_find(entry, 1, &key) || capi_wire_size(key) != 3 ||
      memcmp(key.at, "CPU", 3) != 0) {
    return;
  }
  for (capi_field field; capi_wire_next(&entry, &field);) {
    if (field.number == 2) options->num_cpu_devices = small(field.value);
  }
}

rheos_session_options capi_session_options(const TF_SessionOptions *from, int64_t *out_timeout_ms) {
  rheos_session_options options = {.feeds_any_shape = true};
  *out_timeout_ms = 0;
  if (from == NULL) return options;
  options.target = from->target;
  options.config = from->config;
  options.config_bytes = from->config_bytes;
  capi_wire wire = capi_wire_of(from->config, from->config_bytes);
  for (capi_field field; capi_wire_next(&wire, &field);) {
    switch (field.number) {
      case 1: read_device_count(field.bytes, &options); break;
      case 2: options.num_threads = small(field.value); break;
      case 5: options.num_threads_between_ops = small(field.value); break;
      case 7: options.allow_soft_placement = field.value != 0; break;
      case 8: options.log_device_placement = field.value != 0; break;
      case 11: *out_timeout_ms = (int64_t)field.value; break;
      default: break;
    }
  }
  return options;
}

rheos_status *capi_session_cards(const TF_SessionOptions *from, rheos_session_options *options,
                                 rheos_gpu_device **out_cards) {
  *out_cards = NULL;
  if (from == NULL || from->config == NULL || (from->target != NULL && from->target[0] != '\0')) {
    return NULL;
  }
  size_t count;
  rheos_status *error =
      rheos_gpu_devices_from_config(from->config, from->config_bytes, out_cards, &count);
  options->num_gpu_devices = (int32_t)count;
  options->gpu_devices = *out_cards;
  return error;
}

// ---- Their lives

TF_Session *TF_NewSession(TF_Graph *graph, const TF_SessionOptions *opts, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(graph, "the graph", status)) return NULL;
  TF_Session *session = calloc(1, sizeof *session);
  if (session == NULL) {
    capi_fail_for_memory(status);
    return NULL;
  }
  rheos_session_options options = capi_session_options(opts, &session->timeout_ms);
  rheos_gpu_device *cards;
  rheos_status *error = capi_session_cards(opts, &options, &cards);
  if (error == NULL) error = rheos_session_new(graph->graph, &options, &session->session);
  rheos_free(cards);
  if (!capi_take(status, error)) {
    free(session);
    return NULL;
  }
  session->graph = graph;
  capi_graph_use(graph);
  return session;
}

void TF_CloseSession(TF_Session *session, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(session, "the session", status)) return;
  atomic_store(&session->is_closed, true);
  rheos_session_close(session->session);
}

void TF_DeleteSession(TF_Session *session, TF_Status *status) {
  capi_succeed(status);
  if (session == NULL) return;
  if (session->model != NULL) {
    rheos_saved_model_free(session->model);
  } else {
    rheos_session_free(session->session);
  }
  capi_graph_leave(session->graph);
  free(session);
}

void TF_ExtendSession(TF_Session *session, TF_Status *status) {
  capi_succeed(status);  // a run sees what the graph has got
  capi_need(session, "the session", status);
}

// ---- SavedModels

// Whether a MetaGraphDef has exactly these tags: its field 1 is a MetaInfoDef, whose field 4 they
// are.
static bool has_tags(capi_wire meta_graph, const char *const *tags, int tags_len) {
  capi_wire info = {0};
  int count = 0;
  capi_wire_find(meta_graph, 1, &info);
  for (capi_field field; capi_wire_next(&info, &field);) {
    if (field.number != 4) continue;
    bool is_asked = false;
    for (int i = 0; i < tags_len; i++) {
      size_t length = strlen(tags[i]);
      is_asked |=
          length == capi_wire_size(field.bytes) && memcmp(tags[i], field.bytes.at, length) == 0;
    }
    if (!is_asked) return false;
    count++;
  }
  return count == tags_len;
}

// All bytes of a file, of malloc(); NULL if there is none.
static void *read_file(const char *folder, const char *name, size_t *out_size) {
  char *path = NULL;
  void *bytes = NULL;
  long size = -1;
  if (asprintf(&path, "%s/%s", folder, name) < 0) return NULL;
  FILE *file = fopen(path, "rb");
  free(path);
  if (file == NULL) return NULL;
  if (fseek(file, 0, SEEK_END) == 0) size = ftell(file);
  if (size >= 0 && fseek(file, 0, SEEK_SET) == 0) bytes = malloc((size_t)size + 1);
  if (bytes != NULL && fread(bytes, 1, (size_t)size, file) != (size_t)size) {
    free(bytes);
    bytes = NULL;
  }
  fclose(file);
  *out_size = size < 0 ? 0 : (size_t)size;
  return bytes;
}

// The MetaGraphDef with the tags, as the file has it: SavedModel's field 2.
static void copy_meta_graph(const char *folder, const char *const *tags, int tags_len,
                            TF_Buffer *to, TF_Status *status) {
  size_t size = 0;
  void *message = NULL;
  size_t message_size = 0;
  void *bytes = read_file(folder, "saved_model.pb", &size);
  if (bytes == NULL) {
    bytes = read_file(folder, "saved_model.pbtxt", &size);
    if (bytes == NULL) {
      capi_fail(status, TF_NOT_FOUND, "%s has no SavedModel any more", folder);
      return;
    }
    rheos_status *error =
        rheos_message_from_text("SavedModel", bytes, size, &message, &message_size);
    if (!capi_take(status, error)) {
      free(bytes);
      return;
    }
  }
  capi_wire wire =
      message != NULL ? capi_wire_of(message, message_size) : capi_wire_of(bytes, size);
  for (capi_field field; capi_wire_next(&wire, &field);) {
    if (field.number != 2 || !has_tags(field.bytes, tags, tags_len)) continue;
    capi_buffer_copy(to, field.bytes.at, capi_wire_size(field.bytes), status);
    break;
  }
  rheos_free(message);
  free(bytes);
}

// Whether the folder has the file of a SavedModel. If not, says so in the words that programs look
// for.
static bool need_saved_model(const char *export_dir, TF_Status *status) {
  static const char *const names[] = {"saved_model.pb", "saved_model.pbtxt"};
  char path[PATH_MAX];
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const int length = snprintf(path, sizeof path, "%s/%s", export_dir, names[i]);
    if (length < 0 || (size_t)length >= sizeof path || access(path, F_OK) == 0) return true;
  }
  capi_fail(status, TF_NOT_FOUND,
            "Could not find SavedModel .pb or .pbtxt at supplied export directory path: %s",
            export_dir);
  return false;
}

TF_Session *TF_LoadSessionFromSavedModel(const TF_SessionOptions *session_options,
                                         const TF_Buffer *run_options, const char *export_dir,
                                         const char *const *tags, int tags_len, TF_Graph *graph,
                                         TF_Buffer *meta_graph_def, TF_Status *status) {
  (void)run_options;
  capi_succeed(status);
  if (!capi_need(graph, "the graph", status) || !capi_need(export_dir, "the folder", status)) {
    return NULL;
  }
  if (tags_len < 0 || (tags_len > 0 && !capi_need(tags, "the list of tags", status))) {
    if (tags_len < 0) capi_fail(status, TF_INVALID_ARGUMENT, "there are %d tags", tags_len);
    return NULL;
  }
  for (int i = 0; i < tags_len; i++) {
    if (!capi_need(tags[i], "a tag", status)) return NULL;
  }
  if (meta_graph_def != NULL && meta_graph_def->data != NULL) {
    capi_fail(status, TF_INVALID_ARGUMENT, "Passing non-empty TF_Buffer is invalid.");
    return NULL;
  }
  if (!need_saved_model(export_dir, status)) return NULL;
  TF_Session *session = calloc(1, sizeof *session);
  if (session == NULL) {
    capi_fail_for_memory(status);
    return NULL;
  }
  rheos_session_options options = capi_session_options(session_options, &session->timeout_ms);
  rheos_saved_model_options model_options = {.session = &options};
  rheos_gpu_device *cards;
  rheos_status *error = capi_session_cards(session_options, &options, &cards);
  pthread_mutex_lock(&graph->lock);
  if (error == NULL && rheos_graph_num_operations(graph->graph) > 0) {
    error = rheos_status_new(RHEOS_INVALID_ARGUMENT, "Graph is non-empty.");
  }
  if (error == NULL) {
    error =
        rheos_saved_model_load(export_dir, tags, (size_t)tags_len, &model_options, &session->model);
  }
  if (error == NULL) error = capi_graph_replace(graph, rheos_saved_model_graph(session->model));
  pthread_mutex_unlock(&graph->lock);
  rheos_free(cards);
  if (capi_take(status, error) && meta_graph_def != NULL) {
    copy_meta_graph(export_dir, tags, tags_len, meta_graph_def, status);
  }
  if (error != NULL) {
    rheos_saved_model_free(session->model);
    free(session);
    return NULL;
  }
  session->graph = graph;
  session->session = rheos_saved_model_session(session->model);
  capi_graph_use(graph);
  return session;
}

// ---- Runs

enum { FEW = 16 };

// What a run is given, as Rheos takes it.
typedef struct run {
  rheos_feed *feeds;
  size_t num_feeds;
  rheos_fetch *fetches;
  size_t num_fetches;
  rheos_operation *targets;
  size_t num_targets;
  rheos_feed few_feeds[FEW];
  rheos_fetch few_fetches[FEW];
  rheos_operation few_targets[FEW];
  void *many;  // instead of the few
} run;

static void end_run(run *r) {
  for (size_t i = 0; i < r->num_feeds; i++) rheos_tensor_unref(r->feeds[i].value);
  for (size_t i = 0; i < r->num_fetches; i++) rheos_tensor_unref(r->fetches[i].value);
  free(r->many);
}

static bool make_room(run *r, size_t inputs, size_t outputs, size_t targets, TF_Status *status) {
  r->num_feeds = r->num_fetches = r->num_targets = 0;
  r->feeds = r->few_feeds;
  r->fetches = r->few_fetches;
  r->targets = r->few_targets;
  r->many = NULL;
  if (inputs <= FEW && outputs <= FEW && targets <= FEW) return true;
  size_t feed_bytes = inputs * sizeof *r->feeds, fetch_bytes = outputs * sizeof *r->fetches;
  r->many = malloc(feed_bytes + fetch_bytes + targets * sizeof *r->targets);
  if (r->many == NULL) {
    capi_fail_for_memory(status);
    return false;
  }
  r->feeds = r->many;
  r->fetches = (rheos_fetch *)((char *)r->many + feed_bytes);
  r->targets = (rheos_operation *)((char *)r->many + feed_bytes + fetch_bytes);
  return true;
}

static bool are_counts(int inputs, int outputs, int targets, TF_Status *status) {
  if (inputs >= 0 && outputs >= 0 && targets >= 0) return true;
  capi_fail(status, TF_INVALID_ARGUMENT, "there are %d inputs, %d outputs and %d targets", inputs,
            outputs, targets);
  return false;
}

// The inputs have no values where a run in parts is set up: `values` NULL.
static bool begin_run(TF_Session *session, const TF_Output *inputs, TF_Tensor *const *values,
                      bool has_values, int ninputs, const TF_Output *outputs, int noutputs,
                      const TF_Operation *const *targets, int ntargets, run *r, TF_Status *status) {
  if (!capi_need(session, "the session", status) ||
      !are_counts(ninputs, noutputs, ntargets, status) ||
      (ninputs > 0 && !capi_need(inputs, "the list of inputs", status)) ||
      (ninputs > 0 && has_values && !capi_need(values, "the list of input values", status)) ||
      (noutputs > 0 && !capi_need(outputs, "the list of outputs", status)) ||
      (ntargets > 0 && !capi_need(targets, "the list of targets", status)) ||
      !make_room(r, (size_t)ninputs, (size_t)noutputs, (size_t)ntargets, status)) {
    return false;
  }
  if (atomic_load(&session->is_closed)) {
    capi_fail(status, TF_CANCELLED, "Session has been closed.");
    end_run(r);
    return false;
  }
  TF_Graph *graph = session->graph;
  for (int i = 0; i < ninputs; i++) {
    rheos_feed *feed = &r->feeds[i];
    bool is_given = capi_output_get(graph, inputs[i], &feed->output, status);
    feed->value = NULL;
    if (is_given && has_values) {
      is_given = capi_take(status, capi_tensor_value(values[i], &feed->value));
    }
    if (!is_given) {
      end_run(r);
      return false;
    }
    r->num_feeds++;
  }
  for (int i = 0; i < noutputs; i++) {
    r->fetches[i].value = NULL;
    if (!capi_output_get(graph, outputs[i], &r->fetches[i].output, status)) {
      end_run(r);
      return false;
    }
    r->num_fetches++;
  }
  for (int i = 0; i < ntargets; i++) {
    if (targets[i] == NULL || targets[i]->graph != graph) {
      capi_fail(status, TF_INVALID_ARGUMENT, "target %d is no operation of the session's graph", i);
      end_run(r);
      return false;
    }
    r->targets[r->num_targets++] = capi_operation_of(targets[i]);
  }
  return true;
}

static void clear_values(TF_Tensor **values, int count) {
  for (int i = 0; values != NULL && i < count; i++) values[i] = NULL;
}

// Gives the fetched values; none after a failure.
static void give_values(const run *r, TF_Tensor **values, TF_Status *status) {
  for (size_t i = 0; i < r->num_fetches; i++) {
    if (capi_take(status, capi_tensor_of(r->fetches[i].value, &values[i]))) continue;
    for (size_t k = 0; k < i; k++) {
      TF_DeleteTensor(values[k]);
      values[k] = NULL;
    }
    return;
  }
}

// Reads a RunOptions: 1 is the trace level, 2 the timeout, 5 asks for the graphs that were run.
static bool read_run_options(const TF_Buffer *buffer, rheos_run_options *options, uint32_t *trace,
                             TF_Status *status) {
  if (buffer == NULL) return true;
  rheos_status *error = buffer->data == NULL && buffer->length > 0
                            ? rheos_status_new(RHEOS_INVALID_ARGUMENT, "the message is NULL")
                            : rheos_message_check("RunOptions", buffer->data, buffer->length);
  if (error != NULL) {
    rheos_status_free(error);
    capi_fail(status, TF_INVALID_ARGUMENT, "Unparseable RunOptions proto");
    return false;
  }
  capi_wire wire = capi_wire_of(buffer->data, buffer->length);
  for (capi_field field; capi_wire_next(&wire, &field);) {
    if (field.number == 1 && field.value != 0) *trace |= RHEOS_TRACE_STEPS;
    if (field.number == 2) options->timeout_ms = (int64_t)field.value;
    if (field.number == 5 && field.value != 0) *trace |= RHEOS_TRACE_PARTITION_GRAPHS;
  }
  return true;
}

static void give_metadata(const rheos_trace *trace, TF_Buffer *to, TF_Status *status) {
  void *bytes = NULL;
  size_t size = 0;
  if (trace == NULL) {
    capi_buffer_copy(to, "", 0, status);
  } else if (capi_take(status, rheos_trace_to_run_metadata(trace, &bytes, &size))) {
    capi_buffer_take(to, bytes, size, status);
  }
}

void TF_SessionRun(TF_Session *session, const TF_Buffer *run_options, const TF_Output *inputs,
                   TF_Tensor *const *input_values, int ninputs, const TF_Output *outputs,
                   TF_Tensor **output_values, int noutputs, const TF_Operation *const *target_opers,
                   int ntargets, TF_Buffer *run_metadata, TF_Status *status) {
  run r;
  uint32_t what = 0;
  rheos_run_options options = {0};
  capi_succeed(status);
  clear_values(output_values, noutputs);
  if (run_metadata != NULL && run_metadata->data != NULL) {
    capi_fail(status, TF_INVALID_ARGUMENT, "Passing non-empty run_metadata is invalid.");
    return;
  }
  if (noutputs > 0 && !capi_need(output_values, "the list of output values", status)) return;
  if (!read_run_options(run_options, &options, &what, status) ||
      !begin_run(session, inputs, input_values, true, ninputs, outputs, noutputs, target_opers,
                 ntargets, &r, status)) {
    return;
  }
  if (noutputs == 0 && ntargets == 0) {
    capi_fail(status, TF_INVALID_ARGUMENT, "Must specify at least one target to fetch or execute.");
    end_run(&r);
    return;
  }
  if (options.timeout_ms == 0) options.timeout_ms = session->timeout_ms;
  if (what != 0 && run_metadata != NULL) options.trace = rheos_trace_new(what);
  rheos_status *error = rheos_session_run(session->session, r.feeds, r.num_feeds, r.fetches,
                                          r.num_fetches, r.targets, r.num_targets, &options);
  if (capi_take(status, error)) {
    give_values(&r, output_values, status);
    if (run_metadata != NULL) give_metadata(options.trace, run_metadata, status);
  }
  rheos_trace_free(options.trace);
  end_run(&r);
}

// ---- Runs in parts. A handle is the number as text.

void TF_SessionPRunSetup(TF_Session *session, const TF_Output *inputs, int ninputs,
                         const TF_Output *outputs, int noutputs,
                         const TF_Operation *const *target_opers, int ntargets, const char **handle,
                         TF_Status *status) {
  run r;
  int64_t number = 0;
  capi_succeed(status);
  if (!capi_need(handle, "the handle", status)) return;
  *handle = NULL;
  if (!begin_run(session, inputs, NULL, false, ninputs, outputs, noutputs, target_opers, ntargets,
                 &r, status)) {
    return;
  }
  size_t count = r.num_feeds + r.num_fetches;
  rheos_output *named = calloc(count == 0 ? 1 : count, sizeof *named);
  char *text = NULL;
  if (named == NULL) {
    capi_fail_for_memory(status);
  } else {
    for (size_t i = 0; i < r.num_feeds; i++) named[i] = r.feeds[i].output;
    for (size_t i = 0; i < r.num_fetches; i++) named[r.num_feeds + i] = r.fetches[i].output;
    rheos_status *error =
        rheos_session_partial_setup(session->session, named, r.num_feeds, named + r.num_feeds,
                                    r.num_fetches, r.targets, r.num_targets, &number);
    if (capi_take(status, error) && asprintf(&text, "%lld", (long long)number) < 0) {
      rheos_session_partial_end(session->session, number);
      text = NULL;
      capi_fail_for_memory(status);
    }
    *handle = text;
  }
  free(named);
  end_run(&r);
}

void TF_SessionPRun(TF_Session *session, const char *handle, const TF_Output *inputs,
                    TF_Tensor *const *input_values, int ninputs, const TF_Output *outputs,
                    TF_Tensor **output_values, int noutputs,
                    const TF_Operation *const *target_opers, int ntargets, TF_Status *status) {
  run r;
  rheos_run_options options = {0};
  capi_succeed(status);
  clear_values(output_values, noutputs);
  if (!capi_need(handle, "the handle", status)) return;
  if (noutputs > 0 && !capi_need(output_values, "the list of output values", status)) return;
  // Targets run in the first part that has all they need, named here or not.
  if (!begin_run(session, inputs, input_values, true, ninputs, outputs, noutputs, target_opers,
                 ntargets, &r, status)) {
    return;
  }
  rheos_status *error =
      rheos_session_partial_run(session->session, strtoll(handle, NULL, 10), r.feeds, r.num_feeds,
                                r.fetches, r.num_fetches, &options);
  if (capi_take(status, error)) give_values(&r, output_values, status);
  end_run(&r);
}

void TF_DeletePRunHandle(const char *handle) { free((char *)(uintptr_t)handle); }

// ---- Devices

struct TF_DeviceList {
  capi_pool pool;
  rheos_device_attributes *devices;
  int count;
};

void TF_DeleteDeviceList(TF_DeviceList *list) {
  if (list == NULL) return;
  capi_pool_free(&list->pool);
  free(list);
}

TF_DeviceList *capi_device_list(const rheos_device_attributes *devices, size_t count,
                                TF_Status *status) {
  TF_DeviceList *list = calloc(1, sizeof *list);
  bool is_whole = list != NULL;
  if (list != NULL) {
    list->devices = capi_pool_copy(&list->pool, devices, count * sizeof *devices);
    is_whole = list->devices != NULL;
  }
  for (size_t i = 0; is_whole && i < count; i++) {
    rheos_device_attributes *device = &list->devices[i];
    device->name = capi_pool_text(&list->pool, device->name, strlen(device->name));
    device->type = capi_pool_text(&list->pool, device->type, strlen(device->type));
    is_whole = device->name != NULL && device->type != NULL;
  }
  if (!is_whole) {
    TF_DeleteDeviceList(list);
    capi_fail_for_memory(status);
    return NULL;
  }
  list->count = (int)count;
  return list;
}

TF_DeviceList *TF_SessionListDevices(TF_Session *session, TF_Status *status) {
  const rheos_device_attributes *devices;
  size_t count;
  capi_succeed(status);
  if (!capi_need(session, "the session", status) ||
      !capi_take(status, rheos_session_list_devices(session->session, &devices, &count))) {
    return NULL;
  }
  return capi_device_list(devices, count, status);
}

int TF_DeviceListCount(const TF_DeviceList *list) { return list == NULL ? 0 : list->count; }

static const rheos_device_attributes *device_at(const TF_DeviceList *list, int index,
                                                TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(list, "list", status)) return NULL;
  if (index >= 0 && index < list->count) return &list->devices[index];
  capi_fail(status, TF_INVALID_ARGUMENT, "index out of bounds");
  return NULL;
}

const char *TF_DeviceListName(const TF_DeviceList *list, int index, TF_Status *status) {
  const rheos_device_attributes *device = device_at(list, index, status);
  return device == NULL ? NULL : device->name;
}

const char *TF_DeviceListType(const TF_DeviceList *list, int index, TF_Status *status) {
  const rheos_device_attributes *device = device_at(list, index, status);
  return device == NULL ? NULL : device->type;
}

int64_t TF_DeviceListMemoryBytes(const TF_DeviceList *list, int index, TF_Status *status) {
  const rheos_device_attributes *device = device_at(list, index, status);
  return device == NULL ? -1 : device->memory_limit_bytes;
}

uint64_t TF_DeviceListIncarnation(const TF_DeviceList *list, int index, TF_Status *status) {
  const rheos_device_attributes *device = device_at(list, index, status);
  return device == NULL ? 0 : device->incarnation;
}
