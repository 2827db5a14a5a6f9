# SPDX-License-Identifier: Apache-2.0
"""children.py PROGRAM: starts it twice, by vfork() as Python does, and goes on calling meanwhile."""
import ctypes
import subprocess
import sys

acl = ctypes.CDLL("libascendcl.so")


def ok(code):
    assert code == 0, code


ok(acl.aclInit(None))
ok(acl.aclrtSetDevice(0))
children = [subprocess.Popen([sys.argv[1]], stdout=subprocess.PIPE) for _ in range(2)]
memory = ctypes.c_void_p()
size = ctypes.c_size_t(4096)
for value in range(200):
    ok(acl.aclrtMalloc(ctypes.byref(memory), size, 0))
    ok(acl.aclrtMemset(memory, size, value, size))
    ok(acl.aclrtFree(memory))
for child in children:
    assert child.communicate()[0] == b"right\n" and child.returncode == 0
ok(acl.aclFinalize())
print("right")
