// Observers: who looks on while a step runs, such as a trace or a debugger.
//
// A step that has observers tells them of each of its entries, in the order in which these end, on
// the thread whose turn it is; so an observer that blocks holds up its own step and no other. A
// step that has none is run by loops that have no call for it. An error that an observer gives is
// the entry's: it gets the entry's name and line, and ends the step.
#ifndef RHEOS_SRC_RUNTIME_STEP_OBSERVER_H
#define RHEOS_SRC_RUNTIME_STEP_OBSERVER_H

#include <rheos/base.h>

#include "base/text.h"
#include "graph/calls.h"

struct rheos__plan;
struct rheos__segment;
struct rheos__workspace;
struct rheos__instruction;

// Where a step is: in a visit of a segment or of a plan on tokens, inside of the entry that called
// its body.
typedef struct rheos__place {
  const struct rheos__place *outer;  // of the entry that called the body; NULL: the step's own plan
  const struct rheos__plan *plan;
  const struct rheos__segment *segment;  // NULL: the plan is on tokens
  int32_t visit;                         // its number in the step, from 0 on
  int32_t entry;                         // of the plan, that is under way; -1: none is yet
  int64_t
      trip;  // how often the body has run in this call of it before; 0: it is the step's own plan
  int64_t begun_ns;  // on tokens: when the entry began, or goes on after it waited
  const struct rheos__flow_state *state;  // on tokens, of an entry
} rheos__place;

// When one of a pool's threads was at an instruction that several share; an end of 0: not at all.
typedef struct rheos__share {
  uint32_t thread;
  int64_t start_ns, end_ns;
} rheos__share;

// An entry that begins, or that has ended without an error.
typedef struct rheos__observed {
  const rheos__place *place;                     // of the entry
  const struct rheos__instruction *instruction;  // NULL on tokens
  const struct rheos__workspace *workspace;
  rheos_tensor *const *results;  // by output: the tensors that it gave, if it gives any; else NULL
  // Where threads shared it with others: by part, when they were at it. NULL: the step's own thread
  // ran it.
  rheos__share *shares;
  size_t num_shares;
} rheos__observed;

// The value of a watched edge.
typedef struct rheos__delivered {
  const rheos__place *place;  // of the edge's node
  int32_t watch;              // the edge's number among those of the plan
  rheos_tensor *value;
} rheos__delivered;

// Each function may be NULL.
typedef struct rheos__observer {
  void (*step_begins)(void *argument, const rheos__step *step);
  // A visit begins and has ended, with an error too.
  void (*visit_begins)(void *argument, const rheos__place *place);
  void (*visit_ended)(void *argument, const rheos__place *place);
  // All that the entry takes is there, unless threads share it with others: then both are told of
  // it behind all of them, the first without the second where one has failed.
  rheos_status *(*entry_begins)(void *argument, const rheos__observed *entry);
  rheos_status *(*entry_ended)(void *argument, const rheos__observed *entry);
  // The value of an edge that the step's plan watches (plan/entries/watch.h), as often as it is
  // computed. It is counted, and constant.
  rheos_status *(*deliver)(void *argument, const rheos__delivered *delivered);
  // A part of what a kernel does, such as a stage of a pipeline. The name stays.
  void (*part_ended)(void *argument, const char *name, int64_t start_ns, int64_t end_ns);
  // `status` is the step's, NULL if it succeeded.
  void (*step_ended)(void *argument, const rheos_status *status);
  void *argument;
  bool one_by_one;  // threads do not share entries with others: each ends before the next begins
} rheos__observer;

enum { RHEOS__MOST_OBSERVERS = 4 };

// Of one step.
typedef struct rheos__observers {
  const rheos__observer *items[RHEOS__MOST_OBSERVERS];
  int32_t count;
  bool one_by_one;            // one of them wants that
  int32_t num_visits;         // so far
  const rheos__place *place;  // of the strand that has the turn
  rheos__share *shares;       // room
  size_t share_capacity;
} rheos__observers;

// Before the step begins; the observer lasts as long as it. `room` becomes the step's, and lasts as
// long, if it has no observer yet. At most RHEOS__MOST_OBSERVERS.
void rheos__step_observe(rheos__step *step, const rheos__observer *observer,
                         rheos__observers *room);

// For steps that are observed.
void rheos__observe_step_begins(rheos__step *step);
void rheos__observe_step_ended(rheos__step *step, const rheos_status *status);
// Goes to the place, which the caller keeps; the outer one and the number are filled in.
void rheos__observe_visit_begins(rheos__step *step, rheos__place *place);
void rheos__observe_visit_ended(rheos__step *step, const rheos__place *place);
rheos_status *rheos__observe_entry_begins(rheos__step *step, const rheos__observed *entry);
rheos_status *rheos__observe_entry_ended(rheos__step *step, const rheos__observed *entry);

// Delivers a value at the step's place. It is copied, unless nobody writes to it any more
// (`stays`), or the step alone holds it, which sees that it is held.
rheos_status *rheos__observe_value(rheos__step *step, int32_t watch, rheos_tensor *tensor,
                                   bool stays);
// Adds where a place is to a text: for each call and each loop around it, outermost first, the name
// of its node,
// ";" and the number of its trip, 0 of what is no loop, with ";" in between. Nothing for the graph
// itself.
void rheos__place_text(const rheos__place *place, rheos__text *text);

// The bytes of an input, while the entry begins, and of an output, when it has ended. False where
// there are none: it is a reference or handle, in a device's memory, or dead; or it is written by a
// fused loop later; or threads shared the entry, so that its bytes may be used already.
bool rheos__observed_input(const rheos__observed *entry, int32_t input, rheos_tensor *out_view);
bool rheos__observed_output(const rheos__observed *entry, int32_t output, rheos_tensor *out_view);

#endif  // RHEOS_SRC_RUNTIME_STEP_OBSERVER_H
