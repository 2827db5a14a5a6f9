// SPDX-License-Identifier: Apache-2.0
// The fake keeps the platform contract.
#include "tests/contract/contract_suite.hpp"
#include "tests/support/fake/fake_platform.hpp"

namespace npu::test {
namespace {

class FakeEnvironment : public ContractEnvironment {
 public:
  FakeEnvironment() {
    fake_.fake_pci.add_bridge({0, 1, 0}, 1, 1, 4);
    fake_.tracer().listen(true);
    fake_.add_card();
  }
  platform::Platform& platform() override { return fake_; }
  std::optional<platform::Bdf> card() override { return platform::Bdf{1, 0, 0}; }
  platform::Bdf absent() override { return {9, 3, 1}; }
  void run(const std::function<void()>& body) override { body(); }

 private:
  FakePlatform fake_;
};

[[maybe_unused]] const bool kRegistered =
    register_contract_suite("Fake", [] { return std::make_unique<FakeEnvironment>(); });

}  // namespace
}  // namespace npu::test
