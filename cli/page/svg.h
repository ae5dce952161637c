// Pictures by Graphviz's program `dot`, where that is installed.
#ifndef RHEOS_CLI_PAGE_SVG_H
#define RHEOS_CLI_PAGE_SVG_H

#include <rheos/base.h>

// The SVG of a graph in Graphviz's language, for free(). RHEOS_FAILED_PRECONDITION where there is
// no `dot`.
rheos_status *svg_by_dot(const char *dot, size_t dot_bytes, char **out_svg, size_t *out_svg_bytes);

#endif  // RHEOS_CLI_PAGE_SVG_H
