// SPDX-License-Identifier: Apache-2.0
#include "firmware/aicpu/cores.hpp"

#include <algorithm>

namespace npu::firmware {

using abi::CoreType;
using abi::TaskShape;

bool Cores::runs(CoreType type, TaskShape shape) {
  if (type == CoreType::kCoupled) return true;
  return type == (shape == TaskShape::kAic ? CoreType::kAic : CoreType::kAiv);
}

namespace {

// Clusters of all workers: indices into `all`.
std::vector<std::vector<std::size_t>> group(const std::vector<Worker>& all, CoreCounts& counts) {
  std::vector<std::size_t> aic, aiv;
  std::vector<std::vector<std::size_t>> clusters;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].type == CoreType::kCoupled) {
      clusters.push_back({i});
    } else {
      (all[i].type == CoreType::kAic ? aic : aiv).push_back(i);
    }
  }
  const std::size_t coupled = clusters.size();
  for (std::size_t i = 0; i < std::max(aic.size(), (aiv.size() + 1) / 2); ++i) {
    clusters.emplace_back();
    if (i < aic.size()) clusters.back().push_back(aic[i]);
    for (std::size_t j = 2 * i; j < std::min(2 * i + 2, aiv.size()); ++j) {
      clusters.back().push_back(aiv[j]);
    }
  }
  counts.aic = static_cast<unsigned>(aic.size() + coupled);
  counts.aiv = static_cast<unsigned>(aiv.size() + coupled);
  counts.mixed = static_cast<unsigned>(coupled + std::min(aic.size(), aiv.size() / 2));
  counts.lanes = coupled > 0 ? 1 : 3;
  return clusters;
}

}  // namespace

void Cores::deal(const RunView& run, unsigned thread) {
  std::vector<std::uint32_t> words(run.header().workers);
  run.port().read(run.control(scratch::kWorkers), words.data(), words.size() * 4);
  std::vector<Worker> all;
  for (std::uint32_t i = 0; i < words.size(); ++i) {
    if (words[i] == kNoWorker) continue;  // did not come
    Worker worker;
    worker.index = i;
    worker.physical = words[i] & 0xFF'FFFF;
    worker.type = static_cast<CoreType>(words[i] >> 24);
    all.push_back(worker);
  }
  std::sort(all.begin(), all.end(),
            [](const Worker& a, const Worker& b) { return a.physical < b.physical; });
  const auto clusters = group(all, counts_);
  workers_.reserve(all.size());
  for (std::size_t c = thread; c < clusters.size(); c += run.header().threads) {
    Cluster cluster;
    for (const auto i : clusters[c]) {
      workers_.push_back(all[i]);
      workers_.back().cluster = static_cast<unsigned>(clusters_.size());
      cluster.workers.push_back(&workers_.back());
    }
    cluster.whole = cluster.workers.size() == counts_.lanes;
    clusters_.push_back(std::move(cluster));
  }
}

bool Cores::usable(const Worker& worker, TaskShape shape) const {
  return runs(worker.type, shape) && static_cast<int>(worker.cluster) != held_;
}

unsigned Cores::count(TaskShape shape, const CoreLink* pend) const {
  unsigned count = 0;
  for (const auto& worker : workers_) {
    if (!usable(worker, shape)) continue;
    if (pend != nullptr ? pend->can_pend(worker) : worker.idle()) ++count;
  }
  return count;
}

// In turn, so that work spreads over the cores.
Worker* Cores::find(TaskShape shape, const CoreLink* pend) {
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    auto& worker = workers_[(turn_ + i) % workers_.size()];
    if (!usable(worker, shape)) continue;
    if (pend != nullptr ? !pend->can_pend(worker) : !worker.idle()) continue;
    turn_ = (turn_ + i + 1) % workers_.size();
    return &worker;
  }
  return nullptr;
}

Worker* Cores::next_idle(TaskShape shape) {
  return find(shape, nullptr);
}

Worker* Cores::next_pendable(TaskShape shape, const CoreLink& link) {
  return find(shape, &link);
}

unsigned Cores::idle_clusters() const {
  return static_cast<unsigned>(std::count_if(clusters_.begin(), clusters_.end(),
                                             [](const Cluster& c) { return c.whole && c.idle(); }));
}

Cluster* Cores::next_idle_cluster() {
  for (auto& cluster : clusters_) {
    if (cluster.whole && cluster.idle()) return &cluster;
  }
  return nullptr;
}

void Cores::hold_cluster(bool wanted) {
  if (!wanted) held_ = -1;
  if (!wanted || held_ >= 0) return;
  std::ptrdiff_t fewest = 4;
  for (std::size_t i = 0; i < clusters_.size(); ++i) {
    const auto& members = clusters_[i].workers;
    const auto busy = std::count_if(members.begin(), members.end(),
                                    [](const Worker* worker) { return !worker->idle(); });
    if (!clusters_[i].whole || busy >= fewest) continue;
    fewest = busy;
    held_ = static_cast<int>(i);
  }
}

}  // namespace npu::firmware
