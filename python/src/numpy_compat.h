// The few places where NumPy 1 and NumPy 2 are spelled differently. Included after numpy's headers.
#ifndef RHEOS_PYTHON_NUMPY_COMPAT_H
#define RHEOS_PYTHON_NUMPY_COMPAT_H

#if NPY_ABI_VERSION < 0x02000000
#define DESCR_SIZE(descr) ((npy_intp)(descr)->elsize)
#else
#define DESCR_SIZE(descr) PyDataType_ELSIZE(descr)
#endif

#endif  // RHEOS_PYTHON_NUMPY_COMPAT_H
