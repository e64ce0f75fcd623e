def print_report(run, file):
    for r in run.rows("phases"): print(r, file=file)
    for r in run.rows("probes"): print(r, file=file)
    for r in run.rows("health"): print(r, file=file)
