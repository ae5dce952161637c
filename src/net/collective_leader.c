#include "net/collective_leader.h"

#include "base/alloc.h"
#include "format/message/tensor_proto.h"
#include "net/methods.h"

typedef struct asked {
  rheos__group_call link;
  _Atomic int32_t references;  // whoever asks, and whoever takes the reply
  rheos__groups *groups;
  rheos__collective what;  // whose device is its own
  rheos__group_fn group_told;
  rheos__source_fn source_told;
  void *argument;
} asked;

enum { LEADER_MS = 300000 };  // that the leader may be late when the tasks start

static const rheos__peer_options asks_at_once = {.waits = false};

static void asked_unref(asked *a) {
  if (atomic_fetch_sub(&a->references, 1) != 1) return;
  if (a->link.call != NULL) rheos__peer_call_forget(a->link.call);
  rheos__free((char *)(uintptr_t)a->what.device);
  rheos__free(a);
}

static asked *asked_new(rheos__groups *groups, const rheos__collective *what, void *argument) {
  asked *a = rheos__alloc_zeroed(sizeof *a);
  if (a == NULL) return NULL;
  atomic_init(&a->references, 1);
  a->groups = groups;
  a->what = *what;
  a->argument = argument;
  a->what.device = rheos__strdup(what->device);
  if (a->what.device != NULL) return a;
  rheos__free(a);
  return NULL;
}

// ---- Groups

static rheos_status *take_group(asked *a, rheos__chunks chunks, const rheos__task_group **out_g) {
  static const rheos__message_form form = {.descriptor =
                                               &tensorflow__complete_group_response__descriptor};
  rheos__received received;
  rheos_status *status = rheos__receive_message(&form, chunks, &received);
  if (status == NULL) {
    const Tensorflow__CompleteGroupResponse *reply = (void *)received.message;
    status = reply->group_key != a->what.group_key
                 ? RHEOS_INVALID("another group was told of than the one asked for")
                 : rheos__groups_keep(a->groups, reply, out_g);
  }
  rheos__received_deinit(&received);
  return status;
}

static rheos_status *check_member(const rheos__task_group *g, const rheos__collective *what) {
  if (g->size != what->group_size) {
    return rheos_status_new(RHEOS_INTERNAL, "the group of key %d has size %d, not %d", (int)g->key,
                            (int)g->size, (int)what->group_size);
  }
  if (rheos__group_rank(g, what->device) >= 0) return NULL;
  return rheos_status_new(RHEOS_INTERNAL,
                          "Device %s is joining a group that is already full (group_key=%d)",
                          what->device, (int)g->key);
}

static void end_group_call(void *argument, rheos_status *status, rheos__chunks chunks) {
  asked *a = argument;
  const rheos__task_group *g = NULL;
  if (status == NULL) status = take_group(a, chunks, &g);
  if (status == NULL) status = check_member(g, &a->what);
  rheos__groups_end_call(a->groups, &a->link);
  a->group_told(a->argument, status, g);
  asked_unref(a);
}

static rheos_status *call_leader(asked *a, rheos__method method, const ProtobufCMessage *fields,
                                 const rheos__peer_options *options,
                                 rheos__peer_replied_fn replied) {
  rheos__message request = {0};
  rheos__peer_call *call = NULL;
  if (fields != NULL) rheos__message_put(&request, fields);
  rheos__groups_begin_call(a->groups, &a->link);
  atomic_fetch_add(&a->references, 1);
  rheos_status *status =
      rheos__peers_start(a->groups->peers, a->groups->leader, rheos__method_names[method], &request,
                         options, replied, a, &call);
  rheos__message_deinit(&request);
  if (status == NULL) {
    rheos__groups_keep_call(a->groups, &a->link, call);
  } else {
    rheos__groups_end_call(a->groups, &a->link);
    asked_unref(a);
  }
  return status;
}

static rheos_status *ask_for_group(asked *a) {
  Tensorflow__CompleteGroupRequest fields = TENSORFLOW__COMPLETE_GROUP_REQUEST__INIT;
  Tensorflow__DeviceAttributes device = TENSORFLOW__DEVICE_ATTRIBUTES__INIT;
  Tensorflow__DeviceLocality locality = TENSORFLOW__DEVICE_LOCALITY__INIT;
  device.name = (char *)(uintptr_t)a->what.device;
  device.device_type = (char *)(uintptr_t)"CPU";
  device.locality = &locality;
  device.incarnation = a->groups->incarnation;
  fields.group_key = a->what.group_key;
  fields.group_size = a->what.group_size;
  fields.device_type = device.device_type;
  fields.collective_type = a->what.type;
  fields.device_attributes = &device;
  return call_leader(a, RHEOS__COMPLETE_GROUP, &fields.base, &asks_at_once, end_group_call);
}

// The tasks of a cluster start one after the other: before it is first asked something the leader
// is waited for.
static void find_group_of_leader(rheos__groups *groups, const rheos__collective *what,
                                 bool leader_is_there, rheos__group_fn told, void *argument);

static void end_status_call(void *argument, rheos_status *status, rheos__chunks chunks) {
  asked *a = argument;
  (void)chunks;
  rheos__groups_end_call(a->groups, &a->link);
  if (status == NULL) {
    atomic_store(&a->groups->leader_is_there, true);
    find_group_of_leader(a->groups, &a->what, true, a->group_told, a->argument);
  } else {
    a->group_told(a->argument, status, NULL);
  }
  asked_unref(a);
}

static void find_group_of_leader(rheos__groups *groups, const rheos__collective *what,
                                 bool leader_is_there, rheos__group_fn told, void *argument) {
  static const rheos__peer_options waits = {
      .timeout_ms = LEADER_MS, .waits = true, .may_be_late = true};
  asked *a = asked_new(groups, what, argument);
  rheos_status *status = rheos__out_of_memory();
  if (a != NULL) {
    a->group_told = told;
    status = leader_is_there ? ask_for_group(a)
                             : call_leader(a, RHEOS__GET_STATUS, NULL, &waits, end_status_call);
    asked_unref(a);
  }
  if (status != NULL) told(argument, status, NULL);
}

void rheos__leader_find_group(rheos__groups *groups, const rheos__collective *what,
                              rheos__group_fn told, void *argument) {
  if (groups->leader == groups->own_task) {
    const rheos__group_asker own = {what, groups->incarnation};
    rheos__groups_add(groups, &own, told, argument);
    return;
  }
  const rheos__task_group *g = rheos__groups_known(groups, what->group_key);
  if (g != NULL) {
    told(argument, check_member(g, what), g);
  } else {
    find_group_of_leader(groups, what, atomic_load(&groups->leader_is_there), told, argument);
  }
}

// ---- Sources

static rheos_status *take_source(asked *a, rheos__chunks chunks, int32_t *out_rank) {
  static const rheos__message_form form = {.descriptor =
                                               &tensorflow__complete_instance_response__descriptor};
  rheos__received received;
  rheos_status *status = rheos__receive_message(&form, chunks, &received);
  if (status == NULL) {
    const Tensorflow__CompleteInstanceResponse *reply = (void *)received.message;
    status = rheos__groups_keep_source(a->groups, &a->what, reply->source_rank);
    if (status == NULL) *out_rank = reply->source_rank;
  }
  rheos__received_deinit(&received);
  return status;
}

static void end_instance_call(void *argument, rheos_status *status, rheos__chunks chunks) {
  asked *a = argument;
  int32_t rank = -1;
  if (status == NULL) status = take_source(a, chunks, &rank);
  rheos__groups_end_call(a->groups, &a->link);
  a->source_told(a->argument, status, rank);
  asked_unref(a);
}

static rheos_status *ask_for_source(asked *a) {
  Tensorflow__CompleteInstanceRequest fields = TENSORFLOW__COMPLETE_INSTANCE_REQUEST__INIT;
  rheos__arena arena;
  rheos__arena_init(&arena);
  fields.name = (char *)(uintptr_t)"collective";
  fields.type = a->what.type;
  fields.data_type = (Tensorflow__DataType)a->what.dtype;
  fields.group_key = a->what.group_key;
  fields.group_size = a->what.group_size;
  fields.instance_key = a->what.instance_key;
  fields.device_type = (char *)(uintptr_t)"CPU";
  fields.device = (char *)(uintptr_t)a->what.device;
  fields.is_source = a->what.is_source;
  rheos_status *status = rheos__shape_to_proto(&a->what.shape, &arena, &fields.shape);
  if (status == NULL) {
    status =
        call_leader(a, RHEOS__COMPLETE_INSTANCE, &fields.base, &asks_at_once, end_instance_call);
  }
  rheos__arena_deinit(&arena);
  return status;
}

void rheos__leader_find_source(rheos__groups *groups, const rheos__collective *what,
                               rheos__source_fn told, void *argument) {
  if (groups->leader == groups->own_task) {
    rheos__groups_add_to_instance(groups, what, told, argument);
    return;
  }
  int32_t source;
  if (rheos__groups_knows_source(groups, what, &source)) {
    told(argument, NULL, source);
    return;
  }
  asked *a = asked_new(groups, what, argument);
  if (a != NULL) a->source_told = told;
  rheos_status *status = a != NULL ? ask_for_source(a) : rheos__out_of_memory();
  if (a != NULL) asked_unref(a);
  if (status != NULL) told(argument, status, -1);
}
