// Where programs of TensorFlow before 2.11 find <tsl/platform/ctstring_internal.h>.
#ifndef TENSORFLOW_CORE_PLATFORM_CTSTRING_INTERNAL_H_
#define TENSORFLOW_CORE_PLATFORM_CTSTRING_INTERNAL_H_

#include "tsl/platform/ctstring_internal.h"

#endif  // TENSORFLOW_CORE_PLATFORM_CTSTRING_INTERNAL_H_
