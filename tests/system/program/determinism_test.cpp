// SPDX-License-Identifier: Apache-2.0
#include "tests/support/folders.hpp"
#include "tests/system/cli/program.hpp"

namespace npu::cli {
namespace {

class Determinism : public Program {
 protected:
  // The report of one run, together with what the program printed.
  std::string run(const std::string& arguments, const std::string& prefix = "",
                  const std::string& suffix = "") {
    const auto result =
        shell("{ " + prefix + "'" + binary_dir() + "/bin/npusim' --config 910b.yaml run " +
              arguments + " --report r.json; code=$?; " + suffix + "exit $code; }");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return text("r.json") + result.out;
  }
};

const char* const kBusyBefore =
    "busy=; for i in 1 2 3 4; do (while :; do :; done) & busy=\"$busy $!\"; done; ";
const char* const kBusyAfter = "kill $busy; ";

TEST_F(Determinism, TheSameRunGivesTheSameBytes) {
  for (const std::string workload :
       {"dma_latency --set sizes=64..16KiB", "event_wait --set targets=5,50 --set streams=1,8",
        "ring_pressure --set commands=20000", "dma_bandwidth --set sizes=1MiB --set bytes=4MiB",
        "first_tensor", "alloc_churn --set steps=2000", "enumerate", "bar0_trap"}) {
    const std::string first = run(workload);
    EXPECT_FALSE(first.empty());
    EXPECT_EQ(run(workload), first) << workload;
  }
}

TEST_F(Determinism, ABusyMachineChangesNothing) {
  const std::string workload = "event_wait --set targets=5,50 --set streams=1,8";
  EXPECT_EQ(run(workload, kBusyBefore, kBusyAfter), run(workload));
}

#ifdef NPU_SCATTERED_HEAP
// Clients, managed memory, many queues, virtual functions. A client with several queues is a
// program of tests/package/acl_sharing_test.sh, under the same heap.
TEST_F(Determinism, WhereTheHeapIsChangesNothing) {
  for (const std::string workload :
       {"share_fairness --set shares=30,70",
        "svm_oversubscribe --set passes=1 --set patterns=random", "stream_overlap", "vf_share",
        "queue_oversubscription --set queues=200"}) {
    const std::string first = run(workload);
    for (const std::string seed : {"1", "2", "3"}) {
      EXPECT_EQ(run(workload, "export SCATTER=" + seed + " LD_PRELOAD=" + binary_dir() +
                                  "/lib/libnpu_scattered_heap.so; "),
                first)
          << workload << ", " << seed;
    }
  }
}
#endif

TEST_F(Determinism, AnotherSeedChurnsOtherSizes) {
  const std::string workload = "alloc_churn --set steps=2000";
  const auto one = run(workload + " --seed 1");
  EXPECT_EQ(run(workload + " --seed 1"), one);
  const auto two = run(workload + " --seed 2");
  EXPECT_NE(two, one);
  EXPECT_NE(two.substr(two.find("metrics")), one.substr(one.find("metrics")))
      << "not just the seed";
}

TEST_F(Determinism, TheSeedChangesTheDataButNotTheTimeOfACopy) {
  const auto latency = [](const std::string& text) {
    const auto begin = text.find("dma.h2d.4KiB.latency_ns");
    return text.substr(begin, text.find('}', begin) - begin);
  };
  const std::string workload = "dma_latency --set sizes=4KiB";
  EXPECT_EQ(latency(run(workload + " --seed 1")), latency(run(workload + " --seed 2")));
}

}  // namespace
}  // namespace npu::cli
