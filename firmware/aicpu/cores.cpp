// SPDX-License-Identifier: Apache-2.0
#include "firmware/aicpu/cores.hpp"

#include <algorithm>
#include <utility>

namespace npu::firmware {

static_assert(abi::kMaxWorkers <= WorkerSet::kMost);

using abi::CoreType;

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

void Cores::deal(const RunView& run, unsigned thread, const CoreLink& link) {
  can_pend_ = link.can_pend();
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
  kind_of_vector_ = counts_.lanes > 1 ? Worker::kVector : 0;
  workers_.reserve(all.size());
  for (std::size_t c = thread; c < clusters.size(); c += run.header().threads) {
    Cluster cluster;
    for (const auto i : clusters[c]) {
      Worker worker = all[i];
      worker.place = static_cast<unsigned>(workers_.size());
      worker.cluster = static_cast<unsigned>(clusters_.size());
      worker.kind = worker.type == CoreType::kAiv ? Worker::kVector : 0;
      workers_.push_back(worker);
      cluster.workers.push_back(&workers_.back());
    }
    cluster.whole = cluster.workers.size() == counts_.lanes;
    whole_.put(cluster.workers.front()->place, cluster.whole);
    clusters_.push_back(std::move(cluster));
  }
  for (const auto& worker : workers_) {
    all_.put(worker.place, true);
    idle_[worker.kind].put(worker.place, true);
  }
}

Cluster* Cores::next_idle_cluster() {
  const unsigned place = clusters_at().next(0);
  return place == WorkerSet::kNone ? nullptr : &clusters_[workers_[place].cluster];
}

unsigned Cores::idle_of(const Cluster& cluster) const {
  unsigned count = 0;
  for (const auto* worker : cluster.workers) count += worker->busy() ? 0 : 1;
  return count;
}

void Cores::hold(int cluster) {
  const int before = std::exchange(held_, cluster);
  for (const int each : {before, cluster}) {
    if (each < 0) continue;
    for (const auto* worker : clusters_[static_cast<std::size_t>(each)].workers) {
      const bool free = each != held_, runs = worker->work == Work::kRunning;
      idle_[worker->kind].put(worker->place, free && !worker->busy());
      pendable_[worker->kind].put(worker->place, free && runs && can_pend_);
    }
  }
}

void Cores::hold_cluster(bool wanted) {
  if (wanted == (held_ >= 0)) return;
  if (!wanted) return hold(-1);
  unsigned most = 0;
  int nearest = -1;
  for (std::size_t i = 0; i < clusters_.size(); ++i) {
    const unsigned idle = idle_of(clusters_[i]);
    if (!clusters_[i].whole || (nearest >= 0 && idle <= most)) continue;
    most = idle;
    nearest = static_cast<int>(i);
  }
  hold(nearest);
}

}  // namespace npu::firmware
