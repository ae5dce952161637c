// Resources: what sessions keep between steps, under a name: variables, random generators,
// lookup tables (lookup_table.h), queues (waitable.h). Counted, so that plans may hold on to them.
#ifndef RHEOS_SRC_RESOURCE_RESOURCE_H
#define RHEOS_SRC_RESOURCE_RESOURCE_H

#include <pthread.h>

#include "tensor/tensor.h"

typedef struct rheos__resource rheos__resource;

// What makes up a kind of resource. `deinit` frees what the resource holds, not its own memory.
// Both may be NULL; a new resource is zeros but for its name.
typedef struct rheos__resource_kind {
  const char *name;
  size_t size_bytes;  // of the struct that starts with a rheos__resource
  rheos_status *(*init)(rheos__resource *resource, const void *argument);
  void (*deinit)(rheos__resource *resource);
} rheos__resource_kind;

struct rheos__resource {
  const rheos__resource_kind *kind;
  _Atomic int32_t references;
  _Atomic int32_t num_memories;  // of the references: those of plans, which know it by its address
  char *name;
};

typedef struct rheos__resources rheos__resources;

rheos__resources *rheos__resources_new(void);
void rheos__resources_clear(rheos__resources *resources);  // lets go of all of them
// The table of another device of the same owner, made when first asked for: TensorFlow has one
// for each device. Device 0 has `resources` themselves; what clears these clears all. NULL when
// memory is short.
rheos__resources *rheos__resources_of_device(rheos__resources *resources, int32_t device);
// Lets go of those of a container; "": of those that are in none.
rheos_status *rheos__resources_clear_container(rheos__resources *resources, const char *container);
// The name in the table of what is called `name` in the container ("": none), for rheos__free().
// NULL when memory is short.
char *rheos__name_in_container(const char *container, const char *name);
void rheos__resources_free(rheos__resources *resources);

// The resource of that kind and name; made by `init(argument)` if there is none yet. The caller
// gets a reference. Kinds have name spaces of their own.
rheos_status *rheos__resources_get(rheos__resources *resources, const rheos__resource_kind *kind,
                                   const char *name, const void *argument,
                                   rheos__resource **out_resource);

// A resource that is in no table.
rheos_status *rheos__resource_new(const rheos__resource_kind *kind, const char *name,
                                  const void *argument, rheos__resource **out_resource);

rheos__resource *rheos__resource_ref(rheos__resource *resource);
void rheos__resource_unref(rheos__resource *resource);

// References of what was planned for a resource and is worth nothing once it has no others; whoever
// keeps such looks now and then.
void rheos__resource_remember(rheos__resource *resource);
void rheos__resource_forget(rheos__resource *resource);
bool rheos__resource_is_gone(const rheos__resource *resource);

// ---- Variables
//
// A cell with a tensor, or nothing before it is initialised. Readers take a reference to the tensor
// and keep it as long as they need the value: a snapshot. Writers change the tensor in place when
// nobody else holds it, else they put a changed copy in its place. So reads never tear, and reading
// costs one lock and one count. The tensor lies in the memory where its last writer ran.
typedef struct rheos__variable_cell {
  rheos__resource base;
  pthread_mutex_t mutex;
  rheos_dtype dtype;    // of every value; RHEOS_INVALID_DTYPE: not said
  rheos_tensor *value;  // NULL: not initialised
} rheos__variable_cell;

// A new cell's argument is the rheos_dtype of its values, or NULL.
extern const rheos__resource_kind rheos__variable_kind;

// The value with a reference of its own, or NULL if the variable is not initialised. In any memory:
// for who looks at its shape.
rheos_tensor *rheos__variable_read(rheos__variable_cell *cell);

// As rheos__variable_read(), in `memory`; fails with RHEOS_FAILED_PRECONDITION if the variable is
// not initialised.
rheos_status *rheos__variable_read_in(rheos__variable_cell *cell, rheos__memory *memory,
                                      rheos_tensor **out_value);

// Replaces the value; takes the tensor (NULL: not initialised).
void rheos__variable_assign_take(rheos__variable_cell *cell, rheos_tensor *value);

// Replaces the value by the tensor, or by a copy of one whose bytes somebody may change.
rheos_status *rheos__variable_assign(rheos__variable_cell *cell, rheos_tensor *value);

// Locks the cell and gives its value for writing: the only reference, in the memory. Fails with
// RHEOS_FAILED_PRECONDITION, unlocked, if it is not initialised. Call rheos__variable_end_write()
// after a success; between the two nothing else of the cell may be called.
rheos_status *rheos__variable_begin_write(rheos__variable_cell *cell, rheos__memory *memory,
                                          rheos_tensor **out_value);
void rheos__variable_end_write(rheos__variable_cell *cell);

// "Attempting to use uninitialized value NAME".
rheos_status *rheos__variable_uninitialized(const rheos__variable_cell *cell);

#endif  // RHEOS_SRC_RESOURCE_RESOURCE_H
