// OpenCL's functions, from the loader that the machine has.
#ifndef RHEOS_SRC_DEVICE_OPENCL_LIBRARY_H
#define RHEOS_SRC_DEVICE_OPENCL_LIBRARY_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "base/status.h"

// All of them are of OpenCL 1.2.
#define RHEOS__CL_FUNCTIONS(F) \
  F(clGetPlatformIDs)          \
  F(clGetPlatformInfo)         \
  F(clGetDeviceIDs)            \
  F(clGetDeviceInfo)           \
  F(clCreateContext)           \
  F(clReleaseContext)          \
  F(clCreateCommandQueue)      \
  F(clReleaseCommandQueue)     \
  F(clCreateBuffer)            \
  F(clReleaseMemObject)        \
  F(clCreateProgramWithSource) \
  F(clCreateProgramWithBinary) \
  F(clBuildProgram)            \
  F(clGetProgramInfo)          \
  F(clGetProgramBuildInfo)     \
  F(clReleaseProgram)          \
  F(clCreateKernel)            \
  F(clReleaseKernel)           \
  F(clGetKernelWorkGroupInfo)  \
  F(clSetKernelArg)            \
  F(clEnqueueNDRangeKernel)    \
  F(clEnqueueReadBuffer)       \
  F(clEnqueueWriteBuffer)      \
  F(clEnqueueCopyBuffer)       \
  F(clEnqueueFillBuffer)       \
  F(clEnqueueMapBuffer)        \
  F(clEnqueueUnmapMemObject)   \
  F(clWaitForEvents)           \
  F(clReleaseEvent)            \
  F(clFlush)                   \
  F(clFinish)

typedef struct rheos__cl {
#define F(name) __typeof__(&(name)) name;
  RHEOS__CL_FUNCTIONS(F)
#undef F
} rheos__cl;

// NULL where there is none. The library stays loaded.
const rheos__cl *rheos__cl_load(void);

// What a function of OpenCL answered, as a status; NULL for CL_SUCCESS. `doing`: what was done, as
// in "... while copying to the device".
rheos_status *rheos__cl_status(cl_int code, const char *doing);

#endif  // RHEOS_SRC_DEVICE_OPENCL_LIBRARY_H
