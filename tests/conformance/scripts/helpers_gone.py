"""Waits while something that only a profiler has is taken away, then works on: imports, threads, files, a child."""

import os
import subprocess
import sys
import threading
import time

import stage

stage.ready()
stage.wait()
import csv
import decimal
import xml.dom.minidom

time.sleep(0.8)  # longer than a stream waits before it is written
thread = threading.Thread(target=lambda: print(sum(range(100000))))
thread.start()
thread.join()
with open("made.txt", "w") as file:
    file.write("made")
print(subprocess.run([sys.executable, "-c", "print('child')"], stdout=subprocess.PIPE).stdout)
print(decimal.Decimal(1) / 3, csv.__name__, os.listdir("."))
sys.exit(5)
