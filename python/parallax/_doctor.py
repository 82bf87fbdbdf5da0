"""Whether the linear algebra runs as fast as this processor allows."""
import os

from ._core import Context, ffi, lib, text, warn
from ._settings import threads

_told = False


class Diagnosis(dict):
    """version, threads, blas, kernels, gflops, better_kernels (None: those in use are as good) and advice."""

    def __repr__(self):
        return "\n".join(f"{key:15}{value}" for key, value in self.items() if value is not None)


def advice() -> str | None:
    """What to do about the kernels; None: nothing."""
    better = text(lib.plx_blas_better_core())
    if better is None:
        return None
    core, chosen = text(lib.plx_blas_core()), os.environ.get("OPENBLAS_CORETYPE")
    if chosen:
        return (f"the linear algebra runs kernels for {core}, because OPENBLAS_CORETYPE={chosen} is set; this processor "
                f"can run those for {better}: unset it")
    return (f"the linear algebra runs kernels for {core}, and this processor can run those for {better}, several times "
            f"as fast: set OPENBLAS_CORETYPE={better} before Python starts")


def doctor() -> Diagnosis:
    """The BLAS library, its kernels, how fast it multiplies matrices on one core, and what to do about it."""
    context, speed = Context(), ffi.new("double *")
    context.call(lib.plx_blas_measure, speed, context.pointer)
    return Diagnosis(version=text(lib.plx_version()), threads=threads(None), blas=text(lib.plx_blas_name()),
                     kernels=text(lib.plx_blas_core()), gflops=speed[0], better_kernels=text(lib.plx_blas_better_core()),
                     advice=advice())


def check_once():
    """A warning at the first fit of a process whose kernels are weaker than its processor."""
    global _told
    if _told:
        return
    _told = True
    found = advice()
    if found:
        warn(found)
