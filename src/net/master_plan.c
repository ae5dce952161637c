// Plans of a master: signatures of steps, and what became of the graph for them.
#include "net/master_session.h"

#include <stdio.h>

#include "base/hash.h"
#include "base/text.h"
#include "format/partition/graph_cut.h"
#include "net/methods.h"
#include "plan/entries/place.h"
#include "worker.pb-c.h"

// ---- Signatures

static void add_names(rheos__text *text, char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++) {
    rheos__text_add_string(text, names[i]);
    rheos__text_add(text, "\n", 1);
  }
  rheos__text_add(text, "\n", 1);
}

// No name has a line's end in it.
static char *signature_of(const rheos__master_run *run) {
  rheos__text text = {0};
  add_names(&text, run->feeds, run->num_feeds);
  add_names(&text, run->fetches, run->num_fetches);
  add_names(&text, run->targets, run->num_targets);
  if (!text.failed) return text.data;
  rheos__text_deinit(&text);
  return NULL;
}

// ---- What it asks for, in the graph

typedef struct asked {
  rheos__edge *feeds, *fetches;
  int32_t *targets;
  int16_t *device_of;
  rheos__cut_device *devices;
  rheos__cut_part *parts;
  rheos__arena arena;
} asked;

static rheos_status *find_edges(const rheos__master_session *session, char *const *names,
                                size_t count, const char *what, rheos__edge *edges) {
  for (size_t i = 0; i < count; i++) {
    rheos_output output;
    rheos_status *status =
        rheos__lowered_output(&session->lowered, session->graph, names[i], &output);
    if (status != NULL) {
      rheos_status *told = rheos_status_new(rheos_status_code(status), "%s %s: %s", what, names[i],
                                            rheos_status_message(status));
      rheos_status_free(status);
      return told;
    }
    edges[i] = (rheos__edge){output.id, output.index};
  }
  return NULL;
}

static rheos_status *find_targets(rheos_graph *graph, const rheos__master_run *run,
                                  int32_t *targets) {
  for (size_t i = 0; i < run->num_targets; i++) {
    const rheos_operation operation = rheos_graph_operation(graph, run->targets[i]);
    if (operation.graph == NULL) {
      return RHEOS_NOTFOUND("PruneForTargets: Some target nodes not found: %s", run->targets[i]);
    }
    targets[i] = operation.id;
  }
  return NULL;
}

// Each node once, when it is placed for the first time.
static rheos_status *log_new(const rheos__master_session *session, int32_t count) {
  for (int32_t i = session->num_placed; i < count; i++) {
    const rheos__node *node = rheos__graph_node(session->graph, i);
    char *name = rheos__node_name(session->graph, node);
    if (name == NULL) return rheos__out_of_memory();
    fprintf(stderr, "%s: (%s): %s\n", name, node->signature->op->name,
            session->devices[session->device_of[i]].device.name);
    rheos__free(name);
  }
  return NULL;
}

// What has state stays where it was placed first, however the graph grows.
static rheos_status *place(rheos__master_session *session, asked *a) {
  const int32_t count = rheos_graph_num_operations(session->graph);
  int16_t *device_of =
      rheos__realloc(session->device_of, ((size_t)count + 1) * sizeof *session->device_of);
  if (device_of == NULL) return rheos__out_of_memory();
  session->device_of = device_of;
  const rheos__device **devices = rheos__arena_alloc(
      &a->arena, ((size_t)session->num_devices + 1) * sizeof(const rheos__device *));
  if (devices == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < session->num_devices; i++) {
    devices[i] = &session->devices[i].device;
    a->devices[i] = (rheos__cut_device){.name = session->devices[i].device.name,
                                        .incarnation = session->devices[i].incarnation,
                                        .part = session->devices[i].task};
  }
  memcpy(a->device_of, device_of, (size_t)session->num_placed * sizeof *device_of);
  RHEOS_TRY(rheos__place_graph(session->graph, devices, session->num_devices,
                               session->allow_soft_placement, session->num_placed, a->device_of));
  memcpy(device_of, a->device_of, (size_t)count * sizeof *device_of);
  if (session->log_device_placement) RHEOS_TRY(log_new(session, count));
  session->num_placed = count;
  return NULL;
}

static rheos_status *ask(rheos__master_session *session, const rheos__master_run *run, asked *a) {
  rheos__arena *arena = &a->arena;
  const size_t num_nodes = (size_t)rheos_graph_num_operations(session->graph);
  const size_t num_tasks = (size_t)session->peers->cluster.num_tasks;
  a->feeds = rheos__arena_alloc(arena, (run->num_feeds + 1) * sizeof *a->feeds);
  a->fetches = rheos__arena_alloc(arena, (run->num_fetches + 1) * sizeof *a->fetches);
  a->targets = rheos__arena_alloc(arena, (run->num_targets + 1) * sizeof *a->targets);
  a->device_of = rheos__arena_alloc(arena, (num_nodes + 1) * sizeof *a->device_of);
  a->devices = rheos__arena_alloc(arena, ((size_t)session->num_devices + 1) * sizeof *a->devices);
  a->parts = rheos__arena_alloc_zeroed(arena, (num_tasks + 1) * sizeof *a->parts);
  if (a->feeds == NULL || a->fetches == NULL || a->targets == NULL || a->device_of == NULL ||
      a->devices == NULL || a->parts == NULL) {
    return rheos__out_of_memory();
  }
  RHEOS_TRY(find_edges(session, run->feeds, run->num_feeds, "feed", a->feeds));
  RHEOS_TRY(find_edges(session, run->fetches, run->num_fetches, "fetch", a->fetches));
  RHEOS_TRY(find_targets(session->graph, run, a->targets));
  return place(session, a);
}

static rheos_status *cut(const rheos__master_session *session, const rheos__master_run *run,
                         asked *a) {
  const rheos__cut wanted = {.feeds = a->feeds,
                             .fetches = a->fetches,
                             .targets = a->targets,
                             .num_feeds = (int32_t)run->num_feeds,
                             .num_fetches = (int32_t)run->num_fetches,
                             .num_targets = (int32_t)run->num_targets,
                             .devices = a->devices,
                             .num_devices = session->num_devices,
                             .num_parts = session->peers->cluster.num_tasks,
                             .device_of = a->device_of};
  return rheos__graph_cut(session->graph, &wanted, a->parts);
}

// ---- Parts

static rheos_status *register_there(const rheos__master_session *session,
                                    const rheos__cut_part *made, int64_t collective_key,
                                    rheos__master_part *part) {
  static const rheos__message_form form = {.descriptor =
                                               &tensorflow__register_graph_response__descriptor};
  const rheos__peer_options options = {.timeout_ms = session->timeout_ms};
  Tensorflow__RegisterGraphRequest fields = TENSORFLOW__REGISTER_GRAPH_REQUEST__INIT;
  Tensorflow__GraphOptions graph_options = TENSORFLOW__GRAPH_OPTIONS__INIT;
  rheos__message request = {0};
  rheos__received reply;
  fields.session_handle = (char *)(uintptr_t)session->handle;
  fields.create_worker_session_called = true;
  fields.graph_options = &graph_options;
  fields.collective_graph_key = collective_key;
  rheos__message_put(&request, &fields.base);
  rheos__message_put_bytes(&request, 2, made->graph_def, made->size_bytes);
  rheos_status *status =
      rheos__peers_call(session->peers, part->task, rheos__method_names[RHEOS__REGISTER_GRAPH],
                        &request, &options, NULL, NULL, &form, &reply);
  if (status == NULL) {
    const Tensorflow__RegisterGraphResponse *r = (const void *)reply.message;
    snprintf(part->graph, sizeof part->graph, "%s", r->graph_handle);
  }
  rheos__received_deinit(&reply);
  rheos__message_deinit(&request);
  return status;
}

static rheos_status *register_part(const rheos__master_session *session,
                                   const rheos__cut_part *made, int64_t collective_key,
                                   rheos__master_part *part) {
  if (part->task != session->own_task) return register_there(session, made, collective_key, part);
  return rheos__worker_register(session->worker, session->handle, made->graph_def, made->size_bytes,
                                part->graph);
}

static bool keep_ends(const rheos__part_end *ends, size_t count, int32_t **out_numbers,
                      char ***out_keys) {
  int32_t *numbers = *out_numbers = rheos__alloc_array(count + 1, sizeof *numbers);
  char **keys = *out_keys = rheos__alloc_array(count + 1, sizeof *keys);
  if (numbers == NULL || keys == NULL) return false;
  for (size_t i = 0; i < count; i++) {
    numbers[i] = ends[i].index;
    keys[i] = rheos__strdup(ends[i].key);
    if (keys[i] == NULL) return false;
  }
  return true;
}

static rheos_status *add_part(const rheos__master_session *session, const rheos__cut_part *made,
                              int32_t task, rheos__master_plan *plan) {
  rheos__master_part *part = &plan->parts[plan->num_parts++];
  *part = (rheos__master_part){
      .task = task, .num_feeds = made->num_feeds, .num_fetches = made->num_fetches};
  if (!keep_ends(made->feeds, made->num_feeds, &part->feeds, &part->feed_keys) ||
      !keep_ends(made->fetches, made->num_fetches, &part->fetches, &part->fetch_keys)) {
    return rheos__out_of_memory();
  }
  return register_part(session, made, plan->collective_key, part);
}

static bool has_nodes(const rheos__cut_part *part) { return part->num_nodes > 0; }

static rheos_status *fill_plan(rheos__master_session *session, const rheos__master_run *run,
                               asked *a, rheos__master_plan *plan) {
  const int32_t num_tasks = session->peers->cluster.num_tasks;
  plan->parts = rheos__alloc_array((size_t)num_tasks + 1, sizeof *plan->parts);
  if (plan->parts == NULL) return rheos__out_of_memory();
  RHEOS_TRY(ask(session, run, a));
  RHEOS_TRY(cut(session, run, a));
  rheos_status *status = NULL;
  for (int32_t i = 0; i < num_tasks && status == NULL; i++) {
    if (has_nodes(&a->parts[i])) status = add_part(session, &a->parts[i], i, plan);
  }
  for (int32_t i = 0; i < num_tasks; i++) rheos__cut_part_deinit(&a->parts[i]);
  return status;
}

// Without waiting for it: a worker that cannot be reached has no graphs.
static void deregister(const rheos__master_session *session, const rheos__master_part *part) {
  if (part->graph[0] == '\0') return;
  if (part->task == session->own_task) {
    rheos_status_free(rheos__worker_deregister(session->worker, part->graph));
    return;
  }
  Tensorflow__DeregisterGraphRequest fields = TENSORFLOW__DEREGISTER_GRAPH_REQUEST__INIT;
  fields.session_handle = (char *)(uintptr_t)session->handle;
  fields.graph_handle = (char *)(uintptr_t)part->graph;
  fields.create_worker_session_called = true;
  rheos__peers_tell(session->peers, part->task, rheos__method_names[RHEOS__DEREGISTER_GRAPH],
                    &fields.base);
}

static void ends_free(int32_t *numbers, char **keys, size_t count) {
  for (size_t i = 0; keys != NULL && i < count; i++) rheos__free(keys[i]);
  rheos__free(keys);
  rheos__free(numbers);
}

void rheos__master_plan_unref(rheos__master_session *session, rheos__master_plan *plan) {
  if (plan == NULL || atomic_fetch_sub(&plan->references, 1) != 1) return;
  for (int32_t i = 0; i < plan->num_parts; i++) {
    rheos__master_part *part = &plan->parts[i];
    deregister(session, part);
    ends_free(part->feeds, part->feed_keys, part->num_feeds);
    ends_free(part->fetches, part->fetch_keys, part->num_fetches);
  }
  rheos__free(plan->parts);
  rheos__free(plan->signature);
  rheos__free(plan);
}

// ---- Collectives

static bool is_collective(const rheos__node *node) {
  return strncmp(node->signature->op->name, "Collective", 10) == 0;
}

static bool has_keys(const rheos__node *node) {
  return is_collective(node) && rheos__attrs_find(node->attrs, "instance_key") != NULL;
}

static bool have_same_keys(const rheos__node *a, const rheos__node *b) {
  return has_keys(a) && has_keys(b) &&
         rheos__attr_int(a->attrs, "group_key") == rheos__attr_int(b->attrs, "group_key") &&
         rheos__attr_int(a->attrs, "instance_key") == rheos__attr_int(b->attrs, "instance_key");
}

// How many members the graph has of the node's instance; 0 if the node is not the first of them.
static int64_t count_members(const rheos_graph *graph, int32_t id) {
  const rheos__node *node = rheos__graph_node(graph, id);
  int64_t count = 0;
  for (int32_t i = 0; i < rheos_graph_num_operations(graph); i++) {
    if (!have_same_keys(node, rheos__graph_node(graph, i))) continue;
    if (i < id) return 0;
    count++;
  }
  return count;
}

// The key is the same for graphs with the same instances, in whatever order: a sum of numbers that
// stand for them.
static void find_collectives(const rheos_graph *graph, rheos__master_plan *plan) {
  uint64_t key = 0;
  bool has_any = false;
  for (int32_t i = 0; i < rheos_graph_num_operations(graph); i++) {
    const rheos__node *node = rheos__graph_node(graph, i);
    if (!is_collective(node)) continue;
    has_any = true;
    const int64_t count = count_members(graph, i);
    if (count == 0 || count >= rheos__attr_int(node->attrs, "group_size")) continue;
    const int64_t keys[] = {rheos__attr_int(node->attrs, "group_key"),
                            rheos__attr_int(node->attrs, "instance_key")};
    plan->is_shared = true;
    key += rheos__hash_bytes(0, keys, sizeof keys);
  }
  key &= INT64_MAX;
  plan->collective_key = key != 0 ? (int64_t)key : has_any ? 1 : 0;
}

static rheos_status *plan_new(rheos__master_session *session, const rheos__master_run *run,
                              char *signature, rheos__master_plan **out_plan) {
  rheos__master_plan *plan = rheos__alloc_zeroed(sizeof *plan);
  asked a = {0};
  if (plan == NULL) {
    rheos__free(signature);
    return rheos__out_of_memory();
  }
  atomic_init(&plan->references, 1);
  plan->signature = signature;
  plan->version = session->version;
  find_collectives(session->graph, plan);
  rheos__arena_init(&a.arena);
  rheos_status *status = fill_plan(session, run, &a, plan);
  rheos__arena_deinit(&a.arena);
  if (status == NULL) {
    *out_plan = plan;
  } else {
    rheos__master_plan_unref(session, plan);
  }
  return status;
}

// Borrowed from the session.
static rheos_status *find_or_make(rheos__master_session *session, const rheos__master_run *run,
                                  rheos__master_plan **out_plan) {
  char *signature = signature_of(run);
  if (signature == NULL) return rheos__out_of_memory();
  rheos__master_plan *plan = session->plans;
  while (plan != NULL && strcmp(plan->signature, signature) != 0) plan = plan->next;
  if (plan != NULL) {
    rheos__free(signature);
  } else {
    RHEOS_TRY(plan_new(session, run, signature, &plan));
    plan->next = session->plans;
    session->plans = plan;
  }
  *out_plan = plan;
  return NULL;
}

rheos_status *rheos__master_plan_get(rheos__master_session *session, const rheos__master_run *run,
                                     rheos__master_plan **out_plan) {
  rheos__master_plan *plan = run->plan;
  if (plan == NULL) RHEOS_TRY(find_or_make(session, run, &plan));
  atomic_fetch_add(&plan->references, 1);
  *out_plan = plan;
  return NULL;
}
