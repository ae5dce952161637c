// TensorFlow's files: graphs, records, checkpoints that are read without a graph, the list of
// checkpoints. (Savers, which write checkpoints, are in train.h, event files in events.h, the
// messages that records hold in examples.h.)
#ifndef RHEOS_FORMAT_H
#define RHEOS_FORMAT_H

#include <rheos/host.h>
#include <rheos/scope.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Graphs as GraphDef messages

// The graph as the bytes of a GraphDef, for rheos_free(). Everything TensorFlow keeps is there: all
// attributes, constants, devices, control inputs. RHEOS_INVALID_ARGUMENT if they are more than a
// message of protocol buffers may have, 2 GB.
RHEOS_STATUS rheos_graph_to_graph_def(rheos_graph *graph, void **out_bytes, size_t *out_size_bytes);

// As rheos_graph_to_graph_def(), of the operations from number `first` on (graph.h), with the whole
// library: what a reader lacks who has those before. RHEOS_INVALID_ARGUMENT if `first` is below 0
// or past the end.
RHEOS_STATUS rheos_graph_to_graph_def_from(rheos_graph *graph, int32_t first, void **out_bytes,
                                           size_t *out_size_bytes);

// One operation as the bytes of a NodeDef, for rheos_free().
RHEOS_STATUS rheos_operation_to_node_def(rheos_operation operation, void **out_bytes,
                                         size_t *out_size_bytes);

// The definition of an op as the bytes of an OpDef, for rheos_free(). RHEOS_NOT_FOUND if there is
// no such op.
RHEOS_STATUS rheos_op_to_op_def(const char *type, void **out_bytes, size_t *out_size_bytes);

// ---- The functions of a graph's library, read from files or made by the program, in the order in
// which a GraphDef has them. A function that is removed moves up those behind it.

RHEOS_API size_t rheos_graph_num_functions(rheos_graph *graph);
// NULL past the end. What it takes and gives, rheos_op_def_find() tells: its name is an op of the
// graph.
RHEOS_API const char *rheos_graph_function_name(rheos_graph *graph, size_t index);
// The function that gives its gradient (rheos_graph_set_function_gradient(), or a file); NULL:
// nothing was said.
RHEOS_API const char *rheos_graph_function_gradient(rheos_graph *graph, const char *name);
// A function as the bytes of a FunctionDef, for rheos_free(). RHEOS_NOT_FOUND if there is none.
RHEOS_STATUS rheos_graph_function_def(rheos_graph *graph, const char *name, void **out_bytes,
                                      size_t *out_size_bytes);

// An input as a GraphDef writes it ("x:1"; "x" is "x:0"; "^x" is a control input) that nodes take
// from elsewhere.
typedef struct rheos_import_mapping {
  const char *from;
  rheos_output to;  // for a control input its operation counts
  bool was_used;    // set by the import
  bool was_found;   // likewise: the GraphDef has it, used or not
} rheos_import_mapping;

// An operation ("x") or output ("x:1"), as the GraphDef calls it, that an import tells of.
typedef struct rheos_import_element {
  const char *name;  // "x" or "x:1"
  rheos_operation
      operation;  // set by the import; of an output in the input map what is in its place
  int32_t index;  // of the output; -1: the operation was asked for
} rheos_import_element;

typedef struct rheos_import_options {
  const char *prefix RHEOS_LEFT_OUT;  // names become "prefix/name"; NULL or "": as they are
  rheos_import_mapping *input_map RHEOS_LEFT_OUT;  // each `from` once
  size_t num_mappings RHEOS_LEFT_OUT;
  // Keep nodes of ops that are not known: they have the inputs and attributes that they came with,
  // and as many outputs as others take from them. A step that needs one is refused.
  bool keep_unknown_ops RHEOS_LEFT_OUT;
  bool clear_devices RHEOS_LEFT_OUT;  // without the devices of the nodes
  // A node that is colocated with others takes the device of the first of these that has one, none
  // if none has, instead of its own and the scope's, as TensorFlow's Python does.
  bool colocated_devices RHEOS_LEFT_OUT;
  // Take colocations with nodes that the GraphDef does not have; else they are
  // RHEOS_INVALID_ARGUMENT.
  bool any_colocation RHEOS_LEFT_OUT;
  // A name that is in use becomes "name_1" (or so on); else it is an error. Colocations follow.
  bool uniquify_names RHEOS_LEFT_OUT;
  rheos_import_element *elements RHEOS_LEFT_OUT;  // RHEOS_INVALID_ARGUMENT if one is not there
  size_t num_elements RHEOS_LEFT_OUT;
  // The bytes of an OpList message, or NULL: the ops as the program knew them that wrote the graph.
  // An attribute that is not known here, and has the default that the list gives it, is dropped.
  const void *op_list RHEOS_LEFT_OUT;
  size_t op_list_bytes RHEOS_LEFT_OUT;
} rheos_import_options;

// Adds the nodes of a GraphDef, in any order, to the scope's graph, and the functions of its
// library, which become ops of the graph. Names are taken as they are, but for frames of loops that
// the graph has already. Everything the message holds comes out of rheos_graph_to_graph_def()
// again, attributes and fields that nothing here knows too; only the shapes in `_output_shapes` are
// inferred anew. Errors go to the scope: RHEOS_DATA_LOSS for bytes that are no GraphDef,
// RHEOS_NOT_FOUND naming all ops that are not known, with counts, RHEOS_INVALID_ARGUMENT for
// anything else that does not fit. What can be checked without adding nodes is checked before the
// first one is added. `options` may be NULL.
static inline void rheos_import_graph_def(rheos_scope *scope, const void *bytes, size_t size_bytes,
                                          const rheos_import_options *options);

// ---- Messages as text

// The text form of protobuf, which .pbtxt files hold. `type` names the message: "GraphDef",
// "MetaGraphDef", "SavedModel", "NodeDef", "TensorProto", "SaverDef", "SignatureDef", ...
// (RHEOS_INVALID_ARGUMENT if there is none of that name).

// The message's text, with a NUL behind it that does not count, for rheos_free(). Fields that Rheos
// does not know have no name and are left out. RHEOS_DATA_LOSS if the bytes are not such a message.
RHEOS_STATUS rheos_message_to_text(const char *type, const void *bytes, size_t size_bytes,
                                   char **out_text, size_t *out_text_bytes);

// The bytes of the message that a text describes, for rheos_free(). RHEOS_DATA_LOSS with the line
// and column if it describes none, or names a field that the message does not have.
RHEOS_STATUS rheos_message_from_text(const char *type, const char *text, size_t text_bytes,
                                     void **out_bytes, size_t *out_size_bytes);

// ---- Messages in a program's own protobuf classes

// Whether bytes, which may be hostile, are safe to hand to code that protobuf's compilers made of
// the type:
// RHEOS_DATA_LOSS if they are no such message, nest deeper than such code can recurse, or merge one
// message too often. Much faster than reading the message.
RHEOS_STATUS rheos_message_check(const char *type, const void *bytes, size_t size_bytes);

// The devices /device:GPU:0, ... that a ConfigProto asks for by `device_count` and `gpu_options`
// (visible_device_list, per_process_gpu_memory_fraction, experimental.virtual_devices), as sessions
// and hosts take them: a list for rheos_free(), and how many they are. TensorFlow's errors, such as
// RHEOS_INVALID_ARGUMENT for a card that is not there. The first call may load drivers.
RHEOS_STATUS rheos_gpu_devices_from_config(const void *config, size_t config_bytes,
                                           rheos_gpu_device **out_devices, size_t *out_count);

// The tensor of a TensorProto, for rheos_tensor_unref(). RHEOS_DATA_LOSS if the bytes are none,
// RHEOS_INVALID_ARGUMENT if they describe no tensor.
RHEOS_STATUS rheos_tensor_from_proto(const void *bytes, size_t size_bytes,
                                     rheos_tensor **out_tensor);

// ---- Graphs as files

// Writes a GraphDef to `path`; a kill leaves the old file or the new one. Constants of at least
// `side_file_bytes` (0: none) are not in it: each lies in a file of its own in the folder
// `path`.data, named after what it holds, and the node is TensorFlow's ImmutableConst, which takes
// its value from there. So a graph may have more than 2 GB of constants. The names of the files are
// relative to the folder of `path`; TensorFlow looks for them from where it is started.
RHEOS_STATUS rheos_graph_write(rheos_graph *graph, const char *path, size_t side_file_bytes);

// The bytes of a GraphDef file, for rheos_free(). Files beside it that its nodes name get their
// whole path, so that the graph runs from anywhere; a step maps them into memory.
RHEOS_STATUS rheos_graph_def_read(const char *path, void **out_bytes, size_t *out_size_bytes);

// A graph of its own of such a file, a frozen one for example: rheos_session_new() and
// rheos_session_run_named() run it. Nodes of unknown ops are kept: a step that needs one is
// refused.
RHEOS_STATUS rheos_graph_read(const char *path, rheos_graph **out_graph);

// ---- Files of records (TFRecord)

typedef enum rheos_compression {
  RHEOS_NO_COMPRESSION,
  RHEOS_ZLIB,
  RHEOS_GZIP,
} rheos_compression;

// Writes records to one file, which is made or emptied. One thread at a time.
typedef struct rheos_record_writer rheos_record_writer;

// level: 1 (fast) to 9 (small), -1 for zlib's own; not looked at without compression.
RHEOS_STATUS rheos_record_writer_open(const char *path, rheos_compression compression, int level,
                                      rheos_record_writer **out_writer);
// What the compressor looks for; zlib's strategies.
typedef enum rheos_compression_strategy {
  RHEOS_STRATEGY_DEFAULT,
  RHEOS_STRATEGY_FILTERED,
  RHEOS_STRATEGY_HUFFMAN_ONLY,
  RHEOS_STRATEGY_RLE,
  RHEOS_STRATEGY_FIXED,
} rheos_compression_strategy;

// How records are compressed, with all that zlib can be told; zeros are TensorFlow's defaults, but
// for `level`.
typedef struct rheos_record_options {
  rheos_compression compression RHEOS_LEFT_OUT;  // none, zlib or gzip
  int level RHEOS_LEFT_OUT;                      // as above
  int window_bits RHEOS_LEFT_OUT;   // 9 to 15: the logarithm of the window's size; 0: 15
  int memory_level RHEOS_LEFT_OUT;  // 1 to 9; 0: 9
  rheos_compression_strategy strategy RHEOS_LEFT_OUT;  // zlib's
} rheos_record_options;
RHEOS_MUST_USE static inline rheos_status *rheos_record_writer_open_with(
    const char *path, const rheos_record_options *options, rheos_record_writer **out_writer);
RHEOS_STATUS rheos_record_writer_write(rheos_record_writer *writer, const void *data,
                                       size_t size_bytes);
// Hands what is buffered to the system, so that readers see it.
RHEOS_STATUS rheos_record_writer_flush(rheos_record_writer *writer);
// Flushes and frees; the writer is gone whatever comes back. NULL is accepted.
RHEOS_STATUS rheos_record_writer_close(rheos_record_writer *writer);

// Reads the records of one file. One thread at a time.
typedef struct rheos_record_reader rheos_record_reader;

RHEOS_STATUS rheos_record_reader_open(const char *path, rheos_compression compression,
                                      rheos_record_reader **out_reader);
// The next record, valid until the next call. RHEOS_OUT_OF_RANGE behind the last one,
// RHEOS_DATA_LOSS where the file is damaged or cut.
RHEOS_STATUS rheos_record_reader_next(rheos_record_reader *reader, const void **out_data,
                                      size_t *out_size_bytes);
RHEOS_API void rheos_record_reader_close(rheos_record_reader *reader);  // NULL is accepted

// ---- Checkpoints without a graph

// What is in a checkpoint, of either kind. One thread at a time.
typedef struct rheos_checkpoint_reader rheos_checkpoint_reader;

// `prefix` as a saver was given it, one of the checkpoint's files, or its folder, of which the
// newest is opened; a pattern for several files of the first kind. RHEOS_NOT_FOUND if there is
// none.
RHEOS_STATUS rheos_checkpoint_reader_open(const char *prefix, rheos_checkpoint_reader **out_reader);
RHEOS_API void rheos_checkpoint_reader_free(rheos_checkpoint_reader *reader);
// The tensors, sorted by name.
RHEOS_API size_t rheos_checkpoint_reader_count(const rheos_checkpoint_reader *reader);
RHEOS_API const char *rheos_checkpoint_reader_name(const rheos_checkpoint_reader *reader,
                                                   size_t index);
RHEOS_API rheos_dtype rheos_checkpoint_reader_dtype(const rheos_checkpoint_reader *reader,
                                                    size_t index);
RHEOS_API rheos_shape rheos_checkpoint_reader_shape(const rheos_checkpoint_reader *reader,
                                                    size_t index);
// The place of a tensor by its name; false if there is none. `out_index` may be NULL.
RHEOS_API bool rheos_checkpoint_reader_find(const rheos_checkpoint_reader *reader, const char *name,
                                            size_t *out_index);
// Reads the tensor, which the caller frees with rheos_tensor_unref().
RHEOS_STATUS rheos_checkpoint_reader_read(rheos_checkpoint_reader *reader, size_t index,
                                          rheos_tensor **out_tensor);
// As rheos_checkpoint_reader_read(), by the tensor's name. RHEOS_NOT_FOUND if there is none.
RHEOS_STATUS rheos_checkpoint_reader_read_named(rheos_checkpoint_reader *reader, const char *name,
                                                rheos_tensor **out_tensor);

// TensorFlow 2 names tensors in a checkpoint after the objects that hold them ("net/w/.ATTRIBUTES/
// VARIABLE_VALUE"), and tells the name of each variable beside it.
typedef struct rheos_object_name {
  const char *full_name;  // the variable's
  const char *key;        // the tensor's in the checkpoint
} rheos_object_name;

// The names of a checkpoint's variables and keys, sorted by full name, in one piece of memory for
// rheos_free(). NULL and 0 if the checkpoint was not written by objects.
RHEOS_STATUS rheos_checkpoint_reader_object_names(rheos_checkpoint_reader *reader,
                                                  rheos_object_name **out_names, size_t *out_count);

// Writes a checkpoint, tensor by tensor; nothing of it counts before the end.
typedef struct rheos_checkpoint_writer rheos_checkpoint_writer;

// Makes the folder of `prefix` if it is missing.
RHEOS_STATUS rheos_checkpoint_writer_open(const char *prefix, rheos_checkpoint_writer **out_writer);
// Names in any order, each once, none empty.
RHEOS_STATUS rheos_checkpoint_writer_add(rheos_checkpoint_writer *writer, const char *name,
                                         const rheos_tensor *tensor);
// Puts the checkpoint in place of an old one, at once; the writer is gone whatever comes back.
RHEOS_STATUS rheos_checkpoint_writer_finish(rheos_checkpoint_writer *writer);
// Gives it up: an old checkpoint stays. NULL is accepted.
RHEOS_API void rheos_checkpoint_writer_abandon(rheos_checkpoint_writer *writer);

// A tensor that a checkpoint should have.
typedef struct rheos_wanted_tensor {
  const char *name;  // not NUL-terminated
  size_t name_bytes;
  rheos_dtype dtype;  // RHEOS_INVALID_DTYPE: any
  rheos_shape shape;  // as far as it is known
  bool reshapes;      // any shape with as many elements will do
} rheos_wanted_tensor;

// NULL if all is there. Else one error, RHEOS_NOT_FOUND (names are missing) or
// RHEOS_INVALID_ARGUMENT: TensorFlow's words for the first that is wrong, then lists of what is
// missing, each with the nearest name that nobody asks for, of what has another dtype or shape, and
// of what nobody asks for. Lists are cut after 20 names. `checkpoint` is its name, for the message.
RHEOS_STATUS rheos_checkpoint_reader_check(const rheos_checkpoint_reader *reader,
                                           const char *checkpoint,
                                           const rheos_wanted_tensor *wanted, size_t count);

// ---- The list of checkpoints in a folder: the text file "checkpoint"

typedef struct rheos_checkpoint_state {
  char *model_checkpoint_path;        // the newest
  char **all_model_checkpoint_paths;  // oldest first
  size_t num_paths;
  double
      *all_model_checkpoint_timestamps;  // when each was written, in seconds since 1970; often none
  size_t num_timestamps;
  double last_preserved_timestamp;  // 0: not told
} rheos_checkpoint_state;

// Writes `folder`/`file_name` (NULL: "checkpoint"). Paths inside the folder are written relative to
// it, so that the folder can be moved, unless they are absolute. A kill leaves the old or the new
// file.
RHEOS_STATUS rheos_checkpoint_state_write(const char *folder, const char *file_name,
                                          const char *model_checkpoint_path,
                                          const char *const *all_model_checkpoint_paths,
                                          size_t num_paths);

// As rheos_checkpoint_state_write(), with times. Paths and times are the caller's.
RHEOS_STATUS rheos_checkpoint_state_write_timed(const char *folder, const char *file_name,
                                                const rheos_checkpoint_state *state);

// Reads it; relative paths come back with the folder in front. RHEOS_NOT_FOUND if there is no such
// file. On success the state is freed with rheos_checkpoint_state_deinit().
RHEOS_STATUS rheos_checkpoint_state_read(const char *folder, const char *file_name,
                                         rheos_checkpoint_state *out_state);
RHEOS_API void rheos_checkpoint_state_deinit(rheos_checkpoint_state *state);

// The prefix of the newest checkpoint of a folder, for rheos_free(). NULL without an error if the
// folder has none: no list, or the checkpoint it names is gone.
RHEOS_STATUS rheos_latest_checkpoint(const char *folder, const char *file_name, char **out_prefix);

// ---- NumPy's files of arrays

// The array of a .npy file, from its bytes. All dtypes that both have: a two-byte void is taken for
// bfloat16 (as which one is written), texts and characters become strings (characters as UTF-8),
// quantized integers are written as plain ones. Byte order and order of axes may be any; objects
// and arrays with fields are RHEOS_UNIMPLEMENTED, damage is RHEOS_DATA_LOSS.
RHEOS_STATUS rheos_npy_decode(const void *bytes, size_t size_bytes, rheos_tensor **out_tensor);
// The bytes of such a file, for rheos_free().
RHEOS_STATUS rheos_npy_encode(const rheos_tensor *tensor, void **out_bytes, size_t *out_size_bytes);

// The arrays of a .npz file, stored or compressed. `bytes` stay the caller's, and valid.
typedef struct rheos_npz rheos_npz;
RHEOS_STATUS rheos_npz_open(const void *bytes, size_t size_bytes, rheos_npz **out_npz);
RHEOS_API void rheos_npz_free(rheos_npz *npz);
RHEOS_API size_t rheos_npz_count(const rheos_npz *npz);
RHEOS_API const char *rheos_npz_name(const rheos_npz *npz, size_t index);  // without ".npy"
RHEOS_STATUS rheos_npz_read(const rheos_npz *npz, size_t index, rheos_tensor **out_tensor);
// The bytes of such a file, for rheos_free(); at most 4 GB of them.
RHEOS_STATUS rheos_npz_encode(const char *const *names, rheos_tensor *const *tensors, size_t count,
                              bool compress, void **out_bytes, size_t *out_size_bytes);

// ---- How large a struct of options is in the program, the library is told (base.h, Options): what
// is declared above is inline over these

RHEOS_API void rheos_import_graph_def_sized(rheos_scope *scope, const void *bytes,
                                            size_t size_bytes, const rheos_import_options *options,
                                            size_t options_bytes);
static inline void rheos_import_graph_def(rheos_scope *scope, const void *bytes, size_t size_bytes,
                                          const rheos_import_options *options) {
  rheos_import_graph_def_sized(scope, bytes, size_bytes, options, sizeof *options);
}

RHEOS_STATUS rheos_record_writer_open_with_sized(const char *path,
                                                 const rheos_record_options *options,
                                                 size_t options_bytes,
                                                 rheos_record_writer **out_writer);
RHEOS_MUST_USE static inline rheos_status *rheos_record_writer_open_with(
    const char *path, const rheos_record_options *options, rheos_record_writer **out_writer) {
  return rheos_record_writer_open_with_sized(path, options, sizeof *options, out_writer);
}

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_FORMAT_H
