// What the service tensorflow.WorkerService answers about collectives.
#include "net/services.h"

#include "format/message/tensor_proto.h"
#include "worker.pb-c.h"

#define REQUEST(type) ((const Tensorflow__##type##Request *)(const void *)served->request.message)

// A call that is answered later.
typedef struct asked_later {
  rheos_server *server;
  rheos__incoming *call;
  rheos__worker_step *step;  // counted; NULL: of none
  int32_t key;
} asked_later;

// Room for what answers the call, which somebody else does from now on.
static asked_later *answer_later(rheos__served *served, rheos__worker_step *step, int32_t key) {
  asked_later *asked = rheos__alloc(sizeof *asked);
  if (asked == NULL) return NULL;
  *asked = (asked_later){served->server, served->call, step, key};
  served->is_later = true;
  return asked;
}

// Takes `failed`, or answers with `fields`.
static void answer_take(asked_later *asked, rheos_status *failed, const ProtobufCMessage *fields) {
  rheos__message reply = {0};
  if (failed == NULL) rheos__message_put(&reply, fields);
  rheos__answer_take(asked->server, asked->call, failed, &reply);
  rheos__message_deinit(&reply);
  rheos__free(asked);
}

// ---- Pieces of tensors

static void send_buffer(void *argument, rheos_status *failed, rheos_tensor *value) {
  asked_later *asked = argument;
  rheos__message reply = {0};
  Tensorflow__RecvBufResponse fields = TENSORFLOW__RECV_BUF_RESPONSE__INIT;
  if (failed == NULL && value == NULL) failed = RHEOS_INVALID("a collective has no dead values");
  if (failed == NULL) {
    fields.num_bytes = (int64_t)rheos_tensor_size_bytes(value);
    rheos__message_put(&reply, &fields.base);
    rheos__message_put_buffer(&reply, 4, value);
  }
  rheos__answer_take(asked->server, asked->call, failed, &reply);
  rheos__message_deinit(&reply);
  rheos_tensor_unref(value);  // then it is taken
  rheos__worker_step_unref(asked->step);
  rheos__free(asked);
}

static rheos_status *check_incarnation(const rheos_server *server,
                                       const Tensorflow__RecvBufRequest *r) {
  if (r->src_incarnation == server->worker.incarnation) return NULL;
  return rheos_status_new(RHEOS_FAILED_PRECONDITION,
                          "RecvBuf expects a different device incarnation: %llu vs. %llu. %s was "
                          "probably restarted.",
                          (unsigned long long)r->src_incarnation,
                          (unsigned long long)server->worker.incarnation,
                          server->peers.cluster.tasks[server->own_task].name);
}

static rheos_status *answer_with_buffer(rheos__served *served, rheos__worker_step *step,
                                        const char *key) {
  asked_later *asked = answer_later(served, step, 0);
  if (asked == NULL) return rheos__out_of_memory();
  rheos__worker_step_ref(step);
  rheos_status *status = rheos__rendezvous_receive_for(step->rendezvous, key, send_buffer, asked);
  if (status == NULL) return NULL;
  served->is_later = false;
  rheos__worker_step_unref(step);
  rheos__free(asked);
  return status;
}

// The answer may be given, and the step be over, before this is.
rheos_status *rheos__serve_RecvBuf(rheos__served *served) {
  const Tensorflow__RecvBufRequest *r = REQUEST(RecvBuf);
  rheos__worker_step *step;
  RHEOS_TRY(check_incarnation(served->server, r));
  RHEOS_TRY(rheos__worker_steps_get(&served->server->worker.steps, r->step_id, &step));
  rheos_status *status = answer_with_buffer(served, step, r->buf_rendezvous_key);
  rheos__worker_step_unref(step);
  return status;
}

// ---- Groups

static rheos_status *check_leader(const rheos_server *server, const char *method) {
  const rheos__groups *groups = &server->collectives.groups;
  if (groups->leader == groups->own_task) return NULL;
  return rheos_status_new(RHEOS_FAILED_PRECONDITION,
                          "%s was asked of %s, and the leader of the collectives is %s", method,
                          server->peers.cluster.tasks[groups->own_task].name,
                          server->peers.cluster.tasks[groups->leader].name);
}

static rheos_status *fill_group(const rheos__task_group *group, rheos__arena *arena,
                                Tensorflow__CompleteGroupResponse *reply) {
  const size_t count = (size_t)group->count;
  Tensorflow__DeviceAttributes *all = rheos__arena_alloc(arena, count * sizeof *all);
  Tensorflow__DeviceLocality *locality = rheos__arena_alloc(arena, sizeof *locality);
  reply->device_attributes = rheos__arena_alloc(arena, count * sizeof *reply->device_attributes);
  if (all == NULL || locality == NULL || reply->device_attributes == NULL) {
    return rheos__out_of_memory();
  }
  tensorflow__device_locality__init(locality);
  for (size_t i = 0; i < count; i++) {
    tensorflow__device_attributes__init(&all[i]);
    all[i].name = group->members[i].named.device;
    all[i].device_type = (char *)(uintptr_t)"CPU";
    all[i].incarnation = group->members[i].incarnation;
    all[i].locality = locality;
    reply->device_attributes[i] = &all[i];
  }
  reply->n_device_attributes = count;
  reply->group_key = group->key;
  reply->group_size = group->size;
  reply->device_type = (char *)(uintptr_t)"CPU";
  reply->num_tasks = group->num_tasks;
  return NULL;
}

static void send_group(void *argument, rheos_status *failed, const rheos__task_group *group) {
  Tensorflow__CompleteGroupResponse reply = TENSORFLOW__COMPLETE_GROUP_RESPONSE__INIT;
  rheos__arena arena;
  rheos__arena_init(&arena);
  if (failed == NULL) failed = fill_group(group, &arena, &reply);
  answer_take(argument, failed, &reply.base);
  rheos__arena_deinit(&arena);
}

rheos_status *rheos__serve_CompleteGroup(rheos__served *served) {
  const Tensorflow__CompleteGroupRequest *r = REQUEST(CompleteGroup);
  RHEOS_TRY(check_leader(served->server, "CompleteGroup"));
  if (r->device_attributes == NULL) {
    return RHEOS_INVALID("a CompleteGroupRequest does not say which device asks");
  }
  const rheos__collective what = {.type = (rheos__collective_type)r->collective_type,
                                  .group_key = r->group_key,
                                  .group_size = r->group_size,
                                  .device = r->device_attributes->name};
  const rheos__group_asker asker = {&what, r->device_attributes->incarnation};
  asked_later *asked = answer_later(served, NULL, r->group_key);
  if (asked == NULL) return rheos__out_of_memory();
  rheos__groups_add(&served->server->collectives.groups, &asker, send_group, asked);
  return NULL;
}

static void send_source(void *argument, rheos_status *failed, int32_t source_rank) {
  asked_later *asked = argument;
  Tensorflow__CompleteInstanceResponse reply = TENSORFLOW__COMPLETE_INSTANCE_RESPONSE__INIT;
  reply.instance_key = asked->key;
  reply.source_rank = source_rank;
  answer_take(asked, failed, &reply.base);
}

rheos_status *rheos__serve_CompleteInstance(rheos__served *served) {
  const Tensorflow__CompleteInstanceRequest *r = REQUEST(CompleteInstance);
  RHEOS_TRY(check_leader(served->server, "CompleteInstance"));
  rheos__collective what = {.type = (rheos__collective_type)r->type,
                            .group_key = r->group_key,
                            .group_size = r->group_size,
                            .instance_key = r->instance_key,
                            .device = r->device,
                            .dtype = (rheos_dtype)r->data_type,
                            .is_source = r->is_source};
  if (r->shape != NULL) RHEOS_TRY(rheos__shape_from_proto(r->shape, &what.shape));
  asked_later *asked = answer_later(served, NULL, r->instance_key);
  if (asked == NULL) return rheos__out_of_memory();
  rheos__groups_add_to_instance(&served->server->collectives.groups, &what, send_source, asked);
  return NULL;
}

// ---- Numbers of steps

rheos_status *rheos__serve_GetStepSequence(rheos__served *served) {
  const Tensorflow__GetStepSequenceRequest *r = REQUEST(GetStepSequence);
  Tensorflow__GetStepSequenceResponse reply = TENSORFLOW__GET_STEP_SEQUENCE_RESPONSE__INIT;
  rheos__arena *arena = &served->request.arena;
  RHEOS_TRY(check_leader(served->server, "GetStepSequence"));
  Tensorflow__StepSequence *all = rheos__arena_alloc(arena, (r->n_graph_key + 1) * sizeof *all);
  reply.step_sequence =
      rheos__arena_alloc(arena, (r->n_graph_key + 1) * sizeof *reply.step_sequence);
  if (all == NULL || reply.step_sequence == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < r->n_graph_key; i++) {
    tensorflow__step_sequence__init(&all[i]);
    all[i].graph_key = r->graph_key[i];
    RHEOS_TRY(rheos__task_collectives_tell_step(&served->server->collectives, r->graph_key[i],
                                                &all[i].next_step_id));
    reply.step_sequence[i] = &all[i];
  }
  reply.n_step_sequence = r->n_graph_key;
  rheos__message_put(&served->reply, &reply.base);
  return NULL;
}
