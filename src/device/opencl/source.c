#include "device/opencl/source.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "opencl/group.inc"
#include "opencl/prelude.inc"
#include "opencl/special_integrals.inc"
#include "opencl/special_math.inc"

static const rheos__cl_dtype dtypes[RHEOS__NUM_DTYPES] = {
    [RHEOS_FLOAT] = {"float", "float", "float", "(", "(float)(", "(-INFINITY)", "INFINITY"},
    [RHEOS_DOUBLE] = {"double", "double", "double", "(", "(double)(", "(-INFINITY)", "INFINITY"},
    [RHEOS_HALF] = {"ushort", "float", "float", "half_to_float(", "float_to_half(", "(-INFINITY)",
                    "INFINITY"},
    [RHEOS_BFLOAT16] = {"ushort", "float", "float", "bfloat16_to_float(", "float_to_bfloat16(",
                        "(-INFINITY)", "INFINITY"},
    [RHEOS_INT8] = {"char", "char", "uint", "(", "(char)(", "CHAR_MIN", "CHAR_MAX"},
    [RHEOS_INT16] = {"short", "short", "uint", "(", "(short)(", "SHRT_MIN", "SHRT_MAX"},
    [RHEOS_INT32] = {"int", "int", "uint", "(", "(int)(", "INT_MIN", "INT_MAX"},
    [RHEOS_INT64] = {"long", "long", "ulong", "(", "(long)(", "LONG_MIN", "LONG_MAX"},
    [RHEOS_UINT8] = {"uchar", "uchar", "uint", "(", "(uchar)(", "0", "UCHAR_MAX"},
    [RHEOS_UINT16] = {"ushort", "ushort", "uint", "(", "(ushort)(", "0", "USHRT_MAX"},
    [RHEOS_UINT32] = {"uint", "uint", "uint", "(", "(uint)(", "0", "UINT_MAX"},
    [RHEOS_UINT64] = {"ulong", "ulong", "ulong", "(", "(ulong)(", "0", "ULONG_MAX"},
    [RHEOS_BOOL] = {"uchar", "int", "uint", "!!(", "(uchar)!!(", "0", "1"},
};

const rheos__cl_dtype *rheos__cl_dtype_of(const rheos__card *card, rheos_dtype dtype) {
  if ((size_t)dtype >= RHEOS__NUM_DTYPES || dtypes[dtype].stored == NULL) return NULL;
  return dtype != RHEOS_DOUBLE || card->has_double ? &dtypes[dtype] : NULL;
}

const char *rheos__cl_least_of(rheos_dtype dtype, const rheos__cl_dtype *written) {
  switch (dtype) {
    case RHEOS_FLOAT: return "-FLT_MAX";
    case RHEOS_DOUBLE: return "-DBL_MAX";
    case RHEOS_HALF: return "-65504.0f";
    case RHEOS_BFLOAT16: return "-0x1.fep127f";
    default: return written->lowest;
  }
}

bool rheos__cl_can_write(const char *formula) {
  static const char *const missing[] = {"rheos__", "__builtin", "creal", "_Complex"};
  for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
    if (strstr(formula, missing[i]) != NULL) return false;
  }
  return true;
}

bool rheos__cl_is_special(const char *formula) {
  static const char ours[] = "rheos__";
  const char *at = strstr(formula, ours);
  for (const char *next = at; next != NULL; next = strstr(next + 1, ours)) {
    char head[64];
    snprintf(head, sizeof head, "\ndouble %.*s(", (int)strcspn(next, "("), next);
    if (strstr(rheos__cl_special_math, head) == NULL &&
        strstr(rheos__cl_special_integrals, head) == NULL) {
      return false;
    }
  }
  return at != NULL;
}

void rheos__cl_add_special(rheos__text *text) {
  rheos__text_add_string(text, rheos__cl_special_math);
  rheos__text_add_string(text, rheos__cl_special_integrals);
}

void rheos__cl_add_prelude(rheos__text *text) { rheos__text_add_string(text, rheos__cl_prelude); }

void rheos__cl_add(rheos__text *text, const char *format, ...) {
  char piece[1024];
  va_list arguments;
  va_start(arguments, format);
  const int size = vsnprintf(piece, sizeof piece, format, arguments);
  va_end(arguments);
  if (size < 0 || size >= (int)sizeof piece) {
    text->failed = true;
  } else {
    rheos__text_add(text, piece, (size_t)size);
  }
}

void rheos__cl_add_types(rheos__text *text, const rheos__cl_dtype *dtype) {
  rheos__cl_add(text, "typedef %s C; typedef %s wrapping;", dtype->computed, dtype->wrapping);
}

void rheos__cl_add_macros(rheos__text *text, const rheos__cl_dtype *dtype) {
  rheos__cl_add(text,
                "#define STORED %s\n#define COMPUTED %s\n#define LOAD(v) %sv)\n"
                "#define STORE(v) %sv)\n",
                dtype->stored, dtype->computed, dtype->load, dtype->store);
}

const char *rheos__cl_word_of(size_t size_bytes) {
  switch (size_bytes) {
    case 1: return "uchar";
    case 2: return "ushort";
    case 4: return "uint";
    case 8: return "ulong";
    default: return size_bytes == 16 ? "ulong2" : NULL;
  }
}

const char *rheos__cl_integer_of(rheos_dtype dtype) {
  return rheos_dtype_is_integer(dtype) ? dtypes[dtype].stored : NULL;
}

void rheos__cl_add_group(rheos__text *text, const char *total) {
  rheos__cl_add(text, "typedef %s TOTAL;\n#define GROUP %d\n", total, (int)RHEOS__GROUP);
  rheos__text_add_string(text, rheos__cl_group);
}

void rheos__cl_add_index(rheos__text *text, const char *name, const char *prefix, int32_t rank,
                         const int64_t *steps) {
  rheos__cl_add(text, "place %s = 0; { place rest = (place)at;", name);
  for (int32_t d = rank - 1; d >= 0; d--) {
    if (steps[d] != 0) {
      rheos__cl_add(text, " %s += (place)%ss%d * (", name, prefix, (int)d);
      if (d > 0) rheos__cl_add(text, "rest %% (place)%sd%d);", prefix, (int)d);
      if (d == 0) rheos__cl_add(text, "rest);");
    }
    if (d > 0) rheos__cl_add(text, " rest /= (place)%sd%d;", prefix, (int)d);
  }
  rheos__cl_add(text, " }\n");
}
