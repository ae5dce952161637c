// What protobuf-c makes of a message is many small pieces, which are taken from large blocks.
#include "message.h"

#include <rheos/format.h>
#include <stdlib.h>

#include "command.h"
#include "status.h"

enum { BLOCK_BYTES = 1 << 16, ALIGNMENT = sizeof(max_align_t) };

typedef struct memory_block {
  struct memory_block *next;
  size_t used_bytes, size_bytes;
  max_align_t pieces[];
} memory_block;

void message_memory_free(message_memory *memory) {
  for (memory_block *at = memory->blocks, *next; at != NULL; at = next) {
    next = at->next;
    free(at);
  }
  memory->blocks = NULL;
}

// A large piece gets a block of its own, behind the one that is being filled.
static void *take(void *user, size_t size_bytes) {
  message_memory *memory = user;
  memory_block *block = memory->blocks;
  const size_t whole = (size_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (block == NULL || block->size_bytes - block->used_bytes < whole) {
    const size_t room = whole > BLOCK_BYTES ? whole : BLOCK_BYTES;
    memory_block *made = malloc(sizeof *made + room);
    memory->is_short = made == NULL;
    if (memory->is_short) return NULL;
    made->used_bytes = 0;
    made->size_bytes = room;
    const bool is_large = block != NULL && whole > BLOCK_BYTES / 4;
    made->next = is_large ? block->next : block;
    *(is_large ? &block->next : &memory->blocks) = made;
    block = made;
  }
  void *piece = (char *)block->pieces + block->used_bytes;
  block->used_bytes += whole;
  return piece;
}

static void keep(void *user, void *piece) {
  (void)user;
  (void)piece;
}

rheos_status *message_unpack(const ProtobufCMessageDescriptor *type, const char *bytes,
                             size_t size_bytes, message_memory *memory,
                             ProtobufCMessage **out_message) {
  *out_message = NULL;
  TRY(rheos_message_check(type->short_name, bytes, size_bytes));
  ProtobufCAllocator allocator = {take, keep, memory};
  *out_message = protobuf_c_message_unpack(type, &allocator, size_bytes, (const uint8_t *)bytes);
  if (*out_message != NULL) return NULL;
  // protobuf-c does not say why it failed.
  if (memory->is_short) return NO_MEMORY();
  return rheos_status_new(RHEOS_DATA_LOSS, "not a valid %s message", type->short_name);
}

rheos_tensor *message_tensor(const Tensorflow__TensorProto *proto) {
  const size_t size_bytes = protobuf_c_message_get_packed_size(&proto->base);
  uint8_t *bytes = command_alloc(size_bytes);
  protobuf_c_message_pack(&proto->base, bytes);
  rheos_tensor *tensor;
  rheos_status_free(rheos_tensor_from_proto(bytes, size_bytes, &tensor));
  free(bytes);
  return tensor;
}

rheos_shape message_shape(const Tensorflow__TensorShapeProto *proto) {
  if (proto == NULL) return RHEOS_SCALAR;
  if (proto->unknown_rank || proto->n_dim > RHEOS_MAX_RANK) return RHEOS_UNKNOWN_SHAPE;
  rheos_shape shape = {.rank = (int32_t)proto->n_dim};
  for (size_t i = 0; i < proto->n_dim; i++) {
    shape.dims[i] = proto->dim[i]->size;
    if (shape.dims[i] < -1) return RHEOS_UNKNOWN_SHAPE;
  }
  return shape;
}
