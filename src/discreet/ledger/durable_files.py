"""Files that are on disk when a call returns, on Linux, macOS and Windows.

macOS: fsync leaves what was written in the drive's own memory, which F_FULLFSYNC empties. Windows: a folder cannot be
opened, and its entries are in the file system's journal; there is no pread; without O_BINARY a newline would become two
bytes; and the bits of a file's mode say nothing of who may read it: that is in its access list, which is not looked at.
"""

import os
from pathlib import Path
from typing import Final

WINDOWS: Final = os.name == "nt"


def opened(path: Path, flags: int, mode: int) -> int:
    """The file as it is, byte by byte."""
    return os.open(path, flags | getattr(os, "O_BINARY", 0), mode)


def read_at(handle: int, count: int, start: int) -> bytes:
    """Some bytes from a place; what is appended later is appended all the same."""
    os.lseek(handle, start, os.SEEK_SET)
    return os.read(handle, count)


def sync(handle: int) -> None:
    """What was written outlives a power cut."""
    try:
        import fcntl

        fcntl.fcntl(handle, fcntl.F_FULLFSYNC)  # type: ignore[attr-defined, unused-ignore]
    except (ImportError, AttributeError, OSError):  # not macOS, or a disk that does not know it
        os.fsync(handle)


def sync_folder(folder: Path) -> None:
    """What was made in a folder outlives a power cut."""
    if WINDOWS:
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        sync(handle)
    finally:
        os.close(handle)
