// Variables that come to hold values of other shapes than their graphs say, as Assign without
// validate_shape may give them. Plans take a shape from the graph only for the others.
#ifndef RHEOS_SRC_RESOURCE_VARIABLE_SHAPE_H
#define RHEOS_SRC_RESOURCE_VARIABLE_SHAPE_H

#include "resource/resource.h"

// Says that values of any shape may come to the variable, one of `resources`, from now on; plans
// that were made before are out of date.
void rheos__variable_allow_any_shape(rheos__resources *resources, rheos__variable_cell *cell);
bool rheos__variable_has_any_shape(const rheos__variable_cell *cell);

// How many variables of `resources` (NULL: none) may have values of any shape. When there are more
// than before, plans made before are out of date.
int64_t rheos__num_variables_of_any_shape(const rheos__resources *resources);

#endif  // RHEOS_SRC_RESOURCE_VARIABLE_SHAPE_H
