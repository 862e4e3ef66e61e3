<?php
/*
 * Writes down its own stacks, for php_truth:
 *
 *	php php_program.php LOG SECONDS
 *
 * Each line of LOG is {"case", "kind", "from", "to", "stack"}: from then to then, on the monotonic clock, this was the stack
 * of PHP functions, root first, as debug_backtrace and reflection have it; "kind" says whether it ran or waited.
 */
const TURNS = 120000;
const SLEEP = 1500;

/* The frame of a function, `file.php!Class::name`, or `php:extension!name`. */
function frame_of(?string $class, string $name, string $file): string
{
	if (str_contains($name, '{closure'))
		return basename($file) . '!' . ($class ? "$class::" : '') . $name;
	if ($class && !method_exists($class, $name))
		return basename((new ReflectionClass($class))->getFileName()) . "!$class::$name"; /* by __call */
	$function = $class ? new ReflectionMethod($class, $name) : new ReflectionFunction($name);
	$class = $class ? $function->getDeclaringClass()->getName() . '::' : '';
	$module = $function->isInternal() ? 'php:' . $function->getExtensionName() : basename($function->getFileName());
	return "$module!$class" . $function->getName();
}

/* Where a function is defined is where what it calls is called from: the file of the frame inside it. */
function own_stack(): array
{
	$trace = debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS);
	array_shift($trace);
	$frames = [];
	$inner = __FILE__;
	foreach ($trace as $frame) {
		if (in_array($frame['function'], ['include', 'require', 'eval'], true) && !isset($frame['class']))
			$frames[] = basename(preg_replace('/\(\d+\) : eval.*/', '', $inner)) . '!' .
				    ($frame['function'] === 'eval' ? '{eval}' : '{main}');
		else
			$frames[] = frame_of($frame['class'] ?? null, $frame['function'], $inner);
		$inner = $frame['file'] ?? $inner;
	}
	$frames[] = basename(__FILE__) . '!{main}';
	/* A generator that delegates does not run: it has no frame while another one runs in its place. */
	return array_values(array_filter(array_reverse($frames), fn($frame) => !str_ends_with($frame, '!delegate')));
}

function write_down(string $case, string $kind, int $from, int $to, array $stack): void
{
	global $log;
	fwrite($log, json_encode(compact('case', 'kind', 'from', 'to', 'stack'), JSON_UNESCAPED_SLASHES) . "\n");
}

/* Runs and waits here. */
function measure(string $case): int
{
	$stack = own_stack();
	$from = hrtime(true);
	for ($i = 0, $x = 1; $i < TURNS; $i++)
		$x = $x * 3 % 1000003;
	$to = hrtime(true);
	write_down($case, 'run', $from, $to, $stack);
	$from = hrtime(true);
	usleep(SLEEP);
	$to = hrtime(true);
	write_down($case, 'wait', $from, $to, [...$stack, 'php:standard!usleep']);
	return $x;
}

function recurse(int $depth): int
{
	return $depth ? recurse($depth - 1) + 1 : measure('recursion');
}

function generate(int $count)
{
	for ($i = 0; $i < $count; $i++)
		yield measure('generator');
}

function delegate()
{
	yield from generate(1);
}

abstract class Shape
{
	public function area(): int { return $this->side() + self::twice(); }
	abstract protected function side(): int;
	public static function twice(): int { return measure('static method'); }
}

class Square extends Shape
{
	protected function side(): int { return measure('method'); }
	public function __call($name, $arguments) { return measure('__call'); }
	public function __destruct() { measure('destructor'); }
	public function closure(): Closure { return fn() => measure('closure of a class'); }
}

class Numbers implements IteratorAggregate, Countable
{
	public function getIterator(): Iterator { measure('called by foreach'); return new ArrayIterator([1, 2]); }
	public function count(): int { return measure('called by count'); }
}

/* Functions written in C that C code calls. */
function sleep_in_map(): void
{
	$stack = own_stack();
	$from = hrtime(true);
	array_map('usleep', [SLEEP]);
	$to = hrtime(true);
	write_down('C called by C', 'wait', $from, $to, [...$stack, 'php:standard!array_map', 'php:standard!usleep']);
}

function turn(): void
{
	measure('function');
	recurse(40);
	foreach (generate(2) as $x);
	foreach (delegate() as $x);
	$square = new Square;
	$square->area();
	$square->unknown();
	$square->closure()();
	$square = null;
	count(new Numbers);
	foreach (new Numbers as $x);
	$two = [2, 1];
	usort($two, function ($a, $b) { measure('closure called by usort'); return $a <=> $b; });
	array_map('measure', ['function called by array_map']);
	call_user_func(['Shape', 'twice']);
	iterator_to_array(generate(1));
	sleep_in_map();
	eval("measure('eval');");
	include $GLOBALS['included'];
	try {
		measure('try');
		throw new Exception;
	} catch (Exception) {
		measure('catch');
	} finally {
		measure('finally');
	}
}

[, $path, $seconds] = $argv;
$log = fopen($path, 'w');
$included = "$path.included.php";
file_put_contents($included, "<?php\nmeasure('include');\n");
touch("$path.begun");
$end = hrtime(true) + (int)($seconds * 1e9);
while (hrtime(true) < $end && !file_exists("$path.stop")) {
	turn();
	clearstatcache();
}
