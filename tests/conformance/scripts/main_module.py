"""What programs do with their own module: pickle, dataclasses, enums, type hints, inspect, doctest, annotations."""

import dataclasses
import doctest
import enum
import inspect
import linecache
import pickle
import runpy
import sys
import typing

size: int = 3


@dataclasses.dataclass
class Point:
    x: int
    y: "typing.Optional[Point]" = None


class Colour(enum.Enum):
    RED = 1


def double(x):
    """Twice.

    >>> double(2)
    4
    """
    return 2 * x


print(pickle.loads(pickle.dumps((Point(1, Point(2)), Colour.RED, double))))  # noqa: S301
print(typing.get_type_hints(Point), Point.__module__, Colour.RED)
print(doctest.testmod())
print(inspect.getsource(double).splitlines()[0], inspect.getsourcefile(Point) == __file__)
print(linecache.getline(__file__, 3))
print(__annotations__, __doc__.split(":")[0])
print(len(inspect.stack()), inspect.currentframe().f_back, sys._getframe().f_code.co_name)
print(sorted(globals()))
print(runpy.run_path(inspect.getsourcefile(doctest), run_name="other")["__name__"])
import __main__

print(__main__ is sys.modules["__main__"], __main__.double is double)
