# SPDX-License-Identifier: Apache-2.0
"""Programs that are linked to the driver that counts, run with the plain one in its place."""
import os
import re
import subprocess


def environment(build, folder):
    """`folder` gets what the dynamic linker finds first."""
    plain = os.path.join(folder, "plain")
    os.makedirs(plain, exist_ok=True)
    counted = next(name for name in os.listdir(os.path.join(build, "lib"))
                   if re.fullmatch(r"libnpudrv_counted\.so\.\d+", name))
    link = os.path.join(plain, counted)
    if not os.path.lexists(link):
        os.symlink(os.path.realpath(os.path.join(build, "lib", "libnpudrv.so")), link)
    return dict(os.environ, LD_LIBRARY_PATH=plain)


def call(command, variables):
    subprocess.run(command, check=True, env=variables, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
