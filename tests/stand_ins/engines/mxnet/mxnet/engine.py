state = {"bulk_size": 15}


def set_bulk_size(size):
    before, state["bulk_size"] = state["bulk_size"], size
    return before
