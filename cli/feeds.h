// Values for a graph's inputs, from files or from the command line.
#ifndef RHEOS_CLI_FEEDS_H
#define RHEOS_CLI_FEEDS_H

#include <rheos/graph.h>

// The value that `text` stands for, as `target` can take it: a file, "archive.npz:NAME",
// "file:DTYPE:DIMS", "@file" (its bytes as a string), or a value in JSON. `name` is what the user
// calls the input: an archive's array of that name is taken if the archive has several.
rheos_status *feed_read(const char *name, const char *text, rheos_output target,
                        rheos_tensor **out_value);

#endif  // RHEOS_CLI_FEEDS_H
