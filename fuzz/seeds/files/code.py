def f():
    pass
