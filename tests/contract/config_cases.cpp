// SPDX-License-Identifier: Apache-2.0
// Configuration space.
#include <gtest/gtest.h>

#include "npu/abi/identity.hpp"
#include "npu/abi/pci.hpp"
#include "tests/contract/contract_case.hpp"
#include "tests/support/matchers.hpp"

namespace npu::test {
namespace {

namespace pci = abi::pci;

void absent_functions_read_all_ones(ContractEnvironment& environment) {
  auto& config = environment.platform().pci();
  const auto bdf = environment.absent();
  EXPECT_EQ(config.read32(bdf, 0), 0xFFFFFFFFU);
  EXPECT_EQ(config.read16(bdf, 2), 0xFFFFU);
  EXPECT_EQ(config.read8(bdf, pci::kHeaderType), 0xFFU);
  EXPECT_EQ(config.read32(bdf, 0xFFC), 0xFFFFFFFFU);
}

void writes_to_absent_functions_are_dropped(ContractEnvironment& environment) {
  auto& config = environment.platform().pci();
  const auto bdf = environment.absent();
  config.write32(bdf, pci::kBar0, 0x12345678);
  config.write16(bdf, pci::kCommand, 7);
  EXPECT_EQ(config.read32(bdf, pci::kBar0), 0xFFFFFFFFU);
}

void host_bridges_cover_the_card(ContractEnvironment& environment) {
  const auto bdf = *environment.card();
  bool covered = false;
  for (const auto& bridge : environment.platform().pci().host_bridges()) {
    EXPECT_LE(bridge.first_bus, bridge.last_bus);
    covered = covered || (bdf.bus >= bridge.first_bus && bdf.bus <= bridge.last_bus);
  }
  EXPECT_TRUE(covered);
}

void reads_of_all_widths_agree(ContractEnvironment& environment) {
  auto& config = environment.platform().pci();
  const auto bdf = *environment.card();
  EXPECT_EQ(config.read16(bdf, pci::kVendorId), abi::kVendorId);
  for (std::uint32_t offset = 0; offset < 0x40; offset += 4) {
    const auto dword = config.read32(bdf, offset);
    EXPECT_EQ(config.read16(bdf, offset) | std::uint32_t{config.read16(bdf, offset + 2)} << 16,
              dword);
    for (unsigned i = 0; i < 4; ++i) {
      EXPECT_EQ(config.read8(bdf, offset + i), (dword >> 8 * i) & 0xFF);
    }
  }
}

void command_keeps_what_is_written(ContractEnvironment& environment) {
  auto& config = environment.platform().pci();
  const auto bdf = *environment.card();
  for (const std::uint16_t value : {std::uint16_t{6}, std::uint16_t{0}, std::uint16_t{2}}) {
    config.write16(bdf, pci::kCommand, value);
    EXPECT_EQ(config.read16(bdf, pci::kCommand) & 7, value);
  }
}

void reset_clears_command(ContractEnvironment& environment) {
  auto& platform = environment.platform();
  const auto bdf = *environment.card();
  const auto bar0 = platform.pci().read32(bdf, pci::kBar0);
  EXPECT_NE(bar0, 0xFFFFFFFFU);
  platform.pci().write16(bdf, pci::kCommand, 6);
  ASSERT_THAT(platform.reset_function(bdf), IsOk());
  EXPECT_EQ(platform.pci().read16(bdf, pci::kVendorId), abi::kVendorId);
  EXPECT_EQ(platform.pci().read16(bdf, pci::kCommand) & pci::kCommandBusMaster, 0);
}

void reset_of_an_absent_function_fails(ContractEnvironment& environment) {
  EXPECT_THAT(environment.platform().reset_function(environment.absent()),
              FailsWith(ErrorCode::kNotFound));
}

}  // namespace

ContractCases config_cases() {
  return {
      {"AbsentFunctionsReadAllOnes", false, absent_functions_read_all_ones},
      {"WritesToAbsentFunctionsAreDropped", false, writes_to_absent_functions_are_dropped},
      {"HostBridgesCoverTheCard", true, host_bridges_cover_the_card},
      {"ConfigReadsOfAllWidthsAgree", true, reads_of_all_widths_agree},
      {"CommandKeepsWhatIsWritten", true, command_keeps_what_is_written},
      {"ResetClearsCommandAndTheFunctionAnswers", true, reset_clears_command},
      {"ResetOfAnAbsentFunctionFails", false, reset_of_an_absent_function_fails},
  };
}

}  // namespace npu::test
