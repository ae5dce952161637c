// Three addresses: the page, its data, and a text that changes when the data do, which the page
// asks for again and again. Only this machine reaches them, and of its browsers only the page
// itself: another site's page names another host or origin.
#include "serve_page.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../command.h"
#include "../files.h"
#include "../hash.h"
#include "../http.h"
#include "../status.h"
#include "page.h"

typedef struct serving {
  const serve_page *page;
  http_port port;
  uint64_t state;  // what `text` is of
  char *text;      // the data; NULL: none was asked for
  size_t text_bytes;
} serving;

// ---- What has changed

static uint64_t state_of_file(const char *path, uint64_t state) {
  struct stat found;
  if (stat(path, &found) != 0) return state;
  const int64_t facts[] = {(int64_t)found.st_size, (int64_t)found.st_mtim.tv_sec,
                           (int64_t)found.st_mtim.tv_nsec};
  return hash_bytes(state ^ hash_bytes(1, path, strlen(path)), (const char *)facts, sizeof facts);
}

static uint64_t state_of(const char *path, uint64_t state, int depth) {
  enum { MOST_DEPTH = 8 };
  char **names;
  size_t count;
  state = state_of_file(path, state);
  if (!is_folder(path) || depth == MOST_DEPTH) return state;
  rheos_status *status = folder_list(path, &names, &count);
  if (status != NULL) {
    rheos_status_free(status);
    return state;
  }
  for (size_t i = 0; i < count; i++) {
    char *below = command_format("%s/%s", path, names[i]);
    state = state_of(below, state, depth + 1);
    free(below);
  }
  folder_list_free(names, count);
  return state;
}

enum { STATE_BYTES = 17 };

static void print_state(char text[STATE_BYTES], uint64_t state) {
  snprintf(text, STATE_BYTES, "%016llx", (unsigned long long)state);
}

// ---- Replies

typedef struct data_text {
  const char *text;
  size_t text_bytes;
} data_text;

static void print_text(void *argument, FILE *out) {
  const data_text *data = argument;
  fwrite(data->text, 1, data->text_bytes, out);
}

static void load_data(serving *s) {
  const uint64_t state = state_of(s->page->path, 0, 0);
  if (s->text != NULL && state == s->state) return;
  shown shown;
  bool is_misuse;
  rheos_status *status = shown_load(&shown, s->page->path, s->page->plan->tags, s->page->rows,
                                    s->page->num_rows, &is_misuse);
  if (status == NULL && s->page->plan->plan) {
    status = shown_plan(&shown, s->page->plan);
    if (status != NULL) shown.problem = command_format("no plan: %s", rheos_status_message(status));
  } else if (status != NULL) {
    shown_empty(&shown, s->page->path, rheos_status_message(status));
  }
  rheos_status_free(status);
  free(s->text);
  s->text = NULL;
  FILE *out = open_memstream(&s->text, &s->text_bytes);
  if (out != NULL) {
    char text[STATE_BYTES];
    print_state(text, state);
    shown_json(&shown, text, out);
    fclose(out);
  }
  s->state = state;
  shown_free(&shown);
}

static http_reply page_reply(serving *s) {
  http_reply reply = {200, "text/html; charset=utf-8", NULL, 0};
  load_data(s);
  data_text data = {s->text, s->text_bytes};
  FILE *out = open_memstream(&reply.text, &reply.text_bytes);
  if (out != NULL) {
    page_print(out, print_text, &data);
    fclose(out);
  }
  return reply;
}

static http_reply data_reply(serving *s) {
  load_data(s);
  http_reply reply = {200, "application/json", command_alloc(s->text_bytes), s->text_bytes};
  if (s->text_bytes > 0) memcpy(reply.text, s->text, s->text_bytes);
  return reply;
}

// Whether `text` is this port's address behind `scheme`.
static bool is_own(const serving *s, const char *text, const char *scheme) {
  static const char *const names[] = {"127.0.0.1", "localhost"};
  bool found = false;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char *own = command_format("%s%s:%d", scheme, names[i], (int)s->port.number);
    found = found || strcmp(own, text) == 0;
    free(own);
  }
  return found;
}

static void handle(void *argument, const http_request *request, http_reply *out_reply) {
  serving *s = argument;
  if (request->host == NULL || !is_own(s, request->host, "") ||
      (request->origin != NULL && !is_own(s, request->origin, "http://"))) {
    *out_reply = http_text(403, "text/plain", "only for the page of this address\n");
  } else if (strcmp(request->path, "/") == 0) {
    *out_reply = page_reply(s);
  } else if (strcmp(request->path, "/data.json") == 0) {
    *out_reply = data_reply(s);
  } else if (strcmp(request->path, "/state") == 0) {
    char text[STATE_BYTES];
    print_state(text, state_of(s->page->path, 0, 0));
    *out_reply = http_text(200, "text/plain", text);
  } else {
    *out_reply = http_text(404, "text/plain", "there are /, /data.json and /state\n");
  }
}

// What `rheos run --view` started ends with it, however that ends.
static void end_with_parent(void) {
  const char *parent = getenv("RHEOS_VIEW_PARENT");
  if (parent == NULL) return;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (atol(parent) != (long)getppid()) raise(SIGTERM);  // it has ended already
}

rheos_status *serve_page_run(const serve_page *page, int32_t port) {
  serving s = {.page = page};
  sigset_t ends;
  int signal;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, NULL);  // the port's thread, too
  end_with_parent();
  TRY(http_open(&s.port, "--serve", "127.0.0.1", port, handle, &s));
  printf("ready http://127.0.0.1:%d/\n", (int)s.port.number);
  fflush(stdout);
  while (sigwait(&ends, &signal) != 0) continue;
  http_close(&s.port);
  free(s.text);
  return NULL;
}
