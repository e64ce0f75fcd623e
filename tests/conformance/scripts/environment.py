"""The environment, to the last variable, and that of a child."""

import os
import subprocess
import sys

for name in sorted(os.environb):
    print(name, os.environb[name])
child = "import os; print(sorted(os.environb.items()))"
print(subprocess.run([sys.executable, "-c", child], stdout=subprocess.PIPE).stdout)
