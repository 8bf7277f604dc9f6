"""Cheating and hostile programs: none passes, each attack is refused, and the host is as before;
as root and as nobody.
"""

import contextlib
import ctypes
import json
import os
import pathlib
import shutil
import subprocess
import threading
import time
import types

import pytest
from harness import skip

if not shutil.which("bwrap"):
    skip("bwrap is missing (Debian package bubblewrap)")
KEY = "sk-of-the-caller"  # stands in the environment
HEAD = "import math\ndef helper(x):\n    return x\n\ndef f(x):\n    'One more than x.'\n"
TEST = (
    "def check(f):\n    assert f(1) == 2\n    assert f(41) == 42 and helper(3) == 3\n    assert"
    " all(map(lambda x: f(x) == x + 1, range(-3, 3)))\n\ncheck(f)\n"
)
WRONG = "def f(x): return x\n"
# What most attacks share: each step is tried; the program's last words say whether one was let
# through.
TRY = (
    WRONG
    + """
import ctypes, fcntl, mmap, os, resource, signal, socket, stat, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *args):
    if getattr(libc, name)(*args) < 0: raise OSError(ctypes.get_errno(), name)
def syscall(*args):  # numbers of x86-64
    if os.uname().machine != 'x86_64': raise OSError
    call('syscall', *args)
def attempt(*steps):
    done = []
    for n, step in enumerate(steps):
        try: step()
        except BaseException: continue
        done.append(str(n))
    raise RuntimeError('let through: ' + ', '.join(done) if done else 'all refused')
"""
)

# Programs that claim what is not so: they must not pass.
CHEATS = {
    "the runner's secret, from its frame": (
        "import sys, os\nframe = sys._getframe()\nwhile frame:\n    for v in"
        " list(frame.f_locals.values()) + list(frame.f_globals.values()):\n        if isinstance(v,"
        " bytes) and len(v) == 32:\n            for d in range(3, 8):\n                try:"
        " os.write(d, v)\n                except OSError: pass\n    frame ="
        " frame.f_back\nos._exit(0)"
    ),
    "the runner's secret, by rewinding stdin": (
        "import os\nos.lseek(0, 0, 0)\nsecret = os.read(0, 32)\nfor d in range(3, 8):\n    try:"
        " os.write(d, secret)\n    except OSError: pass\nos._exit(0)"
    ),
    "the verdict on every descriptor": (
        WRONG
        + "import os\nfor d in range(64):\n    try: os.write(d, b'started\\npassed ')\n    except"
        " OSError: pass"
    ),
    "the verdict, then an end": (
        "import os\nfor d in range(64):\n    try: os.write(d, b'passed')\n    except OSError:"
        " pass\nos._exit(0)"
    ),
    "replies before they are asked": (
        "import json, os\ndef say(m):\n    d = json.dumps(m).encode(); os.write(4, b'%08x' % len(d)"
        " + d)\nsay({'returned': None})\nfor _ in range(50): say({'returned': True})\nos._exit(0)"
    ),
    "an exit at the top": "import sys\nsys.exit(0)",
    "an exit in the call": "import os\ndef f(x): os._exit(0)",
    "SystemExit in the call": "def f(x): raise SystemExit(0)",
    "equal to everything": (
        "class All:\n    def __eq__(self, o): return True\n    def __hash__(self): return 0\ndef"
        " f(x): return All()"
    ),
    "an int equal to everything": (
        "class All(int):\n    def __eq__(self, o): return True\n    def __ne__(self, o): return"
        " False\n    __hash__ = int.__hash__\ndef f(x): return All(x)"
    ),
    "a float equal to everything": (
        "class All(float):\n    def __eq__(self, o): return True\ndef f(x): return All(x)"
    ),
    "a text equal to everything": (
        "class All(str):\n    def __eq__(self, o): return True\ndef f(x): return All(x)"
    ),
    "a list equal to everything": (
        "class All(list):\n    def __eq__(self, o): return True\ndef f(x): return All([x])"
    ),
    "a lying class": (
        "class All:\n    __class__ = int\n    def __index__(self): return 0\n    def"
        " bit_length(self): return 1\n    def __eq__(self, o): return True\ndef f(x): return All()"
    ),
    "an equal item in a list": (
        "class All(int):\n    def __eq__(self, o): return True\ndef f(x): return [All(0)]"
    ),
    "StopIteration, which would end map": (
        "def f(x):\n    if x == 1: return 2\n    if x == 41: return 42\n    raise StopIteration"
    ),
    "AssertionError": "def f(x): raise AssertionError",
    "KeyboardInterrupt": "def f(x): raise KeyboardInterrupt",
    "GeneratorExit": "def f(x): raise GeneratorExit",
    "an exception with code": (
        "class E(Exception):\n    def __str__(self): import os; os._exit(0)\ndef f(x): raise E"
    ),
    "other builtins": (
        WRONG + "import builtins\nbuiltins.all = lambda *a: True\nbuiltins.AssertionError ="
        " Exception\nbuiltins.range = lambda *a: ()"
    ),
    "another __main__": (
        WRONG + "import __main__, sys\n__main__.check = lambda f:"
        " None\nsys.modules['__main__'].__dict__['check'] = lambda f: None"
    ),
    "another json": WRONG + 'import json\njson.dumps = lambda m: \'{"returned": {"eval": "2"}}\'',
    "a kind that runs code": (
        "import json, os\ndef f(x):\n    m = json.dumps({'returned': {'__import__':"
        " 'os'}}).encode()\n    os.write(4, b'%08x' % len(m) + m)\n    os._exit(0)"
    ),
    "a helper of its own": "def helper(x): return 3\ndef f(x): return helper(x)",
    "a hook on the trace": (
        WRONG + "import sys\nsys.settrace(lambda *a: None)\nsys.setprofile(lambda *a: None)"
    ),
    "words at exit": (
        WRONG
        + "import atexit, os\natexit.register(lambda: [os.write(d, b'passed') for d in (3, 4)])"
    ),
    "an alarm": (
        WRONG + "import os, signal\nsignal.signal(signal.SIGALRM, lambda *a:"
        " os._exit(0))\nsignal.setitimer(signal.ITIMER_REAL, 0.01)"
    ),
    "the tests in memory": (
        WRONG
        + "import gc\nfor o in gc.get_objects():\n    if isinstance(o, dict) and 'check' in o and"
        " callable(o['check']): f = lambda x: x + 1"
    ),
    "the tests in files": (
        "import os\nfor name in os.listdir('/proc/self/fd'): print(open('/proc/self/fd/' +"
        " name).read())\n" + WRONG
    ),
    "True for every number": "def f(x): return True",
    "not a number": "def f(x): return float('nan')",
    "a signalling decimal": "from decimal import Decimal\ndef f(x): return Decimal('sNaN')",
    "a function": "def f(x): return lambda: x + 1",
    "a generator": "def f(x): yield x + 1",
    "a length below zero": "import os\ndef f(x): os.write(4, b'-0000001'); os._exit(0)",
    "a length without end": (
        "import os\ndef f(x): os.write(4, b'7fffffff' + b'[' * 1000); os._exit(0)"
    ),
    "half a reply": "import os\ndef f(x): os.write(4, b'00000040{\"returned\"'); os._exit(0)",
    "a reply without end": "def f(x): return [0] * (1 << 23)",
    "a deep reply": (
        "import os\ndef f(x):\n    os.write(4, b'%08x' % 60000 + b'[' * 60000); os._exit(0)"
    ),
    "a deep value": (
        "import sys\nsys.setrecursionlimit(10**6)\ndef f(x):\n    v = []\n    for _ in"
        " range(10**5): v = [v]\n    return v"
    ),
    "a long number": (
        "import os\ndef f(x):\n    m = b'{\"returned\": ' + b'9' * 50000 + b'}'\n    os.write(4,"
        " b'%08x' % len(m) + m)\n    os._exit(0)"
    ),
    "numbers of one hash": "def f(x): return {i * (2**61 - 1): i for i in range(1, 3000)}",
    "calls that it reads itself": WRONG + "import os\nos.read(3, 10)\nos.close(3)",
}

# Programs that reach for the machine. All that can be refused must be; True: it runs into a limit
# instead.
ATTACKS = {
    "writing the source it was given": (
        TRY + "attempt(lambda: os.write(0, b'x' * 4096), lambda: os.ftruncate(0, 1 << 32), lambda:"
        " os.posix_fallocate(0, 0, 1 << 30), lambda: os.pwrite(0, b'x', 1 << 32), lambda:"
        " mmap.mmap(0, 4096, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ | mmap.PROT_WRITE),"
        " lambda: fcntl.fcntl(0, 1033, 0))",
        False,
    ),
    "descriptors beyond its own": (
        TRY + "attempt(*[lambda d=d: os.fstat(d) for d in range(5, 4096)])",
        False,
    ),
    "devices": (
        TRY + "attempt(*[lambda n=n: os.chmod('/dev/' + n, 0o777) for n in ('null', 'zero', 'full',"
        " 'random', 'urandom', 'tty')], lambda: open('/dev/null', 'w'), lambda: open('/dev/sda'),"
        " lambda: os.mknod('/null', 0o666 | stat.S_IFCHR, os.makedev(1, 3)), lambda:"
        " os.mknod('/tmp/n', 0o666 | stat.S_IFBLK, os.makedev(8, 0)))",
        False,
    ),
    "files of the host": (
        TRY + "attempt(*[lambda p=p: open(p).read() for p in ('/etc/passwd', '/etc/shadow',"
        " '/proc/self/environ', '/proc/1/environ', '/root/.bashrc', '/sys/kernel/notes',"
        " '/dev/mem')])",
        False,
    ),
    "new files": (
        TRY + "attempt(*[lambda p=p: open(p, 'w') for p in ('x', '/x', '/tmp/x', '/usr/x',"
        " '/usr/bin/x', '/dev/shm/x', '/var/tmp/x', '/run/x')], lambda: os.mkdir('/d'), lambda:"
        " os.symlink('/', '/s'), lambda: os.open('/', os.O_TMPFILE | os.O_RDWR))",
        False,
    ),
    "files of the system": (
        TRY + "attempt(lambda: os.unlink('/usr/bin/python3'), lambda: os.rename('/usr/bin',"
        " '/usr/bin2'), lambda: os.chmod('/usr', 0o777), lambda: os.chmod('/usr/bin/python3', 0),"
        " lambda: os.chown('/usr', 0, 0), lambda: os.utime('/usr/bin/python3'), lambda:"
        " os.setxattr('/usr', 'user.x', b'x'), lambda: os.truncate('/usr/bin/env', 0), lambda:"
        " os.link('/usr/bin/env', '/usr/bin/env2'), lambda: os.removexattr('/usr', 'user.x'))",
        False,
    ),
    "mounts": (
        TRY + "attempt(lambda: call('mount', b'none', b'/usr', b'tmpfs', 0, None), lambda:"
        " call('umount2', b'/usr', 2), lambda: call('mount', None, b'/', None, 32, None), lambda:"
        " os.chroot('/usr'), lambda: syscall(155, b'/', b'/usr'), lambda: syscall(430, b'tmpfs',"
        " 0), lambda: syscall(428, -100, b'/', 1))",
        False,
    ),
    "namespaces": (
        TRY + "attempt(*[lambda n=n: call('unshare', n) for n in (0x10000000, 0x20000, 0x40000000,"
        " 0x20000000)], lambda: call('setns', 0, 0), lambda: syscall(272, 0x10000000))",
        False,
    ),
    "other users": (
        TRY
        + "attempt(lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.setgroups([0]), lambda:"
        " os.seteuid(0), lambda: call('setfsuid', 0) or 1 / 0, lambda: call('capset', None,"
        " None))",
        False,
    ),
    "other processes": (
        TRY
        + "attempt(lambda: os.fork(), lambda: os.forkpty(), lambda: os.posix_spawn('/usr/bin/true',"
        " ['true'], {}), lambda: call('clone', 0, 0, 17, 0), lambda: call('ptrace', 16, 1, 0, 0),"
        " lambda: syscall(310, 1, 0, 0, 0, 0, 0), lambda: syscall(311, 1, 0, 0, 0, 0, 0), lambda:"
        " syscall(434, 1, 0), lambda: syscall(438, 3, 0, 0))",
        False,
    ),
    "threads": (
        TRY + "import threading, _thread\nattempt(lambda: threading.Thread(target=print).start(),"
        " lambda: _thread.start_new_thread(print, ()))",
        False,
    ),
    "a process by subprocess": (
        TRY + "import subprocess\nattempt(lambda: subprocess.run(['/usr/bin/true']), lambda:"
        " subprocess.Popen('true', shell=True), lambda: os.system('true') and 1 / 0)",
        False,
    ),
    "the network": (
        TRY + "import socket\nattempt(*[lambda f=f: socket.socket(f) for f in (socket.AF_INET,"
        " socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK, socket.AF_PACKET)], lambda:"
        " socket.socketpair())",
        False,
    ),
    "memory that no limit counts": (
        TRY + "attempt(lambda: os.memfd_create('x'), lambda: call('shmget', 0, 1 << 30, 0o1600),"
        " lambda: call('semget', 0, 32000, 0o1600), lambda: call('msgget', 0, 0o1600), lambda:"
        " syscall(447, 0), lambda: call('mlockall', 3), lambda: syscall(240, b'x', 66, 0o600,"
        " None), lambda: syscall(425, 8, ctypes.create_string_buffer(512)), lambda: syscall(206,"
        " 1 << 16, ctypes.byref(ctypes.c_long(0))))",
        False,
    ),
    "the kernel": (
        TRY + "attempt(lambda: syscall(321, 5, ctypes.create_string_buffer(128), 128), lambda:"
        " syscall(298, ctypes.create_string_buffer(128), 0, -1, -1, 0), lambda: syscall(323, 1),"
        " lambda: syscall(250, 0, -3, 1), lambda: syscall(248, b'user', b'x', b'x', 1, -3),"
        " lambda: syscall(175, 0, 0, b''), lambda: syscall(246, 0, 0, 0, 0), lambda: syscall(169,"
        " 0xfee1dead, 672274793, 0x4321fedc, 0), lambda: syscall(167, b'/x', 0), lambda:"
        " syscall(300, 0, 0), lambda: syscall(162), lambda: syscall(304, 0, 0, 0))",
        False,
    ),
    "names and clocks": (
        TRY + "import time\nattempt(lambda: socket.sethostname('x'), lambda: call('setdomainname',"
        " b'x', 1), lambda: time.clock_settime(time.CLOCK_REALTIME, 0), lambda:"
        " os.setpriority(os.PRIO_PROCESS, 0, -20), lambda: os.sched_setscheduler(0,"
        " os.SCHED_FIFO, os.sched_param(1)), lambda: call('adjtimex', None))",
        False,
    ),
    "higher limits": (
        TRY + "attempt(*[lambda r=r: resource.setrlimit(r, (resource.RLIM_INFINITY,) * 2) for r in"
        " (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE,"
        " resource.RLIMIT_NOFILE, resource.RLIMIT_MEMLOCK, resource.RLIMIT_MSGQUEUE,"
        " resource.RLIMIT_CORE)])",
        False,
    ),
    "programs of other users": (
        WRONG + "import os\nfor p in ('/usr/bin/su', '/usr/bin/mount', '/usr/bin/passwd'):\n    if"
        " os.path.exists(p): os.execv(p, [p])\nraise RuntimeError('all refused')",
        True,
    ),
    "another shell": (
        WRONG
        + "import os\nos.execv('/usr/bin/sh', ['sh', '-c', 'echo x > /usr/x; echo x > /dev/null;"
        " true & wait; exit 0'])",
        True,
    ),
    "signals to all": (
        WRONG + "import os, signal\nos.kill(1, 9)\nos.kill(-1, 15)\nos.kill(-1, 9)",
        True,
    ),
    "its own end by a signal": (WRONG + "import os\nos.kill(os.getpid(), 9)", True),
    "a broken stack": (WRONG + "import ctypes\nctypes.string_at(0)", True),
    "endless recursion": (
        "import sys\nsys.setrecursionlimit(10**8)\ndef f(x): return f(x) + 1",
        True,
    ),
    "an endless loop": ("def f(x):\n    while True: pass", True),
    "an endless loop that ignores signals": (
        WRONG
        + "import signal\nfor s in range(1, 64):\n    try: signal.signal(s, signal.SIG_IGN)\n   "
        " except (OSError, ValueError): pass\nwhile True: pass",
        True,
    ),
    "an endless loop without descriptors": (
        WRONG + "import os\nos.closerange(0, 64)\nwhile True: pass",
        True,
    ),
    "endless sleep": (WRONG + "import time\ntime.sleep(10**6)", True),
    "a slow pattern": (WRONG + "import re\nre.match('(a+)+$', 'a' * 60 + 'b')", True),
    "a large number": (WRONG + "print(len(str(7 ** 7 ** 9)))", True),
    "a block of memory": (WRONG + "x = bytearray(1 << 30)", True),
    "memory by and by": (WRONG + "x = []\nwhile True: x.append(bytearray(1 << 20))", True),
    "memory by mmap": (
        WRONG + "import mmap\nx = [mmap.mmap(-1, 1 << 26) for _ in range(100)]",
        True,
    ),
    "text that doubles": (WRONG + "x = 'x'\nwhile True: x += x", True),
    "pipes": (
        WRONG
        + "import fcntl, os\nwhile True:\n    r, w = os.pipe()\n    fcntl.fcntl(w, 1031, 1 << 20)\n"
        "    os.set_blocking(w, False)\n    os.write(w, b'x' * (1 << 20))",
        True,
    ),
    "words without end": (WRONG + "while True: print('x' * 4096)", True),
    "errors without end": (WRONG + "import sys\nwhile True: sys.stderr.write('x' * 4096)", True),
    "a terminal's codes as the reason": (
        "def f(x): raise ValueError('\\x1b]0;title\\x07\\x00')",
        True,
    ),
}


def snapshot(folder):
    """What must be the same afterwards."""

    def info(path):
        s = os.lstat(path)
        return str(path), s.st_mode, s.st_uid, s.st_gid, s.st_rdev, s.st_ino

    return {
        "mounts": sorted(
            line.split()[2:6]
            for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
        ),
        "devices": [info(p) for p in sorted(pathlib.Path("/dev").iterdir()) if not p.is_symlink()],
        "files": [
            (info(p), os.lstat(p).st_mtime_ns, os.lstat(p).st_size)
            for p in map(
                pathlib.Path,
                ("/usr", "/usr/bin", "/usr/lib", "/usr/bin/env", "/etc/passwd", "/etc"),
            )
        ],
        "python": info(pathlib.Path("/usr/bin/python3").resolve()),
        "folder": sorted(str(p) for p in folder.rglob("*")),
        "host name": os.uname().nodename,
        "IPC": [
            pathlib.Path(f"/proc/sysvipc/{kind}").read_text().count("\n")
            for kind in ("shm", "sem", "msg")
        ],
    }


def memory():
    """MB held by files in memory."""
    return (
        next(int(line.split()[1]) for line in open("/proc/meminfo") if line.startswith("Shmem:"))
        // 1024
    )


def children():
    return pathlib.Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


def environments():
    """Of the processes around the programs: bwrap's own, and those that it started."""
    for process in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if process.name.isdecimal() and (process / "comm").read_text().strip() in (
                "bwrap",
                "python3",
            ):
                yield (process / "cmdline").read_bytes(), (process / "environ").read_bytes()


USERS = {"as-it-is": []}
if os.geteuid() == 0:
    USERS = {
        "as-root": [],
        "as-nobody": ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"],
    }
RIGHT = {
    "one more": "def f(x): return x + 1",
    "with a module": "import math\ndef f(x): return math.floor(x) + 1",
    "a float": "def f(x): return float(x + 1)",
}
PROGRAMS = {**RIGHT, **CHEATS, **{name: program for name, (program, _) in ATTACKS.items()}}
REFUSED = [name for name, (_, runs) in ATTACKS.items() if not runs]


def judged(probe, as_user, cwd):
    """The verdicts of all programs by name, and the error output."""
    tasks = [
        {"program": HEAD + "    pass\n" + program, "head": HEAD, "test": TEST}
        for program in PROGRAMS.values()
    ]
    lines = "".join(json.dumps(task) + "\n" for task in tasks)
    ran = subprocess.run(
        [*as_user, probe],
        input=lines,
        capture_output=True,
        text=True,
        timeout=1200,
        cwd=cwd,
        env={**os.environ, "PARDEC_TEST_KEY": KEY},
    )
    return dict(zip(PROGRAMS, map(json.loads, ran.stdout.splitlines()))), ran.stderr


@pytest.fixture(scope="module")
def seen(program, tmp_path_factory):
    """What was seen while and after all programs ran, as each user."""
    ctypes.CDLL(None).prctl(
        36, 1, 0, 0, 0
    )  # what outlives its parent becomes a child of this process
    folder = tmp_path_factory.mktemp("hostile")
    for shown in (folder, *folder.parents[:2]):  # to nobody as well
        os.chmod(shown, 0o755)
    found = types.SimpleNamespace(before=snapshot(folder), verdicts={}, walls=0, with_key=0)
    memory_before = peak = memory()
    descriptor = os.open(
        "/etc/passwd", os.O_RDONLY
    )  # a careless caller: this one is inherited, and must not arrive
    os.set_inheritable(descriptor, True)
    probe = program("sandbox_probe")
    runs = [
        threading.Thread(
            target=lambda u=user, a=args: found.verdicts.update({u: judged(probe, a, folder)})
        )
        for user, args in USERS.items()
    ]
    for run in runs:
        run.start()
    while any(run.is_alive() for run in runs):
        peak = max(peak, memory())
        for command, environment in environments():
            found.walls += command.startswith(b"bwrap\0")
            found.with_key += KEY.encode() in environment
        time.sleep(0.1)
    os.close(descriptor)
    found.grown = peak - memory_before
    deadline = time.monotonic() + 10
    while children() and time.monotonic() < deadline:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.05)
    found.left = children()
    found.after = snapshot(folder)
    return found


@pytest.fixture(params=USERS)
def verdicts(request, seen):
    """The verdicts as one user, by the program's name."""
    return seen.verdicts[request.param][0]


def test_no_process_has_a_key_of_the_callers_environment(seen):
    assert seen.walls > 0
    assert seen.with_key == 0


def test_files_in_memory_do_not_grow(seen):
    assert seen.grown < 1024, "MB"


def test_no_process_is_left(seen):
    assert not seen.left


@pytest.mark.parametrize(
    "what", ["mounts", "devices", "files", "python", "folder", "host name", "IPC"]
)
def test_the_host_is_as_before(seen, what):
    assert seen.before[what] == seen.after[what]


@pytest.mark.parametrize("user", USERS)
def test_every_program_gets_a_verdict_and_nothing_is_said_beside_it(seen, user):
    verdicts, stderr = seen.verdicts[user]
    assert verdicts.keys() == PROGRAMS.keys()
    assert len(CHEATS) + len(ATTACKS) >= 60
    assert stderr == ""


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_program_passes(verdicts, name):
    assert verdicts[name]["verdict"] == "passed", verdicts[name]


@pytest.mark.parametrize("name", [*CHEATS, *ATTACKS])
def test_a_hostile_program_does_not_pass(verdicts, name):
    reason = verdicts[name]["reason"]
    assert verdicts[name]["verdict"] in ("failed", "timeout"), reason
    assert reason.isprintable()
    assert "let through" not in reason


@pytest.mark.parametrize("name", REFUSED)
def test_every_step_of_an_attack_is_refused(verdicts, name):
    assert "all refused" in verdicts[name]["reason"]
