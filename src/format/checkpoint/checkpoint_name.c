// Names of checkpoints. What was saved under exactly this name comes first, so nothing that could
// be named before means anything else.
#include "format/checkpoint/checkpoint_name.h"

#include <ctype.h>
#include <rheos/format.h>

#include "base/alloc.h"
#include "base/file.h"

static bool are_digits(const char *text, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!isdigit((unsigned char)text[i])) return false;
  }
  return true;
}

// The length of the prefix before ".index" or ".data-00000-of-00001"; 0 if the name ends otherwise.
static size_t prefix_length(const char *name) {
  const size_t length = strlen(name), index = strlen(".index");
  const size_t data = strlen(".data-00000-of-00001");
  if (length > index && strcmp(name + length - index, ".index") == 0) return length - index;
  if (length <= data) return 0;
  const char *end = name + length - data;
  const bool is_data = strncmp(end, ".data-", 6) == 0 && are_digits(end + 6, 5) &&
                       strncmp(end + 11, "-of-", 4) == 0 && are_digits(end + 15, 5);
  return is_data ? length - data : 0;
}

// Opens the checkpoint whose file the name is; leaves *out_bundle NULL if it is no such file.
static rheos_status *open_by_file(const char *name, rheos__bundle **out_bundle) {
  const size_t length = prefix_length(name);
  if (length == 0) return NULL;
  char *prefix = rheos__strndup(name, length);
  if (prefix == NULL) return rheos__out_of_memory();
  rheos_status *status = rheos__bundle_open(prefix, out_bundle);
  rheos__free(prefix);
  if (rheos_status_code(status) != RHEOS_NOT_FOUND) return status;
  rheos_status_free(status);
  return NULL;
}

static rheos_status *open_exactly(const char *name, rheos__bundle **out_bundle,
                                  rheos__v1_checkpoint **out_v1) {
  rheos_status *status = rheos__bundle_open(name, out_bundle);
  if (rheos_status_code(status) != RHEOS_NOT_FOUND) return status;
  rheos_status_free(status);
  RHEOS_TRY(open_by_file(name, out_bundle));
  return *out_bundle != NULL ? NULL : rheos__v1_checkpoint_open(name, out_v1);
}

static rheos_status *newest(const char *folder, char **out_prefix) {
  RHEOS_TRY(rheos_latest_checkpoint(folder, NULL, out_prefix));
  if (*out_prefix != NULL) return NULL;
  return RHEOS_NOTFOUND(
      "the folder '%s' has no checkpoint: no file 'checkpoint', or what it names "
      "is gone",
      folder);
}

static rheos_status *open_newest(const char *folder, rheos__bundle **out_bundle,
                                 rheos__v1_checkpoint **out_v1) {
  char *prefix;
  RHEOS_TRY(newest(folder, &prefix));
  rheos_status *status = open_exactly(prefix, out_bundle, out_v1);
  rheos_free(prefix);
  return status;
}

rheos_status *rheos__checkpoint_open(const char *name, rheos__bundle **out_bundle,
                                     rheos__v1_checkpoint **out_v1) {
  *out_bundle = NULL;
  *out_v1 = NULL;
  bool is_folder;
  RHEOS_TRY(rheos__file_is_folder(name, &is_folder));
  if (!is_folder) return open_exactly(name, out_bundle, out_v1);
  // "logs" may be a folder and a prefix, of "logs.index", too.
  rheos_status *status = rheos__bundle_open(name, out_bundle);
  if (rheos_status_code(status) != RHEOS_NOT_FOUND) return status;
  rheos_status_free(status);
  return open_newest(name, out_bundle, out_v1);
}

rheos_status *rheos__checkpoint_prefix(const char *name, char **out_prefix) {
  *out_prefix = NULL;
  char *index = rheos__text_format("%s.index", name);
  if (index == NULL) return rheos__out_of_memory();
  bool is_prefix, is_folder = false;
  rheos_status *status = rheos__file_exists(index, &is_prefix);
  rheos__free(index);
  if (status == NULL) status = rheos__file_is_folder(name, &is_folder);
  if (status != NULL) return status;
  if (is_folder && !is_prefix) return newest(name, out_prefix);
  const size_t length = is_prefix ? 0 : prefix_length(name);
  *out_prefix = length > 0 ? rheos__strndup(name, length) : rheos__strdup(name);
  return *out_prefix != NULL ? NULL : rheos__out_of_memory();
}
