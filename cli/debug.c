// `rheos debug`: a program of Python that stops before its runs and within them; what asks and
// answers is the package's.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "options.h"
#include "python.h"

const char command_debug_help[] =
    "usage: rheos debug [OPTIONS] SCRIPT.py [ARGUMENTS]\n"
    "       rheos debug [OPTIONS] -m MODULE [ARGUMENTS]\n"
    "       rheos debug --record FILE [--run N] SCRIPT.py [ARGUMENTS]\n"
    "       rheos debug --replay FILE [--threads N] [--no-rewriting] [--tolerance X] [--whole]\n"
    "\n"
    "Runs a Python program on Rheos, and stops before each Session.run and each call of a\n"
    "traced function. From there a step goes on value by value: into the bodies of functions,\n"
    "branches and loops or over them, to an operation, to the first NaN, to where a condition\n"
    "holds. Values, statistics, histograms, inputs and consumers are shown, with the lines of\n"
    "the program; before a run any tensor can be given another value. Operations that run at\n"
    "once are stopped at where a break is. 'help' lists the commands. What the debugger\n"
    "says goes to standard error.\n"
    "\n"
    "  --commands FILE  take commands from a file, a line each; when it ends the program\n"
    "                   runs on. Without it they come from standard input\n"
    "  --tf1, --tf2, --keras 2 or 3\n"
    "                   as 'rheos run' has them\n"
    "\n"
    "With --record the program is not stopped: of its run or call number N, else of the first\n"
    "that gives a tensor, the graph and all values are kept in a file. With --replay they are\n"
    "computed again from what was fed and what has state, and compared; what is the first\n"
    "not to be the same is told. The exit status is 0 if all is the same, 1 if not.\n"
    "\n"
    "  --threads N      that work inside operations (else one for each core)\n"
    "  --no-rewriting   without the rules that rewrite plans\n"
    "  --tolerance X    how much numbers may differ, relatively (else 0: the same bits)\n"
    "  --whole          compare all values even if the fetched ones are the same\n";

typedef struct debug_options {
  const char *mode, *commands, *record, *run;
} debug_options;

// An option with a value, as "--name VALUE" or "--name=VALUE"; 0 if it is another one.
static int take_text(int argc, char **argv, const char *name, const char **out_text) {
  const size_t length = strlen(name);
  if (strncmp(argv[0], name, length) != 0) return 0;
  if (argv[0][length] == '=') {
    *out_text = argv[0] + length + 1;
    return 1;
  }
  if (argv[0][length] != '\0') return 0;
  if (argc < 2) {
    command_usage_error("debug: %s needs a value", name);
    return -1;
  }
  *out_text = argv[1];
  return 2;
}

static bool take_keras(const char *version, const char **mode) {
  char *keras = command_format("--keras=%s", version);
  const bool taken = python_take_option(keras, mode);
  free(keras);
  if (!taken) command_usage_error("debug: --keras is 2 or 3");
  return taken;
}

// The number of arguments that the option takes; 0 if it is none, -1 after a message.
static int take_option(int argc, char **argv, debug_options *options) {
  const struct {
    const char *name, **text;
  } texts[] = {
      {"--commands", &options->commands}, {"--record", &options->record}, {"--run", &options->run}};
  if (python_take_option(argv[0], &options->mode)) return 1;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    const int taken = take_text(argc, argv, texts[i].name, texts[i].text);
    if (taken != 0) return taken;
  }
  const char *keras = NULL;
  const int taken = take_text(argc, argv, "--keras", &keras);
  return taken > 0 && !take_keras(keras, &options->mode) ? -1 : taken;
}

static bool is_number(const char *text) {
  return text[0] >= '1' && text[0] <= '9' && strspn(text, "0123456789") == strlen(text);
}

// How the program is looked at, for the launcher; NULL after a message.
static char *how_to_look(const debug_options *options) {
  if (options->run != NULL && (options->record == NULL || !is_number(options->run))) {
    command_usage_error("debug: --run is a number from 1 on, and goes with --record");
    return NULL;
  }
  if (options->record != NULL && options->commands != NULL) {
    command_usage_error("debug: --record and --commands do not go together");
    return NULL;
  }
  if (options->record != NULL) {
    return command_format("record\n%s\n%s", options->run != NULL ? options->run : "",
                          options->record);
  }
  if (options->commands != NULL && access(options->commands, R_OK) != 0) {
    command_usage_error("debug: %s: the commands cannot be read", options->commands);
    return NULL;
  }
  return command_format("commands\n%s", options->commands != NULL ? options->commands : "-");
}

// A module of the package, with the arguments behind --replay.
static int replay(int argc, char **argv) {
  static char way[] = "-m", module[] = "rheos.inspection.recording";
  char **arguments = command_alloc(((size_t)argc + 2) * sizeof *arguments);
  if (argc < 2) {
    free(arguments);
    return command_usage_error("debug: --replay needs the file of a recording");
  }
  arguments[0] = way;
  arguments[1] = module;
  memcpy(arguments + 2, argv + 1, (size_t)(argc - 1) * sizeof *argv);
  const int result = python_run("debug", "tf1", argc + 1, arguments);
  free(arguments);
  return result;
}

int command_debug(int argc, char **argv) {
  static const option known[] = {{.name = "--commands"}, {.name = "--record"}, {.name = "--replay"},
                                 {.name = "--run"},      {.name = "--tf1"},    {.name = "--tf2"},
                                 {.name = "--keras"}};
  debug_options options = {.mode = "auto"};
  if (argc > 1 && strcmp(argv[1], "--replay") == 0) return replay(argc - 1, argv + 1);
  int i = 1;
  while (i < argc && argv[i][0] == '-' && !python_is_way_in(argv[i])) {
    const int taken = take_option(argc - i, argv + i, &options);
    if (taken < 0) return EXIT_USAGE;
    if (taken == 0) {
      options_say_unknown("debug", known, sizeof known / sizeof known[0], argv[i]);
      return EXIT_USAGE;
    }
    i += taken;
  }
  if (i < argc && strcmp(argv[i], "-") == 0) {
    return command_usage_error("debug: the program is a file: standard input has the commands");
  }
  char *how = how_to_look(&options);
  if (how == NULL) return EXIT_USAGE;
  const bool told = setenv("RHEOS_DEBUG_SCRIPT", how, 1) == 0;
  free(how);
  if (!told) return command_usage_error("debug: out of memory");
  return python_run("debug", options.mode, argc - i, argv + i);
}
