// Ranks as threads of this process, for tests: a link between them (net/rank_link.h) without MPI,
// so that the tests of ranks run everywhere, under sanitizers too.
#ifndef RHEOS_TESTS_NET_RANK_FIXTURE_H
#define RHEOS_TESTS_NET_RANK_FIXTURE_H

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "net/ranks.h"
#include "ops/array_fixture.h"

enum { MAX_RANKS = 4 };

// Bytes from a rank to another one: a note, or a piece of a tensor.
typedef struct parcel {
  struct parcel *next;
  int32_t from, to;
  bool is_note;
  size_t size_bytes;
  char bytes[];
} parcel;

// What all threads share.
static struct world {
  pthread_mutex_t mutex;
  int32_t count, num_started, num_finished;
  parcel *first;
} world = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local int32_t own_rank;

static bool local_start(int32_t *out_rank, int32_t *out_count, char *error) {
  (void)error;
  pthread_mutex_lock(&world.mutex);
  own_rank = world.num_started++;
  pthread_mutex_unlock(&world.mutex);
  *out_rank = own_rank;
  *out_count = world.count;
  return true;
}

static void local_finish(void) {
  pthread_mutex_lock(&world.mutex);
  world.num_finished++;
  pthread_mutex_unlock(&world.mutex);
}

static void local_abort(void) { abort(); }

static void put(int32_t to, bool is_note, const void *bytes, size_t size_bytes) {
  parcel *p = malloc(sizeof *p + size_bytes), **at = &world.first;
  assert_non_null(p);
  *p = (parcel){.from = own_rank, .to = to, .is_note = is_note, .size_bytes = size_bytes};
  if (size_bytes > 0) memcpy(p->bytes, bytes, size_bytes);
  pthread_mutex_lock(&world.mutex);
  while (*at != NULL) at = &(*at)->next;
  *at = p;
  pthread_mutex_unlock(&world.mutex);
}

// The first for this rank, from that one or (-1) from any; NULL: none. With the mutex held.
static parcel **find_parcel(int32_t from, bool is_note) {
  parcel **at = &world.first;
  while (*at != NULL && ((*at)->to != own_rank || (*at)->is_note != is_note ||
                         (from >= 0 && (*at)->from != from))) {
    at = &(*at)->next;
  }
  return *at != NULL ? at : NULL;
}

static bool get(int32_t from, bool is_note, void *bytes, size_t size_bytes) {
  pthread_mutex_lock(&world.mutex);
  parcel **at = find_parcel(from, is_note), *p = at != NULL ? *at : NULL;
  if (p != NULL) *at = p->next;
  pthread_mutex_unlock(&world.mutex);
  if (p == NULL) return false;
  assert_int_equal(p->size_bytes, size_bytes);
  if (size_bytes > 0) memcpy(bytes, p->bytes, size_bytes);
  free(p);
  return true;
}

static void local_send(int32_t rank, const void *note, size_t size_bytes) {
  put(rank, true, note, size_bytes);
}

static bool local_next(int32_t *out_rank, size_t *out_size_bytes) {
  pthread_mutex_lock(&world.mutex);
  parcel **at = find_parcel(-1, true);
  if (at != NULL) {
    *out_rank = (*at)->from;
    *out_size_bytes = (*at)->size_bytes;
  }
  pthread_mutex_unlock(&world.mutex);
  return at != NULL;
}

static void local_receive(int32_t rank, void *note, size_t size_bytes) {
  assert_true(get(rank, true, note, size_bytes));
}

static bool local_exchange(const rheos__rank_piece *pieces, size_t count,
                           const rheos__rank_wait *wait) {
  for (size_t i = 0; i < count; i++) {
    if (pieces[i].is_for_it) put(pieces[i].rank, false, pieces[i].data, pieces[i].size_bytes);
  }
  for (size_t i = 0; i < count; i++) {
    const rheos__rank_piece *p = &pieces[i];
    while (!p->is_for_it && !get(p->rank, false, p->data, p->size_bytes)) {
      if (wait->should_stop(wait->argument)) return false;
      sched_yield();
    }
  }
  return true;
}

static bool local_broadcast(int32_t source, void *data, size_t size_bytes,
                            const rheos__rank_wait *wait) {
  if (own_rank != source) {
    const rheos__rank_piece piece = {.rank = source, .data = data, .size_bytes = size_bytes};
    return local_exchange(&piece, 1, wait);
  }
  for (int32_t i = 0; i < world.count; i++) {
    if (i != own_rank) put(i, false, data, size_bytes);
  }
  return true;
}

static const rheos__rank_link local_link = {.version = "",
                                            .start = local_start,
                                            .finish = local_finish,
                                            .abort = local_abort,
                                            .send = local_send,
                                            .next = local_next,
                                            .receive = local_receive,
                                            .exchange = local_exchange,
                                            .broadcast = local_broadcast};

// ---- All of them

static rheos_ranks *ranks[MAX_RANKS];
static rheos_eager *eager[MAX_RANKS];

static void start_ranks(int32_t count) {
  world.count = count;
  world.num_started = world.num_finished = 0;
  for (int32_t i = 0; i < count; i++) {
    check(rheos__ranks_join_by(&local_link, &ranks[i]));
    assert_int_equal(rheos_ranks_rank(ranks[i]), i);
    const rheos_eager_options options = {.host = rheos_ranks_host(ranks[i])};
    check(rheos_eager_new(&options, &eager[i]));
  }
}

static void *end_rank(void *argument) {
  const int32_t i = (int32_t)((rheos_ranks **)argument - ranks);
  rheos_ranks_free(ranks[i]);
  rheos_eager_free(eager[i]);
  ranks[i] = NULL;
  eager[i] = NULL;
  return NULL;
}

// Ends all ranks at once, since each waits for the others.
static void end_ranks(void) {
  pthread_t threads[MAX_RANKS];
  for (int32_t i = 0; i < world.count; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, end_rank, &ranks[i]), 0);
  }
  for (int32_t i = 0; i < world.count; i++) pthread_join(threads[i], NULL);
  assert_int_equal(world.num_finished, world.count);
  assert_null(world.first);
}

#endif  // RHEOS_TESTS_NET_RANK_FIXTURE_H
