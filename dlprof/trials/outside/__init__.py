"""The outside exam: problems of real users, rebuilt with their cause and without it, diagnosed."""
