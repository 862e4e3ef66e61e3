/* All of liblode. */
#ifndef LIBLODE_LODE_H
#define LIBLODE_LODE_H

#include <lode/corpus.h>
#include <lode/error.h>
#include <lode/record.h>
#include <lode/run.h>
#include <lode/stream.h>
#include <lode/write.h>

#endif
