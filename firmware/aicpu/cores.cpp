// SPDX-License-Identifier: Apache-2.0
#include "firmware/aicpu/cores.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace npu::firmware {

static_assert(abi::kMaxWorkers <= WorkerSet::kMost);

using abi::CoreType;

namespace {

struct Found {
  std::uint32_t physical, index;
  CoreType type;
};

// All that have come, in the order of their register windows.
std::vector<Found> workers_of(const RunView& run) {
  std::vector<std::uint32_t> words(run.header().workers);
  run.port().read(run.control(scratch::kWorkers), words.data(), words.size() * 4);
  std::vector<Found> all;
  all.reserve(words.size());
  for (std::uint32_t i = 0; i < words.size(); ++i) {
    if (words[i] == kNoWorker) continue;  // did not come
    all.push_back({words[i] & 0xFF'FFFF, i, static_cast<CoreType>(words[i] >> 24)});
  }
  std::sort(all.begin(), all.end(),
            [](const Found& a, const Found& b) { return a.physical < b.physical; });
  return all;
}

std::vector<Found> of_type(const std::vector<Found>& all, CoreType type) {
  std::vector<Found> some;
  some.reserve(all.size());
  std::copy_if(all.begin(), all.end(), std::back_inserter(some),
               [type](const Found& each) { return each.type == type; });
  return some;
}

}  // namespace

void Cores::add(Cluster& cluster, std::uint32_t index, std::uint32_t physical, CoreType type) {
  Worker worker;
  worker.index = index;
  worker.physical = physical;
  worker.type = type;
  worker.place = static_cast<unsigned>(workers_.size());
  worker.cluster = static_cast<unsigned>(clusters_.size());
  worker.kind = type == CoreType::kAiv ? Worker::kVector : 0;
  all_.put(worker.place, true);
  idle_[worker.kind].put(worker.place, true);
  workers_.push_back(worker);
  cluster.workers[cluster.size++] = &workers_.back();
}

void Cores::deal(const RunView& run, unsigned thread, const CoreLink& link) {
  can_pend_ = link.can_pend();
  const auto all = workers_of(run);
  const auto coupled = of_type(all, CoreType::kCoupled), aic = of_type(all, CoreType::kAic),
             aiv = of_type(all, CoreType::kAiv);
  counts_.aic = static_cast<unsigned>(aic.size() + coupled.size());
  counts_.aiv = static_cast<unsigned>(aiv.size() + coupled.size());
  counts_.mixed = static_cast<unsigned>(coupled.size() + std::min(aic.size(), aiv.size() / 2));
  counts_.lanes = coupled.empty() ? 3 : 1;
  kind_of_vector_ = counts_.lanes > 1 ? Worker::kVector : 0;
  const std::size_t clusters = coupled.size() + std::max(aic.size(), (aiv.size() + 1) / 2);
  workers_.reserve(all.size());
  clusters_.reserve(clusters);
  for (std::size_t c = thread; c < clusters; c += run.header().threads) {
    Cluster cluster;
    const auto take = [&](const std::vector<Found>& some, std::size_t i) {
      if (i < some.size()) add(cluster, some[i].index, some[i].physical, some[i].type);
    };
    if (c < coupled.size()) {
      take(coupled, c);
    } else {
      const std::size_t i = c - coupled.size();
      take(aic, i);
      take(aiv, 2 * i);
      take(aiv, 2 * i + 1);
    }
    cluster.whole = cluster.size == counts_.lanes;
    whole_.put(cluster.workers[0]->place, cluster.whole);
    clusters_.push_back(cluster);
  }
}

Cluster* Cores::next_idle_cluster() {
  const unsigned place = clusters_at().next(0);
  return place == WorkerSet::kNone ? nullptr : &clusters_[workers_[place].cluster];
}

unsigned Cores::idle_of(const Cluster& cluster) {
  unsigned count = 0;
  for (unsigned i = 0; i < cluster.size; ++i) count += cluster.workers[i]->busy() ? 0 : 1;
  return count;
}

void Cores::hold(int cluster) {
  const int before = std::exchange(held_, cluster);
  for (const int each : {before, cluster}) {
    if (each < 0) continue;
    const Cluster& changed = clusters_[static_cast<std::size_t>(each)];
    for (unsigned i = 0; i < changed.size; ++i) {
      const Worker* const worker = changed.workers[i];
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
