"""Processes of all kinds, as the argument names."""

import ctypes
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import stage


def square(x):
    return x * x


def fork():
    print("before", flush=True)
    pid = os.fork()
    if pid == 0:
        print("child", flush=True)
        sys.exit(4)
    print("parent", os.WEXITSTATUS(os.waitpid(pid, 0)[1]))


def forks():
    codes = []
    for n in range(60):
        pid = os.fork()
        if pid == 0:
            os._exit(n)
        codes.append(os.WEXITSTATUS(os.waitpid(pid, 0)[1]))
    print(codes == list(range(60)))


def fork_of_thread():
    def work():
        pid = os.fork()
        if pid == 0:
            print("child of a thread", flush=True)
            os._exit(2)
        print(os.WEXITSTATUS(os.waitpid(pid, 0)[1]))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def parent_first():
    """The parent ends before its child."""
    if os.fork() == 0:
        stage.until(lambda: os.getppid() != parent)
        print("child is last", flush=True)
        os._exit(0)


def child_raises():
    if os.fork() == 0:
        raise ValueError("in the child")
    print(os.wait()[1] >> 8)


def become():
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-c", "import sys; print('another program'); sys.exit(21)"])


def become_shell():
    os.execlp("sh", "sh", "-c", "echo $0 $STAGE_IS; kill -TERM $$")


def children():
    print(subprocess.run(["sh", "-c", "echo out; echo err >&2; exit 5"]).returncode)
    print(subprocess.run(["sh", "-c", "kill -9 $$"]).returncode)
    print(os.system("exit 3") >> 8)
    with os.popen("echo popen") as pipe:
        print(pipe.read())
    pid = os.posix_spawn("/bin/sh", ["sh", "-c", "exit 8"], os.environ)
    print(os.waitpid(pid, 0)[1] >> 8)
    try:
        os.wait()
    except ChildProcessError as error:
        print(error.strerror)


def pools():
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            print(method, pool.map(square, range(5)), flush=True)


def spawned():
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    worker = context.Process(target=queue.put, args=("from a worker",), name="Worker")
    worker.start()
    print(queue.get(), worker.name)
    worker.join()
    print(worker.exitcode)


def executor():
    from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

    for kind in (ThreadPoolExecutor, ProcessPoolExecutor):
        with kind(2) as pool:
            print(sum(pool.map(square, range(10))))


def daemon():
    """Leaves a process that goes on by itself; a file says that it has."""
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        stage.until(lambda: not os.path.exists("/proc/%d" % parent) or os.path.exists("/proc/%d/exited" % parent), 1)
        with open("from_the_daemon.txt", "w") as file:
            file.write("went on")
        os._exit(0)
    os.wait()
    print("started")


def orphans():
    """Grandchildren are nobody's; they do not become the script's."""
    for _ in range(30):
        pid = os.fork()
        if pid == 0:
            if os.fork() == 0:
                os._exit(0)
            os._exit(0)
        os.waitpid(pid, 0)
    try:
        print(os.waitpid(-1, os.WNOHANG))
    except ChildProcessError as error:
        print(error.strerror)


def child_signals():
    seen = []
    signal.signal(signal.SIGCHLD, lambda *_: seen.append(1))
    subprocess.run(["true"])
    print(stage.until(lambda: seen), len(seen))


def own_group():
    if os.getpgrp() != os.getpid():
        os.setpgid(0, 0)
    pid = os.fork()
    if pid == 0:
        os.setsid()
        print(os.getsid(0) == os.getpid(), flush=True)
        os._exit(0)
    os.waitpid(pid, 0)
    print("group", os.getpgrp() == os.getpid())


def group_killed():
    """Kills its whole group, as `timeout` and shells do: itself, and nobody else."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    subprocess.Popen(["sleep", "30"])
    os.killpg(os.getpgrp(), signal.SIGTERM)
    print("lived", flush=True)
    os.killpg(os.getpgrp(), signal.SIGKILL)


def parent_seen():
    print("has a parent", os.getppid() > 1, os.path.exists("/proc/%d" % os.getppid()))


def other_user():
    """Gives up its rights, as servers do."""
    with open("as_root.txt", "w") as file:
        file.write("x")
    os.setgid(65534)
    os.setuid(65534)
    import csv
    import decimal

    time.sleep(0.8)
    print(os.getuid(), os.access("/root", os.W_OK))
    try:
        open("as_nobody.txt", "w")
    except OSError as error:
        print(error.strerror)


def chroot():
    os.mkdir("jail")
    os.chroot("jail")
    os.chdir("/")
    time.sleep(0.8)
    print(os.listdir("/"))


def renamed():
    ctypes.CDLL(None).prctl(15, b"my-name", 0, 0, 0)
    print(open("/proc/self/comm").read().strip())


def not_dumpable():
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
    time.sleep(0.3)
    print("still here")


def stopped_by_itself():
    """A child stops; who waits for it is told."""
    pid = os.fork()
    if pid == 0:
        os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(6)
    _, status = os.waitpid(pid, os.WUNTRACED)
    print("stopped", os.WIFSTOPPED(status))
    os.kill(pid, signal.SIGCONT)
    print(os.WEXITSTATUS(os.waitpid(pid, 0)[1]))


def held_stream():
    """A child keeps standard output open after its parent's end."""
    subprocess.Popen(["sh", "-c", "sleep 0.5; echo later"])


if __name__ == "__main__":
    parent = os.getpid()
    globals()[sys.argv[1]]()
