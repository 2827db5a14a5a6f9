# SPDX-License-Identifier: Apache-2.0
"""simpler_setup: the tools of npusim that have its names."""

from npusim import KernelCompiler, RuntimeBuilder
from npusim.scene import (CallableNamespace, Scalar, SceneTestCase, TaskArgsBuilder, Tensor,
                          make_tensor_arg, scene_test)

__all__ = [
    "CallableNamespace", "KernelCompiler", "RuntimeBuilder", "Scalar", "SceneTestCase",
    "TaskArgsBuilder", "Tensor", "make_tensor_arg", "scene_test",
]
