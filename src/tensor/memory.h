// Memories that tensors lie in. The host's is NULL everywhere; any other one belongs to a device.
//
// An address of another memory is one that the host never reads or writes: a device keeps a range
// of addresses for itself, with nothing behind them that the host could touch, allocates inside it,
// and finds by address which of its own buffers is meant and how far inside. So offsets are added
// to such addresses as to any, and what is behind them can be a buffer of OpenCL, a pointer of CUDA
// or a handle of another machine.
#ifndef RHEOS_SRC_TENSOR_MEMORY_H
#define RHEOS_SRC_TENSOR_MEMORY_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct rheos__memory rheos__memory;

typedef struct rheos__memory_kind {
  // A block, 64-byte aligned; NULL when memory is short. Any thread may ask, as for the others.
  void *(*allocate)(rheos__memory *memory, size_t size_bytes);
  void (*free)(rheos__memory *memory, void *block);
  // Copies bytes between memories of this kind, or one of this kind and the host's, which is NULL.
  // On return the host has what it is given; a device has it before whatever it is given next, and
  // the bytes that it takes it from may change. Bytes are as they are once all that their device
  // was given before has been done.
  rheos_status *(*copy)(rheos__memory *to, void *to_bytes, rheos__memory *from,
                        const void *from_bytes, size_t size_bytes);
  // Nobody has a reference any more: frees the memory, and its struct.
  void (*deinit)(rheos__memory *memory);
} rheos__memory_kind;

// Counted: its device and the tensors in it keep it.
struct rheos__memory {
  const rheos__memory_kind *kind;
  _Atomic int32_t references;
  char device[128];  // the full name of the device, which tensors may outlive
};

rheos__memory *rheos__memory_ref(rheos__memory *memory);
void rheos__memory_unref(rheos__memory *memory);

// Of any memory, the host's too. What there are blocks of is kept by the caller.
void *rheos__memory_allocate(rheos__memory *memory, size_t size_bytes);
void rheos__memory_free(rheos__memory *memory, void *block);
// Between any two memories; between those of different kinds by way of the host.
rheos_status *rheos__memory_copy(rheos__memory *to, void *to_bytes, rheos__memory *from,
                                 const void *from_bytes, size_t size_bytes);

#endif  // RHEOS_SRC_TENSOR_MEMORY_H
