"""A server that logs each request to its standard output: logging_server.py PORT"""
import os
import socketserver
import sys


def write_log(line):
    os.write(1, line)


class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        while self.request.recv(64):
            write_log(b'x' * 3000 + b'\n')
            self.request.sendall(b'pong')


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True


Server(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
