// Waiting. A kernel that may have to wait hands its attempt to the step. Where the step can go on
// with something else the attempt is set aside; else the step sleeps here. It is woken by the bell
// that who ends the attempt rings, by that of a cancellation, and by that of its home when that is
// closed; a deadline is the end of the sleep. Only a caller's should_stop has to be asked again and
// again, the less often the longer the step waits; a signal ends the sleep at once.
#include "runtime/step/waiting.h"

#include "graph/tasks.h"
#include "runtime/step/home.h"
#include "runtime/step/strands.h"

#include <assert.h>

enum { ASK_NS = 10 * 1000 * 1000, ASK_SELDOM_NS = 100 * 1000 * 1000 };

static const char set_aside = 0;  // its address is the answer

bool rheos__is_set_aside(const rheos_status *status) {
  return status == (const rheos_status *)(const void *)&set_aside;
}

// Where it is noted what waits; NULL: nowhere.
static rheos__waits *waits_of(const rheos__step *step) {
  return step->home != NULL ? &step->home->waits : NULL;
}

// From now on what ends the waiting is heard.
static void listen_to_all(rheos__step *step) {
  if (step->is_listening) return;
  rheos__bell_listen(&step->bell);
  if (step->home != NULL) rheos__bell_listen(&step->home->closing);
  const rheos_run_options *options = step->options;
  if (options != NULL && options->cancellation != NULL) {
    rheos__bell_listen(&options->cancellation->bell);
  }
  step->is_listening = true;
}

void rheos__step_sleep(rheos__step *step) {
  const rheos_run_options *options = step->options;
  const bool can_cancel = options != NULL && options->cancellation != NULL;
  rheos__bell *const bells[] = {&step->bell, step->home != NULL ? &step->home->closing : NULL,
                                can_cancel ? &options->cancellation->bell : NULL};
  int64_t timeout_ns = -1;
  if (step->deadline_ns != 0) {
    timeout_ns = step->deadline_ns - rheos__clock_ns();
    if (timeout_ns < 0) timeout_ns = 0;
  }
  if (options != NULL && options->should_stop != NULL) {
    const int64_t ask_ns = ++step->num_sleeps < 50 ? ASK_NS : ASK_SELDOM_NS;
    if (timeout_ns < 0 || timeout_ns > ask_ns) timeout_ns = ask_ns;
  }
  rheos__bells_wait(bells, 3, timeout_ns);
  rheos__bell_silence(&step->bell);
}

rheos__bell *rheos__step_listen(rheos__step *step) {
  listen_to_all(step);
  return &step->bell;
}

bool rheos__step_doze(rheos__step *step) {
  if (rheos__step_poll(step)) return false;
  rheos__step_sleep(step);
  return true;
}

void rheos__step_note_wait(rheos__step *step, rheos__wait *wait) {
  if (wait->noted_by != NULL) return;
  wait->since_ns = rheos__clock_ns();
  rheos__waits_note(waits_of(step), wait);
}

bool rheos__attempt_end(rheos__attempt *attempt, rheos__step *step) {
  rheos__bell *const own[] = {&step->bell};
  while (attempt->kind->is_awaited && !rheos__attempt_is_done(attempt)) {
    const bool stops = rheos__step_poll(step);
    if (stops && attempt->kind->may_be_left) break;
    if (!stops) {
      rheos__step_sleep(step);
    } else {  // the other bells go on ringing
      rheos__bells_wait(own, 1, -1);
      rheos__bell_silence(&step->bell);
    }
  }
  return rheos__attempt_withdraw(attempt);
}

// What ends a step in which the attempt waited, told with that.
static rheos_status *stopped_error(const rheos__attempt *attempt, rheos__step *step) {
  const double waited_s = (double)(rheos__clock_ns() - attempt->wait.since_ns) * 1e-9;
  rheos_status *why = rheos__step_error(step);
  rheos_status *status = rheos_status_new(
      rheos_status_code(why), "%s; it waited %.3g s for %s of %s '%s'.", rheos_status_message(why),
      waited_s, attempt->kind->what, attempt->on->base.kind->name, attempt->on->base.name);
  rheos_status_free(why);
  step->has_told = true;
  return status;
}

// What an attempt that is done, and that nobody else looks at, answers. Where it was done in the
// moment in which the step was to stop, what it took is not to be lost; a step that has more to do
// is stopped by its next poll.
static rheos_status *finish_take(rheos__attempt *attempt, rheos__step *step,
                                 rheos_tensor **outputs) {
  atomic_store_explicit(&step->stopped, 0, memory_order_relaxed);
  rheos_status *status = attempt->status;
  attempt->status = NULL;
  if (status == NULL && attempt->kind->finish != NULL) {
    status = attempt->kind->finish(attempt, step, outputs);
  }
  rheos__attempt_free(attempt);
  return status;
}

rheos_status *rheos__attempt_answer_take(rheos__attempt *attempt, rheos__step *step,
                                         rheos_tensor **outputs) {
  // What goes on by itself took nothing that could be lost, and ends after the step was to stop.
  const bool is_late = attempt->kind->is_awaited && !rheos__attempt_is_done(attempt);
  if (rheos__attempt_end(attempt, step) || is_late) {
    rheos_status *status = stopped_error(attempt, step);
    rheos__attempt_free(attempt);
    return status;
  }
  return finish_take(attempt, step, outputs);
}

static bool go_on(rheos__step *step) {
  for (rheos__others *at = step->others; at != NULL; at = at->outer) {
    if (at->can_go_on(at) && at->go_on(at, step)) return true;
  }
  return false;
}

bool rheos__step_others_failed(const rheos__step *step) {
  for (const rheos__others *at = step->others; at != NULL; at = at->outer) {
    if (at->has_failed) return true;
  }
  return false;
}

rheos_status *rheos__others_error(void) {
  return rheos_status_new(RHEOS_CANCELLED, "Another operation of the step has failed.");
}

void rheos__step_wait(rheos__step *step, bool (*is_over)(const void *argument),
                      const void *argument) {
  const rheos__awaited before = step->awaited;
  step->awaited = (rheos__awaited){is_over, argument};
  while (!is_over(argument) && !rheos__step_poll(step) && !rheos__step_others_failed(step)) {
    if (go_on(step) || rheos__strands_turn(step)) continue;
    if (!is_over(argument)) rheos__step_sleep(step);
  }
  step->awaited = before;
}

static bool is_done(const void *attempt) { return rheos__attempt_is_done(attempt); }

// On the spot.
static rheos_status *wait_here(rheos__attempt *attempt, rheos__step *step, rheos_tensor **outputs) {
  rheos__step_wait(step, is_done, attempt);
  if (rheos__step_others_failed(step) && rheos__attempt_end(attempt, step)) {
    rheos__attempt_free(attempt);
    return rheos__others_error();
  }
  return rheos__attempt_answer_take(attempt, step, outputs);
}

bool rheos__step_can_go_on(const rheos__step *step) {
  return step != NULL && (step->aside != NULL || step->others != NULL);
}

rheos_status *rheos__step_attempt_take(rheos__step *step, rheos__attempt *attempt,
                                       rheos_tensor **outputs) {
  assert(step != NULL);
  if (rheos__attempt_begin(attempt, &step->bell)) return finish_take(attempt, step, outputs);
  rheos__waits_note_attempt(waits_of(step), attempt, rheos__clock_ns());
  listen_to_all(step);
  if (step->aside == NULL) return wait_here(attempt, step, outputs);
  assert(*step->aside == NULL);
  *step->aside = attempt;
  return (rheos_status *)(uintptr_t)&set_aside;
}
