// A key is a waitable of its own, in a table by its text, as long as it has values or is in use. So
// threads that send and receive under different keys do not wait for each other, and a report of
// what a step waits for names the key.
//
// Locks: the table's before a key's. No function of the caller is called with either.
#include "resource/rendezvous.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/file.h"

typedef struct sent_value {
  rheos_tensor *value;  // counted; NULL: dead
  struct sent_value *next;
} sent_value;

typedef struct remote_receive remote_receive;

typedef struct meeting {
  rheos__waitable waitable;  // named after the key
  // Guarded by the waitable's mutex:
  sent_value *first, **last;
  rheos_code aborted;     // RHEOS_OK: it is not
  const char *why;        // the rendezvous's
  remote_receive *ended;  // that are to be told so
  // Guarded by the table's mutex:
  struct meeting *next;
  int32_t num_users;
} meeting;

struct rheos__rendezvous {
  _Atomic int32_t references;
  _Atomic int32_t names_frames;
  rheos__rendezvous_source source;
  rheos__bell nobody;  // rings for receives that have a function to be told by
  pthread_mutex_t mutex;
  meeting **meetings;  // chains by the hash of the key
  size_t num_chains, num_meetings;
  rheos_code aborted;
  char *why;
};

// ---- Keys

static rheos_status *init_meeting(rheos__resource *resource, const void *rendezvous) {
  const rheos__rendezvous *r = rendezvous;
  meeting *m = (meeting *)resource;
  rheos__waitable_init(&m->waitable);
  m->last = &m->first;
  m->aborted = r->aborted;
  m->why = r->why != NULL ? r->why : "";
  return NULL;
}

static void drop_values(meeting *m) {
  while (m->first != NULL) {
    sent_value *sent = m->first;
    m->first = sent->next;
    rheos_tensor_unref(sent->value);
    rheos__free(sent);
  }
  m->last = &m->first;
}

static void deinit_meeting(rheos__resource *resource) {
  meeting *m = (meeting *)resource;
  drop_values(m);
  rheos__waitable_deinit(&m->waitable);
}

static const rheos__resource_kind meeting_kind = {.name = "rendezvous",
                                                  .size_bytes = sizeof(meeting),
                                                  .init = init_meeting,
                                                  .deinit = deinit_meeting};

static meeting **chain_of(const rheos__rendezvous *r, const char *key) {
  return &r->meetings[rheos__hash_bytes(0, key, strlen(key)) & (r->num_chains - 1)];
}

static bool grow(rheos__rendezvous *r) {
  if (r->num_meetings < r->num_chains) return true;
  const size_t before = r->num_chains, larger = before != 0 ? before * 2 : 16;
  meeting **old = r->meetings, **chains = rheos__alloc_array(larger, sizeof *chains);
  if (chains == NULL) return false;
  r->meetings = chains;
  r->num_chains = larger;
  for (size_t i = 0; i < before; ++i) {
    for (meeting *m = old[i], *next; m != NULL; m = next) {
      next = m->next;
      meeting **chain = chain_of(r, m->waitable.base.name);
      m->next = *chain;
      *chain = m;
    }
  }
  rheos__free(old);
  return true;
}

// The key's, in use until end_use().
static rheos_status *use(rheos__rendezvous *r, const char *key, meeting **out_meeting) {
  if (!grow(r)) return rheos__out_of_memory();
  meeting **chain = chain_of(r, key), *m = *chain;
  while (m != NULL && strcmp(m->waitable.base.name, key) != 0) m = m->next;
  if (m == NULL) {
    rheos__resource *made = NULL;
    RHEOS_TRY(rheos__resource_new(&meeting_kind, key, r, &made));
    m = (meeting *)made;
    m->next = *chain;
    *chain = m;
    ++r->num_meetings;
  }
  ++m->num_users;
  *out_meeting = m;
  return NULL;
}

static rheos_status *begin_use(rheos__rendezvous *r, const char *key, meeting **out_meeting) {
  pthread_mutex_lock(&r->mutex);
  rheos_status *status = use(r, key, out_meeting);
  pthread_mutex_unlock(&r->mutex);
  return status;
}

static void forget(rheos__rendezvous *r, meeting *m) {
  meeting **at = chain_of(r, m->waitable.base.name);
  while (*at != m) at = &(*at)->next;
  *at = m->next;
  --r->num_meetings;
  rheos__resource_unref(&m->waitable.base);
}

static void end_use(rheos__rendezvous *r, meeting *m) {
  pthread_mutex_lock(&r->mutex);
  // Who is no longer in use has nobody who could send.
  if (--m->num_users == 0 && m->first == NULL) forget(r, m);
  pthread_mutex_unlock(&r->mutex);
}

char *rheos__rendezvous_key(const char *send_device, uint64_t incarnation, const char *recv_device,
                            const char *tensor_name, uint64_t frame, uint64_t trip) {
  return rheos__text_format("%s;%016llx;%s;%s;%llu:%llu", send_device,
                            (unsigned long long)incarnation, recv_device, tensor_name,
                            (unsigned long long)frame, (unsigned long long)trip);
}

// ---- The whole

rheos__rendezvous *rheos__rendezvous_new(const rheos__rendezvous_source *source) {
  rheos__rendezvous *r = rheos__alloc_zeroed(sizeof *r);
  if (r == NULL) return NULL;
  atomic_init(&r->references, 1);
  if (source != NULL) r->source = *source;
  pthread_mutex_init(&r->mutex, NULL);
  return r;
}

rheos__rendezvous *rheos__rendezvous_ref(rheos__rendezvous *rendezvous) {
  atomic_fetch_add_explicit(&rendezvous->references, 1, memory_order_relaxed);
  return rendezvous;
}

void rheos__rendezvous_unref(rheos__rendezvous *rendezvous) {
  if (rendezvous == NULL || atomic_fetch_sub(&rendezvous->references, 1) != 1) return;
  for (size_t i = 0; i < rendezvous->num_chains; ++i) {
    while (rendezvous->meetings[i] != NULL) forget(rendezvous, rendezvous->meetings[i]);
  }
  rheos__free(rendezvous->meetings);
  rheos__free(rendezvous->why);
  rheos__bell_deinit(&rendezvous->nobody);
  pthread_mutex_destroy(&rendezvous->mutex);
  rheos__free(rendezvous);
}

void rheos__rendezvous_name_frames(rheos__rendezvous *r) { atomic_store(&r->names_frames, 1); }

bool rheos__rendezvous_names_frames(const rheos__rendezvous *r) {
  return atomic_load(&r->names_frames) != 0;
}

int64_t rheos__rendezvous_step(const rheos__rendezvous *rendezvous) {
  return rendezvous->source.step;
}

size_t rheos__rendezvous_num_keys(rheos__rendezvous *rendezvous) {
  pthread_mutex_lock(&rendezvous->mutex);
  const size_t count = rendezvous->num_meetings;
  pthread_mutex_unlock(&rendezvous->mutex);
  return count;
}

// ---- Receiving

typedef struct receive {
  rheos__attempt attempt;
  rheos__rendezvous *rendezvous;  // counted
  rheos_tensor *value;            // counted; NULL: dead, or none yet
  rheos_dtype dtype;
} receive;

struct remote_receive {
  receive receive;
  rheos__received_fn received;
  void *argument;
  remote_receive *next;
};

static rheos__tried run_receive(rheos__attempt *attempt) {
  receive *r = (receive *)attempt;
  meeting *m = (meeting *)attempt->on;
  if (m->aborted != RHEOS_OK) {
    attempt->status = rheos_status_new(m->aborted, "%s", m->why);
    return RHEOS__TRIED_DONE;
  }
  sent_value *sent = m->first;
  if (sent == NULL) return RHEOS__TRIED_IN_VAIN;
  r->value = sent->value;
  m->first = sent->next;
  if (m->first == NULL) m->last = &m->first;
  rheos__free(sent);
  return RHEOS__TRIED_DONE;
}

static rheos_status *finish_receive(rheos__attempt *attempt, rheos__step *step,
                                    rheos_tensor **outputs) {
  (void)step;
  receive *r = (receive *)attempt;
  if (r->value != NULL && r->value->dtype != r->dtype) {
    return RHEOS_INVALID("a value of dtype %s was sent as '%s', where one of dtype %s was to come",
                         rheos_dtype_name(r->value->dtype), attempt->on->base.name,
                         rheos_dtype_name(r->dtype));
  }
  outputs[0] = r->value;
  r->value = NULL;
  return NULL;
}

static void deinit_receive(rheos__attempt *attempt) {
  receive *r = (receive *)attempt;
  rheos_tensor_unref(r->value);
  end_use(r->rendezvous, (meeting *)attempt->on);
  rheos__rendezvous_unref(r->rendezvous);
}

static const rheos__attempt_kind receive_kind = {
    .what = "a value", .run = run_receive, .finish = finish_receive, .deinit = deinit_receive};

static rheos_status *new_receive(rheos__rendezvous *r, const char *key, size_t size_bytes,
                                 const rheos__attempt_kind *kind, receive **out_receive) {
  receive *made = rheos__alloc_zeroed(size_bytes);
  if (made == NULL) return rheos__out_of_memory();
  meeting *m = NULL;
  rheos_status *status = begin_use(r, key, &m);
  if (status != NULL) {
    rheos__free(made);
    return status;
  }
  rheos__attempt_init(&made->attempt, kind, &m->waitable, RHEOS__TAKES);
  made->rendezvous = rheos__rendezvous_ref(r);
  *out_receive = made;
  return NULL;
}

static void want(rheos__rendezvous *r, const receive *wanted) {
  meeting *m = (meeting *)wanted->attempt.on;
  if (r->source.want == NULL) return;
  pthread_mutex_lock(&m->waitable.mutex);
  const bool is_there = m->first != NULL || m->aborted != RHEOS_OK;
  pthread_mutex_unlock(&m->waitable.mutex);
  if (!is_there) r->source.want(r->source.argument, r, m->waitable.base.name);
}

rheos_status *rheos__rendezvous_receive(rheos__rendezvous *rendezvous, const char *key,
                                        rheos_dtype dtype, rheos__attempt **out_attempt) {
  *out_attempt = NULL;
  receive *made = NULL;
  RHEOS_TRY(new_receive(rendezvous, key, sizeof *made, &receive_kind, &made));
  made->dtype = dtype;
  want(rendezvous, made);
  *out_attempt = &made->attempt;
  return NULL;
}

// ---- Receiving for somebody elsewhere

// With the key's mutex held.
static void note_ended(rheos__attempt *attempt) {
  remote_receive *r = (remote_receive *)attempt;
  meeting *m = (meeting *)attempt->on;
  r->next = m->ended;
  m->ended = r;
}

static rheos__tried run_remote(rheos__attempt *attempt) {
  const rheos__tried tried = run_receive(attempt);
  if (tried == RHEOS__TRIED_DONE) note_ended(attempt);
  return tried;
}

static const rheos__attempt_kind remote_kind = {
    .what = "a value", .run = run_remote, .give_back = note_ended, .deinit = deinit_receive};

// With the key's mutex held: those that have ended since the last call.
static remote_receive *take_ended(meeting *m) {
  remote_receive *ended = m->ended;
  m->ended = NULL;
  return ended;
}

static void tell(remote_receive *ended) {
  while (ended != NULL) {
    remote_receive *next = ended->next;
    rheos_status *failed = ended->receive.attempt.status;
    rheos_tensor *value = ended->receive.value;
    ended->receive.attempt.status = NULL;
    ended->receive.value = NULL;
    ended->received(ended->argument, failed, value);
    rheos__attempt_free(&ended->receive.attempt);
    ended = next;
  }
}

static remote_receive *take_ended_of(meeting *m) {
  pthread_mutex_lock(&m->waitable.mutex);
  remote_receive *ended = take_ended(m);
  pthread_mutex_unlock(&m->waitable.mutex);
  return ended;
}

rheos_status *rheos__rendezvous_receive_for(rheos__rendezvous *rendezvous, const char *key,
                                            rheos__received_fn received, void *argument) {
  receive *made = NULL;
  meeting *m = NULL;
  RHEOS_TRY(new_receive(rendezvous, key, sizeof(remote_receive), &remote_kind, &made));
  remote_receive *remote = (remote_receive *)made;
  remote->received = received;
  remote->argument = argument;
  rheos_status *status = begin_use(rendezvous, key, &m);
  if (status != NULL) {
    rheos__attempt_free(&made->attempt);
    return status;
  }
  want(rendezvous, made);
  rheos__attempt_begin(&made->attempt, &rendezvous->nobody);
  tell(take_ended_of(m));
  end_use(rendezvous, m);
  return NULL;
}

// ---- Sending, and the end

static rheos_status *put(meeting *m, sent_value *sent, remote_receive **out_ended) {
  rheos_status *status = NULL;
  pthread_mutex_lock(&m->waitable.mutex);
  if (m->aborted != RHEOS_OK) {
    status = rheos_status_new(m->aborted, "%s", m->why);
  } else {
    *m->last = sent;
    m->last = &sent->next;
    rheos__waitable_serve(&m->waitable);
  }
  *out_ended = take_ended(m);
  pthread_mutex_unlock(&m->waitable.mutex);
  return status;
}

rheos_status *rheos__rendezvous_send(rheos__rendezvous *rendezvous, const char *key,
                                     rheos_tensor *value) {
  sent_value *sent = rheos__alloc_zeroed(sizeof *sent);
  if (sent == NULL) return rheos__out_of_memory();
  meeting *m = NULL;
  rheos_status *status = begin_use(rendezvous, key, &m);
  if (status == NULL) {
    remote_receive *ended = NULL;
    if (value != NULL) sent->value = rheos_tensor_ref(value);
    status = put(m, sent, &ended);
    tell(ended);
    end_use(rendezvous, m);
  }
  if (status != NULL) {
    rheos_tensor_unref(sent->value);
    rheos__free(sent);
  }
  return status;
}

// Adds those that end to a list.
static void abort_meeting(meeting *m, rheos_code code, const char *why, remote_receive **ended) {
  pthread_mutex_lock(&m->waitable.mutex);
  m->aborted = code;
  m->why = why;
  drop_values(m);
  rheos__waitable_fail(&m->waitable, RHEOS__TAKES, code, why);
  for (remote_receive *r = take_ended(m), *next; r != NULL; r = next) {
    next = r->next;
    r->next = *ended;
    *ended = r;
  }
  pthread_mutex_unlock(&m->waitable.mutex);
}

void rheos__rendezvous_abort(rheos__rendezvous *rendezvous, const rheos_status *why) {
  assert(rheos_status_code(why) != RHEOS_OK);
  remote_receive *ended = NULL;
  pthread_mutex_lock(&rendezvous->mutex);
  if (rendezvous->aborted == RHEOS_OK) {
    rendezvous->aborted = rheos_status_code(why);
    rendezvous->why = rheos__strdup(rheos_status_message(why));
    const char *text = rendezvous->why != NULL ? rendezvous->why : "";
    for (size_t i = 0; i < rendezvous->num_chains; ++i) {
      for (meeting *m = rendezvous->meetings[i]; m != NULL; m = m->next) {
        abort_meeting(m, rendezvous->aborted, text, &ended);
      }
    }
  }
  pthread_mutex_unlock(&rendezvous->mutex);
  tell(ended);
}
