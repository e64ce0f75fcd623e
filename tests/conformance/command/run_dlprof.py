"""`dlprof`, as pip makes it: a script of its own folder. `python -m dlprof` would look for modules in the current one."""

import sys

from dlprof.__main__ import main

sys.exit(main())
