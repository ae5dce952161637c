// MetaGraphDefs, which are graphs with what programs keep beside them, and SavedModels, which are
// folders with MetaGraphDefs, their variables and assets.
//
// Both are read in two steps. The first gives a description: names, dtypes, signatures,
// collections; it makes no graph and needs no op, so what cannot run can still be shown. The second
// adds the graph to a scope, or makes a graph and a session of it.
#ifndef RHEOS_SAVED_MODEL_H
#define RHEOS_SAVED_MODEL_H

#include <rheos/format.h>
#include <rheos/train.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- What a MetaGraphDef says
//
// Descriptions are the library's; everything in them lives as long as the rheos_meta_graph. Texts
// are never NULL unless that is said.

// A tensor that a signature or an asset names. One of three: a tensor, with a name; a sparse one,
// whose parts have names; one of another kind (Python's composite tensors) with components.
typedef struct rheos_tensor_info {
  const char *key;    // what the signature calls it; "" for others
  const char *name;   // "x:0"; "" if it is not a plain tensor
  rheos_dtype dtype;  // of a sparse one's values; RHEOS_INVALID_DTYPE if the file does not say
  rheos_shape shape;  // of a sparse one the dense shape
  bool is_sparse;     // its parts have names
  const char *values_name, *indices_name, *dense_shape_name;  // of a sparse one, else ""
  const struct rheos_tensor_info *components;                 // of one of another kind
  size_t num_components;
} rheos_tensor_info;

// What an input of a signature is where a call does not give it.
typedef struct rheos_default_value {
  const char *key;       // the input's
  rheos_dtype dtype;     // RHEOS_INVALID_DTYPE if there is none of that number here
  rheos_shape shape;     // of the value
  const void *message_;  // for rheos_default_value_tensor()
} rheos_default_value;

typedef struct rheos_signature_def {
  const char *key;                  // "serving_default"
  const char *method_name;          // "tensorflow/serving/predict"
  const rheos_tensor_info *inputs;  // sorted by key
  size_t num_inputs;
  const rheos_tensor_info *outputs;  // sorted by key
  size_t num_outputs;
  const rheos_default_value *defaults;  // sorted by key
  size_t num_defaults;
} rheos_signature_def;

// The value as a tensor, for rheos_tensor_unref(). RHEOS_INVALID_ARGUMENT if the message has none.
RHEOS_STATUS rheos_default_value_tensor(const rheos_default_value *value,
                                        rheos_tensor **out_tensor);

// A file that the graph reads, by the tensor that holds its path.
typedef struct rheos_asset_def {
  rheos_tensor_info tensor;
  const char *file_name;  // in the SavedModel's folder "assets"
} rheos_asset_def;

typedef enum rheos_collection_kind {
  RHEOS_COLLECTION_EMPTY = 0,  // the file does not say of what
  RHEOS_COLLECTION_NODES,      // names of operations ("init") and tensors ("x:0")
  RHEOS_COLLECTION_BYTES,      // messages (VariableDef, SaverDef, QueueRunnerDef, ...) or texts
  RHEOS_COLLECTION_INTS,
  RHEOS_COLLECTION_FLOATS,
  RHEOS_COLLECTION_ANY,  // messages of type Any
} rheos_collection_kind;

typedef struct rheos_collection_def {
  const char *key;             // "variables", "summaries", ...
  rheos_collection_kind kind;  // which of the lists it has
  size_t count;                // of its items
  const char *const *nodes;    // names of nodes or tensors
  const rheos_string *bytes;   // also of ANY
  const int64_t *ints;         // INT
  const float *floats;         // FLOAT
} rheos_collection_def;

// The nodes of a saver, and how many checkpoints it keeps.
typedef struct rheos_saver_def {
  const char *filename_tensor_name;     // "save/Const:0"
  const char *save_tensor_name;         // "save/control_dependency:0"
  const char *restore_op_name;          // "save/restore_all"
  int32_t max_to_keep;                  // checkpoints; 0: all
  bool sharded;                         // a file for each device
  float keep_checkpoint_every_n_hours;  // keeps one for good as often
  int32_t version;                      // 1: files of TensorFlow 0.x; 2: those since
} rheos_saver_def;

typedef struct rheos_meta_graph {
  const char *meta_graph_version;      // what the program called it; mostly ""
  const char *tensorflow_version;      // "1.15.5", "0.12.head"
  const char *tensorflow_git_version;  // "v1.15.4-39-g3db52be7be"
  bool stripped_default_attrs;         // attributes that hold their default are left out
  const char *const *tags;             // "serve", ...
  size_t num_tags;
  const void *graph_def;  // the bytes of the GraphDef, not looked at yet
  size_t graph_def_bytes;
  const void *op_list;  // the bytes of an OpList: the ops as the writing program knew them
  size_t op_list_bytes;
  const rheos_saver_def *saver;           // NULL if there is none
  const rheos_signature_def *signatures;  // sorted by key
  size_t num_signatures;
  const rheos_collection_def *collections;  // sorted by key
  size_t num_collections;
  const rheos_asset_def *assets;  // files that the graph reads
  size_t num_assets;
  const void *object_graph;  // the bytes of a SavedObjectGraph, of TensorFlow 2; size 0: none
  size_t object_graph_bytes;
} rheos_meta_graph;

// The signature or collection of that key, NULL if there is none.
RHEOS_API const rheos_signature_def *rheos_meta_graph_signature(const rheos_meta_graph *meta_graph,
                                                                const char *key);
RHEOS_API const rheos_collection_def *rheos_meta_graph_collection(
    const rheos_meta_graph *meta_graph, const char *key);

// Reads a MetaGraphDef message. The bytes are copied. RHEOS_DATA_LOSS if they are none; whether the
// GraphDef inside is sound shows when it is imported.
RHEOS_STATUS rheos_meta_graph_parse(const void *bytes, size_t size_bytes,
                                    rheos_meta_graph **out_meta_graph);
// As rheos_meta_graph_parse(), from a file, of bytes or of text.
RHEOS_STATUS rheos_meta_graph_read(const char *path, rheos_meta_graph **out_meta_graph);
RHEOS_API void rheos_meta_graph_free(rheos_meta_graph *meta_graph);

// ---- What a SavedModel says

typedef struct rheos_saved_model_def {
  const char *folder;                          // that it was read from
  int64_t schema_version;                      // the file's; 1
  const rheos_meta_graph *const *meta_graphs;  // with different tags
  size_t num_meta_graphs;
} rheos_saved_model_def;

// Reads `folder`/saved_model.pb or saved_model.pbtxt. RHEOS_NOT_FOUND if the folder holds no
// SavedModel, RHEOS_DATA_LOSS if the file is damaged.
RHEOS_STATUS rheos_saved_model_read(const char *folder, rheos_saved_model_def **out_def);
RHEOS_API void rheos_saved_model_def_free(rheos_saved_model_def *def);

// The MetaGraphDef with exactly this set of tags (in any order; none is a set too), borrowed.
// RHEOS_NOT_FOUND, listing the sets there are, if none has it.
RHEOS_STATUS rheos_saved_model_find(const rheos_saved_model_def *def, const char *const *tags,
                                    size_t num_tags, const rheos_meta_graph **out_meta_graph);

// ---- Importing

// Adds the graph of a MetaGraphDef to the scope's graph, as rheos_import_graph_def() does, and
// fills the graph's collections: variables become variables again, operations and tensors
// themselves, other messages stay bytes, with the prefix before the names in them. Returns the
// saver whose nodes came along; where the file names none and has variables, a new one is made;
// else none
// (`filename.graph` NULL). Errors go to the scope; RHEOS_INVALID_ARGUMENT if only a part of a
// graph was written and the input map lacks one of its collection "unbound_inputs".
static inline rheos_saver rheos_import_meta_graph(rheos_scope *scope,
                                                  const rheos_meta_graph *meta_graph,
                                                  const rheos_import_options *options);

// ---- A SavedModel that runs

typedef struct rheos_saved_model rheos_saved_model;

typedef struct rheos_saved_model_options {
  // Only makes the graph and the session: no variable is restored, no init operation runs.
  bool graph_only RHEOS_LEFT_OUT;
  const rheos_session_options *session RHEOS_LEFT_OUT;  // NULL: the defaults
} rheos_saved_model_options;

// Reads the SavedModel, makes a graph of the MetaGraphDef with these tags, keeping nodes of unknown
// ops, opens a session, restores the variables and runs the init operation. `options` may be NULL.
// Errors: those of rheos_saved_model_read(), rheos_saved_model_find() and the import;
// RHEOS_NOT_FOUND where there is a saver but no folder of variables; RHEOS_UNIMPLEMENTED, naming
// all ops that are missing, where restoring or initializing needs one; with `graph_only` these two
// cannot happen.
RHEOS_MUST_USE static inline rheos_status *rheos_saved_model_load(
    const char *folder, const char *const *tags, size_t num_tags,
    const rheos_saved_model_options *options, rheos_saved_model **out_model);
// The callables made of it are freed before.
RHEOS_API void rheos_saved_model_free(rheos_saved_model *model);

RHEOS_API const rheos_meta_graph *rheos_saved_model_meta_graph(const rheos_saved_model *model);
RHEOS_API rheos_graph *rheos_saved_model_graph(const rheos_saved_model *model);
RHEOS_API rheos_session *rheos_saved_model_session(const rheos_saved_model *model);

// What a signature, by its key (NULL: "serving_default"), calls its arguments, as tensors of the
// graph. A sparse argument x has three names: "x/indices", "x/values" and "x/dense_shape"; so do
// the components of another kind: "x/0", "x/1", ... RHEOS_NOT_FOUND, listing those there are.
RHEOS_STATUS rheos_saved_model_input(const rheos_saved_model *model, const char *signature,
                                     const char *name, rheos_output *out_output);
RHEOS_STATUS rheos_saved_model_output(const rheos_saved_model *model, const char *signature,
                                      const char *name, rheos_output *out_output);

// Prepares calls of a signature: values go in in the order of `inputs` and come out in that of
// `outputs`, names as above. Run it with rheos_callable_run(), free it with rheos_callable_free().
// With an op missing on the way, RHEOS_UNIMPLEMENTED names all of them when it runs.
RHEOS_STATUS rheos_saved_model_callable(const rheos_saved_model *model, const char *signature,
                                        const char *const *inputs, size_t num_inputs,
                                        const char *const *outputs, size_t num_outputs,
                                        rheos_callable **out_callable);

// One call. Values of `inputs` are borrowed; those of `outputs` are set, and the caller's, or NULL
// after a failure. An input that is not given has the signature's default, if there is one (a
// callable has all its inputs given).
RHEOS_MUST_USE static inline rheos_status *rheos_saved_model_call(
    const rheos_saved_model *model, const char *signature, const rheos_named_tensor *inputs,
    size_t num_inputs, rheos_named_tensor *outputs, size_t num_outputs,
    const rheos_run_options *options);

// ---- Writing MetaGraphDefs

// An argument of a signature: a tensor, or with `indices` and `dense_shape` the values of a sparse
// one.
typedef struct rheos_argument {
  const char *name;  // by which calls give or get it
  rheos_output tensor;
  rheos_output indices, dense_shape;  // graph NULL: not sparse
} rheos_argument;

typedef struct rheos_signature {
  const char *key;               // NULL: "serving_default"
  const char *method_name;       // NULL: "tensorflow/serving/predict"
  const rheos_argument *inputs;  // with different names
  size_t num_inputs;
  const rheos_argument *outputs;  // with different names
  size_t num_outputs;
  const rheos_named_tensor *defaults;  // of inputs, by their names; the values are borrowed
  size_t num_defaults;
} rheos_signature;

// A file that the graph reads, and the string tensor that holds its path.
typedef struct rheos_asset {
  const char *path;
  rheos_output tensor;
} rheos_asset;

typedef struct rheos_meta_graph_options {
  const char *const *tags RHEOS_LEFT_OUT;  // that it is loaded by
  size_t num_tags RHEOS_LEFT_OUT;
  const rheos_signature *signatures RHEOS_LEFT_OUT;  // how it is called
  size_t num_signatures RHEOS_LEFT_OUT;
  const rheos_asset *assets RHEOS_LEFT_OUT;  // files that go along
  size_t num_assets RHEOS_LEFT_OUT;
  const rheos_saver *saver
      RHEOS_LEFT_OUT;  // NULL: none; a SavedModel with variables gets one of its own
  rheos_optional_int max_to_keep RHEOS_LEFT_OUT;  // by the saver; the default: 5
  rheos_operation init RHEOS_LEFT_OUT;  // runs when a SavedModel is loaded; graph NULL: none
  bool clear_devices RHEOS_LEFT_OUT;    // without the devices of the nodes
  bool strip_default_attrs
      RHEOS_LEFT_OUT;  // without attributes that hold their default, for older readers
  // Only what is below this name scope, which goes from all names (rheos_graph_def_below()); NULL:
  // all. Of a collection what is not below it is left out. The inputs that come from elsewhere are
  // the collection "unbound_inputs".
  const char *export_scope RHEOS_LEFT_OUT;
  // Without the nodes of other savers than `saver` (all that lies in the scopes of operations that
  // save or restore), and of the collection "savers" only that one.
  bool clear_extraneous_savers RHEOS_LEFT_OUT;
  const char *const *collections RHEOS_LEFT_OUT;  // the keys of those that are written; NULL: all
  size_t num_collections RHEOS_LEFT_OUT;
} rheos_meta_graph_options;

// The graph with its collections as the bytes of a MetaGraphDef, for rheos_free(). `options` may be
// NULL. RHEOS_INVALID_ARGUMENT if a tensor is of another graph or a collection holds what a
// CollectionDef cannot hold together, nodes and texts for example.
RHEOS_MUST_USE static inline rheos_status *rheos_graph_to_meta_graph_def(
    rheos_graph *graph, const rheos_meta_graph_options *options, void **out_bytes,
    size_t *out_size_bytes);
// Writes what rheos_graph_to_meta_graph_def() gives to a file, as bytes or as text. A kill leaves
// the old or the new file.
RHEOS_MUST_USE static inline rheos_status *rheos_graph_write_meta_graph(
    rheos_graph *graph, const rheos_meta_graph_options *options, const char *path, bool as_text);

// ---- Writing SavedModels

typedef struct rheos_saved_model_builder rheos_saved_model_builder;

// For a folder that does not exist yet or is empty; RHEOS_ALREADY_EXISTS for another.
RHEOS_STATUS rheos_saved_model_builder_new(const char *folder,
                                           rheos_saved_model_builder **out_builder);
RHEOS_API void rheos_saved_model_builder_free(rheos_saved_model_builder *builder);

// Adds the session's graph; copies its assets. The first time the variables are written, with their
// values in the session, by the saver of the options or a new one, whose nodes join the graph.
RHEOS_MUST_USE static inline rheos_status *rheos_saved_model_builder_add(
    rheos_saved_model_builder *builder, rheos_session *session,
    const rheos_meta_graph_options *options);

// Writes the file with the graphs that were added, saved_model.pb or saved_model.pbtxt.
RHEOS_STATUS rheos_saved_model_builder_save(rheos_saved_model_builder *builder, bool as_text);

// All in one: a SavedModel with the tag "serve" and one signature, "serving_default".
RHEOS_STATUS rheos_saved_model_simple_save(rheos_session *session, const char *folder,
                                           const rheos_argument *inputs, size_t num_inputs,
                                           const rheos_argument *outputs, size_t num_outputs);

// ---- How large a struct of options is in the program, the library is told (base.h, Options): what
// is declared above is inline over these

RHEOS_API rheos_saver rheos_import_meta_graph_sized(rheos_scope *scope,
                                                    const rheos_meta_graph *meta_graph,
                                                    const rheos_import_options *options,
                                                    size_t options_bytes);
static inline rheos_saver rheos_import_meta_graph(rheos_scope *scope,
                                                  const rheos_meta_graph *meta_graph,
                                                  const rheos_import_options *options) {
  return rheos_import_meta_graph_sized(scope, meta_graph, options, sizeof *options);
}

RHEOS_STATUS rheos_saved_model_load_sized(const char *folder, const char *const *tags,
                                          size_t num_tags, const rheos_saved_model_options *options,
                                          size_t options_bytes, size_t session_options_bytes,
                                          rheos_saved_model **out_model);
RHEOS_MUST_USE static inline rheos_status *rheos_saved_model_load(
    const char *folder, const char *const *tags, size_t num_tags,
    const rheos_saved_model_options *options, rheos_saved_model **out_model) {
  return rheos_saved_model_load_sized(folder, tags, num_tags, options, sizeof *options,
                                      sizeof *options->session, out_model);
}

RHEOS_STATUS rheos_saved_model_call_sized(const rheos_saved_model *model, const char *signature,
                                          const rheos_named_tensor *inputs, size_t num_inputs,
                                          rheos_named_tensor *outputs, size_t num_outputs,
                                          const rheos_run_options *options, size_t options_bytes);
RHEOS_MUST_USE static inline rheos_status *rheos_saved_model_call(
    const rheos_saved_model *model, const char *signature, const rheos_named_tensor *inputs,
    size_t num_inputs, rheos_named_tensor *outputs, size_t num_outputs,
    const rheos_run_options *options) {
  return rheos_saved_model_call_sized(model, signature, inputs, num_inputs, outputs, num_outputs,
                                      options, sizeof *options);
}

RHEOS_STATUS rheos_graph_to_meta_graph_def_sized(rheos_graph *graph,
                                                 const rheos_meta_graph_options *options,
                                                 size_t options_bytes, void **out_bytes,
                                                 size_t *out_size_bytes);
RHEOS_MUST_USE static inline rheos_status *rheos_graph_to_meta_graph_def(
    rheos_graph *graph, const rheos_meta_graph_options *options, void **out_bytes,
    size_t *out_size_bytes) {
  return rheos_graph_to_meta_graph_def_sized(graph, options, sizeof *options, out_bytes,
                                             out_size_bytes);
}

RHEOS_STATUS rheos_graph_write_meta_graph_sized(rheos_graph *graph,
                                                const rheos_meta_graph_options *options,
                                                size_t options_bytes, const char *path,
                                                bool as_text);
RHEOS_MUST_USE static inline rheos_status *rheos_graph_write_meta_graph(
    rheos_graph *graph, const rheos_meta_graph_options *options, const char *path, bool as_text) {
  return rheos_graph_write_meta_graph_sized(graph, options, sizeof *options, path, as_text);
}

RHEOS_STATUS rheos_saved_model_builder_add_sized(rheos_saved_model_builder *builder,
                                                 rheos_session *session,
                                                 const rheos_meta_graph_options *options,
                                                 size_t options_bytes);
RHEOS_MUST_USE static inline rheos_status *rheos_saved_model_builder_add(
    rheos_saved_model_builder *builder, rheos_session *session,
    const rheos_meta_graph_options *options) {
  return rheos_saved_model_builder_add_sized(builder, session, options, sizeof *options);
}

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_SAVED_MODEL_H
