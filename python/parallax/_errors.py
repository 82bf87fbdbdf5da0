"""Statuses of the library as exceptions, and its warnings."""


class ParallaxError(Exception):
    """Base of all errors of the library; `status` is its name there, e.g. "PLX_E_DATA"."""

    status = "PLX_E_?"


class ArgumentError(ParallaxError, ValueError):
    """An argument or parameter value is not allowed."""

    status = "PLX_E_ARG"


class DataError(ParallaxError, ValueError):
    """The data cannot be used: shape, NaN, labels."""

    status = "PLX_E_DATA"


class NumericError(ParallaxError, ArithmeticError):
    """The arithmetic broke down."""

    status = "PLX_E_NUMERIC"


class MemoryLimitError(ParallaxError, MemoryError):
    """Memory ran out, or the estimate passes the memory limit."""

    status = "PLX_E_NOMEM"


class CancelledError(ParallaxError):
    """A progress callback asked to stop."""

    status = "PLX_E_CANCELLED"


class FileError(ParallaxError, OSError):
    """A file could not be opened, read or written."""

    status = "PLX_E_IO"


class FormatError(ParallaxError, ValueError):
    """A file is not what it should be."""

    status = "PLX_E_FORMAT"


class UnsupportedError(ParallaxError, NotImplementedError):
    """A valid request that the method or this build cannot serve."""

    status = "PLX_E_UNSUPPORTED"


class DeviceError(ParallaxError, RuntimeError):
    """The device asked for is not there, or failed."""

    status = "PLX_E_DEVICE"


class LibraryFault(ParallaxError, RuntimeError):
    """A fault of the library itself: please report it."""

    status = "PLX_E_INTERNAL"


class ParallaxWarning(UserWarning):
    """What the library has to say about a call that succeeded."""


BY_STATUS = {kind.status: kind for kind in (ArgumentError, DataError, NumericError, MemoryLimitError, CancelledError,
                                            FileError, FormatError, UnsupportedError, DeviceError, LibraryFault)}
