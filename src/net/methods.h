// The methods that a server of a cluster serves, by TensorFlow's names on the wire.
#ifndef RHEOS_SRC_NET_METHODS_H
#define RHEOS_SRC_NET_METHODS_H

#include <stdint.h>

// (constant, name)
#define RHEOS__MASTER_METHODS(X)        \
  X(CREATE_SESSION, CreateSession)      \
  X(EXTEND_SESSION, ExtendSession)      \
  X(PARTIAL_RUN_SETUP, PartialRunSetup) \
  X(RUN_STEP, RunStep)                  \
  X(CLOSE_SESSION, CloseSession)        \
  X(LIST_DEVICES, ListDevices)          \
  X(RESET, Reset)                       \
  X(MAKE_CALLABLE, MakeCallable)        \
  X(RUN_CALLABLE, RunCallable)          \
  X(RELEASE_CALLABLE, ReleaseCallable)

#define RHEOS__WORKER_METHODS(X)                \
  X(GET_STATUS, GetStatus)                      \
  X(CREATE_WORKER_SESSION, CreateWorkerSession) \
  X(DELETE_WORKER_SESSION, DeleteWorkerSession) \
  X(REGISTER_GRAPH, RegisterGraph)              \
  X(DEREGISTER_GRAPH, DeregisterGraph)          \
  X(RUN_GRAPH, RunGraph)                        \
  X(CLEANUP_GRAPH, CleanupGraph)                \
  X(CLEANUP_ALL, CleanupAll)                    \
  X(RECV_TENSOR, RecvTensor)                    \
  X(MARK_RECV_FINISHED, MarkRecvFinished)       \
  X(LOGGING, Logging)                           \
  X(TRACING, Tracing)                           \
  X(RECV_BUF, RecvBuf)                          \
  X(COMPLETE_GROUP, CompleteGroup)              \
  X(COMPLETE_INSTANCE, CompleteInstance)        \
  X(GET_STEP_SEQUENCE, GetStepSequence)

// Rheos's own, which other servers do not have.
#define RHEOS__OWN_METHODS(X) X(HOLD_SESSION, HoldSession)

typedef enum rheos__method {
#define RHEOS__CONSTANT(constant, name) RHEOS__##constant,
  RHEOS__MASTER_METHODS(RHEOS__CONSTANT) RHEOS__WORKER_METHODS(RHEOS__CONSTANT)
      RHEOS__OWN_METHODS(RHEOS__CONSTANT)
#undef RHEOS__CONSTANT
          RHEOS__NUM_METHODS
} rheos__method;

// In full, by number: "/tensorflow.WorkerService/GetStatus".
extern const char *const rheos__method_names[RHEOS__NUM_METHODS];

#endif  // RHEOS_SRC_NET_METHODS_H
