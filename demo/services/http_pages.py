"""A web server with a thread for each connection that puts its pages together in the slowest way: http_pages.py PORT"""
import http.server
import sys

ROWS = [{'name': 'item %d' % i, 'price': i * 7 % 100} for i in range(400)]


def cheapest_first(rows):
    left, done = list(rows), []
    while left:
        best = left[0]
        for row in left:
            if row['price'] < best['price']:
                best = row
        left.remove(best)
        done.append(best)
    return done


def render_page():
    return ''.join('<li>%(name)s: %(price)d</li>' % row for row in cheapest_first(ROWS))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        page = render_page().encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
