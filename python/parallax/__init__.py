"""Parallax: learning from samples that several views describe, some of them missing.

    import parallax
    model = parallax.Bct().fit({"text": texts, "image": images}, y)      # y: -1, NaN or None is unlabelled
    model.predict({"text": new_texts})                                   # new samples may lack views

Estimators follow scikit-learn; see `parallax.all_estimators()`.
"""
from . import acquire, datasets, estimators, explain, metrics, ner, preprocessing, progress, retrieval
from ._core import Progress, version
from ._dataset import Dataset
from ._errors import (ArgumentError, CancelledError, DataError, FileError, FormatError, LibraryFault, MemoryLimitError,
                      NumericError, ParallaxError, ParallaxWarning, UnsupportedError)
from .estimators import *  # noqa: F401,F403 - one class per method

__version__ = version()
read = Dataset.read
__all__ = [*estimators.__all__, "ArgumentError", "CancelledError", "DataError", "Dataset", "FileError", "FormatError",
           "LibraryFault", "MemoryLimitError", "NumericError", "ParallaxError", "ParallaxWarning", "Progress",
           "UnsupportedError", "acquire", "datasets", "estimators", "explain", "metrics", "ner", "preprocessing", "progress",
           "read", "retrieval", "version"]
