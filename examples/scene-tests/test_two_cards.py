# SPDX-License-Identifier: Apache-2.0
"""Two cards: each scales a half; then one of them scales the whole, which waits for both."""

import numpy

from npusim import ArgDirection as D
from npusim import TaskArgs, TensorArgType
from npusim.scene import (Scalar, SceneTestCase, TaskArgsBuilder, Tensor, make_tensor_arg,
                          scene_test)


def scaled(orch, callables, config, x, y, a, worker=-1):
    args = TaskArgs()
    args.add_tensor(make_tensor_arg(x), TensorArgType.INPUT)
    args.add_tensor(make_tensor_arg(y), TensorArgType.OUTPUT)
    args.add_scalar(x.size)
    args.add_scalar(a)
    callables.keep(x, y)
    orch.submit_next_level(callables.scale, args, config, worker=worker)


def halves_then_whole(orch, callables, args, config):
    half = args.x.size // 2
    scaled(orch, callables, config, args.x[:half], args.y[:half], args.a, worker=0)
    scaled(orch, callables, config, args.x[half:], args.y[half:], args.a, worker=1)
    scaled(orch, callables, config, args.y, args.z, args.a)


@scene_test(level=3)
class TwoCards(SceneTestCase):
    CALLABLE = {
        "orchestration": halves_then_whole,
        "callables": [{
            "name": "scale",
            "orchestration": {
                "source": "scale_graph.cpp",
                "function_name": "build_scale",
                "signature": [D.IN, D.OUT],
            },
            "incores": [{"func_id": 0, "source": "scale.cpp", "core_type": "aiv"}],
        }],
    }
    CASES = [{"name": "halves", "platforms": ["a2a3sim"], "config": {"device_count": 2}}]

    def generate_args(self, params):
        x = numpy.arange(8192, dtype="float32")
        return TaskArgsBuilder(Tensor("x", x), Tensor("y", numpy.zeros_like(x)),
                               Tensor("z", numpy.zeros_like(x)), Scalar("n", x.size),
                               Scalar("a", 3.0))

    def compute_golden(self, args, params):
        args.y[:] = 3 * args.x
        args.z[:] = 9 * args.x


if __name__ == "__main__":
    SceneTestCase.run_module(__name__)
