"""Tables of values of functions, made when the module is imported."""

import math

SINES = {step: math.sin(step / 1000.0) for step in range(2000000)}
SQUARES = {step: math.sqrt(step) for step in range(2000000)}
