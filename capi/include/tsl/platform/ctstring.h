// The elements of string tensors: 24 bytes that programs may read and write themselves.
//
// The low two bits of the first byte are the type. A small string is in the struct. A large one is
// of malloc(), and the string's own. The bytes of a view and of an offset are somebody else's.
// Little-endian machines only.
#ifndef TSL_PLATFORM_CTSTRING_H_
#define TSL_PLATFORM_CTSTRING_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef enum TF_TString_Type {
  TF_TSTR_SMALL = 0,
  TF_TSTR_LARGE = 1,
  TF_TSTR_OFFSET = 2,
  TF_TSTR_VIEW = 3,
  TF_TSTR_TYPE_MASK = 3,
} TF_TString_Type;

// Who holds the bytes of a view, counted; NULL in a view: nobody.
struct TStringOwnerCApi;
typedef void (*tstring_owner_ref_t)(struct TStringOwnerCApi *self);
typedef bool (*tstring_owner_unref_t)(struct TStringOwnerCApi *self);
typedef struct TStringOwnerCApi {
  tstring_owner_ref_t ref;
  tstring_owner_unref_t unref;
  void *obj;
} TStringOwnerCApi;

enum { TF_TString_SmallCapacity = 22 };

// Sizes have the type in their low two bits.
typedef struct TF_TString_Small {
  uint8_t size;
  char str[TF_TString_SmallCapacity + 1];  // with a NUL
} TF_TString_Small;

typedef struct TF_TString_Large {
  size_t size;
  size_t cap;  // without the NUL
  char *ptr;
} TF_TString_Large;

typedef struct TF_TString_Offset {
  uint32_t size;
  uint32_t offset;  // of the bytes, from the struct on
  uint32_t count;
} TF_TString_Offset;

typedef struct TF_TString_View {
  size_t size;
  const char *ptr;
  TStringOwnerCApi *owner_ref;
} TF_TString_View;

typedef struct TF_TString_Raw {
  uint8_t raw[24];
} TF_TString_Raw;

typedef struct TF_TString {
  union {
    TF_TString_Small smll;
    TF_TString_Large large;
    TF_TString_Offset offset;
    TF_TString_View view;
    TF_TString_Raw raw;
  } u;
} TF_TString;

static inline TF_TString_Type TF_TString_GetType(const TF_TString *str) {
  return (TF_TString_Type)(str->u.raw.raw[0] & TF_TSTR_TYPE_MASK);
}

static inline size_t TF_TString_GetSize(const TF_TString *str) {
  switch (TF_TString_GetType(str)) {
    case TF_TSTR_SMALL: return str->u.smll.size >> 2;
    case TF_TSTR_OFFSET: return str->u.offset.size >> 2;
    default: return str->u.large.size >> 2;  // a view's size lies there too
  }
}

static inline size_t TF_TString_GetCapacity(const TF_TString *str) {
  switch (TF_TString_GetType(str)) {
    case TF_TSTR_SMALL: return TF_TString_SmallCapacity;
    case TF_TSTR_LARGE: return str->u.large.cap;
    default: return 0;
  }
}

static inline const char *TF_TString_GetDataPointer(const TF_TString *str) {
  switch (TF_TString_GetType(str)) {
    case TF_TSTR_SMALL: return str->u.smll.str;
    case TF_TSTR_LARGE: return str->u.large.ptr;
    case TF_TSTR_OFFSET: return (const char *)str + str->u.offset.offset;
    default: return str->u.view.ptr;
  }
}

static inline void TF_TString_Init(TF_TString *str) { memset(str, 0, sizeof *str); }

static inline void TF_TString_Dealloc(TF_TString *str) {
  TF_TString_Type type = TF_TString_GetType(str);
  if (type == TF_TSTR_LARGE) free(str->u.large.ptr);
  if (type == TF_TSTR_VIEW && str->u.view.owner_ref != NULL) {
    (void)str->u.view.owner_ref->unref(str->u.view.owner_ref);
  }
  if (type == TF_TSTR_LARGE || type == TF_TSTR_VIEW) TF_TString_Init(str);
}

// Room for `size` bytes and a NUL in a string of its own, with the first bytes that it had. NULL
// when memory is short: then the string is as before.
static inline char *TF_TString_Own_(TF_TString *str, size_t size, size_t capacity) {
  TF_TString old = *str;
  size_t old_size = TF_TString_GetSize(str);
  const char *bytes =
      TF_TString_GetType(str) == TF_TSTR_SMALL ? old.u.smll.str : TF_TString_GetDataPointer(str);
  size_t kept = old_size < size ? old_size : size;
  TF_TString made;
  char *to = made.u.smll.str;
  TF_TString_Init(&made);
  if (capacity > TF_TString_SmallCapacity) {
    capacity = ((capacity + 16) & ~(size_t)15) - 1;
    to = (char *)malloc(capacity + 1);
    if (to == NULL) return NULL;
    made.u.large.size = size << 2 | TF_TSTR_LARGE;
    made.u.large.cap = capacity;
    made.u.large.ptr = to;
  } else {
    made.u.smll.size = (uint8_t)(size << 2);
  }
  if (kept > 0) memcpy(to, bytes, kept);
  to[size] = '\0';
  *str = made;
  TF_TString_Dealloc(&old);
  return capacity > TF_TString_SmallCapacity ? str->u.large.ptr : str->u.smll.str;
}

// The bytes of a string of that size, to be written; NULL when memory is short.
static inline char *TF_TString_ResizeUninitialized(TF_TString *str, size_t new_size) {
  if (TF_TString_GetType(str) == TF_TSTR_LARGE && new_size > TF_TString_SmallCapacity &&
      new_size <= str->u.large.cap && new_size >= str->u.large.cap / 2) {
    str->u.large.size = new_size << 2 | TF_TSTR_LARGE;
    str->u.large.ptr[new_size] = '\0';
    return str->u.large.ptr;
  }
  return TF_TString_Own_(str, new_size, new_size);
}

static inline char *TF_TString_Resize(TF_TString *str, size_t new_size, char c) {
  size_t old_size = TF_TString_GetSize(str);
  char *bytes = TF_TString_ResizeUninitialized(str, new_size);
  if (bytes != NULL && new_size > old_size) memset(bytes + old_size, c, new_size - old_size);
  return bytes;
}

static inline char *TF_TString_GetMutableDataPointer(TF_TString *str) {
  switch (TF_TString_GetType(str)) {
    case TF_TSTR_SMALL: return str->u.smll.str;
    case TF_TSTR_LARGE: return str->u.large.ptr;
    default: return TF_TString_ResizeUninitialized(str, TF_TString_GetSize(str));
  }
}

static inline void TF_TString_Reserve(TF_TString *str, size_t new_cap) {
  size_t size = TF_TString_GetSize(str);
  if (new_cap <= TF_TString_SmallCapacity || new_cap <= TF_TString_GetCapacity(str)) return;
  (void)TF_TString_Own_(str, size, new_cap > size ? new_cap : size);
}

static inline void TF_TString_ReserveAmortized(TF_TString *str, size_t new_cap) {
  size_t twice = 2 * TF_TString_GetCapacity(str);
  if (new_cap > twice / 2) TF_TString_Reserve(str, new_cap > twice ? new_cap : twice);
}

static inline void TF_TString_AssignViewWithOwner(TF_TString *dst, const char *src, size_t size,
                                                  TStringOwnerCApi *owner_ref) {
  if (owner_ref != NULL) owner_ref->ref(owner_ref);
  TF_TString_Dealloc(dst);
  dst->u.view.size = size << 2 | TF_TSTR_VIEW;
  dst->u.view.ptr = src;
  dst->u.view.owner_ref = owner_ref;
}

static inline void TF_TString_AssignView(TF_TString *dst, const char *src, size_t size) {
  TF_TString_AssignViewWithOwner(dst, src, size, NULL);
}

static inline void TF_TString_AppendN(TF_TString *dst, const char *src, size_t size) {
  size_t old_size = TF_TString_GetSize(dst);
  char *bytes;
  if (size == 0) return;
  TF_TString_ReserveAmortized(dst, old_size + size);
  bytes = TF_TString_ResizeUninitialized(dst, old_size + size);
  if (bytes != NULL) memcpy(bytes + old_size, src, size);
}

static inline void TF_TString_Append(TF_TString *dst, const TF_TString *src) {
  TF_TString_AppendN(dst, TF_TString_GetDataPointer(src), TF_TString_GetSize(src));
}

static inline void TF_TString_Copy(TF_TString *dst, const char *src, size_t size) {
  char *bytes = TF_TString_ResizeUninitialized(dst, size);
  if (bytes != NULL && size > 0) memcpy(bytes, src, size);
}

// Of a large string a copy; of a small one and of a view the same; of an offset a view.
static inline void TF_TString_Assign(TF_TString *dst, const TF_TString *src) {
  TF_TString_Type type = TF_TString_GetType(src);
  if (dst == src) return;
  if (type == TF_TSTR_OFFSET) {
    TF_TString_AssignView(dst, TF_TString_GetDataPointer(src), TF_TString_GetSize(src));
  } else if (type == TF_TSTR_LARGE) {
    TF_TString_Dealloc(dst);
    TF_TString_Copy(dst, TF_TString_GetDataPointer(src), TF_TString_GetSize(src));
  } else {
    if (type == TF_TSTR_VIEW && src->u.view.owner_ref != NULL) {
      src->u.view.owner_ref->ref(src->u.view.owner_ref);
    }
    TF_TString_Dealloc(dst);
    *dst = *src;
  }
}

static inline void TF_TString_Move(TF_TString *dst, TF_TString *src) {
  if (dst == src) return;
  if (TF_TString_GetType(src) == TF_TSTR_OFFSET) {
    TF_TString_AssignView(dst, TF_TString_GetDataPointer(src), TF_TString_GetSize(src));
    return;
  }
  TF_TString_Dealloc(dst);
  *dst = *src;
  if (TF_TString_GetType(src) != TF_TSTR_SMALL) TF_TString_Init(src);
}

#endif  // TSL_PLATFORM_CTSTRING_H_
