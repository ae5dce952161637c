#include "net/rank_link.h"

#include <pthread.h>

#include "base/companion.h"

static const rheos__rank_link *found;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find(void) {
  found = rheos__companion_find(NULL, RHEOS__RANK_LINK_FILE, RHEOS__RANK_LINK_NAME);
}

rheos_status *rheos__rank_link_find(const rheos__rank_link **out_link) {
  pthread_once(&once, find);
  *out_link = found;
  if (found != NULL) return NULL;
  return rheos_status_new(RHEOS_UNIMPLEMENTED,
                          "programs that mpirun starts need Open MPI, by " RHEOS__RANK_LINK_FILE
                          " of version " RHEOS_VERSION_STRING
                          ": install Debian's package librheos-mpi, beside a wheel openmpi-bin, or"
                          " build Rheos where libopenmpi-dev is");
}
