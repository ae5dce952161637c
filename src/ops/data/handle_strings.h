// Strings by which a session knows objects behind handles, such as iterators.
#ifndef RHEOS_SRC_OPS_DATA_HANDLE_STRINGS_H
#define RHEOS_SRC_OPS_DATA_HANDLE_STRINGS_H

#include "graph/op_def.h"
#include "tensor/variant.h"

typedef struct rheos__handle_strings rheos__handle_strings;

// The strings of the session (or other owner of resources) that the kernel is prepared for.
rheos_status *rheos__handle_strings_get(const rheos__prepare *p,
                                        rheos__handle_strings **out_strings);
void rheos__handle_strings_unref(rheos__handle_strings *strings);  // NULL: nothing

// A scalar string that stands for the object, which lives as long as the session from then on.
rheos_status *rheos__handle_string_new(rheos__handle_strings *strings, rheos__variant *object,
                                       rheos_tensor **out_string);
// The object with a reference. RHEOS_INVALID_ARGUMENT for the string of another session and for an
// object of another kind, RHEOS_NOT_FOUND for one that stands for nothing.
rheos_status *rheos__handle_string_find(rheos__handle_strings *strings, const rheos_tensor *string,
                                        const rheos__variant_kind *kind,
                                        rheos__variant **out_object);

#endif  // RHEOS_SRC_OPS_DATA_HANDLE_STRINGS_H
