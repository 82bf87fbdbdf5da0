"""The methods of the library as it describes them."""
import dataclasses
import keyword

from ._core import ffi, lib, text

TASKS = ("classify", "cluster", "embed")
CAPABILITIES = ("predict", "missing_views", "missing_values", "sparse", "kernel_views", "label_sets", "use_unlabelled",
                "random", "monotone", "feature_free", "view_free", "counts")
KINDS = ("int", "real", "bool", "choice", "text", "int or word", "real or word", "reals", "file")


def number(word):
    """An int or float where a text is one, else the text."""
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One parameter of a method; `default` is its text, "" for not set."""

    name: str
    kind: str
    per_view: bool
    default: str
    range: str
    help: str

    @property
    def python_name(self):
        """As an argument: no dots, no reserved words."""
        name = self.name.replace(".", "_")
        return name + "_" if keyword.iskeyword(name) else name

    @property
    def python_default(self):
        """The default as a value of Python; None: not set."""
        if self.default == "":
            return None
        if self.kind == "bool":
            return self.default in ("1", "true", "yes", "on")
        if self.kind == "real":
            return float(self.default)
        return number(self.default) if self.kind in ("int", "int or word", "real or word", "reals") else self.default

    def as_text(self, value):
        """A value of Python as the library reads it."""
        if isinstance(value, str):
            return value
        if self.kind == "bool":
            return "true" if value else "false"
        if isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) == 1:
            return ",".join(self.as_text(v) for v in value)
        if isinstance(value, float) or (hasattr(value, "dtype") and value.dtype.kind == "f"):
            value = float(value)
            return str(int(value)) if self.kind == "int" and value.is_integer() else repr(value)
        return str(value)


@dataclasses.dataclass(frozen=True)
class Array:
    """One array of a fitted model; VIEW in its name stands for each view."""

    name: str
    shape: str
    on_request: bool
    help: str

    @property
    def attribute(self):
        """Name of the attribute of an estimator: `theta.VIEW` and `f_VIEW` become dicts `..._by_view_`."""
        for ending in (".VIEW", "_VIEW"):
            if self.name.endswith(ending):
                return self.name[:-len(ending)] + "_by_view_"
        return self.name + "_"

    @property
    def rows_are_samples(self):
        return self.shape.split(" x ")[0] == "n"


@dataclasses.dataclass(frozen=True)
class Method:
    """A method of the library."""

    name: str
    title: str
    summary: str
    citation: str
    task: str
    min_views: int
    max_views: int
    transform: str
    scores: str
    growth: str
    ranks: str
    capabilities: dict
    parameters: tuple
    arrays: tuple

    @property
    def class_name(self):
        return self.name.capitalize()

    def has(self, parameter):
        return any(p.name == parameter for p in self.parameters)


def _described(kind, function, *arguments):
    info = ffi.new(f"{kind} *")
    info.struct_size = ffi.sizeof(kind)
    return info if function(info, *arguments) == lib.PLX_OK else None


def read_parameter(info):
    return Parameter(text(info.name), KINDS[info.kind], bool(info.per_view), text(getattr(info, "def")),
                     text(info.range), text(info.help))


def read_parameters(function, *arguments):
    """All parameters a listing function gives, until it has no more."""
    found, i = [], 0
    while (info := _described("plx_param_info", function, *arguments, i)) is not None:
        found.append(read_parameter(info))
        i += 1
    return tuple(found)


def _read_arrays(name):
    found, i = [], 0
    while (info := _described("plx_array_info", lib.plx_method_array, name, i)) is not None:
        found.append(Array(text(info.name), text(info.shape), bool(info.on_request), text(info.help)))
        i += 1
    return tuple(found)


def _read_method(name):
    info = _described("plx_method_info", lib.plx_method_describe, name)
    abilities = {word: bool(info.capabilities >> i & 1) for i, word in enumerate(CAPABILITIES)}
    return Method(text(info.name), text(info.title), text(info.summary), text(info.citation), TASKS[info.task],
                  info.min_views, info.max_views, text(info.transform), text(info.scores), text(info.growth), text(info.ranks),
                  abilities, read_parameters(lib.plx_method_param, name), _read_arrays(name))


def read_methods():
    """Every method of the library, by name."""
    names = [lib.plx_method_name(i) for i in range(lib.plx_method_count())]
    return {text(name): _read_method(name) for name in names}


METHODS = read_methods()
AUTO = _read_method(b"auto")  # several methods, which the library lists apart
