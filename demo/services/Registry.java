import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A server whose requests all need a registry that each of them sorts while it has the monitor: Registry PORT */
public class Registry {
	static final List<String> names = new ArrayList<>();

	static synchronized String register(int number) {
		names.set(number % names.size(), "name " + number * 31 % 10007);
		return sortNames();
	}

	static String sortNames() {
		List<String> sorted = new ArrayList<>(names);
		Collections.sort(sorted);
		return sorted.get(0);
	}

	static void answer(Socket socket) {
		try (socket) {
			byte[] bytes = new byte[64];
			for (int number = 0; socket.getInputStream().read(bytes) > 0; number++) {
				register(number);
				socket.getOutputStream().write(bytes, 0, 4);
			}
		} catch (Exception error) {
			System.err.println(error);
		}
	}

	public static void main(String[] arguments) throws IOException {
		for (int i = 0; i < 4000; i++)
			names.add("name " + i);
		ServerSocket listener = new ServerSocket(Integer.parseInt(arguments[0]));
		while (true) {
			Socket socket = listener.accept();
			new Thread(() -> answer(socket), "handler").start();
		}
	}
}
