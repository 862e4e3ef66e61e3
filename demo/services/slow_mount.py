"""A file system with one file, each read of which takes 20 ms, like one that lies elsewhere: slow_mount.py FOLDER"""
import stat
import sys
import time

try:
    import fusepy as fuse
except ImportError:
    import fuse


class Slow(fuse.Operations):
    def getattr(self, path, fh=None):
        if path == '/':
            return {'st_mode': stat.S_IFDIR | 0o755, 'st_nlink': 2}
        return {'st_mode': stat.S_IFREG | 0o644, 'st_nlink': 1, 'st_size': 1 << 30}

    def readdir(self, path, fh):
        return ['.', '..', 'records']

    def read(self, path, size, offset, fh):
        fetch_from_afar()
        return b'x' * size


def fetch_from_afar():
    time.sleep(0.02)


fuse.FUSE(Slow(), sys.argv[1], foreground=True, nothreads=True, direct_io=True)
