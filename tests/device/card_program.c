#include "device/card_program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/status.h"

static void check(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

void card_program_init(card_program *p, const char *device) {
  p->graph = rheos_graph_new();
  p->s = rheos_scope_new(p->graph);
  rheos_push_device(p->s, device);
  const rheos_shape shape = RHEOS_SHAPE(-1, 5);
  p->x = rheos_placeholder(p->s, RHEOS_FLOAT, .shape = &shape, .name = "x");
  const int32_t axis = 0;
  rheos_tensor *axes = NULL;
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(1), &axis, &axes));
  const rheos_output along = rheos_constant(p->s, axes, NULL);
  rheos_tensor_unref(axes);
  const rheos_output product = rheos_matmul(p->s, p->x, p->x, .transpose_b = true);
  p->y = rheos_mean(p->s, rheos_tanh(p->s, rheos_square(p->s, product)), along);
  check(rheos_scope_finish(p->s));
}

void card_program_deinit(card_program *p) {
  rheos_scope_free(p->s);
  rheos_graph_unref(p->graph);
}

rheos_status *card_program_run(const card_program *p, rheos_session *session, int64_t rows,
                               rheos_tensor **out) {
  rheos_tensor *x = NULL;
  *out = NULL;
  RHEOS_TRY(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(rows, 5), &x));
  float *values = rheos_tensor_data(x);
  for (int64_t i = 0; i < 5 * rows; i++) values[i] = (float)(i % 7) * 0.125f - 0.25f;
  const rheos_feed feed = {p->x, x};
  rheos_fetch fetch = {p->y, NULL};
  rheos_status *status = rheos_session_run(session, &feed, 1, &fetch, 1, NULL, 0, NULL);
  rheos_tensor_unref(x);
  *out = fetch.value;
  return status;
}
