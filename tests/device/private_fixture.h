// A host that has a device with a memory of its own, which counts what is copied.
#ifndef RHEOS_TESTS_DEVICE_PRIVATE_FIXTURE_H
#define RHEOS_TESTS_DEVICE_PRIVATE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rheos/rheos.h>

#include "device/private_device.h"
#include "runtime/step/host.h"

typedef struct fixture {
  rheos_host *host;
  rheos__device device;
} fixture;

static inline void check(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

static inline int set_up(void **state) {
  fixture *f = calloc(1, sizeof *f);
  check(rheos_host_new(NULL, &f->host));
  check(private_device_init(&f->device, 0));
  check(rheos__host_add_device(f->host, &f->device));
  *state = f;
  return 0;
}

static inline int tear_down(void **state) {
  fixture *f = *state;
  rheos_host_unref(f->host);
  assert_int_equal(private_device_count(&f->device).blocks_in_use, 0);
  private_device_deinit(&f->device);
  free(f);
  return 0;
}

#endif  // RHEOS_TESTS_DEVICE_PRIVATE_FIXTURE_H
