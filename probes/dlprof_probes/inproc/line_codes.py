"""Code objects that line_profiler can count: with other constants, or with bytecode that no other function has.

line_profiler knows a function by its bytecode, and tells equal ones apart by instructions that do nothing behind the
last one. Code that ends in such an instruction runs, but who analyses bytecode refuses it: `torch.compile` does, where
a graph breaks. So functions get our own end, which nothing reaches either: it returns.
"""

import dis
import types

_NOTHING = bytes((dis.opmap["NOP"], 0))
_RETURN = bytes((dis.opmap["RETURN_VALUE"], 0))
_CONSTANTS, _BYTECODE = 6, 5
"""Their places among the arguments of a code object before Python 3.8."""


def with_consts(code, consts):
    """The same code with other constants."""
    if hasattr(code, "replace"):
        return code.replace(co_consts=consts)
    return _rebuilt(code, _CONSTANTS, consts)


def apart(code, profiler, seen):
    """The same code with bytecode of its own; the very same where this line_profiler pads it all the same.

    Args:
        code: Of a function.
        profiler: The line profiler, which is about to be given it.
        seen: Bytecode to how many functions had it so far; it is counted on.
    """
    seen[code.co_code] = seen.get(code.co_code, 0) + 1
    bytecode = code.co_code + _NOTHING * seen[code.co_code] + _RETURN
    paddings = getattr(profiler, "_all_paddings", None)
    if paddings is not None:  # from 5.0 on it pads every function; before, those alone that are equal to another one
        if not isinstance(paddings, dict):
            return code
        paddings[bytecode] = 0
    return code.replace(co_code=bytecode) if hasattr(code, "replace") else _rebuilt(code, _BYTECODE, bytecode)


def begun(profiler, codes):
    """[(code, line)] of lines that have begun on this thread and are not counted yet, by a line_profiler from 5 on.

    It counts a line when its frame comes to the next one. What it remembers of each frame until then would count in a
    later window, if the frame is still there, and else never: of a function that is called anew between two windows
    the line that takes longest would be met least.

    Args:
        profiler: The line profiler.
        codes: Hash of the bytecode to the code of each function that it counts.
    """
    try:
        records = profiler.c_last_time
    except KeyError:  # not a line was begun on this thread
        return []
    return [(codes[bytecode], one["f_lineno"]) for bytecode, one in records.items() if bytecode in codes]


def _rebuilt(code, place, value):
    given = [
        code.co_argcount,
        code.co_kwonlyargcount,
        code.co_nlocals,
        code.co_stacksize,
        code.co_flags,
        code.co_code,
        code.co_consts,
        code.co_names,
        code.co_varnames,
        code.co_filename,
        code.co_name,
        code.co_firstlineno,
        code.co_lnotab,
        code.co_freevars,
        code.co_cellvars,
    ]
    given[place] = value
    return types.CodeType(*given)
