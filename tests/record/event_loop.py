"""An event loop for tests/record/requests: a server whose every fiftieth request waits for 30 ms, in poll().

	event_loop.py COUNT

Its client, another process, asks COUNT times. Writes `START END` of each slow request, in ns of the monotonic clock.
"""
import os
import select
import selectors
import socket
import sys
import time

EVERY = 50
SLOW_MS = 30


def ask(port, count):
    connection = socket.create_connection(('127.0.0.1', port))
    for _ in range(count):
        connection.send(b'x')
        connection.recv(1)
        time.sleep(0.001)
    os._exit(0)


def wait_inside():
    never, _ = os.pipe()
    poll = select.poll()
    poll.register(never, select.POLLIN)
    poll.poll(SLOW_MS)


def serve(listener):
    selector, answered = selectors.EpollSelector(), 0
    selector.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is listener:
                selector.register(listener.accept()[0], selectors.EVENT_READ)
                continue
            start = time.monotonic_ns()
            if not key.fileobj.recv(1):
                return
            answered += 1
            if answered % EVERY == 0:
                wait_inside()
                print(start, time.monotonic_ns(), flush=True)
            key.fileobj.send(b'x')


server = socket.create_server(('127.0.0.1', 0))
if os.fork() == 0:
    ask(server.getsockname()[1], int(sys.argv[1]))
serve(server)
