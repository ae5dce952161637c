// Functions of the interface that are not there: so that programs which name them link and load.
#include "handles.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define SAY(name) capi_fail(status, TF_UNIMPLEMENTED, "Rheos does not have " #name)

#define ABSENT(type, name, parameters) \
  type name parameters {               \
    SAY(name);                         \
    return (type){0};                  \
  }
#define ABSENT_VOID(name, parameters) \
  void name parameters { SAY(name); }
#define ABSENT_SILENT(type, name, parameters) \
  type name parameters { return (type){0}; }
#define ABSENT_SILENT_VOID(name, parameters) \
  void name parameters {}

#include "unimplemented.def"
