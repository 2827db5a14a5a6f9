// SPDX-License-Identifier: Apache-2.0
// What the models count is what they emit.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "tests/support/folders.hpp"
#include "tests/system/support/machine.hpp"

namespace npu::test {
namespace {

using platform::Activity;

class Sums : public platform::TraceSink {
 public:
  void on_event(const platform::TraceEvent& event) override {
    ++count[event.activity];
    bytes[event.activity] += event.bytes;
    detail[event.activity] += event.detail;
    low[event.activity] += event.detail & UINT32_MAX;
    high[event.activity] += event.detail >> 32;
    if (event.activity == Activity::kTranslation) hits += event.detail >> 63;
  }
  std::map<Activity, std::uint64_t> count, bytes, detail;
  std::map<Activity, std::uint64_t> low, high;  // halves of the detail
  std::uint64_t hits = 0;                       // of the TLB
};

using Parameters = std::vector<std::string>;

struct Run {
  std::string workload;
  Parameters parameters;
};

std::string page() {
  return file_text(source_dir() + "/docs/reports.md");
}

// Of `text`, what stands in backquotes.
std::set<std::string> quoted(const std::string& text) {
  std::set<std::string> all;
  for (auto at = text.find('`'); at != std::string::npos; at = text.find('`', at + 1)) {
    const auto end = text.find('`', at + 1);
    all.insert(text.substr(at + 1, end - at - 1));
    at = end;
  }
  return all;
}

// Those of card 0 and of its link to card 1 stand for all.
std::vector<workloads::RunCounter> rows_of_two_cards() {
  auto rows = Machine({}, "system-2x910b2.yaml").view.counters();
  rows.erase(std::remove_if(rows.begin(), rows.end(),
                            [](const auto& row) { return row.name.rfind("card1.", 0) == 0; }),
             rows.end());
  return rows;
}

class Counters : public testing::TestWithParam<Run> {
 protected:
  void SetUp() override {
    const workloads::TraceSession session(machine_.view, sums_);
    report_ = machine_.workload(GetParam().workload, GetParam().parameters);
  }
  std::uint64_t counter(const std::string& name) const {
    const auto* found = report_.find_counter(name);
    if (found == nullptr) ADD_FAILURE() << "no counter " << name;
    return found == nullptr ? 0 : static_cast<std::uint64_t>(found->value.value());
  }

  Machine machine_;
  Sums sums_;
  reports::Report report_;
};

TEST_P(Counters, AreTheSumsOfTheEvents) {
  EXPECT_EQ(counter("host.mmio_reads"), sums_.count[Activity::kMmioRead]);
  EXPECT_EQ(counter("host.mmio_writes"), sums_.count[Activity::kMmioWrite]);
  EXPECT_EQ(counter("host.config_reads") + counter("host.config_writes"),
            sums_.count[Activity::kConfigAccess]);
  EXPECT_EQ(counter("host.interrupts"), sums_.count[Activity::kInterrupt]);
  // To sleep and back.
  EXPECT_EQ(2 * counter("host.context_switches"), sums_.count[Activity::kContextSwitch]);
  EXPECT_EQ(counter("host.write_barriers") + counter("host.read_barriers"),
            sums_.count[Activity::kBarrier]);
  EXPECT_EQ(counter("host.read_barriers"), sums_.detail[Activity::kBarrier]);
  EXPECT_EQ(counter("host.polls"), sums_.detail[Activity::kPoll]);
  EXPECT_EQ(counter("host.poll_calls"), sums_.count[Activity::kPoll]);
  EXPECT_EQ(counter("card0.dma.ring_entries"), sums_.detail[Activity::kDescriptorFetch]);
  EXPECT_EQ(counter("card0.dma.commands"), sums_.count[Activity::kCommand]);
  EXPECT_EQ(counter("card0.queues.entries"), sums_.count[Activity::kQueueCommand]);
  EXPECT_EQ(counter("card0.mmu.page_walks"), sums_.count[Activity::kPageWalk]);
  EXPECT_EQ(counter("card0.cores.instructions"), sums_.count[Activity::kPipe]);
  EXPECT_EQ(counter("card0.link.down.bytes") + counter("card0.link.up.bytes"),
            sums_.bytes[Activity::kTlp]);
  EXPECT_GE(counter("card0.hbm.bytes_read"), sums_.bytes[Activity::kHbmRead]);
  EXPECT_GE(counter("card0.hbm.bytes_written"), sums_.bytes[Activity::kHbmWrite]);
}

TEST_P(Counters, OfCachesAreTheSumsOfTheirEvents) {
  EXPECT_EQ(counter("card0.mmu.tlb_hits"), sums_.hits);
  EXPECT_EQ(counter("card0.mmu.tlb_misses"), sums_.count[Activity::kTranslation] - sums_.hits);
  EXPECT_EQ(counter("card0.l2.bytes_read"), sums_.bytes[Activity::kL2Read]);
  EXPECT_EQ(counter("card0.l2.bytes_written"), sums_.bytes[Activity::kL2Write]);
  EXPECT_EQ(counter("card0.l2.hits"), sums_.low[Activity::kL2Read] + sums_.low[Activity::kL2Write]);
  EXPECT_EQ(counter("card0.l2.misses"),
            sums_.high[Activity::kL2Read] + sums_.high[Activity::kL2Write]);
  EXPECT_EQ(counter("card0.l2.write_backs"), sums_.low[Activity::kL2WriteBack]);
}

TEST_P(Counters, OfOneThingAddUp) {
  EXPECT_EQ(counter("host.mmio_reads"),
            counter("host.mmio_reads_bar0") + counter("host.mmio_reads_bar2"));
  EXPECT_EQ(counter("host.mmio_writes"),
            counter("host.mmio_writes_bar0") + counter("host.mmio_writes_bar2"));
  EXPECT_EQ(counter("host.submissions"),
            counter("card0.dma.ring_entries") + counter("card0.queues.entries"));
  EXPECT_EQ(counter("card0.hbm.bursts_read") + counter("card0.hbm.bursts_written"),
            counter("card0.hbm.row_hits") + counter("card0.hbm.row_misses"));
  EXPECT_GT(counter("simulator.events"), 0U);
}

TEST_P(Counters, AreAllInTheDocumentation) {
  const auto text = page();
  for (const auto& each : report_.counters()) {
    const std::string base = each.name.substr(0, each.name.find("_per_submission"));
    EXPECT_NE(text.find("`" + base + "`"), std::string::npos) << each.name;
  }
}

TEST_P(Counters, AreTheRowsOfTheirTable) {
  std::vector<std::string> rows, reported;
  for (const auto& row : machine_.view.counters()) {
    if (!row.value) continue;
    rows.push_back(row.name + " " + row.unit);
    if (row.per_submission) rows.push_back(row.name + "_per_submission ");
  }
  for (const auto& each : report_.counters()) reported.push_back(each.name + " " + each.unit);
  EXPECT_EQ(reported, rows);
}

INSTANTIATE_TEST_SUITE_P(
    Runs, Counters,
    testing::Values(Run{"dma_latency", {"sizes=64,1MiB", "iterations=3"}},
                    Run{"event_wait", {"targets=5", "streams=1", "iterations=2", "warm_up=1"}},
                    Run{"queue_latency", {"iterations=2"}}, Run{"vmm_map", {"sizes=2MiB"}},
                    Run{"matmul", {"m=33", "n=17", "k=65"}}, Run{"dispatch_latency", {"tasks=20"}}),
    [](const auto& instance) { return instance.param.workload; });

TEST(CountersPage, HasTheRowsInItsTable) {
  std::set<std::string> rows, documented;
  for (const auto& row : rows_of_two_cards()) rows.insert(row.name);
  const auto text = page();
  const auto begin = text.find("| counter | what |");
  std::istringstream table(text.substr(begin, text.find("\n\n", begin) - begin));
  for (std::string line; std::getline(table, line);) {
    documented.merge(quoted(line.substr(0, line.find('|', 1))));
  }
  EXPECT_EQ(documented, rows);
}

TEST(CountersPage, NamesThoseThatAreToldForEachSubmission) {
  std::set<std::string> rows;
  for (const auto& row : rows_of_two_cards()) {
    if (row.per_submission) rows.insert(row.name.substr(row.name.find('.') + 1));
  }
  const auto text = page();
  const auto begin = text.find("`host.instructions`, `mmio_reads`");
  auto documented = quoted(text.substr(begin, text.find("`_per_submission`", begin) - begin));
  documented.erase("host.instructions");
  documented.merge(std::set<std::string>{"instructions", "write_barriers", "read_barriers"});
  EXPECT_EQ(documented, rows);
}

TEST(PeerCounters, AreTheSumsOfTheEvents) {
  Machine machine({}, "system-2x910b2.yaml");
  Sums sums;
  const workloads::TraceSession session(machine.view, sums);
  const auto report = machine.workload("p2p_bandwidth", {"sizes=16KiB", "bytes=256KiB"});
  const auto both = [&report](const std::string& name) {
    std::uint64_t sum = 0;
    for (const std::string way : {"up", "down"}) {
      const auto* const found = report.find_counter("hccs0_1." + way + "." + name);
      if (found == nullptr) ADD_FAILURE() << name;
      if (found != nullptr) sum += static_cast<std::uint64_t>(found->value.value());
    }
    return sum;
  };
  EXPECT_EQ(both("bytes"), sums.bytes[Activity::kHccsTransfer]);
  EXPECT_EQ(both("messages"), sums.count[Activity::kHccsTransfer]);
  EXPECT_GT(both("bytes"), 0U);
}

}  // namespace
}  // namespace npu::test
