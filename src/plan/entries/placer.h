// What decides on which of several devices each thing runs, and why: an entry of a plan or a node
// of a graph, by its id. What has to be beside something else is joined with it first, so that all
// of a group see what any of them asks for; then each is placed, inputs before who takes them.
#ifndef RHEOS_SRC_PLAN_ENTRIES_PLACER_H
#define RHEOS_SRC_PLAN_ENTRIES_PLACER_H

#include "base/arena.h"
#include "device/device.h"
#include "graph/graph.h"

typedef enum rheos__place_reason {
  RHEOS__PLACE_FIRST,      // nothing speaks for another device than the first
  RHEOS__PLACE_ASKED,      // it asks for the device
  RHEOS__PLACE_COLOCATED,  // beside what it is colocated with
  RHEOS__PLACE_REFERENCE,  // beside what gives the reference or handle that it takes
  RHEOS__PLACE_TAKERS,     // it makes a value, of nothing, that is taken only there
  RHEOS__PLACE_SHAPE,      // it looks at the shape of what is there
  RHEOS__PLACE_KERNEL,     // the only one with a kernel, or the first of those
  RHEOS__PLACE_PREFERRED,  // nothing speaks for another device, and this one is faster
  RHEOS__PLACE_CALLED,     // the call of its function asks for the device
  RHEOS__PLACE_INPUTS,     // what it takes is computed there
  RHEOS__PLACE_HOST,       // what it takes or gives exists in the host's memory only
  RHEOS__PLACE_NO_CARDS,   // cards have no kernel for it
  RHEOS__PLACE_NO_FLOATS,  // cards have one, but not being of floats it stays where the host is
  RHEOS__PLACE_NO_DEVICE,  // soft placement: what it asks for is not there
  RHEOS__PLACE_NO_KERNEL,  // soft placement: where it asks to be there is no kernel
} rheos__place_reason;

typedef struct rheos__placement {
  int16_t device;  // in the list; RHEOS__NOWHERE
  uint8_t reason;
  int32_t beside;  // the id that the reason speaks of; RHEOS__NOWHERE: of none
} rheos__placement;

enum { RHEOS__NOWHERE = -1, RHEOS__FED = -2 };

// What is placed.
typedef struct rheos__placed {
  const rheos__node *node;
  const rheos_graph *graph;  // the node's
  int32_t id;
  const rheos__op_def *op;
  const rheos__attrs *attrs;
  bool needs_no_kernel;  // it reads a variable, or only moves what others take
  bool is_constant;      // its outputs become constants, or it has none
  bool is_other;         // an entry that stands for no node
  bool is_on_host;       // it takes or gives what exists in the host's memory only
  bool makes_value;      // one, out of nothing
  bool calls_there;      // nodes of the body that it calls are where it is, if that is better
  // What the call asks for of whose body it is, where it asks for nothing itself; NULL: nothing.
  const char *default_device;
  int32_t computed_on;  // a device with a memory of its own that computes what it takes; 0: none
  int32_t looks_at;     // the id of what it looks at the shape of; RHEOS__NOWHERE
  int32_t cell;         // of what it takes a reference or handle from; RHEOS__NOWHERE; RHEOS__FED
} rheos__placed;

// What device is asked for by one, or by all of a group.
typedef struct rheos__wanted {
  rheos__device_name name;
  const char *text;  // as asked for, or merged
} rheos__wanted;

// By id.
typedef struct rheos__place {
  rheos__placement given;
  bool computes;      // on a device that would rather have it than a CPU
  int32_t parent;     // towards the root of its group
  uint8_t joined_by;  // RHEOS__PLACE_COLOCATED, RHEOS__PLACE_REFERENCE; 0: it joined nothing
  int32_t joined_to;
  const rheos__wanted *own;     // what it asks for itself; NULL: nothing
  const rheos__wanted *wanted;  // of a root: what its group asks for; NULL: nothing
  int32_t asker;                // of a root: the first that asks for something
  int32_t first;                // of a root: the first that was placed
  int16_t taken_on;             // one more than the device of who takes it; 0: nobody; -1: several
  int32_t taker;                // the first
} rheos__place;

typedef struct rheos__placer {
  const rheos_graph *graph;
  const rheos__device *const *devices;
  int32_t num_devices;
  bool allow_soft_placement;
  bool prefers_cards;
  // By id, for the first num_kept: the device where something is already that has state, and stays;
  // RHEOS__NOWHERE: there is none.
  const int16_t *kept;
  int32_t num_kept;
  bool is_cut;           // the graph will be, by task, and a session of each task has its part
  bool has_memories;     // some device has a memory of its own
  bool has_tasks;        // the devices are of several tasks
  bool groups_by_task;   // so a group is on one task, each of it on whichever device of that
  rheos__place *places;  // by id
  int32_t num_ids;
  // Names of nodes in `_class` are the graph's: RHEOS__NOWHERE for a node of another graph.
  char *(*name_of)(const void *whole, int32_t id);  // for rheos__free(); NULL when memory is short
  const void *whole;
  rheos__arena arena;
  const rheos__wanted **asked;  // distinct device strings
  size_t asked_capacity, num_asked;
} rheos__placer;

// Sets places from `placer`'s first fields, num_ids, name_of and whole; to be deinitialised.
rheos_status *rheos__placer_init(rheos__placer *placer);
void rheos__placer_deinit(rheos__placer *placer);

// Notes what it asks for, of all before any is joined.
rheos_status *rheos__placer_hear(rheos__placer *placer, const rheos__placed *what);

// Joins it with what it has to be beside. RHEOS_INVALID_ARGUMENT where both ask for devices that
// cannot be one.
rheos_status *rheos__placer_join(rheos__placer *placer, const rheos__placed *what);

// Places it, after all were joined. What makes a value is left for rheos__placer_place_left(), if
// nothing else says where.
rheos_status *rheos__placer_place(rheos__placer *placer, const rheos__placed *what);
// The device that computes it and would rather have it than a CPU; 0: none.
int32_t rheos__placer_computes(const rheos__placer *placer, int32_t id);
// What takes a value or waits says so, once it is placed.
void rheos__placer_note_taken(rheos__placer *placer, int32_t taker, int32_t id);
void rheos__placer_place_left(rheos__placer *placer, const rheos__placed *what);

// Whether the device has a kernel for it, or it needs none there.
bool rheos__placer_fits(const rheos__placer *placer, const rheos__placed *what, int32_t device);

// Why, as a text: "asked for", "beside v, whose reference or handle it takes". NULL when memory is
// short, else for rheos__free().
char *rheos__placer_why(const rheos__placer *placer, int32_t id);

// Places all nodes of `graph`, whose nodes are the ids; `placer` has the fields before
// `has_memories`, and is to be deinitialised.
rheos_status *rheos__place_nodes(rheos__placer *placer);

// ---- Errors

// `asker` is the id of what asks for the device: its own, or that of another one of its group.
rheos_status *rheos__place_no_device(const rheos__placer *placer, const rheos__placed *what,
                                     const char *asked, int32_t asker);
rheos_status *rheos__place_no_kernel(const rheos__placer *placer, const rheos__placed *what,
                                     const char *asked, int32_t device);
// Of two groups, by their roots.
rheos_status *rheos__place_conflict(const rheos__placer *placer, const rheos__place *one,
                                    const rheos__place *other);

#endif  // RHEOS_SRC_PLAN_ENTRIES_PLACER_H
