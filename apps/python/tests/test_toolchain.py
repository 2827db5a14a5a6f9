# SPDX-License-Identifier: Apache-2.0
"""RuntimeBuilder, KernelCompiler, and the packages under the public names."""

import os
import subprocess
import sys

import pytest

import npusim
import sources


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NPUSIM_JIT_CACHE_DIR", str(tmp_path / "cache"))
    sources.write(tmp_path)
    return tmp_path


@pytest.fixture
def compiler():
    return npusim.KernelCompiler("910b2")


def test_a_callable_of_compiled_sources_runs(simulator, folder, compiler):
    binaries = npusim.RuntimeBuilder("910b2").get_binaries()
    worker = npusim.ChipWorker()
    worker.init(binaries.host_path, binaries.aicpu_path, binaries.aicore_path,
                binaries.sim_context_path)
    worker.set_device(0)
    x, y = sources.vectors()
    worker.run(sources.scale_callable(compiler, folder), sources.arguments_of(x, y))
    worker.finalize()
    assert (y == 2 * x).all()


@pytest.mark.parametrize("platform, config", [
    ("a2a3", "910b2"), ("a2a3sim", "910b2"), ("a5sim", "950"), ("system-2x910b2",) * 2])
def test_platforms_are_configurations(platform, config):
    builder = npusim.RuntimeBuilder(platform)
    assert builder.platform == platform and builder.list_runtimes() == ["host_build_graph"]
    binaries = builder.get_binaries("host_build_graph")
    assert binaries.sim_context_path == config
    assert str(binaries.host_path) == npusim.host_library()
    assert binaries.aicpu_path.name == "scheduler.npu" and binaries.aicpu_path.is_file()
    assert binaries.aicore_path.name == "executor.npu" and binaries.aicore_path.is_file()


@pytest.mark.parametrize("make", [npusim.RuntimeBuilder, npusim.KernelCompiler])
@pytest.mark.parametrize("platform, text", [("a7", "no configuration 'a7'; allowed: 910"),
                                            ("a2a3simsim", "no configuration 'a2a3simsim'"),
                                            ("", "no configuration|configuration")])
def test_a_platform_that_is_not_there(make, platform, text):
    with pytest.raises(ValueError, match=text):
        make(platform)


def test_a_runtime_that_is_not_there(folder, compiler):
    text = "runtime: found 'ringbuffer'; allowed: host_build_graph"
    with pytest.raises(ValueError, match=text):
        npusim.RuntimeBuilder("a5").get_binaries("ringbuffer")
    with pytest.raises(ValueError, match=text):
        compiler.compile_orchestration("ringbuffer", folder / "orchestration.cpp")


def test_building_says_what_is_wrong(tmp_path, monkeypatch):
    builder = npusim.RuntimeBuilder("a5")
    (tmp_path / "cmake").write_text("#!/bin/sh\necho \"$@\"\necho 'x.cpp:3: error: no'\nexit 1\n")
    (tmp_path / "cmake").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(RuntimeError, match="^build: x.cpp:3: error: no$"):
        builder.get_binaries(build=True)
    (tmp_path / "cmake").write_text("#!/bin/sh\nexit 0\n")
    assert builder.get_binaries(build=True) == builder.get_binaries()
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(FileNotFoundError):
        builder.get_binaries(build=True)


def test_a_source_is_compiled_once_until_it_changes(folder, compiler):
    def origin():
        compiler.compile_incore(folder / "kernel.cpp", "aiv")
        return compiler.last_compilation()["origin"]
    assert [origin(), origin()] == ["compiled", "disk"]
    (folder / "factor.hpp").write_text("constexpr float kFactor = 3;\n")
    assert [origin(), origin()] == ["compiled", "disk"]
    (folder / "beside.hpp").write_text("something else\n")
    assert origin() == "disk"
    compiler.compile_incore(folder / "kernel.cpp", "aic")
    assert compiler.last_compilation()["origin"] == "compiled"


def test_headers_are_found_in_folders_that_are_named(folder, compiler):
    (folder / "below").mkdir()
    (folder / "factor.hpp").rename(folder / "below" / "factor.hpp")
    with pytest.raises(npusim.Error, match="kernel.cpp:2: error: factor.hpp: No such file"):
        compiler.compile_incore(folder / "kernel.cpp")
    assert compiler.compile_incore(folder / "kernel.cpp", extra_include_dirs=[folder / "below"])
    with pytest.raises(TypeError, match="found one path"):
        compiler.compile_incore(folder / "kernel.cpp", extra_include_dirs=str(folder / "below"))


def test_what_cannot_be_compiled(folder, compiler):
    (folder / "wrong.cpp").write_text("int f() {\n  return x;\n}\n")
    with pytest.raises(npusim.Error, match="wrong.cpp:2: error: 'x' was not declared") as caught:
        compiler.compile_orchestration("host_build_graph", folder / "wrong.cpp")
    assert caught.value.code is npusim.ErrorCode.INVALID_ARGUMENT
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="makes no kernel: it has no NPU_KERNEL"):
        compiler.compile_incore(folder / "orchestration.cpp")
    with pytest.raises(ValueError, match="core_type: found 'gpu'; allowed: aic, aiv, mix"):
        compiler.compile_incore(folder / "kernel.cpp", "gpu")
    for path in (folder, folder / "absent.cpp"):
        with pytest.raises(FileNotFoundError, match="no source file"):
            compiler.compile_incore(path)


def test_no_headers_and_no_compiler(folder, compiler, monkeypatch):
    monkeypatch.setenv("NPUSIM_JIT_CXX", "/nowhere/c++")
    with pytest.raises(npusim.Error, match="/nowhere/c\\+\\+"):
        compiler.compile_incore(folder / "kernel.cpp")
    monkeypatch.setenv("NPUSIM_OPERATORS_DIR", "/nowhere")
    with pytest.raises(npusim.Error, match="/nowhere"):
        compiler.compile_incore(folder / "kernel.cpp")


def test_the_public_names_are_the_same_objects():
    code = ("import simpler.task_interface as public, simpler_setup as setup, npusim\n"
            "import simpler.worker; assert simpler.worker.Worker is npusim.Worker\n"
            "names = [name for name in public.__all__ if name != 'CallConfig']\n"
            "assert all(getattr(public, name) is getattr(npusim, name) for name in names)\n"
            "assert public.CallConfig is npusim.ChipCallConfig and len(names) == 13\n"
            "own = {**vars(npusim), **vars(npusim.scene)}\n"
            "assert all(getattr(setup, name) is own[name] for name in setup.__all__)\n"
            "assert {'RuntimeBuilder', 'KernelCompiler', 'scene_test'} <= set(setup.__all__)\n")
    subprocess.run([sys.executable, "-c", code], check=True)
