/*
 * Objects: what a wait was for, as a text `kind:name`, such as `lock:folder_list`, `file:/var/lib/x`,
 * `tcp:10.0.0.7:5432`. The kind is what stands before the first colon; the name may be empty (`disk:`).
 */
#ifndef LODE_TRACE_OBJECTS_H
#define LODE_TRACE_OBJECTS_H

/* Before the function in the name of a lock that is known by it alone: several locks may have this name. */
#define LODE_LOCK_ENTERED_IN " entered in "
/* Before the function in the name of a condition of a script, which waits for each with a lock of its own: `condition:in take`. */
#define LODE_CONDITION_IN "in "
/* How the names of the kernel's locks begin: `lock:kernel mutex taken in FUNCTION`, `lock:kernel mmap_lock`. */
#define LODE_LOCK_OF_KERNEL "kernel "
/* How the names of locks on files begin, of flock and fcntl: `lock:on /run/app.pid`. Processes share them. */
#define LODE_LOCK_ON_FILE "on "
/* Between the path of a file and where it is stored: `file:/var/lib/x on vda1`. */
#define LODE_OBJECT_ON " on "
/* How the names of sockets begin that listen, and of Unix ones that were accepted: what follows is their own name, not the peer's. */
#define LODE_SOCKET_LISTENS  "listen:"
#define LODE_SOCKET_ACCEPTED "accepted:"

/*
 * The name of a wait for a TCP connection to another host says which one it was: `tcp:10.0.0.1:43210 > 10.0.0.2:5432`, its own end
 * first, `*` for an address that is not known. Two streams that have the ends of one can be joined (scope/host_joins.h).
 */
#define LODE_CONNECTION    "tcp:"
#define LODE_CONNECTION_TO " > "
/* The attribute of streams that have such waits, and its value. */
#define LODE_CONNECTIONS       "connections"
#define LODE_CONNECTIONS_VALUE "tcp"

/*
 * In the name of a launch that a stream of a GPU waits for, before the function in which the launching thread had waited until the
 * stream had nothing left to do: `launch:gpu0 stream 7 after item`.
 */
#define LODE_LAUNCH_AFTER " after "

enum lode_object_kind {
	LODE_OBJECT_NONE,      /* no object */
	LODE_OBJECT_LOCK,      /* mutex, reader-writer lock: a thread may hold it */
	LODE_OBJECT_GIL,       /* the global lock of an interpreter */
	LODE_OBJECT_CONDITION, /* condition variable, semaphore, barrier: nobody holds it */
	LODE_OBJECT_FUTEX,     /* of unknown use */
	LODE_OBJECT_THREAD,    /* the end of a thread */
	LODE_OBJECT_FILE,      /* by path */
	LODE_OBJECT_PIPE,      /* also a named one */
	LODE_OBJECT_UNIX,      /* Unix socket */
	LODE_OBJECT_TCP,       /* peer's address and port, or `listen:` and the port */
	LODE_OBJECT_UDP,
	LODE_OBJECT_SOCKET, /* of another family */
	LODE_OBJECT_EPOLL,  /* an epoll set */
	LODE_OBJECT_POLL,   /* several descriptors of poll or select */
	LODE_OBJECT_EVENTFD,
	LODE_OBJECT_TTY,    /* terminal */
	LODE_OBJECT_DISK,   /* a block device */
	LODE_OBJECT_TIMER,  /* a sleep, a timerfd */
	LODE_OBJECT_CHILD,  /* the end of a child process */
	LODE_OBJECT_PAGE,   /* a page fault, by the file */
	LODE_OBJECT_GPU,    /* device and stream */
	LODE_OBJECT_LAUNCH, /* into a stream of a GPU, for which that waits */
	LODE_OBJECT_OTHER,  /* another kind */
	LODE_OBJECT_KINDS,
};

/* The kind before the colon; LODE_OBJECT_OTHER for one that has no name here, LODE_OBJECT_NONE for "". */
enum lode_object_kind lode_object_kind_of(const char *text);
/* "lock", "file", …; "" for LODE_OBJECT_NONE. */
const char *lode_object_kind_name(enum lode_object_kind kind);
/* Whether several things come through a descriptor of this kind, and a wait for it may be for any of them. */
int lode_object_is_set(enum lode_object_kind kind);
/* What stands behind the colon; the whole text where there is none. */
const char *lode_object_name(const char *text);

#endif
