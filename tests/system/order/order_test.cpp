// SPDX-License-Identifier: Apache-2.0
// Driver, firmware and kernels are right in every legal order that is tried (order.rule=weakest).
// Every byte is compared by the workloads.
#include "tests/system/order/order_runs.hpp"
#include "tests/system/support/child_process.hpp"
#include "tools/reports/report_json.hpp"

namespace npu::test {
namespace {

void expect_right(const std::vector<OrderCase>& cases) {
  for (const auto& what : cases) {
    for (unsigned seed = 1; seed <= order_seeds(3); ++seed) {
      EXPECT_EQ(order_run(what, seed).outcome, "")
          << what.workload << " on " << what.config << ", seed " << seed;
    }
  }
}

TEST(WeakestOrder, CopiesAndTheirFaultsAreRight) {
  expect_right({{"dma_latency", {"sizes=64,4KiB,64KiB", "iterations=3"}},
                {"dma_latency", {"sizes=64,4KiB", "iterations=3", "ring=host"}},
                {"dma_latency", {"sizes=4KiB", "iterations=3", "policy=interrupt"}},
                {"dma_latency", {"sizes=4KiB", "iterations=3", "policy=adaptive"}, "950pr.yaml"},
                {"address_faults", {}}});
}

TEST(WeakestOrder, ComputeQueuesAreRight) {
  expect_right({{"queue_latency", {}},
                {"queue_latency", {"queue_memory=device"}},
                {"kernel_launch", {}},
                {"vector_add", {}, "950pr.yaml"}});
}

TEST(WeakestOrder, TaskGraphsAreRightByBothHandshakes) {
  expect_right({{"graph", {shipped_graph("vector_diamond")}},
                {"graph", {shipped_graph("vector_diamond"), "handshake=memory"}},
                {"graph", {shipped_graph("mixed_blocks")}, "950pr.yaml"},
                {"graph", {written_predicate()}},
                {"graph", {written_predicate(), "handshake=memory"}, "910.yaml"},
                {"matmul", {"m=128", "n=128", "k=128"}}});
}

TEST(WeakestOrder, ManagedMemoryIsRightWhoeverServesItsFaults) {
  expect_right({{"svm_touch", {"pages=4", "access=write"}},
                {"svm_touch", {"pages=4", "policy=batch"}},
                {"svm_touch", {"pages=4", "policy=message"}, "950pr.yaml"},
                {"svm_oversubscribe", {"passes=2", "patterns=cyclic", "memory=8"}}});
}

std::string report_by(const std::vector<std::string>& keys) {
  return text_of_process([&] {
    Machine machine(keys, "910b2.yaml");
    return to_json(machine.workload("dma_latency", {"sizes=4KiB", "iterations=3"}));
  });
}

TEST(WeakestOrder, FollowsFromItsSeed) {
  const auto fifth = report_by({"order.rule=weakest", "order.seed=5"});
  EXPECT_EQ(report_by({"order.rule=weakest", "order.seed=5"}), fifth);
  EXPECT_NE(report_by({"order.rule=weakest", "order.seed=6"}), fifth);
  EXPECT_EQ(report_by({"order.seed=5"}), report_by({})) << "the seed is of the rule weakest";
}

}  // namespace
}  // namespace npu::test
