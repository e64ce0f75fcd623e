"""Starts Pythons that load an engine, and that come to their end in the way that the first argument names."""

import os
import signal
import subprocess
import sys
import threading
import time

clock = time.perf_counter


def spin(seconds):
    total, stop = 0, clock() + seconds
    while clock() < stop:
        total += 1


def start(how, *more, **options):
    return subprocess.Popen([sys.executable, *more, __file__, how, "worker"], **options)


def wait(*processes):
    print([process.wait() for process in processes], flush=True)


def default(how):
    wait(start(how), start(how))


# -- what the script does; `default` where there is no function of that name


def killed(how):
    worker = start(how, stdout=subprocess.PIPE)
    worker.stdout.readline()
    worker.kill()
    wait(worker)


stopped_and_killed = killed


def outlives(how):
    print(start(how, start_new_session=True).pid > 0)


def without_environment(how):
    wait(start(how, env={}), start(how, env={"PYTHONPATH": "/nonexistent"}))


def isolated(how):
    wait(start(how, "-I"), start(how, "-S"), start(how, "-E"))


def many(how):
    for _ in range(8):
        wait(*(start(how) for _ in range(9)))


def shells(how):
    text = "setsid %s %s %s worker; nohup %s %s %s worker; exit 9" % ((sys.executable, __file__, how) * 2)
    print(subprocess.call(["sh", "-c", text]), flush=True)


def pools(how):
    import multiprocessing

    for method in ("spawn", "forkserver", "fork"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            print(sorted(pool.map(load, range(3))), flush=True)


def dies(how):
    """The script is killed while a worker runs; that one ends by itself."""
    worker = start(how, stdout=subprocess.PIPE)
    worker.stdout.readline()
    os.kill(os.getpid(), signal.SIGKILL)


def load(number):
    import theano

    spin(0.1)
    return number, theano.__name__


# -- what a worker does


def worker_default():
    spin(0.3)
    print("worker", flush=True)


def worker_killed():
    print("ready", flush=True)
    time.sleep(30)


def worker_stopped_and_killed():
    print("ready", flush=True)
    os.kill(os.getpid(), signal.SIGSTOP)


def worker_dies():
    print("ready", flush=True)
    spin(0.6)
    open("worker-went-on", "w").close()


def worker_closes():
    os.closerange(3, 65536)
    files = [open("mine-%d" % os.getpid(), "wb", buffering=0) for _ in range(30)]
    for file in files:
        file.write(b"A")
    spin(0.8)
    import decimal
    for file in files:
        file.write(b"B")
    os.rename("mine-%d" % os.getpid(), "mine")
    sys.exit(3)


def worker_os_exit():
    spin(0.2)
    os._exit(7)


def worker_segfault():
    spin(0.2)
    os.kill(os.getpid(), signal.SIGSEGV)


def worker_forks_in_a_thread():
    def work():
        pid = os.fork()
        if pid == 0:
            spin(0.2)
            os._exit(2)
        os.write(1, b"%d\n" % os.WEXITSTATUS(os.waitpid(pid, 0)[1]))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    sys.exit(4)


def worker_double_fork():
    """What is left is nobody's child, has a session of its own, and loads the engine once more."""
    if os.fork():
        os._exit(0)
    os.setsid()
    if os.fork():
        os._exit(0)
    spin(0.3)
    load(1)
    try:  # two of them come here at the same time: who makes the file has it
        file = open("daemon-first", "x")
    except FileExistsError:
        file = open("daemon-second", "x")
    with file:
        file.write("went on")


def worker_outlives():
    spin(1.2)
    with open("outlived", "w") as file:
        file.write("went on")


def worker_execs():
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-c", "import theano, sys; print('another'); sys.exit(11)"])


def worker_umask():
    os.umask(0o777)
    spin(0.3)
    sys.exit(5)


def worker_closes_streams():
    for number in (0, 1, 2):
        os.close(number)
    spin(0.3)
    sys.exit(6)


def worker_changes_user():
    os.setgid(65534)
    os.setuid(65534)
    spin(0.3)
    sys.exit(8)


def worker_removes_modules():
    for name in list(sys.modules):
        if name not in ("sys", "builtins", "__main__"):
            del sys.modules[name]
    spin(0.3)


def worker_deleted_folder():
    name = "gone-%d" % os.getpid()
    os.mkdir(name)
    os.chdir(name)
    os.rmdir("../" + name)
    spin(0.3)
    sys.exit(9)


how = sys.argv[1]
if len(sys.argv) > 2:
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import theano

    globals().get("worker_" + how, worker_default)()
elif __name__ == "__main__":
    globals().get(how, default)(how)
    print("end")
