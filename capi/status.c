// Statuses: a code, a message, and texts by keys.
#include "handles.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>

typedef struct payload {
  struct payload *next;
  char *value;
  char key[];
} payload;

struct TSL_Status {
  TF_Code code;
  char *message;      // NULL: none, or there was no memory for it
  payload *payloads;  // the latest first
};

TF_Status *TF_NewStatus(void) { return calloc(1, sizeof(TF_Status)); }

static void clear(TF_Status *status) {
  free(status->message);
  status->message = NULL;
  while (status->payloads != NULL) {
    payload *next = status->payloads->next;
    free(status->payloads->value);
    free(status->payloads);
    status->payloads = next;
  }
  status->code = TF_OK;
}

void TF_DeleteStatus(TF_Status *status) {
  if (status == NULL) return;
  clear(status);
  free(status);
}

void TF_SetStatus(TF_Status *status, TF_Code code, const char *message) {
  if (status == NULL) return;
  char *copy = code == TF_OK || message == NULL ? NULL : strdup(message);
  clear(status);
  status->code = code;
  status->message = copy;
}

void TF_SetPayload(TF_Status *status, const char *key, const char *value) {
  if (status == NULL || key == NULL || value == NULL || status->code == TF_OK) return;
  char *copy = strdup(value);
  payload *found = status->payloads;
  while (found != NULL && strcmp(found->key, key) != 0) found = found->next;
  if (found == NULL && copy != NULL) {
    found = calloc(1, sizeof *found + strlen(key) + 1);
    if (found != NULL) {
      strcpy(found->key, key);
      found->next = status->payloads;
      status->payloads = found;
    }
  }
  if (found == NULL || copy == NULL) {
    free(copy);
    return;
  }
  free(found->value);
  found->value = copy;
}

void TF_ForEachPayload(const TF_Status *status, TF_PayloadVisitor visitor, void *capture) {
  if (status == NULL || visitor == NULL) return;
  for (const payload *p = status->payloads; p != NULL; p = p->next) {
    visitor(p->key, p->value, capture);
  }
}

static TF_Code code_of_errno(int error) {
  switch (error) {
    case 0: return TF_OK;
    case EINVAL:
    case ENAMETOOLONG:
    case E2BIG:
    case EDESTADDRREQ:
    case EDOM:
    case EFAULT:
    case EILSEQ:
    case ENOPROTOOPT:
    case ENOSTR:
    case ENOTSOCK:
    case ENOTTY:
    case EPROTOTYPE:
    case ESPIPE: return TF_INVALID_ARGUMENT;
    case ETIMEDOUT:
    case ETIME: return TF_DEADLINE_EXCEEDED;
    case ENODEV:
    case ENOENT:
    case ENXIO:
    case ESRCH: return TF_NOT_FOUND;
    case EEXIST:
    case EADDRNOTAVAIL:
    case EALREADY: return TF_ALREADY_EXISTS;
    case EPERM:
    case EACCES:
    case EROFS: return TF_PERMISSION_DENIED;
    case ENOTEMPTY:
    case EISDIR:
    case ENOTDIR:
    case EADDRINUSE:
    case EBADF:
    case EBUSY:
    case ECHILD:
    case EISCONN:
    case ENOTBLK:
    case ENOTCONN:
    case EPIPE:
    case ETXTBSY: return TF_FAILED_PRECONDITION;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case EMLINK:
    case ENFILE:
    case ENOBUFS:
    case ENODATA:
    case ENOMEM:
    case ENOSR:
    case EUSERS: return TF_RESOURCE_EXHAUSTED;
    case EFBIG:
    case EOVERFLOW:
    case ERANGE: return TF_OUT_OF_RANGE;
    case ENOSYS:
    case ENOTSUP:
    case EAFNOSUPPORT:
    case EPFNOSUPPORT:
    case EPROTONOSUPPORT:
    case ESOCKTNOSUPPORT:
    case EXDEV: return TF_UNIMPLEMENTED;
    case EAGAIN:
    case ECONNREFUSED:
    case ECONNABORTED:
    case ECONNRESET:
    case EINTR:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENETDOWN:
    case ENETRESET:
    case ENETUNREACH:
    case ENOLCK:
    case ENOLINK: return TF_UNAVAILABLE;
    case EDEADLK:
    case ESTALE: return TF_ABORTED;
    case ECANCELED: return TF_CANCELLED;
    default: return TF_UNKNOWN;
  }
}

void TF_SetStatusFromIOError(TF_Status *status, int error_code, const char *context) {
  char text[128] = "";
  const char *told = strerror_r(error_code, text, sizeof text);
  if (error_code == 0) {
    capi_succeed(status);
  } else {
    capi_fail(status, code_of_errno(error_code), "%s; %s", context == NULL ? "" : context, told);
  }
}

TF_Code TF_GetCode(const TF_Status *status) { return status == NULL ? TF_OK : status->code; }

const char *TF_Message(const TF_Status *status) {
  return status == NULL || status->message == NULL ? "" : status->message;
}

void TF_MakeInternalErrorStatus(TF_Status *status, const char *message) {
  TF_SetStatus(status, TF_INTERNAL, message);
}

void capi_succeed(TF_Status *status) {
  if (status != NULL) clear(status);
}

void capi_fail(TF_Status *status, TF_Code code, const char *format, ...) {
  if (status == NULL) return;
  clear(status);
  status->code = code;
  va_list arguments;
  va_start(arguments, format);
  if (vasprintf(&status->message, format, arguments) < 0) status->message = NULL;
  va_end(arguments);
}

void capi_fail_for_memory(TF_Status *status) {
  capi_fail(status, TF_RESOURCE_EXHAUSTED, "out of memory");
}

bool capi_take(TF_Status *status, rheos_status *error) {
  if (error == NULL) return true;
  TF_SetStatus(status, (TF_Code)rheos_status_code(error), rheos_status_message(error));
  rheos_status_free(error);
  return false;
}

bool capi_need(const void *argument, const char *name, TF_Status *status) {
  if (argument != NULL) return true;
  capi_fail(status, TF_INVALID_ARGUMENT, "%s is NULL", name);
  return false;
}
