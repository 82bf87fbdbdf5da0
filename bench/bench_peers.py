#!/usr/bin/env python3
"""The same tasks in Parallax and in other Python packages, with the ratio of processor times.

usage: bench_peers.py     (with parallax, mvlearn, mofapy2 and scikit-learn to be imported; what is missing is left out)

Processor time is compared, not time on the clock, so that other work on the machine counts less.
"""
import contextlib
import io
import time
import warnings

import numpy as np

import parallax

warnings.simplefilter("ignore")


def data(n=600, seed=0):
    """Three classes in two views of counts-like, non-negative values."""
    generator = np.random.default_rng(seed)
    y = np.arange(n) % 3
    left = np.abs(generator.normal(size=(n, 30)) + 3 * np.eye(30)[y])
    right = np.abs(generator.normal(size=(n, 40)) + 3 * np.eye(40)[y])
    return [left, right], y


def measured(call):
    """Processor seconds, the better of two, and what came out."""
    best = np.inf
    for _ in range(2):
        began = time.process_time()
        with contextlib.redirect_stdout(io.StringIO()):
            out = call()
        best = min(best, time.process_time() - began)
    return best, out


def report(task, ours, theirs, quality):
    a, b = measured(ours), measured(theirs)
    print(f"{task}: parallax {a[0]:.3f} s, {quality(a[1]):.3f}; other {b[0]:.3f} s, {quality(b[1]):.3f}; "
          f"ratio of times {b[0] / a[0]:.1f}", flush=True)


def clustering(Xs, y):
    from mvlearn.cluster import MultiviewKMeans, MultiviewSpectralClustering

    def ari(labels):
        return parallax.metrics.clustering(y, labels)["ari"]
    report("k-means of two views (mvlearn)", lambda: parallax.Mvkmeans(clusters=3, n_jobs=1).fit(Xs).labels_,
           lambda: MultiviewKMeans(n_clusters=3, random_state=0).fit_predict(Xs), ari)
    report("spectral clustering (mvlearn)", lambda: parallax.Spectral(clusters=3, n_jobs=1).fit(Xs).labels_,
           lambda: MultiviewSpectralClustering(n_clusters=3, random_state=0).fit_predict(Xs), ari)


def co_training(Xs, y):
    from mvlearn.semi_supervised import CTClassifier

    two = y < 2
    views, truth = [X[two] for X in Xs], y[two]
    ours, theirs = np.full(len(truth), -1), np.full(len(truth), np.nan)
    ours[:20], theirs[:20] = truth[:20], truth[:20]
    report("co-training with naive Bayes (mvlearn)", lambda: parallax.Cotrain(n_jobs=1).fit(views, ours).predict(views),
           lambda: CTClassifier(random_state=0).fit(views, theirs).predict(views), lambda p: (p == truth).mean())


def embedding(Xs, y):
    from mvlearn.embed import CCA
    from sklearn.linear_model import LogisticRegression

    def separable(Z):
        return LogisticRegression(max_iter=1000).fit(Z[::2], y[::2]).score(Z[1::2], y[1::2])
    report("canonical correlation, 2 dimensions (mvlearn)",
           lambda: parallax.Cca(dim=2, n_jobs=1, retrieval=False).fit(Xs).transform(Xs),
           lambda: np.mean(CCA(n_components=2, regs=0.5).fit_transform(Xs), axis=0), separable)


def factors(Xs, y):
    from mofapy2.run.entry_point import entry_point
    from sklearn.linear_model import LogisticRegression

    def separable(Z):
        return LogisticRegression(max_iter=1000).fit(Z[::2], y[::2]).score(Z[1::2], y[1::2])

    def mofa():
        run = entry_point()
        run.set_data_options(scale_views=True)
        run.set_data_matrix([[X] for X in Xs])
        run.set_model_options(factors=3)
        run.set_train_options(iter=100, convergence_mode="fast", seed=1)
        run.build()
        run.run()
        return run.model.getExpectations()["Z"]["E"]
    report("common coordinates of the samples (MOFA2)",
           lambda: parallax.Cca(dim=3, n_jobs=1, retrieval=False).fit(Xs).transform(Xs), mofa, separable)


def few_labels(Xs, y):
    from sklearn.semi_supervised import LabelSpreading

    shown = np.where(np.arange(len(y)) < 15, y, -1)
    joined = np.hstack(Xs)
    report("15 labels, 585 samples without (scikit-learn, joined columns)",
           lambda: parallax.Bct(n_jobs=1).fit_predict(Xs, shown),
           lambda: LabelSpreading(kernel="knn", n_neighbors=10).fit(joined, shown).transduction_,
           lambda p: (p[15:] == y[15:]).mean())


def main():
    Xs, y = data()
    for task in (few_labels, clustering, co_training, embedding, factors):
        try:
            task(Xs, y)
        except (ImportError, AttributeError, TypeError) as problem:  # a peer that this scikit-learn is too new for
            print(f"{task.__name__}: left out, {str(problem)[:100]}")


if __name__ == "__main__":
    main()
