// SPDX-License-Identifier: Apache-2.0
// The card is taken from a driver that is opening it, at many instants from the scan to the upload
// of programs. That opening may fail; the next one works. NPU_FAULT_INSTANTS=1000 for more of them.
#include <cstdlib>

#include "npu/abi/pci.hpp"
#include "npu/driver/device_context.hpp"
#include "tests/system/faults/fault_bench.hpp"
#include "workloads/programs/support/runtime_session.hpp"

namespace npu::test {
namespace {

namespace pci = abi::pci;

enum class Taken : std::uint8_t { kFunctionReset, kLinkDown, kBusMaster, kPowerState };

struct Taking {
  const char* name;
  Taken what;
  Picoseconds lasting;
  const char* flr_time_us = "1000";
  friend std::ostream& operator<<(std::ostream& out, const Taking& it) { return out << it.name; }
};

class OpeningFaults : public testing::TestWithParam<Taking> {
 protected:
  static unsigned instants() {
    const char* const wanted = std::getenv("NPU_FAULT_INSTANTS");
    return wanted == nullptr ? 20 : static_cast<unsigned>(std::atoi(wanted));
  }

  // Scan, card, process, queues, firmware, a kernel, a stream; bytes there and back.
  Status opening(platform::Platform& host) {
    reports::Report report;
    const workloads::ParameterSet parameters(
        (**workloads::all_workloads().find("vector_operator")).parameters);
    workloads::Context context{host, parameters, 1, report, machine_.view, machine_.view, {}};
    auto session = workloads::RuntimeSession::open(context, {"elementwise"});
    if (!session) return forward_error(session);
    auto& runtime = (*session)->device();
    const auto memory = runtime.allocate(4096);
    if (!memory) return forward_error(memory);
    std::vector<std::byte> there(4096, std::byte(++value_)), back(4096);
    if (auto ok = runtime.copy_to_device(*memory, {there.data(), there.size()}); !ok) return ok;
    if (auto ok = runtime.copy_from_device({back.data(), back.size()}, *memory); !ok) return ok;
    EXPECT_EQ(there, back);
    if (auto ok = copy_by_stream(host, runtime.device()); !ok) return ok;
    return (*session)->close();
  }
  static Status copy_by_stream(platform::Platform& host, driver::Device& device) {
    const auto stream = device.create_stream();
    if (!stream) return forward_error(stream);
    const auto memory = device.allocate(4096);
    if (!memory) return forward_error(memory);
    const auto buffer = device.allocate_host(4096);
    if (!buffer) return forward_error(buffer);
    return device.copy(*stream, DmaCommand::host_to_device((*buffer)->bus(), memory->address, 4096),
                       WaitPolicy::kAdaptive, host.clock().now() + 1_s);
  }

  void take(platform::Platform& host, bool away) {
    auto& config = host.pci();
    switch (GetParam().what) {
      case Taken::kFunctionReset:
        if (away) static_cast<void>(host.reset_function(card_));
        return;
      case Taken::kLinkDown:
        return machine_.system.fabric().link(0).set_down(away);
      case Taken::kBusMaster: {
        const std::uint32_t bit = pci::kCommandBusMaster;
        const auto command = config.read16(card_, pci::kCommand);
        return config.write(card_, pci::kCommand, 2, away ? command & ~bit : command | bit);
      }
      case Taken::kPowerState:
        return config.write(card_, power_ + 4, 2, away ? 3 : 0);
    }
  }
  // Where the card and its power state are, and how long it takes to open it.
  void learn(platform::Platform& host) {
    const auto begin = host.clock().now();
    card_ = open_card(host)->info().bdf();
    open_ = host.clock().now() - begin;
    power_ = host.pci().read(card_, pci::kCapabilityPointer, 1);
    while (host.pci().read(card_, power_, 1) != pci::kCapPowerManagement) {
      power_ = host.pci().read(card_, power_ + 1, 1);
    }
  }
  void expect_opens(platform::Platform& host) {
    const Status done = opening(host);
    EXPECT_TRUE(done) << done.error().message();
  }
  // Whatever the opening says. Who has lost a card leaves it alone for 100 ms (PCIe 6.6.1).
  void take_after(platform::Platform& host, Picoseconds after) {
    const auto when = host.clock().now() + after;
    const auto task = must(host.tasks().spawn("taking", [&] {
      host.clock().sleep_until(when);
      take(host, true);
      host.clock().sleep_until(host.clock().now() + GetParam().lasting);
      take(host, false);
    }));
    static_cast<void>(opening(host));
    task->join();
    host.clock().sleep_until(host.clock().now() + 100_ms);
  }

  Machine machine_{{std::string("endpoint.flr_time_us=") + GetParam().flr_time_us}, "910b2.yaml"};
  platform::Bdf card_;
  std::uint32_t power_ = 0;
  Picoseconds open_;
  unsigned value_ = 0;
};

TEST_P(OpeningFaults, TheNextOpeningWorks) {
  machine_.run([this](platform::Platform& host) {
    learn(host);
    const auto begin = host.clock().now();
    expect_opens(host);
    const auto whole = host.clock().now() - begin;
    for (unsigned i = 0; i <= instants() && !HasFailure(); ++i) {
      SCOPED_TRACE(i);
      // Most of the time goes into uploads, most of the steps are before.
      const auto range = i % 2 == 0 ? open_ : whole;
      take_after(host, Picoseconds(range.count() / instants() * i));
      expect_opens(host);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(
    All, OpeningFaults,
    testing::Values(Taking{"FunctionReset", Taken::kFunctionReset, {}},
                    Taking{"FunctionResetAtOnce", Taken::kFunctionReset, {}, "0"},
                    Taking{"FunctionResetInAMoment", Taken::kFunctionReset, {}, "2"},
                    Taking{"FunctionResetInFull", Taken::kFunctionReset, {}, "100000"},
                    Taking{"LinkDown", Taken::kLinkDown, 20_s},
                    Taking{"LinkDownForAMoment", Taken::kLinkDown, 1_us},
                    Taking{"BusMasterOff", Taken::kBusMaster, 20_s},
                    Taking{"BusMasterOffForAMoment", Taken::kBusMaster, 5_us},
                    Taking{"D3", Taken::kPowerState, 20_s},
                    Taking{"D3ForAMoment", Taken::kPowerState, 5_us}),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace npu::test
