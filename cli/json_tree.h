// JSON as a tree, for answers of this command that it reads again.
#ifndef RHEOS_CLI_JSON_TREE_H
#define RHEOS_CLI_JSON_TREE_H

#include <rheos/base.h>

typedef enum json_kind {
  JSON_NULL,
  JSON_BOOL,
  JSON_NUMBER,
  JSON_TEXT,
  JSON_LIST,
  JSON_OBJECT
} json_kind;

// One value; those in a list or object follow one another by `next`.
typedef struct json_item {
  json_kind kind;
  char *key;   // in an object, else NULL
  char *text;  // of a text; else NULL
  double number;
  struct json_item *first, *next;
} json_item;

// For json_item_free(). The text may be hostile.
rheos_status *json_tree_read(const char *text, size_t size_bytes, json_item **out_item);
void json_item_free(json_item *item);  // NULL is accepted

// NULL where the item is no object, or has no such member.
const json_item *json_member(const json_item *item, const char *key);
// The members of such a list, the first one; NULL: there are none.
const json_item *json_list(const json_item *item, const char *key);
const char *json_text_of(const json_item *item, const char *key);  // NULL: there is no such text
int64_t json_int_of(const json_item *item, const char *key);       // -1: there is no such number

#endif  // RHEOS_CLI_JSON_TREE_H
