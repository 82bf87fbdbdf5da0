"""The border to C: contexts, calls, texts and arrays. Everything else in the package goes through here."""
import os
import sys
import threading
import warnings

import numpy as np

from ._errors import BY_STATUS, LibraryFault, ParallaxWarning
from ._parallax import ffi, lib

NULL = ffi.NULL
PACKAGE = os.path.dirname(__file__) + os.sep


# ---- texts ----

def text(pointer):
    """A text of the library; None for NULL."""
    return None if pointer == NULL else ffi.string(pointer).decode("utf-8", "surrogateescape")


def encoded(word):
    """A text for the library; NULL for None."""
    return NULL if word is None else ffi.new("char[]", os.fsencode(word) if isinstance(word, os.PathLike)
                                             else str(word).encode("utf-8", "surrogateescape"))


class _Keeper:
    """Holds what a pointer points to for as long as the pointer lives."""

    def __init__(self, *kept):
        self.kept = kept

    def __call__(self, pointer):
        self.kept = ()


class Texts:
    """Many texts for the library, in one buffer; `pointer` is a const char *const * that keeps them alive. None becomes
    NULL."""

    def __init__(self, words, codes=None):
        """With `codes` the texts are words[codes[i]], and NULL where a code is negative."""
        raw = [None if w is None else str(w).encode("utf-8", "surrogateescape") for w in words]
        buffer = b"\0".join(b"" if w is None else w for w in raw) + b"\0"
        if buffer.count(b"\0") != max(1, len(raw)):
            raise ValueError("a name or label holds a zero byte")
        lengths = np.fromiter((0 if w is None else len(w) for w in raw), dtype=np.int64, count=len(raw))
        starts = np.concatenate([[0], np.cumsum(lengths + 1)[:-1]]) if raw else np.zeros(0, np.int64)
        base = int(ffi.cast("uintptr_t", ffi.from_buffer(buffer)))
        pointers = (starts + base).astype(np.uintp)
        pointers[[w is None for w in raw]] = 0
        if codes is not None:
            codes = np.asarray(codes, dtype=np.int64)
            known = codes >= 0
            chosen = np.zeros(len(codes), np.uintp)
            chosen[known] = pointers[codes[known]]
            pointers = chosen
        array = np.ascontiguousarray(pointers if len(pointers) else np.zeros(1, np.uintp))
        self.pointer = ffi.gc(ffi.cast("const char *const *", array.ctypes.data), _Keeper(buffer, array))


def text_list(pointers, count):
    return [text(pointers[i]) for i in range(count)]


# ---- arrays ----

class _Lent:
    """Memory of a C object as numpy sees it; the array keeps the object alive."""

    def __init__(self, owner, pointer, shape, strides, kind):
        self.owner = owner
        self.__array_interface__ = {"version": 3, "typestr": kind, "shape": shape, "strides": strides,
                                    "data": (int(ffi.cast("uintptr_t", pointer)), True)}


def lent_array(owner, pointer, shape, kind="<f8", strides=None):
    """A read-only array over memory of `owner`."""
    if 0 in shape or pointer == NULL:
        empty = np.zeros(shape, dtype=kind)
        empty.flags.writeable = False
        return empty
    return np.asarray(_Lent(owner, pointer, shape, strides, kind))


def lent_dense(owner, matrix):
    return lent_array(owner, matrix.data, (matrix.rows, matrix.cols), strides=(8 * matrix.ld, 8))


def lent_sparse(owner, matrix):
    """As scipy's CSR; scipy wants one type of indices, so the row offsets are converted."""
    import scipy.sparse

    entries = matrix.ptr[matrix.rows]
    offsets = lent_array(owner, matrix.ptr, (matrix.rows + 1,), "<i8")
    columns = lent_array(owner, matrix.col, (entries,), "<i4")
    values = lent_array(owner, matrix.val, (entries,))
    if entries <= np.iinfo(np.int32).max:
        offsets = offsets.astype(np.int32)
    out = scipy.sparse.csr_matrix((values, columns, offsets), shape=(matrix.rows, matrix.cols), copy=False)
    out.has_sorted_indices = True
    return out


# ---- messages ----

def warn(sentence):
    """A warning that points at the caller's line, not at ours."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(sentence, ParallaxWarning, stacklevel=level)


class Progress:
    """What a progress callback is told: phase, iteration, max_iterations (0: not known), objective (NaN: none)."""

    __slots__ = ("phase", "iteration", "max_iterations", "objective")

    def __init__(self, phase, iteration, max_iterations, objective):
        self.phase, self.iteration = phase, iteration
        self.max_iterations, self.objective = max_iterations, objective

    def __repr__(self):
        return f"Progress({self.phase!r}, {self.iteration}/{self.max_iterations}, objective={self.objective:.6g})"


class _Listener:
    """What callbacks of a context reach; it does not refer to the context."""

    def __init__(self, progress):
        self.progress, self.warnings, self.exception = progress, [], None

    def tell(self, event):
        try:
            return 1 if self.progress(event) else 0
        except BaseException as problem:  # noqa: B902 - it is raised again when the call is back
            self.exception = problem
            return 1


@ffi.def_extern(error=1)
def parallax_on_progress(progress, payload):
    listener = ffi.from_handle(payload)
    return listener.tell(Progress(text(progress.phase), progress.iteration, progress.max_iterations,
                                  progress.objective))


@ffi.def_extern()
def parallax_on_log(level, sentence, payload):
    words = text(sentence)
    listener = ffi.from_handle(payload)
    if words not in listener.warnings:
        listener.warnings.append(words)


# ---- objects ----

class Owned:
    """A C object with its context. The last one to go takes the context along, in whatever order Python lets go."""

    def __init__(self, context, pointer, destroy):
        self.context, self.pointer, self._destroy = context, pointer, destroy
        self._process = os.getpid()
        context._living.add(id(self))

    def __del__(self):
        if self._process == os.getpid():  # a forked child leaves the parent's objects alone
            self._destroy(self.pointer)
        self.context._living.discard(id(self))
        self.context._leave()


class Context:
    """Settings of a call and its messages. One call at a time; made for each fit and each prediction."""

    def __init__(self, seed=0, threads=1, memory_limit=None, time_limit=None, progress=None, device=None):
        self._living, self._gone, self._box, self._process = set(), False, [], os.getpid()
        options = ffi.new("plx_context_options *")
        options.struct_size = ffi.sizeof("plx_context_options")
        options.seed = int(seed) % 2**64
        options.threads = threads
        options.deterministic = 1
        options.memory_limit = int(memory_limit or 0)
        options.time_limit = float(time_limit or 0)
        word = ffi.new("char[]", device.encode()) if device is not None else ffi.NULL  # the library copies it
        options.device = word
        out = ffi.new("plx_context **")
        status = lib.plx_context_create(out, options)
        if status != lib.PLX_OK:
            raise BY_STATUS[text(lib.plx_status_name(status))]("no context could be made; look at n_jobs, "
                                                               "memory_limit, time_limit and device")
        self.pointer, self._box = out[0], [out[0]]
        self._listener = _Listener(progress)
        self._handle = ffi.new_handle(self._listener)
        lib.plx_context_set_log(self.pointer, lib.PLX_LOG_WARNING, lib.parallax_on_log, self._handle)
        if progress is not None:
            lib.plx_context_set_progress(self.pointer, lib.parallax_on_progress, self._handle)

    def __del__(self):
        self._gone = True
        self._leave()

    def _leave(self):
        """Destroys the context when nothing needs it any more."""
        if not self._gone or self._living:
            return
        try:
            pointer = self._box.pop()
        except IndexError:
            return
        if self._process == os.getpid():
            lib.plx_context_destroy(pointer)

    def rest(self):
        """No threads and no callbacks while only objects of the context live on."""
        lib.plx_context_set_progress(self.pointer, NULL, NULL)
        lib.plx_context_set_threads(self.pointer, 1)
        self._listener.progress = None

    def call(self, function, *arguments):
        """Call the library, without the GIL; Ctrl-C cancels; a failure is raised with its sentence."""
        main = threading.get_ident() == threading.main_thread().ident
        watched = main and lib.glue_watch(self.pointer)
        try:
            status = function(*arguments)
        finally:
            if watched and lib.glue_unwatch():
                lib.plx_context_reset_cancel(self.pointer)
        self._report(status)

    def _report(self, status):
        listener = self._listener
        found, listener.warnings = listener.warnings, []
        problem, listener.exception = listener.exception, None
        if problem is not None:
            raise problem
        if status != lib.PLX_OK:
            kind = BY_STATUS.get(text(lib.plx_status_name(status)), LibraryFault)
            raise kind(text(lib.plx_context_error(self.pointer)))
        for sentence in found:
            warn(sentence)

    def make(self, kind, destroy, function, *arguments):
        """Call a function whose first argument is where a new object goes."""
        out = ffi.new(f"{kind} **")
        made = None
        try:
            self.call(function, out, *arguments)
        finally:
            if out[0] != NULL:
                made = Owned(self, out[0], destroy)
        return made


def version():
    """Version of the library."""
    return text(lib.plx_version())
