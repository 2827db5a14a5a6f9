# SPDX-License-Identifier: Apache-2.0
"""A case of a scene test, in this process: compiles, runs, compares."""

from .callable import ArgDirection, ChipCallable, CoreCallable
from .chip_worker import ChipCallConfig
from .kernel_compiler import KernelCompiler
from .platforms import RUNTIME
from .scene import CallableNamespace, source_of
from .scene_arguments import TaskArgsBuilder, difference
from .simulator import current_simulator
from .worker import Worker


class SceneMismatch(AssertionError):
    """What a run has made is not what was to be."""


def run_case(cls, case, platform):
    """Runs a case; how long it took from the first copy to the last: ps of simulated time.

    Raises what the case's own code does, and `SceneMismatch`.
    """
    test, params = cls(), case.get("params", {})
    args = test.generate_args(params)
    if not isinstance(args, TaskArgsBuilder):
        raise TypeError(f"generate_args: found a {type(args).__name__}; allowed: a TaskArgsBuilder")
    golden = args.clone()
    test.compute_golden(golden, params)
    config = ChipCallConfig()
    given = dict(case.get("config", {}))
    host = {key: given.pop(key, None) for key in ("device_count", "num_sub_workers")}
    for name, value in given.items():
        setattr(config, name, value)
    compiler = KernelCompiler(platform)
    run = _level_2 if cls._scene == 2 else _level_3
    took = run(cls, compiler, platform, args, config, host)
    wrong = difference(args, golden, cls.RTOL, cls.ATOL)
    if wrong:
        raise SceneMismatch(wrong)
    return took


def _compile(cls, compiler, spec, scalars):
    """A `ChipCallable`; of scalars the signature need not speak."""
    children = []
    for incore in spec.get("incores", ()):
        binary = compiler.compile_incore(source_of(cls, incore["source"]),
                                         incore.get("core_type", "aiv"))
        children.append((incore["func_id"],
                         CoreCallable.build(incore.get("signature", []), binary)))
    orchestration = spec["orchestration"]
    binary = compiler.compile_orchestration(RUNTIME, source_of(cls, orchestration["source"]))
    signature = list(orchestration["signature"])
    signature += [ArgDirection.SCALAR] * (scalars - signature.count(ArgDirection.SCALAR))
    return ChipCallable.build(signature, orchestration["function_name"], binary, children,
                              cls.__name__)


def _scalars(args):
    return len(args.specs) - len(args.tensor_names())


def _timed(run):
    simulator = current_simulator()
    begin = simulator.now
    run()
    return simulator.now - begin


def _level_2(cls, compiler, platform, args, config, _host):
    made = _compile(cls, compiler, cls.CALLABLE, _scalars(args))
    with Worker(2, platform=platform) as worker:
        return _timed(lambda: worker.run(made, args.storage(), config))


def _level_3(cls, compiler, platform, args, config, host):
    entries, functions = {}, []
    for spec in cls.CALLABLE.get("callables", ()):
        if "callable" in spec:
            functions.append(spec)
            continue
        entries[spec["name"]] = _compile(cls, compiler, spec, _scalars(args))
        entries[spec["name"] + "_sig"] = list(spec["orchestration"]["signature"])
    subs = host["num_sub_workers"]
    worker = Worker(3, platform=platform, device_ids=range(host["device_count"] or 1),
                    num_sub_workers=len(functions) if subs is None else subs)
    for spec in functions:
        entries[spec["name"]] = worker.register(spec["callable"])
    callables, function = CallableNamespace(entries), cls.CALLABLE["orchestration"]
    with worker:
        return _timed(lambda: worker.run(
            lambda orch, given, chosen: function(orch, callables, given, chosen), args, config))
