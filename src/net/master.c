#include "net/master.h"

void rheos__master_init(rheos__master *master) {
  *master = (rheos__master){.sessions = NULL};
  pthread_mutex_init(&master->mutex, NULL);
}

void rheos__master_deinit(rheos__master *master) {
  rheos__master_close_all(master, "the server was stopped");
  pthread_mutex_destroy(&master->mutex);
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
  master->sessions = entry;
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
  if (entry != NULL) atomic_fetch_add(&entry->session->references, 1);
  pthread_mutex_unlock(&master->mutex);
  return entry != NULL ? NULL : no_session(handle);
}

static void close_entry(rheos__master_entry *entry, const char *why) {
  rheos__master_session_close(entry->session, why);
  rheos__master_session_unref(entry->session);
  rheos__free(entry);
}

rheos_status *rheos__master_close(rheos__master *master, const char *handle) {
  pthread_mutex_lock(&master->mutex);
  rheos__master_entry **place = place_of(master, handle), *entry = *place;
  if (entry != NULL) *place = entry->next;
  pthread_mutex_unlock(&master->mutex);
  if (entry == NULL) return no_session(handle);
  close_entry(entry, "Session was closed.");
  return NULL;
}

void rheos__master_close_all(rheos__master *master, const char *why) {
  pthread_mutex_lock(&master->mutex);
  rheos__master_entry *entry = master->sessions;
  master->sessions = NULL;
  pthread_mutex_unlock(&master->mutex);
  while (entry != NULL) {
    rheos__master_entry *next = entry->next;
    close_entry(entry, why);
    entry = next;
  }
}
