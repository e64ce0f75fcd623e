"""Getting the traced process to run: environments, interpreters, staging, signals, sidecars."""
