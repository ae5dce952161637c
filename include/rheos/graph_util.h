// GraphDefs for use elsewhere: parts of a graph, variables as constants.
//
// Each function reads the bytes of a GraphDef and gives those of a new one, for rheos_free(). What
// it does not change comes through as it is, fields that nothing here knows too; so do the library
// of functions and the versions. No op needs to be known. RHEOS_DATA_LOSS if the bytes are no
// GraphDef.
#ifndef RHEOS_GRAPH_UTIL_H
#define RHEOS_GRAPH_UTIL_H

#include <rheos/session.h>

#ifdef __cplusplus
extern "C" {
#endif

// Only the nodes that the outputs ("y", "y:0") need; colocations with others are dropped.
// RHEOS_NOT_FOUND, naming all outputs that are not there. (TensorFlow's extract_sub_graph)
RHEOS_STATUS rheos_graph_def_strip(const void *bytes, size_t size_bytes, const char *const *outputs,
                                   size_t num_outputs, void **out_bytes, size_t *out_size_bytes);

// Only the nodes whose names begin with `scope`, which goes from all names that do, with the "/"
// behind it; colocations with others are dropped. An input from elsewhere, "x:1", becomes
// "$unbound_inputs_x:1" ("^x": "^$unbound_inputs_x"), for an input map of whoever imports the part;
// these come sorted, each once, in one piece of memory for rheos_free() (NULL and 0 if there are
// none). (What TensorFlow's export_meta_graph does with export_scope)
RHEOS_STATUS rheos_graph_def_below(const void *bytes, size_t size_bytes, const char *scope,
                                   void **out_bytes, size_t *out_size_bytes,
                                   char ***out_unbound_inputs, size_t *out_num_unbound_inputs);

// Without the devices of the nodes.
RHEOS_STATUS rheos_graph_def_clear_devices(const void *bytes, size_t size_bytes, void **out_bytes,
                                           size_t *out_size_bytes);

// Without CheckNumerics and Identity nodes, but for those at control edges and those that are named
// in `protected_nodes`. (TensorFlow's remove_training_nodes)
RHEOS_STATUS rheos_graph_def_remove_training_nodes(const void *bytes, size_t size_bytes,
                                                   const char *const *protected_nodes,
                                                   size_t num_protected_nodes, void **out_bytes,
                                                   size_t *out_size_bytes);

// Without attributes that hold their op's default, in the functions of the library too, so that
// older readers take the graph.
RHEOS_STATUS rheos_graph_def_strip_default_attrs(const void *bytes, size_t size_bytes,
                                                 void **out_bytes, size_t *out_size_bytes);

typedef struct rheos_freeze_options {
  // Names of the variables that become constants; NULL: all that the outputs need.
  const char *const *variables RHEOS_LEFT_OUT;
  size_t num_variables RHEOS_LEFT_OUT;
  // Of these, names of those that stay variables.
  const char *const *kept_variables RHEOS_LEFT_OUT;
  size_t num_kept_variables RHEOS_LEFT_OUT;
} rheos_freeze_options;

// What the outputs need, with constants in place of variables: their values in the session, whose
// graph has these nodes under the same names (and gets nodes that read them). Reference variables
// become constants themselves; of resource variables the reads become identities and the gathers
// plain ones. `options` may be NULL. RHEOS_UNIMPLEMENTED, naming all of them, if other nodes on the
// way take variables; RHEOS_FAILED_PRECONDITION if a variable has no value. (TensorFlow's
// convert_variables_to_constants)
RHEOS_MUST_USE static inline rheos_status *rheos_graph_def_freeze(
    const void *bytes, size_t size_bytes, rheos_session *session, const char *const *outputs,
    size_t num_outputs, const rheos_freeze_options *options, void **out_bytes,
    size_t *out_size_bytes);

// ---- How large a struct of options is in the program, the library is told (base.h, Options): what
// is declared above is inline over these

RHEOS_STATUS rheos_graph_def_freeze_sized(const void *bytes, size_t size_bytes,
                                          rheos_session *session, const char *const *outputs,
                                          size_t num_outputs, const rheos_freeze_options *options,
                                          size_t options_bytes, void **out_bytes,
                                          size_t *out_size_bytes);
RHEOS_MUST_USE static inline rheos_status *rheos_graph_def_freeze(
    const void *bytes, size_t size_bytes, rheos_session *session, const char *const *outputs,
    size_t num_outputs, const rheos_freeze_options *options, void **out_bytes,
    size_t *out_size_bytes) {
  return rheos_graph_def_freeze_sized(bytes, size_bytes, session, outputs, num_outputs, options,
                                      sizeof *options, out_bytes, out_size_bytes);
}

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_GRAPH_UTIL_H
