/* The recorder's BPF programs and maps, as bpftool packed them; not held to our warnings. Private to the recorder. */
#ifndef LODE_RECORD_LOAD_RECORDER_SKELETON_H
#define LODE_RECORD_LOAD_RECORDER_SKELETON_H

#include "record/bpf/records.h"
#include "record/budget/time_slots.h"
#include "record/bpf/unwind_maps.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Woverlength-strings"
#include "record/bpf/recorder.skel.h"
#pragma GCC diagnostic pop

#endif
