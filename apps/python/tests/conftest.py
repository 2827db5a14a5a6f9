# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys

import pytest


@pytest.fixture(scope="session")
def simulator():
    import npusim
    made = npusim.Simulator("910b2")
    yield made
    made.close()


@pytest.fixture
def device(simulator):
    return simulator.device(0)


@pytest.fixture
def script():
    """Runs code in an interpreter of its own, which may have a simulator of its own."""

    def run(code):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                              check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout
    return run
