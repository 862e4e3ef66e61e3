"""A server whose handlers share two connections to a backend that needs 20 ms an answer: pooled_server.py PORT BACKEND"""
import queue
import socket
import sys
import threading

pool = queue.Queue()


def take_connection():
    return pool.get()


def ask_backend(connection):
    connection.sendall(b'ask\n')
    connection.recv(64)


def answer(client):
    with client:
        while client.recv(64):
            connection = take_connection()
            ask_backend(connection)
            pool.put(connection)
            client.sendall(b'pong')


def main():
    for _ in range(2):
        pool.put(socket.create_connection(('127.0.0.1', int(sys.argv[2]))))
    listener = socket.create_server(('127.0.0.1', int(sys.argv[1])))
    while True:
        threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()


main()
