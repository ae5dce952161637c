// The link between ranks (net/rank_link.h) by MPI. Rheos calls it with one thread, the one that has
// called MPI_Init_thread(), which is MPI_THREAD_FUNNELED. Errors are MPI's to deal with: it ends
// all processes.
#include <dlfcn.h>
#include <mpi.h>
#include <rheos/base.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "net/rank_link.h"

enum { NOTE_TAG, PIECE_TAG };
enum { SPINS = 2000, TESTS_PER_STOP = 256 };

static MPI_Comm notes, tensors;
static MPI_Request *requests;  // RHEOS__PIECES_PER_RANK for each rank

// ---- Beginning and end

// Parts of MPI that it loads itself look for its names among those that the process shares.
static void share_names(void) {
  Dl_info mpi;
  if (dladdr((void *)(uintptr_t)MPI_Init_thread, &mpi) == 0 || mpi.dli_fname == NULL) return;
  (void)dlopen(mpi.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

// Whether all ranks are of one version: notes are as its structs are.
static bool are_alike(void) {
  char version[32] = "";
  snprintf(version, sizeof version, "%s", RHEOS_VERSION_STRING);
  MPI_Bcast(version, sizeof version, MPI_CHAR, 0, notes);
  int is_like = strcmp(version, RHEOS_VERSION_STRING) == 0, are_all = 0;
  MPI_Allreduce(&is_like, &are_all, 1, MPI_INT, MPI_LAND, notes);
  return are_all != 0;
}

static bool start(int32_t *out_rank, int32_t *out_count, char *error) {
  int was_started = 0, provided = 0, rank = 0, count = 0;
  share_names();
  MPI_Initialized(&was_started);
  if (was_started) {
    snprintf(error, RHEOS__RANK_ERROR_BYTES, "something else in this process uses MPI already");
    return false;
  }
  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS ||
      provided < MPI_THREAD_FUNNELED) {
    snprintf(error, RHEOS__RANK_ERROR_BYTES, "MPI cannot be used by a program with threads");
    return false;
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &notes);
  MPI_Comm_dup(MPI_COMM_WORLD, &tensors);
  MPI_Comm_rank(notes, &rank);
  MPI_Comm_size(notes, &count);
  if (!are_alike()) {
    snprintf(error, RHEOS__RANK_ERROR_BYTES, "they have several versions of Rheos");
    return false;
  }
  requests = malloc((size_t)count * RHEOS__PIECES_PER_RANK * sizeof *requests);
  if (requests == NULL) {
    snprintf(error, RHEOS__RANK_ERROR_BYTES, "there is no memory for %d ranks", count);
    return false;
  }
  *out_rank = rank;
  *out_count = count;
  return true;
}

// ---- Notes

// On its way. The list is the one thread's.
typedef struct sent {
  struct sent *next;
  MPI_Request request;
  char note[];
} sent;

static sent *on_their_way;

static void forget_what_went(void) {
  for (sent **at = &on_their_way; *at != NULL;) {
    sent *s = *at;
    int is_done = 0;
    MPI_Test(&s->request, &is_done, MPI_STATUS_IGNORE);
    if (is_done) {
      *at = s->next;
      free(s);
    } else {
      at = &s->next;
    }
  }
}

static void send_note(int32_t rank, const void *note, size_t size_bytes) {
  forget_what_went();
  sent *s = malloc(sizeof *s + size_bytes);
  if (s == NULL) {  // notes are short: MPI mostly has room for one
    MPI_Send(note, (int)size_bytes, MPI_BYTE, rank, NOTE_TAG, notes);
    return;
  }
  memcpy(s->note, note, size_bytes);
  s->next = on_their_way;
  on_their_way = s;
  MPI_Isend(s->note, (int)size_bytes, MPI_BYTE, rank, NOTE_TAG, notes, &s->request);
}

static bool next_note(int32_t *out_rank, size_t *out_size_bytes) {
  int has_come = 0, size = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, NOTE_TAG, notes, &has_come, &status);
  if (!has_come) return false;
  MPI_Get_count(&status, MPI_BYTE, &size);
  *out_rank = status.MPI_SOURCE;
  *out_size_bytes = (size_t)size;
  return true;
}

static void receive_note(int32_t rank, void *note, size_t size_bytes) {
  MPI_Recv(note, (int)size_bytes, MPI_BYTE, rank, NOTE_TAG, notes, MPI_STATUS_IGNORE);
}

static void finish(void) {
  while (on_their_way != NULL) forget_what_went();
  MPI_Comm_free(&notes);
  MPI_Comm_free(&tensors);
  MPI_Finalize();
  free(requests);
}

static void abort_all(void) { MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE); }

// ---- Bytes of tensors

// Cores may be fewer than ranks: after a while whoever waits lets others work.
static void let_others_work(int num_tests) {
  static const struct timespec pause = {.tv_nsec = 20000};
  if (num_tests > SPINS) {
    nanosleep(&pause, NULL);
  } else {
    sched_yield();
  }
}

static bool wait_for(int count, const rheos__rank_wait *wait) {
  int is_done = 0;
  for (int num_tests = 1;; num_tests++) {
    MPI_Testall(count, requests, &is_done, MPI_STATUSES_IGNORE);
    if (is_done) return true;
    if (num_tests % TESTS_PER_STOP == 0 && wait->should_stop(wait->argument)) return false;
    let_others_work(num_tests);
  }
}

static bool exchange(const rheos__rank_piece *pieces, size_t count, const rheos__rank_wait *wait) {
  int num_requests = 0;
  for (size_t i = 0; i < count; i++) {
    const rheos__rank_piece *p = &pieces[i];
    MPI_Request *request = &requests[num_requests];
    if (p->size_bytes == 0) continue;
    if (p->is_for_it) {
      MPI_Isend(p->data, (int)p->size_bytes, MPI_BYTE, p->rank, PIECE_TAG, tensors, request);
    } else {
      MPI_Irecv(p->data, (int)p->size_bytes, MPI_BYTE, p->rank, PIECE_TAG, tensors, request);
    }
    num_requests++;
  }
  return wait_for(num_requests, wait);
}

static bool broadcast(int32_t source, void *data, size_t size_bytes, const rheos__rank_wait *wait) {
  MPI_Ibcast(data, (int)size_bytes, MPI_BYTE, source, tensors, requests);
  return wait_for(1, wait);
}

__attribute__((visibility("default"))) extern const rheos__rank_link rheos__mpi_link;
const rheos__rank_link rheos__mpi_link = {
    .version = RHEOS_VERSION_STRING,
    .start = start,
    .finish = finish,
    .abort = abort_all,
    .send = send_note,
    .next = next_note,
    .receive = receive_note,
    .exchange = exchange,
    .broadcast = broadcast,
};
