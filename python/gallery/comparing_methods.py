"""Comparing methods: who is best, and by more than chance?

Every method sees the same splits of the same texts; what `compare` marks as level is not significantly worse than the best
(paired tests, corrected for their number). With few labels the methods that learn from unlabelled samples are ahead; with
more, the others catch up.
"""
import matplotlib.pyplot as plt

import parallax

data = parallax.datasets.generate("text", random_state=3, n=300, views=2, classes=3)
methods = ["auto", "coem", "nb", "rls", "svm"]
result = parallax.compare(data, methods, labels=["2%", "5%", "20%"], metrics="accuracy", repeats=10)
print(result)
# In a notebook, result.report() shows all of this with plots; result.report().save("methods.html") writes the page.

rows, places = result.rows(), range(len(result.blocks))
plt.figure(figsize=(6, 4))
for method in methods:
    own = [r for r in rows if r["method"] == method]
    plt.errorbar(places, [r["mean"] for r in own], [r["sd"] for r in own], marker="o", capsize=3, label=method)
plt.xticks(places, [block.split()[-1] for block in result.blocks])
plt.xlabel("samples with a label")
plt.ylabel("accuracy, mean and deviation of ten splits")
plt.legend()
