// Goes over the table, which takes less than a millisecond, once an error.
#include "graph/near_op.h"

#include <string.h>

#include "base/edits.h"
#include "graph/op_def.h"

static const char *near_op(const char *type) {
  const char *nearest = NULL;
  size_t least = rheos__most_edits(strlen(type)) + 1;
  for (int32_t i = 0; i < rheos__op_table_size && least > 1; ++i) {
    const char *name = rheos__op_table[i]->name;
    const size_t edits = rheos__edits_between(type, name, least - 1);
    if (edits >= least || edits >= strlen(name) || name[0] == '_') continue;
    least = edits;
    nearest = name;
  }
  return nearest;
}

rheos_status *rheos__no_such_op(const char *type) {
  const char *near = near_op(type);
  return RHEOS_NOTFOUND("Op type not registered '%s'%s%s%s", type,
                        near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                        near != NULL ? "'?" : "");
}
