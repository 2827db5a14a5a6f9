// SPDX-License-Identifier: Apache-2.0
// The simulator keeps the platform contract.
#include <gtest/gtest.h>

#include "model/config/load.hpp"
#include "model/system.hpp"
#include "tests/contract/contract_suite.hpp"
#include "tests/support/folders.hpp"

namespace npu::test {
namespace {

class Events : public platform::TraceSink {
 public:
  void on_event(const platform::TraceEvent&) override {}
};

class SimulatorEnvironment : public ContractEnvironment {
 public:
  explicit SimulatorEnvironment(const model::SystemConfig& config) : system_(config) {
    system_.simulation().recorder.add(events_);
    card_ = platform::Bdf::unpack(system_.fabric().endpoint(0).requester());
  }
  ~SimulatorEnvironment() override { system_.simulation().recorder.remove(events_); }
  platform::Platform& platform() override { return system_.host(); }
  std::optional<platform::Bdf> card() override { return card_; }
  platform::Bdf absent() override { return {9, 3, 1}; }
  void run(const std::function<void()>& body) override {
    const auto ran = system_.run([&](platform::Platform&) { body(); });
    EXPECT_TRUE(ran) << ran.error().message();
  }

 private:
  Events events_;
  model::System system_;
  platform::Bdf card_;
};

std::unique_ptr<ContractEnvironment> make_simulator() {
  const auto config = model::load_system(source_dir() + "/configs/910b.yaml", {}, {});
  return config ? std::make_unique<SimulatorEnvironment>(*config) : nullptr;
}

[[maybe_unused]] const bool kRegistered = register_contract_suite("Simulator", make_simulator);

}  // namespace
}  // namespace npu::test
