// `rheos convert`: the same graph, model or checkpoint in another form.
#include <rheos/format.h>
#include <rheos/graph_util.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "files.h"
#include "options.h"
#include "progress.h"
#include "runner.h"
#include "status.h"

const char command_convert_help[] =
    "usage: rheos convert [OPTIONS] IN OUT\n"
    "\n"
    "Writes what lies at IN in another form to OUT:\n"
    "  a graph, meta graph or saved_model file   as a message or as text\n"
    "  the folder of a saved model               as one graph, its variables as constants\n"
    "  a checkpoint, of either kind              as a checkpoint of the second kind\n"
    "\n"
    "  --to FORMAT          pb or pbtxt (else by OUT's name: .pbtxt and .txt are text)\n"
    "  --freeze             variables become constants; the result is a graph\n"
    "  --outputs A,B        only what these need; names of the signature or of the graph\n"
    "                       (with --freeze, without it: all outputs of the signature)\n"
    "  --checkpoint PATH    the variables' values for a graph or a meta graph\n"
    "  --signature NAME     whose names to use; serving_default if there is one\n"
    "  --tags A,B           which graph of a saved model (else its first)\n"
    "  --force              OUT may be the file that IN is\n"
    "\n"
    "OUT is replaced at once, when all of it is written.\n";

typedef struct convert {
  runner_options runner_options;
  const char *in, *out, *to, *outputs;
  bool freeze, force;
} convert;

static bool ends_with_one_of(const char *text, const char *const *ends, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (ends_with(text, ends[i])) return true;
  }
  return false;
}

#define ENDS_WITH_ONE_OF(text, ends) ends_with_one_of(text, ends, sizeof(ends) / sizeof *(ends))

static bool is_text_output(const convert *c) {
  static const char *const texts[] = {".pbtxt", ".txt", ".prototxt"};
  return c->to != NULL ? strcmp(c->to, "pbtxt") == 0 : ENDS_WITH_ONE_OF(c->out, texts);
}

// Whether the user has said in which form a graph is wanted. A name without an end is a message's.
static bool names_a_form(const convert *c) {
  static const char *const messages[] = {".pb", ".meta", ".graphdef", ".graph"};
  return c->to != NULL || is_text_output(c) || strchr(path_base(c->out), '.') == NULL ||
         ENDS_WITH_ONE_OF(c->out, messages);
}

// What no prefix of a checkpoint ends with: who says that wants what is not written here.
static bool is_other_form(const char *path) {
  static const char *const forms[] = {".onnx", ".tflite", ".h5",  ".hdf5",  ".keras",
                                      ".pt",   ".pth",    ".npy", ".npz",   ".safetensors",
                                      ".json", ".csv",    ".pb",  ".pbtxt", ".mlmodel"};
  return ENDS_WITH_ONE_OF(path, forms);
}

// ---- Messages

static rheos_status *write_message(const convert *c, const char *type, const void *bytes,
                                   size_t size_bytes) {
  progress_begin("writing", 0);
  if (!is_text_output(c)) return file_replace(c->out, bytes, size_bytes);
  char *text;
  size_t text_bytes;
  TRY(rheos_message_to_text(type, bytes, size_bytes, &text, &text_bytes));
  rheos_status *status = file_replace(c->out, text, text_bytes);
  rheos_free(text);
  return status;
}

static rheos_status *convert_message(const convert *c, source *s) {
  progress_begin("reading", 0);
  TRY(source_read_message(s));
  return write_message(c, source_message_type(s->kind), s->bytes, s->size_bytes);
}

// ---- Graphs of their own: stripped, frozen

// The GraphDef of what is to be converted, which the source keeps.
static rheos_status *graph_of(const convert *c, source *s, const char **out_bytes,
                              size_t *out_size_bytes) {
  const Tensorflow__MetaGraphDef *meta_graph;
  TRY(source_meta_graph(s, c->runner_options.tags, &meta_graph));
  if (meta_graph != NULL && meta_graph->graph_def == NULL) {
    return INVALID("there is no graph in it");
  }
  return source_graph_bytes(s, meta_graph, out_bytes, out_size_bytes);
}

// What a name of the signature stands for; other names stand for themselves.
static const char *resolve(const rheos_signature_def *signature, const char *name) {
  for (size_t i = 0; signature != NULL && i < signature->num_outputs; i++) {
    const rheos_tensor_info *info = &signature->outputs[i];
    if (strcmp(info->key, name) == 0 && info->name[0] != '\0') return info->name;
  }
  return name;
}

static rheos_status *choose_outputs(char *text, const rheos_signature_def *signature,
                                    text_list *outputs) {
  for (char *name = text != NULL ? strtok(text, ",") : NULL; name != NULL;
       name = strtok(NULL, ",")) {
    text_list_add(outputs, resolve(signature, name));
  }
  for (size_t i = 0; text == NULL && signature != NULL && i < signature->num_outputs; i++) {
    const rheos_tensor_info *info = &signature->outputs[i];
    if (info->name[0] != '\0') text_list_add(outputs, info->name);
    if (!info->is_sparse) continue;
    text_list_add(outputs, info->values_name);
    text_list_add(outputs, info->indices_name);
    text_list_add(outputs, info->dense_shape_name);
  }
  return outputs->count > 0 ? NULL : INVALID("say which outputs to keep: --outputs A,B");
}

static rheos_status *freeze_graph(const convert *c, const char *path) {
  runner r;
  text_list outputs = {0};
  const char *graph = NULL;
  void *frozen = NULL;
  size_t graph_bytes, frozen_bytes;
  char *text = c->outputs != NULL ? command_format("%s", c->outputs) : NULL;
  progress_begin("loading", 0);
  rheos_status *status = runner_open(path, &c->runner_options, &r);
  if (status == NULL) {
    status = choose_outputs(text, r.signature, &outputs);
    if (status == NULL) status = graph_of(c, &r.source, &graph, &graph_bytes);
    if (status == NULL) {
      status = rheos_graph_def_freeze(graph, graph_bytes, r.session, outputs.items, outputs.count,
                                      NULL, &frozen, &frozen_bytes);
    }
    runner_close(&r);
  }
  if (status == NULL) status = write_message(c, "GraphDef", frozen, frozen_bytes);
  rheos_free(frozen);
  text_list_deinit(&outputs);
  free(text);
  return status;
}

// Nothing is run, so that graphs of unknown ops can be stripped.
static rheos_status *strip_graph(const convert *c, source *s) {
  text_list outputs = {0};
  const char *graph = NULL;
  void *stripped = NULL;
  size_t graph_bytes, stripped_bytes;
  rheos_meta_graph *meta_graph = NULL;
  char *text = command_format("%s", c->outputs);
  progress_begin("reading", 0);
  rheos_status *status = source_read_message(s);
  if (status == NULL && s->kind == SOURCE_META_GRAPH) {
    status = rheos_meta_graph_parse(s->bytes, s->size_bytes, &meta_graph);
  }
  const char *key = c->runner_options.signature;
  const rheos_signature_def *signature =
      meta_graph != NULL
          ? rheos_meta_graph_signature(meta_graph, key != NULL ? key : "serving_default")
          : NULL;
  if (status == NULL) status = choose_outputs(text, signature, &outputs);
  if (status == NULL) status = graph_of(c, s, &graph, &graph_bytes);
  if (status == NULL) {
    status = rheos_graph_def_strip(graph, graph_bytes, outputs.items, outputs.count, &stripped,
                                   &stripped_bytes);
  }
  if (status == NULL) status = write_message(c, "GraphDef", stripped, stripped_bytes);
  rheos_meta_graph_free(meta_graph);
  rheos_free(stripped);
  text_list_deinit(&outputs);
  free(text);
  return status;
}

// ---- Checkpoints

static rheos_status *copy_tensors(rheos_checkpoint_reader *reader,
                                  rheos_checkpoint_writer *writer) {
  const size_t count = rheos_checkpoint_reader_count(reader);
  progress_begin("converting the checkpoint", (int64_t)count);
  for (size_t i = 0; i < count; i++) {
    rheos_tensor *tensor;
    TRY(rheos_checkpoint_reader_read(reader, i, &tensor));
    rheos_status *status =
        rheos_checkpoint_writer_add(writer, rheos_checkpoint_reader_name(reader, i), tensor);
    rheos_tensor_unref(tensor);
    if (status != NULL) return status;
    progress_set((int64_t)i + 1);
  }
  return NULL;
}

static rheos_status *convert_checkpoint(const convert *c, const source *s) {
  rheos_checkpoint_reader *reader;
  rheos_checkpoint_writer *writer;
  if (is_other_form(c->out)) {
    return INVALID("'%s' is no name of a checkpoint, and there is no other form", c->out);
  }
  TRY(rheos_checkpoint_reader_open(s->path, &reader));
  rheos_status *status = rheos_checkpoint_writer_open(c->out, &writer);
  if (status == NULL) {
    status = copy_tensors(reader, writer);
    if (status == NULL) {
      status = rheos_checkpoint_writer_finish(writer);
    } else {
      rheos_checkpoint_writer_abandon(writer);
    }
  }
  rheos_checkpoint_reader_free(reader);
  return status;
}

// ---- The command

static bool is_same_file(const char *a, const char *b) {
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static rheos_status *convert_source(const convert *c, source *s) {
  // Of a checkpoint the path is the prefix, which need not be a file.
  if (!c->force && (is_same_file(s->path, c->out) || strcmp(s->path, c->out) == 0)) {
    return INVALID("'%s' is what is to be read; --force overwrites it", c->out);
  }
  switch (s->kind) {
    case SOURCE_CHECKPOINT: return convert_checkpoint(c, s);
    case SOURCE_GRAPH:
    case SOURCE_META_GRAPH:
    case SOURCE_SAVED_MODEL: break;
    default: return INVALID("this holds %s, which has no other form", source_kind_name(s->kind));
  }
  if (!names_a_form(c)) {
    return INVALID(
        "the name '%s' says neither pb nor pbtxt: --to does, other forms there "
        "are not",
        c->out);
  }
  if (c->freeze || s->folder != NULL || c->runner_options.checkpoint != NULL ||
      (s->kind == SOURCE_SAVED_MODEL && c->outputs != NULL)) {
    return freeze_graph(c, s->folder != NULL ? s->folder : s->path);
  }
  if (c->outputs != NULL) return strip_graph(c, s);
  if (c->runner_options.signature != NULL || c->runner_options.tags != NULL) {
    return INVALID("--signature and --tags go with --freeze or --outputs");
  }
  return convert_message(c, s);
}

static int check(convert *c, const text_list *paths) {
  if (paths->count != 2) {
    return command_usage_error("convert: two paths, IN and OUT; see 'rheos help convert'");
  }
  if (c->to != NULL && strcmp(c->to, "pb") != 0 && strcmp(c->to, "pbtxt") != 0) {
    return command_usage_error("convert: --to is pb or pbtxt, not '%s'", c->to);
  }
  c->in = paths->items[0];
  c->out = paths->items[1];
  return EXIT_SUCCESS;
}

int command_convert(int argc, char **argv) {
  convert c = {.in = NULL};
  text_list paths = {0};
  const option rows[] = {
      {"--to", .text = &c.to, .kinds = SOURCE_MODELS},
      {"--freeze", .flag = &c.freeze, .kinds = SOURCE_MODELS},
      {"--outputs", .text = &c.outputs, .kinds = SOURCE_MODELS},
      {"--checkpoint", .text = &c.runner_options.checkpoint, .kinds = SOURCE_RESTORED},
      {"--signature", .text = &c.runner_options.signature, .kinds = SOURCE_SIGNED},
      {"--tags", .text = &c.runner_options.tags, .kinds = SOURCE_TAGGED},
      {"--force", .flag = &c.force},
  };
  const size_t num_rows = sizeof rows / sizeof rows[0];
  int result = EXIT_USAGE;
  if (options_parse("convert", rows, num_rows, argc, argv, &paths)) {
    result = check(&c, &paths);
  }
  if (result == EXIT_SUCCESS) {
    source s;
    rheos_status *status = source_open(c.in, &s);
    if (status == NULL && !source_fits_options(&s, "convert", rows, num_rows)) {
      result = EXIT_USAGE;
    } else if (status == NULL) {
      status = convert_source(&c, &s);
    }
    progress_end();
    source_close(&s);
    if (status != NULL) result = command_fail_take(c.in, status);
  }
  text_list_deinit(&paths);
  return result;
}
