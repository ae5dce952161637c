// Attributes of nodes as a person reads them.
#ifndef RHEOS_CLI_ATTRIBUTE_H
#define RHEOS_CLI_ATTRIBUTE_H

#include <stdio.h>

#include "graph.pb-c.h"

// In one line, whatever it holds; NULL: "(nothing)".
void attribute_print(FILE *out, const Tensorflow__AttrValue *value);

#endif  // RHEOS_CLI_ATTRIBUTE_H
