class Sandbox:
    pass
