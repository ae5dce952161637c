// A bell wakes threads that sleep until something happens. Ringing takes no lock, so a handler of a
// signal may do it; a bell that nobody listens to costs an atomic look. Zeros are a bell.
#ifndef RHEOS_SRC_BASE_BELL_H
#define RHEOS_SRC_BASE_BELL_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct rheos__bell {
  _Atomic int descriptor;  // one more than a file descriptor; 0: nobody has listened yet
} rheos__bell;

// From now on rings are heard. Without a descriptor to be had (too many files are open) who sleeps
// looks about every few milliseconds instead.
void rheos__bell_listen(rheos__bell *bell);
void rheos__bell_ring(rheos__bell *bell);
void rheos__bell_silence(rheos__bell *bell);  // forgets that it rang
void rheos__bell_deinit(rheos__bell *bell);   // nobody may ring it or listen to it any more

// Sleeps until one of the bells rings or rang, a signal comes, or `timeout_ns` is over (below 0: no
// timeout). Bells may be NULL.
void rheos__bells_wait(rheos__bell *const *bells, int32_t count, int64_t timeout_ns);

#endif  // RHEOS_SRC_BASE_BELL_H
