// SPDX-License-Identifier: Apache-2.0
// The cores of one scheduler thread. Cores are dealt to threads cluster by cluster: the i-th cube
// core with the vector cores 2i and 2i + 1, in the order of their register windows, or one coupled
// core, which counts as both.
#pragma once

#include <array>
#include <vector>

#include "firmware/aicpu/core_link.hpp"
#include "firmware/aicpu/worker_set.hpp"

namespace npu::firmware {

struct Cluster {
  std::vector<Worker*> workers;  // cube core first; one coupled core; or what there is
  bool whole = false;            // can run mixed blocks
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
  void deal(const RunView& run, unsigned thread, const CoreLink& link);

  const CoreCounts& counts() const { return counts_; }
  const std::vector<Worker>& workers() const { return workers_; }
  std::vector<Worker>& workers() { return workers_; }
  // To be called when what `worker` does has changed.
  void changed(const Worker& worker);

  // Those that do nothing, or may be given a second block, and run blocks of this shape. A cluster
  // that mixed blocks wait for is left alone.
  unsigned idle(abi::TaskShape shape) const { return idle_[by(shape)].count(); }
  unsigned pendable(abi::TaskShape shape) const { return pendable_[by(shape)].count(); }
  // Whole clusters that are idle.
  unsigned idle_clusters() const { return idle_clusters_.count(); }
  // One for the next block, in turn, so that work spreads over the cores; null: none.
  Worker* next_idle(abi::TaskShape shape) { return next(idle_[by(shape)]); }
  Worker* next_pendable(abi::TaskShape shape) { return next(pendable_[by(shape)]); }
  Cluster* next_idle_cluster();
  // Mixed blocks wait: the cluster that is nearest to being idle gets nothing else, until it is.
  void hold_cluster(bool wanted);
  // The first worker at place `from` of workers() or behind that has work; kNone: none.
  unsigned next_at_work(unsigned from) const { return at_work_.next(from); }

 private:
  static constexpr unsigned kShapes = 2;  // cube and vector blocks

  static unsigned by(abi::TaskShape shape) { return shape == abi::TaskShape::kAic ? 0 : 1; }
  static bool runs(abi::CoreType type, unsigned shape);
  unsigned busy(const Cluster& cluster) const;
  Worker* next(const WorkerSet& workers);
  void hold(int cluster);

  CoreCounts counts_;
  const CoreLink* link_ = nullptr;
  std::vector<Worker> workers_;  // of this thread; never moves after deal()
  std::vector<Cluster> clusters_;
  std::array<WorkerSet, kShapes> idle_, pendable_;
  WorkerSet at_work_, idle_clusters_;
  unsigned turn_ = 0;
  int held_ = -1;
};

}  // namespace npu::firmware
