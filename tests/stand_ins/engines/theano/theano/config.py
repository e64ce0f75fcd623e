mode, optimizer, linker, openmp = "Mode", "fast_run", "cvm", False
