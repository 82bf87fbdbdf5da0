"""Settings all estimators share, and values of Python as settings of a method."""
import numbers
import os

import numpy as np


def threads(n_jobs):
    """None: all processors this process may use, but one inside a worker of joblib; -1: all; -2: all but one."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        return 1 if _inside_worker() else available
    if n_jobs == 0:
        raise ValueError("n_jobs == 0 has no meaning")
    return n_jobs if n_jobs > 0 else max(1, available + 1 + n_jobs)


def _inside_worker():
    import multiprocessing

    if multiprocessing.parent_process() is not None:
        return True
    from joblib.parallel import get_active_backend

    return (get_active_backend()[0].nesting_level or 0) > 0


def seed_of(random_state):
    """A whole number from an int, a RandomState or a Generator; None: 0, so that results repeat."""
    if random_state is None:
        return 0
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, 2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**63 - 1))
    raise ValueError(f"random_state={random_state!r}: expected an int, a RandomState, a Generator or None")


def settings_of(method, estimator):
    """[(key, text)] of what differs from the defaults. A dict sets a parameter view by view; its key None, all others."""
    found = []
    for p in method.parameters:
        value = getattr(estimator, p.python_name)
        if isinstance(value, dict):
            if not p.per_view:
                raise ValueError(f"{p.python_name}: this parameter is one for all views")
            found += [(p.name, p.as_text(v)) for key, v in value.items() if key is None]
            found += [(f"{p.name}.{key}", p.as_text(v)) for key, v in value.items() if key is not None]
        elif value is not None and not _same(value, p.python_default):
            found.append((p.name, p.as_text(value)))
    return found


def _same(value, default):
    return type(value) is type(default) and value == default
