// What a server owns, and how it answers calls.
#ifndef RHEOS_SRC_NET_SERVER_H
#define RHEOS_SRC_NET_SERVER_H

#include <rheos/server.h>

#include "net/caretaker.h"
#include "net/collectives.h"
#include "net/master.h"
#include "net/methods.h"
#include "net/request_ids.h"

struct rheos_server {
  const rheos__transport *transport;
  rheos__credentials credentials;
  rheos__peers peers;
  int32_t own_task;
  rheos_host *host;
  rheos__worker worker;
  rheos__task_collectives collectives;
  rheos__master master;
  rheos__caretaker caretaker;
  rheos__request_ids request_ids;
  rheos__metrics metrics;
  rheos__listener *listener;
  char *target;
  void *default_config;  // the bytes of a ConfigProto
  size_t default_config_bytes;
  int64_t max_memory_bytes;  // 0: any
  pthread_mutex_t mutex;     // guards what follows
  pthread_cond_t stopped;
  bool is_stopping, has_stopped;
};

// A call that is being answered: its request, and room for the reply.
typedef struct rheos__served {
  rheos_server *server;
  rheos__incoming *call;
  rheos__received request;
  rheos__message reply;
  bool is_later;    // somebody else answers it, by rheos__answer_take()
  rheos_code code;  // of an error that is part of the reply
} rheos__served;

// Serves one method: an error is the reply, else what is in `reply` is.
typedef rheos_status *(*rheos__serve_fn)(rheos__served *served);
typedef struct rheos__service {
  rheos__message_form form;  // of the request
  rheos__serve_fn serve;     // NULL: nobody does
  size_t id_offset;          // of the id in a request that is served once; 0: it has none
} rheos__service;

// By method: the master's and the worker's.
extern const rheos__service rheos__services[RHEOS__NUM_METHODS];

// Answers a call, with an error (then the callee's) or a message.
void rheos__answer_take(rheos_server *server, rheos__incoming *call, rheos_status *status,
                        rheos__message *reply);
// Whether the caller has gone; the argument is a rheos__served.
bool rheos__is_abandoned(void *served);

#endif  // RHEOS_SRC_NET_SERVER_H
