"""An import of what does not exist, one that fails, and what it leaves behind."""

import sys

try:
    import nothing_of_this_name
except ModuleNotFoundError as error:
    print(error, error.name)
try:
    from json import nothing_in_it
except ImportError as error:
    print(error.name, error.msg.split("(")[0])
with open("broken.py", "w") as file:
    file.write("import os\nx = 1\n1 / 0\n")
try:
    import broken
except ZeroDivisionError as error:
    print(error, "broken" in sys.modules)
import broken
