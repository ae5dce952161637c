#include "runtime/step/home.h"

#include "runtime/call/watched_calls.h"

static rheos_status *find_host(const rheos__home_options *options, rheos_host **out_host) {
  if (options->host == NULL) return rheos_host_new(&options->own_host, out_host);
  if (options->own_host.num_cpu_devices != 0 || options->own_host.num_threads != 0) {
    return RHEOS_INVALID("what is given a host has its devices and threads, and none of its own");
  }
  *out_host = rheos_host_ref(options->host);
  return NULL;
}

static bool packs_operands(const rheos_rewrite_options *rewrites) {
  return !rewrites->disable_meta_optimizer && rewrites->layout_optimizer != RHEOS_TOGGLE_OFF;
}

static void fill_context(rheos__home *home, const rheos__plan_context *given) {
  rheos__plan_context *context = &home->context;
  const rheos_host *host = home->host;
  const int32_t num_threads = rheos_host_num_threads(host);
  *context = *given;
  context->resources = home->own_resources != NULL ? home->own_resources : host->resources;
  context->packings = packs_operands(&given->rewrites) ? host->packings : NULL;
  context->devices = host->devices;
  context->num_devices = host->num_devices;
  if (given->num_threads <= 0 || given->num_threads > num_threads) {
    context->num_threads = num_threads;
  }
}

rheos_status *rheos__home_init(rheos__home *home, const rheos__home_options *options) {
  home->owner = options->owner;
  home->shares_instances = options->shares_instances;
  rheos__waits_init(&home->waits);
  pthread_mutex_init(&home->mutex, NULL);
  pthread_cond_init(&home->empty, NULL);
  RHEOS_TRY(find_host(options, &home->host));
  if (options->has_resources) {
    home->own_resources = rheos__resources_new();
    if (home->own_resources == NULL) return rheos__out_of_memory();
  }
  fill_context(home, &options->context);
  home->bodies = rheos__bodies_new(&home->context);
  home->context.bodies = home->bodies;
  home->tasks = rheos__tasks_new(home);
  return home->bodies != NULL && home->tasks != NULL ? NULL : rheos__out_of_memory();
}

void rheos__home_deinit(rheos__home *home) {
  rheos__home_close(home);
  rheos__watched_calls_free(home);
  rheos__bodies_unref(home->bodies);
  rheos__tasks_unref(home->tasks);
  rheos__instances_unref(home->instances);
  rheos__collectives_unref(home->collectives);
  rheos__resources_free(home->own_resources);
  rheos_host_unref(home->host);
  rheos__bell_deinit(&home->closing);
  rheos__waits_deinit(&home->waits);
  pthread_cond_destroy(&home->empty);
  pthread_mutex_destroy(&home->mutex);
}

void rheos__home_say_empty(rheos__home *home) {
  pthread_mutex_lock(&home->mutex);
  home->is_empty = true;
  pthread_cond_broadcast(&home->empty);
  pthread_mutex_unlock(&home->mutex);
}

void rheos__home_close(rheos__home *home) {
  if (atomic_fetch_or(&home->users, RHEOS__HOME_CLOSED) == 0) rheos__home_say_empty(home);
  rheos__bell_ring(&home->closing);
  pthread_mutex_lock(&home->mutex);
  while (!home->is_empty && !rheos__pool_is_forked(home->host->pool)) {
    pthread_cond_wait(&home->empty, &home->mutex);
  }
  pthread_mutex_unlock(&home->mutex);
  rheos__tasks_close(home->tasks);
}

void rheos__home_clear(rheos__home *home) {
  rheos__watched_calls_clear(home);
  rheos__bodies_clear(home->bodies);
  rheos__resources_clear(home->own_resources);
}

rheos_status *rheos__home_closed_error(const rheos__home *home) {
  return rheos_status_new(RHEOS_FAILED_PRECONDITION, "Attempted to use a closed %s.", home->owner);
}
