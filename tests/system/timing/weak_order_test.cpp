// SPDX-License-Identifier: Apache-2.0
// The driver on a host whose stores leave in any legal order until a barrier: right with its
// barriers, in every order that is tried; without them it loses data, and the barrier that is
// missing is named.
#include <gmock/gmock.h>

#include "npu/testing/without_barriers.hpp"
#include "tests/support/folders.hpp"
#include "tests/system/support/child_process.hpp"
#include "tests/system/support/machine.hpp"
#include "tools/reports/report_json.hpp"

namespace npu::test {
namespace {

using ::testing::HasSubstr;
using testkit::WithoutBarriers;

constexpr unsigned kSeeds = 20;

struct Work {
  std::string workload;
  std::vector<std::string> parameters;
};

// One workload behind the other on one machine, with the counters of all; how it ended.
reports::Report run(const std::vector<Work>& all, unsigned seed, bool barriers) {
  Machine machine({"cpu.order=weak", "cpu.order_seed=" + std::to_string(seed)});
  reports::Report report;
  for (const auto& work : all) {
    const auto& found = **workloads::all_workloads().find(work.workload);
    workloads::ParameterSet parameters(found.parameters);
    for (const auto& value : work.parameters) EXPECT_TRUE(parameters.assign(value)) << value;
    Status status;
    machine.run([&](platform::Platform& host) {
      WithoutBarriers without(host, WithoutBarriers::Without::kBoth);
      workloads::Context context{
          barriers ? host : without, parameters, seed, report, machine.view, machine.view, {}};
      status = found.run(context);
    });
    if (!status) report.outcome = work.workload + ": " + status.error().message();
    if (!status) break;
  }
  add_counters(report, machine.view);
  return report;
}

reports::Report run_apart(const std::vector<Work>& all, unsigned seed, bool barriers) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  return report_of_process([&] { return to_json(run(all, seed, barriers)); });
}

std::int64_t overtaken(const reports::Report& report) {
  for (const auto& counter : report.counters()) {
    if (counter.name == "host.stores_overtaken") return counter.value.value();
  }
  ADD_FAILURE() << "no counter host.stores_overtaken";
  return -1;
}

std::string notes_of(const reports::Report& report) {
  std::string notes;
  for (const auto& note : report.notes()) notes += note + "\n";
  return notes;
}

// Every byte is compared by the workload.
const Work kCopies{"dma_latency", {"sizes=64,4KiB,64KiB", "iterations=3"}};
const Work kHostRing{"dma_latency", {"sizes=64,4KiB", "iterations=3", "ring=host"}};
const Work kQueues{"queue_latency", {}};
const Work kDeviceQueues{"queue_latency", {"queue_memory=device"}};
const Work kGraph{"graph", {"graph=" + source_dir() + "/workloads/graphs/vector_diamond.yaml"}};
const Work kManaged{"svm_touch", {"pages=4", "access=write"}};
const Work kManagedByDriver{"svm_touch", {"pages=4", "policy=batch"}};

void expect_right(const std::vector<Work>& all) {
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    const auto report = run_apart(all, seed, true);
    EXPECT_EQ(report.outcome, reports::kComplete) << "seed " << seed;
    EXPECT_EQ(overtaken(report), 0) << "seed " << seed << "\n" << notes_of(report);
  }
}

TEST(WeakOrder, CopiesAndQueuesAreRightInTwentyOrders) {
  expect_right({kCopies, kHostRing, kQueues, kDeviceQueues});
}

TEST(WeakOrder, TaskGraphsAndManagedMemoryAreRightInTwentyOrders) {
  expect_right({kGraph, kManaged, kManagedByDriver});
}

// How many of the orders end with a fault, a timeout or wrong data.
unsigned lost(const Work& work, const std::string& named) {
  unsigned failed = 0;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    const auto report = run_apart({work}, seed, false);
    if (report.outcome != reports::kComplete) ++failed;
    EXPECT_GT(overtaken(report), 0) << "seed " << seed;
    EXPECT_THAT(notes_of(report), HasSubstr("a write barrier is missing: ")) << "seed " << seed;
    EXPECT_THAT(notes_of(report), HasSubstr(named)) << "seed " << seed;
  }
  return failed;
}

TEST(WeakOrder, ADriverWithoutBarriersLosesCopiesAndIsNamed) {
  EXPECT_GT(lost(kCopies, "DMA_DOORBELL (01:00.0 BAR0+0x1010) overtook "), kSeeds / 2);
}

TEST(WeakOrder, ADriverWithoutBarriersLosesCopiesOfARingInHostMemoryAndIsNamed) {
  EXPECT_GT(lost(kHostRing, " to host memory at bus address 0x"), kSeeds / 2);
}

TEST(WeakOrder, ADriverWithoutBarriersLosesEntriesOfQueuesAndIsNamed) {
  EXPECT_GT(lost(kDeviceQueues, "no write barrier between"), kSeeds / 2);
}

TEST(WeakOrder, TheSameSeedIsTheSameReport) {
  EXPECT_EQ(to_json(run_apart({kCopies}, 5, false)), to_json(run_apart({kCopies}, 5, false)));
  EXPECT_NE(to_json(run_apart({kCopies}, 5, true)), to_json(run_apart({kCopies}, 6, true)));
}

}  // namespace
}  // namespace npu::test
