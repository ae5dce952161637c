// Placement: on which device each entry of a plan, or each node of a graph, runs.
#ifndef RHEOS_SRC_PLAN_ENTRIES_PLACE_H
#define RHEOS_SRC_PLAN_ENTRIES_PLACE_H

#include "plan/entries/plan.h"

// Chooses the device of each entry, before anything is rewritten (placer.h): the one that its node
// asks for, else that of what it is colocated with, else the CPU, unless another one is the only to
// have a kernel. What takes a reference or handle runs where that is, what reads a variable where
// the value is taken. Fails where no device fits or the one that does has no kernel, unless soft
// placement is on: then it is another one.
rheos_status *rheos__place_plan(rheos__plan *plan);

// As rheos__place_plan() for each node of a graph, which is then cut by device or task:
// `devices_of` are numbers among `devices`, which may be of several tasks. What reads a variable
// runs where that is, what makes a value where that is taken if all who take it are in one place.
// Soft placement leaves a node on the task that it asks for.
// The first `num_kept` of `devices_of` say where nodes were when the graph was placed before: those
// that have state stay there.
rheos_status *rheos__place_graph(const rheos_graph *graph, const rheos__device *const *devices,
                                 int32_t num_devices, bool allow_soft_placement, int32_t num_kept,
                                 int16_t *devices_of);

// Whether the entry is bound to no memory: its outputs become constants, or only name a cell, or it
// has none.
bool rheos__is_anywhere(const rheos__entry *entry);

// Whether all it does is give the tensor in a variable. It needs no kernel, and runs where that is
// taken.
bool rheos__reads_variable(const rheos__entry *entry);

// Whether the entry takes the bytes of the value: not what looks at shapes only, nor of references
// and handles, which have none.
bool rheos__takes_bytes(const rheos__plan *plan, const rheos__entry *entry, int32_t value);

// Whether the output is one of a body, or was kept, and lies in whatever memory it was left in.
bool rheos__gives_anywhere(const rheos__entry *entry, int32_t output);

// In the memory of which device the entry takes the bytes of its input; RHEOS__ANYWHERE: it hands
// them to a body, or keeps them, in whatever memory they lie.
int16_t rheos__device_of_input(const rheos__plan *plan, const rheos__entry *entry, int32_t input);

// Whether values of the dtype have bytes that a device can have in a memory of its own.
bool rheos__is_plain(rheos_dtype dtype);

#endif  // RHEOS_SRC_PLAN_ENTRIES_PLACE_H
