// <complex.h>, with what some C libraries leave out of it for compilers other than GCC.
#ifndef RHEOS_SRC_BASE_COMPLEX_H
#define RHEOS_SRC_BASE_COMPLEX_H

#include <complex.h>

#ifndef CMPLX
#define CMPLX(real, imaginary) __builtin_complex((double)(real), (double)(imaginary))
#define CMPLXF(real, imaginary) __builtin_complex((float)(real), (float)(imaginary))
#endif

#endif  // RHEOS_SRC_BASE_COMPLEX_H
