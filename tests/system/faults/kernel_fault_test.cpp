// SPDX-License-Identifier: Apache-2.0
// Programs that run kernels, with the card taken from them at many instants: they end with an error
// or without one, never the simulator with them, and the card then runs them as if nothing had
// been. NPU_FAULT_INSTANTS=1000 for more of them.
#include <cstdlib>

#include "npu/abi/pci.hpp"
#include "tests/support/folders.hpp"
#include "tests/system/faults/fault_bench.hpp"

namespace npu::test {
namespace {

enum class Loss : std::uint8_t { kFunctionReset, kLinkDown, kBusMaster };

struct Work {
  const char* name;
  const char* config;
  const char* workload;
  std::vector<std::string> parameters;
  friend std::ostream& operator<<(std::ostream& out, const Work& work) { return out << work.name; }
};

std::string graph(const char* name) {
  return std::string("graph=") + source_dir() + "/workloads/graphs/" + name + ".yaml";
}

class KernelFaults : public testing::TestWithParam<Work> {
 protected:
  static unsigned instants() {
    const char* const wanted = std::getenv("NPU_FAULT_INSTANTS");
    return wanted == nullptr ? 6 : static_cast<unsigned>(std::atoi(wanted));
  }
  Status work(platform::Platform& host) {
    reports::Report report;
    const auto& found = **workloads::all_workloads().find(GetParam().workload);
    workloads::ParameterSet parameters(found.parameters);
    for (const auto& value : GetParam().parameters) EXPECT_TRUE(parameters.assign(value));
    workloads::Context context{host, parameters, 1, report, machine_.view, machine_.view, {}};
    return found.run(context);
  }
  void expect_works(platform::Platform& host) {
    const Status done = work(host);
    EXPECT_TRUE(done) << done.error().message();
  }
  void lose(platform::Platform& host, Loss loss) {
    switch (loss) {
      case Loss::kFunctionReset:
        return static_cast<void>(host.reset_function(card_));
      case Loss::kLinkDown:
        return machine_.system.fabric().link(0).set_down(true);
      case Loss::kBusMaster:
        return set_bus_master(host, false);
    }
  }
  // A card that was reset is left alone for 100 ms (PCIe 6.6.1).
  void find_again(platform::Platform& host, Loss loss) {
    if (loss == Loss::kLinkDown) machine_.system.fabric().link(0).set_down(false);
    if (loss == Loss::kBusMaster) set_bus_master(host, true);
    host.clock().sleep_until(host.clock().now() + 100_ms);
  }
  void set_bus_master(platform::Platform& host, bool on) const {
    const auto command = host.pci().read(card_, abi::pci::kCommand, 2);
    const std::uint32_t bit = abi::pci::kCommandBusMaster;
    host.pci().write(card_, abi::pci::kCommand, 2, on ? command | bit : command & ~bit);
  }
  // From when the driver looks for the card until the last result is there.
  void lose_at_instants(platform::Platform& host, Loss loss) {
    card_ = open_card(host)->info().bdf();
    const auto begin = host.clock().now();
    expect_works(host);
    const auto whole = host.clock().now() - begin;
    for (unsigned i = 0; i <= instants() && !HasFailure(); ++i) {
      SCOPED_TRACE(i);
      const auto when = host.clock().now() + Picoseconds(whole.count() / instants() * i);
      const auto task = must(host.tasks().spawn("loss", [&] {
        host.clock().sleep_until(when);
        lose(host, loss);
      }));
      static_cast<void>(work(host));  // whatever it says
      task->join();
      find_again(host, loss);
      expect_works(host);
    }
  }

  Machine machine_{{}, GetParam().config};
  platform::Bdf card_;
};

TEST_P(KernelFaults, AFunctionLevelReset) {
  machine_.run([this](auto& host) { lose_at_instants(host, Loss::kFunctionReset); });
}
TEST_P(KernelFaults, ALinkThatGoesDown) {
  machine_.run([this](auto& host) { lose_at_instants(host, Loss::kLinkDown); });
}
TEST_P(KernelFaults, ABusMasterThatIsSwitchedOff) {
  machine_.run([this](auto& host) { lose_at_instants(host, Loss::kBusMaster); });
}

INSTANTIATE_TEST_SUITE_P(
    All, KernelFaults,
    testing::Values(
        Work{"VectorAdd", "910b2.yaml", "vector_add", {"elements=100000"}},
        Work{"Matmul", "910b2.yaml", "matmul", {"m=256", "n=256", "k=256"}},
        Work{"Operator", "910b2.yaml", "vector_operator", {"elements=100000"}},
        Work{"Attention",
             "910b2.yaml",
             "graph",
             {graph("paged_attention"), "parameters=batch=1,blocks=8,pages=8"}},
        Work{"Mixed", "910b2.yaml", "graph", {graph("mixed_blocks"), "parameters=rows=64"}},
        Work{"MixedOnCoupledCores",
             "910b.yaml",
             "graph",
             {graph("mixed_blocks"), "parameters=rows=64"}},
        Work{
            "MemoryHandshake", "910b.yaml", "vector_add", {"elements=100000", "handshake=memory"}}),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace npu::test
