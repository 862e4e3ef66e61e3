"""A server that writes a report of a few megabytes for each request, over the oldest of 40: report_writer.py PORT FILE"""
import itertools
import os
import socketserver
import sys

PART = os.urandom(1 << 16)
PARTS = 64
REPORTS = 40
numbers = itertools.count()


def write_report(file):
    file.seek(next(numbers) % REPORTS * PARTS * len(PART))
    for _ in range(PARTS):
        file.write(PART)


class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        with open(os.open(sys.argv[2], os.O_RDWR | os.O_CREAT), 'wb', buffering=0) as file:
            while self.request.recv(64):
                write_report(file)
                self.request.sendall(b'pong')


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


Server(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
