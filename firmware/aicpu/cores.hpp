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
  std::array<Worker*, 3> workers{};  // cube core first; one coupled core; or what there is
  unsigned size = 0;                 // of them
  bool whole = false;                // can run mixed blocks
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
  // What `worker` has from now on.
  void change(Worker& worker, Work work) {
    const Work before = worker.work;
    worker.work = work;
    if ((before == Work::kRunning) != (work == Work::kRunning)) set_pendable(worker);
    if ((before == Work::kNone) != (work == Work::kNone)) set_idle(worker);
  }
  // It has a block that waits for others (kTaskCooperative), or waits no more.
  void reserve(Worker& worker, bool reserved) {
    worker.reserved = reserved;
    reserved_.flip(worker.place);
    at_work_.flip(worker.place);
  }

  // Those that do nothing, or may be given a second block, and run blocks of this shape. A cluster
  // that mixed blocks wait for is left alone.
  unsigned idle(abi::TaskShape shape) const { return idle_[kind_of(shape)].count(); }
  unsigned pendable(abi::TaskShape shape) const { return pendable_[kind_of(shape)].count(); }
  // Whole clusters that are idle.
  unsigned idle_clusters() const { return clusters_at().count(); }
  const WorkerSet& idle_cores(abi::TaskShape shape) const {
    return idle_[kind_of(shape)].members();
  }
  const WorkerSet& pendable_cores(abi::TaskShape shape) const {
    return pendable_[kind_of(shape)].members();
  }
  // One of some that are not none, for the next block: in turn, so that work spreads over them.
  Worker& next(const WorkerSet& workers) {
    unsigned place = workers.next(turn_);
    if (place == WorkerSet::kNone) place = workers.next(0);
    turn_ = place + 1;
    return workers_[place];
  }
  Cluster* next_idle_cluster();
  // Mixed blocks wait: the cluster that is nearest to being idle gets nothing else, until it is.
  void hold_cluster(bool wanted);
  // The first worker at place `from` of workers() or behind that has work and is not reserved;
  // WorkerSet::kNone: none.
  unsigned next_at_work(unsigned from) const { return at_work_.next(from); }

 private:
  // Coupled cores run blocks of both shapes.
  unsigned kind_of(abi::TaskShape shape) const {
    return shape == abi::TaskShape::kAiv ? kind_of_vector_ : 0;
  }
  bool usable(const Worker& worker) const { return static_cast<int>(worker.cluster) != held_; }
  void set_idle(const Worker& worker) {
    at_work_.flip(worker.place);
    if (usable(worker)) idle_[worker.kind].flip(worker.place, worker.work == Work::kNone);
  }
  void set_pendable(const Worker& worker) {
    if (!can_pend_ || !usable(worker)) return;
    pendable_[worker.kind].flip(worker.place, worker.work == Work::kRunning);
  }
  // Where idle whole clusters begin.
  WorkerSet clusters_at() const {
    return all_.without(at_work_).without(reserved_).runs_of(counts_.lanes).both(whole_);
  }
  static unsigned idle_of(const Cluster& cluster);
  void add(Cluster& cluster, std::uint32_t index, std::uint32_t physical, abi::CoreType type);
  void hold(int cluster);

  CoreCounts counts_;
  bool can_pend_ = false;
  std::vector<Worker> workers_;  // of this thread; never moves after deal()
  std::vector<Cluster> clusters_;
  unsigned kind_of_vector_ = 0;
  std::array<CountedSet, 2> idle_, pendable_;  // by Worker::kind
  WorkerSet all_, at_work_, reserved_;
  WorkerSet whole_;  // where whole clusters begin
  unsigned turn_ = 0;
  int held_ = -1;
};

}  // namespace npu::firmware
