// Regular expressions, over PCRE2. TensorFlow's are RE2's, a library of C++; PCRE2 is C, is
// packaged everywhere and reads nearly the same syntax. What RE2 refuses (look-around, references
// back, possessive and huge repetitions) is refused here too, so that a graph means the same in
// both. PCRE2 backtracks where RE2 does not: a limit on its steps turns the patterns that would
// take for ever into an error.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "ops/kit/array_util.h"
#include "ops/kit/polling.h"
#include "ops/kit/string_util.h"

enum { MAX_REPEAT = 1000, MATCH_LIMIT = 10 * 1000 * 1000, HEAP_LIMIT_KIB = 64 * 1024 };

// ---- Patterns

typedef struct regex {
  pcre2_code *code;
  pcre2_match_context *context;
  uint32_t num_groups;
} regex;

static rheos_status *bad_pattern(const rheos_string *pattern, const char *why) {
  return RHEOS_INVALID("Invalid pattern: %.*s, error: %s",
                       (int)(pattern->size_bytes < 400 ? pattern->size_bytes : 400),
                       pattern->size_bytes > 0 ? pattern->data : "", why);
}

// What PCRE2 would read and RE2 does not know, at `at` outside of a class; NULL: nothing.
static const char *unknown_group(const char *at, const char *end) {
  static const char *const openings[] = {"?=", "?!", "?<",  "?>",  "?|", "?#", "?(",
                                         "?&", "?+", "?R",  "?C",  "*",  "?0", "?1",
                                         "?2", "?3", "?P>", "?P=", "?'"};
  for (size_t i = 0; i < sizeof openings / sizeof *openings; i++) {
    const size_t length = strlen(openings[i]);
    if ((size_t)(end - at) <= length || memcmp(at + 1, openings[i], length) != 0) continue;
    const bool names = strcmp(openings[i], "?<") == 0 && at + length + 1 < end &&
                       at[length + 1] != '=' && at[length + 1] != '!';
    if (!names) return "invalid perl operator: (?";
  }
  return NULL;
}

static const char *unknown_repeat(const char *at, const char *end) {
  if (*at == '{') {
    char *stop;
    if (end - at < 3 || at[1] < '0' || at[1] > '9') return NULL;
    const long low = strtol(at + 1, &stop, 10);
    const long high = *stop == ',' ? strtol(stop + 1, &stop, 10) : low;
    if (*stop == '}' && (low > MAX_REPEAT || high > MAX_REPEAT)) return "invalid repetition size";
    return NULL;
  }
  if ((*at == '*' || *at == '+' || *at == '?') && end - at > 1 && at[1] == '+') {
    return "bad repetition operator";
  }
  return NULL;
}

// Where the class that starts at `at` ends.
static const char *behind_class(const char *at, const char *end) {
  at++;
  if (at < end && *at == '^') at++;
  if (at < end && *at == ']') at++;
  for (; at < end && *at != ']'; at++) {
    if (*at == '\\' && at + 1 < end) {
      at++;
    } else if (*at == '[' && at + 1 < end && at[1] == ':') {
      const char *close = memmem(at, (size_t)(end - at), ":]", 2);
      if (close != NULL) at = close + 1;
    }
  }
  return at < end ? at + 1 : end;
}

// NULL if RE2 would know all of the syntax, else what it would not. NUL-terminated at `end`.
static const char *unknown_syntax(const char *at, const char *end) {
  while (at < end) {
    const char *wrong = NULL;
    if (*at == '\\') {
      if (at + 1 < end && at[1] == 'Q') {
        const char *close = memmem(at, (size_t)(end - at), "\\E", 2);
        at = close != NULL ? close + 2 : end;
        continue;
      }
      if (at + 1 < end && at[1] != '\0' && strchr("123456789GgkKZRXNHhVLlUuE", at[1]) != NULL) {
        return "invalid escape sequence";
      }
      at += 2;
      continue;
    }
    if (*at == '[') {
      at = behind_class(at, end);
      continue;
    }
    if (*at == '(') wrong = unknown_group(at, end);
    if (wrong == NULL) wrong = unknown_repeat(at, end);
    if (wrong != NULL) return wrong;
    at++;
  }
  return NULL;
}

static void *pcre_allocate(size_t size_bytes, void *user) {
  (void)user;
  return rheos__alloc(size_bytes);
}

static void pcre_release(void *memory, void *user) {
  (void)user;
  rheos__free(memory);
}

static void regex_deinit(regex *r) {
  pcre2_code_free(r->code);
  pcre2_match_context_free(r->context);
  *r = (regex){0};
}

static rheos_status *compile(regex *r, const rheos_string *pattern,
                             pcre2_general_context *general) {
  pcre2_compile_context *context = pcre2_compile_context_create(general);
  r->context = pcre2_match_context_create(general);
  if (context == NULL || r->context == NULL) {
    pcre2_compile_context_free(context);
    return rheos__out_of_memory();
  }
  pcre2_set_match_limit(r->context, MATCH_LIMIT);
  pcre2_set_heap_limit(r->context, HEAP_LIMIT_KIB);
  pcre2_set_parens_nest_limit(context, 200);
  const uint32_t options =
      PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C;
  int error;
  PCRE2_SIZE offset;
  r->code = pcre2_compile((PCRE2_SPTR)pattern->data, pattern->size_bytes, options, &error, &offset,
                          context);
  pcre2_compile_context_free(context);
  if (r->code == NULL) {
    if (error == PCRE2_ERROR_NOMEMORY || error == PCRE2_ERROR_HEAP_FAILED) {
      return rheos__out_of_memory();
    }
    unsigned char why[200] = "";
    pcre2_get_error_message(error, why, sizeof why);
    return bad_pattern(pattern, (const char *)why);
  }
  pcre2_pattern_info(r->code, PCRE2_INFO_CAPTURECOUNT, &r->num_groups);
  return NULL;
}

// After a failure there is nothing to free.
static rheos_status *regex_init(regex *r, const rheos_string *text) {
  *r = (regex){0};
  // The scan reads up to a NUL behind the pattern.
  char *copy = rheos__strndup(text->size_bytes > 0 ? text->data : "", text->size_bytes);
  pcre2_general_context *general = pcre2_general_context_create(pcre_allocate, pcre_release, NULL);
  rheos_status *status = NULL;
  if (copy == NULL || general == NULL) {
    status = rheos__out_of_memory();
  } else {
    const rheos_string pattern = {copy, text->size_bytes};
    const char *unknown = unknown_syntax(copy, copy + text->size_bytes);
    status = unknown != NULL ? bad_pattern(&pattern, unknown) : compile(r, &pattern, general);
  }
  rheos__free(copy);
  pcre2_general_context_free(general);
  if (status != NULL) regex_deinit(r);
  return status;
}

// Finds a match from `start` on; false if there is none or after an error.
static rheos_status *find(const regex *r, const rheos_string *in, size_t start, uint32_t options,
                          pcre2_match_data *match, bool *out_found) {
  const int count = pcre2_match(r->code, (PCRE2_SPTR)(in->size_bytes > 0 ? in->data : ""),
                                in->size_bytes, start, options, match, r->context);
  *out_found = count >= 0;
  if (count >= 0 || count == PCRE2_ERROR_NOMATCH) return NULL;
  if (count == PCRE2_ERROR_NOMEMORY) return rheos__out_of_memory();
  unsigned char why[200] = "";
  pcre2_get_error_message(count, why, sizeof why);
  return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED,
                          "matching a string of %zu bytes was given up: %s", in->size_bytes, why);
}

// ---- RegexFullMatch, StaticRegexFullMatch

static rheos_status *match_all(const regex *r, rheos__step *step, const rheos_tensor *input,
                               pcre2_match_data *match, bool *out_matches) {
  const rheos_string *strings = input->data;
  for (int64_t i = 0; i < input->num_elements; i++) {
    if (step != NULL && i % 64 == 0 && rheos__step_should_stop(step)) {
      return rheos_status_new(RHEOS_CANCELLED, "Step was cancelled.");
    }
    RHEOS_TRY(find(r, &strings[i], 0, PCRE2_ANCHORED | PCRE2_ENDANCHORED, match, &out_matches[i]));
    // Bytes that are no characters end the subject for PCRE2, but not the string.
    if (out_matches[i])
      out_matches[i] = pcre2_get_ovector_pointer(match)[1] == strings[i].size_bytes;
  }
  return NULL;
}

static rheos_status *match_tensor(const regex *r, rheos__step *step, const rheos_tensor *input,
                                  rheos_tensor **out_tensor) {
  RHEOS_TRY(rheos__tensor_new(RHEOS_BOOL, &input->shape, out_tensor));
  pcre2_match_data *match = pcre2_match_data_create_from_pattern(r->code, NULL);
  if (match == NULL) return rheos__out_of_memory();
  rheos_status *status = match_all(r, step, input, match, (*out_tensor)->data);
  pcre2_match_data_free(match);
  return status;
}

static rheos_status *pattern_scalar(const rheos_tensor *tensor, const char *what,
                                    const rheos_string **out_string) {
  *out_string = tensor->data;
  if (tensor->shape.rank == 0) return NULL;
  rheos__shape_text text;
  return RHEOS_INVALID("%s must be scalar, but received %s", what,
                       rheos__shape_text_of(&tensor->shape, &text));
}

static rheos_status *compute_match(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)state;
  const rheos_string *pattern;
  RHEOS_TRY(pattern_scalar(inputs[1], "Pattern", &pattern));
  regex r;
  RHEOS_TRY(regex_init(&r, pattern));
  rheos_status *status = match_tensor(&r, step, inputs[0], &outputs[0]);
  regex_deinit(&r);
  return status;
}

// ---- RegexReplace, StaticRegexReplace

typedef struct replace_map {
  rheos__string_map map;
  regex regex;
  rheos_string rewrite;
  bool global;
  bool has_groups;  // the pattern has the groups that the rewrite names; else nothing is replaced
  pcre2_match_data *match;
} replace_map;

// The largest group that a rewrite names; `out_valid`: all that follows a backslash is known.
static uint32_t last_group(const rheos_string *rewrite, bool *out_valid) {
  uint32_t last = 0;
  *out_valid = true;
  for (size_t i = 0; i < rewrite->size_bytes; i++) {
    if (rewrite->data[i] != '\\') continue;
    const char c = ++i < rewrite->size_bytes ? rewrite->data[i] : '\0';
    const bool group = c >= '0' && c <= '9';
    if (group && (uint32_t)(c - '0') > last) last = (uint32_t)(c - '0');
    if (!group && c != '\\') *out_valid = false;
  }
  return last;
}

// The rewrite with \0 to \9 filled in. Like RE2's, it ends at what it does not know (and a
// replacement of the first match only does not happen then).
static void add_rewrite(const replace_map *m, const rheos_string *in, rheos__text *out) {
  const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(m->match);
  const uint32_t pairs = pcre2_get_ovector_count(m->match);
  for (size_t i = 0; i < m->rewrite.size_bytes; i++) {
    const char c = m->rewrite.data[i];
    if (c != '\\') {
      rheos__text_add(out, &c, 1);
      continue;
    }
    const char next = i + 1 < m->rewrite.size_bytes ? m->rewrite.data[++i] : '\0';
    if (next == '\\') {
      rheos__text_add(out, &next, 1);
    } else if (next >= '0' && next <= '9') {
      const uint32_t group = (uint32_t)(next - '0');
      if (group >= pairs || ends[2 * group] == PCRE2_UNSET) continue;
      rheos__text_add(out, in->data + ends[2 * group], ends[2 * group + 1] - ends[2 * group]);
    } else {
      return;
    }
  }
}

enum { MATCHED_BETWEEN_POLLS = 1 << 14 };  // bytes, and as many as 64 of them for a match

// Where an empty match is right behind the last one, a character is passed over.
static rheos_status *replace(const rheos__string_map *map, const rheos_string *in,
                             rheos__text *out) {
  const replace_map *m = (const replace_map *)map;
  const char *data = in->size_bytes > 0 ? in->data : "";
  size_t at = 0, last_end = SIZE_MAX;
  int64_t since = 0;
  while (m->has_groups && at <= in->size_bytes) {
    bool found;
    RHEOS_TRY(find(&m->regex, in, at, 0, m->match, &found));
    if (!found) break;
    const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(m->match);
    const size_t from = ends[0], to = ends[1];
    if (from < at || to < from) break;  // not from these patterns
    if (rheos__stops_after(&since, (int64_t)(to - at) + 64, MATCHED_BETWEEN_POLLS)) {
      return rheos__stopped();
    }
    rheos__text_add(out, data + at, from - at);
    at = to;
    if (from == last_end && to == from) {
      if (at == in->size_bytes) break;
      int32_t character;
      const size_t bytes = rheos__utf8_decode(data + at, data + in->size_bytes, &character);
      rheos__text_add(out, data + at, bytes);
      at += bytes;
      continue;
    }
    add_rewrite(m, in, out);
    last_end = to;
    if (!m->global) break;
  }
  if (at < in->size_bytes) rheos__text_add(out, data + at, in->size_bytes - at);
  return NULL;
}

static void replace_deinit(void *argument) {
  replace_map *m = argument;
  pcre2_match_data_free(m->match);
  regex_deinit(&m->regex);
}

// The strings of `rewrite` and `pattern` stay the caller's. After a failure there is nothing to
// free.
static rheos_status *replace_init(replace_map *m, const rheos_string *pattern,
                                  const rheos_string *rewrite, bool global) {
  *m = (replace_map){.map = {replace}, .rewrite = *rewrite, .global = global};
  RHEOS_TRY(regex_init(&m->regex, pattern));
  bool valid;
  m->has_groups = last_group(rewrite, &valid) <= m->regex.num_groups && (valid || global);
  m->match = pcre2_match_data_create_from_pattern(m->regex.code, NULL);
  if (m->match != NULL) return NULL;
  replace_deinit(m);
  return rheos__out_of_memory();
}

typedef struct replace_state {
  bool global;
} replace_state;

static rheos_status *compute_replace(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)step;
  const replace_state *state = argument;
  const rheos_string *pattern, *rewrite;
  RHEOS_TRY(pattern_scalar(inputs[1], "Pattern", &pattern));
  RHEOS_TRY(pattern_scalar(inputs[2], "Rewrite", &rewrite));
  replace_map map;
  RHEOS_TRY(replace_init(&map, pattern, rewrite, state->global));
  rheos_status *status = rheos__map_strings(&map.map, inputs[0], &outputs[0]);
  replace_deinit(&map);
  return status;
}

static rheos_status *prepare_replace(rheos__prepare *p) {
  replace_state *state = RHEOS_NEW_STATE(p, replace_state);
  if (state == NULL) return rheos__out_of_memory();
  state->global = rheos__attr_bool(p->attrs, "replace_global");
  p->compute = compute_replace;
  return NULL;
}

// ---- With the pattern as an attribute
//
// Steps run at the same time and share a kernel's state, and a match needs room of its own, so the
// state holds the texts and each call compiles.

typedef struct static_state {
  rheos_string pattern, rewrite;
  bool global;
} static_state;

static rheos_string attr_string(const rheos__prepare *p, const char *name) {
  const rheos_attr_value *value = rheos__attrs_find(p->attrs, name);
  if (value == NULL) return (rheos_string){0};
  return rheos__borrow_string(value->s.data, value->s.size_bytes);
}

static rheos_status *compute_static_match(void *argument, rheos__step *step,
                                          rheos_tensor *const *inputs, rheos_tensor **outputs) {
  const static_state *state = argument;
  regex r;
  RHEOS_TRY(regex_init(&r, &state->pattern));
  rheos_status *status = match_tensor(&r, step, inputs[0], &outputs[0]);
  regex_deinit(&r);
  return status;
}

static rheos_status *compute_static_replace(void *argument, rheos__step *step,
                                            rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)step;
  const static_state *state = argument;
  replace_map map;
  RHEOS_TRY(replace_init(&map, &state->pattern, &state->rewrite, state->global));
  rheos_status *status = rheos__map_strings(&map.map, inputs[0], &outputs[0]);
  replace_deinit(&map);
  return status;
}

static rheos_status *prepare_static(rheos__prepare *p) {
  static_state *state = RHEOS_NEW_STATE(p, static_state);
  if (state == NULL) return rheos__out_of_memory();
  state->pattern = attr_string(p, "pattern");
  state->rewrite = attr_string(p, "rewrite");
  const bool replaces = rheos__attrs_find(p->attrs, "rewrite") != NULL;
  if (replaces) state->global = rheos__attr_bool(p->attrs, "replace_global");
  p->compute = replaces ? compute_static_replace : compute_static_match;
  regex r;  // a wrong pattern fails before anything runs
  RHEOS_TRY(regex_init(&r, &state->pattern));
  regex_deinit(&r);
  return NULL;
}

// ---- Definitions

static rheos_status *shape_with_scalars(rheos__infer *c) {
  rheos_shape unused;
  for (int32_t i = 1; i < c->num_inputs; i++) RHEOS_TRY(rheos__infer_rank(c, i, 0, &unused));
  return rheos__shape_unchanged(c);
}

const rheos__op_def rheos__op_RegexFullMatch = {
    .name = "RegexFullMatch",
    .signature = "input: string, pattern: string -> output: bool",
    .doc = "Whether the regular expression `pattern` describes all of each string.",
    .shape = shape_with_scalars,
    .compute = compute_match,
};

const rheos__op_def rheos__op_RegexReplace = {
    .name = "RegexReplace",
    .signature =
        "input: string, pattern: string, rewrite: string -> output: string; "
        "replace_global: bool = true",
    .doc =
        "The strings with what matches `pattern` (all, or the first) replaced by `rewrite`, in "
        "which "
        "\\\\1 to \\\\9 stand for groups.",
    .shape = shape_with_scalars,
    .gradient = rheos__no_gradient,
    .prepare = prepare_replace,
};

const rheos__op_def rheos__op_StaticRegexFullMatch = {
    .name = "StaticRegexFullMatch",
    .signature = "input: string -> output: bool; pattern: string",
    .doc = "Whether the regular expression `pattern` describes all of each string.",
    .shape = rheos__shape_unchanged,
    .prepare = prepare_static,
};

const rheos__op_def rheos__op_StaticRegexReplace = {
    .name = "StaticRegexReplace",
    .signature =
        "input: string -> output: string; pattern: string; rewrite: string; "
        "replace_global: bool = true",
    .doc =
        "The strings with what matches `pattern` (all, or the first) replaced by `rewrite`, in "
        "which "
        "\\\\1 to \\\\9 stand for groups.",
    .shape = rheos__shape_unchanged,
    .prepare = prepare_static,
};
