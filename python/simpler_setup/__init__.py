# SPDX-License-Identifier: Apache-2.0
"""simpler_setup: the tools of npusim that have its names."""

from npusim import KernelCompiler, RuntimeBuilder

__all__ = ["KernelCompiler", "RuntimeBuilder"]
