"""Few labels: what unlabelled samples are worth.

Pages with two views, words and links, and only a few of them labelled. Co-EM learns from the unlabelled ones too: what the
words say of a page teaches the links, and the other way round. A logistic regression on the joined, length-normalised counts
sees the labelled pages only. The counts are made up by a topic model, which is what Co-EM supposes; on real pages the gain is
smaller (docs/guide/measured.md).
"""
import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

import parallax

data = parallax.datasets.generate("text", random_state=1, n=450, views=2, classes=3)
truth, Xs = data.truth, data.views
joined = normalize(sp.hstack(list(Xs.values())).tocsr())

counts, ours, theirs = [1, 2, 4, 8, 16, 32], [], []
for count in counts:
    right = []
    for run in range(10):
        y = np.full(len(truth), None, dtype=object)
        for c in data.classes:
            y[np.random.default_rng(run).permutation(np.flatnonzero(truth == c))[:count]] = c
        hidden = np.array([label is None for label in y])
        together = parallax.Coem().fit_predict(Xs, y)
        alone = LogisticRegression(C=100).fit(joined[~hidden], y[~hidden].astype(str)).predict(joined)
        right.append([(together[hidden] == truth[hidden]).mean(), (alone[hidden] == truth[hidden]).mean()])
    ours.append(np.mean([r[0] for r in right]))
    theirs.append(np.mean([r[1] for r in right]))
    print(f"{count:3d} labels per class: co-EM {ours[-1]:.3f}, logistic regression {theirs[-1]:.3f}")

plt.figure(figsize=(6, 4))
plt.semilogx(counts, ours, "o-", label="coem, with the unlabelled samples")
plt.semilogx(counts, theirs, "s--", label="logistic regression, joined counts")
plt.xlabel("labels per class")
plt.ylabel("accuracy on the unlabelled samples")
plt.legend()
