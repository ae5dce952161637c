// The metrics of a server as a text: what its parts have now, and what it has counted.
#include <rheos/server.h>

#include "net/process.h"
#include "net/server.h"

rheos_status *rheos_server_metrics(rheos_server *server, char **out_text) {
  RHEOS_OUT(out_text);
  RHEOS_NEED(server);
  rheos__text text = {0};
  const rheos__worker_counts counts = rheos__worker_count(&server->worker);
  const struct {
    const char *name, *about;
    int64_t value;
  } gauges[] = {
      {"sessions", "Sessions of clients.", rheos__master_count(&server->master)},
      {"worker_sessions", "Sessions that masters have here.", counts.sessions},
      {"worker_graphs", "Parts of graphs that masters have here.", counts.graphs},
      {"worker_steps", "Steps that run or wait here.", counts.steps},
      {"memory_bytes", "Memory of the process.", rheos__process_memory_bytes()},
  };
  for (size_t i = 0; i < sizeof gauges / sizeof *gauges; i++) {
    rheos__metrics_write_number(&text, "gauge", gauges[i].name, gauges[i].about, gauges[i].value);
  }
  rheos__metrics_write(&server->metrics, &text);
  if (!text.failed) {
    *out_text = text.data;
    return NULL;
  }
  rheos__text_deinit(&text);
  return rheos__out_of_memory();
}
