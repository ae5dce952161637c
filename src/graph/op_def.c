// The little that is common to all op definitions.
#include "graph/op_def.h"

void rheos__no_gradient(rheos__grad *g) {
  // Nothing to set: the gradients of all inputs are none at the start.
  (void)g;
}
