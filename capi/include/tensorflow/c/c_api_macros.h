// What declarations of the interface begin with, and its boolean.
#ifndef TENSORFLOW_C_C_API_MACROS_H_
#define TENSORFLOW_C_C_API_MACROS_H_

// With TF_CAPI_WEAK a program can be linked without the library, and asks whether a function is
// NULL.
#if defined(SWIG) || !defined(__GNUC__)
#define TF_CAPI_EXPORT
#elif defined(TF_CAPI_WEAK)
#define TF_CAPI_EXPORT __attribute__((visibility("default"), weak))
#else
#define TF_CAPI_EXPORT __attribute__((visibility("default")))
#endif

#ifndef TF_Bool
#define TF_Bool unsigned char
#endif

// How large a struct is up to the end of a member.
#ifndef TF_OFFSET_OF_END
#define TF_OFFSET_OF_END(TYPE, MEMBER) (offsetof(TYPE, MEMBER) + sizeof(((TYPE *)0)->MEMBER))
#endif

#endif  // TENSORFLOW_C_C_API_MACROS_H_
