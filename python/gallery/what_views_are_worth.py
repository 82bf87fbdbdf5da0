"""What views are worth: alone, together, and to each other.

One view is good, one nearly repeats it, one is weak but knows other things, and one is noise. `parallax.views` measures
every view alone, tells how alike two views are and whether they err together, and says what follows.
"""
import matplotlib.pyplot as plt
import numpy as np

import parallax

generator = np.random.default_rng(9)
truth = np.arange(300) % 3
good = 1.6 * np.eye(6)[truth] + generator.normal(size=(300, 6))
Xs = {"good": good, "twin": good + 0.3 * generator.normal(size=(300, 6)),
      "weak": 0.9 * np.eye(6)[truth] + generator.normal(size=(300, 6)), "noise": generator.normal(size=(300, 6))}
found = parallax.views(Xs, truth)
print(found["views"])
print(found["pairs"])
for advice, evidence in found.advice:
    print(f"* {advice} ({evidence})")

views, pairs = found["views"].to_frame(), found["pairs"].to_frame()
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
left.bar(views["view"], views["accuracy"], yerr=views["error"])
left.axhline(1 / 3, linestyle="--", color="grey")
left.set_ylabel("accuracy alone (dashed: guessing)")
right.barh(pairs["view"] + " and " + pairs["other"], pairs["correlation"])
right.set_xlabel("largest canonical correlation")
