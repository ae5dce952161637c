// How messages cross processes: calls of methods, with one request and one reply each, which are
// bytes. A transport is a library of its own that is found at run time, so that programs without a
// cluster carry none; it knows neither tensors nor tasks. Its functions may be called by any number
// of threads.
#ifndef RHEOS_SRC_NET_TRANSPORT_H
#define RHEOS_SRC_NET_TRANSPORT_H

#include <rheos/base.h>

// Bytes of a message on its way out. They are the transport's until it calls `release`, with any
// thread; NULL: it copies them at once.
typedef struct rheos__piece {
  const void *data;
  size_t size_bytes;
  void (*release)(void *owner);
  void *owner;
} rheos__piece;

// Bytes of a message that came, in as many runs as it did.
typedef struct rheos__chunk {
  const char *data;
  size_t size_bytes;
} rheos__chunk;

typedef struct rheos__pieces {
  const rheos__piece *pieces;
  size_t count;
} rheos__pieces;

typedef struct rheos__chunks {
  const rheos__chunk *chunks;
  size_t count;
} rheos__chunks;

// How a call ended: the chunks last while the callee runs.
typedef struct rheos__reply {
  rheos_code code;
  const char *message;  // of an error
  rheos__chunks chunks;
} rheos__reply;
typedef void (*rheos__replied_fn)(void *argument, const rheos__reply *reply);

typedef struct rheos__listener rheos__listener;  // of a server
typedef struct rheos__incoming rheos__incoming;  // a call that came to one
typedef struct rheos__channel rheos__channel;    // to a server
typedef struct rheos__outgoing rheos__outgoing;  // a call on its way

// A call came. The callee, or whoever it hands the call to, replies once.
typedef void (*rheos__called_fn)(void *argument, int method, rheos__incoming *call,
                                 rheos__chunks request);

// PEM texts; NULL where there is none.
typedef struct rheos__keys {
  const char *roots;        // whose signatures on the other side's certificate are believed
  const char *certificate;  // of this side, with its private key
  const char *private_key;
} rheos__keys;

typedef struct rheos__listen {
  const char *address;         // "127.0.0.1:2222"; port 0: a free one
  const char *const *methods;  // in full: "/package.Service/Method"
  int num_methods;
  rheos__called_fn called;
  // Told of calls that bring no valid token, with who calls and why not; NULL: nobody is.
  void (*refused)(void *argument, const char *caller, const char *why);
  void *argument;
  const rheos__keys *keys;  // NULL: nothing is encrypted
  // Though there are roots; else callers show a certificate that these have signed.
  bool takes_callers_without_certificate;
  const char *token;  // that calls must bring; NULL: none
  size_t max_request_bytes;
} rheos__listen;

typedef struct rheos__connect {
  const char *address;
  const rheos__keys *keys;  // NULL: nothing is encrypted
  const char *token;        // that calls bring; NULL: none
} rheos__connect;

typedef struct rheos__call {
  const char *method;
  rheos__pieces request;
  int64_t timeout_ms;         // 0: none
  bool waits;                 // until the server can be reached; else that is an error
  rheos__replied_fn replied;  // called once
  void *argument;
} rheos__call;

// What rheos__transport_find() finds. Functions that fail write why into `error`.
enum { RHEOS__TRANSPORT_ERROR_BYTES = 256 };
typedef struct rheos__transport {
  const char *version;  // of Rheos

  // ---- Servers. Methods that nobody serves are refused.
  bool (*listen)(const rheos__listen *options, rheos__listener **out_listener, char *error);
  int (*port)(const rheos__listener *listener);
  // Takes no more calls and waits for those under way. After `grace_ms` they are cancelled,
  // `end_calls` is called to end what they wait for, and they are waited for.
  void (*stop)(rheos__listener *listener, int64_t grace_ms, void (*end_calls)(void *),
               void *end_calls_argument);
  void (*unlisten)(rheos__listener *listener);  // after stop()
  // `message` is that of an error. Pieces are released, whatever happens.
  void (*reply)(rheos__incoming *call, rheos_code code, const char *message, rheos__pieces reply);
  // Whether nobody waits for the reply any more. Before it.
  bool (*is_abandoned)(const rheos__incoming *call);

  // ---- Clients
  bool (*connect)(const rheos__connect *options, rheos__channel **out_channel, char *error);
  void (*disconnect)(rheos__channel *channel);  // its calls are over
  // Waits for the reply. `should_stop` is asked every 10 ms; NULL: nothing ends it early.
  void (*call)(rheos__channel *channel, const rheos__call *call, bool (*should_stop)(void *),
               void *should_stop_argument);
  // Does not wait: some thread calls `replied`. NULL, and nobody is called, when memory is short.
  rheos__outgoing *(*start)(rheos__channel *channel, const rheos__call *call);
  void (*cancel)(rheos__outgoing *outgoing);  // unless it is over
  void (*forget)(rheos__outgoing *outgoing);  // the handle, once, of every call that was started
  // A call that lasts until one side ends it, and whose reply nobody takes: by it the server sees
  // that its client is there. It needs no thread. NULL when memory is short.
  rheos__outgoing *(*hold)(rheos__channel *channel, const rheos__call *call);
  void (*let_go)(rheos__outgoing *held);  // ends it, waits for that and frees it
} rheos__transport;

#define RHEOS__TRANSPORT_NAME "rheos__grpc_transport"
#define RHEOS__TRANSPORT_FILE "librheos-grpc.so"

// The transport, loaded once. RHEOS_UNIMPLEMENTED with what to install where there is none.
rheos_status *rheos__transport_find(const rheos__transport **out_transport);

#endif  // RHEOS_SRC_NET_TRANSPORT_H
