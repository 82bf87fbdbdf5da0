"""Names in text: two views of a word choose what to annotate next.

A tagger of names sees a word's spelling (view 1) and its neighbours (view 2). Where taggers of the two views disagree about
a sentence, an annotator's time is well spent: `parallax.ner.select` ranks them. Sentences are made up here.
"""
import matplotlib.pyplot as plt
import numpy as np

import parallax

generator = np.random.default_rng(7)
people = ["Anna", "Maria", "John", "Peter", "Mills", "Jones", "Petrov", "Ivanova", "Schmidt", "Olsen", "Lind", "Bauer"]
places = ["Rome", "Berlin", "Newport", "Springfield", "Lakeside", "Oslo", "Bergen", "Kazan", "Salzburg", "Freiburg"]
firms = ["Norbank", "Airtech", "Sunmotors", "Medigroup", "Oilcorp", "Fastnet", "Bluebank", "Ironcorp", "Seatech"]
patterns = ["PER said that ORG sold its plant near LOC .", "shares of ORG fell .", "PER PER lives in LOC .",
            "the mayor of LOC met PER .", "ORG , a unit of ORG , bought land in LOC .", "PER left ORG for LOC last week .",
            "it rained in LOC .", "profits rose again .", "the board of ORG elected PER PER chairman ."]


def sentence():
    """Words and tags of one pattern; a run of equal kinds is one name."""
    words, tags, before = [], [], None
    for token in patterns[generator.choice(len(patterns), p=np.arange(1, 10)[::-1] / 45)].split():
        kind = {"PER": people, "LOC": places, "ORG": firms}.get(token)
        words.append(str(generator.choice(kind)) if kind else token)
        tags.append("O" if kind is None else ("I-" if token == before else "B-") + token)
        before = token if kind else None
    return words, tags


seed, pool, test = ([sentence() for _ in range(n)] for n in (5, 200, 200))
curves = {}
for metric in ("random", "kl-ave"):
    known, left = list(seed), list(pool)
    curves[metric] = []
    for _ in range(8):
        words, tags = [w for w, _ in known], [t for _, t in known]
        both = parallax.ner.Tagger().fit(words, tags)
        f1 = both.evaluate([w for w, _ in test], [t for _, t in test])["f1"]
        curves[metric].append((len(known) - len(seed), f1))
        views = [parallax.ner.Tagger(view=v).fit(words, tags) for v in ("1", "2")]
        _, order = parallax.ner.select(views, [w for w, _ in left], metric, random_state=1)
        known += [left[i] for i in order[:5]]
        left = [left[i] for i in sorted(order[5:])]
    print(metric, [f"{n}: {f1:.3f}" for n, f1 in curves[metric]])

print(both.tag([["Petrov", "left", "Airtech", "for", "Oslo", "."]]).names)

plt.figure(figsize=(6, 4))
for metric, curve in curves.items():
    plt.plot(*zip(*curve), "o-", label=metric)
plt.xlabel("sentences annotated")
plt.ylabel("F1 of names in other sentences")
plt.legend()
