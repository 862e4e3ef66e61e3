/*
 * A Model Context Protocol server over two descriptors: JSON-RPC 2.0, one message per
 * line. Its tools are the analyses of a corpus (routes.h), into which nothing is written; what they return
 * is text as people read it, or JSON when requested, and never longer than a limit.
 */
#ifndef LODE_SERVE_MCP_H
#define LODE_SERVE_MCP_H

#include "base/error.h"

/* Answers messages from `in` until it ends, or `stopped` returns true. */
int lode_mcp_run(const char *corpus, int in, int out, int (*stopped)(void), struct lode_error *error);

#endif
