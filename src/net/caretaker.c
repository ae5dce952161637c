#include "net/caretaker.h"

#include <errno.h>
#include <time.h>

#include "net/process.h"
#include "runtime/threads/pool.h"

enum { PERIOD_MS = 250, AT_A_TIME = 64 };
// Memory is given back while the process has so much more than it had at least: what connections
// took that came and went, in blocks that are strewn about. Where that brings little it is done
// less often, at last every minute.
enum { TRIM_BYTES = 32 << 20, TRIM_SHARE = 16, TRIM_PERIODS = 8, MAX_TRIM_PERIODS = 240 };
#define NS_PER_S INT64_C(1000000000)

// ---- What is due

typedef struct due_session {
  char handle[RHEOS__ID_BYTES];
  const char *why;
} due_session;

// With the master's mutex held.
static void look_for_client(const rheos__caretaker *c, rheos__master_session *session,
                            int64_t now_ns) {
  if (session->holder != NULL && c->transport->is_abandoned(session->holder)) {
    c->transport->reply(session->holder, RHEOS_CANCELLED, "the client is gone",
                        (rheos__pieces){NULL, 0});
    session->holder = NULL;
    session->gone_ns = now_ns;
  }
  if (session->gone_ns != 0 && atomic_load(&session->last_call_ns) > session->gone_ns) {
    session->gone_ns = 0;  // it came back
  }
}

static const char *why_due(const rheos__caretaker *c, const rheos__master_session *session,
                           int64_t now_ns) {
  if (session->gone_ns != 0 && now_ns - session->gone_ns > c->gone_ns) {
    return "the session's client is gone";
  }
  if (c->idle_ns == 0 || atomic_load(&session->num_calls) > 0 ||
      now_ns - atomic_load(&session->last_call_ns) < c->idle_ns ||
      now_ns - atomic_load(&session->last_end_ns) < c->idle_ns) {
    return NULL;
  }
  return "the session was idle for too long";
}

static int find_due(const rheos__caretaker *c, due_session *due) {
  const int64_t now_ns = rheos__clock_ns();
  int count = 0;
  pthread_mutex_lock(&c->master->mutex);
  for (rheos__master_entry *e = c->master->sessions; e != NULL && count < AT_A_TIME; e = e->next) {
    look_for_client(c, e->session, now_ns);
    const char *why = why_due(c, e->session, now_ns);
    if (why == NULL) continue;
    memcpy(due[count].handle, e->session->handle, RHEOS__ID_BYTES);
    due[count++].why = why;
  }
  pthread_mutex_unlock(&c->master->mutex);
  return count;
}

static void close_due(const rheos__caretaker *c) {
  due_session due[AT_A_TIME];
  const int count = find_due(c, due);
  for (int i = 0; i < count; i++) {
    rheos_status *status = rheos__master_close(c->master, due[i].handle, due[i].why);
    if (status == NULL) rheos__metrics_session_dropped(c->master->metrics);
    rheos_status_free(status);
  }
}

// ---- The thread

// Whether to go on.
static bool wait_a_while(rheos__caretaker *c) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += PERIOD_MS * 1000000L;
  until.tv_sec += until.tv_nsec / NS_PER_S;
  until.tv_nsec %= NS_PER_S;
  pthread_mutex_lock(&c->mutex);
  int result = 0;
  while (!c->is_stopping && result != ETIMEDOUT) {
    result = pthread_cond_timedwait(&c->changed, &c->mutex, &until);
  }
  const bool goes_on = !c->is_stopping;
  pthread_mutex_unlock(&c->mutex);
  return goes_on;
}

static bool is_stopping(void *argument) {
  rheos__caretaker *c = argument;
  pthread_mutex_lock(&c->mutex);
  const bool is = c->is_stopping;
  pthread_mutex_unlock(&c->mutex);
  return is;
}

// How many periods to wait before the next time, of those it was before this one.
static int trim_memory(int64_t *least_bytes, int periods) {
  const int64_t bytes = rheos__process_memory_bytes();
  if (bytes < *least_bytes) *least_bytes = bytes;
  if (bytes < *least_bytes + TRIM_BYTES) return TRIM_PERIODS;
  rheos__process_trim_memory();
  if (bytes - rheos__process_memory_bytes() > bytes / TRIM_SHARE) return TRIM_PERIODS;
  return 2 * periods < MAX_TRIM_PERIODS ? 2 * periods : MAX_TRIM_PERIODS;
}

static void *look_after(void *argument) {
  int64_t least_bytes = rheos__process_memory_bytes();
  int periods = TRIM_PERIODS, left = periods;
  while (wait_a_while(argument)) {
    close_due(argument);
    rheos__orphans_look(&((rheos__caretaker *)argument)->orphans, is_stopping, argument);
    if (--left > 0) continue;
    periods = left = trim_memory(&least_bytes, periods);
  }
  return NULL;
}

rheos_status *rheos__caretaker_init(rheos__caretaker *caretaker, rheos__master *master,
                                    rheos__worker *worker, const rheos__transport *transport,
                                    int32_t gone_s, int32_t idle_s) {
  *caretaker = (rheos__caretaker){.transport = transport,
                                  .master = master,
                                  .gone_ns = gone_s * NS_PER_S,
                                  .idle_ns = idle_s * NS_PER_S};
  pthread_mutex_init(&caretaker->mutex, NULL);
  pthread_cond_init(&caretaker->changed, NULL);
  RHEOS_TRY(rheos__orphans_init(&caretaker->orphans, worker, caretaker->gone_ns));
  caretaker->has_thread = pthread_create(&caretaker->thread, NULL, look_after, caretaker) == 0;
  if (caretaker->has_thread) return NULL;
  return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "a thread cannot be made");
}

void rheos__caretaker_deinit(rheos__caretaker *caretaker) {
  if (caretaker->transport == NULL) return;
  rheos__caretaker_stop(caretaker);
  if (caretaker->has_thread) pthread_join(caretaker->thread, NULL);
  rheos__orphans_deinit(&caretaker->orphans);
  pthread_cond_destroy(&caretaker->changed);
  pthread_mutex_destroy(&caretaker->mutex);
}

// ---- Calls that are held

static void release(const rheos__caretaker *c, rheos__incoming *call) {
  if (call != NULL) c->transport->reply(call, RHEOS_OK, "", (rheos__pieces){NULL, 0});
}

// With the master's mutex held.
static rheos__incoming *take_holder(rheos__master_session *session) {
  rheos__incoming *call = session->holder;
  session->holder = NULL;
  return call;
}

void rheos__caretaker_hold(rheos__caretaker *caretaker, rheos__master_session *session,
                           rheos__incoming *call) {
  rheos__master *master = caretaker->master;
  pthread_mutex_lock(&caretaker->mutex);
  const bool is_stopping = caretaker->is_stopping;
  pthread_mutex_lock(&master->mutex);
  rheos__incoming *before = take_holder(session);
  const bool is_kept = !is_stopping && session->is_listed;
  if (is_kept) session->holder = call;
  pthread_mutex_unlock(&master->mutex);
  pthread_mutex_unlock(&caretaker->mutex);
  release(caretaker, before);
  if (!is_kept) release(caretaker, call);
}

void rheos__caretaker_stop(rheos__caretaker *caretaker) {
  rheos__master *master = caretaker->master;
  pthread_mutex_lock(&caretaker->mutex);
  caretaker->is_stopping = true;
  pthread_cond_broadcast(&caretaker->changed);
  pthread_mutex_lock(&master->mutex);
  for (rheos__master_entry *e = master->sessions; e != NULL; e = e->next) {
    release(caretaker, take_holder(e->session));
  }
  pthread_mutex_unlock(&master->mutex);
  pthread_mutex_unlock(&caretaker->mutex);
}
