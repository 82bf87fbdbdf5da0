"""A small data set whose every name would like to be markup, with holes."""
import json
import pathlib
import random

MARK = "<img src=x onerror=window.hacked=1>"
SCRIPT = "</script><script>window.hacked=2</script>"
QUOTE = "\"'><svg onload=window.hacked=3>&amp;"
LINE = "a\u2028b\u2029c<!--"
CLASSES = [MARK, SCRIPT, QUOTE]
VIEWS = ["<b>one<img>", "two&lt;<script>", LINE]  # names of views may not hold blanks, = and the like
PER_CLASS = 20


def write(folder):
    """Writes FOLDER; rows of two classes lack a view."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    rng = random.Random(7)
    n = PER_CLASS * len(CLASSES)
    truth = [CLASSES[i % 3] for i in range(n)]
    (folder / "ids.txt").write_text("".join(f"{MARK}{i}\n" for i in range(n)))
    (folder / "truth.txt").write_text("".join(t + "\n" for t in truth))
    views = []
    for v, name in enumerate(VIEWS):
        values = [[rng.gauss(1.5 * (i % 3 == j % 3), 1) for j in range(6)] for i in range(n)]
        (folder / f"v{v}.csv").write_text("".join(",".join(f"{x:.5f}" for x in row) + "\n" for row in values))
        (folder / f"f{v}.txt").write_text("".join(f"{SCRIPT}{j}\n" for j in range(6)))
        view = {"name": name, "file": f"v{v}.csv", "kind": "real", "features": f"f{v}.txt"}
        if v:
            (folder / f"p{v}.txt").write_text("".join(f"{int(i % (3 + v) != 0)}\n" for i in range(n)))
            view["present"] = f"p{v}.txt"
        views.append(view)
    (folder / "dataset.json").write_text(json.dumps({"parallax": 1, "name": SCRIPT, "ids": "ids.txt", "views": views, "truth": "truth.txt"}))
    return [[v == 0 or i % (3 + v) != 0 for v in range(3)] for i in range(n)]
