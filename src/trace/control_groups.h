/*
 * Control groups of the processes of a stream, from its attributes `cgroup PATH`, whose values are the pids (`812 815-817`);
 * and what a path says: the systemd unit, the container, the pod.
 */
#ifndef LODE_TRACE_CONTROL_GROUPS_H
#define LODE_TRACE_CONTROL_GROUPS_H

#include "trace/stream.h"

/* How the keys of these attributes begin; the path of the group follows. */
#define LODE_CGROUP "cgroup "
/* Room for the name of a unit, a container or a pod, with its NUL; longer ones are cut. */
#define LODE_GROUP_NAME 256

/*
 * By thread: the path of its group, a text of the stream; NULL: not known. The caller frees the array; NULL when memory
 * has run out.
 */
const char **lode_stream_groups(const struct lode_stream *stream);

enum lode_group_part {
	LODE_GROUP_UNIT, /* the innermost service of systemd, else its innermost scope: `redis.service` */
	LODE_GROUP_CONTAINER, /* the id of a container of Docker, containerd, CRI-O, Podman, or the name of one of LXC */
	LODE_GROUP_POD,       /* the uid of a pod of Kubernetes */
};

/* What the path of a group says. Returns whether it does; `name` is "" where it does not. */
int lode_group_part(const char *path, enum lode_group_part part, char name[LODE_GROUP_NAME]);

#endif
