// Results as the page gets them. Made from the tables in src/result (fields.h) by `ninja -C build schema`: edit those.

export interface AnnotateResult {
	function: string; // The function, `module!function`.
	path: string; // File of its module, as recorded; empty where it is not known.
	build_id: string; // Of that file; empty where it has none.
	source?: string; // Its source file, as the compiler or the interpreter knew it.
	file?: string; // The file that is shown: source, or the binary.
	kind: 'lines' | 'source' | 'code'; // What rows are: lines of the source, instructions, or lines without text.
	scope: 'all' | 'thread' | 'graph' | 'critical-path'; // Which events count.
	streams: number; // Streams.
	unread_streams?: UnreadStreams; // Streams that were left out because their files are damaged or missing; only where there are some.
	run_ns: number; // CPU time of the function itself.
	wait_ns: number; // Waiting of the function itself.
	total_run_ns: number; // CPU time, with what it calls.
	total_wait_ns: number; // Waiting, with what it calls.
	whole_run_ns: number; // CPU time of everything.
	whole_wait_ns: number; // Waiting of everything.
	others: string[]; // Other functions that fit, the costliest first; five at most.
	other_count: number; // How many others fit.
	why_no_source?: string; // Why there is no source.
	why_no_code?: string; // Why there are no instructions, which were wanted or looked for.
	why_no_lines?: string; // Why no line has a cost.
	rows: AnnotateRow[]; // Lines or instructions, in order.
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

export interface AnnotateRow {
	line?: number; // Number of the line; none where it is not known.
	address?: string; // Of an instruction, in the binary: `0x1a2c`.
	text: string; // The line, or the instruction.
	run_ns?: number; // CPU time at this line.
	wait_ns?: number; // Waiting at this line.
	total_run_ns?: number; // CPU time, with what the line calls.
	total_wait_ns?: number; // Waiting, with what the line calls.
}

export interface BenchResult {
	a: string; // The old command.
	b: string; // The new one.
	level: number; // All intervals together, at all looks, may be wrong so often.
	limit: number; // Smaller differences do not matter, as a part of A's time.
	measure: string; // What is compared: time, from start to end, or cpu.
	verdict: 'same' | 'faster' | 'unsure' | 'slower'; // Of all inputs.
	ended: string; // Why no more runs were made: decided, max-time or pairs.
	cpus?: string; // Processors to which runs were pinned; absent: none.
	seed: number; // The order of runs follows from it.
	runs: number; // Timed runs, of both.
	took_ns: number; // How long it all took.
	inputs: BenchInput[]; // Each input.
	recorded: number; // Recorded runs of each command.
	corpus?: string; // Where they are; absent: they are not kept.
	cause: BenchCause | null; // The function that the difference comes from; null: none is known.
	no_cause?: string; // Why there is no cause.
}

export interface BenchInput {
	input?: string; // The input; absent: there is only one.
	verdict: 'same' | 'faster' | 'unsure' | 'slower'; // What is known of B against A.
	pairs: number; // Pairs of runs.
	a_ns: number; // Median time of a run of A.
	b_ns: number; // Of B.
	a_cpu_ns: number; // Median CPU time of a run of A.
	b_cpu_ns: number; // Of B.
	change: number; // How much longer B takes, as a part of A's time.
	low: number | null; // The least that it may be; null: not known.
	high: number | null; // The most that it may be; null: not known.
	a_times_ns: number[]; // The time of each run of A, in the order of pairs.
	b_times_ns: number[]; // Of B.
	a_cpu_times_ns: number[]; // The CPU time of each run of A.
	b_cpu_times_ns: number[]; // Of B.
}

export interface BenchCause {
	frame: string; // The function.
	layer: string; // Whose code it is.
	caller?: string; // The function that calls it.
	new: boolean; // Only the slower side calls it.
	delta_ns: number; // How much longer it takes, per run.
	state?: string; // What threads do longer for it: run, wait for what.
	state_delta_ns: number; // How much longer, per run and all threads.
}

export interface CoverageResult {
	scope: 'all' | 'thread' | 'graph' | 'critical-path'; // Which events count.
	whole: 'symptoms' | 'events'; // What the whole is.
	whole_ns: number; // The whole.
	streams: number; // Streams.
	unread_streams?: UnreadStreams; // Streams that were left out because their files are damaged or missing; only where there are some.
	coverage: number | null; // Part of the whole that signatures explain; null: there is nothing to explain.
	cost_ns: number; // The same in ns.
	events: number; // Events that match.
	ignored: number; // Signatures that are not counted, because of their state.
	signatures: CoverageSignature[]; // Signatures, the most costly first.
	curves: CoverageCurves; // By way of choosing streams: what is explained after each.
	shuffles: number; // Random orders that were averaged.
	paper_order: boolean; // Streams are ordered as in the paper.
	levels: CoverageLevel[]; // How many streams it takes to explain so much.
	stackmine_share_of: CoverageRatios; // Streams that the first way takes, as a part of the others.
}

export interface CoverageSignature {
	name: string; // Name.
	state: 'open' | 'fixed' | 'ignored'; // Its state.
	coverage: number | null; // Part of the whole that it explains.
	cost_ns: number; // The same in ns.
	run_ns: number; // CPU time of it.
	wait_ns: number; // Waiting of it.
	events: number; // Events that match.
	streams: number; // Streams in which some match.
	cumulative: number | null; // Part of the whole that it and those before explain together.
	cumulative_ns: number; // The same in ns.
	bug: string | null; // Link to a bug; null: none.
	notes: string[]; // What people wrote about it, the newest last.
}

export interface CoverageCurves {
	stackmine: CoverageStep[]; // Streams that show the signature first that covers most, as StackMine orders them.
	greedy_total: CoverageStep[]; // Streams by the total delay of their symptoms, largest first.
	greedy_max: CoverageStep[]; // Streams by the longest delay of one symptom, largest first.
}

export interface CoverageStep {
	streams: number; // Streams opened so far.
	coverage: number | null; // Part of the whole that is explained by then.
	cost_ns: number; // The same in ns.
	stream: string; // Name of the stream to open.
	stream_id: string; // Its id.
	reveals: string[]; // Signatures that it is the first to show.
}

export interface CoverageLevel {
	coverage: number | null; // Part of the whole.
	cost_ns: number; // The same in ns.
	stackmine: number | null; // Streams as StackMine orders them.
	random: number | null; // Streams in a random order, on average.
	greedy_total: number | null; // Streams by the total delay of their symptoms.
	greedy_max: number | null; // Streams by the longest delay of one symptom.
}

export interface CoverageRatios {
	random?: number | null; // Of a random order.
	greedy_total?: number | null; // Of streams by the total delay of their symptoms.
	greedy_max?: number | null; // Of streams by the longest delay of one symptom.
}

export interface DiffResult {
	base: DiffSide; // The good streams.
	slow: DiffSide; // The slow ones.
	delta_ns: number; // How much longer a slow stream takes.
	tested: boolean; // Differences were tested against chance.
	chance: DiffChance; // What the streams can tell.
	layers: Record<string, DiffLayer>; // Time by whose code it is.
	root_cause: DiffRootCause | null; // The function that the difference comes from; null: none.
	no_cause?: 'nothing-sure' | 'not-slower' | 'total-unsure' | 'moved'; // Why there is no root_cause.
	truth?: DiffTruth; // With --truth: how far the truth is from what was found.
	gate?: DiffGate; // With --gate: whether the rules are kept.
	paths_total: number; // Paths there are.
	heat: DiffHeat; // The heat map of the first paths: of those with the same hottest function the first.
	paths: DiffPath[]; // Paths, the largest difference first.
	tree?: CallTreeOfTwo; // The tree of costly calls; of least_ns, tree-min decides. With page-data it is in page.
	page?: CallTreePageOfTwo; // With page-data: what the page needs, the tree of calls and facts of frames.
}

export interface DiffSide {
	corpus: string; // Its folder.
	chosen?: string; // How its streams were chosen, in brackets; absent: all of them.
	streams: number; // Streams.
	unread_streams?: UnreadStreams; // Streams that were left out because their files are damaged or missing; only where there are some.
	events: number; // Events.
	instances: number; // Calls that were inferred.
	states?: Record<string, number>; // States that its threads were in, ns per stream; those that occur.
}

export interface DiffChance {
	sure: boolean; // The difference as a whole is unlikely to be chance.
	sure_paths: number; // Paths of which that is true.
	sure_functions: number; // Functions of which that is true, in all contexts together.
	p?: number; // Chance of such a difference when there is none; only where that was tested.
	q?: number; // The same, corrected for the number of functions.
	level: number; // Level of significance.
	level_is_of: string; // What the level holds for.
	power: number; // Chance to find a difference of the detectable size.
	detectable_ns: number | null; // The least difference that would be found; null: not known.
	detectable_share: number | null; // The same as a part of the base.
	detectable_path_ns: number | null; // The least difference of one path that would be found.
	detectable_path_share: number | null; // The same as a part of the base.
	streams_for_5_percent: number | null; // Streams a side that it takes to find a difference of 5%.
}

export interface DiffLayer {
	base_ns: number; // Time a stream on the base side.
	slow_ns: number; // On the slow side.
}

export interface DiffRootCause {
	frame: string; // The function.
	module: string; // Its module.
	function: string; // Its name.
	layer: 'program' | 'jit' | 'library' | 'plug-in' | 'kernel' | 'unknown'; // Whose code it is.
	internal: boolean; // It is code of the program itself.
	new: boolean; // Only the slow side calls it.
	caller?: string; // The function that calls it.
	delta_ns: number; // How much longer it takes in all contexts; no more than its callers do.
	sure: boolean; // That is unlikely to be chance.
	p?: number; // Chance of such a difference when there is none; only where that was tested.
	q?: number; // The same, corrected for the number of functions.
}

export interface DiffTruth {
	p_min: number | null; // Rank of the first path with it; null: none has it.
	f_min: number | null; // Distance of the function on that path.
}

export interface DiffGate {
	verdict: 'within' | 'moved' | 'went-away' | 'unsure' | 'beyond'; // Of all rules: within, unsure or beyond.
	level: number; // All intervals together may be wrong so often.
	blocks: number; // Hosts, with their kernels, that both sides have.
	base_streams: number; // Good streams on these.
	slow_streams: number; // Slow ones.
	run_ns: number; // What a stream of the base takes on these.
	rules: GateRule[]; // What each rule comes to.
}

export interface GateRule {
	rule: string; // The rule, as it was given.
	metric: 'total' | 'own' | 'all'; // What it measures.
	limit_ns: number; // Its limit, per stream.
	verdict: 'within' | 'moved' | 'went-away' | 'unsure' | 'beyond'; // The gravest of its subjects'.
	left_out: number; // Functions that are not judged because there are too many.
	subjects: GateSubject[]; // What it judges, the gravest first.
}

export interface GateSubject {
	frame?: string; // The function; absent: the whole run.
	verdict: 'within' | 'moved' | 'went-away' | 'unsure' | 'beyond'; // What is known of it.
	base_ns: number; // What it takes on the base side.
	delta_ns: number; // What the slow side takes more, per stream.
	low_ns: number | null; // The least that it takes more; null: not known.
	high_ns: number | null; // The most that it takes more; null: not known.
	callers?: GateInterval; // Of own: the same of its callers with all that they call.
	recent_delta_ns?: number; // Of what went away: what the last streams take more.
}

export interface GateInterval {
	delta_ns: number; // What the slow side takes more, per stream.
	low_ns: number | null; // The least that it takes more; null: not known.
	high_ns: number | null; // The most that it takes more; null: not known.
}

export interface DiffHeat {
	most_ns: number; // The largest value in it.
	rows_total: number; // Rows that all paths that take more would make.
	rows: DiffHeatRow[]; // A row a path, the first 10 unless top says otherwise.
}

export interface DiffHeatRow {
	rank: number; // Rank of the path.
	hottest: number; // Which of its frames takes most more.
	delta_ns: number[]; // What each of its frames takes more, per stream, in ns.
}

export interface DiffPath {
	rank: number; // Its rank.
	cost_ns: number; // Its difference.
	function_delta_ns: number; // What its hottest function takes more in all contexts together.
	new: boolean; // Only the slow side has it.
	p?: number; // Chance of such a difference when there is none; only where that was tested.
	q?: number; // The same, corrected for the number of functions.
	frames: DiffFunction[]; // Its functions, root first.
}

export interface DiffFunction {
	frame: string; // The function.
	base_ns: number; // Own time on the base side.
	slow_ns: number; // Own time on the slow side.
	delta_ns: number; // Difference of own times.
	whole_delta_ns: number; // Difference with callees.
	base_mean_ns?: number | null; // With --mean: mean on the base side.
	slow_mean_ns?: number | null; // With --mean: mean on the slow side.
	rank: number; // Its rank on the path.
	distance: number; // From the hottest function of the path; below 0 for callers.
	layer: 'program' | 'jit' | 'library' | 'plug-in' | 'kernel' | 'unknown'; // Whose code it is.
}

export interface CallTreeOfTwo {
	least_ns: number; // Calls of less than this are left out.
	contexts: number; // Calling contexts there are.
	shown: number; // Calling contexts that are in the tree.
	whole_ns: number; // Time of all calls on the slow side.
	base_whole_ns: number; // The same on the base side.
	hidden_ns: number; // Time of the calls that are left out.
	base_hidden_ns: number; // The same on the base side.
	items: CallTreeItemOfTwo[]; // Calls in the order of the tree, callers first.
}

export interface CallTreeItemOfTwo {
	depth: number; // How deep in the tree; a root has 0.
	frames: string[]; // Frames from the caller shown above to this one.
	whole_ns: number; // Time with all callees.
	base_whole_ns: number; // The same on the base side.
	own_ns: number; // Time without callees.
	base_own_ns: number; // The same on the base side.
	new?: boolean; // Only the slow side has it.
	hidden?: number; // Callees that are left out.
	hidden_ns?: number; // Their time.
	base_hidden_ns?: number; // The same on the base side.
}

export interface CallTreePageOfTwo {
	tree: CallTreeOfTwo; // The tree of costly calls; of least_ns, tree-min decides. With page-data it is in page.
	modules: ModuleLayer[]; // The modules of the frames above.
	plumbing: string[]; // Frames that say nothing about the program: the scheduler, system call entries, wrappers of waits, functions of interpreters between those of the program.
	waiting: string[]; // Frames that say how a thread waits, not who does: like those of the system.
	starting: string[]; // Frames where a program or a script starts: like those of a library at most.
}

export interface ModuleLayer {
	name: string; // Name of the module, as in frames.
	layer: 'program' | 'jit' | 'library' | 'plug-in' | 'kernel' | 'unknown'; // Whose code it is.
	own: 'system' | 'runtime' | 'library' | 'program' | 'script' | 'gpu'; // How far its functions say where the program is: of the system (not at all), of what runs scripts, of a library that others use, of the program, of a script that it runs, of a GPU (most).
}

export interface ErrorAnswer {
	error: string; // A sentence: what is wrong and what to do.
}

export interface ExplainResult {
	clusters: ExplainCluster[]; // The functions.
	tree: ExplainNode; // A node: a test with two branches, or a leaf.
	accuracy: number | null; // How often the tree is right about rows it has not seen; null: it distinguishes nothing.
	r2: number | null; // How much of the spread of y everything explains.
	height: number; // Height of the tree.
	leaves: number; // Leaves of the tree.
	cross_validated: boolean; // Accuracy was found by cross-validation.
	validated_r2: number | null; // r2 of rows that were not seen.
	agreement: number | null; // How often the tree agrees with the clusters.
	mean_square_error: number | null; // Mean square error.
	clustering_error: number | null; // Error of the clustering, as the paper has it.
	distribution_error: number | null; // Error of the distribution in the leaves, as the paper has it.
	relative_error: number | null; // Mean error as a part of y.
	explained: boolean; // The tree separates the clusters.
	within: boolean; // The columns explain differences within clusters.
	noise: 'relative' | 'additive'; // How rows scatter.
	rows: number; // Rows that were used.
	left_out: number; // Rows without x or y.
	copies: number; // Rows that equal an earlier one and count once.
	chance: ExplainChance | null; // What the same search found in tables of chance; null: it was not asked.
	withdrawn: 'chance' | 'curve' | 'cut' | null; // Why several functions were withdrawn; null: they were not.
	confusion: number[][]; // Rows by cluster and by what the tree says.
	same: string[][]; // Columns that are equal in every row.
	constant: string[]; // Columns that are the same in all rows.
	assignments: (number | null)[]; // The cluster of each row; null: left out.
	points: ExplainPoints; // The rows as points, at most 1,000 (20,000 with page-data), evenly chosen.
	curves: ExplainCurves; // With one x: what the functions are at evenly spaced x.
	streams?: ExplainStream[]; // Of a corpus: what each row is.
	unread_streams?: UnreadStreams; // Streams that were left out because their files are damaged or missing; only where there are some.
	page?: ExplainPage; // With page-data: what the page needs besides.
}

export interface ExplainCluster {
	id: number; // Its number.
	size: number; // Rows that follow it.
	function: ExplainFunction; // y as a function of x.
	r2: number | null; // How much of the spread of y it explains in its rows; null: unknown.
	share: number; // Its part of all rows.
	spread: number | null; // How far rows are from it.
	median_y: number | null; // Median of y in its rows.
}

export interface ExplainFunction {
	intercept: number | null; // Its constant.
	coefficients: Record<string, number | null>; // Factors of its terms.
}

export type ExplainNode = ExplainLeaf | ExplainTest;

export interface ExplainLeaf {
	cluster: number; // The function that its rows follow.
	distribution: number[]; // Shares of its rows that are nearest to each function.
	counts: number[]; // Its rows by function.
}

export interface ExplainTest {
	feature: string; // The column, or `column=value` of a category.
	threshold: number; // Rows up to it go left, others right.
	unit?: string; // Unit of the threshold.
	column?: string; // Of a category: its column.
	value?: string | null; // Of a category: the value that goes right.
	left: ExplainNode; // The branch of rows up to the threshold.
	right: ExplainNode; // The branch of rows above the threshold.
	counts: number[]; // Its rows by function.
}

export interface ExplainChance {
	tables: number; // Tables of chance.
	as_good: number; // Those that were explained as well.
}

export interface ExplainPoints {
	left_out: number; // Rows that are not among them.
	x: number[]; // x of each.
	y: number[]; // y of each.
	row: number[]; // Its row in the table.
	cluster: number[]; // Its cluster.
}

export interface ExplainCurves {
	x: number[]; // The places, from the least x to the most; empty with several inputs.
	y: (number | null)[][]; // A list for each cluster: its function at each place.
}

export interface ExplainStream {
	id: string; // Id of the stream.
	name: string; // Name of the stream.
	symptom?: string; // Name of the symptom.
	tid?: number; // Its thread.
	t0?: number; // Its start.
	t1?: number; // Its end.
}

export interface ExplainPage {
	name: string; // The table.
	x: string; // Column of x.
	y: string; // Column of y.
	inputs: number; // Columns of x.
	logarithmic: boolean; // Axes are logarithmic.
	functions: string[]; // The functions in words.
	tests: (string | null)[]; // The tests of the tree in words, in its order; null: a leaf.
	sentences: string[]; // Where the tree has tests: a cluster each, which rows it has and how slow they are.
	text: string; // The whole explanation as text.
}

export interface FsckResult {
	paths: FsckPath[]; // Each path.
}

export interface FsckPath {
	path: string; // Corpus or file.
	kind: 'corpus' | 'stream'; // What it is.
	state: 'clean' | 'damaged' | 'repaired'; // What was found.
	streams_good: number; // Stream files without damage.
	streams_bad: number; // Damaged stream files.
	streams_repaired: number; // Stream files that were repaired.
	rows_without_file: number; // Rows of the catalogue without a file.
	rows_wrong: number; // Rows that do not agree with their file.
	files_without_row: number; // Files that no row names.
	recordings: number; // Recordings that were cut off.
	leftovers: number; // Files left over by a crash.
	catalogue_bad: boolean; // The catalogue is damaged.
	signatures_bad: boolean; // The signatures are damaged.
	footer_bad: boolean; // The footer of the file is damaged.
	blocks_good: number; // Blocks without damage.
	blocks_bad: number; // Damaged blocks.
	bytes_bad: number; // Bytes of them.
	events_good: number; // Events that can be read.
	notes: Note[]; // What was lost or not understood on the way, counted.
}

export interface Note {
	what: string; // What happened, as a sentence in the singular.
	count: number; // How often.
	example: string | null; // Where it happened once.
}

export interface HuntExperiment {
	t_ns: number; // Since the hunt began.
	experiment: number; // Its number.
	parent: number | null; // The experiment that it refines; null: a root.
	parents: number[]; // All that led to it.
	hypothesis: string; // What is tested: CPUbound, ExcessiveSyncWaitingTime, ….
	focus: HuntFocus; // Where it is tested; null: everywhere.
	origin: 'call-graph' | 'connect' | 'deep-start'; // How it came about.
	state: 'never-run' | 'running' | 'true' | 'false' | 'deferred' | 'impossible'; // Where it is.
	evidence: 'probes' | 'samples'; // What its verdict rests on.
	value: number | null; // What was measured; null: nothing yet.
	threshold: number; // It is true from here on.
	confidence: number | null; // How sure the verdict is.
	mean: number | null; // Mean of what was measured.
	cost: number | null; // What measuring costs the program.
	observed_ns: number; // How long it was measured.
	calls: number; // Calls that were seen.
	runs: number; // How often it was started.
	created_ns: number | null; // Made, since the hunt began; null: has not happened.
	started_ns: number | null; // Started, since the hunt began; null: has not happened.
	concluded_ns: number | null; // Concluded, since the hunt began; null: has not happened.
	found_ns: number | null; // Found true, since the hunt began; null: has not happened.
	lost_ns: number | null; // No longer true, since the hunt began; null: has not happened.
	not_probed?: string; // Why probes cannot measure it.
	why?: string; // Why it is in this state.
}

export interface HuntFocus {
	code: string | null; // Function or module.
	process: string | null; // Process.
	thread: string | null; // Thread.
	host: string | null; // Host.
	object: string | null; // Lock or other object.
}

export interface HuntSummary {
	summary: true; // This is the last line.
	t_ns: number; // How long the hunt took.
	target: string; // What was hunted.
	end: string; // Why it ended.
	strategy: 'deep-start' | 'call-graph'; // How it searched.
	thresholds: Record<string, number>; // By hypothesis.
	deep_threshold: number | null; // Functions in at least this share of samples are deep starters.
	cost_limit: number; // What measuring may cost the program.
	experiments: number; // Experiments in all.
	attempted: number; // Those that were measured.
	states: HuntStates; // Experiments by state.
	origins: HuntOrigins; // Experiments by origin.
	samples: number; // Samples that were taken.
	cost: number | null; // What measuring costs now.
	highest_cost: number | null; // The most it ever cost.
	weighted_sum: number; // Sum of the times to each bottleneck, in seconds, below 0.
	specific: number; // How many of the bottlenecks are the most specific ones; they come first.
	bottlenecks: number[]; // Experiments that were true, the most important first.
	history: HuntExperiment[]; // The search history graph: every experiment as it was at the end, by number; parents are its edges.
}

export interface HuntStates {
	'never-run': number; // Not examined.
	running: number; // Being measured.
	true: number; // True.
	false: number; // False.
	deferred: number; // Waiting until their cost fits.
	impossible: number; // Those that cannot be measured.
}

export interface HuntOrigins {
	'call-graph': number; // By refinement.
	connect: number; // On the way to a deep starter.
	'deep-start': number; // From samples.
}

export interface HuntResult {
	live?: HuntLive; // Only from a server.
	summary: HuntSums; // As in the last line of lode hunt --json, about the hunt so far.
	experiments: HuntExperiment[]; // All experiments as they are, by number.
	words: HuntWords[]; // What the text calls each experiment, by number.
	sentences: string[]; // The bottlenecks of the summary, in its order, in words.
}

export interface HuntLive {
	version: number; // Grows with each change; ?seen=VERSION asks for a later one.
	running: boolean; // Whether the hunt goes on.
}

export interface HuntSums {
	summary: true; // This is the last line.
	t_ns: number; // How long the hunt took.
	target: string; // What was hunted.
	end: string; // Why it ended.
	strategy: 'deep-start' | 'call-graph'; // How it searched.
	thresholds: Record<string, number>; // By hypothesis.
	deep_threshold: number | null; // Functions in at least this share of samples are deep starters.
	cost_limit: number; // What measuring may cost the program.
	experiments: number; // Experiments in all.
	attempted: number; // Those that were measured.
	states: HuntStates; // Experiments by state.
	origins: HuntOrigins; // Experiments by origin.
	samples: number; // Samples that were taken.
	cost: number | null; // What measuring costs now.
	highest_cost: number | null; // The most it ever cost.
	weighted_sum: number; // Sum of the times to each bottleneck, in seconds, below 0.
	specific: number; // How many of the bottlenecks are the most specific ones; they come first.
	bottlenecks: number[]; // Experiments that were true, the most important first.
}

export interface HuntWords {
	step: string; // What its focus adds to that of its parent; of a root, the hypothesis.
	focus: string; // Where it is tested.
	measured: string; // What was measured; empty: nothing yet.
	value: string; // The same in brief: the value alone.
	threshold: string; // From where on it is true.
	claim: string; // What the hypothesis says of the place: uses the CPU, waits for other threads, ...
	origin: string; // How the search came to it, in words; empty: step by step, as usual.
}

export interface ImportResult {
	streams: ImportedStream[]; // Each stream.
	signatures: ImportSignature[]; // Signatures that match the new streams.
	notes: Note[]; // What was lost or not understood on the way, counted.
}

export interface ImportedStream {
	id: string; // Its id.
	name: string; // Its name.
	events: EventCounts; // Events by type.
	stacks: number; // Distinct stacks of its events.
	cost_ns: EventCosts; // Time by type of event.
	span_ns: number; // From its first to its last event.
	stored_bytes: number; // Size of its file.
	skipped: boolean; // It was there already.
	replaced: boolean; // It replaced an older one.
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

export interface ImportSignature {
	name: string; // Name.
	state: 'open' | 'fixed' | 'ignored'; // Its state.
	streams: number; // New streams that it matches.
	cost_ns: number; // Time that it explains there.
}

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
	objects?: InfoObject[]; // What threads waited for, longest first, where that is known.
	states?: ActivityProcess[]; // States of processes, busiest first; absent with --brief and for a stream file.
	requests?: ActivityLoop[]; // Loops that wait for work, and the requests between these waits; those with the most time first.
	streams: InfoStream[]; // The streams, by name.
}

export interface InfoModule {
	name: string; // Name as in frames.
	kind: 'user' | 'library' | 'kernel' | 'jit'; // What it is.
	language: 'native' | 'python' | 'javascript' | 'java' | 'php'; // Language of its functions; native: machine code, or not known.
	path: string; // Its file; empty: not known.
	build_id: string; // Build-id in hexadecimal; empty: not known.
	run_events: number; // CPU samples whose innermost function is in it.
	run_ns: number; // Their CPU time.
}

export interface InfoNoStack {
	run_events: number; // How many.
	run_ns: number; // Their CPU time.
}

export interface InfoObject {
	object: string; // What it is, `kind:name`.
	waits: number; // Waits for it.
	wait_ns: number; // Their time.
}

export interface ActivityProcess {
	process: string; // Name of the process; empty: unknown.
	processes: number; // How many of this name.
	threads: number; // Their threads.
	interval_ns: number; // Time that the threads were recorded; the sum of all states.
	running_ns: number; // On a processor.
	running_user_ns?: number; // Of this, in the program's own code, as samples tell; of threads without samples nothing.
	running_kernel_ns?: number; // And in the kernel.
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
	threads?: InfoThread[]; // Its threads; the 20 busiest of all streams have a timeline.
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

export interface LatencyResult {
	input: LatencyInput; // What was read.
	unread_streams?: UnreadStreams; // Streams that were left out because their files are damaged or missing; only where there are some.
	own_ns: number; // Time of all contexts, without what is counted separately.
	idle_ns: number; // Idle time, counted separately.
	contexts_total: number; // Contexts there are.
	layers: Record<string, number>; // Time by whose code it is.
	states?: Record<string, number>; // States that the threads were in, ns per stream; those that occur. Absent if there are no waits, or more than 5 million events.
	heat: LatencyHeat; // The heat map of the first contexts.
	contexts: LatencyContext[]; // Contexts, those with the most own time first.
	tree?: CallTree; // The tree of costly calls; of least_ns, tree-min decides. With page-data it is in page.
	page?: CallTreePage; // With page-data: what the page needs, the tree of calls and facts of frames.
}

export interface LatencyInput {
	streams: number; // Streams.
	threads: number; // Threads.
	events: number; // Events.
	instances: number; // Calls that were inferred.
}

export interface LatencyHeat {
	most_ns: number; // The largest value in it.
	rows_total: number; // Rows that all contexts would make: those that take any time.
	rows: LatencyHeatRow[]; // A row a context, the first 10 unless top says otherwise.
}

export interface LatencyHeatRow {
	rank: number; // Rank of the context.
	hottest: number; // Which of its frames takes most.
	own_ns: number[]; // Time of each of its frames.
}

export interface LatencyContext {
	frames: string[]; // The calling context, root first; its last frame is the function.
	count: number; // Calls.
	conservative_ns: number; // Time for sure within calls, in all.
	aggressive_ns: number; // Time at most within calls, in all.
	estimate_ns: number; // The estimate between them: calls begin and end midway between samples.
	low_ns: number; // Lower end of the 95% interval of estimate_ns.
	high_ns: number; // Upper end of it.
	own_ns: number; // Estimated time without callees.
	waited_ns: number; // Waiting within the calls.
	idle_ns: number; // The part of it that is idle.
	mean_ns: number; // Estimated time a call.
	median_ns: number; // Half of the calls took at most this.
	p90_ns: number; // 90% took at most this.
	p99_ns: number; // 99% took at most this.
	longest_ns: number; // The longest call.
	own_mean_ns?: number | null; // With --mean: own time from means, as the paper has it.
}

export interface CallTree {
	least_ns: number; // Calls of less than this are left out.
	contexts: number; // Calling contexts there are.
	shown: number; // Calling contexts that are in the tree.
	whole_ns: number; // Time of all calls.
	hidden_ns: number; // Time of the calls that are left out.
	items: CallTreeItem[]; // Calls in the order of the tree, callers first.
}

export interface CallTreeItem {
	depth: number; // How deep in the tree; a root has 0.
	frames: string[]; // Frames from the caller shown above to this one.
	whole_ns: number; // Time with all callees.
	own_ns: number; // Time without callees.
	hidden?: number; // Callees that are left out.
	hidden_ns?: number; // Their time.
}

export interface CallTreePage {
	tree: CallTree; // The tree of costly calls; of least_ns, tree-min decides. With page-data it is in page.
	modules: ModuleLayer[]; // The modules of the frames above.
	plumbing: string[]; // Frames that say nothing about the program: the scheduler, system call entries, wrappers of waits, functions of interpreters between those of the program.
	waiting: string[]; // Frames that say how a thread waits, not who does: like those of the system.
	starting: string[]; // Frames where a program or a script starts: like those of a library at most.
}

export interface LatencyCall {
	stream: string; // Name of the stream.
	pid?: number; // Process, where known.
	tid: number; // Thread.
	begin: number; // Estimated begin, in ns.
	end: number; // Estimated end.
	conservative_ns: number; // Time for sure.
	aggressive_ns: number; // Time at most.
	estimate_ns: number; // The estimate between them.
	waited_ns: number; // Waiting within it.
	seen: number; // Events that saw it.
	samples: number; // CPU samples among them.
	frames: string[]; // Its calling context, root first.
}

export interface MineResult {
	kind: 'wait' | 'run' | 'both' | 'ready'; // Events that were mined.
	scope: 'all' | 'thread' | 'graph' | 'critical-path'; // Which events count.
	threshold_ns: number; // The least cost of a pattern.
	similarity: number; // Patterns at least this similar share a cluster.
	rank: 'total' | 'streams' | 'events' | 'average' | 'gain'; // Order of clusters.
	fold_recursion: boolean; // Recursion was folded.
	end: 'complete' | 'max-patterns' | 'interrupted'; // Whether mining came to its end.
	clustered: boolean; // False: too many patterns to cluster; each is a cluster of its own.
	input: MineInput; // All events of this kind.
	unread_streams?: UnreadStreams; // Streams that were left out because their files are damaged or missing; only where there are some.
	area: MineEvents; // The events that count.
	idle: MineEvents; // Events that were counted separately: idle, and waiting for work.
	waiting_for_work?: MineWork; // Of those, waits for work; only with kind wait.
	symptoms: MineSymptoms; // The symptoms behind the area.
	states?: FindingStates[]; // What processes did in the time of the symptoms, or without symptoms in all; the busiest first.
	machine?: FindingMachine; // That the machine was busy, where threads were ready for that; it is none of the findings.
	findings?: Finding[]; // Where the time went, in disjoint parts, the largest first.
	explained_ns?: number; // Time of the findings that are listed.
	total_ns?: number; // Of all symptoms, or without symptoms of all that threads did.
	symptom_word?: string; // What one symptom is called: click, run, request; only with symptoms.
	gpus_ran_ns?: number; // Of all time that in which GPUs ran, where the symptoms are all that these did.
	hint?: string; // What would give a name to functions of the findings that have none, where one of them matters.
	covered_ns?: number; // With --new: time that open signatures explain already.
	stream_ids: string[]; // Ids of the streams that were looked at.
	patterns_total: number; // Patterns that were found.
	clusters_total: number; // Clusters that were found.
	patterns: MinePattern[]; // Patterns by cost, then by frames; with --top those of the clusters shown.
	clusters: MineCluster[]; // Clusters in the order of `rank`.
	modules: ModuleLayer[]; // The modules of the frames above.
	plumbing: string[]; // Frames that say nothing about the program: the scheduler, system call entries, wrappers of waits, functions of interpreters between those of the program.
	waiting: string[]; // Frames that say how a thread waits, not who does: like those of the system.
	starting: string[]; // Frames where a program or a script starts: like those of a library at most.
	replay?: GainReplay; // With --gain: how far the gains can be trusted.
	timing?: MineTiming; // With --timing: where the time went.
}

export interface MineInput {
	streams: number; // Streams that were read.
	events: number; // Events.
	recorded_events?: number; // Events that were recorded; only where they represent others too, which were left out.
	cost_ns: number; // Their time.
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

export interface FindingStates {
	process: string; // Name of the processes, which may differ in a number at its end; empty: unknown.
	running_ns: number; // On a processor.
	ready_ns: number; // Ready, without a processor.
	waiting_ns: Record<string, number>; // Blocked, by what for.
	idle_ns: number; // Waits of threads that have nothing to do; not part of symptoms.
}

export interface FindingMachine {
	sentence: string; // All of it in words.
	ready_ns: number; // Time in which threads were ready while other programs had the processors.
	share: number; // Of all time, 0 to 1; disjoint from those of the findings.
}

export interface Finding {
	id: string; // From names alone: the same finding has the same id in every corpus.
	kind: 'wait' | 'run' | 'ready'; // Whether threads wait, run, or are ready without a processor.
	sentence: string; // All of it in words.
	sentence_parts: FindingWords[]; // The sentence in parts, by what is set apart; behind one another they are the sentence.
	who: FindingThread; // Whose time it is: the first of the chain.
	state: 'running' | 'ready' | 'lock' | 'reply' | 'disk' | 'network' | 'timer' | 'gil' | 'page' | 'child' | 'work' | 'idle' | 'other' | 'not_recorded'; // What the last of the chain does.
	object?: FindingObject; // What the first waits for, where that is known.
	holder?: FindingThread; // Who has that, or ended the wait, where it is known.
	frame?: string; // Where the last of the chain is.
	caller?: string; // The function of the program that calls it there, most of the time.
	callees: FindingCall[]; // What is called there, the costliest first.
	context?: string; // The request or query that most of its time belongs to, where one is known.
	context_ns?: number; // How much of its time that is.
	cost_ns: number; // Its time. Findings are disjoint.
	share: number; // Of all time, 0 to 1.
	place_ns: number; // Of its time in `frame` and what that calls.
	per_symptom_ns: number; // Its time a symptom, over all symptoms; 0 without symptoms.
	symptoms: number; // Symptoms that have some of it.
	events: number; // Events, or parts of events.
	streams: number; // Streams that have some of it.
	hosts: number; // Hosts that have some of it, as far as they are known.
	chain: FindingStep[]; // From who waits to where the time went: each waits for the next.
	examples: FindingExample[]; // Streams with its slowest examples, at most five, the slowest first.
	by_stream: number[]; // What it costs in streams, the 100 costliest (all with page-data): a place in stream_ids, ns, the next place, and so on.
	by_stream_left_out: number; // Streams that have some of it that are not among them.
}

export interface FindingWords {
	role: 'plain' | 'thread' | 'function' | 'object' | 'time'; // What it names.
	text: string; // The words, with the spaces around them.
}

export interface FindingThread {
	process: string; // Name of the process, without its number where several are meant; empty where it is unknown.
	thread: string; // Name of the thread, without its number where several are meant; empty where it is unknown.
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

export interface FindingExample {
	stream: string; // Name of the stream.
	stream_id: string; // Its id.
	host: string; // Its host.
	cost_ns: number; // Time of the finding there.
	slowest_ns: number; // Of it in the symptom that has most of it; without symptoms in the longest event.
	t: number; // Start of the event that shows the longest part of that.
	tid: number; // The thread of that event.
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
	gain?: MineGain; // With --gain: how much earlier the symptoms would end, of the costliest clusters.
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

export interface MineGain {
	all: GainValue; // If its events were not there.
	half: GainValue; // If they took half as long.
}

export interface GainValue {
	gain_ns: number; // How much earlier the symptoms would end, in all.
	at_least_ns: number; // The same if waits of which the recording cannot tell end when they did, and whoever wakes another needs it to have come.
	at_most_ns: number; // The same if such waits keep their length, and nobody is waited for.
	low_ns: number | null; // Lower end of the 95% interval of gain_ns over streams or, of fewer than three, over symptoms; null: too few of both.
	high_ns: number | null; // Upper end of it.
	symptoms: number; // Symptoms that would end earlier, of those replayed.
}

export interface GainReplay {
	symptoms: number; // Symptoms there are.
	symptoms_replayed: number; // Symptoms that were replayed, and represent the others.
	streams: number; // Streams they are in.
	length_ns: number; // Length of all symptoms.
	replayed_ns: number; // The same in the replay when nothing is changed.
	cannot_tell_ns: number; // Time of their critical paths in waits of which the recording cannot tell when they would have ended: no waker is known, an interrupt, a time-out, work from outside.
	cannot_tell_share: number; // Its share of their length, from 0 to 1.
	processors: string; // How many processors threads share in the replay: `recorded`, `unlimited` or a number.
	streams_sharing_processors: number; // Streams in which threads compete for processors; in the others it is not known who had them, and time on run queues stays as it was.
}

export interface MineTiming {
	reading_ns: number; // Reading the corpus.
	mining_ns: number; // Finding patterns.
	clustering_ns: number; // Clustering them.
	ranking_ns: number; // Measuring them.
	prefixes: number; // Prefixes that were looked at.
}

export interface CompareResult {
	kind: 'wait' | 'run' | 'both' | 'ready'; // Events that were mined.
	scope: 'all' | 'thread' | 'graph' | 'critical-path'; // Which events count.
	here: CompareCorpus; // The corpus that was mined.
	against: CompareCorpus; // The one it is compared with.
	clusters_total: number; // Clusters of both.
	clusters: CompareCluster[]; // Clusters, the largest change first.
}

export interface CompareCorpus {
	corpus: string; // Its folder.
	streams: number; // Streams.
	unread_streams?: UnreadStreams; // Streams that were left out because their files are damaged or missing; only where there are some.
	threshold_ns: number; // The least cost of a pattern there.
	events: number; // Events that count.
	cost_ns: number; // Their time.
}

export interface CompareCluster {
	id: string; // Id of the cluster.
	change: 'new' | 'gone' | 'slower' | 'faster' | 'same'; // How it changed.
	significant: boolean; // The change is unlikely to be chance: q is below the level.
	here: CompareSide; // In the corpus that was mined.
	against: CompareSide; // In the other one.
	p: number | null; // Chance of such a change when there is none; null: not tested.
	q: number | null; // The same, corrected for the number of clusters.
	common: string[]; // Functions that all its patterns have.
}

export interface CompareSide {
	cost_ns: number; // Time.
	events: number; // Events.
	streams: number; // Streams.
	mean_ns: number; // Time a stream.
}

export interface MineEvent {
	stream: string; // Name of the stream.
	stream_id: string; // Id of the stream.
	t: number; // Start, in ns.
	cost_ns: number; // Length.
	pid?: number; // Process, where known.
	tid: number; // Thread.
	thread?: string; // Name of the thread, where known.
	stack: string[]; // Its stack, root first.
}

export interface ProfileHead {
	streams: number; // Streams in it.
	stacks_cut: number; // Stacks of less than a hundred-thousandth, counted for their callers.
	names: string[]; // Frames; node_frame has their places.
	modules: ModuleLayer[]; // The modules of the frames above.
	plumbing: string[]; // Frames that say nothing about the program: the scheduler, system call entries, wrappers of waits, functions of interpreters between those of the program.
	waiting: string[]; // Frames that say how a thread waits, not who does: like those of the system.
	starting: string[]; // Frames where a program or a script starts: like those of a library at most.
	columns: ColumnHead[]; // The columns of numbers behind this head.
}

export interface ColumnHead {
	name: string; // Name of the column.
	type: 'f64' | 'u32' | 'u8'; // Kind of its numbers, little endian.
	offset: number; // Its first byte, from the start of the first column.
	count: number; // How many numbers it has.
	coded_bytes?: number; // Only in files of lode report: the column is coded in this many bytes (src/page/page_columns.h).
	planes?: number; // In files: byte by byte, all lowest bytes first, so many.
	steps?: string[]; // Of a coded column: it holds zigzag differences from the number before plus those of these columns.
}

export interface ProgressAnswer {
	state: 'running'; // It runs.
	phase: string; // What it does; empty: it starts.
	done: number; // How far it is.
	total: number; // How far it goes; 0: not known.
}

export interface QueryResult {
	columns: string[]; // Names of the columns.
	rows: (string | number | boolean | null)[][]; // Their values, row by row.
	complete: boolean; // False: there are more rows than were asked for.
}

export interface RecordResult {
	id: string; // Id of the stream.
	name: string; // Its name.
	corpus: string; // Folder of the corpus.
	run: number; // CPU samples.
	wait: number; // Waits.
	call: number; // System events.
	preemptions: number; // How many of the calls are preemptions.
	system_calls: number; // How many are system calls.
	stacks: number; // Distinct stacks.
	symptoms: number; // Symptoms.
	duration_ns: number; // How long it took.
	stored_bytes: number; // Size of the stream file.
	lost: number; // Records that were lost.
	user_stacks: RecordUserStacks; // How user stacks ended.
	kernel_stacks: RecordKernelStacks; // Checks of kernel stacks.
	unwind_tables: RecordUnwindTables; // Tables to unwind with.
	budget?: Budget; // What --budget was used for; only with one.
	pid: number | null; // The program that was started; null: none.
	exit_status: number | null; // Its exit status; null: it did not exit.
	signal: number | null; // The signal that ended it; null: none.
	notes: Note[]; // What was lost or not understood on the way, counted.
}

export interface RecordUserStacks {
	unknown: number; // Not known.
	whole: number; // At their root.
	too_deep: number; // Deeper than can be recorded.
	too_large: number; // Larger than the copy of the stack.
	broken: number; // At an address without rules to go on.
	unmapped: number; // Outside of all modules.
	pending: number; // Not unwound when the recording ended.
	compat: number; // Of 32-bit programs, which are not unwound.
	guessed: number; // With frames that were guessed.
	copied: number; // Unwound from a copy of the stack.
	lost_copies: number; // Copies that were lost.
}

export interface RecordKernelStacks {
	asked: number; // Stacks that the kernel was asked for.
	checked: number; // Walks that were checked.
	wrong: number; // Walks that were wrong.
}

export interface RecordUnwindTables {
	binaries: number; // Binaries.
	rows: number; // Rows.
	rules: number; // Distinct rules.
	bytes: number; // Their size.
}

export interface Budget {
	share: number; // The budget, as a share of the machine's processor time: 0.01 is 1 %.
	taken: number; // What was taken of it.
	settled?: BudgetSettled; // What was taken after the first three seconds, as shares of the machine.
	fixed: number; // What of that does not depend on how much is recorded, in the last quarter of a second.
	attached: number; // Share of the time in which context switches were seen: less than 1 where they alone would have taken too much.
	unseen_ns: number; // Nanoseconds that the kernel took to attach programs again; waits of that time are missing.
	certain_ns?: number; // Where `attached` is less than 1, or with `--long-waits`: waits that took longer are all recorded, with weight 1.
	certain_share: number; // Share of the time in which not every wait was recorded, but all were that took longer than `--long-waits`, or 10 ms.
	mappings_read: number; // Share of the time in which the kernel did not report what processes map, because that took too much; it was read when stacks showed that it changed.
	seconds: number; // Whole seconds, but for the first three.
	seconds_over: number; // Those in which more than a tenth above the budget was taken.
	worst_second: number; // The most that was taken in one of them, as a share of the machine.
	waits: number; // Waits and preemptions that were seen: all of them, unless `attached` is less than 1.
	recorded_waits: number; // Those that were recorded.
	scale_ns: number; // Nanoseconds of waiting that a record stood for at the end.
	frequency: number; // CPU samples per second at the end.
	kernel_ns: number; // Time that was measured in the kernel.
	process_ns: number; // Processor time of the recorder, all its threads.
	saving_ns: number; // Processor time of the processes that lode watch saves streams with; part of what was taken.
}

export interface BudgetSettled {
	taken: number; // All of it.
	samples: number; // Samples of CPUs.
	process: number; // The recorder's process.
	saving: number; // Processes that write streams for it.
	switches: number; // Context switches and wakeups by themselves.
	stacks: number; // Stacks taken in the kernel.
	limits: number; // Looking for long waits at wakeups.
	mappings: number; // Following what processes map, in the kernel.
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
	running_kernel_ns?: number; // Of the path: running in the kernel, which is part of `running`.
	stolen_percent?: number; // Share of the time of all processors that the hypervisor gave to other machines while the stream was recorded, if it did.
	throttled?: ScopeThrottled; // The control group that used up its quota, if one did while the stream was recorded, and for how long then.
	unknown_ns: number; // Time that no event explains.
	thinned?: boolean; // True: not every wait of this stream was recorded; unknown_ns may be such waits.
	hosts?: ScopeHost[]; // Other hosts that were recorded, too, and that its threads talk to by TCP.
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
	context?: string; // The request or query that it belonged to, where known.
	behind?: number; // Of time on the run queue: the thread that had the processor, where known.
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
	context?: string; // The request or query that it belonged to, where known.
	behind?: number; // Of time on the run queue: the thread that had the processor, where known.
	queued?: boolean; // It is time on the run queue: after the wait itself, or preempted.
	stack: string[]; // Stack of the wait.
	waker_stack: string[]; // Stack of the waker when it ended the wait; empty: not known.
}

export interface ScopeThrottled {
	cgroup: string; // Its path.
	time_ns: number; // How long.
}

export interface ScopeHost {
	host: string; // Its name.
	stream: string; // Id of the stream that was recorded there.
	offset_ns: number; // How far its clock is ahead of that of this stream; times here are those of this stream.
	error_ns: number; // By how much that may be wrong.
	drift_ppm: number; // By how many millionths its clock runs faster; 0: that makes no difference.
	exchanges: number; // Exchanges of messages that tell so.
	waits: number; // Waits, of both hosts, that a thread of the other one ended.
	first_tid: number; // What is added to the numbers of its threads here; names end in @ and the host.
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
	running_kernel_ns?: number; // Of the path: running in the kernel, which is part of `running`.
	stolen_percent?: number; // Share of the time of all processors that the hypervisor gave to other machines while the stream was recorded, if it did.
	throttled?: ScopeThrottled; // The control group that used up its quota, if one did while the stream was recorded, and for how long then.
	unknown_ns: number; // Time that no event explains.
	thinned?: boolean; // True: not every wait of this stream was recorded; unknown_ns may be such waits.
	hosts?: ScopeHost[]; // Other hosts that were recorded, too, and that its threads talk to by TCP.
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
	context?: string; // The request or query that it belonged to, where known.
	behind?: number; // Of time on the run queue: the thread that had the processor, where known.
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
	context?: string; // The request or query that it belonged to, where known.
	behind?: number; // Of time on the run queue: the thread that had the processor, where known.
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
	plumbing: string[]; // Frames that say nothing about the program: the scheduler, system call entries, wrappers of waits, functions of interpreters between those of the program.
	waiting: string[]; // Frames that say how a thread waits, not who does: like those of the system.
	starting: string[]; // Frames where a program or a script starts: like those of a library at most.
}

export interface GainResult {
	without: string; // What was taken away: the pattern.
	percent: number; // By how much its events were shortened, 100: they are not there.
	cost_ns: number; // Time of its events on the critical paths.
	gain_ns: number; // How much earlier the symptoms would end, in all.
	at_least_ns: number; // The same if waits of which the recording cannot tell end when they did, and whoever wakes another needs it to have come.
	at_most_ns: number; // The same if such waits keep their length, and nobody is waited for.
	low_ns: number | null; // Lower end of the 95% interval of gain_ns over streams or, of fewer than three, over symptoms; null: too few of both.
	high_ns: number | null; // Upper end of it.
	symptoms: number; // Symptoms that would end earlier, of those replayed.
	replay: GainReplay; // How far the replay can be trusted.
	symptoms_total: number; // Symptoms that were replayed.
	each: GainSymptom[]; // The symptoms that were replayed, those that gain most first.
}

export interface GainSymptom {
	stream: string; // Name of its stream.
	id: string; // Id of its stream.
	name?: string; // Its name.
	tid: number; // Its thread.
	t0: number; // Its start.
	t1: number; // Its end.
	cost_ns: number; // Time of the pattern's events on its critical path.
	replayed_ns: number; // Its length in the replay when nothing is changed.
	cannot_tell_ns: number; // Time of which the recording cannot tell.
	gain_ns: number; // How much earlier it would end.
	at_least_ns: number; // At least.
	at_most_ns: number; // At most.
}

export interface SignaturesResult {
	signatures: Signature[]; // All of them, in the order of the file.
}

export interface Signature {
	name: string; // Name.
	state: 'open' | 'fixed' | 'ignored'; // Its state.
	since: string; // Version or date since when the state holds; empty: not said.
	bug: string | null; // Link to a bug; null: none.
	kind: 'run' | 'wait' | 'any'; // Events it matches.
	made: string; // When it was made.
	streams: number; // Streams that it matches.
	newer_streams: number; // Of those, newer than the state.
	events: number; // Events.
	cost_ns: number; // Their time.
	run_ns: number; // CPU time of them.
	wait_ns: number; // Waiting of them.
	regression: boolean; // It is fixed, and newer streams match.
	notes: string[]; // What people wrote about it, the newest last.
	patterns: string[][]; // Its patterns.
}

export interface StreamHead {
	stream: string; // Name of the stream.
	id: string; // Its id.
	host: string; // Host; empty: not known.
	start_ns: string; // What all times count from, as text: too large for a double.
	span_ns: number; // From the first to the last event.
	attributes: Record<string, string | number | boolean>; // Attributes of the stream by key.
	threads: StreamThread[]; // Threads; events name them by place.
	symptoms: StreamSymptom[]; // Symptoms with their critical paths.
	states: string[]; // States of threads; the column wait_state has their places.
	objects: string[]; // What waits were for, `kind:name`; the column wait_object has their places plus 1, 0: not known.
	contexts: string[]; // Requests that events belonged to; the columns run_context and wait_context have their places plus 1.
	names: string[]; // Frames; node_frame has their places.
	modules: ModuleLayer[]; // The modules of the frames above.
	plumbing: string[]; // Frames that say nothing about the program: the scheduler, system call entries, wrappers of waits, functions of interpreters between those of the program.
	waiting: string[]; // Frames that say how a thread waits, not who does: like those of the system.
	starting: string[]; // Frames where a program or a script starts: like those of a library at most.
	columns: ColumnHead[]; // The columns of numbers behind this head.
}

export interface StreamThread {
	tid: number; // Thread.
	pid: number | null; // Process; null: not known.
	name: string; // Its name; empty: not known.
}

export interface StreamSymptom {
	thread: number; // Place in `threads`.
	name: string; // What it was doing.
	t0: number; // Start.
	t1: number; // End.
	unknown_ns: number; // Time that no event explains.
	path_first: number; // First place of its critical path in the path columns.
	path_count: number; // Parts of its critical path.
}

export interface SymbolizeResult {
	id: string; // Id of the stream.
	name: string; // Its name.
	named: number; // Functions that got a name.
	unnamed: number; // Functions that stay addresses.
	left: number; // Functions that had a name.
}

export interface SymbolsAnswer {
	symbols: KeptSymbols[]; // What was asked about, in that order; or what was uploaded.
}

export interface KeptSymbols {
	build_id: string; // The build-id of a program or a library, hexadecimal.
	kept: 'none' | 'exported' | 'all'; // Which of its symbols the corpus has: none, those that it exports, or all.
}

export interface UploadAnswer {
	streams: UploadedStream[]; // The streams that were found in the upload, all of them durable.
}

export interface UploadedStream {
	id: string; // The id of the stream.
	new: boolean; // Whether it was added; false: the corpus had it already.
}

export interface VersionResult {
	version: string; // Version.
	stream_file_version: number; // Version of stream files it writes.
	imports: string[]; // Formats it reads.
	exports: string[]; // Formats it writes.
	recorder: boolean; // lode record is built in.
	page: boolean; // The page is built in.
	server: boolean; // lode serve is built in.
	push: boolean; // lode push is built in.
	libraries: LibraryVersions; // Versions of libraries.
}

export interface LibraryVersions {
	zstd: string; // Zstandard.
	zlib: string; // zlib.
	liblzma: string; // liblzma.
	sqlite: string; // SQLite.
}

export interface WatchStream {
	id: string; // Its id.
	trigger: string; // What was too slow.
	events: number; // Its events.
	symptoms: number; // Its symptoms.
	duration_ns: number; // Its length.
	stored_bytes: number; // Size of its file.
	removed: number; // Older streams that were removed to make room.
}

export interface WatchSummary {
	records: number; // Records from the kernel.
	kept: number; // Those kept in memory at the end.
	dropped: number; // Those dropped before they were old enough.
	lost: number; // Records that were lost.
	missing_stacks: number; // Records whose stack is missing.
	memory_bytes: number; // Memory in use.
	triggered: number; // Triggers.
	refused: number; // Triggers within the rate limit.
	saved: number; // Streams that were saved.
	failed: number; // Streams that could not be saved.
	removed: number; // Streams that were removed to make room.
	duration_ns: number; // How long it watched.
	budget?: Budget; // What --budget was used for; only with one.
	notes: Note[]; // What was lost or not understood on the way, counted.
}
