"""How many threads to decode with when nobody said."""

from __future__ import annotations

import psutil


def default_threads() -> int:
    """Return the number of physical cores that this process may run on, at least 1.

    Decoding waits for memory, so a second thread on one core gains nothing and costs synchronisation.
    """
    try:
        n_allowed = len(psutil.Process().cpu_affinity())
    except (AttributeError, psutil.Error):  # macOS has no affinity
        n_allowed = psutil.cpu_count() or 1
    return max(1, min(n_allowed, psutil.cpu_count(logical=False) or n_allowed))
