"""Runs for assistants: a server of the Model Context Protocol, with answers that are bounded in size."""
