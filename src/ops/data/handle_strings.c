#include "ops/data/handle_strings.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "ops/kit/op_util.h"
#include "resource/resource.h"

struct rheos__handle_strings {
  rheos__resource base;
  pthread_mutex_t mutex;
  rheos__variant **objects;  // that strings were made of, by number
  size_t count, capacity;
};

static rheos_status *init_strings(rheos__resource *resource, const void *argument) {
  (void)argument;
  pthread_mutex_init(&((rheos__handle_strings *)resource)->mutex, NULL);
  return NULL;
}

static void deinit_strings(rheos__resource *resource) {
  rheos__handle_strings *s = (rheos__handle_strings *)resource;
  for (size_t i = 0; i < s->count; ++i) rheos__variant_unref(s->objects[i]);
  rheos__free(s->objects);
  pthread_mutex_destroy(&s->mutex);
}

static const rheos__resource_kind strings_kind = {
    "iterators named by strings", sizeof(rheos__handle_strings), init_strings, deinit_strings};

rheos_status *rheos__handle_strings_get(const rheos__prepare *p,
                                        rheos__handle_strings **out_strings) {
  return rheos__resources_get(p->resources, &strings_kind, "", NULL,
                              (rheos__resource **)out_strings);
}

void rheos__handle_strings_unref(rheos__handle_strings *strings) {
  if (strings != NULL) rheos__resource_unref(&strings->base);
}

static rheos_status *number_of(rheos__handle_strings *s, rheos__variant *object,
                               size_t *out_number) {
  rheos_status *status = NULL;
  pthread_mutex_lock(&s->mutex);
  size_t i = 0;
  while (i < s->count && s->objects[i] != object) ++i;
  if (i == s->count) {
    if (RHEOS_RESERVE(s->objects, s->capacity, i + 1)) {
      s->objects[s->count++] = rheos__variant_ref(object);
    } else {
      status = rheos__out_of_memory();
    }
  }
  pthread_mutex_unlock(&s->mutex);
  *out_number = i;
  return status;
}

#define PREFIX "iterator:"

// The address of the strings' home tells them from those of other sessions.
rheos_status *rheos__handle_string_new(rheos__handle_strings *strings, rheos__variant *object,
                                       rheos_tensor **out_string) {
  size_t number = 0;
  char text[80];
  *out_string = NULL;
  RHEOS_TRY(number_of(strings, object, &number));
  const int length = snprintf(text, sizeof text, PREFIX "%p:%zu", (void *)strings, number);
  RHEOS_TRY(rheos__tensor_new(RHEOS_STRING, &RHEOS_SCALAR, out_string));
  return rheos_tensor_set_string(*out_string, 0, text, (size_t)length);
}

rheos_status *rheos__handle_string_find(rheos__handle_strings *strings, const rheos_tensor *string,
                                        const rheos__variant_kind *kind,
                                        rheos__variant **out_object) {
  char text[80], mine[80];
  *out_object = NULL;
  if (string->num_elements != 1) return RHEOS_INVALID("string_handle must be a scalar");
  const rheos_string *given = string->data;
  if (given->size_bytes >= sizeof text) return RHEOS_INVALID("this is no handle of an iterator");
  if (given->size_bytes > 0) memcpy(text, given->data, given->size_bytes);
  text[given->size_bytes] = 0;
  const int length = snprintf(mine, sizeof mine, PREFIX "%p:", (void *)strings);
  if (strncmp(text, mine, (size_t)length) != 0) {
    return RHEOS_INVALID("\"%s\" is no handle of an iterator of this session", text);
  }
  char *end;
  const unsigned long long number = strtoull(text + length, &end, 10);
  pthread_mutex_lock(&strings->mutex);
  if (*end == 0 && end > text + length && number < strings->count) {
    *out_object = rheos__variant_ref(strings->objects[number]);
  }
  pthread_mutex_unlock(&strings->mutex);
  if (*out_object == NULL) return RHEOS_NOTFOUND("there is no iterator of handle \"%s\"", text);
  if ((*out_object)->kind == kind) return NULL;
  rheos_status *status = RHEOS_INVALID("\"%s\" is the handle of a %s, not of a %s", text,
                                       (*out_object)->kind->name, kind->name);
  rheos__variant_unref(*out_object);
  *out_object = NULL;
  return status;
}
