"""Files that the library writes, as values of Python."""
import os
import tempfile

from ._core import encoded


def written(context, write, ending=""):
    """The bytes of what write(path) puts into a file."""
    with tempfile.TemporaryDirectory(prefix="parallax-") as folder:
        path = os.path.join(folder, "file" + ending)
        context.call(*write(encoded(path)))
        with open(path, "rb") as file:
            return file.read()
