// SPDX-License-Identifier: Apache-2.0
// The VFIO backend keeps the platform contract: on a machine without a card its time, tasks and
// what it says of absent functions; with one, named by NPU_VFIO_BDF, all of it.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "driver/vfio/vfio_platform.hpp"
#include "tests/contract/contract_suite.hpp"

namespace npu::test {
namespace {

constexpr char kCardVariable[] = "NPU_VFIO_BDF";  // "01:00.0": a card bound to vfio-pci

std::optional<platform::Bdf> card_of_this_machine() {
  const char* const text = std::getenv(kCardVariable);
  if (text == nullptr) return std::nullopt;
  unsigned bus = 0, device = 0, function = 0;
  if (std::sscanf(text, "%2x:%2x.%1x", &bus, &device, &function) != 3) {
    ADD_FAILURE() << kCardVariable << " is no function: " << text;
  }
  return platform::Bdf{static_cast<std::uint8_t>(bus), static_cast<std::uint8_t>(device),
                       static_cast<std::uint8_t>(function)};
}

// Without a card a sysfs in which there is nothing.
driver::VfioOptions machine() {
  driver::VfioOptions options;
  if (!card_of_this_machine()) options.sysfs_path = options.vfio_path = "/nonexistent";
  return options;
}

class VfioEnvironment : public ContractEnvironment {
 public:
  platform::Platform& platform() override { return platform_; }
  std::optional<platform::Bdf> card() override { return card_of_this_machine(); }
  platform::Bdf absent() override { return {0xE9, 3, 1}; }
  void run(const std::function<void()>& body) override { body(); }
  bool is_exact() const override { return false; }

 private:
  driver::vfio::VfioPlatform platform_{machine()};
};

[[maybe_unused]] const bool kRegistered =
    register_contract_suite("Vfio", [] { return std::make_unique<VfioEnvironment>(); });

}  // namespace
}  // namespace npu::test
