"""The progress bar."""

import sys
import time

import numpy as np

_SIGN = "\u2501"


def _duration(seconds):
    if seconds > 3600:
        return f"{seconds // 3600:.0f}:{seconds % 3600 // 60:02.0f}:{seconds % 60:02.0f}"
    if seconds > 60:
        return f"{seconds // 60:.0f}:{seconds % 60:02.0f}"
    return f"{seconds:.0f}s"


class Progbar:
    """A bar of `target` units, with the means of values.

    target: None if it is not known. verbose: 0 nothing, 1 a bar, 2 a line at the end.
    stateful_metrics: names of values that are means already. unit_name: of what is counted.
    """

    def __init__(
        self,
        target,
        width=30,
        verbose=1,
        interval=0.05,
        stateful_metrics=None,
        unit_name="step",
        file=None,
    ):
        self.target = target
        self.width = width
        self.verbose = verbose
        self.interval = interval
        self.stateful_metrics = set(stateful_metrics or ())
        self.unit_name = unit_name
        self._file = file
        self._values = {}  # name: [sum, weight]
        self._seen = 0
        self._written = 0
        self._start = time.time()
        self._last = 0.0

    def update(self, current, values=None, finalize=None):
        """So many units are done; values: pairs of a name and a number, of what is new."""
        for name, value in values or ():
            if name in self.stateful_metrics:
                self._values[name] = [value, 1]
                continue
            weight = max(current - self._seen, 1)
            held = self._values.setdefault(name, [0.0, 0])
            held[0] += value * weight
            held[1] += weight
        self._seen = current
        is_done = self.target is not None and current >= self.target
        is_done = is_done if finalize is None else finalize
        now = time.time()
        if self.verbose == 1:
            if now - self._last < self.interval and not is_done:
                return
            self._write_bar(current, now, is_done)
        elif self.verbose == 2 and is_done:
            text = self._count(current) if self.target is not None else ""
            text += f" - {now - self._start:.0f}s{self._rate_text(current, now)}"
            self._write(f"{text}{self._values_text()}\n")
        self._last = now

    def add(self, n, values=None):
        """So many more units are done."""
        self.update(self._seen + n, values)

    def _write(self, text):
        file = self._file or sys.stdout
        file.write(text)
        file.flush()

    def _count(self, current):
        return f"{current:{len(str(self.target))}d}/{self.target}"

    def _rate_text(self, current, now):
        """What a line at the end says of the time that a unit took."""
        return ""

    def _write_bar(self, current, now, is_done):
        start = "\b" * self._written + "\r"
        if self.target is None:
            bar = f"{current:7d}/Unknown"
        else:
            done = int(self.width * min(current / self.target, 1.0))
            head = "=" * (done - 1) + (">" if current < self.target else "=") if done else ""
            bar = f"{self._count(current)} [{head}{'.' * (self.width - done)}]"
        each = (now - self._start) / current if current else 0
        if self.target is not None and current < self.target and not is_done:
            info = f" - ETA: {_duration(each * (self.target - current))}"
        else:
            info = f" - {now - self._start:.0f}s{_each(each)}/{self.unit_name}"
        line = bar + info + self._values_text()
        padding = " " * max(self._written - len(line), 0)
        self._written = len(line)
        self._write(start + line + padding + ("\n" if is_done else ""))

    def _values_text(self):
        text = ""
        for name, (total, weight) in self._values.items():
            mean = np.mean(total / max(1, weight))
            text += f" - {name}: {mean:.4f}" if abs(mean) > 1e-3 else f" - {name}: {mean:.4e}"
        return text


def _each(seconds):
    if seconds >= 1 or seconds == 0:
        return f" {seconds:.0f}s"
    return f" {seconds * 1e3:.0f}ms" if seconds >= 1e-3 else f" {seconds * 1e6:.0f}us"


class ColoredBar(Progbar):
    """The bar of Keras 3: 20 signs in colors, the time of a unit without the first one."""

    def __init__(self, target, width=20, **kwargs):
        super().__init__(target, width, **kwargs)
        self._after_first = None

    def update(self, current, values=None, finalize=None):
        super().update(current, values, finalize)
        if self._after_first is None and current >= 1:
            self._after_first = time.time()

    def _each_unit(self, current, now):
        if self._after_first is not None and current > 1:
            return (now - self._after_first) / (current - 1)
        return (now - self._start) / current if current else 0

    def _rate_text(self, current, now):
        return f" -{_each(self._each_unit(current, now))}/{self.unit_name}"

    def _write_bar(self, current, now, is_done):
        each = self._each_unit(current, now)
        if self.target is None:
            plain, bar = f"{current:7d}/Unknown", f"{current:7d}/Unknown"
        else:
            done = int(self.width * min(current / self.target, 1.0))
            count, rest = self._count(current), self.width - done
            plain = f"{count} " + _SIGN * self.width
            filled = f"\33[32m{_SIGN * done}\33[0m" if done else ""
            bar = f"\33[1m{count}\33[0m {filled}\33[37m{_SIGN * rest}\33[0m"
        seconds = f"{now - self._start:.0f}s"
        if self.target is not None and not is_done:
            seconds = _duration(each * (self.target - current))
        info = f"{_each(each)}/{self.unit_name}{self._values_text()}"
        length = len(plain) + 1 + len(seconds) + len(info)
        padding = " " * max(self._written - length, 0)
        start, self._written = "\b" * self._written + "\r", length
        self._write(f"{start}{bar} \33[1m{seconds}\33[0m{info}{padding}" + "\n" * is_done)
