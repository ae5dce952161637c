// Drivers copy ordinary memory by way of blocks of their own, one piece after another, or pin it
// anew each time; from memory that is pinned already a card takes bytes by itself, at several times
// the speed. Where there is none, the ordinary way is left.
//
// Buffers are not mapped, where card and host have the same memory either: a tensor's bytes go to a
// place of their own, so it is one copy in both ways, and no kernel may run on a buffer that is
// mapped.
#include "device/opencl/card_copy.h"

#include <string.h>

#include "base/alloc.h"

// Blocks that writes take in turn, of so many bytes, and those of a read, behind them.
enum { WRITE_BLOCKS = 16, READ_BLOCKS = 4, BLOCK_BYTES = 512 << 10 };
// Reads up to here are one command, the driver's own way.
enum { SHORT_BYTES = 64 << 10 };

typedef struct block {
  pthread_mutex_t mutex;
  cl_event taken;  // when the card has taken what was in it; NULL: it has
} block;

struct rheos__card_blocks {
  pthread_mutex_t mutex;  // of a read, and of making them
  atomic_int state;       // 0: not made yet, 1: there, -1: there are none
  char *bytes;
  atomic_uint next;
  block of_writes[WRITE_BLOCKS];
};

rheos__card_blocks *rheos__card_blocks_new(void) {
  rheos__card_blocks *made = rheos__alloc_zeroed(sizeof *made);
  if (made == NULL) return NULL;
  pthread_mutex_init(&made->mutex, NULL);
  for (int i = 0; i < WRITE_BLOCKS; i++) pthread_mutex_init(&made->of_writes[i].mutex, NULL);
  return made;
}

static char *map_all(rheos__card *card) {
  enum { ALL = (WRITE_BLOCKS + READ_BLOCKS) * BLOCK_BYTES };
  const rheos__cl *cl = card->cl;
  cl_int code;
  cl_mem memory = cl->clCreateBuffer(card->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, ALL,
                                     NULL, &code);
  if (code != CL_SUCCESS) return NULL;
  char *bytes = cl->clEnqueueMapBuffer(card->queue, memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                       ALL, 0, NULL, NULL, &code);
  if (code == CL_SUCCESS) return bytes;
  cl->clReleaseMemObject(memory);
  return NULL;
}

// Whether there are blocks; makes them where nobody has tried.
static bool has_blocks(rheos__card *card) {
  rheos__card_blocks *blocks = card->blocks;
  int state = atomic_load_explicit(&blocks->state, memory_order_acquire);
  if (state == 0) {
    pthread_mutex_lock(&blocks->mutex);
    state = atomic_load_explicit(&blocks->state, memory_order_relaxed);
    if (state == 0) {
      blocks->bytes = map_all(card);
      state = blocks->bytes != NULL ? 1 : -1;
      atomic_store_explicit(&blocks->state, state, memory_order_release);
    }
    pthread_mutex_unlock(&blocks->mutex);
  }
  return state > 0;
}

static cl_int wait_for(const rheos__cl *cl, cl_event *event) {
  if (*event == NULL) return CL_SUCCESS;
  const cl_int code = cl->clWaitForEvents(1, event);
  cl->clReleaseEvent(*event);
  *event = NULL;
  return code;
}

static size_t piece_at(size_t at, size_t size) {
  return size - at < BLOCK_BYTES ? size - at : BLOCK_BYTES;
}

// ---- To the card

static cl_int write_plainly(rheos__card *card, const rheos__card_place *to, const void *from,
                            size_t size) {
  return card->cl->clEnqueueWriteBuffer(card->queue, to->buffer, CL_TRUE, to->offset, size, from, 0,
                                        NULL, NULL);
}

static cl_int write_piece(rheos__card *card, const rheos__card_place *to, size_t at,
                          const char *from, size_t size) {
  const rheos__cl *cl = card->cl;
  rheos__card_blocks *blocks = card->blocks;
  const unsigned number = atomic_fetch_add(&blocks->next, 1) % WRITE_BLOCKS;
  block *b = &blocks->of_writes[number];
  char *bytes = blocks->bytes + (size_t)number * BLOCK_BYTES;
  pthread_mutex_lock(&b->mutex);
  cl_int code = wait_for(cl, &b->taken);
  if (code == CL_SUCCESS) {
    memcpy(bytes, from + at, size);
    code = cl->clEnqueueWriteBuffer(card->queue, to->buffer, CL_FALSE, to->offset + at, size, bytes,
                                    0, NULL, &b->taken);
    if (code != CL_SUCCESS) b->taken = NULL;
  }
  pthread_mutex_unlock(&b->mutex);
  return code;
}

// ---- From the card

static cl_int read_plainly(rheos__card *card, void *to, const rheos__card_place *from,
                           size_t size) {
  return card->cl->clEnqueueReadBuffer(card->queue, from->buffer, CL_TRUE, from->offset, size, to,
                                       0, NULL, NULL);
}

// Piece by piece: while one is brought to its place, the card sends the next ones.
static cl_int read_pieces(rheos__card *card, char *to, const rheos__card_place *from, size_t size) {
  const rheos__cl *cl = card->cl;
  rheos__card_blocks *blocks = card->blocks;
  char *bytes = blocks->bytes + (size_t)WRITE_BLOCKS * BLOCK_BYTES;
  cl_event sent[READ_BLOCKS] = {NULL};
  cl_int code = CL_SUCCESS;
  pthread_mutex_lock(&blocks->mutex);
  for (size_t asked = 0, at = 0; code == CL_SUCCESS && at < size;) {
    if (asked < size && asked - at < (size_t)READ_BLOCKS * BLOCK_BYTES) {
      const size_t number = asked / BLOCK_BYTES % READ_BLOCKS, piece = piece_at(asked, size);
      code = cl->clEnqueueReadBuffer(card->queue, from->buffer, CL_FALSE, from->offset + asked,
                                     piece, bytes + number * BLOCK_BYTES, 0, NULL, &sent[number]);
      if (code != CL_SUCCESS) sent[number] = NULL;
      asked += piece;
    } else {
      const size_t number = at / BLOCK_BYTES % READ_BLOCKS, piece = piece_at(at, size);
      code = wait_for(cl, &sent[number]);
      if (code == CL_SUCCESS) memcpy(to + at, bytes + number * BLOCK_BYTES, piece);
      at += piece;
    }
  }
  for (int i = 0; i < READ_BLOCKS; i++) wait_for(cl, &sent[i]);  // of a read that failed
  pthread_mutex_unlock(&blocks->mutex);
  return code;
}

// ---- Which way

// What is copied through blocks: on processors what is short, which is copied twice sooner than
// waited for.
static bool takes_blocks(rheos__card *card, size_t size_bytes) {
  return (!card->is_processor || size_bytes <= SHORT_BYTES) && has_blocks(card);
}

rheos_status *rheos__card_write(rheos__card *card, const rheos__card_place *to, const void *from,
                                size_t size_bytes) {
  cl_int code = CL_SUCCESS;
  if (!takes_blocks(card, size_bytes)) {
    code = write_plainly(card, to, from, size_bytes);
  } else {
    for (size_t at = 0; at < size_bytes && code == CL_SUCCESS; at += BLOCK_BYTES) {
      code = write_piece(card, to, at, from, piece_at(at, size_bytes));
    }
  }
  return rheos__card_status(card, code, "copying to the device");
}

rheos_status *rheos__card_read(rheos__card *card, void *to, const rheos__card_place *from,
                               size_t size_bytes) {
  const cl_int code = size_bytes > SHORT_BYTES && takes_blocks(card, size_bytes)
                          ? read_pieces(card, to, from, size_bytes)
                          : read_plainly(card, to, from, size_bytes);
  return rheos__card_status(card, code, "copying from the device");
}
