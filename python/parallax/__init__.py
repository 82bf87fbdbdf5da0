"""Parallax: learning from samples that several views describe, some of them missing.

    import parallax
    model = parallax.Bct().fit({"text": texts, "image": images}, y)      # y: -1, NaN or None is unlabelled
    model.predict({"text": new_texts})                                   # new samples may lack views

Estimators follow scikit-learn; see `parallax.all_estimators()`. `parallax.compare`, `tune`, `views` and `doctor` do what the
verbs of the command line do.
"""
from . import acquire, datasets, estimators, explain, metrics, ner, preprocessing, progress, retrieval
from ._compare import Comparison, compare
from ._core import Progress, version
from ._dataset import Dataset
from ._doctor import doctor
from ._errors import (ArgumentError, CancelledError, DataError, DeviceError, FileError, FormatError, LibraryFault,
                      MemoryLimitError, NumericError, ParallaxError, ParallaxWarning, UnsupportedError)
from ._report import Report
from ._tune import Tuning, tune
from ._view_report import ViewReport, views
from .estimators import *  # noqa: F401,F403 - one class per method

__version__ = version()
read = Dataset.read
__all__ = [*estimators.__all__, "ArgumentError", "CancelledError", "Comparison", "DataError", "Dataset", "DeviceError",
           "FileError", "FormatError", "LibraryFault", "MemoryLimitError", "NumericError", "ParallaxError",
           "ParallaxWarning", "Progress", "Report", "Tuning", "UnsupportedError", "ViewReport", "acquire", "compare",
           "datasets", "doctor", "estimators", "explain", "metrics", "ner", "preprocessing", "progress", "read",
           "retrieval", "tune", "version", "views"]
