#include "device/opencl/library.h"

#include <dlfcn.h>
#include <pthread.h>

static rheos__cl functions;
static bool is_loaded;

static void load(void) {
  void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return;
  is_loaded = true;
#define F(name)                                      \
  *(void **)&functions.name = dlsym(library, #name); \
  if (functions.name == NULL) is_loaded = false;
  RHEOS__CL_FUNCTIONS(F)
#undef F
}

const rheos__cl *rheos__cl_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return is_loaded ? &functions : NULL;
}

static rheos_code code_of(cl_int code) {
  switch (code) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_OUT_OF_RESOURCES:
    case CL_INVALID_BUFFER_SIZE: return RHEOS_RESOURCE_EXHAUSTED;
    case CL_DEVICE_NOT_AVAILABLE: return RHEOS_UNAVAILABLE;
    default: return RHEOS_INTERNAL;
  }
}

static const char *name_of(cl_int code) {
  switch (code) {
#define NAME(code) \
  case code: return #code
    NAME(CL_DEVICE_NOT_AVAILABLE);
    NAME(CL_COMPILER_NOT_AVAILABLE);
    NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE);
    NAME(CL_OUT_OF_RESOURCES);
    NAME(CL_OUT_OF_HOST_MEMORY);
    NAME(CL_BUILD_PROGRAM_FAILURE);
    NAME(CL_INVALID_VALUE);
    NAME(CL_INVALID_MEM_OBJECT);
    NAME(CL_INVALID_BUILD_OPTIONS);
    NAME(CL_INVALID_KERNEL_NAME);
    NAME(CL_INVALID_KERNEL_ARGS);
    NAME(CL_INVALID_ARG_SIZE);
    NAME(CL_INVALID_ARG_VALUE);
    NAME(CL_INVALID_WORK_GROUP_SIZE);
    NAME(CL_INVALID_COMMAND_QUEUE);
    NAME(CL_INVALID_CONTEXT);
    NAME(CL_INVALID_BUFFER_SIZE);
#undef NAME
    default: return "";
  }
}

rheos_status *rheos__cl_status(cl_int code, const char *doing) {
  if (code == CL_SUCCESS) return NULL;
  return rheos_status_new(code_of(code), "OpenCL answered %d %s while %s", (int)code, name_of(code),
                          doing);
}
