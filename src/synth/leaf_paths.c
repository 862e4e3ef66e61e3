/*
 * Leaf paths: the ends of stacks, where a thread runs or waits, and the roots of threads;
 * see model.h.
 */
#include "synth/kernel_paths.h"
#include "synth/model.h"

/* Ways down from user code, by leaf; NULL-terminated. */
static const char *const leaf_paths[LODE_SYNTH_LEAVES][5] = {
	[LODE_SYNTH_DISK] = {
		"libc.so.6!__libc_pread64;" SYSCALL "__x64_sys_pread64;vfs_read;new_sync_read;"
		"ext4!ext4_file_read_iter;kernel!generic_file_read_iter;filemap_read;filemap_get_pages;"
		"filemap_update_page;folio_wait_bit_common" IO,
		"libc.so.6!__open64;" SYSCALL "__x64_sys_openat;do_sys_openat2;do_filp_open;path_openat;"
		"lookup_open;"
		"ext4!ext4_lookup;ext4_find_entry;__ext4_find_entry;kernel!__wait_on_buffer;bit_wait_io" IO,
		"libc.so.6!__stat64;" SYSCALL "__x64_sys_newfstatat;vfs_fstatat;vfs_statx;filename_lookup;"
		"path_lookupat;link_path_walk;walk_component;__lookup_slow;ext4!ext4_lookup;__ext4_iget;"
		"kernel!__wait_on_buffer;bit_wait_io" IO,
		"libc.so.6!fsync;" SYSCALL "__x64_sys_fsync;do_fsync;vfs_fsync_range;ext4!ext4_sync_file;"
		"jbd2!jbd2_complete_transaction;jbd2_log_wait_commit" SLEEP,
	},
	[LODE_SYNTH_FAULT] = {
		FAULT "__handle_mm_fault;do_fault;__do_fault;filemap_fault;folio_wait_bit_common" IO,
		"libc.so.6!__memmove_avx_unaligned_erms;" FAULT
		"__handle_mm_fault;do_fault;__do_fault;filemap_fault;folio_wait_bit_common" IO,
	},
	[LODE_SYNTH_LOCK] = {
		"libc.so.6!pthread_mutex_lock;__lll_lock_wait;" SYSCALL FUTEX,
		"libc.so.6!pthread_rwlock_rdlock;__futex_abstimed_wait64;" SYSCALL FUTEX,
	},
	[LODE_SYNTH_CALL] = {
		"libc.so.6!pthread_cond_wait;__futex_abstimed_wait_common;" SYSCALL FUTEX,
		"libc.so.6!__libc_read;" SYSCALL "__x64_sys_read;vfs_read;new_sync_read;pipe_read;"
		"pipe_wait_readable" SLEEP,
	},
	[LODE_SYNTH_SOCKET] = {
		"libc.so.6!recv;" SYSCALL "__x64_sys_recvfrom;__sys_recvfrom;sock_recvmsg;inet_recvmsg;"
		"tcp_recvmsg;tcp_recvmsg_locked;sk_wait_data;wait_woken;schedule_timeout" SLEEP,
		"libc.so.6!connect;" SYSCALL "__x64_sys_connect;__sys_connect;inet_stream_connect;"
		"__inet_stream_connect;inet_wait_for_connect;wait_woken;schedule_timeout" SLEEP,
	},
	[LODE_SYNTH_WAKE] = {
		"libc.so.6!pthread_mutex_unlock;__lll_lock_wake;" SYSCALL WAKING,
		"libc.so.6!pthread_cond_signal;" SYSCALL WAKING,
	},
};

/* Kernel code and libc where samples find a thread, when not in its own code. */
static const char *const run_paths[] = {
	"libc.so.6!malloc;_int_malloc",
	"libc.so.6!free;_int_free",
	"libc.so.6!__memmove_avx_unaligned_erms",
	"libc.so.6!__strcmp_avx2",
	FAULT "__handle_mm_fault;do_anonymous_page;clear_page_erms",
	"libc.so.6!__libc_pread64;" SYSCALL "__x64_sys_pread64;vfs_read;filemap_read;copy_page_to_iter",
};

#define RUN_PATHS (sizeof(run_paths) / sizeof(run_paths[0]))

static uint32_t leaf_ways(enum lode_synth_leaf leaf)
{
	uint32_t count = 0;

	while (leaf_paths[leaf][count])
		count++;
	return count;
}

static uint32_t run_path(struct lode_synth_code *code, uint32_t node)
{
	struct lode_random *random = &code->random;

	node = lode_synth_walk(code, node,
			       lode_synth_random_percent(random, 50) ? LODE_SYNTH_CANVAS : LODE_SYNTH_CORE, 3,
			       LODE_SYNTH_LEVELS);
	if (lode_synth_random_percent(random, 60))
		node = lode_synth_path(code, node, run_paths[lode_synth_random_below(random, RUN_PATHS)]);
	return node;
}

uint32_t lode_synth_leaf_path(struct lode_synth_code *code, uint32_t node, enum lode_synth_leaf leaf,
			      uint32_t variant)
{
	if (leaf == LODE_SYNTH_RUN)
		return run_path(code, node);
	return lode_synth_path(code, node, leaf_paths[leaf][variant % leaf_ways(leaf)]);
}

void lode_synth_add_leaf(struct lode_synth_model *model, struct lode_synth_leaves *leaves, uint32_t node)
{
	if (!leaves->count)
		leaves->first = (uint32_t)model->leaf_count;
	if (LODE_APPEND(model->leaves, model->leaf_count, model->leaf_capacity, node) < 0)
		model->code.failed = 1;
	else
		leaves->count++;
}

uint32_t lode_synth_ui_root(struct lode_synth_code *code)
{
	return lode_synth_path(code, 0,
			       "folio!_start;libc.so.6!__libc_start_main;__libc_start_call_main;"
			       "folio!main;RunApplication;libwidget.so.3!RunMessageLoop");
}

uint32_t lode_synth_pool_root(struct lode_synth_code *code)
{
	return lode_synth_path(code, 0,
			       "libc.so.6!clone3;start_thread;libpool.so.1!pool_thread_start;"
			       "pool_run_tasks");
}

uint32_t lode_synth_worker_root(struct lode_synth_code *code)
{
	return lode_synth_path(code, lode_synth_pool_root(code), "libfolio.so.4!RunWorkItem");
}
