"""What comes with dlprof besides its code: scenarios to trace, and a pair of runs to look at."""
