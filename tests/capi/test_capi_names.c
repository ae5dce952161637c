// The library has every name of the interface, and what is not there says so.
#include "capi/capi_fixture.h"

#include <dlfcn.h>
#include <stdio.h>

#define NAME(name) #name,
static const char *const names[] = {
#include "capi/names.def"
};
#undef NAME

static void test_names__are_all_defined(void **state) {
  (void)state;
  size_t count = sizeof names / sizeof *names;
  assert_int_equal(count, 450);
  Dl_info library, found;
  assert_int_not_equal(dladdr((void *)(uintptr_t)TF_Version, &library), 0);
  for (size_t i = 0; i < count; i++) {
    void *address = dlsym(RTLD_DEFAULT, names[i]);
    if (address == NULL || dladdr(address, &found) == 0) fail_msg("%s is not there", names[i]);
    assert_ptr_equal(found.dli_fbase, library.dli_fbase);
  }
}

static void test_names__have_a_version(void **state) {
  (void)state;
  assert_string_equal(TF_Version(), "2.21.0");
  assert_non_null(dlvsym(RTLD_DEFAULT, "TF_Version", "VERS_1.0"));
}

static void test_names__of_rheos_are_not_shown(void **state) {
  (void)state;
  assert_null(dlsym(RTLD_DEFAULT, "capi_fail"));
}

static void test_names__not_implemented_say_so(void **state) {
  (void)state;
  TF_Status *status = TF_NewStatus();
  assert_null(TF_LoadPluggableDeviceLibrary("libnone.so", status));
  failed(status, TF_UNIMPLEMENTED, "TF_LoadPluggableDeviceLibrary");
  assert_null(TF_LoadPluggableDeviceLibrary("libnone.so", NULL));
  TF_DeleteStatus(status);
}

// How many functions say that they are not there.
enum {
#define ABSENT(type, name, parameters) ABSENT_##name,
#define ABSENT_VOID(name, parameters) ABSENT_##name,
#define ABSENT_SILENT(type, name, parameters) ABSENT_##name,
#define ABSENT_SILENT_VOID(name, parameters) ABSENT_##name,
#include "../../capi/unimplemented.def"
  NUM_ABSENT
};

static void test_names__are_counted_in_the_documentation(void **state) {
  (void)state;
  static char page[1 << 16];
  char present[80], absent[80];
  FILE *file = fopen(RHEOS_SOURCE_DIR "/docs/libtensorflow.md", "r");
  assert_non_null(file);
  page[fread(page, 1, sizeof page - 1, file)] = '\0';
  fclose(file);
  snprintf(present, sizeof present, "%d are implemented", 450 - NUM_ABSENT);
  snprintf(absent, sizeof absent, "\n%d answer `TF_UNIMPLEMENTED`", NUM_ABSENT);
  assert_non_null(strstr(page, present));
  assert_non_null(strstr(page, absent));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names__are_all_defined),
      cmocka_unit_test(test_names__have_a_version),
      cmocka_unit_test(test_names__of_rheos_are_not_shown),
      cmocka_unit_test(test_names__not_implemented_say_so),
      cmocka_unit_test(test_names__are_counted_in_the_documentation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
