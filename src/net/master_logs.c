#include "net/master_logs.h"

#include "net/methods.h"

enum { WORD_MS = 5000 };

static void call(const rheos__master_session *session, int32_t task,
                 const Tensorflow__LoggingRequest *fields, rheos__received *reply) {
  static const rheos__message_form form = {.descriptor = &tensorflow__logging_response__descriptor};
  const rheos__peer_options options = {.timeout_ms = WORD_MS};
  rheos__message request = {0};
  rheos__message_put(&request, &fields->base);
  rheos_status *status =
      rheos__peers_call(session->peers, task, rheos__method_names[RHEOS__LOGGING], &request,
                        &options, NULL, NULL, &form, reply);
  if (status != NULL) reply->message = NULL;
  rheos_status_free(status);
  rheos__message_deinit(&request);
}

void rheos__master_logs_turn(const rheos__master_session *session, const rheos__master_plan *plan,
                             bool is_on) {
  Tensorflow__LoggingRequest fields = TENSORFLOW__LOGGING_REQUEST__INIT;
  fields.enable_rpc_logging = is_on;
  fields.disable_rpc_logging = !is_on;
  for (int32_t i = 0; i < plan->num_parts; i++) {
    rheos__received reply;
    if (plan->parts[i].task == session->own_task) {
      atomic_store(&session->worker->steps.log.is_on, is_on ? 1 : 0);
      continue;
    }
    call(session, plan->parts[i].task, &fields, &reply);
    rheos__received_deinit(&reply);
  }
}

static void take_from(const rheos__master_session *session, int32_t task, int64_t step,
                      rheos__run_stats *stats) {
  Tensorflow__LoggingRequest fields = TENSORFLOW__LOGGING_REQUEST__INIT;
  rheos__received reply;
  fields.fetch_step_id = &step;
  fields.n_fetch_step_id = 1;
  call(session, task, &fields, &reply);
  const Tensorflow__LoggingResponse *told = (const void *)reply.message;
  for (size_t i = 0; told != NULL && i < told->n_step; i++) {
    if (told->step[i]->step_stats == NULL) continue;
    rheos__proto_pack(&told->step[i]->step_stats->base, &stats->steps);
  }
  rheos__received_deinit(&reply);
}

void rheos__master_logs_take(const rheos__master_session *session, const rheos__master_plan *plan,
                             int64_t step, rheos__run_stats *stats) {
  for (int32_t i = 0; i < plan->num_parts; i++) {
    const int32_t task = plan->parts[i].task;
    if (task == session->own_task) {
      rheos__rpc_log_take(&session->worker->steps.log, step, &stats->steps);
    } else {
      take_from(session, task, step, stats);
    }
  }
}
