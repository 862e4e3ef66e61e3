"""A TCP service that takes its time for each answer: slow_backend.py PORT SECONDS"""
import socketserver
import sys
import time


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        self.rfile.readline()
        look_up_slowly()
        self.wfile.write(b'done\n')


def look_up_slowly():
    time.sleep(float(sys.argv[2]))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64


Server(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
