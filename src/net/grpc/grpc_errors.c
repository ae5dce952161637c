// What gRPC says of connections that did not come about, as a reader needs it told: the texts are
// those of its TLS library, which name neither side.
#include "net/grpc/grpc_transport.h"

typedef struct reason {
  const char *text;  // in gRPC's message
  const char *meaning;
} reason;

// In all of them one side cannot be sure of the other: waiting does not help.
static const reason refusals[] = {
    {"certificate verify failed",
     "its certificate is not accepted: it has expired, is not valid yet, or the CA (tls_ca) has "
     "not "
     "signed it"},
    {"is not in peer certificate", "its certificate is not for the name it is called by"},
    {"wrong version number", "it does not speak TLS"},
    {"certificate required", "it wants a certificate to be shown, which is missing here"},
    {"alert bad certificate", "it does not accept the certificate shown"},
    {"alert unknown ca", "it does not accept the certificate shown"},
    {"alert certificate expired", "the certificate shown to it has expired"},
};

// A server that refuses a connection closes it without a word.
static const char *why_closed(const rheos__grpc_identity *identity) {
  if (!identity->is_encrypted) return "it closed the connection: it may want TLS";
  if (!identity->has_certificate) return "it closed the connection: it may want a certificate";
  return "it closed the connection: it may not accept the certificate shown";
}

const char *rheos__grpc_explain(const char *message, const rheos__grpc_identity *identity,
                                rheos_code *code) {
  if (*code != RHEOS_UNAVAILABLE || strstr(message, "failed to connect") == NULL) return NULL;
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    if (strstr(message, refusals[i].text) == NULL) continue;
    *code = RHEOS_UNAUTHENTICATED;
    return refusals[i].meaning;
  }
  return strstr(message, "Socket closed") != NULL ? why_closed(identity) : NULL;
}
