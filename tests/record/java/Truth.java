import java.io.PrintWriter;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * Waits and spins in known stacks, and writes down which, and when.
 *
 * <pre>java -XX:+UnlockDiagnosticVMOptions -XX:+ShowHiddenFrames -Dnative=LIBRARY Truth LOG SECONDS [calls]</pre>
 *
 * Each line of LOG is {"case", "kind", "tid", "from", "to", "stack", "lines"}: in this span of CLOCK_MONOTONIC the thread was in this stack of
 * Java functions, root first, as "file!class.method", and perhaps in functions of the Java library called from it. Ends early when
 * there is a file LOG.stop. With `calls` all that it does is to call: every frame is in the making, or dropped, for a good part of the time. tests/record/java_truth compares.
 */
public class Truth {
    static final long SPIN_NS = 6_000_000;
    static volatile int sink;
    static String log;
    static boolean callsOnly;

    final List<String> noted = new ArrayList<>();
    final String tid;
    String name = "";

    Truth() throws Exception {
        tid = Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName().toString();
    }

    // ---- writing down ----

    static String frame(StackTraceElement element) {
        String holder = element.getClassName(), file = element.getFileName();
        holder = holder.substring(holder.lastIndexOf('.', holder.indexOf('/') < 0 ? holder.length() : holder.indexOf('/')) + 1);
        int lambda = holder.indexOf("$$Lambda"), address = holder.indexOf("/0x");
        if (lambda >= 0)
            holder = holder.substring(0, lambda + 8);
        else if (address >= 0)
            holder = holder.substring(0, holder.lastIndexOf('.', address) < 0 ? address : holder.lastIndexOf('.', address));
        if (file == null || !file.contains("."))
            file = (holder.indexOf('$') > 0 ? holder.substring(0, holder.indexOf('$')) : holder) + ".java";
        return file + "!" + holder + "." + element.getMethodName();
    }

    void note(String kind, long begun, long ended, Throwable here) {
        StackTraceElement[] elements = here.getStackTrace();
        StringBuilder line = new StringBuilder();
        line.append("{\"case\": \"" + name + "\", \"kind\": \"" + kind + "\", \"tid\": " + tid + ", \"from\": " + begun +
                    ", \"to\": " + ended + ", \"stack\": [");
        for (int i = elements.length - 1; i >= 0; i--)
            line.append("\"" + frame(elements[i]) + (i > 0 ? "\", " : "\"], \"lines\": ["));
        for (int i = elements.length - 1; i >= 0; i--)
            line.append(elements[i].getLineNumber() + (i > 0 ? ", " : "]}"));
        noted.add(line.toString());
    }

    int spin() {
        long begun = System.nanoTime(), now = begun;
        int x = 1;
        while (now < begun + SPIN_NS) {
            for (int i = 0; i < 2000; i++)
                x = x * 31 + i;
            now = System.nanoTime();
        }
        note("run", begun, now, new Throwable());
        return x;
    }

    void nap() {
        try {
            for (int i = 0; i < 3; i++) {
                long begun = System.nanoTime();
                Thread.sleep(2);
                note("wait", begun, System.nanoTime(), new Throwable());
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    void park() {
        for (int i = 0; i < 3; i++) {
            long begun = System.nanoTime();
            LockSupport.parkNanos(2_000_000);
            note("wait", begun, System.nanoTime(), new Throwable());
        }
    }

    final Object monitor = new Object();

    void waitForNotice() {
        try {
            synchronized (monitor) {
                long begun = System.nanoTime();
                monitor.wait(2);
                note("wait", begun, System.nanoTime(), new Throwable());
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static final Object contended = new Object();

    void enterContended() {
        long begun = System.nanoTime();
        synchronized (contended) {
            long entered = System.nanoTime();
            note("wait", begun, entered, new Throwable());
            LockSupport.parkNanos(1_000_000);
        }
    }

    int work() {
        int x = spin();
        nap();
        return x;
    }

    // ---- cases ----

    int recursion(int depth) {
        return depth > 0 ? recursion(depth - 1) + 1 : work();
    }

    int lambdas() {
        IntUnaryOperator one = x -> x + work();
        IntUnaryOperator two = x -> one.applyAsInt(x) + 1;
        return two.andThen(x -> x + 1).applyAsInt(3);
    }

    int streams() {
        return IntStream.range(0, 2).map(i -> i + work()).sum();
    }

    int callbacks() {
        Integer[] numbers = { 3, 1 };
        Arrays.sort(numbers, (a, b) -> {
            work();
            return a - b;
        });
        return numbers[0];
    }

    abstract static class Shape {
        abstract int area(Truth truth);
        int twice(Truth truth) {
            return area(truth) * 2;
        }
    }

    static class Square extends Shape {
        int area(Truth truth) {
            return truth.work();
        }
    }

    static class Circle extends Shape {
        int area(Truth truth) {
            return truth.spin() + 1;
        }
    }

    /** The second class comes when calls of the first one's method are compiled as if there were no other. */
    int classes(boolean both) {
        int x = new Square().twice(this);
        return both ? x + new Circle().twice(this) : x;
    }

    int exceptions() {
        try {
            return fail(3);
        } catch (IllegalArgumentException e) {
            return work();
        } finally {
            spin();
        }
    }

    int fail(int depth) {
        if (depth == 0)
            throw new IllegalArgumentException("wanted");
        return fail(depth - 1) + 1;
    }

    public int reflected(int x) {
        return x + work();
    }

    int reflection() throws Exception {
        Method method = Truth.class.getMethod("reflected", int.class);
        return (Integer) method.invoke(this, 3);
    }

    synchronized int locked() {
        enterContended();
        return work();
    }

    int small(int x) {
        return smaller(x) + 1;
    }

    int smaller(int x) {
        return x + spin();
    }

    /** In truth_native.c. */
    native int callFromC(IntUnaryOperator function);

    int natives() {
        return System.getProperty("native") == null ? 0 : callFromC(x -> x + callFromC(y -> y + work()));
    }

    int copies() {
        byte[] from = new byte[1 << 20], to = new byte[1 << 20];
        long begun = System.nanoTime(), now = begun;
        while (now < begun + SPIN_NS) {
            System.arraycopy(from, 0, to, 1, from.length - 1);
            now = System.nanoTime();
        }
        note("run", begun, now, new Throwable());
        return to[3];
    }

    /** Calls all the time: frames are made and dropped. */
    static int fibonacci(int n) {
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
    }

    int calls() {
        long begun = System.nanoTime(), now = begun;
        int x = 0;
        while (now < begun + SPIN_NS) {
            x += fibonacci(12);
            now = System.nanoTime();
        }
        note("calls", begun, now, new Throwable());
        return x;
    }

    void round(int number) throws Exception {
        int x = 0;
        if (callsOnly) {
            name = "calls only";
            sink += calls();
            return;
        }
        name = "recursion";
        x += recursion(30);
        name = "lambdas";
        x += lambdas();
        name = "streams";
        x += streams();
        name = "callbacks";
        x += callbacks();
        name = "classes";
        x += classes(number > 4);
        name = "exceptions";
        x += exceptions();
        name = "reflection";
        x += reflection();
        name = "locked";
        x += locked();
        name = "small";
        x += small(2);
        name = "natives";
        x += natives();
        name = "copies";
        x += copies();
        name = "calls";
        x += calls();
        name = "park";
        park();
        name = "notice";
        waitForNotice();
        sink += x;
    }

    static void run(List<Truth> all, double seconds, CountDownLatch ended) {
        try {
            Truth truth = new Truth();
            synchronized (all) {
                all.add(truth);
            }
            long end = System.nanoTime() + (long) (seconds * 1e9);
            for (int i = 0; System.nanoTime() < end && !Files.exists(Path.of(log + ".stop")); i++)
                truth.round(i);
        } catch (Exception e) {
            e.printStackTrace();
            System.exit(1);
        }
        ended.countDown();
    }

    public static void main(String[] arguments) throws Exception {
        List<Truth> all = new ArrayList<>();
        CountDownLatch ended = new CountDownLatch(2);
        double seconds = Double.parseDouble(arguments[1]);

        if (System.getProperty("native") != null)
            System.load(System.getProperty("native"));
        log = arguments[0];
        callsOnly = arguments.length > 2;
        for (int i = 0; i < 2; i++)
            new Thread(() -> run(all, seconds, ended), "worker" + i).start();
        ended.await();
        try (PrintWriter file = new PrintWriter(log)) {
            for (Truth truth : all)
                for (String line : truth.noted)
                    file.println(line);
        }
    }
}
