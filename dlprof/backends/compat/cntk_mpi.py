"""Builds what stands in for Open MPI, so that CNTK can be imported where only one process computes.

Run once by the interpreter of CNTK's environment, after installation. CNTK's wheel is linked to the libraries of
Open MPI 1.10, of which it calls nothing in a run of a single process but the questions of how many processes there
are, and which one this is. The stand-in answers those; whatever else is called ends the process with the name of the
function. The libraries go beside CNTK's own, where its run path finds them.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile

_HEAD = r"""
#include <stdio.h>
#include <stdlib.h>
static void refuse(const char *name)
{
    fprintf(stderr, "%s: this stand-in for MPI only knows a single process\n", name);
    abort();
}
int MPI_Initialized(int *flag) { *flag = 1; return 0; }
int MPI_Finalized(int *flag) { *flag = 0; return 0; }
int MPI_Init_thread(int *argc, char ***argv, int wanted, int *given) { *given = wanted; return 0; }
int MPI_Comm_rank(void *communicator, int *rank) { *rank = 0; return 0; }
int MPI_Comm_size(void *communicator, int *size) { *size = 1; return 0; }
int MPI_Finalize(void) { return 0; }
"""
_ANSWERED = set(re.findall(r"int (MPI_\w+)\(", _HEAD))
_FUNCTION = re.compile(r"MPI_\w+|ompi_mpi_cxx_op_intercept|ompi_op_set_\w+|_ZNK?3MPI\w+")
_DATA = re.compile(r"ompi_mpi_\w+|_ZT[VIS]N3MPI\w+")
_DATA_BYTES = 1024
"""More than any object that Open MPI 1.10 keeps under such a name."""


def main():
    """Build both libraries; ends with a sentence on standard error where that cannot be."""
    compiler = _program("CC", "cc", "gcc", "clang")
    lister = _program("NM", "nm")
    packages = sysconfig.get_paths()["platlib"]
    target = os.path.join(packages, "cntk", "libs")
    wanted = undefined(lister, _libraries(packages, target))
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "mpi.c")
        with open(source, "w") as out:
            out.write(stand_in(wanted))
        _build(compiler, source, target, "libmpi.so.12")
        with open(source, "w") as out:
            out.write("int dlprof_stand_in_for_mpi_cxx;\n")
        _build(compiler, source, target, "libmpi_cxx.so.1")


def _program(variable, *names):
    found = os.environ.get(variable) or next((name for name in names if shutil.which(name)), None)
    if found is None:
        sys.exit("CNTK needs a stand-in for MPI, and to build it %s: apt install gcc, or the like" % " or ".join(names))
    return found


def _libraries(packages, folder):
    found = [os.path.join(folder, name) for name in os.listdir(folder) if "Cntk" in name]
    return found + [os.path.join(packages, name) for name in os.listdir(packages) if name.startswith("_cntk_py")]


def undefined(lister, libraries):
    """Names of MPI that the libraries want from elsewhere."""
    found = set()
    for library in libraries:
        done = subprocess.run([lister, "-D", "--undefined-only", library], stdout=subprocess.PIPE, check=True)
        names = (line.split()[-1].split("@")[0] for line in done.stdout.decode().splitlines() if line.strip())
        found.update(name for name in names if _FUNCTION.fullmatch(name) or _DATA.fullmatch(name))
    return found


def stand_in(names):
    """The source of a library that has all these names."""
    lines = [_HEAD]
    for name in sorted(names - _ANSWERED):
        if _FUNCTION.fullmatch(name):
            lines.append('void %s(void) { refuse("%s"); }' % (name, name))
        else:
            lines.append("char %s[%d];" % (name, _DATA_BYTES))
    return "\n".join(lines) + "\n"


def _build(compiler, source, folder, name):
    command = [compiler, "-shared", "-fPIC", "-O1", "-w", "-Wl,-soname," + name]
    subprocess.run(command + ["-o", os.path.join(folder, name), source], check=True)


if __name__ == "__main__":
    main()
