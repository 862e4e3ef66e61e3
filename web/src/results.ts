// Results as the page gets them. Made from the tables in src/result (fields.h) by `ninja -C build schema`: edit those.

export interface InfoResult {
	path: string; // The corpus or file, as it was named.
	kind: 'corpus' | 'stream'; // What it is.
	events: EventCounts; // Events by type.
	cost_ns: EventCosts; // Time by type of event.
	bytes: number; // Size of the stream files.
	threads: number; // Threads in all streams.
	symptoms: number; // Symptoms in all streams.
	stacks?: number; // Distinct stacks of events; like modules and threads absent with --brief.
	stack_nodes?: number; // Nodes of the tree of all stacks.
	frames?: number; // Distinct frames.
	modules?: InfoModule[]; // Modules, those with the most CPU time first.
	no_stack?: InfoNoStack; // CPU samples without a stack.
	states?: ActivityProcess[]; // States of processes, busiest first; absent with --brief and for a stream file.
	requests?: ActivityLoop[]; // Loops that wait for work, and the requests between these waits; those with the most time first.
	streams: InfoStream[]; // The streams, by name.
}

export interface EventCounts {
	run: number; // CPU samples
	wait: number; // waits
	call: number; // system events
}

export interface EventCosts {
	run: number; // CPU time in ns
	wait: number; // waiting in ns
	call: number; // 0: system events have no cost
}

export interface InfoModule {
	name: string; // Name as in frames.
	kind: 'user' | 'library' | 'kernel' | 'jit'; // What it is.
	path: string; // Its file; empty: not known.
	build_id: string; // Build-id in hexadecimal; empty: not known.
	run_events: number; // CPU samples whose innermost function is in it.
	run_ns: number; // Their CPU time.
}

export interface InfoNoStack {
	run_events: number; // How many.
	run_ns: number; // Their CPU time.
}

export interface ActivityProcess {
	process: string; // Name of the process; empty: unknown.
	processes: number; // How many of this name.
	threads: number; // Their threads.
	interval_ns: number; // Time that the threads were recorded; the sum of all states.
	running_ns: number; // On a processor.
	ready_ns: number; // Preempted, or on the run queue after a wait.
	waiting_ns: Record<string, number>; // Blocked, by what for.
	idle_ns: number; // Waits of threads that have nothing to do.
	not_recorded_ns: number; // Time in no known state.
}

export interface ActivityLoop {
	process: string; // Name of the process.
	thread: string; // Name of the thread.
	frame: string; // Where its outer loop waits.
	count: number; // Requests.
	time_ns: number; // Sum of their lengths.
	median_ns: number; // Half of them took at most this long.
	p95_ns: number; // 95 % of them did.
	p99_ns: number; // 99 % of them did.
	longest_ns: number; // The longest.
	longest: ActivityLongest; // Where the longest is.
}

export interface ActivityLongest {
	stream: string; // Id of the stream.
	tid: number; // Its thread.
	t: number; // Its start.
}

export interface InfoStream {
	id: string; // Id of the stream; empty for a file outside of a corpus.
	name: string; // Name of the stream.
	host: string; // Host; empty: not known.
	source: string; // The recording it was read from.
	path: string; // Its stream file.
	bytes: number; // Size of that file.
	events: EventCounts; // Events by type.
	cost_ns: EventCosts; // Time by type of event.
	first_t: number; // Start of the first event, in ns.
	last_t: number; // End of the last event, in ns.
	added?: number; // When its file was written: seconds since 1970. Absent for a file outside of a corpus.
	stacks: number; // Distinct stacks of its events.
	attrs: Record<string, string | number | boolean>; // Attributes of the stream by key.
	threads?: InfoThread[]; // Its threads; the 20 busiest of all streams have a time line.
	symptoms: InfoSymptom[]; // Its symptoms.
	timeline?: Timeline; // What was done in each slice of time.
}

export interface InfoThread {
	pid: number | null; // Process; null: not known.
	tid: number; // Thread.
	name: string; // Its name; empty: not known.
	events: EventCounts; // Events by type.
	cost_ns: EventCosts; // Time by type of event.
	exact?: ThreadTotals; // What the kernel counted while the thread was recorded, whatever was recorded of it; only where that is known.
	timeline?: Timeline; // What was done in each slice of time.
}

export interface ThreadTotals {
	waits: number; // How often it blocked.
	preemptions: number; // How often it lost its processor though it could have run.
	waited_ns: number; // Time blocked.
	run_ns: number; // Time run.
	queued_ns: number; // Time in the run queue.
}

export interface Timeline {
	first_t: number; // Start of the first slice.
	slice_ns: number; // Length of a slice.
	run_ns: number[]; // CPU time a slice.
	wait_ns: number[]; // Waiting a slice.
}

export interface InfoSymptom {
	pid: number | null; // Process; null: not known.
	tid: number; // The thread that was too slow.
	name: string; // What it was doing.
	t0: number; // Start, in ns.
	t1: number; // End, in ns.
}

export interface MineResult {
	kind: 'wait' | 'run' | 'both' | 'ready'; // Events that were mined.
	scope: 'all' | 'thread' | 'graph' | 'critical-path'; // Which events count.
	threshold_ns: number; // The least cost of a pattern.
	similarity: number; // Patterns at least this similar share a cluster.
	rank: 'total' | 'streams' | 'events' | 'average'; // Order of clusters.
	fold_recursion: boolean; // Recursion was folded.
	end: 'complete' | 'max-patterns' | 'interrupted'; // Whether mining came to its end.
	clustered: boolean; // False: too many patterns to cluster; each is a cluster of its own.
	input: MineInput; // All events of this kind.
	unread_streams?: UnreadStreams; // Streams that were left out because their files are damaged or missing; only where there are some.
	area: MineEvents; // The events that count.
	idle: MineEvents; // Events that were counted separately: idle, and waiting for work.
	waiting_for_work?: MineWork; // Of those, waits for work; only with kind wait.
	symptoms: MineSymptoms; // The symptoms behind the area.
	findings?: Finding[]; // Where the time went, in disjoint parts, the largest first.
	explained_ns?: number; // Time of the findings that are listed.
	total_ns?: number; // Of all symptoms, or without symptoms of all that threads did.
	covered_ns?: number; // With --new: time that open signatures explain already.
	stream_ids: string[]; // Ids of the streams that were looked at.
	patterns_total: number; // Patterns that were found.
	clusters_total: number; // Clusters that were found.
	patterns: MinePattern[]; // Patterns by cost, then by frames; with --top those of the clusters shown.
	clusters: MineCluster[]; // Clusters in the order of `rank`.
	modules: ModuleLayer[]; // The modules of the frames above.
	plumbing: string[]; // Frames that say nothing about the program: the scheduler, system call entries, wrappers of waits.
	timing?: MineTiming; // With --timing: where the time went.
}

export interface MineInput {
	streams: number; // Streams that were read.
	events: number; // Events.
	recorded_events?: number; // Events that were recorded; only where they represent others too, which were left out.
	cost_ns: number; // Their time.
}

export interface UnreadStreams {
	count: number; // How many.
	first: UnreadStream[]; // The first of them, at most 100, in the order of the catalogue.
}

export interface UnreadStream {
	stream: string; // Its name.
	stream_id: string; // Its id.
	reason: string; // What is wrong with its file.
}

export interface MineEvents {
	events: number; // Events.
	distinct_stacks: number; // Distinct stacks of them.
	cost_ns: number; // Their time.
}

export interface MineWork {
	events: number; // Events.
	distinct_stacks: number; // Distinct stacks of them.
	cost_ns: number; // Their time.
	places: MineWorkPlace[]; // Where threads waited for work.
}

export interface MineWorkPlace {
	frames: string[]; // The stack up to the function that waits.
	events: number; // Waits there.
	cost_ns: number; // Their time.
}

export interface MineSymptoms {
	count: number; // How many.
	delay_ns: number; // Their length in all.
	unknown_ns: number; // The part of it that no event explains.
	waiting_ns?: number; // Waiting on critical paths.
	running_ns?: number; // CPU time on critical paths.
	ready_ns?: number; // Time on critical paths in which a thread was ready, but had no processor. No cluster has it.
	idle_ns?: number; // Idle time on critical paths.
}

export interface Finding {
	id: string; // From names alone: the same finding has the same id in every corpus.
	kind: 'wait' | 'run' | 'ready'; // Whether threads wait, run, or are ready without a processor.
	sentence: string; // All of it in words.
	who: FindingThread; // Whose time it is: the first of the chain.
	state: 'running' | 'ready' | 'lock' | 'reply' | 'disk' | 'network' | 'timer' | 'gil' | 'page' | 'child' | 'work' | 'idle' | 'other' | 'not_recorded'; // What the last of the chain does.
	object?: FindingObject; // What the first waits for, where that is known.
	holder?: FindingThread; // Who has that, or ended the wait, where it is known.
	frame?: string; // Where the last of the chain is.
	caller?: string; // The function of the program that calls it there, most of the time.
	callees: FindingCall[]; // What is called there, the costliest first.
	cost_ns: number; // Its time. Findings are disjoint.
	share: number; // Of all time, 0 to 1.
	place_ns: number; // Of its time in `frame` and what that calls.
	per_symptom_ns: number; // Its time a symptom, over all symptoms; 0 without symptoms.
	symptoms: number; // Symptoms that have some of it.
	events: number; // Events, or parts of events.
	streams: number; // Streams that have some of it.
	hosts: number; // Hosts that have some of it, as far as they are known.
	chain: FindingStep[]; // From who waits to where the time went: each waits for the next.
}

export interface FindingThread {
	process: string; // Name of the process; empty where it is unknown.
	thread: string; // Name of the thread; empty where it is unknown.
}

export interface FindingObject {
	kind: string; // What it is: lock, file, tcp, ...
	name: string; // Which one.
}

export interface FindingCall {
	frame: string; // A function that the place calls.
	cost_ns: number; // Time of the finding in it.
}

export interface FindingStep {
	who: FindingThread; // The thread.
	state: 'running' | 'ready' | 'lock' | 'reply' | 'disk' | 'network' | 'timer' | 'gil' | 'page' | 'child' | 'work' | 'idle' | 'other' | 'not_recorded'; // What it does.
	object?: FindingObject; // What it waits for, where that is known.
	holder?: FindingThread; // Who has that, or ended the wait, where it is known.
	frame?: string; // Where: the innermost function of the program itself.
}

export interface MinePattern {
	id: string; // Made from its frames: the same in every corpus.
	frames: string[]; // Functions, callers first; others may be in between.
	cost_ns: number; // Time of all events that match, each counted once.
	events: number; // Events that match.
	streams: number; // Streams in which some match.
	average_ns: number; // Time an event, on average.
	sampling_low_ns?: number; // What it cost in these very streams is at least this 95 times of 100 (with sampling_high_ns); only where events were left out.
	sampling_high_ns?: number; // And at most this.
}

export interface MineCluster {
	id: string; // Id of the cluster.
	patterns: string[]; // Ids of its patterns.
	cost_ns: number; // Time of all events that match, each counted once.
	events: number; // Events that match.
	streams: number; // Streams in which some match.
	average_ns: number; // Time an event, on average.
	share: number; // Part of the area, from 0 to 1.
	low_ns: number | null; // Lower end of the 95% interval of cost_ns; null: too few streams.
	high_ns: number | null; // Upper end of it.
	sampling_low_ns?: number; // What it cost in these very streams is at least this 95 times of 100 (with sampling_high_ns); only where events were left out.
	sampling_high_ns?: number; // And at most this.
	common: string[]; // Functions that all its patterns have.
	examples: MineExample[]; // Streams in which it costs most, at most five.
	by_stream: number[]; // What it costs in streams, the 100 costliest (all with page-data): a place in stream_ids, ns, the next place, and so on.
	by_stream_left_out: number; // Streams where it occurs that are not among them.
}

export interface MineExample {
	stream: string; // Name of the stream.
	stream_id: string; // Id of the stream.
	host: string; // Host.
	cost_ns: number; // Time of the cluster there.
	events: number; // Events of the cluster there.
	t: number; // Start of the longest one.
	tid: number; // Its thread.
	longest_ns: number; // Its length.
}

export interface ModuleLayer {
	name: string; // Name of the module, as in frames.
	layer: 'program' | 'jit' | 'library' | 'plug-in' | 'kernel' | 'unknown'; // Whose code it is.
}

export interface MineTiming {
	reading_ns: number; // Reading the corpus.
	mining_ns: number; // Finding patterns.
	clustering_ns: number; // Clustering them.
	ranking_ns: number; // Measuring them.
	prefixes: number; // Prefixes that were looked at.
}

export interface ScopeSymptom {
	stream: string; // Name of the stream.
	id: string; // Id of the stream.
	name?: string; // Name of the symptom.
	pid?: number; // Process, where known.
	tid: number; // The thread that was too slow.
	thread?: string; // Name of the thread, where known.
	t0: number; // Start of the symptom, in ns.
	t1: number; // Its end.
	scope: 'all' | 'thread' | 'graph' | 'critical-path'; // Which events count.
	events: number; // Events in it.
	edges: number; // Pairs of a wait and an event of the thread that ended it.
	path: ScopePart[]; // Its events; of a critical path the parts in order of time, whose lengths and unknown_ns are t1 - t0.
	steps?: ScopeStep[]; // Of a critical path: the waits that it went through to their wakers.
	states?: Record<string, number>; // How long the path was in which state, ns by its name; they add up to its length.
	unknown_ns: number; // Time that no event explains.
	thinned?: boolean; // True: not every wait of this stream was recorded; unknown_ns may be such waits.
	threads_total: number; // Threads that have parts in the scope.
	threads: ScopeThread[]; // The busiest of them, at most 20, and when they did what.
}

export interface ScopePart {
	type: 'run' | 'wait' | 'ready'; // What the thread did.
	tid: number; // Thread.
	t: number; // Start, in ns.
	cost_ns: number; // Length of the part that counts.
	waker?: number; // Of a wait: the thread that ended it, where known.
	interrupt?: boolean; // Of a wait: an interrupt ended it, so nothing is known behind it.
	object?: string; // Of a wait: what it was for, `kind:name`, where known.
	holder?: number; // Of a wait: the thread that held the object, where known.
	queued?: boolean; // It is time on the run queue: after the wait itself, or preempted.
	stack: string[]; // Its stack, root first.
}

export interface ScopeStep {
	type: 'wait'; // What the thread did.
	tid: number; // Thread.
	t: number; // Start, in ns.
	cost_ns: number; // Length of the part that counts.
	waker?: number; // Of a wait: the thread that ended it, where known.
	interrupt?: boolean; // Of a wait: an interrupt ended it, so nothing is known behind it.
	object?: string; // Of a wait: what it was for, `kind:name`, where known.
	holder?: number; // Of a wait: the thread that held the object, where known.
	queued?: boolean; // It is time on the run queue: after the wait itself, or preempted.
	stack: string[]; // Stack of the wait.
	waker_stack: string[]; // Stack of the waker when it ended the wait; empty: not known.
}

export interface ScopeThread {
	tid: number; // Thread.
	name?: string; // Its name, where known.
	parts: number; // Its parts; of a thread or a graph, events.
	run_ns: number; // CPU time of these.
	wait_ns: number; // Waiting of these, with the run queue after waits.
	ready_ns: number; // Preempted, of these.
	timeline: Timeline; // How much of its parts is in the symptom, by time, in 30 slices from t0 to t1.
}

export interface ScopeResult {
	symptoms_total: number; // Symptoms there are.
	symptoms: ScopePageSymptom[]; // The longest of them; stacks are numbers.
	stacks: SharedStacks; // The stacks of all symptoms, each once.
}

export interface ScopePageSymptom {
	stream: string; // Name of the stream.
	id: string; // Id of the stream.
	name?: string; // Name of the symptom.
	pid?: number; // Process, where known.
	tid: number; // The thread that was too slow.
	thread?: string; // Name of the thread, where known.
	t0: number; // Start of the symptom, in ns.
	t1: number; // Its end.
	scope: 'all' | 'thread' | 'graph' | 'critical-path'; // Which events count.
	events: number; // Events in it.
	edges: number; // Pairs of a wait and an event of the thread that ended it.
	path: ScopePagePart[]; // Its events; of a critical path the parts in order of time, whose lengths and unknown_ns are t1 - t0.
	steps?: ScopePageStep[]; // Of a critical path: the waits that it went through to their wakers.
	states?: Record<string, number>; // How long the path was in which state, ns by its name; they add up to its length.
	unknown_ns: number; // Time that no event explains.
	thinned?: boolean; // True: not every wait of this stream was recorded; unknown_ns may be such waits.
	threads_total: number; // Threads that have parts in the scope.
	threads: ScopeThread[]; // The busiest of them, at most 20, and when they did what.
	facts: ScopeThreadNames; // Names of its threads.
}

export interface ScopePagePart {
	type: 'run' | 'wait' | 'ready'; // What the thread did.
	tid: number; // Thread.
	t: number; // Start, in ns.
	cost_ns: number; // Length of the part that counts.
	waker?: number; // Of a wait: the thread that ended it, where known.
	interrupt?: boolean; // Of a wait: an interrupt ended it, so nothing is known behind it.
	object?: string; // Of a wait: what it was for, `kind:name`, where known.
	holder?: number; // Of a wait: the thread that held the object, where known.
	queued?: boolean; // It is time on the run queue: after the wait itself, or preempted.
	stack: number; // Its stack, root first. A number of `stacks`.
}

export interface ScopePageStep {
	type: 'wait'; // What the thread did.
	tid: number; // Thread.
	t: number; // Start, in ns.
	cost_ns: number; // Length of the part that counts.
	waker?: number; // Of a wait: the thread that ended it, where known.
	interrupt?: boolean; // Of a wait: an interrupt ended it, so nothing is known behind it.
	object?: string; // Of a wait: what it was for, `kind:name`, where known.
	holder?: number; // Of a wait: the thread that held the object, where known.
	queued?: boolean; // It is time on the run queue: after the wait itself, or preempted.
	stack: number; // Stack of the wait. A number of `stacks`.
	waker_stack: number; // Stack of the waker when it ended the wait; 0: not known. A number of `stacks`.
}

export interface ScopeThreadNames {
	threads: ScopeThreadName[]; // Threads that have a name.
}

export interface ScopeThreadName {
	tid: number; // Thread.
	name: string; // Its name.
}

export interface SharedStacks {
	names: string[]; // Frames.
	nodes: number[]; // Three numbers a stack: how much its number is larger than that of the stack before it (from 0) and than that of its caller (0: none), and the place of its innermost frame in `names`.
	modules: ModuleLayer[]; // The modules of the frames above.
	plumbing: string[]; // Frames that say nothing about the program: the scheduler, system call entries, wrappers of waits.
}
