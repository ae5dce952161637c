// Lines of attempts. See waitable.h.
#include "resource/waitable.h"

#include <assert.h>

void rheos__waitable_init(rheos__waitable *waitable) { pthread_mutex_init(&waitable->mutex, NULL); }

void rheos__waitable_deinit(rheos__waitable *waitable) {
  assert(waitable->first[RHEOS__PUTS] == NULL && waitable->first[RHEOS__TAKES] == NULL);
  pthread_mutex_destroy(&waitable->mutex);
}

static void leave_line(rheos__attempt *attempt) {
  rheos__waitable *on = attempt->on;
  if (attempt->previous != NULL) {
    attempt->previous->next = attempt->next;
  } else {
    on->first[attempt->side] = attempt->next;
  }
  if (attempt->next != NULL) {
    attempt->next->previous = attempt->previous;
  } else {
    on->last[attempt->side] = attempt->previous;
  }
  attempt->previous = attempt->next = NULL;
}

// Who waits may free the attempt as soon as the mutex is open.
static void end(rheos__attempt *attempt) {
  leave_line(attempt);
  atomic_store(&attempt->is_done, true);
  rheos__bell_ring(attempt->bell);
}

static bool serve_line(rheos__waitable *waitable, rheos__side side) {
  bool has_changed = false;
  rheos__attempt *next = NULL;
  for (rheos__attempt *attempt = waitable->first[side]; attempt != NULL; attempt = next) {
    next = attempt->next;
    const rheos__tried tried = attempt->kind->run(attempt);
    has_changed = has_changed || tried != RHEOS__TRIED_IN_VAIN;
    if (tried == RHEOS__TRIED_DONE) {
      end(attempt);
    } else if (!attempt->kind->lets_pass) {
      break;
    }
  }
  return has_changed;
}

void rheos__waitable_serve(rheos__waitable *waitable) {
  bool has_changed = true;
  while (has_changed) {
    has_changed = serve_line(waitable, RHEOS__PUTS);
    has_changed = serve_line(waitable, RHEOS__TAKES) || has_changed;
  }
}

void rheos__waitable_fail(rheos__waitable *waitable, rheos__side side, rheos_code code,
                          const char *text) {
  while (waitable->first[side] != NULL) {
    rheos__attempt *attempt = waitable->first[side];
    if (attempt->kind->give_back != NULL) attempt->kind->give_back(attempt);
    attempt->status = rheos_status_new(code, "%s", text);
    end(attempt);
  }
}

void rheos__attempt_init(rheos__attempt *attempt, const rheos__attempt_kind *kind,
                         rheos__waitable *on, rheos__side side) {
  attempt->kind = kind;
  attempt->on = (rheos__waitable *)rheos__resource_ref(&on->base);
  attempt->side = side;
}

void rheos__attempt_begin(rheos__attempt *attempt, rheos__bell *bell) {
  rheos__waitable *on = attempt->on;
  attempt->bell = bell;
  pthread_mutex_lock(&on->mutex);
  attempt->previous = on->last[attempt->side];
  if (attempt->previous != NULL) {
    attempt->previous->next = attempt;
  } else {
    on->first[attempt->side] = attempt;
  }
  on->last[attempt->side] = attempt;
  rheos__waitable_serve(on);
  pthread_mutex_unlock(&on->mutex);
}

bool rheos__attempt_withdraw(rheos__attempt *attempt) {
  rheos__waitable *on = attempt->on;
  pthread_mutex_lock(&on->mutex);
  const bool is_done = atomic_load(&attempt->is_done);
  if (!is_done) {
    leave_line(attempt);
    if (attempt->kind->give_back != NULL) attempt->kind->give_back(attempt);
    rheos__waitable_serve(on);
  }
  pthread_mutex_unlock(&on->mutex);
  return !is_done;
}

void rheos__attempt_free(rheos__attempt *attempt) {
  if (attempt == NULL) return;
  if (attempt->kind->deinit != NULL) attempt->kind->deinit(attempt);
  rheos_status_free(attempt->status);
  rheos__resource_unref(&attempt->on->base);
  rheos__free(attempt);
}
