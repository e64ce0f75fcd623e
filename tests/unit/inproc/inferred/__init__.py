"""Tests of the loops that a script wrote itself."""
