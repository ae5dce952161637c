#include "net/transport.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/companion.h"

static const rheos__transport *found;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find(void) {
  found = rheos__companion_find(NULL, RHEOS__TRANSPORT_FILE, RHEOS__TRANSPORT_NAME);
}

rheos_status *rheos__transport_find(const rheos__transport **out_transport) {
  pthread_once(&once, find);
  *out_transport = found;
  if (found != NULL) return NULL;
  return rheos_status_new(RHEOS_UNIMPLEMENTED, "clusters need gRPC, by " RHEOS__TRANSPORT_FILE
                                               " of version " RHEOS_VERSION_STRING
                                               ": install Debian's package librheos-grpc, beside a "
                                               "wheel the wheel rheos_grpc, or build Rheos"
                                               " where libgrpc-dev is");
}
