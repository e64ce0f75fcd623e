class mkldnn:
    enabled = True
