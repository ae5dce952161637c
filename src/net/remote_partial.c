#include "net/remote_partial.h"

#include "master.pb-c.h"
#include "net/remote_step.h"

typedef struct rheos__remote_partial {
  int64_t handle;   // of the program
  char *told;       // by the server
  size_t num_left;  // to be fed and fetched
  struct rheos__remote_partial *next;
} rheos__remote_partial;

// ---- Those that are open

static void partial_free(rheos__remote_partial *partial) {
  rheos__free(partial->told);
  rheos__free(partial);
}

static rheos_status *add(rheos__remote_session *session, const char *told, size_t num_left,
                         int64_t *out_handle) {
  rheos__remote_partial *partial = rheos__alloc(sizeof *partial);
  char *copy = rheos__strdup(told);
  if (partial == NULL || copy == NULL) {
    rheos__free(partial);
    rheos__free(copy);
    return rheos__out_of_memory();
  }
  pthread_mutex_lock(&session->mutex);
  *partial = (rheos__remote_partial){++session->last_partial, copy, num_left, session->partials};
  session->partials = partial;
  *out_handle = partial->handle;
  pthread_mutex_unlock(&session->mutex);
  return NULL;
}

// With the session's mutex held.
static rheos__remote_partial **place_of(rheos__remote_session *session, int64_t handle) {
  rheos__remote_partial **place = &session->partials;
  while (*place != NULL && (*place)->handle != handle) place = &(*place)->next;
  return place;
}

// As the server calls it, in the arena.
static rheos_status *find(rheos__remote_session *session, int64_t handle, rheos__arena *arena,
                          char **out_told) {
  pthread_mutex_lock(&session->mutex);
  const rheos__remote_partial *partial = *place_of(session, handle);
  *out_told = partial != NULL ? rheos__arena_strdup(arena, partial->told) : NULL;
  pthread_mutex_unlock(&session->mutex);
  if (partial == NULL) return RHEOS_INVALID("Must run 'setup' before performing partial runs!");
  return *out_told != NULL ? NULL : rheos__out_of_memory();
}

// With the session's mutex held.
static void forget(rheos__remote_partial **place) {
  rheos__remote_partial *partial = *place;
  *place = partial->next;
  partial_free(partial);
}

// A step that was fed and fetched is over on the server too.
static void count_done(rheos__remote_session *session, int64_t handle, size_t count) {
  pthread_mutex_lock(&session->mutex);
  rheos__remote_partial **place = place_of(session, handle);
  if (*place != NULL && ((*place)->num_left -= count) == 0) forget(place);
  pthread_mutex_unlock(&session->mutex);
}

// The protocol has no word for it: the server forgets the step with the session.
void rheos__remote_partial_end(rheos_session *base, int64_t handle) {
  rheos__remote_session *session = rheos__remote(base);
  pthread_mutex_lock(&session->mutex);
  rheos__remote_partial **place = place_of(session, handle);
  if (*place != NULL) forget(place);
  pthread_mutex_unlock(&session->mutex);
}

void rheos__remote_forget_partials(rheos__remote_session *session) {
  while (session->partials != NULL) forget(&session->partials);
}

// ---- Names

static bool is_among(char *const *names, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(names[i], name) == 0) return true;
  }
  return false;
}

// A server gives what is fetched twice once.
static rheos_status *ask_once(rheos__step_names *names, rheos__arena *arena) {
  const size_t count = names->num_asked;
  char **asked = rheos__arena_alloc(arena, (count + 1) * sizeof *asked);
  if (asked == NULL) return rheos__out_of_memory();
  names->num_asked = 0;
  for (size_t i = 0; i < count; i++) {
    if (is_among(asked, names->num_asked, names->fetches[i])) continue;
    asked[names->num_asked++] = names->fetches[i];
  }
  names->asked = asked;
  return NULL;
}

static rheos_status *name_call(const rheos_session *session, const rheos__signature_ids *ids,
                               rheos__arena *arena, rheos__step_names *names) {
  RHEOS_TRY(rheos__remote_names(session, ids, arena, names));
  return ask_once(names, arena);
}

// ---- Setting up

static rheos_status *set_up(rheos__remote_session *session, const rheos__signature_ids *ids,
                            const rheos__step_names *names, int64_t *out_handle) {
  static const rheos__message_form form = {.descriptor =
                                               &tensorflow__partial_run_setup_response__descriptor};
  const size_t num_feeds = (size_t)ids->num_feeds;
  Tensorflow__PartialRunSetupRequest fields = TENSORFLOW__PARTIAL_RUN_SETUP_REQUEST__INIT;
  rheos__message request = {0};
  rheos__received reply;
  fields.session_handle = session->handle;
  fields.feed = names->feeds;
  fields.n_feed = num_feeds;
  fields.fetch = names->asked;
  fields.n_fetch = names->num_asked;
  fields.target = names->targets;
  fields.n_target = (size_t)ids->num_targets;
  rheos__message_put(&request, &fields.base);
  rheos_status *status = rheos__remote_call(&session->server, RHEOS__PARTIAL_RUN_SETUP, &request, 0,
                                            NULL, &form, &reply);
  if (status == NULL) {
    const Tensorflow__PartialRunSetupResponse *r = (const void *)reply.message;
    status = add(session, r->partial_run_handle, num_feeds + names->num_asked, out_handle);
  }
  rheos__received_deinit(&reply);
  rheos__message_deinit(&request);
  return status;
}

rheos_status *rheos__remote_partial_setup(rheos_session *base, const rheos__signature_ids *ids,
                                          int64_t *out_handle) {
  rheos__remote_session *session = rheos__remote(base);
  rheos__step_names names;
  rheos__arena arena;
  RHEOS_TRY(rheos__remote_bring_up(session, NULL));
  rheos__arena_init(&arena);
  rheos_status *status = name_call(base, ids, &arena, &names);
  if (status == NULL) status = set_up(session, ids, &names, out_handle);
  rheos__arena_deinit(&arena);
  return status;
}

// ---- Running

static rheos_status *run(rheos__remote_session *session, int64_t handle,
                         const rheos__signature_ids *ids, rheos_tensor *const *values,
                         rheos_tensor **out_values, const rheos_run_options *options,
                         rheos__arena *arena) {
  rheos__step_names names;
  char *told;
  RHEOS_TRY(find(session, handle, arena, &told));
  RHEOS_TRY(name_call(&session->base, ids, arena, &names));
  RHEOS_TRY(rheos__remote_run_named(session, told, ids, &names, values, out_values, options));
  count_done(session, handle, (size_t)ids->num_feeds + names.num_asked);
  return NULL;
}

rheos_status *rheos__remote_partial_run(rheos_session *base, int64_t handle,
                                        const rheos__signature_ids *ids,
                                        rheos_tensor *const *values, rheos_tensor **out_values,
                                        const rheos_run_options *options) {
  rheos__remote_session *session = rheos__remote(base);
  rheos__arena arena;
  RHEOS_TRY(rheos__remote_check_open(session));
  RHEOS_TRY(rheos__remote_check_feeds(base->graph, ids, values));
  rheos__arena_init(&arena);
  rheos_status *status = run(session, handle, ids, values, out_values, options, &arena);
  rheos__arena_deinit(&arena);
  return status;
}
