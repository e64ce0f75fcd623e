"""Run folders of a stranger, with every kind of trick, through every command."""
