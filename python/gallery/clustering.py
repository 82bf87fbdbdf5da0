"""Clustering: groups that no single view shows.

Four groups; each view tells two pairs of them apart. Clustering either view finds two groups at best, clustering both finds
the four. The silhouette chooses the number.
"""
import matplotlib.pyplot as plt
import numpy as np

import parallax

generator = np.random.default_rng(4)
group = np.arange(400) % 4
Xs = {"colour": np.c_[group % 2, 1 - group % 2] * 4 + generator.normal(size=(400, 2)),
      "shape": np.c_[group // 2, 1 - group // 2] * 4 + generator.normal(size=(400, 2))}

both = parallax.Mvkmeans(clusters=4, scale="zscore").fit(Xs)
quality = {"both views": parallax.metrics.clustering(group, both.labels_)["ari"]}
for name, X in Xs.items():
    alone = parallax.Mvkmeans(clusters=4, scale="zscore").fit([X])
    quality[name] = parallax.metrics.clustering(group, alone.labels_)["ari"]
print({name: round(value, 3) for name, value in quality.items()})
chosen = parallax.Mvkmeans(clusters="auto", max_clusters=8, scale="zscore").fit(Xs)
print("number of clusters chosen:", len(set(chosen.labels_)))

figure, axes = plt.subplots(1, 2, figsize=(8, 4))
for axis, (name, X) in zip(axes, Xs.items()):
    axis.scatter(X[:, 0], X[:, 1], c=both.labels_, s=8, cmap="tab10")
    axis.set_title(f"{name}: clusters of both views")
