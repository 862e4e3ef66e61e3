"""Reads standard input a page at a time, and rests after each."""
import os
import time


def ship_log():
    time.sleep(0.05)


while os.read(0, 4096):
    ship_log()
