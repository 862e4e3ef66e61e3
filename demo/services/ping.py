"""A client that asks and waits for the answer, again and again: ping.py PORT [SECONDS BETWEEN]"""
import socket
import sys
import time


def main():
    pause = float(sys.argv[2]) if len(sys.argv) > 2 else 0
    with socket.create_connection(('127.0.0.1', int(sys.argv[1]))) as connection:
        while True:
            connection.sendall(b'ping')
            if not connection.recv(4096):
                return
            time.sleep(pause)


main()
