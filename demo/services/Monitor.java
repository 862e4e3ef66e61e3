import java.io.FileOutputStream;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;

/** A server that syncs its journal while it has the monitor that all requests need: Monitor PORT FILE */
public class Monitor {
	static final Object journalLock = new Object();
	static FileOutputStream journal;

	static void writeJournal() throws Exception {
		synchronized (journalLock) {
			journal.write(new byte[4096]);
			journal.getFD().sync();
		}
	}

	static void answer(Socket socket) {
		try (socket) {
			byte[] bytes = new byte[64];
			while (socket.getInputStream().read(bytes) > 0) {
				writeJournal();
				socket.getOutputStream().write(bytes, 0, 4);
			}
		} catch (Exception error) {
			System.err.println(error);
		}
	}

	public static void main(String[] arguments) throws IOException {
		journal = new FileOutputStream(arguments[1]);
		ServerSocket listener = new ServerSocket(Integer.parseInt(arguments[0]));
		while (true) {
			Socket socket = listener.accept();
			new Thread(() -> answer(socket), "handler").start();
		}
	}
}
