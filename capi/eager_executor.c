// Executors: what operations that run at once are given to. Each runs where it is executed; in an
// asynchronous executor an error of a run is told later, as in TensorFlow: by who asks for the
// result, waits, or executes the next operation.
#include "eager_handles.h"

#include <stdlib.h>
#include <string.h>

struct TFE_Executor {
  atomic_int references;
  pthread_mutex_t lock;
  bool is_async;
  TF_Status *error;  // the first that nobody has cleared, or NULL
};

TFE_Executor *TFE_NewExecutor(bool is_async, bool enable_streaming_enqueue,
                              int in_flight_nodes_limit) {
  (void)enable_streaming_enqueue;
  (void)in_flight_nodes_limit;
  TFE_Executor *executor = calloc(1, sizeof *executor);
  if (executor == NULL) return NULL;
  atomic_init(&executor->references, 1);
  pthread_mutex_init(&executor->lock, NULL);
  executor->is_async = is_async;
  return executor;
}

static TFE_Executor *ref(TFE_Executor *executor) {
  if (executor != NULL) atomic_fetch_add(&executor->references, 1);
  return executor;
}

void TFE_DeleteExecutor(TFE_Executor *executor) {
  if (executor == NULL || atomic_fetch_sub(&executor->references, 1) > 1) return;
  TF_DeleteStatus(executor->error);
  pthread_mutex_destroy(&executor->lock);
  free(executor);
}

bool TFE_ExecutorIsAsync(TFE_Executor *executor) { return executor != NULL && executor->is_async; }

bool capi_executor_has_failed(TFE_Executor *executor, TF_Status *status) {
  pthread_mutex_lock(&executor->lock);
  bool has_failed = executor->error != NULL;
  if (has_failed) TF_SetStatus(status, TF_GetCode(executor->error), TF_Message(executor->error));
  pthread_mutex_unlock(&executor->lock);
  return has_failed;
}

void capi_executor_fail(TFE_Executor *executor, const TF_Status *error) {
  pthread_mutex_lock(&executor->lock);
  if (executor->error == NULL) executor->error = TF_NewStatus();
  if (executor->error != NULL) {
    TF_SetStatus(executor->error, TF_GetCode(error), TF_Message(error));
  }
  pthread_mutex_unlock(&executor->lock);
}

void TFE_ExecutorWaitForAllPendingNodes(TFE_Executor *executor, TF_Status *status) {
  capi_succeed(status);
  if (capi_need(executor, "the executor", status)) capi_executor_has_failed(executor, status);
}

void TFE_ExecutorClearError(TFE_Executor *executor) {
  if (executor == NULL) return;
  pthread_mutex_lock(&executor->lock);
  TF_DeleteStatus(executor->error);
  executor->error = NULL;
  pthread_mutex_unlock(&executor->lock);
}

// ---- A thread's

struct capi_thread_executor {
  capi_thread_executor *next;
  pthread_t thread;
  TFE_Executor *executor;
};

void capi_free_executors(TFE_Context *context) {
  while (context->executors != NULL) {
    capi_thread_executor *next = context->executors->next;
    TFE_DeleteExecutor(context->executors->executor);
    free(context->executors);
    context->executors = next;
  }
  TFE_DeleteExecutor(context->executor);
}

static capi_thread_executor *find(TFE_Context *context) {
  capi_thread_executor *at = context->executors;
  while (at != NULL && !pthread_equal(at->thread, pthread_self())) at = at->next;
  return at;
}

void TFE_ContextSetExecutorForThread(TFE_Context *context, TFE_Executor *executor) {
  if (context == NULL || executor == NULL) return;
  pthread_mutex_lock(&context->lock);
  capi_thread_executor *found = find(context);
  if (found == NULL) {
    found = calloc(1, sizeof *found);
    if (found != NULL) {
      *found = (capi_thread_executor){.next = context->executors, .thread = pthread_self()};
      context->executors = found;
    }
  }
  if (found != NULL) {
    TFE_Executor *before = found->executor;
    found->executor = ref(executor);
    TFE_DeleteExecutor(before);
  }
  pthread_mutex_unlock(&context->lock);
}

TFE_Executor *TFE_ContextGetExecutorForThread(TFE_Context *context) {
  if (context == NULL) return NULL;
  pthread_mutex_lock(&context->lock);
  const capi_thread_executor *found = find(context);
  TFE_Executor *executor = ref(found == NULL ? context->executor : found->executor);
  pthread_mutex_unlock(&context->lock);
  return executor;
}

void TFE_ContextAsyncWait(TFE_Context *context, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(context, "the context", status)) return;
  TFE_Executor *executor = TFE_ContextGetExecutorForThread(context);
  capi_executor_has_failed(executor, status);
  TFE_DeleteExecutor(executor);
}
