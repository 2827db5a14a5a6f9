// SPDX-License-Identifier: Apache-2.0
// From the timeline alone a script rebuilds every time and breakdown of the report, on every
// workload.
#include <gmock/gmock.h>

#include <set>
#include <sstream>

#include "tests/system/timeline/traced_run.hpp"

namespace npu::cli {
namespace {

struct Traced {
  const char* name;  // of the case
  const char* workload;
  std::vector<std::string> parameters;
  const char* config = "910b2";
  bool is_compared = true;  // with a run without a timeline: not what takes long
};

// Small sizes, and what changes where the time goes: the ring's place, how to wait.
std::vector<Traced> traced_kernels() {
  return {
      {"dispatch_latency", "dispatch_latency", {"tasks=7"}},
      {"matmul", "matmul", {"m=33", "n=17", "k=65"}},
      {"matmul_of_nothing", "matmul", {"m=0", "n=17", "k=65"}},
      {"matmul_kernel", "matmul_kernel", {"m=33", "n=17", "k=65", "launches=2"}},
      {"vector_add", "vector_add", {"elements=1000", "handshake=memory"}},
      {"kernel_launch", "kernel_launch", {}},
      {"vector_operator", "vector_operator", {"elements=1000"}},
      {"operator", "operator", {"name=splitk_matmul", "shape=33,17,650", "splits=2"}},
      {"graph", "graph", {}},
      {"network",
       "network",
       {"model=/usr/share/libonnx-testdata/data/node/test_gemm_all_attributes/model.onnx",
        "rows=nodes"}},
      {"transformer", "transformer", {"tokens=5", "steps=3"}},
      {"transformer_graph", "transformer", {"tokens=5", "steps=2", "launch=graph"}},
      {"transformer_sampled",
       "transformer",
       {"model=qwen2.5-0.5b", "layers=sampled", "tokens=5", "steps=1", "functional=off"},
       "910b2",
       false},
      {"transformer_on_two_cards",
       "transformer",
       {"tokens=5", "steps=2", "tensor_parallel=2", "overlap=2"},
       "system-2x910b2"},
      {"transformer_by_vector_cores",
       "transformer",
       {"tokens=5", "steps=2", "tensor_parallel=2", "algorithm=aiv", "blocks=64", "launch=graph"},
       "system-2x910b2"},
      {"moe_exchange",
       "moe_exchange",
       {"tokens=5", "hidden=64", "experts=8", "chosen=3", "iterations=2"},
       "system-2x910b2"},
      {"graph_attention", "graph", {"graph=paged_attention", "parameters=batch=2,blocks=2"}}};
}

const std::vector<Traced>& traced() {
  static const std::vector<Traced> kAll = [] {
    std::vector<Traced> all = {
        {"first_tensor", "first_tensor", {"rows=16", "columns=16"}},
        {"enumerate", "enumerate", {}},
        {"dma_latency", "dma_latency", {"sizes=64,64KiB", "iterations=3"}},
        {"dma_latency_host_ring",
         "dma_latency",
         {"sizes=64,1MiB", "iterations=2", "ring=host", "policy=interrupt"}},
        {"dma_latency_adaptive", "dma_latency", {"sizes=4KiB", "iterations=4", "policy=adaptive"}},
        {"dma_bandwidth",
         "dma_bandwidth",
         {"sizes=64KiB", "bytes=256KiB", "depths=2", "streams=2"}},
        {"p2p_bandwidth",
         "p2p_bandwidth",
         {"sizes=16KiB", "bytes=64KiB", "patterns=one_way"},
         "system-2x910b2"},
        {"collective", "collective", {"sizes=64,1MiB", "iterations=2"}, "system-2x910b2"},
        {"ring_pressure", "ring_pressure", {"commands=1000"}},
        {"event_wait", "event_wait", {"targets=5", "streams=1,3", "iterations=3", "warm_up=1"}},
        {"alloc_churn", "alloc_churn", {"steps=200"}},
        {"bar0_trap", "bar0_trap", {"streams=7"}},
        {"identity", "identity", {}},
        {"copy_check", "copy_check", {"largest=4KiB"}},
        {"address_faults", "address_faults", {"kinds=unmapped"}},
        {"compaction",
         "compaction",
         {"running_bytes=128MiB", "running=1", "window=64", "usable_mib=8704"},
         "910b2",
         false},
        {"compaction_random",
         "compaction",
         {"case=random", "rounds=60", "max_size=2GiB", "window=64", "usable_mib=5000",
          "occupancy=98"}},
        {"tlb_sweep",
         "tlb_sweep",
         {"footprints=64MiB", "strides=2MiB", "pages=huge", "warm_up=16", "accesses=17"}},
        {"vmm_map", "vmm_map", {"sizes=2MiB,1GiB"}},
        {"host_memory", "host_memory", {"sizes=4KiB,64KiB", "copiers=2", "bytes=4KiB"}},
        {"svm_fault", "svm_fault", {"faults=2"}},
        {"svm_fault_batch", "svm_fault", {"faults=2", "policy=batch"}},
        {"svm_graph", "svm_graph", {"parameters=pieces=48"}},
        {"svm_oversubscribe", "svm_oversubscribe", {"memory=8", "patterns=random,hot"}},
        {"svm_prefetch", "svm_prefetch", {"pages=3"}},
        {"svm_read_mostly", "svm_read_mostly", {"pages=2", "rounds=2"}},
        {"svm_touch", "svm_touch", {"pages=3", "orders=sequential,random"}},
        {"hbm_replay", "hbm_replay", {"tools=card", "outstanding=1", "requests=100"}},
        {"queue_latency", "queue_latency", {"iterations=3"}},
        {"queue_latency_device",
         "queue_latency",
         {"iterations=2", "queue_memory=device", "policy=interrupt"}},
        {"queue_scaling", "queue_scaling", {"queues=3", "entries=4"}},
        {"queue_oversubscription", "queue_oversubscription", {"entries=2"}},
        {"queue_isolation", "queue_isolation", {"entries=8"}},
        {"stream_overlap", "stream_overlap", {"rounds=2", "size=64KiB"}}};
    const auto kernels = traced_kernels();
    all.insert(all.end(), kernels.begin(), kernels.end());
    return all;
  }();
  return kAll;
}

class Rebuild : public TracedRun, public testing::WithParamInterface<Traced> {};

TEST_P(Rebuild, EveryTimeFromTheTimelineAlone) {
  const auto& each = GetParam();
  // What the driver executes before a slice begins and behind its end is in no slice.
  auto parameters = each.parameters;
  parameters.emplace_back("host.instructions=free");
  run(each.config, each.workload, parameters, {"--trace", "t.json", "--report", "free.json"});
  expect_rebuilt("t.json", "free.json");
  if (!each.is_compared) return;
  run(each.config, each.workload, each.parameters, {"--trace", "t.json", "--report", "with.json"});
  run(each.config, each.workload, each.parameters, {"--report", "without.json"});
  EXPECT_EQ(text("with.json"), text("without.json"));
}

INSTANTIATE_TEST_SUITE_P(Workloads, Rebuild, testing::ValuesIn(traced()),
                         [](const auto& instance) { return std::string(instance.param.name); });

using RebuildList = TracedRun;
TEST_F(RebuildList, HasEveryWorkload) {
  std::set<std::string> listed, here;
  std::istringstream lines(npusim({"list"}).out);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] != ' ') listed.insert(line.substr(0, line.find(' ')));
  }
  for (const auto& each : traced()) here.insert(each.workload);
  // Workloads on several functions or of several clients mark no spans yet: nothing of theirs can
  // be rebuilt. A card that comes back counts its requests anew.
  here.insert({"card_loss", "faults", "soak", "share_fairness", "share_oversubscribe",
               "share_quota", "share_update", "vf_isolation", "vf_share", "vf_templates"});
  EXPECT_EQ(listed, here);
}

// The script looks at what it is given.
using RebuildScript = TracedRun;
TEST_F(RebuildScript, FindsAPicosecond) {
  run("910b2", "dma_latency",
      {"sizes=64", "iterations=1", "directions=d2d", "host.instructions=free"},
      {"--trace", "t.json", "--report", "r.json"});
  const std::string record = ",\"name\":\"host_write\"";
  std::string trace = text("t.json");
  for (auto at = trace.find(record); at != std::string::npos; at = trace.find(record, at + 1)) {
    auto& digit = trace[at - 1];  // of its duration
    digit = digit == '9' ? '8' : static_cast<char>(digit + 1);
  }
  write("t.json", trace);
  const auto result = shell("'" + script() + "' t.json r.json");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, testing::HasSubstr("from the request's slices"));
}

TEST_F(RebuildScript, NamesATimeThatNothingTellsOf) {
  run("910b2", "enumerate", {}, {"--trace", "t.json", "--report", "r.json"});
  shell(
      "sed -i 's/\"enumerate.cards\", \"value\": \\([0-9]*\\), \"unit\": \"\"/"
      "\"enumerate.cards\", \"value\": \\1, \"unit\": \"us\"/' r.json");
  const auto result = shell("'" + script() + "' t.json r.json");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, testing::HasSubstr("enumerate.cards: no measurement tells of it"));
}

}  // namespace
}  // namespace npu::cli
