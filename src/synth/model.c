/*
 * The model: see model.h. Here: the tasks of each kind of thread.
 *
 * A stack is put together from its root: how the thread came to its loop, a walk
 * through the program, a walk through libraries, and at the leaf what the thread
 * does there. The kernel's part is as Linux has it.
 */
#include "synth/model.h"

#include "synth/kernel_paths.h"

#include <stdio.h>
#include <string.h>

static const char *const interrupt_paths[LODE_SYNTH_INTERRUPTS] = {
	[LODE_SYNTH_DISK_INTERRUPT] = IDLE
	"asm_common_interrupt;common_interrupt;nvme!nvme_irq;kernel!blk_mq_complete_request;"
	"bio_endio;folio_end_read;try_to_wake_up",
	[LODE_SYNTH_NET_INTERRUPT] = IDLE
	"asm_common_interrupt;common_interrupt;__do_softirq;net_rx_action;tcp_v4_rcv;"
	"sock_def_readable;try_to_wake_up",
	[LODE_SYNTH_TIMER_INTERRUPT] = IDLE
	"asm_sysvec_apic_timer_interrupt;hrtimer_interrupt;__hrtimer_run_queues;hrtimer_wakeup;"
	"try_to_wake_up",
	[LODE_SYNTH_INPUT_INTERRUPT] = IDLE
	"asm_common_interrupt;common_interrupt;usbhid!hid_irq_in;kernel!input_event;"
	"evdev!evdev_events;kernel!ep_poll_callback;try_to_wake_up",
};

static const char *const idle_loop = "libc.so.6!epoll_wait;" SYSCALL "__x64_sys_epoll_wait;do_epoll_wait;ep_poll;"
				     "schedule_hrtimeout_range" SLEEP;
static const char *const idle_pool =
	"libpool.so.1!pool_wait_for_work;libc.so.6!pthread_cond_wait;__futex_abstimed_wait_common;" SYSCALL FUTEX;

static uint32_t loop_root(struct lode_synth_code *code)
{
	return lode_synth_path(code, 0,
			       "libc.so.6!clone3;start_thread;libnet.so.1!loop_thread_start;"
			       "loop_run");
}

/* `count` stacks of a kind below `node`; those that wait go through one more library. */
static void fill_leaves(struct lode_synth_model *model, struct lode_synth_leaves *leaves, uint32_t node,
			enum lode_synth_leaf leaf, uint32_t count)
{
	enum lode_synth_module_id library = leaf == LODE_SYNTH_SOCKET ? LODE_SYNTH_NET : LODE_SYNTH_STORE;
	struct lode_synth_code *code = &model->code;
	uint32_t way = (uint32_t)lode_synth_random_below(&code->random, 4);

	for (uint32_t i = 0; i < count && !code->failed; i++) {
		uint32_t at = leaf == LODE_SYNTH_RUN ? node : lode_synth_walk(code, node, library, 2, 5);

		lode_synth_add_leaf(model, leaves, lode_synth_leaf_path(code, at, leaf, way + i));
	}
}

/* Stacks of all kinds below `node`, where a task goes on in libraries. */
static void fill_task(struct lode_synth_model *model, struct lode_synth_task *task, uint32_t node)
{
	static const uint32_t counts[LODE_SYNTH_LEAVES] = { 24, 4, 2, 2, 2, 2, 2 };

	for (int leaf = 0; leaf < LODE_SYNTH_LEAVES; leaf++)
		fill_leaves(model, &task->leaves[leaf], node, (enum lode_synth_leaf)leaf, counts[leaf]);
}

/* Trees of widgets and of documents are walked by functions that call themselves. */
static uint32_t recurse(struct lode_synth_code *code, uint32_t node, const char *frames)
{
	uint64_t depth = lode_synth_random_between(&code->random, 15, 45);

	while (depth-- && !code->failed)
		node = lode_synth_path(code, node, frames);
	return node;
}

static uint32_t ui_task(struct lode_synth_code *code)
{
	static const char *const messages[] = { "OnCommand", "OnPaint",  "OnTimer",
						"OnInput",   "OnNotify", "OnSelectionChanged" };
	uint32_t node;
	char frames[128];

	snprintf(frames, sizeof(frames), "libwidget.so.3!DispatchMessage;CallWindowProcedure;%s",
		 messages[lode_synth_random_below(&code->random, 6)]);
	node = lode_synth_path(code, lode_synth_ui_root(code), frames);
	node = lode_synth_walk(code, node, LODE_SYNTH_APP, 5, 8);
	if (lode_synth_random_percent(&code->random, 4))
		node = recurse(code, node, "libwidget.so.3!LayoutWidget;LayoutChildren");
	return lode_synth_walk(code, node, LODE_SYNTH_CORE, 5, 8);
}

static uint32_t worker_task(struct lode_synth_code *code)
{
	uint32_t node = lode_synth_walk(code, lode_synth_worker_root(code), LODE_SYNTH_APP, 5, 8);

	if (lode_synth_random_percent(&code->random, 4))
		node = recurse(code, node, "libfolio.so.4!ParseElement;ParseContent");
	return lode_synth_walk(code, node, LODE_SYNTH_CORE, 5, 8);
}

static uint32_t loop_task(struct lode_synth_code *code)
{
	uint32_t node = lode_synth_path(code, loop_root(code), "libnet.so.1!loop_dispatch");

	return lode_synth_walk(code, node, LODE_SYNTH_CORE, 5, 8);
}

static uint32_t other_root(struct lode_synth_code *code, size_t program, int serving)
{
	const char *name = code->modules[LODE_SYNTH_OTHER + program].name;
	char frames[256];

	if (serving)
		snprintf(frames, sizeof(frames), "libc.so.6!clone3;start_thread;%s!serve_requests", name);
	else
		snprintf(frames, sizeof(frames), "%s!_start;libc.so.6!__libc_start_main;%s!main;run_main_loop",
			 name, name);
	return lode_synth_path(code, 0, frames);
}

static uint32_t other_task(struct lode_synth_code *code, size_t program, int serving)
{
	enum lode_synth_module_id module = (enum lode_synth_module_id)(LODE_SYNTH_OTHER + program);
	uint32_t node = lode_synth_walk(code, other_root(code, program, serving), module, 5, 8);

	return lode_synth_walk(code, node, program % 2 ? LODE_SYNTH_NET : LODE_SYNTH_WIDGET, 4, 8);
}

static int make_role(struct lode_synth_model *model, struct lode_synth_role *role, uint64_t count)
{
	role->tasks = lode_calloc(count, sizeof(*role->tasks));
	role->count = (uint32_t)count;
	model->code.failed |= !role->tasks;
	return !model->code.failed;
}

static void make_tasks(struct lode_synth_model *model, struct lode_synth_role *role, uint64_t count,
		       uint32_t (*start)(struct lode_synth_code *code))
{
	if (!make_role(model, role, count))
		return;
	for (uint64_t i = 0; i < count && !model->code.failed; i++)
		fill_task(model, &role->tasks[i], start(&model->code));
}

static void make_other(struct lode_synth_model *model, struct lode_synth_role *role, size_t program, int serving)
{
	struct lode_synth_code *code = &model->code;

	if (!make_role(model, role, 1 + model->options.tasks / 12))
		return;
	for (uint32_t i = 0; i < role->count && !code->failed; i++)
		fill_task(model, &role->tasks[i], other_task(code, program, serving));
	lode_synth_add_leaf(model, &role->idle,
			    lode_synth_path(code, other_root(code, program, serving),
					    serving ? idle_pool : idle_loop));
}

static void make_kernel(struct lode_synth_model *model)
{
	static const char *const paths[][2] = {
		{ "kernel!wb_workfn;wb_writeback;writeback_sb_inodes;ext4!ext4_writepages",
		  "kernel!folio_wait_bit_common" IO },
		{ "kernel!blk_mq_run_work_fn;blk_mq_sched_dispatch_requests;nvme!nvme_queue_rq",
		  "kernel!blk_mq_get_tag" IO },
		{ "kernel!flush_to_ldisc;tty_ldisc_receive_buf;n_tty_receive_buf_common",
		  "kernel!down_read" SLEEP },
	};
	struct lode_synth_code *code = &model->code;
	uint32_t root = lode_synth_path(code, 0, "kernel!ret_from_fork_asm;kthread;worker_thread");

	lode_synth_add_leaf(model, &model->kernel.idle, lode_synth_path(code, root, "kernel!schedule;__schedule"));
	if (!make_role(model, &model->kernel, 3))
		return;
	for (uint32_t i = 0; i < 3; i++) {
		struct lode_synth_task *task = &model->kernel.tasks[i];
		uint32_t node = lode_synth_path(code, root, "kernel!process_one_work");

		node = lode_synth_path(code, node, paths[i][0]);
		lode_synth_add_leaf(model, &task->leaves[LODE_SYNTH_RUN], node);
		lode_synth_add_leaf(model, &task->leaves[LODE_SYNTH_DISK],
				    lode_synth_path(code, node, paths[i][1]));
	}
}

static void make_program(struct lode_synth_model *model)
{
	struct lode_synth_code *code = &model->code;
	uint64_t tasks = model->options.tasks;

	make_tasks(model, &model->ui, tasks, ui_task);
	make_tasks(model, &model->worker, tasks, worker_task);
	make_tasks(model, &model->loop, 1 + tasks / 8, loop_task);
	lode_synth_add_leaf(model, &model->ui.idle, lode_synth_path(code, lode_synth_ui_root(code), idle_loop));
	lode_synth_add_leaf(model, &model->worker.idle,
			    lode_synth_path(code, lode_synth_pool_root(code), idle_pool));
	lode_synth_add_leaf(model, &model->loop.idle, lode_synth_path(code, loop_root(code), idle_loop));
}

/* The frames of a path, into `frames`; returns how many. */
static uint32_t make_block(struct lode_synth_code *code, const char *path, uint32_t *frames, uint32_t room)
{
	uint32_t count = 0, module = 0;

	while (*path && count < room) {
		size_t length;

		frames[count++] = lode_synth_frame(code, path, &length, &module);
		path += length + (path[length] == ';');
	}
	return count;
}

/* What only some hosts have in their stacks. */
static void make_blocks(struct lode_synth_model *model)
{
	struct lode_synth_code *code = &model->code;

	model->thunk_count = make_block(code,
					"libthunk32.so.1!ThunkEnterSystemCall;libthunk32.so.1!ThunkWidenArguments;"
					"libthunk32.so.1!ThunkSwitchMode;libthunk64.so.1!ThunkDispatchNative;"
					"libthunk64.so.1!ThunkCallKernel",
					model->thunk, 8);
	model->scanner_count = make_block(code,
					  "scanfilter!scan_before_look_up;scanfilter!scan_ask_verdict;"
					  "scanfilter!scan_pass_on",
					  model->scanner, 4);
	make_block(code, "kernel!entry_SYSCALL_64_after_hwframe", &model->system_call, 1);
	make_block(code, "ext4!ext4_lookup", &model->file_look_up, 1);
}

static void fill_model(struct lode_synth_model *model)
{
	struct lode_synth_code *code = &model->code;

	make_blocks(model);
	code->emulating = 1;
	make_program(model);
	if (!code->failed)
		lode_synth_plant(model);
	code->emulating = 0;
	for (size_t i = 0; i < LODE_SYNTH_OTHERS && !code->failed; i++) {
		make_other(model, &model->other[i], i, 0);
		make_other(model, &model->serving[i], i, 1);
	}
	make_kernel(model);
	for (int i = 0; i < LODE_SYNTH_INTERRUPTS && !code->failed; i++)
		lode_synth_add_leaf(model, &model->interrupts[i], lode_synth_path(code, 0, interrupt_paths[i]));
}

int lode_synth_model_create(struct lode_synth_model **result, const struct lode_synth_options *options,
			    struct lode_error *error)
{
	struct lode_synth_model *model;
	int code = lode_synth_check(options, error);

	*result = NULL;
	if (code < 0)
		return code;
	model = lode_calloc(1, sizeof(*model));
	if (!model)
		return lode_fail_memory(error);
	model->options = *options;
	if (lode_synth_code_init(&model->code, options->seed, 12 + (uint32_t)options->tasks / 16) == 0)
		fill_model(model);
	else
		model->code.failed = 1;
	if (model->code.failed) {
		lode_synth_model_free(model);
		return lode_fail_memory(error);
	}
	*result = model;
	return 0;
}

void lode_synth_model_free(struct lode_synth_model *model)
{
	if (!model)
		return;
	lode_free(model->ui.tasks);
	lode_free(model->worker.tasks);
	lode_free(model->loop.tasks);
	lode_free(model->kernel.tasks);
	for (size_t i = 0; i < LODE_SYNTH_OTHERS; i++) {
		lode_free(model->other[i].tasks);
		lode_free(model->serving[i].tasks);
	}
	lode_free(model->leaves);
	lode_free(model->bugs);
	lode_free(model->planted);
	lode_synth_code_release(&model->code);
	lode_free(model);
}
