// A device of OpenCL as the process has it: a context, a queue in which all is done in the order in
// which it was given, its memory, and the programs that were compiled for it.
//
// No more is given to it than what two stretches have, a millisecond's work or so each: then who
// gives more waits, so that a step that is to stop leaves little behind.
//
// There is one queue for a card, so whatever was given to it later finds what came before done:
// memory may be given anew while a kernel that reads it is still under way, and nothing waits but
// where the host takes bytes.
#ifndef RHEOS_SRC_DEVICE_OPENCL_CARD_H
#define RHEOS_SRC_DEVICE_OPENCL_CARD_H

#include <pthread.h>
#include <stdatomic.h>

#include "device/opencl/library.h"

typedef struct rheos__card_program rheos__card_program;

// Of CLBlast's products: blast.h.
typedef enum rheos__blast_verdict {
  RHEOS__BLAST_UNKNOWN,
  RHEOS__BLAST_RIGHT,
  RHEOS__BLAST_WRONG,
} rheos__blast_verdict;

typedef struct rheos__card {
  const rheos__cl *cl;
  cl_device_id id;
  cl_context context;
  cl_command_queue queue;
  struct rheos__card_pool *pool;      // its memory: card_memory.h
  struct rheos__card_blocks *blocks;  // what copies go through: card_copy.h
  char name[128], driver[64], platform[128], description[256];
  bool has_double, rounds_quotients, is_processor;
  bool wants_blocks;  // a work-item computes many elements, as processors like it
  size_t max_group;   // work-items
  int32_t num_units;  // that have groups of their own
  uint64_t memory_bytes, max_block_bytes;
  atomic_bool is_lost;    // nothing works on it any more
  pthread_mutex_t mutex;  // guards what follows, and arguments of kernels until they are queued
  rheos__card_program *programs;
  size_t num_programs, program_capacity;
  bool said;                      // that something does not compile
  rheos__blast_verdict blast[2];  // on floats, doubles
  cl_mem blast_scratch;           // what CLBlast puts between, one product after another; or NULL
  size_t blast_scratch_bytes;
  int64_t num_kernels;            // given to the queue so far
  _Atomic(const char *) last_op;  // that it was given, its type; NULL: several in one, or none
  _Atomic int64_t num_copies;     // between it and the host so far
  double queued_work;             // arithmetic and bytes since the last mark
  int32_t num_queued;             // kernels since
  cl_event mark;                  // the last kernel of the stretch before; NULL: there is none
} rheos__card;

// The cards of the process; found and opened by the first call.
int32_t rheos__card_count(void);
rheos__card *rheos__card_at(int32_t index);

// A status in a process that was forked from the one that opened it, and where it was lost.
rheos_status *rheos__card_check(const rheos__card *card);

// As rheos__cl_status(), of what the card was asked to do; finds out whether it was lost.
rheos_status *rheos__card_status(rheos__card *card, cl_int code, const char *doing);

#endif  // RHEOS_SRC_DEVICE_OPENCL_CARD_H
