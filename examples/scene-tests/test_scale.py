# SPDX-License-Identifier: Apache-2.0
"""One card: y = a x, in several sizes and on several chips."""

import numpy

from npusim import ArgDirection as D
from npusim.scene import Scalar, SceneTestCase, TaskArgsBuilder, Tensor, scene_test


@scene_test(level=2)
class TestScale(SceneTestCase):
    CALLABLE = {
        "orchestration": {
            "source": "scale_graph.cpp",
            "function_name": "build_scale",
            "signature": [D.IN, D.OUT],
        },
        "incores": [
            {"func_id": 0, "source": "scale.cpp", "core_type": "aiv"},
        ],
    }
    CASES = [
        {"name": "small", "platforms": ["a2a3sim", "a5sim"], "params": {"count": 100, "a": 2.0}},
        {"name": "whole", "config": {"block_dim": 4}, "params": {"count": 16384, "a": -0.5}},
    ]

    def generate_args(self, params):
        x = numpy.linspace(-1, 1, params["count"], dtype="float32")
        return TaskArgsBuilder(Tensor("x", x), Tensor("y", numpy.zeros_like(x)),
                               Scalar("count", x.size), Scalar("a", params["a"]))

    def compute_golden(self, args, params):
        args.y[:] = numpy.float32(params["a"]) * args.x


if __name__ == "__main__":
    SceneTestCase.run_module(__name__)
