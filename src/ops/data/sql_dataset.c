// The rows of the answer to a query. The database is SQLite's, whose library is opened when it is
// needed; its interface has been the same since version 3, so that its header need not be there.
#include <string.h>

#include "ops/data/element.h"
#include "ops/data/run_time_library.h"

// Of sqlite3.h.
enum { SQL_OK = 0, SQL_CANT_OPEN = 14, SQL_NO_DATABASE = 26, SQL_ROW = 100, SQL_DONE = 101 };
enum { SQL_OPEN_READONLY = 1, SQL_OPEN_URI = 0x40, SQL_OPEN_NOMUTEX = 0x8000 };

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;

typedef struct sqlite_functions {
  int (*open_v2)(const char *path, sqlite3 **database, int flags, const char *system);
  int (*close)(sqlite3 *database);
  const char *(*errmsg)(sqlite3 *database);
  int (*prepare_v2)(sqlite3 *database, const char *text, int size, sqlite3_stmt **statement,
                    const char **rest);
  int (*step)(sqlite3_stmt *statement);
  int (*finalize)(sqlite3_stmt *statement);
  int (*column_count)(sqlite3_stmt *statement);
  int64_t (*column_int64)(sqlite3_stmt *statement, int column);
  double (*column_double)(sqlite3_stmt *statement, int column);
  const void *(*column_blob)(sqlite3_stmt *statement, int column);
  int (*column_bytes)(sqlite3_stmt *statement, int column);
} sqlite_functions;

enum { DRIVER, SOURCE, QUERY };

typedef struct sql {
  rheos__iterator base;
  void *library;
  sqlite_functions f;
  sqlite3 *database;
  sqlite3_stmt *statement;
  int64_t num_rows;  // that were given: what is saved
  bool has_ended;
} sql;

static rheos_status *init_sql(rheos__dataset *d) {
  static const rheos_dtype supported[] = {RHEOS_STRING, RHEOS_INT8,  RHEOS_INT16,
                                          RHEOS_INT32,  RHEOS_INT64, RHEOS_UINT8,
                                          RHEOS_UINT16, RHEOS_BOOL,  RHEOS_DOUBLE};
  static const char sqlite[] = "sqlite";
  const rheos_string *driver, *text;
  RHEOS_TRY(rheos__dataset_string(d, DRIVER, "driver_name", &driver));
  RHEOS_TRY(rheos__dataset_string(d, SOURCE, "data_source_name", &text));
  RHEOS_TRY(rheos__dataset_string(d, QUERY, "query", &text));
  if (driver->size_bytes != sizeof sqlite - 1 || memcmp(driver->data, sqlite, sizeof sqlite - 1)) {
    return RHEOS_INVALID("tensorflow::DatabaseDriver '%.*s' is not supported: only sqlite is",
                         (int)driver->size_bytes, driver->size_bytes > 0 ? driver->data : "");
  }
  for (int32_t i = 0; i < d->num_components; ++i) {
    size_t k = 0;
    while (k < sizeof supported / sizeof *supported && supported[k] != d->types[i]) ++k;
    if (k == sizeof supported / sizeof *supported) {
      return RHEOS_INVALID(
          "Each element of `output_types_` must be one of: DT_STRING, DT_INT8, DT_INT16, DT_INT32, "
          "DT_INT64, DT_UINT8, DT_UINT16, DT_BOOL, DT_DOUBLE, got %s",
          rheos_dtype_name(d->types[i]));
    }
  }
  return NULL;
}

static void close_database(sql *it) {
  if (it->statement != NULL) it->f.finalize(it->statement);
  if (it->database != NULL) it->f.close(it->database);
  it->statement = NULL;
  it->database = NULL;
}

static void finish_sql(rheos__iterator *iterator) {
  sql *it = (sql *)iterator;
  close_database(it);
  rheos__library_close(it->library);
}

// TensorFlow's codes.
static rheos_status *failed(const sql *it, int error, const char *what) {
  const bool is_none = error == SQL_CANT_OPEN || error == SQL_NO_DATABASE;
  return rheos_status_new(is_none ? RHEOS_FAILED_PRECONDITION : RHEOS_UNKNOWN, "%s: %s", what,
                          it->f.errmsg(it->database));
}

static rheos_status *open_database(sql *it) {
  const rheos_string *source = it->base.dataset->args[SOURCE]->data;
  const rheos_string *query = it->base.dataset->args[QUERY]->data;
  const int flags = SQL_OPEN_READONLY | SQL_OPEN_URI | SQL_OPEN_NOMUTEX;
  char *path = rheos__strndup(source->size_bytes > 0 ? source->data : "", source->size_bytes);
  if (path == NULL) return rheos__out_of_memory();
  const int opened = it->f.open_v2(path, &it->database, flags, NULL);
  rheos_status *status = NULL;
  if (it->database == NULL) {
    status = rheos__out_of_memory();
  } else if (opened != SQL_OK) {
    status = failed(it, opened, path);
  }
  rheos__free(path);
  if (status != NULL) return status;
  if (query->size_bytes > INT32_MAX) return RHEOS_INVALID("the query is too long");
  const int prepared = it->f.prepare_v2(it->database, query->size_bytes > 0 ? query->data : "",
                                        (int)query->size_bytes, &it->statement, NULL);
  if (prepared != SQL_OK) return failed(it, prepared, "the query");
  if (it->statement == NULL) return RHEOS_INVALID("the query is empty");
  const int columns = it->f.column_count(it->statement);
  if (columns == it->base.dataset->num_components) return NULL;
  return RHEOS_INVALID(
      "The number of columns in query (%d) must match the number of elements in output_types (%d).",
      columns, (int)it->base.dataset->num_components);
}

static rheos_status *start_sql(rheos__iterator *iterator, rheos__step *step) {
  (void)step;
  sql *it = (sql *)iterator;
  const rheos__library_function functions[] = {
      {"sqlite3_open_v2", &it->f.open_v2},
      {"sqlite3_close", &it->f.close},
      {"sqlite3_errmsg", &it->f.errmsg},
      {"sqlite3_prepare_v2", &it->f.prepare_v2},
      {"sqlite3_step", &it->f.step},
      {"sqlite3_finalize", &it->f.finalize},
      {"sqlite3_column_count", &it->f.column_count},
      {"sqlite3_column_int64", &it->f.column_int64},
      {"sqlite3_column_double", &it->f.column_double},
      {"sqlite3_column_blob", &it->f.column_blob},
      {"sqlite3_column_bytes", &it->f.column_bytes},
  };
  return rheos__library_open("libsqlite3.so.0", "libsqlite3-0", functions,
                             sizeof functions / sizeof *functions, &it->library);
}

static rheos_status *read_column(const sql *it, int column, rheos_tensor **out_tensor) {
  const rheos_dtype dtype = it->base.dataset->types[column];
  RHEOS_TRY(rheos__tensor_new(dtype, &RHEOS_SCALAR, out_tensor));
  if (dtype == RHEOS_STRING) {
    const void *bytes = it->f.column_blob(it->statement, column);
    const int size = it->f.column_bytes(it->statement, column);
    return rheos_tensor_set_string(*out_tensor, 0, size > 0 ? bytes : "", (size_t)size);
  }
  void *to = (*out_tensor)->data;
  if (dtype == RHEOS_DOUBLE) {
    *(double *)to = it->f.column_double(it->statement, column);
  } else if (dtype == RHEOS_BOOL) {
    *(bool *)to = it->f.column_int64(it->statement, column) != 0;
  } else {
    const int64_t value = it->f.column_int64(it->statement, column);
    memcpy(to, &value, rheos__dtype_size(dtype));  // little endian
  }
  return NULL;
}

static rheos_status *next_row(sql *it, bool *out_end) {
  *out_end = it->has_ended;
  if (*out_end) return NULL;
  if (it->statement == NULL) {
    rheos_status *status = open_database(it);
    if (status != NULL) {
      close_database(it);
      return status;
    }
  }
  const int answer = it->f.step(it->statement);
  if (answer == SQL_ROW) {
    ++it->num_rows;
    return NULL;
  }
  *out_end = it->has_ended = answer == SQL_DONE;
  rheos_status *status = *out_end ? NULL : failed(it, answer, "the query");
  close_database(it);
  return status;
}

static rheos_status *next_sql(rheos__iterator *iterator, rheos__step *step, rheos_tensor **element,
                              bool *out_end) {
  (void)step;
  sql *it = (sql *)iterator;
  RHEOS_TRY(next_row(it, out_end));
  rheos_status *status = NULL;
  for (int i = 0; !*out_end && status == NULL && i < iterator->dataset->num_components; ++i) {
    status = read_column(it, i, &element[i]);
  }
  if (status != NULL) rheos__element_clear(element, iterator->dataset->num_components);
  return status;
}

static rheos_status *transfer_sql(rheos__iterator *iterator, rheos__saved_state *state,
                                  rheos__step *step) {
  sql *it = (sql *)iterator;
  int64_t at[2] = {it->num_rows, it->has_ended};
  RHEOS_TRY(rheos__state_ints(state, at, 2));
  if (!state->is_restoring) return NULL;
  it->has_ended = at[1] != 0;
  while (!it->has_ended && it->num_rows < at[0]) {
    bool end = false;
    RHEOS_TRY(next_row(it, &end));
    if (rheos__step_should_stop(step)) {
      return rheos_status_new(RHEOS_CANCELLED, "the step was stopped");
    }
  }
  return NULL;
}

static const rheos__dataset_kind sql_kind = {.name = "Sql",
                                             .iterator_bytes = sizeof(sql),
                                             .init = init_sql,
                                             .start = start_sql,
                                             .finish = finish_sql,
                                             .next = next_sql,
                                             .state = transfer_sql};
#define SQL_OP(op)                                                                               \
  RHEOS_DATASET_OP(op, sql_kind, "driver_name: string, data_source_name: string, query: string", \
                   RHEOS_DATASET_TYPES, "The rows of the answer of a database to a query.")
SQL_OP(SqlDataset)
SQL_OP(ExperimentalSqlDataset)
