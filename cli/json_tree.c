#include "json_tree.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "json_lexer.h"
#include "status.h"

enum { MOST_DEPTH = 200 };

void json_item_free(json_item *item) {
  while (item != NULL) {
    json_item *next = item->next;
    json_item_free(item->first);
    free(item->key);
    free(item->text);
    free(item);
    item = next;
  }
}

static rheos_status *read_item(json_lexer *l, int depth, json_item *item);

// The members of a list or object behind its bracket.
static rheos_status *read_members(json_lexer *l, int depth, json_item *item) {
  const char end = item->kind == JSON_LIST ? ']' : '}';
  json_item **last = &item->first;
  if (json_lexer_take(l, end)) return NULL;
  do {
    json_item *member = *last = command_alloc(sizeof *member);
    last = &member->next;
    if (item->kind == JSON_OBJECT) {
      TRY(json_lexer_read_string(l));
      member->key = command_format("%s", l->text);
      if (!json_lexer_take(l, ':')) return json_lexer_wrong(l, "expected ':'");
    }
    TRY(read_item(l, depth + 1, member));
  } while (json_lexer_take(l, ','));
  return json_lexer_take(l, end) ? NULL : json_lexer_wrong(l, "expected ',' or the end");
}

static rheos_status *read_item(json_lexer *l, int depth, json_item *item) {
  if (depth > MOST_DEPTH) return json_lexer_wrong(l, "too many brackets in each other");
  if (json_lexer_take(l, '{') || json_lexer_take(l, '[')) {
    item->kind = l->at[-1] == '{' ? JSON_OBJECT : JSON_LIST;
    return read_members(l, depth, item);
  }
  if (json_lexer_peek(l) == '"') {
    TRY(json_lexer_read_string(l));
    item->kind = JSON_TEXT;
    item->text = command_format("%s", l->text);
    return NULL;
  }
  if (json_lexer_take_word(l, "null")) return NULL;
  const bool is_true = json_lexer_take_word(l, "true");
  if (is_true || json_lexer_take_word(l, "false")) {
    item->kind = JSON_BOOL;
    item->number = is_true;
    return NULL;
  }
  TRY(json_lexer_read_number(l));
  item->kind = JSON_NUMBER;
  item->number = strtod(l->text, NULL);
  return NULL;
}

rheos_status *json_tree_read(const char *text, size_t size_bytes, json_item **out_item) {
  json_lexer l = json_lexer_of(text, size_bytes);
  json_item *item = command_alloc(sizeof *item);
  rheos_status *status = read_item(&l, 0, item);
  if (status == NULL && !json_lexer_is_at_end(&l))
    status = json_lexer_wrong(&l, "expected the end");
  json_lexer_deinit(&l);
  if (status != NULL) {
    json_item_free(item);
    item = NULL;
  }
  *out_item = item;
  return status;
}

const json_item *json_member(const json_item *item, const char *key) {
  if (item == NULL || item->kind != JSON_OBJECT) return NULL;
  const json_item *at = item->first;
  while (at != NULL && strcmp(at->key, key) != 0) at = at->next;
  return at;
}

const json_item *json_list(const json_item *item, const char *key) {
  const json_item *list = json_member(item, key);
  return list != NULL && list->kind == JSON_LIST ? list->first : NULL;
}

const char *json_text_of(const json_item *item, const char *key) {
  const json_item *member = json_member(item, key);
  return member != NULL ? member->text : NULL;
}

int64_t json_int_of(const json_item *item, const char *key) {
  const json_item *member = json_member(item, key);
  const bool is_int =
      member != NULL && member->kind == JSON_NUMBER && member->number >= 0 && member->number < 9e15;
  return is_int ? (int64_t)member->number : -1;
}
