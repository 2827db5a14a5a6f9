# SPDX-License-Identifier: Apache-2.0
"""simpler.worker: npusim's `Worker`, and what its functions submit tasks with."""

from npusim import Orchestrator, Worker

__all__ = ["Orchestrator", "Worker"]
