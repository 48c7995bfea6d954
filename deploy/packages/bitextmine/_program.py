"""Calls the program: its exit, its warnings, its progress."""

from __future__ import annotations

import builtins
import codecs
import os
import pathlib
import re
import subprocess
import sys
import threading
import warnings

_FOLDER = pathlib.Path(__file__).parent / "program"
# The program with the C library that it was built with, whatever this machine has.
PROGRAM = [str(_FOLDER / "ld.so"), "--library-path", str(_FOLDER), str(_FOLDER / "mine")]


class Error(RuntimeError):
    """The program failed. code is its exit code: 1 is worth a retry, 2 is for good, 3 means another run is under way."""

    def __init__(self, message: str, code: int):
        super().__init__(message)
        self.code = code


class MineWarning(UserWarning):
    """The program warned of something and went on."""


def call(arguments: list) -> str:
    """Runs the program and returns what it printed."""
    messages, progress = [], _progress()
    child, parent = _terminal() if progress is None and _is_terminal() else (subprocess.PIPE, None)
    process = subprocess.Popen(
        [*PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=child, encoding="utf-8",
        errors="replace",
    )
    if parent is not None:
        os.close(child)
    reader = threading.Thread(target=_copy if parent is not None else _follow, args=(
        parent if parent is not None else process.stderr, messages, progress))
    reader.start()
    try:
        with process:
            printed = process.stdout.read()
            process.wait()
    except BaseException:
        process.terminate()
        raise
    finally:
        reader.join()
        if progress is not None:
            progress.close()
    if process.returncode != 0:
        lines = [line[6:] for line in messages if line.startswith("mine: ")]
        raise Error(lines[-1] if lines else "\n".join(messages).strip(), process.returncode)
    for line in messages:
        if " level=WARN " in line:
            warnings.warn(_message(line), MineWarning, stacklevel=_caller())
    return printed


def _caller() -> int:
    """Is the level of the first frame outside of this package."""
    level, frame = 2, sys._getframe(2)
    while frame is not None and os.path.dirname(frame.f_code.co_filename) == os.path.dirname(__file__):
        level, frame = level + 1, frame.f_back
    return level


def _message(line: str) -> str:
    """Is the text of a line of the program's log with its attributes: time=... level=WARN msg="..." key=value."""
    found = re.search(r'msg=("(?:[^"\\]|\\.)*"|\S+)\s*(.*)', line)
    if found is None:
        return line
    text = found.group(1)
    if text.startswith('"'):
        text = re.sub(r"\\(.)", lambda c: {"n": "\n", "t": "\t"}.get(c.group(1), c.group(1)), text[1:-1])
    return text + (f" ({found.group(2)})" if found.group(2) else "")


def _follow(stream, messages: list, progress) -> None:
    """Collects the lines of a stream. Progress is shown, or nobody asks for it."""
    for line in stream:
        line = line.rstrip("\n")
        if not (_STAGE.match(line) and (progress is None or progress.show(line))):
            messages.append(line)


def _copy(terminal: int, messages: list, _) -> None:
    """Copies what the program writes to its terminal, where it draws its own bar, and collects its lines.

    Of the bar, which is drawn over itself many times a second, only the last drawing is held."""
    decoder, line = codecs.getincrementaldecoder("utf-8")("replace"), ""
    while True:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:  # the program has closed it
            part = b""
        text = decoder.decode(part, final=not part)
        sys.stderr.write(text)
        sys.stderr.flush()
        *ended, line = (line + text).split("\n")
        messages += [last for last in map(_last, ended) if not _STAGE.match(last)]
        line = _last(line) + "\r" * line.endswith("\r")
        if not part:
            break
    os.close(terminal)
    if line:
        messages.append(_last(line))


def _last(line: str) -> str:
    """Is what a line shows: what was drawn last over the rest. A terminal ends lines with a return, too."""
    return line.rstrip("\r").rpartition("\r")[2]


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # replaced, or closed
        return False


def _terminal() -> tuple:
    """Makes a terminal of the width of this one, whose two ends it returns."""
    import fcntl
    import pty
    import termios

    parent, child = pty.openpty()
    try:
        size = fcntl.ioctl(sys.stderr.fileno(), termios.TIOCGWINSZ, b"\0" * 8)
        fcntl.ioctl(child, termios.TIOCSWINSZ, size)
    except (OSError, ValueError):
        pass
    return child, parent


# A line of progress: encode   300/629 sentences, 12.3k/s
_STAGE = re.compile(r"(\w+) +(\d+)/(\d+) ([\w ]+?)(?:,.*)?$")


def _progress():
    """Is what shows progress in a notebook; None elsewhere, and without tqdm."""
    if not hasattr(builtins, "get_ipython"):
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return _Bars(tqdm)


class _Bars:
    def __init__(self, tqdm):
        self.tqdm, self.stage, self.bar = tqdm, "", None

    def show(self, line: str) -> bool:
        stage, done, total, unit = _STAGE.match(line).groups()
        if stage != self.stage:
            self.close()
            self.stage, self.bar = stage, self.tqdm(total=int(total), desc=stage, unit=" " + unit)
        self.bar.update(int(done) - self.bar.n)
        return True

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None
