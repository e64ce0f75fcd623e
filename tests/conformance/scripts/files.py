"""Files and folders, as the argument names."""

import os
import resource
import shutil
import sys
import tempfile
import time


def modes():
    open("plain", "w").close()
    os.mkdir("folder")
    os.open("private", os.O_CREAT | os.O_WRONLY, 0o600)
    os.mkfifo("pipe")
    os.symlink("plain", "link")
    with tempfile.NamedTemporaryFile(delete=False, prefix="kept-", suffix="") as file:
        os.rename(file.name, os.path.join(tempfile.gettempdir(), "kept"))
    print(tempfile.gettempdir())


def change_folder():
    os.mkdir("sub")
    os.chdir("sub")
    open("here", "w").close()
    import stage
    os.chdir("/")
    print(os.getcwd(), __file__, sys.path[0], stage.__file__)


def folder_deleted():
    os.mkdir("sub")
    os.chdir("sub")
    os.rmdir("../sub")
    import csv
    time.sleep(0.8)
    print("worked on", csv.__name__)


def script_deleted():
    os.remove(__file__)
    time.sleep(0.8)
    raise ValueError("source is gone")


def script_changed():
    with open(__file__, "a") as file:
        file.write("\n# changed\n")
    raise ValueError("source has changed")


def home_deleted():
    shutil.rmtree(os.environ["HOME"])
    shutil.rmtree(os.environ["TMPDIR"])
    time.sleep(0.8)
    print("worked on")


def full():
    """Files may not grow, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
    import csv
    import decimal
    try:
        with open("large", "wb", buffering=0) as file:
            while True:
                file.write(bytes(5000))
    except OSError as error:
        print(error.strerror, os.path.getsize("large"))
    time.sleep(0.8)
    sys.exit(3)


def nothing_fits():
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    import csv
    import decimal
    time.sleep(0.8)
    print("worked on")


def no_memory():
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    try:
        bytearray(1 << 40)
    except MemoryError:
        print("refused")
    kept = []
    try:
        while True:
            kept.append(bytearray(1 << 20))
    except MemoryError:
        n = len(kept)
        del kept
    print("filled", n > 100)
    import csv
    import decimal


def no_processor_time():
    resource.setrlimit(resource.RLIMIT_CPU, (1, 2))
    while True:
        pass


def no_threads():
    import threading
    resource.setrlimit(resource.RLIMIT_STACK, (1 << 16, 1 << 16))
    thread = threading.Thread(target=print, args=("in a thread",))
    thread.start()
    thread.join()


globals()[sys.argv[1]]()
