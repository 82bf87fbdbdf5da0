"""Names in text: taggers that learn from tagged sentences, and which sentences to annotate next.

    tagger = parallax.ner.Tagger().fit([["Ann", "saw", "Rome"]], [["B-PER", "O", "B-LOC"]])
    tagger.tag([["Rome", "saw", "Ann"]]).names

A sentence is a list of words; a word holds no blank.
"""
import contextlib
import dataclasses
import os
import tempfile

import numpy as np

from . import metrics as _metrics
from ._core import NULL, Context, Texts, encoded, ffi, lent_dense, lib, text
from ._registry import read_parameters
from ._settings import seed_of, threads


@dataclasses.dataclass(frozen=True)
class Name:
    """A name: words begin .. end - 1 of a sentence."""

    sentence: int
    begin: int
    end: int
    type: str
    words: tuple


class Tagged:
    """Sentences with their tags: `tags` (a list per sentence), `names`, and `values` (words x `columns`, all sentences one
    after the other): probabilities of tags of a memm, values of types of an svm, NaN for a word in no instance."""

    def __init__(self, sentences, pointer, owned):
        lengths = [len(s) for s in sentences]
        begin = np.concatenate([[0], np.cumsum(lengths)]).astype(int)
        tags = [text(lib.plx_ner_tagged_tag(pointer, i)) for i in range(lib.plx_ner_tagged_tokens(pointer))]
        self.tags = [tags[a:z] for a, z in zip(begin, begin[1:])]
        self.names = [_name(pointer, i, begin, sentences) for i in range(lib.plx_ner_tagged_names(pointer))]
        matrix = ffi.new("plx_cmat *")
        owned.context._report(lib.plx_ner_tagged_values(matrix, pointer))
        self.values = lent_dense(owned, matrix)
        self.columns = [text(lib.plx_ner_tagged_column(pointer, k)) for k in range(matrix.cols)]


def _name(pointer, i, begin, sentences):
    name = ffi.new("plx_ner_name *")
    name.struct_size = ffi.sizeof("plx_ner_name")
    if lib.plx_ner_tagged_name(name, pointer, i) != lib.PLX_OK:
        raise IndexError(i)
    first, last = (int(x - begin[name.sentence]) for x in (name.begin, name.end))
    return Name(int(name.sentence), first, last, text(name.type), tuple(sentences[name.sentence][first:last]))


def _lines(sentences, columns, documents):
    """Sentences as the library reads them: a word per line and its columns behind it."""
    last = None
    if len(sentences) == 0:
        raise ValueError("there are no sentences")
    for number, words in enumerate(sentences):
        if len(words) == 0:
            raise ValueError(f"sentence {number} has no words")
        if documents is not None and (number == 0 or documents[number] != last):
            last = documents[number]
            yield "-DOCSTART-" + " O" * len(columns) + "\n"
        rows = [words, *(c[number] for c in columns)]
        if any(len(r) != len(words) for r in rows):
            raise ValueError(f"sentence {number}: {len(words)} words, but " + " and ".join(str(len(r)) for r in rows[1:])
                             + " beside them")
        for row in zip(*rows):
            for field in row:
                if not str(field).split() or len(str(field).split()) > 1 or str(field) == "-DOCSTART-":
                    raise ValueError(f"sentence {number}: {field!r} is no word: it is empty or holds a blank")
            yield " ".join(map(str, row)) + "\n"
        yield "\n"


def _conll(context, sentences, columns=(), documents=None):
    given = [c for c in columns if c is not None]
    for c in given:
        if len(c) != len(sentences):
            raise ValueError(f"{len(sentences)} sentences, and tags or parts of speech of {len(c)}")
    content = "".join(_lines(sentences, given, documents)).encode("utf-8", "surrogateescape")
    return context.make("plx_conll", lib.plx_conll_destroy, lib.plx_ner_parse, context.pointer, content, len(content))


def _text(context, given):
    """A text with tags: the path of a CoNLL file, or (sentences, tags[, pos[, documents]])."""
    if isinstance(given, (str, os.PathLike)):
        return context.make("plx_conll", lib.plx_conll_destroy, lib.plx_ner_read, context.pointer, encoded(given))
    sentences, tags, pos, documents = (*given, None, None)[:4]
    return _conll(context, sentences, (pos, tags), documents)


def parameters(learner="memm"):
    """What can be set for memm, svm, select, simulate or bootstrap: {name: (default, help)}."""
    return {p.name: (p.python_default, p.help) for p in read_parameters(lib.plx_ner_param, encoded(learner))}


def _params(context, what, settings):
    """Settings; dots are written as __, so that gazetteer__city is gazetteer.city."""
    known = {p.name: p for p in read_parameters(lib.plx_ner_param, encoded(what))}
    params = context.make("plx_params", lib.plx_params_destroy, lib.plx_ner_params_create, context.pointer, encoded(what))
    for key, value in settings.items():
        name, cut, rest = key.partition("__")
        word = known[name].as_text(value) if name in known else str(value)
        context.call(lib.plx_params_set, params.pointer, context.pointer, encoded(f"{name}.{rest}" if cut else name),
                     encoded(word))
    return params


class Tagger:
    """A tagger of names: learner "memm" (conditional Markov model) or "svm" (a support vector machine per type of name).

    `settings` are those of `parameters(learner)`. Tags are written as `scheme` says: "iob2", "iob1" or "raw".
    """

    def __init__(self, learner="memm", *, scheme="iob2", n_jobs=None, memory_limit=None, **settings):
        self.learner, self.scheme, self.n_jobs, self.memory_limit = learner, scheme, n_jobs, memory_limit
        self.settings, self._model = settings, None

    def _context(self):
        return Context(0, threads(self.n_jobs), self.memory_limit)

    def fit(self, sentences, tags, *, pos=None, documents=None):
        """Learn from sentences and their tags. `pos`: parts of speech, one per word; `documents`: a number or name per
        sentence, those of a document one after the other (None: all of one)."""
        context = self._context()
        params = _params(context, self.learner, self.settings)
        conll = _conll(context, sentences, (pos, tags), documents)
        options, scheme = ffi.new("plx_ner_train_options *"), encoded(self.scheme)
        options.struct_size, options.scheme = ffi.sizeof("plx_ner_train_options"), scheme
        self._model = context.make("plx_ner_model", lib.plx_ner_model_destroy, lib.plx_ner_train, context.pointer,
                                   encoded(self.learner), conll.pointer, params.pointer, options)
        context.rest()
        return self

    def _fitted(self):
        if self._model is None:
            raise ValueError("the tagger has learnt nothing yet: call fit() or load()")
        return self._model.pointer

    def tag(self, sentences, *, pos=None, documents=None):
        """Tags, names and values of sentences."""
        model, context = self._fitted(), self._context()
        conll = _conll(context, sentences, (pos,), documents)
        options = ffi.new("plx_ner_tag_options *")
        options.struct_size, options.unlabelled = ffi.sizeof("plx_ner_tag_options"), 1
        tagged = context.make("plx_ner_tagged", lib.plx_ner_tagged_destroy, lib.plx_ner_tag, context.pointer, model,
                              conll.pointer, options)
        return Tagged(sentences, tagged.pointer, tagged)

    def evaluate(self, sentences, tags, *, pos=None, documents=None):
        """precision, recall, f1 and the rest as conlleval counts them."""
        found = self.tag(sentences, pos=pos, documents=documents).tags
        return evaluate(sentences, tags, found, "raw" if self.scheme == "raw" else "any")

    def info(self):
        """Learner, parameters, objective, numbers of features and tags."""
        import json

        context, content = self._context(), ffi.new("const char **")
        context.call(lib.plx_ner_model_json, content, context.pointer, self._fitted())
        return json.loads(text(content[0]))

    def save(self, path):
        """Write a model file, which `parallax ner tag` reads too."""
        context = self._context()
        context.call(lib.plx_ner_model_save, context.pointer, self._fitted(), encoded(path))

    @classmethod
    def load(cls, path, *, n_jobs=None, memory_limit=None):
        """A tagger from a model file. Its tags are written as in the text it was trained on."""
        context = Context(0, threads(n_jobs), memory_limit)
        model = context.make("plx_ner_model", lib.plx_ner_model_destroy, lib.plx_ner_model_load, context.pointer,
                             encoded(path))
        out = cls(text(lib.plx_ner_model_learner(model.pointer)), n_jobs=n_jobs, memory_limit=memory_limit)
        out._model = model
        context.rest()
        return out


def evaluate(sentences, tags, found, scheme="any"):
    """Right tags against found ones as conlleval does: tokens, phrases, precision, recall, f1, ..., f1:TYPE, ..."""
    context = Context()
    conll = _conll(context, sentences, (tags, found))
    owned = context.make("plx_metrics", lib.plx_metrics_destroy, lib.plx_metrics_create, context.pointer)
    context.call(lib.plx_ner_eval, context.pointer, owned.pointer, conll.pointer, encoded(scheme))
    return _metrics.read(owned.pointer)


def select(taggers, sentences, metric="kl-ave", *, pos=None, documents=None, random_state=None, n_jobs=None, **settings):
    """How much taggers (memm, of different views) disagree about each sentence: (scores, order); annotate
    sentences[order[0]] first. Metrics: kl-max, kl-ave, f-complement, random."""
    context = Context(seed_of(random_state), threads(n_jobs))
    params = _params(context, "select", settings)
    conll = _conll(context, sentences, (pos,), documents)
    models = ffi.new("const plx_ner_model *[]", [t._fitted() for t in taggers] or [NULL])
    choice = context.make("plx_ner_choice", lib.plx_ner_choice_destroy, lib.plx_ner_select, context.pointer, models,
                          len(taggers), conll.pointer, encoded(metric), params.pointer, 1)
    return _scores(choice)


def select_probs(paths, metric="kl-ave", *, random_state=None, **settings):
    """The same from files of probabilities that `parallax ner tag --probs` wrote, one per tagger."""
    context = Context(seed_of(random_state))
    params = _params(context, "select", settings)
    names = Texts([os.fspath(p) for p in paths])
    choice = context.make("plx_ner_choice", lib.plx_ner_choice_destroy, lib.plx_ner_select_probs, context.pointer,
                          names.pointer, len(paths), encoded(metric), params.pointer)
    return _scores(choice)


def _scores(choice):
    count = lib.plx_ner_choice_count(choice.pointer)
    scores, order = np.zeros(count), np.zeros(count, dtype=np.int64)
    row = ffi.new("plx_ner_chosen *")
    row.struct_size = ffi.sizeof("plx_ner_chosen")
    for i in range(count):
        if lib.plx_ner_choice_sentence(row, choice.pointer, i) != lib.PLX_OK:
            raise IndexError(i)
        scores[i], order[row.rank] = row.score, i
    return scores, order


def simulate(train, pool, test, metric="kl-ave", *, batch=50, rounds=20, scheme="iob2", random_state=None, n_jobs=None,
             memory_limit=None, **settings):
    """What choosing sentences would have saved: taggers of both views, trained on `train`, choose `batch` sentences of
    `pool` in each round. A dict per round, the first before any: sentences, tokens and names annotated so far, and f1,
    precision and recall on `test`. Texts are paths of CoNLL files or (sentences, tags[, pos[, documents]])."""
    context = Context(seed_of(random_state), threads(n_jobs), memory_limit)
    params = _params(context, "simulate", settings)
    texts = [_text(context, given) for given in (train, pool, test)]
    options, words = ffi.new("plx_ner_simulate_options *"), (encoded(scheme), encoded(metric))
    options.struct_size, (options.scheme, options.metric) = ffi.sizeof("plx_ner_simulate_options"), words
    options.batch, options.rounds = batch, rounds
    curve = context.make("plx_ner_curve", lib.plx_ner_curve_destroy, lib.plx_ner_simulate, context.pointer,
                         *(t.pointer for t in texts), params.pointer, options)
    return [_round(curve, i) for i in range(lib.plx_ner_curve_count(curve.pointer))]


def _round(curve, i):
    row = ffi.new("plx_ner_round *")
    row.struct_size = ffi.sizeof("plx_ner_round")
    if lib.plx_ner_curve_round(row, curve.pointer, i) != lib.PLX_OK:
        raise IndexError(i)
    return {key: getattr(row, key) for key in ("sentences", "tokens", "names", "f1", "precision", "recall")}


@contextlib.contextmanager
def _text_file(text_or_path):
    """The path of unlabelled text; sentences are written to a file, which the library reads part by part."""
    if isinstance(text_or_path, (str, os.PathLike)):
        yield text_or_path
        return
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".txt") as f:
        f.writelines(_lines(text_or_path, (), None))
        f.flush()
        yield f.name


def bootstrap(train, dev, text, *, scheme="iob2", n_jobs=None, memory_limit=None, **settings):
    """A tagger (svm) whose features come from unlabelled text, too: what taggers find there becomes features of the next
    one; the one that is best on `dev` is kept. `info()` of the tagger tells phase, dev_f1 and support of every training.
    `train` and `dev` are paths of CoNLL files or (sentences, tags[, pos[, documents]]); `text` is a path, which is read
    part by part, or sentences."""
    context = Context(0, threads(n_jobs), memory_limit)
    params = _params(context, "bootstrap", settings)
    texts = [_text(context, given) for given in (train, dev)]
    options, word = ffi.new("plx_ner_bootstrap_options *"), encoded(scheme)
    options.struct_size, options.scheme = ffi.sizeof("plx_ner_bootstrap_options"), word
    out = Tagger("svm", scheme=scheme, n_jobs=n_jobs, memory_limit=memory_limit)
    with _text_file(text) as path:
        out._model = context.make("plx_ner_model", lib.plx_ner_model_destroy, lib.plx_ner_bootstrap, context.pointer,
                                  *(t.pointer for t in texts), encoded(path), params.pointer, options)
    context.rest()
    return out
