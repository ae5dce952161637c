// Where programs of TensorFlow before 2.11 find <tsl/platform/ctstring.h>.
#ifndef TENSORFLOW_CORE_PLATFORM_CTSTRING_H_
#define TENSORFLOW_CORE_PLATFORM_CTSTRING_H_

#include "tsl/platform/ctstring.h"

#endif  // TENSORFLOW_CORE_PLATFORM_CTSTRING_H_
