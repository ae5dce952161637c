#include "net/session_cluster.h"

#include <string.h>

#include "base/alloc.h"

static rheos_status *find_address(const rheos__cluster *cluster, const char *target,
                                  int32_t *out_index) {
  const char *address = strstr(target, "://");
  address = address != NULL ? address + strlen("://") : target;
  for (int32_t i = 0; i < cluster->num_tasks; i++) {
    if (strcmp(cluster->tasks[i].address, address) != 0) continue;
    *out_index = i;
    return NULL;
  }
  return RHEOS_INVALID("no task of the session's cluster is at %s, which is to run it", address);
}

static rheos_status *fill(rheos__session_cluster *cluster, const rheos__peers *like,
                          const Tensorflow__ClusterDef *def, const char *job, int32_t task,
                          const char *target) {
  rheos__cluster tasks;
  rheos_status *status = rheos__cluster_from_def(def, &tasks);
  rheos_status *made =
      rheos__peers_init(&cluster->peers, like->transport, &tasks, like->credentials);
  if (status != NULL) {
    rheos_status_free(made);
    return status;
  }
  RHEOS_TRY(made);
  return job != NULL ? rheos__cluster_find(&cluster->peers.cluster, job, task, &cluster->own_task)
                     : find_address(&cluster->peers.cluster, target, &cluster->own_task);
}

rheos_status *rheos__session_cluster_new(const rheos__peers *like,
                                         const Tensorflow__ClusterDef *def, const char *job,
                                         int32_t task, const char *target,
                                         rheos__session_cluster **out_cluster) {
  *out_cluster = NULL;
  rheos__session_cluster *cluster = rheos__alloc_zeroed(sizeof *cluster);
  if (cluster == NULL) return rheos__out_of_memory();
  pthread_mutex_init(&cluster->mutex, NULL);
  pthread_cond_init(&cluster->unused, NULL);
  rheos_status *status = fill(cluster, like, def, job, task, target);
  if (status == NULL) {
    *out_cluster = cluster;
  } else {
    rheos__session_cluster_free(cluster);
  }
  return status;
}

void rheos__session_cluster_free(rheos__session_cluster *cluster) {
  if (cluster == NULL) return;
  pthread_mutex_lock(&cluster->mutex);
  while (cluster->num_users > 0) pthread_cond_wait(&cluster->unused, &cluster->mutex);
  pthread_mutex_unlock(&cluster->mutex);
  rheos__peers_deinit(&cluster->peers);
  pthread_cond_destroy(&cluster->unused);
  pthread_mutex_destroy(&cluster->mutex);
  rheos__free(cluster);
}

rheos__session_cluster *rheos__session_cluster_use(rheos__session_cluster *cluster) {
  if (cluster == NULL) return NULL;
  pthread_mutex_lock(&cluster->mutex);
  cluster->num_users++;
  pthread_mutex_unlock(&cluster->mutex);
  return cluster;
}

void rheos__session_cluster_leave(rheos__session_cluster *cluster) {
  if (cluster == NULL) return;
  pthread_mutex_lock(&cluster->mutex);
  if (--cluster->num_users == 0) pthread_cond_broadcast(&cluster->unused);
  pthread_mutex_unlock(&cluster->mutex);
}
