"""Cross-lingual search: find a text by its translation.

Documents in two languages share topics, not words. Canonical correlation learns a common space from pairs of translations;
new documents of one language then find their translation in the other.
"""
import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import parallax

generator = np.random.default_rng(5)
topics = generator.dirichlet(np.full(25, 0.2), size=900)
words = {name: generator.dirichlet(np.full(600, 0.05), size=25) for name in ("german", "english")}
Xs = {name: sp.csr_matrix(np.stack([generator.multinomial(120, t @ w) for t in topics]).astype(float))
      for name, w in words.items()}
train = {name: X[:600] for name, X in Xs.items()}
queries, items = {"german": Xs["german"][600:]}, {"english": Xs["english"][600:]}

dims, first, mean = [2, 5, 10, 20], [], []
for dim in dims:
    model = parallax.Cca(dim=dim, scale="tfidf").fit(train)
    found = parallax.retrieval.retrieve(model, queries, items, top=10)
    first.append(found.metrics["top1"])
    mean.append(found.metrics["mrr"])
    print(f"{dim} dimensions: the translation comes first for {first[-1]:.1%} of {len(found.rank)} queries")

plt.figure(figsize=(6, 4))
plt.plot(dims, first, "o-", label="translation first")
plt.plot(dims, mean, "s--", label="mean reciprocal rank")
plt.xlabel("dimensions of the common space")
plt.legend()
