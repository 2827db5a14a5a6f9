// SPDX-License-Identifier: Apache-2.0
// Every workload runs on every kind of card, each with the smallest sizes that still show what it
// shows; none needs parameters to fit the card.
#include <map>
#include <set>

#include "tests/system/workloads/simulated_run.hpp"
#include "tools/reports/report_json.hpp"
#include "tools/reports/report_reader.hpp"
#include "tools/reports/report_text.hpp"

namespace npu::workloads {
namespace {

using Parameters = std::vector<std::string>;

const std::map<std::string, Parameters>& small_sizes() {
  static const std::map<std::string, Parameters> kSizes = {
      {"first_tensor", {"rows=16", "columns=16"}},
      {"enumerate", {}},
      {"dma_latency", {"sizes=64", "iterations=1"}},
      {"dma_bandwidth", {"sizes=64KiB", "bytes=64KiB", "depths=1", "streams=1"}},
      {"p2p_bandwidth", {"sizes=16KiB", "bytes=64KiB", "patterns=one_way"}},
      {"collective", {"sizes=16KiB", "iterations=1", "algorithm=automatic,aiv"}},
      {"moe_exchange", {"tokens=3", "hidden=64", "experts=8", "chosen=3", "iterations=1"}},
      {"ring_pressure", {"commands=10000"}},
      {"event_wait", {"targets=5", "streams=1", "iterations=2", "warm_up=1"}},
      {"alloc_churn", {"steps=200"}},
      {"bar0_trap", {"streams=4"}},
      {"identity", {}},
      {"copy_check", {"largest=64KiB"}},
      {"address_faults", {}},
      {"card_loss", {"copies=4"}},
      {"faults", {"instants=1", "kinds=lost_interrupt,lost_completion"}},
      {"soak", {"commands=5000", "faults=3"}},
      {"compaction", {"running_bytes=128MiB", "running=1"}},
      {"host_memory", {"sizes=4KiB", "copiers=2", "bytes=4KiB"}},
      {"svm_fault", {"faults=1"}},
      {"svm_graph", {"parameters=pieces=32"}},
      {"svm_oversubscribe", {"memory=8", "patterns=cyclic", "passes=1"}},
      {"svm_prefetch", {"pages=2"}},
      {"svm_read_mostly", {"pages=2", "rounds=2"}},
      {"svm_touch", {"pages=2", "orders=sequential"}},
      {"tlb_sweep", {"warm_up=16", "accesses=16"}},
      {"vmm_map", {"sizes=2MiB"}},
      {"hbm_replay", {"tools=card", "outstanding=1", "requests=100"}},
      {"queue_latency", {"iterations=1"}},
      {"queue_scaling", {"queues=2", "entries=2"}},
      {"queue_oversubscription", {"entries=2"}},
      {"queue_isolation", {"entries=8"}},
      {"stream_overlap", {"rounds=1", "size=64KiB"}},
      {"dispatch_latency", {"tasks=4"}},
      {"matmul", {"m=33", "n=17", "k=65"}},
      {"matmul_kernel", {"m=33", "n=17", "k=65"}},
      {"kernel_launch", {}},
      {"network",
       {"model=/usr/share/libonnx-testdata/data/node/test_gemm_all_attributes/model.onnx"}},
      {"transformer", {"tokens=5", "steps=2"}},
      {"vector_add", {"elements=1000"}},
      {"vector_operator", {"elements=1000"}},
      {"operator", {"shape=33,17,65"}},
      {"share_fairness", {"windows=2"}},
      {"share_oversubscribe", {"quotas=50,100", "passes=1"}},
      {"share_quota", {}},
      {"share_update", {"windows=2"}},
      {"vf_isolation", {}},
      {"vf_share", {"time_us=50"}},
      {"vf_templates", {}},
      {"graph", {}}};
  return kSizes;
}

using Case = std::tuple<const char*, std::string>;

class EveryWorkload : public WorkloadOnSimulator, public testing::WithParamInterface<Case> {
 protected:
  // The report that was written prints the same bytes again.
  void expect_reads_back() const {
    const std::string json = to_json(report_);
    const auto again = reports::read_report(json);
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ(to_json(*again), json);
    EXPECT_EQ(to_text(*again), to_text(report_));
  }
};

// A unit of time in ps; 0: it is none.
std::int64_t ps_of(const std::string& unit) {
  static const std::map<std::string, std::int64_t> kUnits{
      {"ps", 1}, {"ns", 1000}, {"us", 1'000'000}, {"ms", 1'000'000'000}};
  const auto found = kUnits.find(unit);
  return found == kUnits.end() ? 0 : found->second;
}

// In ps; of what is no time nothing.
std::int64_t time_of(const Metric& metric) {
  auto unit = ps_of(metric.unit);
  auto decimals = metric.value.decimals();
  for (; decimals > 0 && unit >= 10; --decimals) unit /= 10;
  auto ps = metric.value.value() * unit;
  for (; decimals > 0; --decimals) ps /= 10;
  return ps;
}

void expect_within_the_run(const Report& report, Instant last_measured) {
  EXPECT_LE(last_measured.since_power_up(), report.simulated);
  for (const auto& metric : report.metrics()) {
    EXPECT_LE(time_of(metric), report.simulated.count()) << metric.name;
  }
}

// PREFIX.breakdown.* and PREFIX.host.* add up to what they are the parts of.
void expect_sums(const Report& report) {
  const std::pair<std::string, std::string> wholes[] = {{".breakdown.", ".call_ns"},
                                                        {".breakdown.", ".latency_ns"},
                                                        {".breakdown.", ".run_us"},
                                                        {".host.", ".host_to_host_us"}};
  std::set<std::string> done;
  for (const auto& [inner, whole] : wholes) {
    std::map<std::string, std::int64_t> sums;
    for (const auto& metric : report.metrics()) {
      const auto at = metric.name.find(inner);
      if (at != std::string::npos) sums[metric.name.substr(0, at)] += time_of(metric);
    }
    for (const auto& [prefix, sum] : sums) {
      const auto* const metric = report.find(prefix + whole);
      if (metric == nullptr || !done.insert(prefix + inner).second) continue;
      EXPECT_EQ(sum, time_of(*metric)) << metric->name;
    }
  }
}

TEST_P(EveryWorkload, RunsAndHasMetrics) {
  const auto& [config, workload] = GetParam();
  run(workload, small_sizes().at(workload), {}, config);
  EXPECT_FALSE(report_.metrics().empty());
  expect_reads_back();
  if (workload == "hbm_replay") return;  // its memories are not the card's
  EXPECT_GT(report_.simulated.count(), 0);
  expect_within_the_run(report_, measured_.last);
  expect_sums(report_);
}

const std::set<std::string> kOfTwoCards = {"collective", "moe_exchange", "p2p_bandwidth"};

std::vector<std::string> of_one_card() {
  std::vector<std::string> names;
  for (const auto& [name, parameters] : small_sizes()) {
    if (kOfTwoCards.count(name) == 0) names.push_back(name);
  }
  return names;
}

class PeerWorkload : public WorkloadOnSimulator, public testing::WithParamInterface<std::string> {};

TEST_P(PeerWorkload, OfTwoCardsRunsOnTwo) {
  run(GetParam(), small_sizes().at(GetParam()), {"core.hazards=fail"}, "system-2x910b2.yaml");
  EXPECT_FALSE(report_.metrics().empty());
}

INSTANTIATE_TEST_SUITE_P(Pairs, PeerWorkload, testing::ValuesIn(kOfTwoCards),
                         [](const auto& instance) { return instance.param; });

// 910a: 32 GiB; 910b: coupled cores; 910b2: split ones, an odd size of memory; 950pr: 128 GiB.
INSTANTIATE_TEST_SUITE_P(Cards, EveryWorkload,
                         testing::Combine(testing::Values("910a.yaml", "910b.yaml", "910b2.yaml",
                                                          "950pr.yaml"),
                                          testing::ValuesIn(of_one_card())),
                         [](const auto& instance) {
                           const std::string config = std::get<0>(instance.param);
                           return config.substr(0, config.find('.')) + "_" +
                                  std::get<1>(instance.param);
                         });

TEST(WorkloadList, HasASmallSizeForEach) {
  std::set<std::string> registered, small;
  for (const auto& workload : all_workloads().all()) registered.insert(workload.name);
  for (const auto& [name, parameters] : small_sizes()) small.insert(name);
  EXPECT_EQ(registered, small);
}

}  // namespace
}  // namespace npu::workloads
