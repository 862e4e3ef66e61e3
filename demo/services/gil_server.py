"""A server whose handler shares the interpreter with a thread that never lets go: gil_server.py PORT"""
import socket
import sys
import threading


def score_everything():
    total = 0
    while True:
        for i in range(1000):
            total += i * i % 7


def answer(connection):
    with connection:
        while connection.recv(64):
            connection.sendall(b'pong')


def main():
    threading.Thread(target=score_everything, name='scorer', daemon=True).start()
    listener = socket.create_server(('127.0.0.1', int(sys.argv[1])))
    while True:
        threading.Thread(target=answer, args=(listener.accept()[0],), name='handler', daemon=True).start()


main()
