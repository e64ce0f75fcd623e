def reset():
    pass
