"""Few labels: what unlabelled samples are worth.

Two views of the same samples, and only a few of them labelled. Bayesian co-training learns from the unlabelled ones too:
views that agree on them count more. A logistic regression on the joined columns sees the labelled ones only.
"""
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

import parallax

generator = np.random.default_rng(1)
n, truth = 600, np.arange(600) % 2
centre = np.where(truth == 1, 1.0, -1.0)[:, None]
Xs = {"sound": centre * np.r_[1.0, np.zeros(19)] + generator.normal(size=(n, 20)),
      "image": centre * np.r_[1.2, np.zeros(29)] + generator.normal(size=(n, 30))}
joined = np.hstack(list(Xs.values()))

counts, ours, theirs = [2, 4, 8, 16, 32, 64], [], []
for count in counts:
    right = []
    for run in range(10):
        y = np.full(n, -1)
        for c in (0, 1):
            y[np.random.default_rng(run).permutation(np.flatnonzero(truth == c))[:count]] = c
        hidden = y == -1
        together = parallax.Bct().fit_predict(Xs, y)
        alone = LogisticRegression().fit(joined[~hidden], y[~hidden]).predict(joined)
        right.append([(together[hidden] == truth[hidden]).mean(), (alone[hidden] == truth[hidden]).mean()])
    ours.append(np.mean([r[0] for r in right]))
    theirs.append(np.mean([r[1] for r in right]))
    print(f"{count:3d} labels per class: co-training {ours[-1]:.3f}, logistic regression {theirs[-1]:.3f}")

plt.figure(figsize=(6, 4))
plt.semilogx(counts, ours, "o-", label="bct, with the unlabelled samples")
plt.semilogx(counts, theirs, "s--", label="logistic regression, joined columns")
plt.xlabel("labels per class")
plt.ylabel("accuracy on the unlabelled samples")
plt.legend()
