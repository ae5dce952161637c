#include "net/ranks.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/status.h"
#include "net/rank_part.h"
#include "resource/collective.h"
#include "runtime/step/host.h"

enum { MAX_NOTES = 256, MAX_VERDICTS = 256 };
// Whoever begins one often begins more: the thread lets it, so that rank 0 hears of all at once.
enum { YIELDS_WITHOUT_NEWS = 3, MOST_YIELDS = 100 };
// How long the thread rests between looks at what has come: not at all at first, while something is
// waited for.
enum { LOOKS_WITHOUT_REST = 200, REST_NS = 20000, LONGEST_REST_NS = 200000, IDLE_NS = 2000000 };

typedef rheos__rank_part part;

struct rheos_ranks {
  const rheos__rank_link *link;
  int32_t rank, count;
  rheos_host *host;            // counted
  rheos__collectives *opened;  // the host's; counted
  pthread_t thread;
  // The thread's:
  rheos__rank_exchange exchange;
  rheos__rank_order *order;  // NULL: it is not rank 0
  char *packed[2];           // what goes in one, and what comes out
  uint64_t next_serial;
  bool is_over, was_end_told, was_shortage_told;
  int32_t num_looks;      // since something was done
  pthread_mutex_t mutex;  // guards what follows
  pthread_cond_t changed;
  part *first, **last;  // in the order in which they came
  bool has_news, is_ending, lacks_memory;
  uint64_t num_news;
  bool is_started;
  rheos_status *start_failed;
  atomic_bool is_aborted;
};

// ---- Parts

// Takes it out of the list. With the mutex held.
static part *take_out(rheos_ranks *r, part **at) {
  part *p = *at;
  *at = p->next;
  if (r->last == &p->next) r->last = at;
  return p;
}

static part *take_by_key(rheos_ranks *r, const rheos__rank_key *key) {
  part *found = NULL;
  pthread_mutex_lock(&r->mutex);
  for (part **at = &r->first; *at != NULL && found == NULL; at = &(*at)->next) {
    if ((*at)->is_told && rheos__rank_key_equal(&(*at)->note.key, key)) {
      found = take_out(r, at);
      break;
    }
  }
  pthread_mutex_unlock(&r->mutex);
  return found;
}

static part *take_by_serial(rheos_ranks *r, uint64_t serial) {
  part *found = NULL;
  pthread_mutex_lock(&r->mutex);
  for (part **at = &r->first; *at != NULL; at = &(*at)->next) {
    if ((*at)->is_told && (*at)->note.serial == serial) {
      found = take_out(r, at);
      break;
    }
  }
  pthread_mutex_unlock(&r->mutex);
  return found;
}

// ---- The door

static void tell_thread(rheos_ranks *r) {
  if (!r->has_news) pthread_cond_signal(&r->changed);
  r->has_news = true;
  r->num_news++;
}

static rheos_status *lost(void) {
  return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED,
                          "a collective failed for want of memory: this rank takes part in none "
                          "any more");
}

static void begin(void *argument, rheos__membership *membership) {
  rheos_ranks *r = argument;
  part *p = NULL;
  pthread_mutex_lock(&r->mutex);
  rheos_status *status = r->lacks_memory ? lost() : NULL;
  pthread_mutex_unlock(&r->mutex);
  if (status == NULL) status = rheos__rank_part_new(membership, &p);
  pthread_mutex_lock(&r->mutex);
  if (status == NULL) {
    *r->last = p;
    r->last = &p->next;
  } else {
    r->lacks_memory = true;
  }
  tell_thread(r);
  pthread_mutex_unlock(&r->mutex);
  if (status == NULL) return;
  rheos__membership_end_take(membership, status, NULL);
  rheos__membership_unref(membership);
}

static void leave(void *argument, rheos__membership *membership) {
  rheos_ranks *r = argument;
  pthread_mutex_lock(&r->mutex);
  for (part *p = r->first; p != NULL; p = p->next) {
    if (p->membership == membership) p->has_left = true;
  }
  tell_thread(r);
  pthread_mutex_unlock(&r->mutex);
}

// ---- Telling rank 0

// What is for rank 0, on its way there.
typedef struct letter {
  size_t count;
  rheos__rank_note notes[MAX_NOTES];
} letter;

static void hear(rheos_ranks *r, int32_t rank, const rheos__rank_note *note) {
  static const struct timespec pause = {.tv_nsec = 1000000};
  while (!rheos__rank_order_hear(r->order, rank, note)) nanosleep(&pause, NULL);
}

static void send_letter(rheos_ranks *r, letter *l) {
  if (r->order != NULL) {
    for (size_t i = 0; i < l->count; i++) hear(r, 0, &l->notes[i]);
  } else if (l->count > 0) {
    r->link->send(0, l->notes, l->count * sizeof l->notes[0]);
  }
  l->count = 0;
}

static void add_note(letter *l, const rheos__rank_note *note) { l->notes[l->count++] = *note; }

static void add_end(letter *l, rheos_code why) {
  rheos__rank_note note;
  memset(&note, 0, sizeof note);
  note.says = RHEOS__RANK_ENDS;
  note.why = why;
  add_note(l, &note);
}

// With the mutex held. False: there is more.
static bool write_letter(rheos_ranks *r, letter *l) {
  for (part *p = r->first; p != NULL; p = p->next) {
    if (l->count + 4 > MAX_NOTES) return false;
    if (!p->is_told) {
      p->note.serial = r->next_serial++;
      p->is_told = true;
      add_note(l, &p->note);
    }
    if (p->has_left) {
      rheos__rank_note note = p->note;
      note.says = RHEOS__RANK_LEAVES;
      p->has_left = false;
      add_note(l, &note);
    }
  }
  if (r->lacks_memory && !r->was_shortage_told) add_end(l, RHEOS_RESOURCE_EXHAUSTED);
  r->was_shortage_told = r->lacks_memory;
  if (r->is_ending && !r->was_end_told) add_end(l, RHEOS_UNAVAILABLE);
  r->was_end_told = r->is_ending;
  r->has_news = false;
  return true;
}

// ---- Working

// Does what is next, all of it. False: the ranks are to be aborted.
static bool work(rheos_ranks *r, const rheos__rank_verdict *verdicts, size_t count) {
  part *parts[MAX_VERDICTS];
  size_t done = 0;
  for (size_t i = 0; i < count; i++) {
    parts[i] = take_by_key(r, &verdicts[i].key);
    assert(parts[i] != NULL);  // rank 0 has heard of it
  }
  while (done < count) {
    size_t now;
    if (!rheos__rank_parts_do(&r->exchange, r->packed, parts + done, count - done,
                              verdicts[done].source, &now)) {
      break;
    }
    for (size_t i = done; i < done + now; i++) rheos__rank_part_end_take(parts[i], NULL);
    done += now;
  }
  const bool is_done = done == count;
  for (; done < count; done++) {
    rheos__rank_part_end_take(parts[done],
                              rheos_status_new(RHEOS_ABORTED, "the ranks were aborted"));
  }
  return is_done;
}

static void fail_part(rheos_ranks *r, const rheos__rank_verdict *verdict, const char *text) {
  part *p = take_by_serial(r, verdict->serial);
  if (p == NULL) return;
  rheos__rank_part_end_take(p,
                            rheos_status_new(verdict->why, "%.*s", RHEOS__RANK_TEXT_BYTES, text));
}

// ---- What rank 0 says

typedef struct failure {
  rheos__rank_verdict verdict;
  char text[RHEOS__RANK_TEXT_BYTES];
} failure;

typedef union message {
  rheos__rank_note notes[MAX_NOTES];
  rheos__rank_verdict verdicts[MAX_VERDICTS];
  failure failure;
} message;

static bool obey(rheos_ranks *r, const message *m, size_t size_bytes) {
  r->num_looks = 0;
  if (m->verdicts[0].is_end) {
    r->is_over = true;
  } else if (m->verdicts[0].why != RHEOS_OK) {
    fail_part(r, &m->failure.verdict, m->failure.text);
  } else {
    return work(r, m->verdicts, size_bytes / sizeof m->verdicts[0]);
  }
  return true;
}

// To that rank, or to all (-1).
static bool command(rheos_ranks *r, int32_t rank, const message *m, size_t size_bytes) {
  if (size_bytes == 0) return true;
  for (int32_t i = 1; i < r->count; i++) {
    if (rank == i || rank < 0) r->link->send(i, m, size_bytes);
  }
  return rank > 0 || obey(r, m, size_bytes);
}

static bool judge(rheos_ranks *r) {
  message m;
  failure f;
  int32_t rank;
  size_t count = 0;
  memset(&m, 0, sizeof m);
  memset(&f, 0, sizeof f);
  while (rheos__rank_order_next(r->order, &f.verdict, &rank, f.text)) {
    const bool is_next = rank < 0 && !f.verdict.is_end;
    if (is_next) m.verdicts[count++] = f.verdict;
    if (!is_next || count == MAX_VERDICTS) {
      if (!command(r, -1, &m, count * sizeof m.verdicts[0])) return false;
      count = 0;
    }
    if (is_next) continue;
    m.failure = f;
    if (!command(r, rank, &m, sizeof m.failure)) return false;
  }
  return command(r, -1, &m, count * sizeof m.verdicts[0]);
}

static bool take_messages(rheos_ranks *r) {
  message m;
  int32_t rank;
  size_t size;
  while (!r->is_over && r->link->next(&rank, &size)) {
    const size_t taken = size <= sizeof m ? size : sizeof m;
    r->link->receive(rank, &m, taken);
    r->num_looks = 0;
    if (r->order == NULL) {
      if (!obey(r, &m, taken)) return false;
      continue;
    }
    for (size_t i = 0; i < taken / sizeof m.notes[0]; i++) hear(r, rank, &m.notes[i]);
  }
  return true;
}

// ---- The thread

static void wait_ns(rheos_ranks *r, int64_t ns) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += (long)ns;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_cond_timedwait(&r->changed, &r->mutex, &until);
}

// Until there is news here, or it is time to look whether others have sent some. With the mutex
// held.
static void rest(rheos_ranks *r) {
  if (r->has_news) return;
  const bool waits = r->first != NULL || r->is_ending;
  r->num_looks++;
  if (!waits) {
    wait_ns(r, IDLE_NS);
  } else if (r->num_looks > LOOKS_WITHOUT_REST) {
    const int64_t longer = (int64_t)(r->num_looks - LOOKS_WITHOUT_REST) * REST_NS;
    wait_ns(r, longer < LONGEST_REST_NS ? longer : LONGEST_REST_NS);
  } else {
    pthread_mutex_unlock(&r->mutex);
    sched_yield();
    pthread_mutex_lock(&r->mutex);
  }
}

// With the mutex held.
static void let_more_come(rheos_ranks *r) {
  for (int num_yields = 0, num_quiet = 0;
       num_yields < MOST_YIELDS && num_quiet < YIELDS_WITHOUT_NEWS; num_yields++) {
    const uint64_t before = r->num_news;
    pthread_mutex_unlock(&r->mutex);
    sched_yield();
    pthread_mutex_lock(&r->mutex);
    num_quiet = r->num_news == before ? num_quiet + 1 : 0;
  }
}

static bool should_abort(void *argument) {
  return atomic_load(&((rheos_ranks *)argument)->is_aborted);
}

static bool look(rheos_ranks *r) {
  letter l = {0};
  for (bool is_whole = false; !is_whole;) {
    pthread_mutex_lock(&r->mutex);
    rest(r);
    if (r->has_news) {
      r->num_looks = 0;
      let_more_come(r);
    }
    is_whole = !r->has_news || write_letter(r, &l);
    pthread_mutex_unlock(&r->mutex);
    send_letter(r, &l);
  }
  return take_messages(r) && (r->order == NULL || r->is_over || judge(r));
}

static rheos_status *start(rheos_ranks *r) {
  char why[RHEOS__RANK_ERROR_BYTES] = "";
  if (!r->link->start(&r->rank, &r->count, why)) {
    return rheos_status_new(RHEOS_UNAVAILABLE, "the ranks do not come together: %s", why);
  }
  r->is_over = false;
  const rheos__rank_wait wait = {.should_stop = should_abort, .argument = r};
  RHEOS_TRY(rheos__rank_exchange_init(&r->exchange, r->link, &wait, r->rank, r->count));
  r->packed[0] = rheos__alloc(RHEOS__RANK_PACKED_BYTES);
  r->packed[1] = rheos__alloc(RHEOS__RANK_PACKED_BYTES);
  if (r->rank == 0) r->order = rheos__rank_order_new(r->count);
  const bool has_all =
      r->packed[0] != NULL && r->packed[1] != NULL && (r->rank > 0 || r->order != NULL);
  return has_all ? NULL : rheos__out_of_memory();
}

static void *serve(void *argument) {
  rheos_ranks *r = argument;
  r->is_over = true;
  rheos_status *failed = start(r);
  const bool has_begun = !r->is_over;
  pthread_mutex_lock(&r->mutex);
  r->is_started = true;
  r->start_failed = failed;
  pthread_cond_broadcast(&r->changed);
  pthread_mutex_unlock(&r->mutex);
  bool goes_on = failed == NULL || !has_begun;
  while (goes_on && !r->is_over && !should_abort(r)) goes_on = look(r);
  if (!goes_on || should_abort(r)) {
    r->link->abort();
  } else if (has_begun) {
    r->link->finish();
  }
  return NULL;
}

// ---- The whole

static void clean(rheos_ranks *r) {
  while (r->first != NULL) {
    part *p = take_out(r, &r->first);
    rheos__rank_part_end_take(p, rheos_status_new(RHEOS_UNAVAILABLE, "this rank has ended"));
  }
  rheos__rank_exchange_deinit(&r->exchange);
  rheos__rank_order_free(r->order);
  rheos__free(r->packed[0]);
  rheos__free(r->packed[1]);
  rheos_host_unref(r->host);
  rheos__collectives_unref(r->opened);
  rheos_status_free(r->start_failed);
  pthread_cond_destroy(&r->changed);
  pthread_mutex_destroy(&r->mutex);
  rheos__free(r);
}

// The cores that are this rank's: those that mpirun has bound it to, or its share of all.
static int32_t own_cores(void) {
  cpu_set_t bound;
  const char *text = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (text == NULL) text = getenv("MPI_LOCALNRANKS");
  const long local = text != NULL ? strtol(text, NULL, 10) : 1;
  const long share = sysconf(_SC_NPROCESSORS_ONLN) / (local > 0 ? local : 1);
  CPU_ZERO(&bound);
  const int num_bound = sched_getaffinity(0, sizeof bound, &bound) == 0 ? CPU_COUNT(&bound) : 1;
  const int32_t cores = num_bound < share ? num_bound : (int32_t)share;
  return cores > 0 ? cores : 1;
}

static rheos_status *make_host(rheos_ranks *r) {
  const rheos_host_options options = {.job = "worker", .task = r->rank, .num_threads = own_cores()};
  const rheos__collective_door door = {.begin = begin, .leave = leave, .argument = r};
  RHEOS_TRY(rheos_host_new(&options, &r->host));
  r->opened = rheos__collectives_new(r->host->num_devices);
  if (r->opened == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__collectives_open(r->opened, &door));
  r->host->collectives = rheos__collectives_ref(r->opened);
  return NULL;
}

static rheos_status *start_thread(rheos_ranks *r) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the program's threads
  const int error = pthread_create(&r->thread, NULL, serve, r);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error != 0) {
    return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "the process may have no more threads");
  }
  pthread_mutex_lock(&r->mutex);
  while (!r->is_started) pthread_cond_wait(&r->changed, &r->mutex);
  rheos_status *status = r->start_failed;
  r->start_failed = NULL;
  pthread_mutex_unlock(&r->mutex);
  if (status != NULL) pthread_join(r->thread, NULL);
  return status;
}

rheos_status *rheos__ranks_join_by(const rheos__rank_link *link, rheos_ranks **out_ranks) {
  pthread_condattr_t monotonic;
  rheos_ranks *r = rheos__alloc_zeroed(sizeof *r);
  *out_ranks = NULL;
  if (r == NULL) return rheos__out_of_memory();
  r->link = link;
  r->last = &r->first;
  pthread_mutex_init(&r->mutex, NULL);
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&r->changed, &monotonic);
  pthread_condattr_destroy(&monotonic);
  rheos_status *status = start_thread(r);
  if (status != NULL) {
    clean(r);
    return status;
  }
  status = make_host(r);
  if (status != NULL) {
    rheos_ranks_free(r);
    return status;
  }
  *out_ranks = r;
  return NULL;
}

// How many ranks there are to be, as the environment has it; 0: it does not say.
static int64_t said_count(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *count = getenv(names[i]);
    if (count != NULL) return strtoll(count, NULL, 10);
  }
  return 0;
}

bool rheos_ranks_are_there(void) {
  const int64_t count = said_count();
  return count > 1 || (count == 0 && getenv("PMIX_RANK") != NULL);
}

// MPI begins once in a process.
static atomic_flag has_joined = ATOMIC_FLAG_INIT;

rheos_status *rheos_ranks_join(rheos_ranks **out_ranks) {
  RHEOS_OUT(out_ranks);
  const rheos__rank_link *link;
  if (!rheos_ranks_are_there()) {
    return rheos_status_new(RHEOS_FAILED_PRECONDITION,
                            "this process is no rank of a program: mpirun has not started it");
  }
  RHEOS_TRY(rheos__rank_link_find(&link));
  if (atomic_flag_test_and_set(&has_joined)) {
    return rheos_status_new(RHEOS_FAILED_PRECONDITION, "this process has joined the ranks already");
  }
  RHEOS_TRY(rheos__ranks_join_by(link, out_ranks));
  const int64_t said = said_count(), found = (*out_ranks)->count;
  if (said == 0 || said == found) return NULL;
  rheos_ranks_free(*out_ranks);
  *out_ranks = NULL;
  return rheos_status_new(RHEOS_FAILED_PRECONDITION,
                          "%lld processes were started, of which MPI knows %lld: mpirun is not of "
                          "the MPI that " RHEOS__RANK_LINK_FILE " was built with",
                          (long long)said, (long long)found);
}

int32_t rheos_ranks_rank(const rheos_ranks *ranks) { return ranks != NULL ? ranks->rank : -1; }

int32_t rheos_ranks_count(const rheos_ranks *ranks) { return ranks != NULL ? ranks->count : 0; }

rheos_host *rheos_ranks_host(const rheos_ranks *ranks) {
  return ranks != NULL ? ranks->host : NULL;
}

void rheos_ranks_free(rheos_ranks *ranks) {
  if (ranks == NULL) return;
  if (ranks->opened != NULL) rheos__collectives_close(ranks->opened);
  pthread_mutex_lock(&ranks->mutex);
  ranks->is_ending = true;
  tell_thread(ranks);
  pthread_mutex_unlock(&ranks->mutex);
  pthread_join(ranks->thread, NULL);
  clean(ranks);
}

void rheos_ranks_abort(rheos_ranks *ranks) {
  if (ranks == NULL) return;
  atomic_store(&ranks->is_aborted, true);
  pthread_mutex_lock(&ranks->mutex);
  pthread_cond_signal(&ranks->changed);
  pthread_mutex_unlock(&ranks->mutex);
  pthread_join(ranks->thread, NULL);  // does not return
}
