// Reads certificates, keys and tokens from files.
#include "credentials.h"

#include <stdlib.h>
#include <string.h>

#include "files.h"

static void complete(const char **path, const char *variable) {
  if (*path == NULL) *path = getenv(variable);
  if (*path != NULL && **path == '\0') *path = NULL;
}

void credential_files_complete(credential_files *files) {
  complete(&files->ca, "RHEOS_TLS_CA");
  complete(&files->certificate, "RHEOS_TLS_CERT");
  complete(&files->private_key, "RHEOS_TLS_KEY");
  complete(&files->token, "RHEOS_TOKEN_FILE");
}

static rheos_status *read_text(const char *path, const char **out_text) {
  char *text;
  size_t size_bytes;
  if (path == NULL) return NULL;
  rheos_status *status = file_read(path, &text, &size_bytes);
  if (status == NULL) *out_text = text;
  return status;
}

// A file of one line ends with a newline, which is no part of the token.
static rheos_status *read_token(const char *path, const char **out_token) {
  rheos_status *status = read_text(path, out_token);
  if (status != NULL || *out_token == NULL) return status;
  char *text = (char *)(uintptr_t)*out_token;
  text[strcspn(text, "\r\n")] = '\0';
  return NULL;
}

rheos_status *credentials_read(const credential_files *files, rheos_credentials *out_credentials) {
  *out_credentials = (rheos_credentials){.tls_ca = NULL};
  rheos_status *status = read_text(files->ca, &out_credentials->tls_ca);
  if (status == NULL) status = read_text(files->certificate, &out_credentials->tls_certificate);
  if (status == NULL) status = read_text(files->private_key, &out_credentials->tls_private_key);
  if (status == NULL) status = read_token(files->token, &out_credentials->token);
  return status;
}

void credentials_deinit(rheos_credentials *credentials) {
  free((void *)(uintptr_t)credentials->tls_ca);
  free((void *)(uintptr_t)credentials->tls_certificate);
  free((void *)(uintptr_t)credentials->tls_private_key);
  free((void *)(uintptr_t)credentials->token);
  *credentials = (rheos_credentials){.tls_ca = NULL};
}
