// SPDX-License-Identifier: Apache-2.0
#include "npu/sim/simulator.hpp"

#include <dlfcn.h>

#include <filesystem>

#include "model/config/load.hpp"
#include "sim/simulator_impl.hpp"

namespace npu::sim {
namespace {

// PREFIX/lib[/TRIPLET]/libnpusim.so -> PREFIX/share/npusim/configs; TREE/build/PRESET/lib -> TREE
std::vector<std::string> config_directories() {
  namespace fs = std::filesystem;
  static const char kAnchor = 0;
  Dl_info library{};
  if (dladdr(&kAnchor, &library) == 0 || library.dli_fname == nullptr) return {};
  std::error_code code;
  const fs::path folder = fs::canonical(library.dli_fname, code).parent_path();
  if (code) return {};
  std::vector<std::string> found;
  for (const auto* place :
       {"../share/npusim/configs", "../../share/npusim/configs", "../../../configs"}) {
    const fs::path configs = (folder / place).lexically_normal();
    if (fs::is_directory(configs, code)) found.push_back(configs.string());
  }
  return found;
}

bool process_has_simulator = false;

}  // namespace

Simulator::Simulator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Simulator::~Simulator() = default;

Result<std::unique_ptr<Simulator>> Simulator::create(const std::string& config,
                                                     const std::vector<std::string>& overrides) {
  if (process_has_simulator) {
    return fail(ErrorCode::kAlreadyExists, "this process has had its simulator");
  }
  const auto loaded = model::load_system(config, overrides, config_directories());
  if (!loaded) return fail(ErrorCode::kInvalidArgument, loaded.error().message());
  process_has_simulator = true;
  return std::unique_ptr<Simulator>(new Simulator(std::make_unique<Impl>(*loaded)));
}

Status Simulator::run(std::function<void(platform::Platform&)> program) {
  if (impl_->stuck) return fail(ErrorCode::kTimeout, "an earlier program never ended");
  auto status = impl_->system.run(std::move(program));
  impl_->stuck = !status.has_value();
  return status;
}

Picoseconds Simulator::now() const {
  return Picoseconds(static_cast<std::int64_t>(model::sim_now()));
}

void Simulator::add(platform::TraceSink& sink) {
  impl_->system.simulation().recorder.add(sink);
}

void Simulator::remove(platform::TraceSink& sink) {
  impl_->system.simulation().recorder.remove(sink);
}

}  // namespace npu::sim
