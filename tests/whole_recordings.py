"""Recordings in which the kernel showed every switch of the recorded threads.

	from whole_recordings import recorded_whole, unseen_switches

Kernels of some virtual machines leave out one switch in some hundred, for every recorder, and the wait that begins or
ends there is missing. `lode record` says how many there were (a note). A test for which each single wait counts records
again where there were some.
"""
import re
import shutil

ATTEMPTS = 6


def unseen_switches(reported):
    """How many switches were not shown, by what `lode record` says: its summary (--json) or its standard error."""
    if isinstance(reported, str):
        return sum(int(count.replace(',', '')) for count in re.findall(r'did not show.*: ([0-9,]+)', reported))
    return sum(note['count'] for note in reported['notes'] if 'did not show' in note['what'])


def recorded_whole(corpus, record, unseen):
    """What record() returns, of the first recording into `corpus` of which unseen(result) is 0, else of the last of some."""
    for _ in range(ATTEMPTS):
        shutil.rmtree(corpus, ignore_errors=True)
        result = record()
        if not unseen(result):
            break
    return result
