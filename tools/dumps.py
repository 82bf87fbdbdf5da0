"""Arrays that `--dump NAME=FILE.csv` wrote: numbers, with a header and names in the first column where the data have names."""
import csv


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def read_dump(path):
    """Rows of numbers, without the names."""
    with open(path, encoding="utf-8", newline="") as f:
        rows = [row for row in csv.reader(f) if row]
    if rows and rows[0][0] == "id":
        rows = [row[1:] for row in rows[1:]]
    return [[float(x) for x in row] for row in rows]
