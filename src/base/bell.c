// Bells are eventfds: of all that wakes a thread, a file descriptor can be written to by the
// handler of a signal, and several can be waited for at once.
#include "base/bell.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { MAX_BELLS = 4 };
static const int64_t BLIND_NS = 5 * 1000 * 1000;

void rheos__bell_listen(rheos__bell *bell) {
  if (atomic_load(&bell->descriptor) != 0) return;
  const int made = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (made < 0) return;
  int none = 0;
  if (!atomic_compare_exchange_strong(&bell->descriptor, &none, made + 1)) close(made);
}

void rheos__bell_ring(rheos__bell *bell) {
  const int descriptor = atomic_load(&bell->descriptor) - 1;
  if (descriptor < 0) return;
  const int before = errno;
  const uint64_t one = 1;
  // A counter that is full has rung already.
  ssize_t written;
  do {
    written = write(descriptor, &one, sizeof one);
  } while (written < 0 && errno == EINTR);
  errno = before;
}

void rheos__bell_silence(rheos__bell *bell) {
  const int descriptor = atomic_load(&bell->descriptor) - 1;
  uint64_t count;
  if (descriptor < 0) return;
  ssize_t got;
  do {
    got = read(descriptor, &count, sizeof count);
  } while (got < 0 && errno == EINTR);
}

void rheos__bell_deinit(rheos__bell *bell) {
  const int descriptor = atomic_exchange(&bell->descriptor, 0) - 1;
  if (descriptor >= 0) close(descriptor);
}

void rheos__bells_wait(rheos__bell *const *bells, int32_t count, int64_t timeout_ns) {
  assert(count <= MAX_BELLS);
  struct pollfd polled[MAX_BELLS];
  nfds_t num_polled = 0;
  for (int32_t i = 0; i < count; ++i) {
    if (bells[i] == NULL) continue;
    const int descriptor = atomic_load(&bells[i]->descriptor) - 1;
    if (descriptor >= 0) {
      polled[num_polled++] = (struct pollfd){.fd = descriptor, .events = POLLIN};
    } else if (timeout_ns < 0 || timeout_ns > BLIND_NS) {
      timeout_ns = BLIND_NS;
    }
  }
  const struct timespec timeout = {.tv_sec = timeout_ns / 1000000000,
                                   .tv_nsec = timeout_ns % 1000000000};
  ppoll(polled, num_polled, timeout_ns < 0 ? NULL : &timeout, NULL);
}
