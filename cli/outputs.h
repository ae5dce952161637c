// Results: into files, or to standard output.
#ifndef RHEOS_CLI_OUTPUTS_H
#define RHEOS_CLI_OUTPUTS_H

#include <rheos/tensor.h>

typedef enum output_format {
  OUTPUT_TEXT,  // on standard output, shortened
  OUTPUT_NPY,
  OUTPUT_NPZ,  // all in one file, "outputs.npz"
  OUTPUT_JSON,
  OUTPUT_RAW,
  OUTPUT_PNG,
  OUTPUT_JPEG,
} output_format;

typedef struct output_value {
  const char *name;  // as the user said it
  rheos_tensor *value;
} output_value;

// False for a name of no format.
bool output_format_of(const char *name, output_format *out_format);
// Writes all into the folder, which is made if it is missing, each file under a temporary name
// first; files that were there are replaced. The paths go to standard output. A file is called
// like the output, without ":0", with "_" for "/" and ":".
rheos_status *outputs_write(const output_value *values, size_t count, output_format format,
                            const char *folder);
// OUTPUT_TEXT or OUTPUT_JSON, which is one object.
void outputs_print(const output_value *values, size_t count, output_format format);

#endif  // RHEOS_CLI_OUTPUTS_H
