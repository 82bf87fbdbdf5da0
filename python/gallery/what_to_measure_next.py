"""What to measure next: labels by their worth.

Which sample should be labelled next? The information that a label is expected to bring, per cost, ranks them; the curve
shows how accuracy grows when the best is asked for each time, and when one is drawn at random.

The kernel is set so that there is something left to learn: with the default kernels `bct` labels these moons rightly from
one label per class on, and no choice of labels can help.
"""
import matplotlib.pyplot as plt
import numpy as np

import parallax

data = parallax.datasets.generate("two-moons-two-lines", random_state=6, n=40)
print("ask first for:", parallax.acquire.rank("labels", "bct", parallax.datasets.hide_labels(data, "2"), top=3))
states = parallax.acquire.simulate("labels", "bct", data, steps=20, strategies=["chosen", "random"], runs=5, labels="1",
                                   random_state=1, kernel="rbf")

plt.figure(figsize=(6, 4))
for strategy in ("chosen", "random"):
    steps = sorted({s["step"] for s in states})
    mean = [np.nanmean([s["accuracy"] for s in states if s["strategy"] == strategy and s["step"] == step])
            for step in steps]
    print(f"{strategy}: accuracy {mean[0]:.3f} at first, {mean[-1]:.3f} after {steps[-1]} labels")
    plt.plot(steps, mean, label=strategy)
plt.xlabel("labels acquired")
plt.ylabel("accuracy")
plt.legend()
