"""A keeper's memory, made its own: after this no page of it is a page of a file.

Libraries are mapped from files, and whether a page of a file is in the kernel's cache is common to all processes: a
cell that reads a page, or leaves it, would tell a later one that takes the time of reading it. So before there is any
data each such mapping becomes anonymous memory with the same bytes at the same place. Cells get it by fork; reading it
changes nothing that others can see, and writing makes a copy that dies with the cell.
"""

import ctypes
import os
from typing import Any, Final

READ, WRITE, EXECUTE = 1, 2, 4
PRIVATE, ANONYMOUS, AT, MAY_MOVE, FIXED = 2, 32, 16, 1, 2
# Copy `size` bytes from `start` to `copy` and move `copy` to `start`, with nothing in between, for x86-64:
# push rdi; push rsi; mov rcx, rdx; rep movsb; pop r8; pop rdi; mov rsi, rdx; mov r10d, 3; mov eax, 25; syscall; ret
MOVE_AT_ONCE: Final = bytes.fromhex("5756 4889d1 f3a4 4158 5f 4889d6 41ba03000000 b819000000 0f05 c3")
KERNEL: Final = (b"[vdso]", b"[vvar]", b"[vvar_vclock]", b"[vsyscall]")  # the same for all, and read-only


def mappings(maps: int) -> list[list[bytes]]:
    """The lines of /proc/self/maps: place, rights, offset, device, inode, and the name of a file if there is one."""
    os.lseek(maps, 0, 0)
    text = b""
    while part := os.read(maps, 1 << 16):
        text += part
    return [line.split(None, 5) for line in text.splitlines()]


def of_files(maps: int) -> list[list[bytes]]:
    """Mappings of files."""
    return [one for one in mappings(maps) if one[4] != b"0" and one[-1] not in KERNEL]


def shared(maps: int) -> bool:
    """Whether a writable mapping is shared with future children: a channel between cells."""
    return any(one[1].startswith(b"rw") and one[1].endswith(b"s") for one in mappings(maps))


def settle(maps: int) -> str:
    """Make every mapping of a file anonymous; what is missing if that cannot be, else nothing."""
    libc = _kernel()
    step = libc.mmap(None, len(MOVE_AT_ONCE), READ | WRITE, PRIVATE | ANONYMOUS, -1, 0)
    ctypes.memmove(step, MOVE_AT_ONCE, len(MOVE_AT_ONCE))
    if libc.mprotect(step, len(MOVE_AT_ONCE), READ | EXECUTE) != 0:
        return f"executable memory: {os.strerror(ctypes.get_errno())}"
    at_once = ctypes.CFUNCTYPE(ctypes.c_void_p, *[ctypes.c_void_p] * 2, ctypes.c_size_t)(step)
    for place, rights, *_ in of_files(maps):
        start, stop = (int(end, 16) for end in place.split(b"-"))
        if _replaced(libc, at_once, start, stop - start, rights) != start:
            return f"memory for the libraries: {os.strerror(ctypes.get_errno())}"
    return "libraries whose memory can be made private" if of_files(maps) else ""


def _replaced(libc: Any, at_once: Any, start: int, size: int, rights: bytes) -> int | None:
    """Put a copy in place of a mapping; code that runs there goes on with the same bytes. Returns where it is."""
    if rights[:1] != b"r":  # a gap, which a cell could open
        return libc.mmap(start, size, 0, PRIVATE | ANONYMOUS | AT, -1, 0)  # type: ignore[no-any-return]
    wanted = READ | (EXECUTE if rights[2:3] == b"x" else 0)
    copy = libc.mmap(None, size, READ | WRITE, PRIVATE | ANONYMOUS, -1, 0)
    if rights[1:2] == b"w":  # variables of libraries: Python itself would change some between the copy and the move
        libc.mprotect(copy, size, wanted | WRITE)
        return at_once(copy, start, size)  # type: ignore[no-any-return]
    ctypes.memmove(copy, start, size)
    libc.mprotect(copy, size, wanted)
    return libc.mremap(copy, size, size, MAY_MOVE | FIXED, start)  # type: ignore[no-any-return]


def _kernel() -> Any:
    libc = ctypes.CDLL(None, use_errno=True)
    address, size = ctypes.c_void_p, ctypes.c_size_t
    libc.mmap.restype = libc.mremap.restype = address
    libc.mmap.argtypes = [address, size, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    libc.mremap.argtypes = [address, size, size, ctypes.c_int, address]
    libc.mprotect.argtypes = libc.madvise.argtypes = [address, size, ctypes.c_int]
    return libc
