// SPDX-License-Identifier: Apache-2.0
#include "apps/python/native/source_compiler.hpp"

#include <pybind11/stl.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "apps/python/native/errors.hpp"
#include "kernels/operators/sources.hpp"
#include "npu/jit/kernel_cache.hpp"
#include "npu/sim/simulator.hpp"

namespace npu::python {
namespace py = pybind11;

namespace {

// What the host's functions are compiled with: they count no instructions, and what the source
// calls `extern "C"` can be found.
std::vector<std::string> host_flags() {
  return {"-std=c++17", "-O2", "-shared", "-fPIC", "-fno-gnu-unique"};
}

// As OperatorHost::find(): without the interpreter's lock, and a signal's handler that raises ends
// the compiler.
jit::Loaded compile(const jit::Toolchain& toolchain, const std::string& folder,
                    const jit::KernelRequest& request) {
  std::optional<py::error_already_set> raised;
  const auto interrupted = [&raised] {
    const py::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) raised.emplace();
    return raised.has_value();
  };
  auto found = [&] {
    const py::gil_scoped_release unlocked;
    jit::KernelCache cache(toolchain, jit::CacheOptions{folder});
    return cache.get(request, interrupted);
  }();
  if (raised) throw py::error_already_set(*std::move(raised));
  return value_of(std::move(found));
}

py::dict compile_source(const std::string& source, const std::string& core,
                        const std::vector<std::string>& includes, const std::string& folder) {
  const std::filesystem::path file(source);
  auto toolchain = value_of(operators::find_toolchain());
  toolchain.includes.insert(toolchain.includes.begin(), includes.begin(), includes.end());
  if (core == "host") toolchain.flags = host_flags();
  jit::KernelRequest request;
  request.folder = file.parent_path().string();
  request.template_file = file.filename().string();
  request.type = core == "aic"   ? jit::KernelType::kCube
                 : core == "aiv" ? jit::KernelType::kVector
                                 : jit::KernelType::kMixed;
  request.loaded = false;
  const auto loaded = compile(toolchain, folder, request);
  constexpr const char* kOrigins[] = {"memory", "disk", "compiled"};
  const auto image = loaded.kernel->image();
  py::dict all;
  all["binary"] = py::bytes(reinterpret_cast<const char*>(image.data), image.size);
  all["origin"] = kOrigins[static_cast<std::size_t>(loaded.origin)];
  all["warnings"] = loaded.warnings;
  all["includes"] = toolchain.includes;
  return all;
}

// ValueError with the line that the machine's maker would get.
void check_configuration(const std::string& config) {
  if (const auto ok = sim::Simulator::check(config); !ok) {
    throw py::value_error(ok.error().context);
  }
}

}  // namespace

void bind_source_compiler(py::module_& module) {
  module.def("compile_source", &compile_source);
  module.def("check_configuration", &check_configuration);
}

}  // namespace npu::python
