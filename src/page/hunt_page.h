/* The result of a hunt as a page, which the program must have (page.h). */
#ifndef LODE_PAGE_HUNT_PAGE_H
#define LODE_PAGE_HUNT_PAGE_H

#include "result/hunt_report.h"

/* The data of the page, and the page. */
void lode_hunt_page_json(const struct lode_hunt_report *report, struct lode_buffer *buffer);
void lode_hunt_html(const struct lode_hunt_report *report, struct lode_buffer *buffer);

#endif
