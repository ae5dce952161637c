// Where the sends and receives of a step meet: from a key, which is text, to the values that were
// sent under it and the attempts that wait for one. Values of one key are taken in the order in
// which they were sent. A value may be dead: the edge that it was sent along had none.
//
// A rendezvous belongs to a step, of which each part that runs somewhere has one. Whoever ends the
// step for an error aborts it: what waits, and what comes later, gets that error.
#ifndef RHEOS_SRC_RESOURCE_RENDEZVOUS_H
#define RHEOS_SRC_RESOURCE_RENDEZVOUS_H

#include "resource/waitable.h"

typedef struct rheos__rendezvous rheos__rendezvous;

// Where values come from that nobody here sends: of a step that runs in several places. `want` is
// called without a lock for each receive that finds no value, and sends, or aborts, when it has
// one. Until the last receive is over `argument` must last.
typedef struct rheos__rendezvous_source {
  void (*want)(void *argument, rheos__rendezvous *rendezvous, const char *key);
  void *argument;
  int64_t step;  // the number of the step, the same in all places
} rheos__rendezvous_source;

// Counted. `source` may be NULL. NULL when memory is short.
rheos__rendezvous *rheos__rendezvous_new(const rheos__rendezvous_source *source);
rheos__rendezvous *rheos__rendezvous_ref(rheos__rendezvous *rendezvous);
void rheos__rendezvous_unref(rheos__rendezvous *rendezvous);

// The number of the step that it belongs to; 0: that has none.
int64_t rheos__rendezvous_step(const rheos__rendezvous *rendezvous);

// Has frames of loops numbered by their whole names, as TensorFlow 1 does in keys; without it
// numbers are mixed of numbers, as TensorFlow 2 does. Before anything is sent from a loop.
void rheos__rendezvous_name_frames(rheos__rendezvous *rendezvous);
bool rheos__rendezvous_names_frames(const rheos__rendezvous *rendezvous);

// Puts a value, counted, under the key; NULL: it is dead. Fails with what the rendezvous was
// aborted with.
rheos_status *rheos__rendezvous_send(rheos__rendezvous *rendezvous, const char *key,
                                     rheos_tensor *value);

// An attempt to take a value of that dtype under the key. Its answer is one output, NULL for a dead
// value.
rheos_status *rheos__rendezvous_receive(rheos__rendezvous *rendezvous, const char *key,
                                        rheos_dtype dtype, rheos__attempt **out_attempt);

// What a receive without a step ends with, called once without a lock by the thread that ends it: a
// failure, or a value (NULL: dead). Both are the callee's.
typedef void (*rheos__received_fn)(void *argument, rheos_status *failed, rheos_tensor *value);
// Takes a value of any dtype for somebody elsewhere; `received` may have been called on return.
// Where this fails it is not called.
rheos_status *rheos__rendezvous_receive_for(rheos__rendezvous *rendezvous, const char *key,
                                            rheos__received_fn received, void *argument);

// Ends all receives, now and later, with the code and message of `why`, and drops the values that
// nobody took. Only the first error counts.
void rheos__rendezvous_abort(rheos__rendezvous *rendezvous, const rheos_status *why);

// TensorFlow's key of a value on its way between two devices, for rheos__free(): NULL when memory
// is short. `frame` and `trip` tell apart what is sent in the trips of a loop; both are 0 outside
// of all loops.
char *rheos__rendezvous_key(const char *send_device, uint64_t incarnation, const char *recv_device,
                            const char *tensor_name, uint64_t frame, uint64_t trip);

// How many keys it knows: those with values that nobody took, and those that are waited for.
size_t rheos__rendezvous_num_keys(rheos__rendezvous *rendezvous);

#endif  // RHEOS_SRC_RESOURCE_RENDEZVOUS_H
