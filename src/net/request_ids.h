// Which requests a server has seen lately, so that one that comes a second time, sent again by a
// transport or on a detour, changes nothing: a step that trains would train twice.
#ifndef RHEOS_SRC_NET_REQUEST_IDS_H
#define RHEOS_SRC_NET_REQUEST_IDS_H

#include <rheos/base.h>
#include <pthread.h>

// Ids go into a set until it is full; then they go into an emptied one, and the full one is kept
// until this is full too. So at least the last MOST ids are known.
enum { RHEOS__REQUEST_IDS_MOST = 1 << 14 };

typedef struct rheos__request_ids {
  pthread_mutex_t mutex;  // guards what follows
  uint64_t *sets[2];      // open addressing, of twice as many slots; 0: free. NULL: not needed yet
  int newest;             // which of the two
  uint32_t num_newest;
} rheos__request_ids;

void rheos__request_ids_init(rheos__request_ids *ids);
void rheos__request_ids_deinit(rheos__request_ids *ids);

// Notes the id of a call of that method. RHEOS_ABORTED, as TensorFlow's servers answer, where it
// was seen before. 0 is no id.
rheos_status *rheos__request_ids_add(rheos__request_ids *ids, uint64_t id, const char *method);

#endif  // RHEOS_SRC_NET_REQUEST_IDS_H
