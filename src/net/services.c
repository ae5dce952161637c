// The table of methods: how each request is read, and who serves it.
#include "net/server.h"

#include <stddef.h>

#include "net/services.h"

#include "master.pb-c.h"
#include "worker.pb-c.h"

#define SERVICE(constant, name, request, ...)                                            \
  [RHEOS__##constant] = {                                                                \
      .form = {.descriptor = &tensorflow__##request##_request__descriptor, __VA_ARGS__}, \
      .serve = rheos__serve_##name}
// One whose requests have ids.
#define SERVICE_ONCE(constant, name, request, ...)                                       \
  [RHEOS__##constant] = {                                                                \
      .form = {.descriptor = &tensorflow__##request##_request__descriptor, __VA_ARGS__}, \
      .serve = rheos__serve_##name,                                                      \
      .id_offset = offsetof(Tensorflow__##name##Request, request_id)}

const rheos__service rheos__services[RHEOS__NUM_METHODS] = {
    SERVICE(CREATE_SESSION, CreateSession, create_session, .bytes = 1),
    SERVICE(EXTEND_SESSION, ExtendSession, extend_session, .bytes = 2),
    SERVICE_ONCE(PARTIAL_RUN_SETUP, PartialRunSetup, partial_run_setup, .tensors = 0),
    SERVICE_ONCE(RUN_STEP, RunStep, run_step, .tensors = 2, .are_named = true),
    SERVICE(CLOSE_SESSION, CloseSession, close_session, .tensors = 0),
    SERVICE(LIST_DEVICES, ListDevices, list_devices, .tensors = 0),
    SERVICE(RESET, Reset, reset, .tensors = 0),
    SERVICE_ONCE(MAKE_CALLABLE, MakeCallable, make_callable, .tensors = 0),
    SERVICE_ONCE(RUN_CALLABLE, RunCallable, run_callable, .tensors = 3),
    SERVICE(RELEASE_CALLABLE, ReleaseCallable, release_callable, .tensors = 0),
    SERVICE(GET_STATUS, GetStatus, get_status, .tensors = 0),
    SERVICE(CREATE_WORKER_SESSION, CreateWorkerSession, create_worker_session, .tensors = 0),
    SERVICE(DELETE_WORKER_SESSION, DeleteWorkerSession, delete_worker_session, .tensors = 0),
    SERVICE(REGISTER_GRAPH, RegisterGraph, register_graph, .bytes = 2),
    SERVICE(DEREGISTER_GRAPH, DeregisterGraph, deregister_graph, .tensors = 0),
    SERVICE_ONCE(RUN_GRAPH, RunGraph, run_graph, .tensors = 3, .are_named = true),
    SERVICE(CLEANUP_GRAPH, CleanupGraph, cleanup_graph, .tensors = 0),
    SERVICE(CLEANUP_ALL, CleanupAll, cleanup_all, .tensors = 0),
    SERVICE_ONCE(RECV_TENSOR, RecvTensor, recv_tensor, .tensors = 0),
    SERVICE(MARK_RECV_FINISHED, MarkRecvFinished, mark_recv_finished, .tensors = 0),
    SERVICE(LOGGING, Logging, logging, .tensors = 0),
    SERVICE(TRACING, Tracing, tracing, .tensors = 0),
    SERVICE_ONCE(RECV_BUF, RecvBuf, recv_buf, .tensors = 0),
    SERVICE(COMPLETE_GROUP, CompleteGroup, complete_group, .tensors = 0),
    SERVICE(COMPLETE_INSTANCE, CompleteInstance, complete_instance, .tensors = 0),
    SERVICE(GET_STEP_SEQUENCE, GetStepSequence, get_step_sequence, .tensors = 0),
    SERVICE(HOLD_SESSION, HoldSession, close_session, .tensors = 0),
};
