"""A backend that keeps its connections and needs a while for each answer: echo_slowly.py PORT SECONDS"""
import socketserver
import sys
import time


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        while self.rfile.readline():
            time.sleep(float(sys.argv[2]))
            self.wfile.write(b'done\n')


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True


Server(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
