#include "src/sandbox/python_sandbox.hpp"

#include <sys/syscall.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>

#include "metrics/program_text.hpp"
#include "src/support/error.hpp"
#include "src/support/json.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;

namespace {

/// Programs without a task.
struct Alone {
  PythonSandbox sandbox;
  SandboxResult run(const std::string& program) const { return sandbox.run({.program = program}); }
};

/// None if bwrap is missing or the kernel refuses; then the test is skipped.
std::optional<Alone> sandbox(SandboxLimits limits = {}) {
  try {
    const Alone alone{PythonSandbox(limits)};
    alone.run("");
    return alone;
  } catch (const ConfigError& error) {
    std::cout << "[skipped] " << error.what() << "\n";
    return std::nullopt;
  }
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

TEST_CASE("a program passes when it ends by itself", "[sandbox]") {
  const auto box = sandbox();
  if (!box) return;
  CHECK(box->run("x = 1\nassert x == 1\n").verdict == SandboxVerdict::passed);
  CHECK(box->run("import math, json, collections\nprint('x' * 10**6)").verdict ==
        SandboxVerdict::passed);
  CHECK(box->run("if __name__ == '__main__':\n    import unittest\n    unittest.main()").verdict ==
        SandboxVerdict::passed);
  CHECK(box->run("from __future__ import annotations\nfrom dataclasses import dataclass\n"
                 "@dataclass\nclass Pair:\n    a: int\nassert Pair(1).a == 1")
            .verdict == SandboxVerdict::passed);
  CHECK(box->run("\xC3\xA4 = '\xE6\x9D\xB1'").verdict == SandboxVerdict::passed);
  const auto wrong = box->run("assert 1 == 2, 'no'");
  CHECK(wrong.verdict == SandboxVerdict::failed);
  CHECK(wrong.reason == "AssertionError: no");
  CHECK(box->run("def f(:\n").reason.starts_with("SyntaxError"));
  for (const char* early : {"exit(0)", "import sys; sys.exit()", "import os; os._exit(0)",
                            "raise SystemExit", "import os; os.kill(os.getpid(), 9)"})
    CHECK(box->run(early).verdict == SandboxVerdict::failed);
  CHECK(box->run("input()").reason.starts_with("EOFError"));
  // A lot of text on stderr is read to its end, and the last line is kept.
  CHECK(box->run("import sys\nsys.stderr.write('x\\n' * 10**6)\nraise ValueError('end')").reason ==
        "ValueError: end");
}

TEST_CASE("a program that does not end is stopped", "[sandbox]") {
  const auto box = sandbox({.seconds = 2});
  if (!box) return;
  for (const char* endless : {"while True: pass", "import time\ntime.sleep(1000)",
                              "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                              "while True: pass"}) {
    const auto begin = std::chrono::steady_clock::now();
    CHECK(box->run(endless).verdict == SandboxVerdict::timeout);
    CHECK(seconds_since(begin) < 30);
  }
}

TEST_CASE("no further process or thread can be made", "[sandbox]") {
  const auto box = sandbox();
  if (!box) return;
  const auto bomb = box->run("import os\nwhile True: os.fork()");
  CHECK(bomb.verdict == SandboxVerdict::failed);
  CHECK(bomb.reason.find("PermissionError") == 0);
  CHECK(box->run("import subprocess\nsubprocess.run(['/usr/bin/true'])").verdict ==
        SandboxVerdict::failed);
  CHECK(box->run("import threading\nthreading.Thread(target=print).start()").verdict ==
        SandboxVerdict::failed);
}

TEST_CASE("no file of the host can be leased, locked or watched, and no timer made", "[sandbox]") {
  const auto box = sandbox();
  if (!box) return;
  const auto refused = [&](const std::string& program) {
    INFO(program);
    CHECK(box->run(program).reason.starts_with("PermissionError"));
  };
  // A lease held by root makes every process that opens the file wait for 30 s.
  for (const char* call :
       {"fcntl.F_SETLEASE, fcntl.F_RDLCK", "fcntl.F_SETLEASE, fcntl.F_WRLCK",
        "fcntl.F_NOTIFY, fcntl.DN_ACCESS", "fcntl.F_SETSIG, 9", "fcntl.F_SETOWN, 1"})
    refused(str("import fcntl\nf = open('/usr/bin/python3', 'rb')\nfcntl.fcntl(f, ", call, ")"));
  refused("import fcntl\nfcntl.flock(open('/usr/bin/python3'), fcntl.LOCK_SH)");
  refused("import fcntl\nfcntl.lockf(open('/usr/bin/python3'), fcntl.LOCK_SH)");
  refused("import fcntl\nfcntl.fcntl(1, 1031, 1 << 20)");  // F_SETPIPE_SZ
  refused("import os\nos.pipe()");
  refused("import os\nos.posix_fadvise, os.eventfd(0)");
  refused("import select\nselect.epoll()");
  refused("import os\nos.setxattr('/usr', 'user.x', b'1')");
  // System calls that Python has no function for, by their numbers.
  for (const int call : {SYS_timer_create, SYS_timerfd_create, SYS_flock, SYS_mlockall, SYS_ptrace,
                         SYS_io_uring_setup, SYS_add_key, SYS_personality, SYS_sethostname,
                         SYS_prctl, SYS_seccomp, 999}) {
    INFO(call);
    CHECK(box->run(str("import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n",
                       "assert libc.syscall(", call, ", 0, 0, 0) == -1\n",
                       "assert ctypes.get_errno() == 1, os.strerror(ctypes.get_errno())"))
              .verdict == SandboxVerdict::passed);
  }
}

TEST_CASE("what programs need for computing is available", "[sandbox]") {
  const auto box = sandbox();
  if (!box) return;
  for (const char* program :
       {"import re, json, math, cmath, random, decimal, fractions, statistics, itertools, "
        "functools, collections, heapq, bisect, string, textwrap, datetime, calendar, copy, "
        "operator, typing, dataclasses, enum, hashlib, base64, struct, array, unicodedata, difflib",
        "import time\ntime.sleep(0.01); time.time(); time.perf_counter(); time.process_time()",
        "import datetime\ndatetime.datetime.now()", "import random, secrets\nsecrets.token_hex(8)",
        "import os, sys\nos.getpid(); os.getcwd(); os.listdir('/usr'); os.path.exists('/x')\n"
        "os.uname(); os.cpu_count(); os.getlogin if 0 else None",
        "import uuid\nuuid.uuid4()", "import locale, gettext, platform, tempfile, pathlib",
        "import signal\nsignal.signal(signal.SIGALRM, lambda *_: None)\nsignal.alarm(1)\n"
        "signal.setitimer(signal.ITIMER_REAL, 0)",
        "import resource, gc\nresource.getrusage(0); gc.collect()",
        "x = [i * i for i in range(10 ** 6)]\nassert sum(sorted(x, reverse=True)) > 0",
        "import threading\nthreading.Lock().acquire()", "print('x' * 100000)",
        "import asyncio, contextlib, io\nio.StringIO('x').read()", "import sqlite3"}) {
    INFO(program);
    const auto result = box->run(program);
    INFO(result.reason);
    CHECK(result.verdict == SandboxVerdict::passed);
  }
}

TEST_CASE("a program with a long message is wrong, and not the sandbox", "[sandbox]") {
  const auto box = sandbox();
  if (!box) return;
  const auto long_message = box->run(
      "import os, json\nd = json.dumps({'raised': 'E', 'text': 'a' * 20000}).encode()\n"
      "os.write(4, b'%08x' % len(d) + d)\nos._exit(0)");
  CHECK(long_message.verdict == SandboxVerdict::failed);
}

TEST_CASE("memory is limited", "[sandbox]") {
  const auto box = sandbox({.seconds = 60, .memory_megabytes = 256});
  if (!box) return;
  CHECK(box->run("x = bytearray(100 << 20)").verdict == SandboxVerdict::passed);
  CHECK(box->run("x = bytearray(300 << 20)").reason == "MemoryError");
  CHECK(box->run("x = []\nwhile True: x.append(bytearray(1 << 20))").reason == "MemoryError");
  CHECK(box->run("import os\nos.memfd_create('x')").verdict == SandboxVerdict::failed);
}

TEST_CASE("there is no network", "[sandbox]") {
  const auto box = sandbox();
  if (!box) return;
  CHECK(box->run("import socket\nsocket.create_connection(('127.0.0.1', 80), 1)")
            .reason.find("PermissionError") == 0);
  CHECK(box->run("import socket\nsocket.socket(socket.AF_UNIX)").verdict == SandboxVerdict::failed);
  CHECK(box->run("import urllib.request\nurllib.request.urlopen('http://example.org')").verdict ==
        SandboxVerdict::failed);
}

TEST_CASE("nothing outside can be read, and nothing written", "[sandbox]") {
  const auto box = sandbox();
  if (!box) return;
  const pardec::test::TemporaryFolder folder;
  const auto file = folder.path() / "secret.txt";
  std::ofstream(file) << "secret";
  CHECK(box->run("open('" + file.string() + "').read()").reason.starts_with("FileNotFoundError"));
  const auto written = (folder.path() / "new.txt").string();
  CHECK(box->run("open('" + written + "', 'w')").verdict == SandboxVerdict::failed);
  CHECK_FALSE(std::filesystem::exists(written));
  for (const char* place : {"new.txt", "/new.txt", "/tmp/new.txt", "/usr/new.txt", "/dev/new.txt",
                            "/dev/shm/new.txt", "/etc/passwd"})
    CHECK(box->run(str("open('", place, "', 'w')")).verdict == SandboxVerdict::failed);
  ::setenv("PARDEC_TEST_SECRET", "secret", 1);
  CHECK(box->run("import os\nassert 'PARDEC_TEST_SECRET' not in os.environ").verdict ==
        SandboxVerdict::passed);
  CHECK(box->run("import os\nassert os.getuid() == 65534 and len(os.listdir('/proc')) == 0")
            .verdict == SandboxVerdict::failed);  // there is no /proc
}

TEST_CASE("HumanEval-X: its own solutions pass, and empty ones fail", "[sandbox]") {
  const auto file = pardec::test::data("humaneval-x/python.jsonl");
  const auto box = sandbox({.seconds = 60});
  if (!file || !box) return;
  std::ifstream lines(*file);
  int tasks = 0;
  for (std::string line; std::getline(lines, line); ++tasks) {
    const Json task = Json::parse(line);
    const auto verdict = [&](const std::string& answer) {
      const auto prompt = task["prompt"].get<std::string>();
      return box->sandbox
          .run({task_program(prompt, answer), task_head(prompt), task["test"].get<std::string>()})
          .verdict;
    };
    INFO(task["task_id"]);
    CHECK(verdict(task["canonical_solution"].get<std::string>()) == SandboxVerdict::passed);
    if (tasks % 8 == 0) CHECK(verdict("    return None\n") == SandboxVerdict::failed);
  }
  CHECK(tasks == 164);
}

TEST_CASE("impossible limits are refused", "[sandbox]") {
  CHECK_THROWS_AS(PythonSandbox({.seconds = 0}), ConfigError);
  CHECK_THROWS_AS(PythonSandbox({.memory_megabytes = 1}), ConfigError);
}

TEST_CASE("without bwrap no program is run", "[sandbox]") {
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  CHECK_THROWS_WITH(PythonSandbox().run({.program = "x = 1"}), Catch::Contains("bubblewrap"));
  ::setenv("PATH", path.c_str(), 1);
}
