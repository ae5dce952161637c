#include "net/credentials.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"

enum { MAX_FILE_BYTES = 1 << 20 };

// ---- Texts

// Never of the error: it is secret.
static rheos_status *check_token(const char *token) {
  for (const char *c = token; *c != '\0'; c++) {
    if (*c <= ' ' || *c > '~') {
      return RHEOS_INVALID("an access token is printable ASCII without spaces");
    }
  }
  return token[0] != '\0' ? NULL : RHEOS_INVALID("the access token is empty");
}

static rheos_status *check_pem(const char *text, const char *what, const char *begin) {
  if (text == NULL || strstr(text, begin) != NULL) return NULL;
  return RHEOS_INVALID("%s is no PEM text: nothing in it begins with \"%s\"", what, begin);
}

static rheos_status *check(const rheos__credentials *c) {
  const rheos__keys *keys = &c->keys;
  RHEOS_TRY(check_pem(keys->roots, "the CA (tls_ca)", "-----BEGIN CERTIFICATE-----"));
  RHEOS_TRY(check_pem(keys->certificate, "the certificate", "-----BEGIN CERTIFICATE-----"));
  RHEOS_TRY(check_pem(keys->private_key, "the private key", "-----BEGIN "));
  if ((keys->certificate == NULL) != (keys->private_key == NULL)) {
    return RHEOS_INVALID("a certificate needs its private key, and a private key its certificate");
  }
  return c->token != NULL ? check_token(c->token) : NULL;
}

static rheos_status *copy(const char *text, const char **out_text) {
  *out_text = text != NULL ? rheos__strdup(text) : NULL;
  return text == NULL || *out_text != NULL ? NULL : rheos__out_of_memory();
}

static rheos_status *copy_all(rheos__credentials *c, const rheos_credentials *given) {
  const char *token;
  RHEOS_TRY(copy(given->tls_ca, &c->keys.roots));
  RHEOS_TRY(copy(given->tls_certificate, &c->keys.certificate));
  RHEOS_TRY(copy(given->tls_private_key, &c->keys.private_key));
  RHEOS_TRY(copy(given->token, &token));
  c->token = (char *)(uintptr_t)token;
  return NULL;
}

// ---- The environment's

static rheos_status *read_file(const char *variable, const char **out_text) {
  const char *path = getenv(variable);
  char *text;
  size_t size_bytes;
  if (path == NULL || path[0] == '\0') return NULL;
  rheos_status *status = rheos__file_read_all(path, MAX_FILE_BYTES, &text, &size_bytes);
  if (status == NULL) {
    *out_text = text;
    return NULL;
  }
  rheos_status *told =
      rheos_status_new(rheos_status_code(status), "%s: %s", variable, rheos_status_message(status));
  rheos_status_free(status);
  return told;
}

static rheos_status *read_all(rheos__credentials *c) {
  const char *token = NULL;
  RHEOS_TRY(read_file("RHEOS_TLS_CA", &c->keys.roots));
  RHEOS_TRY(read_file("RHEOS_TLS_CERT", &c->keys.certificate));
  RHEOS_TRY(read_file("RHEOS_TLS_KEY", &c->keys.private_key));
  RHEOS_TRY(read_file("RHEOS_TOKEN_FILE", &token));
  c->token = (char *)(uintptr_t)token;
  // A file of one line ends with a newline, which is no part of the token.
  if (c->token != NULL) c->token[strcspn(c->token, "\r\n")] = '\0';
  return NULL;
}

// ---- Both

rheos_status *rheos__credentials_init(rheos__credentials *credentials,
                                      const rheos_credentials *given) {
  *credentials = (rheos__credentials){.token = NULL};
  const bool are_given =
      given != NULL && (given->tls_ca != NULL || given->token != NULL ||
                        given->tls_certificate != NULL || given->tls_private_key != NULL);
  RHEOS_TRY(are_given ? copy_all(credentials, given) : read_all(credentials));
  return check(credentials);
}

static void free_text(const char *text) { rheos__free((void *)(uintptr_t)text); }

void rheos__credentials_deinit(rheos__credentials *credentials) {
  free_text(credentials->keys.roots);
  free_text(credentials->keys.certificate);
  free_text(credentials->keys.private_key);
  free_text(credentials->token);
  *credentials = (rheos__credentials){.token = NULL};
}

// ---- Use

bool rheos__is_loopback(const char *address) {
  static const char *const names[] = {"localhost", "127.", "[::1]", "unix:"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const size_t size = strlen(names[i]);
    if (strncmp(address, names[i], size) != 0) continue;
    if (i != 0 || address[size] == ':' || address[size] == '\0') return true;
  }
  return false;
}

rheos_status *rheos__credentials_listen(const rheos__credentials *credentials,
                                        bool takes_callers_without_certificate,
                                        rheos__listen *listen) {
  const bool is_encrypted = credentials->keys.certificate != NULL;
  if (credentials->token != NULL && !is_encrypted && !rheos__is_loopback(listen->address)) {
    return RHEOS_INVALID(
        "at %s others could read the access token: it needs a certificate (TLS) there",
        listen->address);
  }
  listen->keys = is_encrypted ? &credentials->keys : NULL;
  listen->takes_callers_without_certificate = takes_callers_without_certificate;
  listen->token = credentials->token;
  return NULL;
}

rheos_status *rheos__credentials_connect(const rheos__credentials *credentials,
                                         const rheos__transport *transport, const char *who,
                                         const char *address, rheos__channel **out_channel) {
  const rheos__keys *keys = &credentials->keys;
  const bool is_encrypted = keys->roots != NULL || keys->certificate != NULL;
  char error[RHEOS__TRANSPORT_ERROR_BYTES];
  const rheos__connect wanted = {
      .address = address, .keys = is_encrypted ? keys : NULL, .token = credentials->token};
  *out_channel = NULL;
  if (wanted.token != NULL && !is_encrypted && !rheos__is_loopback(address)) {
    return rheos_status_new(
        RHEOS_UNAUTHENTICATED,
        "%s at %s: the access token is not sent there without TLS, since others could read it", who,
        address);
  }
  if (transport->connect(&wanted, out_channel, error)) return NULL;
  return rheos_status_new(RHEOS_UNAVAILABLE, "%s at %s: %s", who, address, error);
}
