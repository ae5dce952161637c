#include "net/grpc/grpc_transport.h"

__attribute__((visibility("default"))) extern const rheos__transport rheos__grpc_transport;
const rheos__transport rheos__grpc_transport = {
    .version = RHEOS_VERSION_STRING,
    .listen = rheos__grpc_listen,
    .port = rheos__grpc_port,
    .stop = rheos__grpc_stop,
    .unlisten = rheos__grpc_unlisten,
    .reply = rheos__grpc_reply,
    .is_abandoned = rheos__grpc_is_abandoned,
    .connect = rheos__grpc_connect,
    .disconnect = rheos__grpc_disconnect,
    .call = rheos__grpc_call,
    .start = rheos__grpc_start,
    .cancel = rheos__grpc_cancel,
    .forget = rheos__grpc_forget,
    .hold = rheos__grpc_hold,
    .let_go = rheos__grpc_let_go,
};
