// Packed operands: a kernel may want an operand in another order of bytes than the one it comes in,
// such as the weights of a layer in the order that its loops read them. Where the operand stays
// from step to step, a constant or a variable, it is packed once, and the packed bytes are kept for
// all steps that want the same packing; they are made again when the variable has changed.
//
// A large operand is packed when the same bytes are asked for the second time: memory that no
// process had before costs more than the first step gains by it, and a step may be the only one.
//
// A packing holds on to neither the variable's tensor nor its bytes: it knows them by
// rheos__tensor_content(), so that a variable is still changed in place. Steps take a reference to
// the packed tensor: a step that goes on with the value from before a change keeps the packing of
// that.
#ifndef RHEOS_SRC_RESOURCE_PACKING_H
#define RHEOS_SRC_RESOURCE_PACKING_H

#include "resource/resource.h"

// What a kernel says of the packing it wants.
typedef struct rheos__packing_request {
  int32_t input;  // the operand
  size_t bytes;   // when packed; 0: nothing is wanted
  bool at_once;   // it is small, or there is no way without: made when it is first wanted
  // What the packing depends on besides the operand's bytes: packings by the same `make` with equal
  // keys are equal. Copied.
  const void *key;
  size_t key_bytes;
  rheos_status *(*make)(const void *state, const void *from, void *packed);  // aligned to 64 bytes
  const void *state;
} rheos__packing_request;

// What a kernel that asked for a packing finds in the operand's place.
typedef struct rheos__packed {
  const void *plain;   // the operand as it came
  const void *packed;  // NULL: not packed yet
} rheos__packed;

typedef struct rheos__packings rheos__packings;  // all that sessions share
typedef struct rheos__packing rheos__packing;

// Counted: each packing keeps the table. NULL when memory is short.
rheos__packings *rheos__packings_new(void);
void rheos__packings_unref(rheos__packings *packings);

// The packing of what is in the variable `cell`, or if that is NULL of the tensor `constant`; there
// may be one already. Either is kept as long as the packing. The caller gets a reference.
rheos_status *rheos__packings_get(rheos__packings *packings, rheos__resource *cell,
                                  rheos_tensor *constant, const rheos__packing_request *request,
                                  rheos__packing **out_packing);
void rheos__packing_unref(rheos__packing *packing);

// `from`, which came out of the variable or is the constant, as packed by `request`, with a
// reference. NULL where it is not packed yet.
rheos_status *rheos__packing_take(rheos__packing *packing, const rheos__packing_request *request,
                                  rheos_tensor *from, rheos_tensor **out_packed);

// The bytes of all packed tensors that are there, and how often operands were packed, for tests.
size_t rheos__packings_bytes(rheos__packings *packings);
int64_t rheos__packings_made(const rheos__packings *packings);

#endif  // RHEOS_SRC_RESOURCE_PACKING_H
