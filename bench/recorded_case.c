// See recorded_case.h.
#include "recorded_case.h"

#include <string.h>

#include "graph/op_def.h"

int64_t case_elements(const op_case *c) {
  int64_t most = 0;
  for (int i = 0; i < c->num_inputs; i++) {
    const rheos_tensor *t = c->inputs[i].tensor;
    if (t && rheos_tensor_num_elements(t) > most) most = rheos_tensor_num_elements(t);
  }
  for (int i = 0; i < c->num_outputs; i++) {
    const int64_t n = rheos_tensor_num_elements(c->outputs[i].tensor);
    if (n > most) most = n;
  }
  return most;
}

bool case_can_be_driven(const op_case *c) {
  if (c->error != RHEOS_OK || c->has_files || c->op[0] == '_') return false;
  if (strcmp(c->op, "CountUpTo") == 0 || strstr(c->op, "TemporaryVariable")) return false;
  if (strncmp(c->op, "TensorArray", 11) == 0 || strncmp(c->op, "Stack", 5) == 0) return false;
  for (int i = 0; i < c->num_inputs; i++) {
    if (c->inputs[i].kind == INPUT_UNSET) return false;
  }
  return true;
}

void case_feed_one(op_case *c) {
  const rheos__signature *signature = rheos__signature_by_name(c->op);
  int largest = -1;
  for (int i = 0; i < c->num_inputs; i++) {
    if (c->inputs[i].kind != INPUT_CONST || c->inputs[i].is_handle) return;
    if (largest < 0 || rheos_tensor_num_elements(c->inputs[i].tensor) >
                           rheos_tensor_num_elements(c->inputs[largest].tensor)) {
      largest = i;
    }
  }
  if (largest >= 0 && signature && !(signature->op->flags & RHEOS_OP_STATEFUL)) {
    c->inputs[largest].kind = INPUT_FEED;
  }
}

rheos_status *case_run_first_nodes(op_program *p, rheos_session *session) {
  rheos_status *status = NULL;
  if (p->num_initializers > 0) {
    status =
        rheos_session_run(session, NULL, 0, NULL, 0, p->initializers, p->num_initializers, NULL);
  }
  for (int i = 0; i < p->c->num_nodes && !status; i++) {
    if (p->c->nodes[i].role != NODE_FIRST) continue;
    status = rheos_session_run(session, p->feeds, p->num_feeds, NULL, 0, &p->nodes[i], 1, NULL);
  }
  return status;
}

static int64_t far_from(const op_case *c, int64_t wanted) {
  const int64_t n = case_elements(c);
  return n > wanted ? n - wanted : wanted - n;
}

const op_case *case_nearest(const op_cases *cases, size_t first, size_t end, int64_t wanted) {
  const op_case *best = NULL;
  for (size_t i = first; i < end; i++) {
    const op_case *c = &cases->items[i];
    if (!case_can_be_driven(c) || case_elements(c) == 0) continue;
    if (!best || far_from(c, wanted) < far_from(best, wanted)) best = c;
  }
  return best;
}
