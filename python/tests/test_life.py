"""Memory, threads, interrupts, progress."""
import gc
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import parallax


def resident():
    """Bytes of this process in memory."""
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def fits(count):
    generator = np.random.default_rng(0)
    Xs = {"a": np.abs(generator.normal(size=(60, 5))), "b": np.abs(generator.normal(size=(60, 8)))}
    y = np.arange(60) % 3
    y[::2] = -1
    for i in range(count):
        model = parallax.Nb(n_jobs=1 + i % 2).fit(Xs, y)
        model.predict(Xs)
        model.theta_by_view_
        with pytest.raises(parallax.DataError):
            parallax.Nb().fit({"a": -Xs["a"]}, y)


def check_growth(count, allowed):
    fits(100)
    gc.collect()
    before, threads = resident(), threading.active_count()
    fits(count)
    gc.collect()
    assert resident() - before < allowed
    assert threading.active_count() == threads
    assert len(os.listdir("/proc/self/task")) < 40


def test_hundreds_of_fits_do_not_grow():
    check_growth(300, 4 << 20)


@pytest.mark.nightly
def test_ten_thousand_fits_do_not_grow():
    """What 10,000 fits may keep is less than one small block each: 400 bytes."""
    check_growth(10000, 4 << 20)


def test_models_and_data_outlive_each_other():
    X = np.random.default_rng(0).normal(size=(80, 4))
    y = np.arange(80) % 2
    models = [parallax.Bct(arrays=["kernel"]).fit(parallax.Dataset([X.copy()], y)) for _ in range(5)]
    kernel = models[0].kernel_
    expected = kernel.copy()
    values = parallax.Dataset([X.copy()], y)["view0"]
    cycle = [models]
    cycle.append(cycle)  # let the collector choose the order
    del models, cycle
    gc.collect()
    assert np.array_equal(kernel, expected) and np.array_equal(values, X)


# ---- interrupts ----

LONG = """
    import numpy as np, parallax, sys, time
    generator = np.random.default_rng(0)
    X = np.abs(generator.normal(size=(1000, 50)))
    model = parallax.Mvplsa(clusters=5, max_iter=10**8, tol=0, topics=5)
    print("ready", flush=True)
    try:
        model.fit([X, X])
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    small = parallax.Mvplsa(clusters=2, max_iter=5).fit([X[:50]])
    print("alive", small.labels_.max(), flush=True)
"""


def test_ctrl_c_stops_a_fit():
    # A test that runs in the background of a shell inherits interrupts that are ignored.
    child = subprocess.Popen([sys.executable, "-W", "ignore", "-c", textwrap.dedent(LONG)], stdout=subprocess.PIPE,
                             text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(2.0)
        began = time.monotonic()
        child.send_signal(signal.SIGINT)
        words, _ = child.communicate(timeout=60)
    finally:
        child.kill()
    assert words.splitlines()[0] == "interrupted" and words.splitlines()[1].startswith("alive")
    assert child.returncode == 0 and time.monotonic() - began < 30


@pytest.mark.full
def test_other_threads_run_during_a_fit():
    generator = np.random.default_rng(0)
    X = np.abs(generator.normal(size=(2000, 100)))
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.001)
    other = threading.Thread(target=count)
    other.start()
    began = time.monotonic()
    parallax.Mvplsa(clusters=10, max_iter=60, n_jobs=1).fit([X, X])
    took = time.monotonic() - began
    stop.set()
    other.join()
    assert counted[0] > 100 * took  # of some 900 in a second


def test_threads_predict_with_one_model(few_labels):
    Xs, shown, _ = few_labels
    model = parallax.Bct().fit(Xs, shown)
    expected, found = model.predict_proba(Xs), []
    workers = [threading.Thread(target=lambda: found.append(model.predict_proba(Xs))) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(found) == 8 and all(np.array_equal(f, expected) for f in found)


def test_a_forked_child_can_predict(few_labels):
    Xs, shown, _ = few_labels
    model = parallax.Nb(n_jobs=2).fit({n: np.abs(X) for n, X in Xs.items()}, shown)
    child = os.fork()
    if child == 0:
        good = False
        try:
            good = len(model.predict({n: np.abs(X) for n, X in Xs.items()})) == 120
            del model
            gc.collect()
        finally:
            os._exit(0 if good else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# ---- progress and warnings ----

def test_progress_is_told_and_may_stop(two_views):
    Xs, _ = two_views
    told = []
    parallax.Mvkmeans(clusters=3, progress=told.append).fit(Xs)
    assert told and isinstance(told[0], parallax.Progress) and told[0].iteration >= 0
    with pytest.raises(parallax.CancelledError):
        parallax.Mvkmeans(clusters=3, progress=lambda event: True).fit(Xs)
    with pytest.raises(ZeroDivisionError):
        parallax.Mvkmeans(clusters=3, progress=lambda event: 1 / 0).fit(Xs)


def test_tqdm(two_views, capsys):
    pytest.importorskip("tqdm")
    Xs, _ = two_views
    bar = parallax.progress.TqdmProgress()
    parallax.Mvkmeans(clusters=3, progress=bar).fit(Xs)
    bar.close()
    assert capsys.readouterr().err


def test_warnings_point_at_the_caller(two_views):
    Xs, _ = two_views
    with pytest.warns(parallax.ParallaxWarning, match="dim = 100") as caught:
        parallax.Cca().fit(Xs)
    assert caught[0].filename == __file__


def test_time_limit_ends_a_fit(two_views):
    X = np.abs(np.random.default_rng(0).normal(size=(2000, 100)))
    began = time.monotonic()
    model = parallax.Mvplsa(clusters=20, max_iter=10**6, tol=0, time_limit=0.5).fit([X, X])
    assert not model.converged_ and time.monotonic() - began < 20


def test_model_files_are_those_of_the_command(command, few_labels, tmp_path):
    Xs, shown, _ = few_labels
    data = parallax.Dataset(Xs, shown)
    model = parallax.Bct().fit(data)
    model.save_model(tmp_path / "model.plx")
    data.write(tmp_path / "data")
    subprocess.run([command, "predict", tmp_path / "model.plx", tmp_path / "data", "--out", tmp_path / "out.csv"],
                   check=True, capture_output=True)
    labels = [line.split(",")[1] for line in (tmp_path / "out.csv").read_text().splitlines()[1:]]
    assert labels == [str(v) for v in model.predict(Xs)]
    loaded = parallax.load_model(tmp_path / "model.plx")
    assert list(loaded.predict(Xs)) == labels and loaded.method.name == "bct"


def test_pickled_data_keep_how_text_was_counted(tmp_path):
    (tmp_path / "notes.csv").write_text("id,note,label\na,The cats ran,x\nb,the dog runs,y\nc,cats and dogs run,x\n")
    data = parallax.read(tmp_path / "notes.csv", text="note", text_options="stem=english,stop=english", id="id",
                         label="label")
    again = pickle.loads(pickle.dumps(data))
    before, after = (parallax.Rls().fit(d) for d in (data, again))
    (tmp_path / "new.csv").write_text("id,note\nd,a running cat\n")
    shown = [parallax.read(tmp_path / "new.csv", text="note", id="id", like=m) for m in (before, after)]
    assert [d.features for d in shown] == [{"note": ["cat", "run"]}] * 2
    before.save_model(tmp_path / "before.plx")
    after.save_model(tmp_path / "after.plx")
    assert (tmp_path / "before.plx").read_bytes() == (tmp_path / "after.plx").read_bytes()
