// SPDX-License-Identifier: Apache-2.0
// The simulator keeps the platform contract.
#include <gtest/gtest.h>

#include "machine/composed_machine.hpp"
#include "model/config/load.hpp"
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
  explicit SimulatorEnvironment(const model::SystemConfig& config)
      : machine_(config, sim::SoftwareTime::kAccessesOnly) {
    machine_.view.add(events_);
  }
  ~SimulatorEnvironment() override { machine_.view.remove(events_); }
  platform::Platform& platform() override { return machine_.system.host(); }
  std::optional<platform::Bdf> card() override { return machine_.card(0); }
  platform::Bdf absent() override { return {9, 3, 1}; }
  void run(const std::function<void()>& body) override {
    const auto ran = machine_.system.run([&](platform::Platform&) { body(); });
    EXPECT_TRUE(ran) << ran.error().message();
  }

 private:
  Events events_;
  sim::ComposedMachine machine_;
};

std::unique_ptr<ContractEnvironment> make_simulator() {
  const auto config = model::load_system(source_dir() + "/configs/910b.yaml", {}, {});
  return config ? std::make_unique<SimulatorEnvironment>(*config) : nullptr;
}

[[maybe_unused]] const bool kRegistered = register_contract_suite("Simulator", make_simulator);

}  // namespace
}  // namespace npu::test
