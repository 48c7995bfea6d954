"""Runs a command without the system calls that Linux got after 3.10, RHEL 7's: oldkernel.py COMMAND... (x86-64).

They answer ENOSYS, as an old kernel does. What else differs there (files of /proc, behaviour of calls) is as it is here.
"""

import ctypes
import errno
import os
import struct
import sys

LAST = 313  # finit_module, of Linux 3.8
LOAD, GREATER, RETURN = 0x20, 0x25, 0x06  # instructions of BPF: BPF_LD|BPF_W|BPF_ABS, BPF_JMP|BPF_JGT|BPF_K, BPF_RET|BPF_K
ALLOW, FAIL = 0x7FFF0000, 0x00050000
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2

if os.uname().machine != "x86_64":
    sys.exit("oldkernel.py knows the numbers of system calls on x86-64 only")
filter = b"".join(
    struct.pack("HBBI", *instruction)
    for instruction in [(LOAD, 0, 0, 0), (GREATER, 0, 1, LAST), (RETURN, 0, 0, FAIL | errno.ENOSYS), (RETURN, 0, 0, ALLOW)]
)
text = ctypes.create_string_buffer(filter, len(filter))
program = struct.pack("HxxxxxxP", len(filter) // 8, ctypes.addressof(text))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0):
    raise OSError(ctypes.get_errno(), "the filter of system calls is refused")
os.execvp(sys.argv[1], sys.argv[1:])
