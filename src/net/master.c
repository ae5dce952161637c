#include "net/master.h"

#include "runtime/threads/pool.h"

void rheos__master_init(rheos__master *master) {
  *master = (rheos__master){.sessions = NULL};
  pthread_mutex_init(&master->mutex, NULL);
}

void rheos__master_deinit(rheos__master *master) {
  rheos__master_close_all(master, "the server was stopped");
  pthread_mutex_destroy(&master->mutex);
}

int32_t rheos__master_count(rheos__master *master) {
  pthread_mutex_lock(&master->mutex);
  const int32_t count = master->num_sessions;
  pthread_mutex_unlock(&master->mutex);
  return count;
}

rheos_status *rheos__master_check_room(rheos__master *master) {
  const int32_t count = rheos__master_count(master), most = master->max_sessions;
  if (count < most) return NULL;
  return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED,
                          "the server has %d sessions, and takes no more than %d (--max-sessions)",
                          (int)count, (int)most);
}

rheos_status *rheos__master_add_take(rheos__master *master, rheos__master_session *session) {
  rheos__master_entry *entry = rheos__alloc(sizeof *entry);
  if (entry == NULL) {
    rheos__master_session_close(session, "out of memory");
    rheos__master_session_unref(session);
    return rheos__out_of_memory();
  }
  pthread_mutex_lock(&master->mutex);
  *entry = (rheos__master_entry){session, master->sessions};
  atomic_store(&session->last_call_ns, rheos__clock_ns());
  master->sessions = entry;
  session->is_listed = true;
  master->num_sessions++;
  pthread_mutex_unlock(&master->mutex);
  return NULL;
}

// With the mutex held.
static rheos__master_entry **place_of(rheos__master *master, const char *handle) {
  rheos__master_entry **place = &master->sessions;
  while (*place != NULL && strcmp((*place)->session->handle, handle) != 0) place = &(*place)->next;
  return place;
}

static rheos_status *no_session(const char *handle) {
  return rheos_status_new(RHEOS_ABORTED,
                          "Session %s is not found. Possibly, this master has restarted.", handle);
}

rheos_status *rheos__master_find(rheos__master *master, const char *handle,
                                 rheos__master_session **out_session) {
  pthread_mutex_lock(&master->mutex);
  const rheos__master_entry *entry = *place_of(master, handle);
  *out_session = entry != NULL ? entry->session : NULL;
  if (entry != NULL) {
    atomic_fetch_add(&entry->session->references, 1);
    atomic_fetch_add(&entry->session->num_calls, 1);
    atomic_store(&entry->session->last_call_ns, rheos__clock_ns());
  }
  pthread_mutex_unlock(&master->mutex);
  return entry != NULL ? NULL : no_session(handle);
}

void rheos__master_put_back(rheos__master_session *session) {
  atomic_store(&session->last_end_ns, rheos__clock_ns());
  atomic_fetch_sub(&session->num_calls, 1);
  rheos__master_session_unref(session);
}

// With the mutex held.
static rheos__incoming *unlist(rheos__master *master, rheos__master_entry *entry) {
  rheos__incoming *holder = entry->session->holder;
  entry->session->holder = NULL;
  entry->session->is_listed = false;
  master->num_sessions--;
  return holder;
}

static void close_entry(rheos__master *master, rheos__master_entry *entry, rheos__incoming *holder,
                        const char *why) {
  if (holder != NULL) master->transport->reply(holder, RHEOS_OK, "", (rheos__pieces){NULL, 0});
  rheos__metrics_session_closed(master->metrics, entry->session->handle, why);
  rheos__master_session_close(entry->session, why);
  rheos__master_session_unref(entry->session);
  rheos__free(entry);
}

rheos_status *rheos__master_close(rheos__master *master, const char *handle, const char *why) {
  rheos__incoming *holder = NULL;
  pthread_mutex_lock(&master->mutex);
  rheos__master_entry **place = place_of(master, handle), *entry = *place;
  if (entry != NULL) *place = entry->next;
  if (entry != NULL) holder = unlist(master, entry);
  pthread_mutex_unlock(&master->mutex);
  if (entry == NULL) return no_session(handle);
  close_entry(master, entry, holder, why);
  return NULL;
}

void rheos__master_close_all(rheos__master *master, const char *why) {
  pthread_mutex_lock(&master->mutex);
  while (master->sessions != NULL) {
    rheos__master_entry *entry = master->sessions;
    master->sessions = entry->next;
    rheos__incoming *holder = unlist(master, entry);
    pthread_mutex_unlock(&master->mutex);
    close_entry(master, entry, holder, why);
    pthread_mutex_lock(&master->mutex);
  }
  pthread_mutex_unlock(&master->mutex);
}
