// Managers that cancel operations which run at once.
#include "cancellation.h"

#include <stdlib.h>

typedef struct callback {
  struct callback *next;
  TFE_CancellationToken token;
  TFE_CancelCallback call;
} callback;

struct TFE_CancellationManager {
  pthread_mutex_t lock;
  pthread_cond_t called;  // all callbacks have returned
  callback *callbacks;
  TFE_CancellationToken last_token;
  bool is_cancelled, is_cancelling;
};

TFE_CancellationManager *TFE_NewCancellationManager(void) {
  TFE_CancellationManager *manager = calloc(1, sizeof *manager);
  if (manager == NULL) return NULL;
  pthread_mutex_init(&manager->lock, NULL);
  pthread_cond_init(&manager->called, NULL);
  return manager;
}

void TFE_DeleteCancellationManager(TFE_CancellationManager *manager) {
  if (manager == NULL) return;
  while (manager->callbacks != NULL) {
    callback *next = manager->callbacks->next;
    free(manager->callbacks);
    manager->callbacks = next;
  }
  pthread_mutex_destroy(&manager->lock);
  pthread_cond_destroy(&manager->called);
  free(manager);
}

static bool read_flag(TFE_CancellationManager *manager, const bool *flag) {
  pthread_mutex_lock(&manager->lock);
  bool is_set = *flag;
  pthread_mutex_unlock(&manager->lock);
  return is_set;
}

bool TFE_CancellationManagerIsCancelled(TFE_CancellationManager *manager) {
  return manager != NULL && read_flag(manager, &manager->is_cancelled);
}

bool TFE_CancellationManagerIsCancelling(TFE_CancellationManager *manager) {
  return manager != NULL && read_flag(manager, &manager->is_cancelling);
}

// Calls back without the lock: a callback may ask the manager.
void TFE_CancellationManagerStartCancel(TFE_CancellationManager *manager) {
  if (manager == NULL) return;
  pthread_mutex_lock(&manager->lock);
  if (manager->is_cancelled || manager->is_cancelling) {
    pthread_mutex_unlock(&manager->lock);
    return;
  }
  manager->is_cancelling = true;
  callback *callbacks = manager->callbacks;
  manager->callbacks = NULL;
  pthread_mutex_unlock(&manager->lock);
  while (callbacks != NULL) {
    callback *next = callbacks->next;
    callbacks->call.callback(callbacks->call.context);
    free(callbacks);
    callbacks = next;
  }
  pthread_mutex_lock(&manager->lock);
  manager->is_cancelled = true;
  manager->is_cancelling = false;
  pthread_cond_broadcast(&manager->called);
  pthread_mutex_unlock(&manager->lock);
}

TFE_CancellationToken TFE_CancellationManagerGetToken(TFE_CancellationManager *manager) {
  if (manager == NULL) return 0;
  pthread_mutex_lock(&manager->lock);
  TFE_CancellationToken token = manager->last_token++;
  pthread_mutex_unlock(&manager->lock);
  return token;
}

bool TFE_CancellationManagerRegisterCallback(TFE_CancellationManager *manager,
                                             TFE_CancellationToken token,
                                             const TFE_CancelCallback *c_callback,
                                             const char *callback_name) {
  (void)callback_name;
  if (manager == NULL || c_callback == NULL || c_callback->callback == NULL) return false;
  callback *made = malloc(sizeof *made);
  if (made == NULL) return false;
  pthread_mutex_lock(&manager->lock);
  bool is_registered = !manager->is_cancelled && !manager->is_cancelling;
  if (is_registered) {
    *made = (callback){.next = manager->callbacks, .token = token, .call = *c_callback};
    manager->callbacks = made;
  }
  pthread_mutex_unlock(&manager->lock);
  if (!is_registered) free(made);
  return is_registered;
}

// Whether the callback was there and will not be called.
static bool take_out(TFE_CancellationManager *manager, TFE_CancellationToken token) {
  callback **at = &manager->callbacks;
  while (*at != NULL && (*at)->token != token) at = &(*at)->next;
  if (*at == NULL) return false;
  callback *found = *at;
  *at = found->next;
  free(found);
  return true;
}

bool TFE_CancellationManagerTryDeregisterCallback(TFE_CancellationManager *manager,
                                                  TFE_CancellationToken token) {
  if (manager == NULL) return false;
  pthread_mutex_lock(&manager->lock);
  bool is_out = take_out(manager, token);
  pthread_mutex_unlock(&manager->lock);
  return is_out;
}

// Waits for callbacks that run.
bool TFE_CancellationManagerDeregisterCallback(TFE_CancellationManager *manager,
                                               TFE_CancellationToken token) {
  if (manager == NULL) return false;
  pthread_mutex_lock(&manager->lock);
  bool is_out = take_out(manager, token);
  while (!is_out && manager->is_cancelling) pthread_cond_wait(&manager->called, &manager->lock);
  pthread_mutex_unlock(&manager->lock);
  return is_out;
}

bool capi_should_stop(void *manager) {
  TFE_CancellationManager *m = manager;
  pthread_mutex_lock(&m->lock);
  bool is_stopped = m->is_cancelled || m->is_cancelling;
  pthread_mutex_unlock(&m->lock);
  return is_stopped;
}
