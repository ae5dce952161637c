// How the two sides of a connection between processes know each other: certificates, an access
// token, or neither.
#ifndef RHEOS_CREDENTIALS_H
#define RHEOS_CREDENTIALS_H

#include <rheos/base.h>

#ifdef __cplusplus
extern "C" {
#endif

// Texts that are copied: certificates and keys as PEM. Where all are NULL the files count that the
// environment names in RHEOS_TLS_CA, RHEOS_TLS_CERT, RHEOS_TLS_KEY and RHEOS_TOKEN_FILE; where it
// names none, connections are neither encrypted nor is anybody asked who he is.
//
// A connection is encrypted (TLS) where there is a certificate or a CA. The name or address by
// which a server is called has to be in its certificate.
typedef struct rheos_credentials {
  // Who signs the certificates of the other side; NULL: who the system believes.
  const char *tls_ca RHEOS_LEFT_OUT;
  // The own certificate, then those that lead to its CA, and its private key: both or neither.
  const char *tls_certificate RHEOS_LEFT_OUT;
  const char *tls_private_key RHEOS_LEFT_OUT;
  // A secret that callers bring: printable ASCII without spaces. It goes over encrypted
  // connections, or to this machine's own addresses; others are refused.
  const char *token RHEOS_LEFT_OUT;
  const char *reserved_[4] RHEOS_LEFT_OUT;  // NULL
} rheos_credentials;

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_CREDENTIALS_H
