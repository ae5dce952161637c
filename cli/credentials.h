// Credentials in files, as `rheos serve` is told of them.
#ifndef RHEOS_CLI_CREDENTIALS_H
#define RHEOS_CLI_CREDENTIALS_H

#include <rheos/credentials.h>

// Paths; NULL: none.
typedef struct credential_files {
  const char *ca, *certificate, *private_key, *token;
} credential_files;

// Fills in files that are not given from the environment, as for every program.
void credential_files_complete(credential_files *files);
// The texts in the files, for credentials_deinit(), after a failure too.
rheos_status *credentials_read(const credential_files *files, rheos_credentials *out_credentials);
void credentials_deinit(rheos_credentials *credentials);

#endif  // RHEOS_CLI_CREDENTIALS_H
