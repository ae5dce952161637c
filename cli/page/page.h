// The page as one HTML file: its own parts and the layout engine are in the command.
#ifndef RHEOS_CLI_PAGE_PAGE_H
#define RHEOS_CLI_PAGE_PAGE_H

#include <stdio.h>

// What stands in the page as its data: JSON without '<'. Prints on `out`.
typedef void (*page_data)(void *argument, FILE *out);

void page_print(FILE *out, page_data data, void *argument);

#endif  // RHEOS_CLI_PAGE_PAGE_H
