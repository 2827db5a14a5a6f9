// SPDX-License-Identifier: Apache-2.0
#include "workloads/task_graph/core_usage.hpp"

#include <algorithm>

namespace npu::workloads {
namespace {

struct Change {
  std::uint64_t at;
  int waiting, busy;
};

// Adds up the time between changes.
class Sweep {
 public:
  explicit Sweep(CorePool& pool) : pool_(pool) {}

  void run(std::vector<Change>& changes) {
    std::sort(changes.begin(), changes.end(),
              [](const Change& a, const Change& b) { return a.at < b.at; });
    for (std::size_t i = 0; i < changes.size();) {
      const std::uint64_t now = changes[i].at;
      pass(now);
      for (; i < changes.size() && changes[i].at == now; ++i) {
        waiting_ += changes[i].waiting;
        busy_ += changes[i].busy;
      }
    }
    end_phase();
  }

 private:
  void pass(std::uint64_t now) {
    const std::uint64_t time = now - last_;
    last_ = now;
    if (waiting_ > 0 && busy_ < static_cast<std::int64_t>(pool_.cores)) {
      phase_ += time;
    } else if (time > 0) {
      end_phase();
    }
  }
  void end_phase() {
    if (phase_ == 0) return;
    pool_.dispatch_bound += phase_;
    pool_.longest_phase = std::max(pool_.longest_phase, phase_);
    ++pool_.phases;
    phase_ = 0;
  }

  CorePool& pool_;
  std::int64_t waiting_ = 0, busy_ = 0;
  std::uint64_t last_ = 0, phase_ = 0;
};

}  // namespace

std::vector<CorePool> core_usage(const std::vector<abi::TaskRecord>& records,
                                 const UsedCores& used) {
  std::vector<CorePool> pools;
  if (used.vector_cores == 0) {
    pools.push_back({"core", used.clusters});
  } else {
    pools.push_back({"aic", used.clusters});
    pools.push_back({"aiv", used.clusters * used.vector_cores});
  }
  std::vector<std::vector<Change>> changes(pools.size());
  for (const auto& record : records) {
    if (record.dispatch == 0) continue;
    const bool vector = used.vector_cores != 0 && record.physical_core >= used.first_vector;
    CorePool& pool = pools[vector ? 1 : 0];
    auto& list = changes[vector ? 1 : 0];
    ++pool.blocks;
    pool.busy += record.ended - record.begun;
    list.push_back({record.ready, 1, 0});
    list.push_back({record.sent, -1, 0});
    list.push_back({record.begun, 0, 1});
    list.push_back({record.ended, 0, -1});
  }
  for (std::size_t i = 0; i < pools.size(); ++i) Sweep(pools[i]).run(changes[i]);
  return pools;
}

}  // namespace npu::workloads
