// `rheos show`: what lies at a path.
#include "show.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "limit.h"
#include "options.h"
#include "plan_view.h"
#include "progress.h"

const char command_show_help[] =
    "usage: rheos show [OPTIONS] PATH\n"
    "\n"
    "Says what is in a file of TensorFlow's: a graph (binary or text), a meta graph, a\n"
    "saved model (folder or file), a checkpoint (prefix, any of its files, its folder, or\n"
    "the list 'checkpoint'), records, events, or NumPy's arrays. What it is follows from\n"
    "what is in it, not from its name.\n"
    "\n"
    "  --ops          only the ops of a graph, with their counts\n"
    "  --node NAME    one node of a graph: attributes, inputs, outputs, consumers;\n"
    "                 or one function of its library; or one tensor of a checkpoint, or\n"
    "                 one array: its values\n"
    "  --dot          the graph for Graphviz: rheos show --dot g.pb | dot -Tsvg >g.svg\n"
    "  --memory       what a step of a graph or a saved model needs, and its ten largest\n"
    "                 tensors with the lines of the program that made them\n"
    "  --plan         what a step of it runs: entries by the rule that made them, whom they\n"
    "                 wait for, instructions, and where their values lie\n"
    "  --placement    what device each node asks for, which one it is given, and why\n"
    "  --cluster FILE.json, --job NAME, --task N, --cpus N, --gpus N\n"
    "                 with --placement, the tasks as 'rheos serve' has them, the one whose\n"
    "                 master runs the graph (else the first), how many CPUs (else 1) and GPUs\n"
    "                 (else 0) each has, which need not be there\n"
    "  --soft-placement\n"
    "                 with --placement, other devices where those asked for do not do\n"
    "  --feed-shape NAME=2,28,28\n"
    "                 with --memory or --plan, the shape of an input; dimensions that are\n"
    "                 not known count as 1\n"
    "  --fetch NAME   with --memory or --plan, what the step is for, a tensor or an operation\n"
    "  --json         as JSON; the man page lists the fields\n"
    "  --tags A,B     the graph of a saved model with these tags (else its first)\n"
    "  --memory-limit 8G\n"
    "                 what reading it may take; none: all there is (else 1G and 64 times its\n"
    "                 size)\n";

// ---- Shared by the kinds

void show_name(const char *name) { text_print(stdout, name, strlen(name)); }

int show_width(const char *name) {
  int width = 0;
  for (const char *at = name; *at != '\0';) {
    const size_t length = text_character(at, strnlen(at, 4));
    const bool is_plain = length > 1 || (length == 1 && *at >= ' ' && *at != 0x7f);
    width += is_plain ? 1 : 4;
    at += length > 0 ? length : 1;
  }
  return width;
}

void show_padded(const char *name, int width) {
  show_name(name);
  const int missing = width - show_width(name);
  printf("%*s", missing > 0 ? missing : 0, "");
}

void show_type(rheos_dtype dtype, const rheos_shape *shape) {
  char text[192];
  if (dtype != RHEOS_INVALID_DTYPE) printf("%s ", rheos_dtype_name(dtype));
  rheos_shape_format(shape, text, sizeof text);
  fputs(text, stdout);
}

void show_grouped(int64_t number) {
  char digits[32];
  const int length = snprintf(digits, sizeof digits, "%lld", (long long)number);
  for (int i = 0; i < length; i++) {
    if (i > 0 && (length - i) % 3 == 0 && digits[i - 1] != '-') putchar(',');
    putchar(digits[i]);
  }
}

void show_json_type(json *j, rheos_dtype dtype, const rheos_shape *shape) {
  if (dtype != RHEOS_INVALID_DTYPE) json_text(j, "dtype", rheos_dtype_name(dtype));
  if (shape->rank < 0) {
    json_null(j, "shape");
    return;
  }
  json_begin(j, "shape", '[');
  for (int32_t i = 0; i < shape->rank; i++) {
    if (shape->dims[i] < 0) {
      json_null(j, NULL);
    } else {
      json_int(j, NULL, shape->dims[i]);
    }
  }
  json_end(j, ']');
}

void show_json_head(json *j, const source *s) {
  json_begin(j, NULL, '{');
  json_text(j, "kind", source_kind_name(s->kind));
  json_text(j, "path", s->folder != NULL ? s->folder : s->path);
}

// ---- The command

static int show(source *s, const show_options *options) {
  switch (s->kind) {
    case SOURCE_CHECKPOINT: return show_checkpoint(s, options);
    case SOURCE_RECORDS: return show_records(s, options);
    case SOURCE_EVENTS: return show_events(s, options);
    case SOURCE_ARRAYS: return show_arrays(s, options);
    default: return show_model(s, options);
  }
}

static int check(const show_options *options, const text_list *paths) {
  if (paths->count == 0) {
    return command_usage_error("show: a path is missing; see 'rheos help show'");
  }
  if (paths->count > 1) return command_usage_error("show: one path at a time");
  if (options->ops + options->dot + options->memory + options->plan + options->placement +
          (options->node != NULL) >
      1) {
    return command_usage_error(
        "show: --ops, --node, --dot, --memory, --plan and --placement do not go together");
  }
  const bool has_devices = options->cluster != NULL || options->cpus != NULL ||
                           options->gpus != NULL || options->job != NULL || options->task != NULL ||
                           options->soft_placement;
  if (has_devices && !options->placement) {
    return command_usage_error(
        "show: --cluster, --job, --task, --cpus, --gpus and --soft-placement go with --placement");
  }
  if ((options->job != NULL && options->cluster == NULL) ||
      (options->task != NULL && options->job == NULL)) {
    return command_usage_error("show: --job goes with --cluster, and --task with --job");
  }
  if (options->fetches.count > 0 && !options->memory && !options->plan) {
    return command_usage_error("show: --fetch goes with --memory or --plan");
  }
  if (options->feed_shapes.count > 0 && !options->memory && !options->plan) {
    return command_usage_error("show: --feed-shape goes with --memory or --plan");
  }
  if (options->dot && options->json) {
    return command_usage_error("show: --dot and --json do not go together");
  }
  return EXIT_SUCCESS;
}

static int show_path(const char *path, const show_options *options, const option *rows,
                     size_t num_rows) {
  source s;
  if (!limit_begin("show", path, options->memory_limit)) return EXIT_USAGE;
  rheos_status *status = source_open(path, &s);
  int result;
  if (status != NULL) {
    result = command_fail_take(path, status);
  } else if (!source_fits_options(&s, "show", rows, num_rows)) {
    result = EXIT_USAGE;
  } else if (options->memory || options->plan) {
    result = options->plan ? plan_view_print(path, &s, options, rheos_session_plan_text,
                                             rheos_session_plan_json)
                           : plan_view_print(path, &s, options, rheos_session_memory_text,
                                             rheos_session_memory_json);
  } else {
    result = show(&s, options);
    progress_end();
  }
  source_close(&s);
  return result;
}

int command_show(int argc, char **argv) {
  enum { CHECKPOINTS = 1 << SOURCE_CHECKPOINT, ARRAYS = 1 << SOURCE_ARRAYS };
  show_options options = {0};
  text_list paths = {0};
  const option rows[] = {
      {"--ops", .flag = &options.ops, .kinds = SOURCE_MODELS},
      {"--node", .text = &options.node, .kinds = SOURCE_MODELS | CHECKPOINTS | ARRAYS},
      {"--dot", .flag = &options.dot, .kinds = SOURCE_MODELS},
      {"--json", .flag = &options.json},
      {"--memory-limit", .text = &options.memory_limit},
      {"--tags", .text = &options.tags, .kinds = SOURCE_TAGGED},
      {"--memory", .flag = &options.memory, .kinds = SOURCE_MODELS},
      {"--plan", .flag = &options.plan, .kinds = SOURCE_MODELS},
      {"--placement", .flag = &options.placement, .kinds = SOURCE_MODELS},
      {"--cluster", .text = &options.cluster, .kinds = SOURCE_MODELS},
      {"--job", .text = &options.job, .kinds = SOURCE_MODELS},
      {"--task", .text = &options.task, .kinds = SOURCE_MODELS},
      {"--cpus", .text = &options.cpus, .kinds = SOURCE_MODELS},
      {"--gpus", .text = &options.gpus, .kinds = SOURCE_MODELS},
      {"--soft-placement", .flag = &options.soft_placement, .kinds = SOURCE_MODELS},
      {"--feed-shape", .list = &options.feed_shapes, .kinds = SOURCE_MODELS},
      {"--fetch", .list = &options.fetches, .kinds = SOURCE_MODELS},
  };
  const size_t num_rows = sizeof rows / sizeof rows[0];
  int result = EXIT_USAGE;
  if (options_parse("show", rows, num_rows, argc, argv, &paths)) {
    result = check(&options, &paths);
    if (result == EXIT_SUCCESS) result = show_path(paths.items[0], &options, rows, num_rows);
  }
  text_list_deinit(&paths);
  text_list_deinit(&options.feed_shapes);
  text_list_deinit(&options.fetches);
  return result;
}
