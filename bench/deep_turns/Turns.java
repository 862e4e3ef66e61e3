import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;

/**
 * Takes turns with another process from some functions deep: for bench/languages_cost.
 *
 *	Turns DEPTH same
 *
 * Answers each byte of standard input by one on standard output, from a loop in the innermost function.
 */
public class Turns {
	private final FileInputStream in = new FileInputStream(FileDescriptor.in);
	private final FileOutputStream out = new FileOutputStream(FileDescriptor.out);

	private int answer() throws IOException {
		for (int value = in.read(); value >= 0; value = in.read())
			out.write(value);
		return 1;
	}

	private int handle(int depth) throws IOException {
		int left = depth - 1;

		return (left > 0 ? handle(left) : answer()) + 1;
	}

	public static void main(String[] arguments) throws IOException {
		new Turns().handle(Integer.parseInt(arguments[0]));
	}
}
