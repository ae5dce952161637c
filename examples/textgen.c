// Learns to write like a text, one character at a time, and shows what it has learnt.
//
//   textgen [TEXT [CHECKPOINT]]
//
// The model sees 8 characters and guesses the next: each character is looked up in a table of
// vectors, a hidden layer mixes the eight, an output layer scores every character. It is built as a
// graph, trained on TEXT (by default the LICENSE of this project), saved as CHECKPOINT, restored
// into a fresh graph and session, and asked to write.
#define _XOPEN_SOURCE 700  // mkdtemp(), readlink()
#include <ctype.h>
#include <math.h>
#include <rheos/rheos.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CONTEXT = 8, VECTOR = 24, HIDDEN = 192, BATCH = 64, STEPS = 5000, SAMPLE = 600 };

static void check(rheos_status *status) {
  if (status == NULL) return;
  fprintf(stderr, "\ntextgen: %s\n", rheos_status_message(status));
  rheos_status_free(status);
  exit(1);
}

// ---- The text

typedef struct corpus {
  unsigned char *text;  // characters as numbers 0 .. num_characters - 1
  size_t size;
  int num_characters;
  unsigned char character[256];  // of a number
  int number[256];               // of a character, -1 if the text does not have it
} corpus;

static FILE *open_text(const char *path) {
  if (path != NULL) return fopen(path, "rb");
  // LICENSE beside the build folder this program is in, else where it was started.
  char place[4096];
  ssize_t length = readlink("/proc/self/exe", place, sizeof(place) - sizeof("/LICENSE"));
  for (int up = 0; up < 3 && length > 0; up++) {
    while (length > 0 && place[length - 1] != '/') length--;
    if (length > 0) length--;
    strcpy(place + length, "/LICENSE");
    FILE *file = fopen(place, "rb");
    if (file != NULL) return file;
  }
  return fopen("LICENSE", "rb");
}

static bool read_corpus(const char *path, corpus *c) {
  FILE *file = open_text(path);
  if (file == NULL) return false;
  size_t capacity = 0;
  memset(c, 0, sizeof *c);
  for (size_t got = 1; got > 0; c->size += got) {
    if (c->size == capacity) {
      capacity = capacity == 0 ? 65536 : 2 * capacity;
      unsigned char *larger = (unsigned char *)realloc(c->text, capacity);
      if (larger == NULL) {
        fclose(file);
        return false;
      }
      c->text = larger;
    }
    got = fread(c->text + c->size, 1, capacity - c->size, file);
  }
  fclose(file);
  bool seen[256] = {false};
  for (size_t i = 0; i < c->size; i++) seen[c->text[i]] = true;
  for (int i = 0; i < 256; i++) {
    c->number[i] = seen[i] ? c->num_characters : -1;
    if (seen[i]) c->character[c->num_characters++] = (unsigned char)i;
  }
  for (size_t i = 0; i < c->size; i++) c->text[i] = (unsigned char)c->number[c->text[i]];
  return c->size > CONTEXT + 1;
}

// ---- The model

static rheos_output int_vector(rheos_scope *s, const int32_t *values, int32_t count) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(count), values, &tensor));
  rheos_output constant = rheos_constant(s, tensor, NULL);
  rheos_tensor_unref(tensor);
  return constant;
}

// x * weights + bias
static rheos_output dense(rheos_scope *s, const char *name, rheos_output x, int64_t inputs,
                          int64_t outputs) {
  rheos_push_variable_scope(s, name, RHEOS_REUSE_INHERIT);
  rheos_output weights = rheos_get_variable(s, "weights", RHEOS_FLOAT, RHEOS_SHAPE(inputs, outputs),
                                            rheos_glorot_uniform_initializer());
  rheos_output bias =
      rheos_get_variable(s, "bias", RHEOS_FLOAT, RHEOS_SHAPE(outputs), rheos_zeros());
  rheos_output y = rheos_bias_add(s, rheos_matmul(s, x, weights), bias);
  rheos_scope_pop(s);
  return y;
}

typedef struct model {
  rheos_output context;  // (batch, CONTEXT) numbers of characters
  rheos_output next;     // (batch) the character that follows
  rheos_output scores;   // (batch, num_characters)
  rheos_output loss;
} model;

static model build_model(rheos_scope *s, int num_characters) {
  const int32_t flat[] = {-1, CONTEXT * VECTOR}, axis[] = {0};
  const rheos_shape contexts = RHEOS_SHAPE(-1, CONTEXT), characters = RHEOS_SHAPE(-1);
  model m;
  m.context = rheos_placeholder(s, RHEOS_INT32, .shape = &contexts, .name = "context");
  m.next = rheos_placeholder(s, RHEOS_INT32, .shape = &characters, .name = "next");
  rheos_output table =
      rheos_get_variable(s, "table", RHEOS_FLOAT, RHEOS_SHAPE(num_characters, VECTOR),
                         rheos_random_uniform_initializer(-1, 1));
  rheos_output vectors = rheos_gather(s, table, m.context);
  rheos_output joined = rheos_reshape(s, vectors, int_vector(s, flat, 2));
  rheos_output hidden = rheos_tanh(s, dense(s, "hidden", joined, CONTEXT * VECTOR, HIDDEN));
  m.scores = dense(s, "output", hidden, HIDDEN, num_characters);
  rheos_output each = rheos_sparse_softmax_cross_entropy_with_logits(s, m.scores, m.next).loss;
  m.loss = rheos_mean(s, each, int_vector(s, axis, 1), .name = "loss");
  return m;
}

// ---- Training

static uint64_t random_state = 0x9e3779b97f4a7c15u;

// Uniform in [0, 1).
static double random_number(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (double)(random_state >> 11) / 9007199254740992.0;
}

static void draw_batch(const corpus *c, int32_t *context, int32_t *next) {
  for (int row = 0; row < BATCH; row++) {
    size_t at = (size_t)(random_number() * (double)(c->size - CONTEXT));
    for (int i = 0; i < CONTEXT; i++) context[row * CONTEXT + i] = c->text[at + (size_t)i];
    next[row] = c->text[at + CONTEXT];
  }
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// One line that is written over and over on a terminal, else a line now and then.
static void show_progress(int step, double loss, double start) {
  bool terminal = isatty(STDERR_FILENO) == 1;
  if (step % (terminal ? 50 : STEPS / 10) != 0) return;
  fprintf(stderr, "%sstep %4d of %d, loss %.3f, %.0f s%s", terminal ? "\r" : "", step, STEPS, loss,
          seconds() - start, terminal && step < STEPS ? "   " : "\n");
}

static void train(const corpus *c, const char *checkpoint) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  if (s == NULL) exit(1);
  rheos_graph_set_seed(graph, true, 1);
  model m = build_model(s, c->num_characters);
  rheos_operation step_op = rheos_minimize(s, rheos_adam(2e-3), m.loss);
  rheos_operation init = rheos_global_variables_initializer(s);
  rheos_saver saver = rheos_saver_new(s, NULL, NULL, 0, NULL);
  check(rheos_scope_finish(s));

  rheos_session *session = NULL;
  check(rheos_session_new(graph, NULL, &session));
  check(rheos_session_run(session, NULL, 0, NULL, 0, &init, 1, NULL));
  rheos_callable *step_fn = NULL;
  rheos_output feeds[] = {m.context, m.next};
  check(rheos_callable_new(session, feeds, 2, &m.loss, 1, &step_op, 1, &step_fn));

  rheos_tensor *values[2] = {NULL, NULL}, *loss = NULL;
  check(rheos_tensor_new(RHEOS_INT32, RHEOS_SHAPE(BATCH, CONTEXT), &values[0]));
  check(rheos_tensor_new(RHEOS_INT32, RHEOS_SHAPE(BATCH), &values[1]));
  double average = log(c->num_characters), start = seconds();
  for (int step = 1; step <= STEPS; step++) {
    draw_batch(c, (int32_t *)rheos_tensor_data(values[0]), (int32_t *)rheos_tensor_data(values[1]));
    check(rheos_callable_run(step_fn, values, &loss, NULL));
    average += 0.02 * (*(float *)rheos_tensor_data(loss) - average);
    rheos_tensor_unref(loss);
    show_progress(step, average, start);
  }
  check(rheos_saver_save(saver, session, checkpoint));

  rheos_tensor_unref(values[0]);
  rheos_tensor_unref(values[1]);
  rheos_callable_free(step_fn);
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
}

// ---- Writing

// Draws a character, likely ones more often; a low temperature prefers them the more.
static int draw(const float *scores, int count, double temperature) {
  double top = scores[0], sum = 0;
  for (int i = 1; i < count; i++) top = scores[i] > top ? scores[i] : top;
  for (int i = 0; i < count; i++) sum += exp((scores[i] - top) / temperature);
  double left = random_number() * sum;
  for (int i = 0; i < count; i++) {
    left -= exp((scores[i] - top) / temperature);
    if (left < 0) return i;
  }
  return count - 1;
}

static void write_sample(const corpus *c, const char *checkpoint, char *sample) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  if (s == NULL) exit(1);
  model m = build_model(s, c->num_characters);
  rheos_saver saver = rheos_saver_new(s, NULL, NULL, 0, NULL);
  check(rheos_scope_finish(s));
  rheos_session *session = NULL;
  check(rheos_session_new(graph, NULL, &session));
  check(rheos_saver_restore(saver, session, checkpoint));

  rheos_callable *guess = NULL;
  check(rheos_callable_new(session, &m.context, 1, &m.scores, 1, NULL, 0, &guess));
  rheos_tensor *context = NULL, *scores = NULL;
  check(rheos_tensor_new(RHEOS_INT32, RHEOS_SHAPE(1, CONTEXT), &context));
  int32_t *window = (int32_t *)rheos_tensor_data(context);
  size_t start = (size_t)(random_number() * (double)(c->size - CONTEXT));
  for (int i = 0; i < CONTEXT; i++) {
    window[i] = c->text[start + (size_t)i];
    sample[i] = (char)c->character[window[i]];
  }
  for (int i = CONTEXT; i < SAMPLE; i++) {
    check(rheos_callable_run(guess, &context, &scores, NULL));
    int next = draw((const float *)rheos_tensor_data(scores), c->num_characters, 0.5);
    rheos_tensor_unref(scores);
    sample[i] = (char)c->character[next];
    memmove(window, window + 1, (CONTEXT - 1) * sizeof(window[0]));
    window[CONTEXT - 1] = next;
  }
  sample[SAMPLE] = '\0';

  rheos_tensor_unref(context);
  rheos_callable_free(guess);
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
}

// Whether the text has these letters as a word of its own.
static bool is_word(const corpus *c, const char *letters, size_t length) {
  for (size_t i = 0; i + length <= c->size; i++) {
    size_t k = 0;
    while (k < length && c->character[c->text[i + k]] == (unsigned char)letters[k]) k++;
    if (k < length) continue;
    bool starts = i == 0 || !isalpha(c->character[c->text[i - 1]]);
    bool ends = i + length == c->size || !isalpha(c->character[c->text[i + length]]);
    if (starts && ends) return true;
  }
  return false;
}

static void count_words(const corpus *c, const char *sample) {
  int words = 0, known = 0;
  for (const char *at = sample; *at != '\0';) {
    size_t length = 0;
    while (isalpha((unsigned char)at[length])) length++;
    if (length > 2) {
      words++;
      known += is_word(c, at, length);
    }
    at += length > 0 ? length : 1;
  }
  printf("%d of %d words of three letters or more are words of the text\n", known, words);
}

int main(int argc, char **argv) {
  corpus c;
  const char *text = argc > 1 ? argv[1] : NULL;
  if (!read_corpus(text, &c)) {
    fprintf(stderr, "textgen: cannot read a text from %s\n", text != NULL ? text : "LICENSE");
    return 1;
  }
  char folder[] = "/tmp/textgen-XXXXXX", in_folder[64] = "";
  const char *checkpoint = argc > 2 ? argv[2] : in_folder;
  if (argc <= 2) {
    if (mkdtemp(folder) == NULL) {
      perror("textgen: /tmp");
      return 1;
    }
    snprintf(in_folder, sizeof(in_folder), "%s/model", folder);
  }
  fprintf(stderr, "%zu characters, %d different\n", c.size, c.num_characters);
  train(&c, checkpoint);
  static char sample[SAMPLE + 1];
  write_sample(&c, checkpoint, sample);
  printf("%s\n\n", sample);
  count_words(&c, sample);
  if (argc <= 2) {
    char file[96];
    snprintf(file, sizeof(file), "%s.index", checkpoint);
    remove(file);
    snprintf(file, sizeof(file), "%s.data-00000-of-00001", checkpoint);
    remove(file);
    rmdir(folder);
  } else {
    fprintf(stderr, "the checkpoint is %s\n", checkpoint);
  }
  free(c.text);
  return 0;
}
