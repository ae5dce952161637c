// Where programs look for the layout of strings as well.
#ifndef TSL_PLATFORM_CTSTRING_INTERNAL_H_
#define TSL_PLATFORM_CTSTRING_INTERNAL_H_

#include <tsl/platform/ctstring.h>

#endif  // TSL_PLATFORM_CTSTRING_INTERNAL_H_
