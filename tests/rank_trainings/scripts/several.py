"""Starts a command several times on this machine, each time told which one it is: `several.py COUNT VARIABLES COMMAND...`.

VARIABLES are `own` (PROCESS, PROCESSES, PORT: no launcher's, so that only the engine tells ranks) or `tensorflow` (TF_CONFIG, too). What
process 0 prints is printed; the exit code is the first that is not 0.
"""

import json
import os
import socket
import subprocess
import sys


def free_ports(count):
    taken = [socket.socket() for _ in range(count)]
    for one in taken:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in taken]
    for one in taken:
        one.close()
    return ports


def main():
    count, variables, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    ports = free_ports(count)
    workers = ["127.0.0.1:%d" % port for port in ports]
    begun = []
    for number in range(count):
        place = {"cluster": {"worker": workers}, "task": {"type": "worker", "index": number}}
        told = {"PROCESS": str(number), "PROCESSES": str(count), "PORT": str(ports[0])}
        if variables == "tensorflow":
            told["TF_CONFIG"] = json.dumps(place)
        output = None if number == 0 else subprocess.DEVNULL
        begun.append(subprocess.Popen(command, env={**os.environ, **told}, stdout=output))
    codes = [one.wait() for one in begun]
    sys.exit(next((code for code in codes if code), 0))


main()
