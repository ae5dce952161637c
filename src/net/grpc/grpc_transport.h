// The transport over gRPC's C core, a library of its own (librheos-grpc.so): of Rheos it knows
// net/transport.h and the public header of errors alone.
#ifndef RHEOS_SRC_NET_GRPC_GRPC_TRANSPORT_H
#define RHEOS_SRC_NET_GRPC_GRPC_TRANSPORT_H

#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/support/alloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/transport.h"

// ---- Messages (grpc_bytes.c)

// A buffer of the pieces, which are released when it is destroyed. NULL when memory is short: they
// are released then.
grpc_byte_buffer *rheos__grpc_buffer_of(rheos__pieces pieces);

// The runs of bytes of a buffer, which may be NULL.
typedef struct rheos__grpc_bytes {
  grpc_byte_buffer_reader reader;
  bool has_reader;
  grpc_slice *slices;
  rheos__chunks chunks;
} rheos__grpc_bytes;
// False: they cannot be read, or memory is short.
bool rheos__grpc_bytes_init(rheos__grpc_bytes *bytes, grpc_byte_buffer *buffer);
void rheos__grpc_bytes_deinit(rheos__grpc_bytes *bytes);

// ---- Errors (grpc_errors.c)

// As what a client comes.
typedef struct rheos__grpc_identity {
  bool is_encrypted, has_certificate;
} rheos__grpc_identity;
// What a message of gRPC's means, of a call that ended with `code`: where it tells that one side
// does not accept the other that becomes RHEOS_UNAUTHENTICATED. NULL: the message is clear.
const char *rheos__grpc_explain(const char *message, const rheos__grpc_identity *identity,
                                rheos_code *code);

// ---- Servers (grpc_server.c) and clients (grpc_client.c): as the table says

bool rheos__grpc_listen(const rheos__listen *options, rheos__listener **out_listener, char *error);
int rheos__grpc_port(const rheos__listener *listener);
void rheos__grpc_stop(rheos__listener *listener, int64_t grace_ms, void (*end_calls)(void *),
                      void *end_calls_argument);
void rheos__grpc_unlisten(rheos__listener *listener);
void rheos__grpc_reply(rheos__incoming *call, rheos_code code, const char *message,
                       rheos__pieces reply);
bool rheos__grpc_is_abandoned(const rheos__incoming *call);

bool rheos__grpc_connect(const rheos__connect *options, rheos__channel **out_channel, char *error);
void rheos__grpc_disconnect(rheos__channel *channel);
void rheos__grpc_call(rheos__channel *channel, const rheos__call *call, bool (*should_stop)(void *),
                      void *should_stop_argument);
rheos__outgoing *rheos__grpc_start(rheos__channel *channel, const rheos__call *call);
void rheos__grpc_cancel(rheos__outgoing *outgoing);
void rheos__grpc_forget(rheos__outgoing *outgoing);
rheos__outgoing *rheos__grpc_hold(rheos__channel *channel, const rheos__call *call);
void rheos__grpc_let_go(rheos__outgoing *held);

#define RHEOS__GRPC_TOKEN_KEY "authorization"
#define RHEOS__GRPC_TOKEN_PREFIX "Bearer "

#endif  // RHEOS_SRC_NET_GRPC_GRPC_TRANSPORT_H
