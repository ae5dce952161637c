// Lines of attempts. See waitable.h.
#include "resource/waitable.h"

#include <assert.h>
#include <stdio.h>

#include "base/text.h"

void rheos__waitable_init(rheos__waitable *waitable) { pthread_mutex_init(&waitable->mutex, NULL); }

void rheos__waitable_deinit(rheos__waitable *waitable) {
  assert(waitable->first[RHEOS__PUTS] == NULL && waitable->first[RHEOS__TAKES] == NULL);
  pthread_mutex_destroy(&waitable->mutex);
}

#ifdef NDEBUG
static void check_lines(const rheos__waitable *waitable) { (void)waitable; }
#else
// Both lines are whole, and in them stands what waits for this and is not done.
static void check_lines(const rheos__waitable *waitable) {
  for (int side = 0; side < 2; ++side) {
    const rheos__attempt *before = NULL;
    for (const rheos__attempt *at = waitable->first[side]; at != NULL; at = at->next) {
      assert(at->previous == before && at->on == waitable && (int)at->side == side);
      assert(at->bell != NULL && !rheos__attempt_is_done(at));
      before = at;
    }
    assert(waitable->last[side] == before);
  }
}
#endif

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
  check_lines(waitable);
}

void rheos__waitable_fail(rheos__waitable *waitable, rheos__side side, rheos_code code,
                          const char *text) {
  while (waitable->first[side] != NULL) {
    rheos__attempt *attempt = waitable->first[side];
    if (attempt->kind->give_back != NULL) attempt->kind->give_back(attempt);
    attempt->status = rheos_status_new(code, "%s", text);
    end(attempt);
  }
  check_lines(waitable);
}

void rheos__attempt_init(rheos__attempt *attempt, const rheos__attempt_kind *kind,
                         rheos__waitable *on, rheos__side side) {
  attempt->kind = kind;
  attempt->on = (rheos__waitable *)rheos__resource_ref(&on->base);
  attempt->side = side;
}

bool rheos__attempt_begin(rheos__attempt *attempt, rheos__bell *bell) {
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
  const bool is_done = rheos__attempt_is_done(attempt);
  pthread_mutex_unlock(&on->mutex);
  return is_done;
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

// ---- Who waits

void rheos__waits_init(rheos__waits *waits) {
  pthread_mutex_init(&waits->mutex, NULL);
  waits->first = NULL;
}

void rheos__waits_deinit(rheos__waits *waits) {
  assert(waits->first == NULL);
  pthread_mutex_destroy(&waits->mutex);
}

void rheos__waits_note(rheos__waits *waits, rheos__wait *wait) {
  if (waits == NULL) return;
  pthread_mutex_lock(&waits->mutex);
  wait->noted_by = waits;
  wait->after = waits->first;
  if (waits->first != NULL) waits->first->before = wait;
  waits->first = wait;
  pthread_mutex_unlock(&waits->mutex);
}

void rheos__waits_forget(rheos__wait *wait) {
  rheos__waits *waits = wait->noted_by;
  if (waits == NULL) return;
  pthread_mutex_lock(&waits->mutex);
  if (wait->before != NULL) {
    wait->before->after = wait->after;
  } else {
    waits->first = wait->after;
  }
  if (wait->after != NULL) wait->after->before = wait->before;
  pthread_mutex_unlock(&waits->mutex);
}

void rheos__waits_note_attempt(rheos__waits *waits, rheos__attempt *attempt, int64_t now_ns) {
  const rheos__resource *on = &attempt->on->base;
  attempt->wait = (rheos__wait){.what = attempt->kind->what,
                                .kind = on->kind->name,
                                .name = on->name,
                                .since_ns = now_ns,
                                .is_over = &attempt->is_done};
  rheos__waits_note(waits, &attempt->wait);
}

static void tell(const rheos__wait *wait, int64_t now_ns, rheos__text *text) {
  char numbers[64];
  const double waited_s = (double)(now_ns - wait->since_ns) * 1e-9;
  snprintf(numbers, sizeof numbers, "%.3g s for ", waited_s > 0 ? waited_s : 0);
  const char *const parts[] = {numbers, wait->what, " of ", wait->kind, " '", wait->name, "'\n"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    rheos__text_add(text, parts[i], strlen(parts[i]));
  }
}

rheos_status *rheos__waits_tell(rheos__waits *waits, int64_t now_ns, char **out_text) {
  rheos__text text = {0};
  pthread_mutex_lock(&waits->mutex);
  for (const rheos__wait *w = waits->first; w != NULL; w = w->after) {
    if (w->is_over == NULL || !atomic_load(w->is_over)) tell(w, now_ns, &text);
  }
  pthread_mutex_unlock(&waits->mutex);
  *out_text = text.failed ? NULL : rheos__strndup(text.size > 0 ? text.data : "", text.size);
  rheos__text_deinit(&text);
  return *out_text != NULL ? NULL : rheos__out_of_memory();
}

void rheos__attempt_free(rheos__attempt *attempt) {
  if (attempt == NULL) return;
  rheos__waits_forget(&attempt->wait);
  if (attempt->kind->deinit != NULL) attempt->kind->deinit(attempt);
  rheos_status_free(attempt->status);
  rheos__resource_unref(&attempt->on->base);
  rheos__free(attempt);
}
