print(1)
def f(:
