"""Which process this is, of how many."""


class State:
    """What is known once it is initialised."""

    process_id = 0
    num_processes = 1

    def initialize(self, num_processes: int, process_id: int) -> None:
        """Connect to the others."""
        self.num_processes, self.process_id = num_processes, process_id
