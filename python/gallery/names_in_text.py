"""Names in text: spelling and context as two views.

Is a name a person, a place or a company? Its spelling tells ("Inc."), and so does its context ("mayor of"). With a label
for a handful of names, co-training lets each view teach the other.
"""
import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

import parallax

generator = np.random.default_rng(7)
kinds = ["company", "person", "place"]
spelling = {"person": "Anna Maria John Peter Paul Smith Jones Miller".split(),
            "place": "New Port City Lake Spring York Berlin River".split(),
            "company": "Inc Corp Group Bank Motors Air Systems Energy".split()}
context = {"person": "said mr mrs president chairman married born who".split(),
           "place": "in near mayor of visited north flew lives".split(),
           "company": "shares bought profit owns unit stake sells rival".split()}
truth = np.array([kinds[i % 3] for i in range(900)])


def draw(words, kind):
    """Three words, one of them of another kind now and then."""
    chosen = kind if generator.random() < 0.85 else kinds[generator.integers(3)]
    return " ".join(generator.choice(words[chosen], 2)) + " " + generator.choice(words[kinds[generator.integers(3)]])


Xs = {"spelling": CountVectorizer().fit_transform([draw(spelling, k) for k in truth]).astype(float),
      "context": CountVectorizer().fit_transform([draw(context, k) for k in truth]).astype(float)}
found = {}
for count in (1, 2, 4, 8):
    y = np.full(900, None, dtype=object)
    for kind in kinds:
        y[generator.permutation(np.flatnonzero(truth == kind))[:count]] = kind
    hidden = np.array([v is None for v in y])
    rows = {"naive Bayes": parallax.Nb(), "co-training": parallax.Cotrain(), "co-EM": parallax.Coem()}
    found[count] = {name: (m.fit_predict(Xs, y)[hidden] == truth[hidden]).mean() for name, m in rows.items()}
    print(count, "labels per kind:", {name: round(float(v), 3) for name, v in found[count].items()})

plt.figure(figsize=(6, 4))
for name in rows:
    plt.plot(list(found), [found[c][name] for c in found], "o-", label=name)
plt.xlabel("labels per kind of name")
plt.ylabel("accuracy on the others")
plt.legend()
