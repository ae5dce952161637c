// What no element of the type C, which the place of use defines, is below or above.
#ifndef RHEOS_SRC_OPS_KIT_EXTREMES_H
#define RHEOS_SRC_OPS_KIT_EXTREMES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define RHEOS__LOWEST            \
  _Generic((C)0,                 \
      float: -INFINITY,          \
      double: -(double)INFINITY, \
      int8_t: INT8_MIN,          \
      int16_t: INT16_MIN,        \
      int32_t: INT32_MIN,        \
      int64_t: INT64_MIN,        \
      default: 0)
#define RHEOS__HIGHEST          \
  _Generic((C)0,                \
      float: INFINITY,          \
      double: (double)INFINITY, \
      int8_t: INT8_MAX,         \
      int16_t: INT16_MAX,       \
      int32_t: INT32_MAX,       \
      int64_t: INT64_MAX,       \
      uint8_t: UINT8_MAX,       \
      uint16_t: UINT16_MAX,     \
      uint32_t: UINT32_MAX,     \
      uint64_t: UINT64_MAX,     \
      bool: true)

#endif  // RHEOS_SRC_OPS_KIT_EXTREMES_H
