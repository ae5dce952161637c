// The little that is common to all op definitions.
#include "graph/op_def.h"

#include <assert.h>

void rheos__no_gradient(rheos__grad *g) {
  // Nothing to set: the gradients of all inputs are none at the start.
  (void)g;
}

rheos_status *rheos__prepare_reference(rheos__prepare *p) {
  assert(rheos__has_reference(p->op));
  if (p->op->prepare != NULL) return p->op->prepare(p);
  p->compute = p->op->compute;
  return NULL;
}

bool rheos_op_has_gradient(const char *type) {
  if (type == NULL) return false;
  const rheos__signature *signature = rheos__signature_by_name(type);
  return signature != NULL && signature->op->gradient != NULL;
}
