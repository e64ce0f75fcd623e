"""Bears a name of Python's own."""

WHO = "the one beside the script"
