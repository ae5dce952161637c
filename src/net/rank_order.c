// A round is kept until all ranks have come to it. One that has failed tells each that has come so,
// and each that comes later.
#include "net/rank_order.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "resource/collective_member.h"

typedef struct round {
  struct round *next;
  rheos__rank_note first;  // of the first to come
  rheos_code why;          // RHEOS_OK: it has not failed
  char text[RHEOS__RANK_TEXT_BYTES];
  int32_t num_come, source;
  struct {
    bool has_come, was_told;  // that it has failed
    uint64_t serial;          // of its coming
  } ranks[];
} round;

struct rheos__rank_order {
  int32_t num_ranks, num_ended;
  rheos_code *ended;  // of each rank, why it comes to nothing more; RHEOS_OK: it does
  bool was_end_told;
  round *first, **last;
};

bool rheos__rank_key_equal(const rheos__rank_key *a, const rheos__rank_key *b) {
  return a->group_key == b->group_key && a->instance_key == b->instance_key &&
         a->frame == b->frame && a->trip == b->trip;
}

rheos__rank_order *rheos__rank_order_new(int32_t num_ranks) {
  rheos__rank_order *o = rheos__alloc_zeroed(sizeof *o);
  rheos_code *ended = rheos__alloc_zeroed((size_t)num_ranks * sizeof *ended);
  if (o == NULL || ended == NULL) {
    rheos__free(ended);
    rheos__free(o);
    return NULL;
  }
  o->num_ranks = num_ranks;
  o->ended = ended;
  o->last = &o->first;
  return o;
}

void rheos__rank_order_free(rheos__rank_order *order) {
  if (order == NULL) return;
  while (order->first != NULL) {
    round *r = order->first;
    order->first = r->next;
    rheos__free(r);
  }
  rheos__free(order->ended);
  rheos__free(order);
}

static void fail(round *r, rheos_code code, const char *format, ...) {
  if (r->why != RHEOS_OK) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(r->text, sizeof r->text, format, arguments);
  va_end(arguments);
  r->why = code;
}

static void fail_by_end(const rheos__rank_order *o, round *r, int32_t rank) {
  const rheos__rank_key *of = &r->first.key;
  if (r->ranks[rank].has_come) return;
  fail(
      r, o->ended[rank],
      o->ended[rank] == RHEOS_UNAVAILABLE
          ? "/job:worker/task:%d has ended, so group %d, instance %d does not come together"
          : "/job:worker/task:%d is out of memory, so group %d, instance %d does not come together",
      (int)rank, (int)of->group_key, (int)of->instance_key);
}

// ---- Rounds

// The first round that the rank has not come to.
static round *find_round(const rheos__rank_order *o, int32_t rank, const rheos__rank_key *key) {
  round *r = o->first;
  while (r != NULL && (r->ranks[rank].has_come || !rheos__rank_key_equal(&r->first.key, key))) {
    r = r->next;
  }
  return r;
}

static round *find_round_come_to(const rheos__rank_order *o, int32_t rank, uint64_t serial) {
  round *r = o->first;
  while (r != NULL && !(r->ranks[rank].has_come && r->ranks[rank].serial == serial)) r = r->next;
  return r;
}

static round *add_round(rheos__rank_order *o, const rheos__rank_note *note) {
  round *r = rheos__alloc_zeroed(sizeof *r + (size_t)o->num_ranks * sizeof r->ranks[0]);
  if (r == NULL) return NULL;
  r->first = *note;
  r->source = -1;
  *o->last = r;
  o->last = &r->next;
  for (int32_t i = 0; i < o->num_ranks; i++) {
    if (o->ended[i] != RHEOS_OK) fail_by_end(o, r, i);
  }
  return r;
}

static void check_fits(const rheos__rank_order *o, round *r, int32_t rank,
                       const rheos__rank_note *note) {
  const rheos__rank_note *first = &r->first;
  const int instance = note->key.instance_key, group = note->key.group_key;
  if (note->group_size != o->num_ranks) {
    fail(r, RHEOS_INVALID_ARGUMENT,
         "/job:worker/task:%d is joining a group with size %d, but it has to be of all %d ranks "
         "(group_key=%d)",
         (int)rank, (int)note->group_size, (int)o->num_ranks, group);
  } else if (note->rank >= 0 && note->rank != rank) {
    fail(r, RHEOS_INVALID_ARGUMENT,
         "/job:worker/task:%d is joining a group as rank %d: under MPI it has its own rank there "
         "(group_key=%d)",
         (int)rank, (int)note->rank, group);
  } else if (first->type != note->type || first->dtype != note->dtype ||
             first->merge != note->merge || first->divides != note->divides) {
    fail(r, RHEOS_INTERNAL,
         "Collective instance %d expected type %d and data_type %d but got type %d and data_type "
         "%d from /job:worker/task:%d, or another reduction (group_key=%d)",
         instance, (int)first->type, (int)first->dtype, (int)note->type, (int)note->dtype,
         (int)rank, group);
  } else if (!rheos_shape_equal(&first->shape, &note->shape)) {
    char shapes[2][64];
    rheos_shape_format(&note->shape, shapes[0], sizeof shapes[0]);
    rheos_shape_format(&first->shape, shapes[1], sizeof shapes[1]);
    fail(r, RHEOS_INVALID_ARGUMENT,
         "Shape mismatch in the collective instance %d. Op at /job:worker/task:%d expected shape "
         "%s but another member in the group expected shape %s (group_key=%d)",
         instance, (int)rank, shapes[0], shapes[1], group);
  } else if (note->is_source && r->source >= 0) {
    fail(r, RHEOS_INTERNAL,
         "Instance %d already has source %d, received second claim from %d (group_key=%d)",
         instance, (int)r->source, (int)rank, group);
  }
}

static void check_whole(const rheos__rank_order *o, round *r) {
  if (r->num_come < o->num_ranks || r->first.type != RHEOS__COLLECTIVE_BROADCAST) return;
  if (r->source >= 0) return;
  fail(r, RHEOS_INTERNAL,
       "Instance %d found no source for broadcast. This could mean that there were group_size=%d "
       "BcastRecvs but no BcastSend (group_key=%d).",
       (int)r->first.key.instance_key, (int)o->num_ranks, (int)r->first.key.group_key);
}

// ---- Hearing

static bool hear_coming(rheos__rank_order *o, int32_t rank, const rheos__rank_note *note) {
  round *r = find_round(o, rank, &note->key);
  if (r == NULL) r = add_round(o, note);
  if (r == NULL) return false;
  r->ranks[rank].has_come = true;
  r->ranks[rank].serial = note->serial;
  r->num_come++;
  check_fits(o, r, rank, note);
  if (note->is_source) r->source = rank;
  check_whole(o, r);
  return true;
}

static void hear_leaving(rheos__rank_order *o, int32_t rank, const rheos__rank_note *note) {
  round *r = find_round_come_to(o, rank, note->serial);
  if (r == NULL) return;  // it was next before
  fail(r, RHEOS_CANCELLED,
       "/job:worker/task:%d has left the collective of group %d, instance %d before the others had "
       "come: its step was stopped",
       (int)rank, (int)note->key.group_key, (int)note->key.instance_key);
}

static void hear_end(rheos__rank_order *o, int32_t rank, rheos_code why) {
  if (why == RHEOS_UNAVAILABLE) o->num_ended++;
  o->ended[rank] = why;
  for (round *r = o->first; r != NULL; r = r->next) fail_by_end(o, r, rank);
}

bool rheos__rank_order_hear(rheos__rank_order *order, int32_t rank, const rheos__rank_note *note) {
  switch (note->says) {
    case RHEOS__RANK_COMES: return hear_coming(order, rank, note);
    case RHEOS__RANK_LEAVES: hear_leaving(order, rank, note); return true;
    default: hear_end(order, rank, note->why); return true;
  }
}

// ---- Verdicts

static void drop(rheos__rank_order *o, round **at) {
  round *r = *at;
  *at = r->next;
  if (o->last == &r->next) o->last = at;
  rheos__free(r);
}

// A rank that has come to the round, which has failed, and does not know; -1: none.
static int32_t find_untold(const rheos__rank_order *o, const round *r) {
  for (int32_t i = 0; i < o->num_ranks; i++) {
    if (r->ranks[i].has_come && !r->ranks[i].was_told) return i;
  }
  return -1;
}

static bool all_were_told(const rheos__rank_order *o, const round *r) {
  return r->num_come == o->num_ranks && find_untold(o, r) < 0;
}

bool rheos__rank_order_next(rheos__rank_order *order, rheos__rank_verdict *out_verdict,
                            int32_t *out_rank, char *out_text) {
  for (round **at = &order->first; *at != NULL; at = &(*at)->next) {
    round *r = *at;
    *out_rank = -1;
    memset(out_verdict, 0, sizeof *out_verdict);
    out_verdict->key = r->first.key;
    out_verdict->source = r->source;
    if (r->why == RHEOS_OK && r->num_come == order->num_ranks) {
      drop(order, at);
      return true;
    }
    const int32_t untold = r->why != RHEOS_OK ? find_untold(order, r) : -1;
    if (untold < 0) continue;
    *out_rank = untold;
    out_verdict->why = r->why;
    out_verdict->serial = r->ranks[untold].serial;
    memcpy(out_text, r->text, sizeof r->text);
    r->ranks[untold].was_told = true;
    if (all_were_told(order, r)) drop(order, at);
    return true;
  }
  if (order->num_ended < order->num_ranks || order->was_end_told) return false;
  order->was_end_told = true;
  *out_rank = -1;
  memset(out_verdict, 0, sizeof *out_verdict);
  out_verdict->is_end = true;
  return true;
}
