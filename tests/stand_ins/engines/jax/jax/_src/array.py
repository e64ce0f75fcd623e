"""Arrays, as far as their values go."""


class ArrayImpl:
    @property
    def _value(self):
        """The value."""
        return 7
