// Addresses are those of a reserved range without anything behind them: a slot of it for each
// buffer, as long as the longest one. Which buffer an address lies in, and where, is a division;
// nothing is locked for that.
//
// Buffers are large and kept; a block is a place in one. The first one is small, each further one
// as large as all before, so a card that others use too is not taken whole, and few are needed.
#include "device/opencl/card_memory.h"

#include <sys/mman.h>

#include "base/alloc.h"
#include "base/numbers.h"
#include "base/offset_allocator.h"
#include "device/opencl/card_copy.h"

enum { MAX_BUFFERS = 40 };

static const uint64_t FIRST_BYTES = (uint64_t)32 << 20, PAGE = 4096;

typedef struct block {
  uint64_t address;  // 0: none
  uint64_t size_bytes;
  int32_t place;
} block;

typedef struct buffer {
  cl_mem memory;
  size_t size_bytes;
  rheos__offset_allocator space;
} buffer;

typedef struct rheos__card_pool {
  rheos__card *card;
  char *first;  // address
  uint64_t slot_bytes, limit_bytes;
  pthread_mutex_t mutex;  // guards what follows; buffers are only ever added
  buffer buffers[MAX_BUFFERS];
  int32_t num_buffers;
  uint64_t taken_bytes;
  block *blocks;  // a table by address, open, its size a power of two
  size_t num_blocks, block_capacity;
} pool;

// Of a device of a host; all of one card have its pool.
typedef struct card_memory {
  rheos__memory base;
  rheos__card *card;
  uint64_t limit_bytes;
  uint64_t used_bytes, peak_bytes;  // guarded by the pool's mutex
} card_memory;

static pool *pool_of(rheos__memory *memory) { return ((card_memory *)memory)->card->pool; }

// ---- The table of blocks

static size_t home_of(const pool *m, uint64_t address) {
  return (size_t)((address / RHEOS__OFFSET_UNIT * 0x9e3779b97f4a7c15u) >> 20) &
         (m->block_capacity - 1);
}

static void put(pool *m, block b) {
  size_t i = home_of(m, b.address);
  while (m->blocks[i].address != 0) i = (i + 1) & (m->block_capacity - 1);
  m->blocks[i] = b;
}

static bool make_room(pool *m) {
  if (4 * (m->num_blocks + 1) <= 3 * m->block_capacity) return true;
  block *before = m->blocks;
  const size_t count = m->block_capacity, capacity = count == 0 ? 64 : 2 * count;
  block *blocks = rheos__alloc_zeroed(capacity * sizeof *blocks);
  if (blocks == NULL) return false;
  m->blocks = blocks;
  m->block_capacity = capacity;
  for (size_t i = 0; i < count; i++) {
    if (before[i].address != 0) put(m, before[i]);
  }
  rheos__free(before);
  return true;
}

// Removes the one at the address; its own is 0 if there is none.
static block take_out(pool *m, uint64_t address) {
  if (m->block_capacity == 0) return (block){0};
  const size_t mask = m->block_capacity - 1;
  size_t i = home_of(m, address);
  while (m->blocks[i].address != address) {
    if (m->blocks[i].address == 0) return (block){0};
    i = (i + 1) & mask;
  }
  const block found = m->blocks[i];
  for (size_t next = (i + 1) & mask; m->blocks[next].address != 0; next = (next + 1) & mask) {
    const size_t home = home_of(m, m->blocks[next].address);
    if (((next - home) & mask) < ((next - i) & mask)) continue;  // it stands where it belongs
    m->blocks[i] = m->blocks[next];
    i = next;
  }
  m->blocks[i] = (block){0};
  return found;
}

// ---- Buffers

static bool add_buffer(pool *m, size_t size_bytes) {
  const rheos__cl *cl = m->card->cl;
  if (m->num_buffers == MAX_BUFFERS || size_bytes > m->slot_bytes ||
      m->taken_bytes + size_bytes > m->limit_bytes) {
    return false;
  }
  cl_int code;
  cl_mem memory = cl->clCreateBuffer(m->card->context, CL_MEM_READ_WRITE, size_bytes, NULL, &code);
  if (code != CL_SUCCESS) return false;
  // Drivers take memory when it is first used: better here than within a step.
  const cl_uint zero = 0;
  code = cl->clEnqueueFillBuffer(m->card->queue, memory, &zero, sizeof zero, 0, size_bytes, 0, NULL,
                                 NULL);
  if (code == CL_SUCCESS) code = cl->clFinish(m->card->queue);
  if (code != CL_SUCCESS) {
    cl->clReleaseMemObject(memory);
    return false;
  }
  buffer *b = &m->buffers[m->num_buffers];
  b->memory = memory;
  b->size_bytes = size_bytes;
  rheos__offset_allocator_init(&b->space);
  m->taken_bytes += size_bytes;
  m->num_buffers++;
  return true;
}

static uint64_t take_from(pool *m, int32_t index, size_t size_bytes, int32_t *out_place) {
  buffer *b = &m->buffers[index];
  size_t offset;
  if (size_bytes > b->size_bytes ||
      !rheos__offset_allocator_take(&b->space, size_bytes, &offset, out_place)) {
    return 0;
  }
  if (offset + size_bytes > b->size_bytes) {
    rheos__offset_allocator_give(&b->space, *out_place);
    return 0;
  }
  return (uint64_t)(uintptr_t)m->first + (uint64_t)index * m->slot_bytes + offset;
}

// A block from a buffer of its own size or more: as large as all before if the card has that.
static uint64_t take_new(pool *m, size_t size_bytes, int32_t *out_place) {
  const uint64_t least = (size_bytes + PAGE - 1) / PAGE * PAGE;
  uint64_t wanted = m->taken_bytes > FIRST_BYTES ? m->taken_bytes : FIRST_BYTES;
  if (wanted > m->slot_bytes) wanted = m->slot_bytes;
  if (wanted < least) wanted = least;
  if (!add_buffer(m, wanted) && !(wanted > least && add_buffer(m, least))) return 0;
  return take_from(m, m->num_buffers - 1, size_bytes, out_place);
}

static void *allocate(rheos__memory *of, size_t size_bytes) {
  pool *m = pool_of(of);
  card_memory *own = (card_memory *)of;
  size_bytes = size_bytes > 0 ? size_bytes : 1;
  block b = {.size_bytes = size_bytes};
  if (size_bytes > m->slot_bytes) return NULL;
  pthread_mutex_lock(&m->mutex);
  if (size_bytes <= own->limit_bytes - own->used_bytes && make_room(m)) {
    for (int32_t i = 0; i < m->num_buffers && b.address == 0; i++) {
      b.address = take_from(m, i, size_bytes, &b.place);
    }
    if (b.address == 0) b.address = take_new(m, size_bytes, &b.place);
    if (b.address != 0) {
      put(m, b);
      m->num_blocks++;
      own->used_bytes += size_bytes;
      if (own->used_bytes > own->peak_bytes) own->peak_bytes = own->used_bytes;
    }
  }
  pthread_mutex_unlock(&m->mutex);
  return (void *)(uintptr_t)b.address;
}

static void free_block(rheos__memory *of, void *address) {
  pool *m = pool_of(of);
  const uint64_t at = (uint64_t)(uintptr_t)address;
  pthread_mutex_lock(&m->mutex);
  const block found = take_out(m, at);
  if (found.address != 0) {
    buffer *b = &m->buffers[(at - (uint64_t)(uintptr_t)m->first) / m->slot_bytes];
    rheos__offset_allocator_give(&b->space, found.place);
    m->num_blocks--;
    ((card_memory *)of)->used_bytes -= found.size_bytes;
  }
  pthread_mutex_unlock(&m->mutex);
}

rheos__card_place rheos__card_place_of(const rheos__card *card, const void *address) {
  const pool *m = card->pool;
  const uint64_t from = (uint64_t)(uintptr_t)address - (uint64_t)(uintptr_t)m->first;
  const uint64_t index = from / m->slot_bytes;
  if (index >= MAX_BUFFERS) return (rheos__card_place){0};
  return (rheos__card_place){m->buffers[index].memory, from - index * m->slot_bytes};
}

// ---- Copies

static rheos_status *place_to_copy(card_memory *m, const void *address, rheos__card_place *out) {
  *out = rheos__card_place_of(m->card, address);
  if (out->buffer != NULL) return NULL;
  return rheos_status_new(RHEOS_INTERNAL, "a copy is given bytes that are not in the memory of %s",
                          m->base.device);
}

static rheos_status *read_bytes(card_memory *from, const void *address, void *to, size_t size) {
  rheos__card_place place;
  RHEOS_TRY(place_to_copy(from, address, &place));
  return rheos__card_read(from->card, to, &place, size);
}

static rheos_status *write_bytes(card_memory *to, void *address, const void *from, size_t size) {
  rheos__card_place place;
  RHEOS_TRY(place_to_copy(to, address, &place));
  return rheos__card_write(to->card, &place, from, size);
}

static rheos_status *copy_within(card_memory *m, void *to, const void *from, size_t size) {
  rheos__card_place source, target;
  RHEOS_TRY(place_to_copy(m, from, &source));
  RHEOS_TRY(place_to_copy(m, to, &target));
  return rheos__card_status(
      m->card,
      m->card->cl->clEnqueueCopyBuffer(m->card->queue, source.buffer, target.buffer, source.offset,
                                       target.offset, size, 0, NULL, NULL),
      "copying on the device");
}

// From one card to another by way of the host.
static rheos_status *copy_across(card_memory *to, void *to_bytes, card_memory *from,
                                 const void *from_bytes, size_t size) {
  void *between = rheos__alloc(size);
  if (between == NULL) return rheos__out_of_memory();
  rheos_status *status = read_bytes(from, from_bytes, between, size);
  if (status == NULL) status = write_bytes(to, to_bytes, between, size);
  rheos__free(between);
  return status;
}

static rheos_status *copy(rheos__memory *to, void *to_bytes, rheos__memory *from,
                          const void *from_bytes, size_t size_bytes) {
  card_memory *target = (card_memory *)to, *source = (card_memory *)from;
  if (size_bytes == 0) return NULL;
  rheos__card *card = (target != NULL ? target : source)->card;
  RHEOS_TRY(rheos__card_check(card));
  if (source == NULL || target == NULL) atomic_fetch_add(&card->num_copies, 1);
  if (source == NULL) return write_bytes(target, to_bytes, from_bytes, size_bytes);
  if (target == NULL) return read_bytes(source, from_bytes, to_bytes, size_bytes);
  if (target->card == source->card) return copy_within(target, to_bytes, from_bytes, size_bytes);
  return copy_across(target, to_bytes, source, from_bytes, size_bytes);
}

static void deinit(rheos__memory *memory) { rheos__free(memory); }

static const rheos__memory_kind kind = {
    .allocate = allocate, .free = free_block, .copy = copy, .deinit = deinit};

// Who asks for more than the pool has by itself lets it grow, up to all that the card has.
static uint64_t limit_of(pool *m, int64_t wanted) {
  pthread_mutex_lock(&m->mutex);
  uint64_t limit = wanted > 0 ? (uint64_t)wanted : m->limit_bytes;
  if (limit > m->card->memory_bytes) limit = m->card->memory_bytes;
  if (limit > m->limit_bytes) m->limit_bytes = limit;
  pthread_mutex_unlock(&m->mutex);
  return limit;
}

rheos_status *rheos__card_memory_new(rheos__card *card, int64_t limit_bytes,
                                     rheos__memory **out_memory) {
  card_memory *m = rheos__alloc_zeroed(sizeof *m);
  if (m == NULL) return rheos__out_of_memory();
  m->base.kind = &kind;
  atomic_init(&m->base.references, 1);
  m->card = card;
  m->limit_bytes = limit_of(card->pool, limit_bytes);
  *out_memory = &m->base;
  return NULL;
}

int64_t rheos__card_memory_limit(const rheos__memory *memory) {
  return (int64_t)((const card_memory *)memory)->limit_bytes;
}

void rheos__card_memory_use(const rheos__memory *memory, int64_t *out_bytes, int64_t *out_peak) {
  const card_memory *m = (const card_memory *)memory;
  pthread_mutex_lock(&m->card->pool->mutex);
  *out_bytes = (int64_t)m->used_bytes;
  *out_peak = (int64_t)m->peak_bytes;
  pthread_mutex_unlock(&m->card->pool->mutex);
}

void rheos__card_memory_reset_peak(rheos__memory *memory) {
  card_memory *m = (card_memory *)memory;
  pthread_mutex_lock(&m->card->pool->mutex);
  m->peak_bytes = m->used_bytes;
  pthread_mutex_unlock(&m->card->pool->mutex);
}

cl_int rheos__card_pool_take(rheos__card *card, size_t size_bytes, cl_mem *memory,
                             size_t *memory_bytes) {
  pool *m = card->pool;
  cl_int code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
  if (size_bytes <= *memory_bytes) return CL_SUCCESS;
  pthread_mutex_lock(&m->mutex);
  if (m->taken_bytes - *memory_bytes + size_bytes <= m->limit_bytes) {
    cl_mem more =
        card->cl->clCreateBuffer(card->context, CL_MEM_READ_WRITE, size_bytes, NULL, &code);
    if (code == CL_SUCCESS) {
      if (*memory != NULL) card->cl->clReleaseMemObject(*memory);
      m->taken_bytes += size_bytes - *memory_bytes;
      *memory = more;
      *memory_bytes = size_bytes;
    }
  }
  pthread_mutex_unlock(&m->mutex);
  return code;
}

rheos_status *rheos__card_pool_new(rheos__card *card, rheos__card_pool **out_pool) {
  if (card->max_block_bytes == 0) {
    return rheos_status_new(RHEOS_FAILED_PRECONDITION, "its driver tells of no memory");
  }
  pool *m = rheos__alloc_zeroed(sizeof *m);
  if (m == NULL) return rheos__out_of_memory();
  m->card = card;
  m->slot_bytes = (card->max_block_bytes + PAGE - 1) / PAGE * PAGE;
  m->limit_bytes = card->memory_bytes / 5 * 4;
  m->first = mmap(NULL, m->slot_bytes * MAX_BUFFERS, PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (m->first == MAP_FAILED) {
    const unsigned long long bytes = m->slot_bytes * MAX_BUFFERS;
    rheos__free(m);
    return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED,
                            "no %llu GB of addresses are left to name its memory by", bytes >> 30);
  }
  pthread_mutex_init(&m->mutex, NULL);
  *out_pool = m;
  return NULL;
}
