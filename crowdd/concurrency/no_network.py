"""Keeps processes that read files of others away from the network, by a seccomp filter that they put on themselves.

The filter needs no rights and works in containers and below systemd. It stays for all that such a process starts.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterable, Mapping
from typing import Final

import attrs


@attrs.frozen
class Architecture:
    """A machine as seccomp knows it: AUDIT_ARCH_* of its system calls, and the numbers of those that are refused."""

    code: int
    socket: int
    ptrace: int
    process_vm_writev: int
    io_uring_setup: int = 425  # it opens sockets without the call that does
    pidfd_getfd: int = 438  # it takes those of other processes

    @property
    def refused(self) -> tuple[int, ...]:
        """The system calls that lead to the network: new sockets, and getting hold of a process that may have some."""
        return self.socket, self.ptrace, self.process_vm_writev, self.io_uring_setup, self.pidfd_getfd


ARCHITECTURES: Final[Mapping[str, Architecture]] = {
    "x86_64": Architecture(0xC000_003E, socket=41, ptrace=101, process_vm_writev=311),
    "aarch64": Architecture(0xC000_00B7, socket=198, ptrace=117, process_vm_writev=271),
}
# linux/prctl.h, linux/seccomp.h, linux/bpf_common.h
_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _SECCOMP_MODE_FILTER = 22, 38, 2
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4  # in struct seccomp_data
_ALLOW, _REFUSE = 0x7FFF_0000, 0x0005_0000 | errno.EPERM
_FIRST_OF_X32: Final = 0x4000_0000  # the same calls by other numbers


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def is_possible() -> bool:
    """Whether ``forbid`` works here. Changes nothing: the kernel finds that the filter is missing, if it takes any."""
    return os.uname().machine in ARCHITECTURES and _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, None) == errno.EFAULT


def forbid() -> bool:
    """From now on this process gets EPERM for each socket that it opens; False where the system does not allow that.

    Call it before there are threads: it holds for the one that calls it, and for those that come after.
    """
    architecture = ARCHITECTURES.get(os.uname().machine)
    return architecture is not None and refuse(architecture, architecture.refused)


def refuse(architecture: Architecture, numbers: Iterable[int]) -> bool:
    """From now on this thread gets EPERM for these system calls; False where the system does not allow that."""
    code = filter_of(architecture, numbers)
    program = _Program(len(code) // 8, code)
    failed = _prctl(_PR_SET_NO_NEW_PRIVS, 1, None) or _prctl(
        _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program)
    )
    return not failed


def filter_of(architecture: Architecture, numbers: Iterable[int]) -> bytes:
    """The program for the kernel: refuses these calls, and all calls of other architectures."""
    refused = [(_JUMP_AT_LEAST, _FIRST_OF_X32), *((_JUMP_EQUAL, number) for number in numbers)]
    left = len(refused)
    code = [
        _step(_LOAD, _ARCHITECTURE_AT),
        _step(_JUMP_EQUAL, architecture.code, otherwise=left + 2),
        _step(_LOAD, _NUMBER_AT),
        *(_step(jump, value, then=left - place) for place, (jump, value) in enumerate(refused)),
        _step(_RETURN, _ALLOW),
        _step(_RETURN, _REFUSE),
    ]
    return b"".join(code)


def _step(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    """A struct sock_filter; the jumps count the steps that are left out."""
    return struct.pack("=HBBI", code, then, otherwise, value)


def _prctl(option: int, argument: int, pointer: object) -> int:
    """0, or the errno of the failure."""
    libc = ctypes.CDLL(None, use_errno=True)
    zero = ctypes.c_ulong(0)
    result = libc.prctl(option, ctypes.c_ulong(argument), pointer, zero, zero)
    return ctypes.get_errno() if result else 0
