# SPDX-License-Identifier: MIT
"""Exit statuses of the commands, those of ``tracelens``: 0 fine, 1 failed, 2 wrong usage, 3 unreadable input, 4 cut off,
5 nothing to analyse, 6 refused by ``--strict``, 130 interrupted."""
import os
import sys

OK, FAILED, USAGE, UNREADABLE, CUT_OFF, EMPTY, STRICT, INTERRUPTED = 0, 1, 2, 3, 4, 5, 6, 130

_OF_REASON = {"TL_EINVAL": USAGE, "TL_ESTRICT": STRICT, "TL_EEMPTY": EMPTY, "TL_ECANCELLED": INTERRUPTED}


class CutOffWarning(UserWarning):
    """The file of a trace ends in the middle of something."""


class NothingToAnalyseWarning(UserWarning):
    """The trace holds no GPU work."""


def failure(reason, message):
    """A ValueError that stands for a code of the library, as those do that the library raises."""
    error = ValueError(message)
    error.reason = reason
    return error


def check_outputs(outputs, inputs, refusal="this is read, the output must go elsewhere"):
    """ValueError when an output has no name or is one of the files that are read: those must survive."""
    for made in outputs:
        if made is not None and not os.fspath(made):
            raise failure("TL_EINVAL", "the name of an output is empty")
        for path in inputs if made is not None and os.path.exists(made) else ():
            if os.path.exists(path) and os.path.samefile(path, made):
                raise failure("TL_EINVAL", f"{os.fspath(made)}: {refusal}")


def complain(error, inputs, special=None):
    """Tells of a failure in one line, and gives its exit status. What only an extension file or a mistake in this package
    raises is raised again, as its traceback is what helps.

    ``inputs`` are the paths that were to be read; ``special`` maps reasons to statuses of this command."""
    if isinstance(error, KeyboardInterrupt):
        print("error: interrupted, nothing was written", file=sys.stderr)
        return INTERRUPTED
    if isinstance(error, MemoryError):
        print("error: no memory left", file=sys.stderr)
        return FAILED
    reason = getattr(error, "reason", None)
    if reason is None and not isinstance(error, (OSError, ValueError)):
        raise error
    print(f"error: {_text(error)}", file=sys.stderr)
    return {**_OF_REASON, **(special or {})}.get(reason) or (UNREADABLE if _is_of(error, inputs) else FAILED)


def _text(error):
    if not isinstance(error, OSError):
        return str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    text = str(error.strerror or error)
    name = "" if error.filename is None else os.fsdecode(error.filename)
    return text if not name or name in text else f"{name}: {text}"


def _is_of(error, inputs):
    """Whether one of the inputs is what could not be read; of a long path the library keeps the end."""
    name = getattr(error, "file", None) or getattr(error, "filename", None)
    return name is not None and any(os.fsdecode(path).endswith(os.fsdecode(name)) for path in inputs)
