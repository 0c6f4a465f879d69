"""The error that ends an iteration honestly."""


class NotConvergedError(RuntimeError):
    """A stated tolerance was not met; `best` is the best state that was reached."""

    def __init__(self, message: str, *, best: object) -> None:
        super().__init__(message)
        self.best = best
