_CLASSES = BufferError, TypeError, OverflowError, ValueError, AttributeError, NotImplementedError


def _builtin(error):
    """Returns a built-in class and the text for an exception of foreign code. Raises exhausted
    memory and recursion again."""
    if isinstance(error, (MemoryError, RecursionError)):
        raise error
    kind = next((kind for kind in _CLASSES if isinstance(error, kind)), RuntimeError)
    try:
        return kind, str(error)
    except Exception:
        return kind, type(error).__name__
