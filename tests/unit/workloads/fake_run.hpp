// SPDX-License-Identifier: Apache-2.0
// Runs a workload on the tests' fake platform.
#pragma once

#include <gtest/gtest.h>

#include <climits>
#include <string>
#include <vector>

#include "npu/abi/registers.hpp"
#include "tests/support/fake/fake_platform.hpp"
#include "workloads/framework/bare_machine.hpp"
#include "workloads/framework/registry.hpp"

namespace npu::workloads {

class WorkloadOnFake : public testing::Test {
 protected:
  WorkloadOnFake() { fake_.fake_pci.add_bridge({0, 0, 0}, 1, 1, kRootPort); }

  Status run(const std::string& name, const std::vector<std::string>& assignments = {}) {
    const auto workload = all_workloads().find(name);
    if (!workload) return forward_error(workload);
    ParameterSet parameters((*workload)->parameters);
    for (const auto& assignment : assignments) {
      if (auto ok = parameters.assign(assignment); !ok) return ok;
    }
    Context context{fake_, parameters, 1, report_, machine_, machine_, {}};
    return (*workload)->run(context);
  }
  std::string metric(const std::string& name) const {
    const auto* found = report_.find(name);
    return found ? found->value.text() : "no such metric";
  }
  // Changes the source of a copy out of device memory behind everybody's back: of the first one
  // that is the nth command or later.
  void corrupt_source(int nth) {
    card_.behaviour.command_latency = [this, nth, seen = 0](const abi::DmaEntry& entry) mutable {
      const bool from_host =
          entry.opcode == static_cast<std::uint8_t>(abi::DmaOpcode::kHostToDevice);
      if (++seen < nth || from_host) return 100_ns;
      const std::uint64_t garbage = 0xBAD0BAD0BAD0BAD0;
      const auto place = card_.mmu().translate(kDefaultVmid, entry.source(), false);
      card_.memory().write(place.address, &garbage, sizeof garbage);
      seen = INT_MIN;
      return 100_ns;
    };
  }

  // A second card, each with a link to the other.
  void add_peers() {
    card_.set_register(abi::HccsLinks::kOffset, 8, 0b10);
    fake_.fake_pci.add_bridge({0, 1, 0}, 2, 2, kRootPort);
    test::FakeCardConfig config;
    config.bdf.bus = 2;
    config.index = 1;
    config.hccs_links = 0b01;
    fake_.add_card(config);
  }

  static constexpr unsigned kDefaultVmid = 1;
  static constexpr unsigned kRootPort = 4;  // device/port type, PCIe Base 4.0, 7.5.3.2

  struct Silent : BareMachine {  // it could have events, and emits none that a model would
    bool has_events() const override { return true; }
  };
  Silent machine_;
  test::FakePlatform fake_;
  test::FakeCard& card_ = fake_.add_card();
  Report report_;
};

}  // namespace npu::workloads
