import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.URL;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A server whose requests wait for a lock that one of them holds while it reads a slow source. Asks itself. */
public class CatalogueServer {
    static class Catalogue {
        void refresh() throws IOException {
            try {
                Thread.sleep(30);
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        }

        synchronized int search(String text) throws IOException {
            refresh();
            return text.hashCode();
        }
    }

    static final Catalogue catalogue = new Catalogue();

    static void handle(HttpExchange exchange) throws IOException {
        byte[] body = Integer.toString(catalogue.search(exchange.getRequestURI().toString())).getBytes();
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    static void ask(int port) {
        try {
            for (int i = 0; i < 25; i++)
                try (InputStream reply = new URL("http://127.0.0.1:" + port + "/item" + i).openStream()) {
                    reply.readAllBytes();
                }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] arguments) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        ExecutorService workers = Executors.newFixedThreadPool(4);
        Thread[] clients = new Thread[4];
        server.createContext("/", CatalogueServer::handle);
        server.setExecutor(workers);
        server.start();
        for (int i = 0; i < clients.length; i++) {
            clients[i] = new Thread(() -> ask(server.getAddress().getPort()), "client" + i);
            clients[i].start();
        }
        for (Thread client : clients)
            client.join();
        server.stop(0);
        workers.shutdown();
    }
}
