"""A script run again: with a remedy, to confirm a finding, or with a planted cause, to examine the rules."""
