// SPDX-License-Identifier: Apache-2.0
// The cores of one scheduler thread. Cores are dealt to threads cluster by cluster: the i-th cube
// core with the vector cores 2i and 2i + 1, in the order of their register windows, or one coupled
// core, which counts as both.
#pragma once

#include <vector>

#include "firmware/aicpu/core_link.hpp"

namespace npu::firmware {

struct Cluster {
  std::vector<Worker*> workers;  // cube core first; one coupled core; or what there is
  bool whole = false;            // can run mixed blocks
  bool idle() const {
    for (const auto* worker : workers) {
      if (!worker->idle()) return false;
    }
    return true;
  }
};

// Of all threads together.
struct CoreCounts {
  unsigned aic = 0, aiv = 0, mixed = 0;  // cores that run such blocks; clusters for mixed ones
  unsigned lanes = 3;                    // cores of a mixed block

  unsigned of(abi::TaskShape shape) const {
    return shape == abi::TaskShape::kMixed ? mixed : shape == abi::TaskShape::kAic ? aic : aiv;
  }
};

class Cores {
 public:
  // Reads who the workers are (scratch::kWorkers) and takes thread `thread`'s share.
  void deal(const RunView& run, unsigned thread);

  const CoreCounts& counts() const { return counts_; }
  std::vector<Worker>& workers() { return workers_; }
  unsigned idle(abi::TaskShape shape) const { return count(shape, nullptr); }
  unsigned pendable(abi::TaskShape shape, const CoreLink& link) const {
    return count(shape, &link);
  }
  // One for the next block; null: none. A cluster that mixed blocks wait for is left alone.
  Worker* next_idle(abi::TaskShape shape);
  Worker* next_pendable(abi::TaskShape shape, const CoreLink& link);
  Cluster* next_idle_cluster();
  // Mixed blocks wait: the cluster that is nearest to being idle gets nothing else, until it is.
  void hold_cluster(bool wanted);
  // Whole clusters that are idle.
  unsigned idle_clusters() const;

 private:
  static bool runs(abi::CoreType type, abi::TaskShape shape);
  unsigned count(abi::TaskShape shape, const CoreLink* pend) const;
  bool usable(const Worker& worker, abi::TaskShape shape) const;
  Worker* find(abi::TaskShape shape, const CoreLink* pend);

  CoreCounts counts_;
  std::vector<Worker> workers_;  // of this thread; never moves after deal()
  std::vector<Cluster> clusters_;
  std::size_t turn_ = 0;
  int held_ = -1;
};

}  // namespace npu::firmware
