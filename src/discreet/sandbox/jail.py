"""A keeper of cells: started once, before there is any data, it makes a cell for each run and clears it away.

This file is run as a program and imports nothing but the standard library until it is locked in: a process of its own
user, mount, network, inter-process, host-name and control-group namespaces, whose only files are the Python libraries,
read-only. It loads the libraries that are asked for and those that the program loads in a rehearsal on made-up bytes,
and makes their memory its own (sandbox/settled.py). For each run it forks a child that gets a process namespace, an
inter-process namespace and an empty root of its own, drops all rights, and may call the few system calls of a list;
only then are the bytes read that it works on. After a fixed time, whatever the child did, it is killed and the
keeper says "done".
"""

import array
import ctypes
import json
import os
import resource
import signal
import socket
import struct
import sys
import time
from typing import Any, Final

NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
BIND, REC, PRIVATE, NOSUID, NODEV, NOEXEC = 4096, 16384, 1 << 18, 2, 4, 8
NO_NEW_PRIVS, SET_DUMPABLE, CHILD_SUBREAPER, SET_SECCOMP, FILTER, CAPBSET_DROP = 38, 4, 36, 22, 2, 24
PIVOT_ROOT, MOUNT_SETATTR = 155, 442
NOBODY: Final = 65534
SCRATCH: Final = b"size=16m,nr_inodes=1k,mode=700"
ROOM: Final = 1 << 20  # bytes that a child may write to one file
REHEARSAL: Final = 30.0  # seconds, besides those of a block, to load what a program loads

# System calls of x86-64 that computing needs; all others fail with EPERM. No socket, no shared memory, no new program,
# no signal to others, no tracing, no keyring, no lock on a file, no device control, no change of priority, no look at
# what is cached (mincore, cachestat, preadv2) or at faults (getrusage).
# fmt: off
ALLOWED: Final = {
    "read": 0, "write": 1, "open": 2, "close": 3, "stat": 4, "fstat": 5, "lstat": 6, "poll": 7, "lseek": 8,
    "mprotect": 10, "munmap": 11, "brk": 12, "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15,
    "pread64": 17, "pwrite64": 18, "readv": 19, "writev": 20, "access": 21, "select": 23,
    "sched_yield": 24, "mremap": 25, "dup": 32, "dup2": 33, "nanosleep": 35, "getpid": 39, "exit": 60,
    "uname": 63, "getcwd": 79, "chdir": 80, "rename": 82, "mkdir": 83, "rmdir": 84, "unlink": 87, "readlink": 89,
    "gettimeofday": 96, "getrlimit": 97, "times": 100, "getuid": 102, "getgid": 104, "geteuid": 107,
    "getegid": 108, "getppid": 110, "sigaltstack": 131, "arch_prctl": 158, "gettid": 186, "time": 201, "futex": 202,
    "sched_getaffinity": 204, "getdents64": 217, "set_tid_address": 218, "clock_gettime": 228, "clock_getres": 229,
    "clock_nanosleep": 230, "exit_group": 231, "tgkill": 234, "openat": 257, "mkdirat": 258, "newfstatat": 262,
    "unlinkat": 263, "renameat": 264, "readlinkat": 267, "faccessat": 269, "pselect6": 270, "ppoll": 271,
    "set_robust_list": 273, "dup3": 292, "getcpu": 309, "renameat2": 316, "getrandom": 318,
    "statx": 332, "rseq": 334, "faccessat2": 439,
}
# fmt: on
CLONE3, FCNTL, PRLIMIT, MMAP, MADVISE = 435, 72, 302, 9, 28
SHARED: Final = 1  # a bit of the flags of a mapping
ADVICE: Final = (0, 1, 2, 3, 4, 8, 14, 15)  # not to page out, to merge, to poison: what is cached is common to all
FCNTL_ALLOWED: Final = (0, 1, 2, 3, 4, 1030)  # duplicate, and flags: no lock, no lease, no owner


class Missing(Exception):
    """This machine lacks something that a sandbox needs."""


libc = ctypes.CDLL(None, use_errno=True)


def call(what: str, result: int) -> int:
    """A system call's result, or what is missing."""
    if result < 0:
        raise Missing(f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def mount(what: str, source: str, target: str, *, flags: int, kind: str = "", data: bytes = b"") -> None:
    """mount(2)."""
    call(what, libc.mount(source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), data))


def enter(libraries: list[str]) -> None:
    """Namespaces of our own, and a root that holds the libraries alone, read-only; at the end an ordinary user."""
    process = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
    spaces = NEWNS | NEWNET | NEWIPC | NEWUTS | NEWCGROUP
    root = (
        os.geteuid() == 0
    )  # then the libraries may lie where an ordinary user cannot go: mount first, drop afterwards
    if not root:
        _own_user(process, spaces)
    else:
        call("mount, network, inter-process, host-name and control-group namespaces (unshare)", libc.unshare(spaces))
    mount("private mounts", "none", "/", flags=REC | PRIVATE)
    nothing = os.open("/dev/null", os.O_PATH)
    new = "/dev"  # no library is below it
    mount("an empty root", "tmpfs", new, flags=NOSUID | NODEV, kind="tmpfs", data=b"size=1m,mode=755")
    for path in sorted(set(libraries)):
        _bring(path, new)
    os.makedirs(f"{new}/room")
    os.makedirs(f"{new}/dev", exist_ok=True)
    os.close(os.open(f"{new}/dev/null", os.O_CREAT | os.O_WRONLY))
    mount("a null device", f"/proc/self/fd/{nothing}", f"{new}/dev/null", flags=BIND)
    os.close(nothing)
    os.chdir(new)
    call("a root of its own (pivot_root)", libc.syscall(PIVOT_ROOT, b".", b"."))
    call("to leave the old root", libc.umount2(b".", 2))
    os.chdir("/")
    frozen = struct.pack("<QQQQ", 0x1 | 0x2, 0, 0, 0)  # read-only, so no times of access either; no set-user-id
    call(
        "a read-only root (mount_setattr, Linux 5.12)",
        libc.syscall(MOUNT_SETATTR, -100, b"/", 0x8000, frozen, ctypes.c_size_t(len(frozen))),
    )
    if root:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        _own_user(process, 0)
    os.close(process)


def _own_user(process: int, spaces: int) -> None:
    """A user namespace in which we are nobody, and whatever other namespaces it is to own."""
    user, group = os.geteuid(), os.getegid()
    libc.prctl(SET_DUMPABLE, 1, 0, 0, 0)
    call("user and other namespaces for an ordinary user (unshare)", libc.unshare(NEWUSER | spaces))
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{NOBODY} {user} 1"),
        ("gid_map", f"{NOBODY} {group} 1"),
    ):
        try:
            file = os.open(f"self/{name}", os.O_WRONLY, dir_fd=process)
            os.write(file, text.encode())
            os.close(file)
        except OSError as error:
            raise Missing(f"a user namespace with a map of its own ({name}): {error.strerror}") from None


def _bring(path: str, new: str) -> None:
    """A folder or a file of the old root into the new one, with the links that lead to it."""
    place = f"{new}{path}"
    if os.path.islink(path):
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if not os.path.lexists(place):
            os.symlink(os.readlink(path), place)
        return
    if not os.path.exists(path) or os.path.exists(place):
        return
    if os.path.isdir(path):
        os.makedirs(place, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        os.close(os.open(place, os.O_CREAT | os.O_WRONLY))
    mount(f"the libraries in {path}", path, place, flags=BIND | REC)


def filters() -> bytes:
    """The list of system calls as a program for the kernel."""
    allow, deny, absent = 0x7FFF0000, 0x00050001, 0x00050026  # yes; EPERM; ENOSYS
    load, equal, same, give = 0x20, 0x15, 0x45, 0x06
    code: list[tuple[int, int, int, int]] = [
        (load, 0, 0, 4),
        (equal, 1, 0, 0xC000003E),
        (give, 0, 0, deny),
        (load, 0, 0, 0),
        (equal, 0, 1, CLONE3),
        (give, 0, 0, absent),
        (equal, 0, 4, MMAP),  # shared memory takes its number from a counter that all processes share
        (load, 0, 0, 40),
        (same, 0, 1, SHARED),
        (give, 0, 0, deny),
        (give, 0, 0, allow),
        (equal, 0, 2 + 2 * len(ADVICE), MADVISE),
        (load, 0, 0, 32),
        *(step for one in ADVICE for step in ((equal, 0, 1, one), (give, 0, 0, allow))),
        (give, 0, 0, deny),
        (equal, 0, 2 + 2 * len(FCNTL_ALLOWED), FCNTL),
        (load, 0, 0, 24),
        *(step for one in FCNTL_ALLOWED for step in ((equal, 0, 1, one), (give, 0, 0, allow))),
        (give, 0, 0, deny),
        (equal, 0, 7, PRLIMIT),
        (load, 0, 0, 32),  # a new limit: none may be set
        (equal, 0, 2, 0),
        (load, 0, 0, 36),
        (equal, 2, 0, 0),
        (give, 0, 0, deny),
        (give, 0, 0, deny),
        (give, 0, 0, allow),
    ]
    for one in sorted(ALLOWED.values()):
        code += [(equal, 0, 1, one), (give, 0, 0, allow)]
    code.append((give, 0, 0, deny))
    return b"".join(struct.pack("<HBBI", *step) for step in code)


def drop_rights() -> None:
    """No capability, no way to gain one, and the list of system calls."""
    call("no new privileges", libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0))
    for capability in range(64):
        if libc.prctl(CAPBSET_DROP, capability, 0, 0, 0) < 0:
            break
    header, none = struct.pack("<Ii", 0x20080522, 0), bytes(24)
    call("to drop capabilities", libc.capset(header, none))
    program = filters()
    buffer = ctypes.create_string_buffer(program, len(program))
    wrapped = struct.pack("<HxxxxxxQ", len(program) // 8, ctypes.addressof(buffer))
    call("a filter of system calls (seccomp)", libc.prctl(SET_SECCOMP, FILTER, wrapped, 0, 0))


def limit(memory: int, seconds: float) -> None:
    """Memory, time, files, threads; no core dump."""
    second = int(seconds) + 2
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, second),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, ROOM),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_NPROC, 64),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_SIGPENDING, 64),
        (resource.RLIMIT_STACK, 16 << 20),
    ):
        hard = resource.getrlimit(what)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (least, least))


def room(bare: bool) -> None:
    """Namespaces of a cell: no process, message or file of others; with `bare` no libraries either, an empty root."""
    call("a process namespace", libc.unshare(NEWPID | NEWIPC | NEWNS))
    mount("an empty folder", "tmpfs", "/room", flags=NOSUID | NODEV | NOEXEC, kind="tmpfs", data=SCRATCH)
    if bare:
        os.chdir("/room")
        os.mkdir("room")
        call("an empty root (pivot_root)", libc.syscall(PIVOT_ROOT, b".", b"."))
        call("to leave the libraries", libc.umount2(b".", 2))
        os.chdir("/")


def cell(files: tuple[int, int], null: list[int], work: Any, memory: int, seconds: float) -> None:
    """The child: lock in, then work; never returns."""
    try:
        data, result = files
        os.setsid()
        for stream in (0, 1, 2):  # files of its own: flags of a shared one would be a channel
            os.dup2(null[stream], stream)
        os.dup2(data, 63, inheritable=False)
        os.dup2(result, 62, inheritable=False)
        os.closerange(3, 62)
        os.closerange(64, 1 << 20)
        limit(memory, seconds)
        drop_rights()
        work(63, 62)
    finally:
        os._exit(0)


def started(files: tuple[int, int], work: Any, memory: int, seconds: float, *, bare: bool, process: int) -> int | None:
    """The number of a new cell's process; None if there is none. `process` is the folder /proc."""
    reader, writer = os.pipe()
    middle = os.fork()
    if middle == 0:  # a process that opens the child's namespaces, forks it, tells its number and leaves
        try:
            null = [os.open("/dev/null", os.O_RDWR) for _ in range(3)]
            _first_to_go(process)
            room(bare)
            child = os.fork()
            if child == 0:
                cell(files, null, work, memory, seconds)
            os.write(writer, array.array("i", [child]).tobytes())
        finally:
            os._exit(0)
    os.close(writer)
    raw = os.read(reader, 4)
    os.close(reader)
    os.waitpid(middle, 0)
    return array.array("i", raw)[0] if len(raw) == 4 else None


def _first_to_go(process: int) -> None:
    """If the machine runs out of memory a cell is killed, not its keeper, nor anything else."""
    file = os.open("self/oom_score_adj", os.O_WRONLY, dir_fd=process)
    os.write(file, b"1000")
    os.close(file)


def serve(control: socket.socket, work: Any, asked: dict[str, Any], process: int) -> None:
    """A cell for each pair of files that comes, for a fixed time."""
    memory, seconds = asked["memory"], asked["seconds"]
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 1, 2)
        if not message:
            return
        deadline = time.monotonic() + seconds
        child = started((descriptors[0], descriptors[1]), work, memory, seconds, bare=True, process=process)
        for file in descriptors:
            os.close(file)
        time.sleep(max(0.0, deadline - time.monotonic()))  # always, whatever the child did
        if child is not None:
            _end(child)
        late = deadline + asked["tidy"] - time.monotonic()
        time.sleep(max(0.0, late))  # what it held takes time to free: as long for all
        control.send(b"x" if child is None else b"d")


def _end(child: int) -> None:
    os.kill(child, signal.SIGKILL)  # the first of its process namespace: all others in it die too
    os.waitpid(child, 0)


def rehearsed(control: socket.socket, rehearse: Any, asked: dict[str, Any], process: int) -> None:
    """Load what the program loads on made-up bytes. It sees no data, so what it does or says here tells of nobody."""
    message, files, _, _ = socket.recv_fds(control, 1, 2)
    if not message:
        raise SystemExit
    most = REHEARSAL + asked["seconds"]
    deadline = time.monotonic() + most
    child = started((files[0], files[1]), rehearse, asked["memory"], most, bare=False, process=process)
    if child is None:
        raise Missing("a cell that starts")
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > deadline:
            _end(child)
            break
        time.sleep(0.01)
    names = os.pread(files[1], ROOM, 0).decode("ascii", "ignore").split()
    for file in files:
        os.close(file)
    for name in names:
        if all(part.isidentifier() for part in name.split(".")):
            try:
                __import__(name)
            except (Exception, SystemExit):  # noqa: BLE001, S112  then cells will miss it
                continue


def main() -> None:
    """Lock in, load the libraries, say what is missing or "ready", serve."""
    control = socket.socket(fileno=int(sys.argv[1]))
    asked = json.loads(sys.argv[2])
    try:
        if os.uname().machine != "x86_64" or sys.platform != "linux":
            raise Missing("a Linux kernel on x86-64, whose system calls are listed here")
        maps, process = os.open("/proc/self/maps", os.O_RDONLY), os.open("/proc", os.O_PATH | os.O_DIRECTORY)
        enter(asked["libraries"])
        if 0 in (*os.getresuid(), *os.getresgid()):
            raise Missing("an ordinary user: this runs as root")
        sys.path[:] = asked["path"]
        for name in asked["modules"]:
            try:
                __import__(name)
            except ImportError as error:
                raise Missing(f"the module {name}: {error}") from None
        program = sys.modules[asked["program"]]
        from discreet.sandbox.settled import settle, shared

        call("to gather children", libc.prctl(CHILD_SUBREAPER, 1, 0, 0, 0))
        _trial(process)
        rehearsed(control, program.rehearse, asked, process)
        if missing := "libraries without shared memory" if shared(maps) else settle(maps):
            raise Missing(missing)
        os.close(maps)
    except Missing as error:
        control.send(json.dumps(str(error)).encode())
        return
    control.send(json.dumps("").encode())
    serve(control, program.work, asked, process)


def _trial(process: int) -> None:
    """Try in a child what every cell will need."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _first_to_go(process)
            room(bare=True)
            drop_rights()
            os.write(writer, b"+")
        except (Missing, OSError) as error:
            os.write(writer, str(error).encode()[:400])
        finally:
            os._exit(0)
    os.close(writer)
    seen = os.read(reader, 400)
    os.close(reader)
    os.waitpid(child, 0)
    if seen != b"+":
        raise Missing(seen.decode() or "a cell that starts")


if __name__ == "__main__":
    main()
