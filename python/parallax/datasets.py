"""Data sets made by the library: toy problems of the literature, text, links and ontologies of any size; and choices over
the samples of a data set."""
import numpy as np

from ._core import Context, Texts, encoded, ffi, lib, text
from ._dataset import Dataset
from ._settings import seed_of


def generators():
    """Names of the generators with a sentence each."""
    return {text(lib.plx_generator_name(g)): text(lib.plx_generator_summary(g))
            for g in range(lib.plx_generator_count())}


def generator_settings(kind):
    """Settings of a generator: {name: (type, default, help)}."""
    names, found = list(generators()), {}
    if kind not in names:
        raise ValueError(f"unknown generator '{kind}'; expected one of {', '.join(names)}")
    g = names.index(kind)
    for i in range(lib.plx_generator_param_count(g)):
        info = ffi.new("plx_generator_param *")
        info.struct_size = ffi.sizeof("plx_generator_param")
        lib.plx_generator_param_info(info, g, i)
        found[text(info.name)] = (text(info.type), text(info.fallback), text(info.help))
    return found


def generate(kind, random_state=None, **settings):
    """Make a data set: generate("two-gauss", n=200). A dash in a setting is written as an underscore."""
    known = generator_settings(kind)
    words = [f"{key if key in known else key.replace('_', '-')}={_word(value)}" for key, value in settings.items()]
    context = Context(seed_of(random_state))
    owned = context.make("plx_dataset", lib.plx_dataset_destroy, lib.plx_generate, context.pointer, encoded(kind),
                         Texts(words).pointer, len(words))
    return Dataset._wrap(context, owned)


def _word(value):
    if isinstance(value, (bool, np.bool_)):
        return "1" if value else "0"
    if isinstance(value, (list, tuple, np.ndarray)):
        return ",".join(map(str, value))
    return str(value)


def hide_labels(data, keep, random_state=None):
    """A copy in which only some samples keep their label: keep is "10%", "5" (of every class), "a=2,b=10"."""
    context, flags = Context(seed_of(random_state)), np.zeros(len(data), np.uint8)
    context.call(lib.plx_split_labels, ffi.cast("uint8_t *", flags.ctypes.data), context.pointer, data.pointer,
                 encoded(keep))
    full = data.truth if data.truth is not None else data.labels
    return data.relabel(np.where(flags.astype(bool), full, None))


def folds(data, k, random_state=None):
    """The fold of every sample, stratified: numbers from 0 to k-1."""
    context, out = Context(seed_of(random_state)), np.zeros(len(data), np.int32)
    context.call(lib.plx_split_folds, ffi.cast("int32_t *", out.ctypes.data), context.pointer, data.pointer, k)
    return out


def drop_views(data, rate=0.0, pattern="mcar", keep_one=True, random_state=None, **options):
    """A copy in which views are missing: pattern mcar, block or exclusive; options as plx_missing_options."""
    given, kind = ffi.new("plx_missing_options *"), ffi.new("plx_missing_pattern *")
    if lib.plx_missing_pattern_parse(kind, encoded(pattern)) != lib.PLX_OK:
        raise ValueError(f"pattern '{pattern}': expected mcar, block or exclusive")
    given.struct_size, given.pattern, given.rate, given.keep_one = ffi.sizeof("plx_missing_options"), kind[0], rate, keep_one
    for key, value in options.items():
        setattr(given, key, value)
    context, flags = Context(seed_of(random_state)), np.zeros((len(data.view_names), len(data)), np.uint8)
    context.call(lib.plx_missing_simulate, ffi.cast("uint8_t *", flags.ctypes.data), context.pointer, data.pointer, given)
    return data.mask(dict(zip(data.view_names, flags)))
