// `rheos lint --fix`: graphs without nodes that compute what others compute, in files that are else
// as they were.
#ifndef RHEOS_CLI_MEND_H
#define RHEOS_CLI_MEND_H

#include "source.h"
#include "text.h"

typedef struct mend_options {
  text_list outputs;  // what the graph is for; none: all that nothing takes
  const char *tags;   // of a saved model the graph's; NULL: its first one
  bool is_serving;    // what its signatures do not need goes
} mend_options;

// The message of a graph, meta graph or saved model anew, binary, for free(). Nodes that stay and
// whatever is beside the graph keep their bytes; what that names stays.
rheos_status *mend_source(source *from, const mend_options *options, char **out_bytes,
                          size_t *out_size_bytes, int32_t *out_num_removed);

#endif  // RHEOS_CLI_MEND_H
