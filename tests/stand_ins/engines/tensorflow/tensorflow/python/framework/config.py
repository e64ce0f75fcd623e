state = {"deterministic": False}


def is_op_determinism_enabled():
    return state["deterministic"]
