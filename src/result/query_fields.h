/* What lode query writes as JSON; query/query_print.c does so, row by row. */
#ifndef LODE_RESULT_QUERY_FIELDS_H
#define LODE_RESULT_QUERY_FIELDS_H

#include "result/fields.h"

extern const struct lode_fields lode_query_fields;

#endif
