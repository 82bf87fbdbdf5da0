"""Explain: why a model says what it says.

How much would be lost without a view, which features speak for a class, and what decided for one sample.
"""
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import parallax

generator = np.random.default_rng(8)
truth = np.arange(240) % 3
names = [f"s{i}" for i in range(240)]
leaf = pd.DataFrame(generator.normal(size=(240, 5)) + 1.5 * np.eye(5)[truth], index=names,
                    columns=["length", "width", "hairs", "gloss", "angle"])
bark = pd.DataFrame(generator.normal(size=(240, 4)) + 0.8 * np.eye(4)[truth], index=names,
                    columns=["depth", "cracks", "hue", "moss"])
y = pd.Series(np.array(["oak", "elm", "ash"])[truth], index=names)
model = parallax.Svm().fit({"leaf": leaf, "bark": bark}, y)
data = parallax.Dataset({"leaf": leaf, "bark": bark}, truth=y)
why = parallax.explain.explain(model, data, sample="s3")
print(why["quality"])
print(why["views"])
print(why["sample"])

table = why["views"].to_frame()
plt.figure(figsize=(6, 4))
plt.bar(np.arange(2) - 0.2, table["withheld"], 0.4, yerr=table["withheld_error"], label="withheld")
plt.bar(np.arange(2) + 0.2, table["permuted"], 0.4, yerr=table["permuted_error"], label="permuted")
plt.xticks(range(2), table["view"])
plt.ylabel("accuracy that is lost")
plt.legend()
