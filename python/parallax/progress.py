"""Progress of a fit in a bar."""


class TqdmProgress:
    """A progress callback that draws a bar: Bct(progress=TqdmProgress()). Needs tqdm.

    Further arguments go to tqdm.
    """

    def __init__(self, **options):
        self.options = options
        self._bar = self._phase = None

    def __call__(self, event):
        from tqdm.auto import tqdm

        if self._bar is None or event.phase != self._phase:
            self.close()
            self._bar = tqdm(total=event.max_iterations or None, desc=event.phase, **self.options)
            self._phase = event.phase
        self._bar.update(max(0, event.iteration - self._bar.n))
        if event.objective == event.objective:
            self._bar.set_postfix(objective=f"{event.objective:.6g}", refresh=False)
        return False

    def close(self):
        """End the bar that is being drawn."""
        if self._bar is not None:
            self._bar.close()
        self._bar = None

    def __del__(self):
        self.close()

    def __getstate__(self):
        return {"options": self.options, "_bar": None, "_phase": None}
