"""Windows job objects: the leash of a child process there."""

from __future__ import annotations

import ctypes
import logging
import subprocess
import sys
from collections.abc import Callable
from ctypes import c_int64, c_size_t, c_uint32, c_uint64, c_void_p

logger = logging.getLogger(__name__)

_KILL_ON_CLOSE = 0x2000
_PROCESS_MEMORY = 0x0100
_DIE_ON_UNHANDLED = 0x0400
_EXTENDED_LIMITS = 9


class _BasicLimits(ctypes.Structure):
    """``JOBOBJECT_BASIC_LIMIT_INFORMATION``."""

    _fields_ = (
        ("per_process_user_time", c_int64),
        ("per_job_user_time", c_int64),
        ("flags", c_uint32),
        ("min_working_set", c_size_t),
        ("max_working_set", c_size_t),
        ("active_processes", c_uint32),
        ("affinity", c_size_t),
        ("priority_class", c_uint32),
        ("scheduling_class", c_uint32),
    )


class _ExtendedLimits(ctypes.Structure):
    """``JOBOBJECT_EXTENDED_LIMIT_INFORMATION``; the six counters are ``IO_COUNTERS``."""

    _fields_ = (
        ("basic", _BasicLimits),
        ("io_counters", c_uint64 * 6),
        ("process_memory", c_size_t),
        ("job_memory", c_size_t),
        ("peak_process_memory", c_size_t),
        ("peak_job_memory", c_size_t),
    )


def limits(memory_bytes: int) -> _ExtendedLimits:
    """Return the limits of a job that kills on close and, if asked, caps the memory of its processes."""
    wanted = _ExtendedLimits()
    # A fault must end the process, not stop it at a dialog of the error reporter.
    wanted.basic.flags = _KILL_ON_CLOSE | _DIE_ON_UNHANDLED | (_PROCESS_MEMORY if memory_bytes else 0)
    wanted.process_memory = memory_bytes
    return wanted


if sys.platform == "win32":

    def put_in_job(process: subprocess.Popen[bytes], memory_bytes: int) -> Callable[[], None]:
        """Put the process into a job of its own and return what closes it.

        Jobs nest: a child of the child is in both. A system that refuses leaves the process to the end of its standard
        input, which is logged and not fatal.
        """
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        for name in ("CreateJobObjectW", "OpenProcess"):
            getattr(kernel, name).restype = c_void_p
        job = c_void_p(kernel.CreateJobObjectW(None, None))
        wanted = limits(memory_bytes)
        if not kernel.SetInformationJobObject(job, _EXTENDED_LIMITS, ctypes.byref(wanted), ctypes.sizeof(wanted)):
            logger.warning("no limits on the job of process %d: error %d", process.pid, ctypes.get_last_error())
        set_quota_and_terminate = 0x0101
        handle = c_void_p(kernel.OpenProcess(set_quota_and_terminate, False, process.pid))
        if not kernel.AssignProcessToJobObject(job, handle):
            logger.warning("process %d is in no job: error %d", process.pid, ctypes.get_last_error())
        kernel.CloseHandle(handle)

        def close() -> None:
            kernel.CloseHandle(job)

        return close
