// The page as one HTML file: its own parts and the layout engine are in the command.
#ifndef RHEOS_CLI_PAGE_PAGE_H
#define RHEOS_CLI_PAGE_PAGE_H

#include <rheos/base.h>
#include <stdio.h>

// What stands in the page as its data: JSON without '<'. Prints on `out`.
typedef void (*page_data)(void *argument, FILE *out);

// What is printed, `*out_bytes` for free(), also after a failure.
rheos_status *page_text(page_data print, void *argument, char **out_bytes, size_t *out_size_bytes);

void page_print(FILE *out, page_data data, void *argument);

#endif  // RHEOS_CLI_PAGE_PAGE_H
