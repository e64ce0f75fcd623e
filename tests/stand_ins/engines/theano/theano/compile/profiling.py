_atexit_print_list = []
