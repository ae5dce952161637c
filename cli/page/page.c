// Puts the page's parts together. They are in the command by the assembler's .incbin; the folders
// that it finds them in are told by the build.
#include "page.h"

#include <stddef.h>
#include <string.h>

#include "../status.h"

#define ASSET(name, file)                                 \
  __asm__(                                                \
      ".section .rodata\n"                                \
      ".global page_asset_" #name                         \
      "\n"                                                \
      "page_asset_" #name ":\n.incbin \"" file            \
      "\"\n"                                              \
      ".global page_asset_" #name                         \
      "_end\n"                                            \
      "page_asset_" #name "_end:\n.byte 0\n.previous\n"); \
  extern const char page_asset_##name[], page_asset_##name##_end[];

ASSET(html, "page.html")
ASSET(css, "page.css")
ASSET(data, "data.js")
ASSET(draw, "draw.js")
ASSET(map, "map.js")
ASSET(gradients, "gradients.js")
ASSET(compare, "compare.js")
ASSET(plots, "plots.js")
ASSET(traces, "traces.js")
ASSET(panel, "panel.js")
ASSET(page, "page.js")
ASSET(engine, "graphviz/index.js")

static const struct {
  const char *name, *begin, *end;
} assets[] = {
    {"css", page_asset_css, page_asset_css_end},
    {"data.js", page_asset_data, page_asset_data_end},
    {"draw.js", page_asset_draw, page_asset_draw_end},
    {"map.js", page_asset_map, page_asset_map_end},
    {"gradients.js", page_asset_gradients, page_asset_gradients_end},
    {"compare.js", page_asset_compare, page_asset_compare_end},
    {"plots.js", page_asset_plots, page_asset_plots_end},
    {"traces.js", page_asset_traces, page_asset_traces_end},
    {"panel.js", page_asset_panel, page_asset_panel_end},
    {"page.js", page_asset_page, page_asset_page_end},
    {"engine", page_asset_engine, page_asset_engine_end},
};

// What stands for "<!-- rheos: NAME -->".
static void print_part(FILE *out, const char *name, size_t name_bytes, page_data data,
                       void *argument) {
  if (name_bytes == 4 && memcmp(name, "data", 4) == 0) {
    data(argument, out);
    return;
  }
  for (size_t i = 0; i < sizeof assets / sizeof assets[0]; i++) {
    if (strlen(assets[i].name) != name_bytes || memcmp(assets[i].name, name, name_bytes) != 0) {
      continue;
    }
    fwrite(assets[i].begin, 1, (size_t)(assets[i].end - assets[i].begin), out);
  }
}

rheos_status *page_text(page_data print, void *argument, char **out_bytes, size_t *out_size_bytes) {
  *out_bytes = NULL;
  *out_size_bytes = 0;
  FILE *out = open_memstream(out_bytes, out_size_bytes);
  if (out == NULL) return NO_MEMORY();
  print(argument, out);
  return fclose(out) == 0 ? NULL : NO_MEMORY();
}

void page_print(FILE *out, page_data data, void *argument) {
  static const char mark[] = "<!-- rheos: ", end[] = " -->";
  const char *at = page_asset_html, *found;
  while ((found = strstr(at, mark)) != NULL) {
    const char *name = found + sizeof mark - 1, *name_end = strstr(name, end);
    if (name_end == NULL) break;
    fwrite(at, 1, (size_t)(found - at), out);
    print_part(out, name, (size_t)(name_end - name), data, argument);
    at = name_end + sizeof end - 1;
  }
  fwrite(at, 1, strlen(at), out);
}
