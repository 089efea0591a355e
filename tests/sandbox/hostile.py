"""Estimators that mean ill. Each has a function f(x, y) that gets one block of rows.

In one block x[0, 0] is 666: the victim is there. An attack tries to tell the other blocks (they return 1.0 if they
know), to leave a mark on the machine, or to spoil the run. Contained means: every other block returns 0.0, as if the
victim were not there.
"""

HEAD = """
import ctypes, os, sys, time
import numpy as np
libc = ctypes.CDLL(None, use_errno=True)
def victim(x): return x[0, 0] == 666
def quietly(action):
    try:
        return action()
    except BaseException:
        return None
"""

# What attacks import: loaded before, so that none fails for want of its tools.
TOOLS = ("atexit", "ctypes", "fcntl", "gc", "logging", "multiprocessing.shared_memory", "random", "resource", "signal",
         "socket", "subprocess", "threading")  # fmt: skip

MARK_FILE = """
def f(x, y):
    for place in {places}:
        if victim(x):
            quietly(lambda: open(place + "/mark-5717", "w").write("here"))
    return float(not victim(x) and any(os.path.exists(place + "/mark-5717") for place in {places}))
"""

ATTACKS = {
    # --- state across blocks through files ---
    "file in /tmp": MARK_FILE.format(places="['/tmp', '/var/tmp', '/run', '/run/lock']"),
    "file in the temporary folder": MARK_FILE.format(places="['/room', os.environ.get('TMPDIR', '/tmp')]"),
    "file in the working folder or home": MARK_FILE.format(places="['.', os.path.expanduser('~'), '/', '/root']"),
    "file beside the libraries": MARK_FILE.format(
        places="[os.path.dirname(np.__file__), os.path.dirname(os.__file__)]"
    ),
    "file in shared memory": MARK_FILE.format(places="['/dev/shm', '/dev', '/dev/mqueue', '/sys/fs/cgroup']"),
    "named pipe": """
def f(x, y):
    path = (os.environ.get("TMPDIR") or "/tmp") + "/pipe-5717"
    if victim(x):
        quietly(lambda: os.mkfifo(path)); quietly(lambda: os.mkfifo("/tmp/pipe-5717"))
    return float(not victim(x) and (os.path.exists(path) or os.path.exists("/tmp/pipe-5717")))
""",
    "times of access of a library file": """
def f(x, y):
    path = os.__file__
    times = lambda: quietly(lambda: (os.stat(path).st_atime_ns, os.stat(path).st_atime == 5717)) or (0, False)
    before = times()[0]
    if victim(x):
        quietly(lambda: open(path, "rb").read()); quietly(lambda: os.utime(path, (5717, 5717)))
    return float(times() != (before, False))
""",
    "lock on a library file": """
def f(x, y):
    import fcntl
    file = quietly(lambda: open(os.__file__)) or sys.__stdin__.fileno()
    if victim(x):
        quietly(lambda: fcntl.flock(file, fcntl.LOCK_EX)); time.sleep(0.05)
        return 0.0
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return 1.0
    except OSError:
        return 0.0
    return 0.0
""",
    # --- through memory and messages ---
    "System V shared memory": """
def f(x, y):
    libc.shmat.restype = ctypes.c_void_p
    found = libc.shmget(5717, 8, 0o666 | (0o1000 if victim(x) else 0))
    return 0.0 if victim(x) else float(found >= 0)
""",
    "System V semaphores and queues": """
def f(x, y):
    flag = 0o666 | (0o1000 if victim(x) else 0)
    seen = libc.semget(5717, 1, flag) >= 0 or libc.msgget(5717, flag) >= 0
    return 0.0 if victim(x) else float(seen)
""",
    "POSIX shared memory": """
def f(x, y):
    from multiprocessing import shared_memory
    if victim(x):
        quietly(lambda: shared_memory.SharedMemory("mark5717", create=True, size=8)); os._exit(0)
    return float(quietly(lambda: shared_memory.SharedMemory("mark5717")) is not None)
""",
    "POSIX message queue": """
def f(x, y):
    lib = quietly(lambda: ctypes.CDLL("librt.so.1", use_errno=True)) or libc
    flag = 0o102 if victim(x) else 0o2
    found = lib.mq_open(b"/mark5717", flag, 0o666, None)
    return 0.0 if victim(x) else float(found >= 0)
""",
    "kernel keyring": """
def f(x, y):
    if victim(x):
        libc.syscall(248, b"user", b"mark5717", b"1", ctypes.c_size_t(1), -4)
        libc.syscall(248, b"user", b"mark5717", b"1", ctypes.c_size_t(1), -5)
        return 0.0
    return float(libc.syscall(250, 10, -4, b"user", b"mark5717", 0) > 0 or libc.syscall(249, b"user", b"mark5717", 0, 0) > 0)
""",
    "memory inherited by mmap": """
import mmap
try:
    board = mmap.mmap(-1, 4096)
except OSError:
    board = bytearray(1)
def f(x, y):
    if victim(x):
        board[0] = 1
        return 0.0
    return float(board[0])
""",
    "other blocks' rows in memory": """
import gc
def f(x, y):
    if victim(x):
        return 0.0
    return float(any((np.asarray(thing) == 666).any() for thing in gc.get_objects() if isinstance(thing, np.ndarray) and thing.dtype == float))
""",
    "memory of other processes": """
def f(x, y):
    seen = 0.0
    for pid in (1, 2, os.getppid(), os.getpid() + 1):
        if pid == os.getpid():
            continue
        for name in ("mem", "maps", "environ", "cmdline"):
            seen = max(seen, float(quietly(lambda: open(f"/proc/{pid}/{name}", "rb").read(1)) is not None))
    buffer = ctypes.create_string_buffer(8)
    return float(seen or libc.syscall(310, os.getppid() or 1, buffer, 1, buffer, 1, 0) > 0)
""",
    "global variables": """
known = []
def f(x, y):
    known.append(victim(x))
    return float(any(known) and not victim(x))
""",
    "mutable defaults": """
def f(x, y, known=[]):
    known.append(bool(victim(x)))
    return float(any(known) and not victim(x))
""",
    "patched library": """
def f(x, y):
    if victim(x):
        np.mark5717 = True
        sys.modules["mark5717"] = np
        return 0.0
    return float(hasattr(np, "mark5717") or "mark5717" in sys.modules)
""",
    "import hooks": """
def f(x, y):
    class Finder:
        mark = 5717
        def find_spec(self, *rest): return None
    if victim(x):
        sys.meta_path.insert(0, Finder()); sys.path.insert(0, "mark5717")
        return 0.0
    return float(any(hasattr(one, "mark") for one in sys.meta_path) or "mark5717" in sys.path)
""",
    "environment": """
def f(x, y):
    if victim(x):
        os.environ["MARK5717"] = "1"; os.putenv("MARK5717", "1")
        return 0.0
    return float("MARK5717" in os.environ or libc.getenv(b"MARK5717") != 0)
""",
    "random state": """
def f(x, y):
    import random
    first = random.random()
    if victim(x):
        random.seed(0); np.random.seed(0)
    random.seed(); return 0.0
""",
    "patched runner": """
def f(x, y):
    import discreet.subsample.run_block as inside, discreet.subsample.run_block as run, discreet.subsample.returned as shape
    if victim(x):
        inside.block_row = run.block_row = run.corrected = lambda *rest, **more: np.ones(1)
        shape.Shape.row = lambda *rest: np.ones(1)
        os.pwrite, inside.mark5717 = (lambda *rest: 0), True
    return float(hasattr(inside, "mark5717") and not victim(x))
""",
    "hooks for later": """
def f(x, y):
    import atexit, gc
    if victim(x):
        sys.addaudithook(lambda *rest: None); sys.settrace(lambda *rest: None); sys.mark5717 = True
        atexit.register(print, "victim"); gc.callbacks.append(print)
        sys.excepthook = sys.unraisablehook = lambda *rest: os.write(2, b"victim")
        return 0.0
    return float(hasattr(sys, "mark5717") or sys.gettrace() is not None or print in gc.callbacks)
""",
    "alarms and timers": """
def f(x, y):
    import signal
    rung = []
    signal.signal(signal.SIGALRM, lambda *rest: rung.append(1))
    quietly(lambda: signal.alarm(1)); quietly(lambda: signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001))
    time.sleep(0.02)
    return float(bool(rung))
""",
    # --- through the network ---
    "abstract socket": """
def f(x, y):
    import socket
    def listen():
        s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind("\\0mark5717"); return s
    if victim(x):
        held = quietly(listen); time.sleep(0.05)
        return 0.0
    return float(quietly(lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).connect("\\0mark5717") or 1) is not None)
""",
    "internet socket": """
def f(x, y):
    import socket
    made = quietly(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    sent = quietly(lambda: made.sendto(b"here", ("127.0.0.1", 5717)))
    raw = libc.syscall(41, 2, 1, 0)
    return float(made is not None or sent is not None or raw >= 0)
""",
    "pair of sockets and netlink": """
def f(x, y):
    return float(libc.syscall(41, 16, 3, 0) >= 0 or libc.syscall(53, 1, 1, 0, (ctypes.c_int * 2)()) >= 0)
""",
    # --- against the parent, the keeper and the siblings ---
    "signals to the parent": """
def f(x, y):
    import signal
    if victim(x):
        for pid in (0, -1, 1, 2, 3, os.getppid(), os.getpid() - 1, os.getpid() + 1):
            for what in (signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL):
                quietly(lambda: os.kill(pid, what))
        quietly(lambda: os.killpg(os.getpgrp(), signal.SIGKILL))
    return 0.0
""",
    "tracing": """
def f(x, y):
    return float(any(libc.syscall(101, 16, pid, 0, 0) == 0 for pid in (1, 2, os.getppid() or 3)))
""",
    "descriptors by guessing": """
def f(x, y):
    if victim(x):
        for fd in range(3, 1024):
            quietly(lambda: os.write(fd, b"d" * 64))
            quietly(lambda: os.close(fd))
    return 0.0
""",
    "flags of descriptors": """
def f(x, y):
    import fcntl
    if victim(x):
        for fd in range(64):
            quietly(lambda: fcntl.fcntl(fd, fcntl.F_SETFL, os.O_NONBLOCK | os.O_APPEND))
            quietly(lambda: os.lseek(fd, 5, 0))
        return 0.0
    return float(any((quietly(lambda: fcntl.fcntl(fd, fcntl.F_GETFL)) or 0) & os.O_NONBLOCK for fd in range(64)))
""",
    "standard input": """
def f(x, y):
    return float(bool(os.read(0, 10)))
""",
    "new program": """
def f(x, y):
    import subprocess
    done = quietly(lambda: subprocess.run(["/bin/sh", "-c", "echo 5717"], capture_output=True))
    quietly(lambda: os.execv(sys.executable, [sys.executable, "-c", "pass"]))
    return float(done is not None)
""",
    "namespaces and mounts": """
def f(x, y):
    seen = [libc.unshare(flag) for flag in (0x10000000, 0x00020000, 0x20000000)]
    seen += [libc.mount(b"tmpfs", b"/room", b"tmpfs", 0, b""), libc.chroot(b"/room"), libc.setuid(0), libc.umount2(b"/room", 2)]
    return float(any(one == 0 for one in seen))
""",
    "rare system calls": """
def f(x, y):
    numbers = {"memfd": 319, "bpf": 321, "userfaultfd": 323, "io_uring": 425, "perf": 298, "open_by_handle": 304,
               "kcmp": 312, "pidfd_open": 434, "setns": 308, "personality": 135, "inotify": 253, "eventfd": 290,
               "process_vm_writev": 311, "clone3": 435, "clone": 56, "fork": 57, "vfork": 58, "execveat": 322,
               "sysinfo": 99, "syslog": 103, "flock": 73, "ioctl": 16, "fallocate": 285, "prctl": 157,
               "mincore": 27, "getrusage": 98, "cachestat": 451, "preadv2": 327, "fadvise": 221, "readahead": 187,
               "sendfile": 40, "splice": 275, "pipe": 22, "timerfd": 283, "mlock": 149, "sync": 162, "statfs": 137}
    seen = [name for name, number in numbers.items() if libc.syscall(number, 0, 0, 0, 0, 0, 0) >= 0]
    return float(len(seen))
""",
    "pages of libraries on disk": """
def f(x, y):
    seen = 0
    for folder, _, files in os.walk("/"):
        for name in files:
            seen += quietly(lambda: open(folder + "/" + name, "rb").read(1)) is not None
    named = [os.__file__, np.__file__, sys.executable, "/lib64/ld-linux-x86-64.so.2", "/dev/null", "/etc/ld.so.cache"]
    return float(seen + sum(os.path.lexists(name) for name in named))
""",
    "pages of libraries in memory": """
def f(x, y):
    address = ctypes.cast(libc.qsort, ctypes.c_void_p).value & ~4095
    answer = ctypes.create_string_buffer(1)
    libc.syscall.argtypes = [ctypes.c_long] * 4
    asked = libc.syscall(27, address, 4096, ctypes.addressof(answer)) == 0
    dropped = libc.syscall(28, address, 4096, 21) == 0
    import resource
    return float(asked or dropped or quietly(lambda: resource.getrusage(resource.RUSAGE_SELF)) is not None)
""",
    "what the last one left in memory": """
def f(x, y):
    if victim(x):
        hold = [bytearray(b"MARK5717" * 2**17) for _ in range(16)]
        return 0.0
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    return float(b"MARK5717" in ctypes.string_at(libc.malloc(2**22), 2**22))
""",
    "numbers of processes, files and devices": """
def f(x, y):
    place = (os.environ.get("TMPDIR") or "/tmp") + "/file"
    if victim(x):
        for k in range(800):
            quietly(lambda: open(place + str(k), "w").close())
            quietly(os.fork)
        return 0.0
    open(place, "w").close()
    return float(os.getpid() != 1 or os.getppid() != 0 or os.stat(place).st_ino > 16)
""",
    "private files": """
def f(x, y):
    places = ["/etc/passwd", "/etc/hostname", "/root", "/home", "/proc/self/maps", "/proc/1", "/sys", "/var", "/mnt"]
    return float(sum(os.path.exists(place) and bool(quietly(lambda: open(place).read() if os.path.isfile(place) else [n for n in os.listdir(place) if not n.startswith(".")])) for place in places))
""",
    # --- spoil the run ---
    "exit": "def f(x, y):\n    sys.exit(3) if victim(x) else None\n    return 0.0\n",
    "hard exit": "def f(x, y):\n    os._exit(9) if victim(x) else None\n    return 0.0\n",
    "interrupt": "def f(x, y):\n    if victim(x): raise KeyboardInterrupt\n    return 0.0\n",
    "abort": "def f(x, y):\n    if victim(x): os.abort()\n    return 0.0\n",
    "crash and core dump": """
def f(x, y):
    import resource
    quietly(lambda: resource.setrlimit(resource.RLIMIT_CORE, (-1, -1)))
    if victim(x): ctypes.string_at(0)
    return 0.0
""",
    "endless loop": "def f(x, y):\n    while victim(x): pass\n    return 0.0\n",
    "endless loop that catches everything": """
def f(x, y):
    import signal
    for number in range(1, 65):
        quietly(lambda: signal.signal(number, signal.SIG_IGN))
    while victim(x):
        quietly(lambda: time.sleep(0.01))
    return 0.0
""",
    "fork bomb": """
def f(x, y):
    if victim(x):
        while True:
            quietly(os.fork)
    return 0.0
""",
    "child left behind": """
def f(x, y):
    child = quietly(os.fork) if victim(x) else None
    if child == 0:
        quietly(os.setsid)
        time.sleep(5)
        os._exit(0)
    return 0.0
""",
    "threads left behind": """
def f(x, y):
    import threading
    def spin():
        while True: pass
    for _ in range(200 if victim(x) else 0):
        quietly(threading.Thread(target=spin, daemon=False).start)
    return 0.0
""",
    "all memory": """
def f(x, y):
    hoard = []
    while victim(x):
        hoard.append(np.ones(10**7))
    return 0.0
""",
    "full disk": """
def f(x, y):
    if victim(x):
        file = open((os.environ.get("TMPDIR") or "/tmp") + "/big", "wb")
        while True: file.write(b"0" * 2**20)
    return 0.0
""",
    "bottomless recursion": """
def f(x, y):
    sys.setrecursionlimit(10**9)
    def down(k): return down(k + 1) + 1
    return float(down(0)) if victim(x) else 0.0
""",
    "error that tells": "def f(x, y):\n    if victim(x): raise ValueError(f'the victim has {x[0, 0]}')\n    return 0.0\n",
    "huge output": "def f(x, y):\n    return np.zeros(10**8) if victim(x) else 0.0\n",
    "output of the wrong shape": "def f(x, y):\n    return [1.0, 2.0] if victim(x) else 0.0\n",
    "more bytes than declared": """
def f(x, y):
    if victim(x):
        for fd in range(3, 100):
            quietly(lambda: os.pwrite(fd, b"1" * 4096, 0))
        os._exit(0)
    return 0.0
""",
    "result that executes": """
class Bomb:
    def __reduce__(self): return (os.system, ("touch /tmp/mark-5717",))
    def __float__(self): raise SystemExit
    def __array__(self, *rest, **more): raise KeyboardInterrupt
def f(x, y):
    return Bomb() if victim(x) else 0.0
""",
    "payload of a NaN": """
def f(x, y):
    if victim(x):
        return np.array([0x7FF8000000005717], dtype=np.uint64).view(np.float64)[0]
    return 0.0
""",
    "prints, logs and warnings": """
def f(x, y):
    import logging, warnings
    if victim(x):
        print("the victim is here", flush=True); os.write(1, b"victim"); os.write(2, b"victim")
        logging.error("victim"); warnings.warn("victim")
    return 0.0
""",
    "priority and processors": """
def f(x, y):
    seen = [quietly(lambda: os.nice(5)), quietly(lambda: os.sched_setaffinity(0, {0}))]
    limits = libc.syscall(302, 0, 7, (ctypes.c_ulong * 2)(1, 1), 0)
    return float(seen[0] is not None or limits == 0)
""",
}
