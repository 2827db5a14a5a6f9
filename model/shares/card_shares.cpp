// SPDX-License-Identifier: Apache-2.0
#include "model/shares/card_shares.hpp"

#include <algorithm>

#include "npu/abi/page_table.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

using abi::ShareStatus;

namespace {

constexpr Bytes kPage = Bytes{1} << abi::kPageShift;

bool overlap(std::uint64_t a, std::uint64_t a_size, std::uint64_t b, std::uint64_t b_size) {
  return a < b + b_size && b < a + a_size;
}

bool fits(const MediaUnits& all, const MediaUnits& used, const MediaUnits& wanted) {
  return used.vpc + wanted.vpc <= all.vpc && used.jpegd + wanted.jpegd <= all.jpegd &&
         used.jpege + wanted.jpege <= all.jpege && used.venc + wanted.venc <= all.venc &&
         used.vdec + wanted.vdec <= all.vdec;
}

}  // namespace

CardShares::CardShares(const ChipConfig& config)
    : config_(config), shares_(config.pci.sriov_total_vfs) {}

FunctionShare CardShares::totals() const {
  FunctionShare all;
  all.clusters = config_.ai_cores;
  all.aicpus = std::max(config_.aicpus, config_.virtual_functions.aicpus);
  all.memory = config_.hbm.usable;
  all.media = config_.virtual_functions.media;
  return all;
}

FunctionShare CardShares::of_template(unsigned number) const {
  const auto& made_by = config_.virtual_functions.templates[number];
  FunctionShare share;
  std::copy(made_by.name.begin(), made_by.name.end(), share.name.begin());
  share.clusters = made_by.ai_cores;
  share.aicpus = made_by.aicpus;
  share.memory = made_by.memory;
  share.media = made_by.media;
  return share;
}

ShareStatus CardShares::check(unsigned index, const FunctionShare& share) const {
  if (index >= shares_.size()) return ShareStatus::kIndex;
  if (shares_[index].present()) return ShareStatus::kPresent;
  if (share.dma_weight == 0 || share.hbm_weight == 0 || share.link_weight == 0) {
    return ShareStatus::kWeight;
  }
  if (share.in_group() && share.group >= abi::kShareGroups) return ShareStatus::kGroup;
  if (share.in_group() && (share.token == 0 || share.token_max < share.token)) {
    return ShareStatus::kToken;
  }
  if (!group_fits(share)) return ShareStatus::kGroup;
  if (!cores_free(share)) return ShareStatus::kCores;
  if (!aicpus_free(share)) return ShareStatus::kAicpus;
  if (!memory_free(share)) return ShareStatus::kMemory;
  if (!media_free(share.media)) return ShareStatus::kMedia;
  return ShareStatus::kSuccess;
}

ShareStatus CardShares::create(unsigned index, const FunctionShare& share) {
  const auto status = check(index, share);
  if (status == ShareStatus::kSuccess) shares_[index] = share;
  return status;
}

// All members of a group have the cores of the first.
bool CardShares::group_fits(const FunctionShare& share) const {
  return std::all_of(shares_.begin(), shares_.end(), [&share](const FunctionShare& other) {
    const bool mates = other.present() && other.in_group() && other.group == share.group;
    return !mates ||
           (other.first_cluster == share.first_cluster && other.clusters == share.clusters);
  });
}

bool CardShares::cores_free(const FunctionShare& share) const {
  if (share.clusters == 0 || !range_fits(share.first_cluster, share.clusters, config_.ai_cores)) {
    return false;
  }
  return std::none_of(shares_.begin(), shares_.end(), [&share](const FunctionShare& other) {
    const bool mates = share.in_group() && other.group == share.group;
    return other.present() && !mates &&
           overlap(share.first_cluster, share.clusters, other.first_cluster, other.clusters);
  });
}

bool CardShares::aicpus_free(const FunctionShare& share) const {
  if (share.aicpus == 0 || !range_fits(share.first_aicpu, share.aicpus, totals().aicpus)) {
    return false;
  }
  return std::none_of(shares_.begin(), shares_.end(), [&share](const FunctionShare& other) {
    return other.present() &&
           overlap(share.first_aicpu, share.aicpus, other.first_aicpu, other.aicpus);
  });
}

// Its driver needs a page at least, and all of it in its BAR.
bool CardShares::memory_free(const FunctionShare& share) const {
  if (share.memory < kReserved + kPage || share.memory > config_.pci.sriov_vf_bar2_size ||
      share.memory % kPage != 0 || share.memory_base % kPage != 0 ||
      !range_fits(share.memory_base, share.memory, config_.hbm.usable)) {
    return false;
  }
  return std::none_of(shares_.begin(), shares_.end(), [&share](const FunctionShare& other) {
    return other.present() &&
           overlap(share.memory_base, share.memory, other.memory_base, other.memory);
  });
}

bool CardShares::media_free(const MediaUnits& wanted) const {
  MediaUnits used;
  for (const auto& share : shares_) {
    used.vpc += share.media.vpc;
    used.jpegd += share.media.jpegd;
    used.jpege += share.media.jpege;
    used.venc += share.media.venc;
    used.vdec += share.media.vdec;
  }
  return fits(config_.virtual_functions.media, used, wanted);
}

bool CardShares::divided() const {
  return std::any_of(shares_.begin(), shares_.end(),
                     [](const FunctionShare& share) { return share.present(); });
}

std::vector<EngineRange> CardShares::engines() const {
  std::vector<unsigned> weights{config_.virtual_functions.dma_weight};
  for (const auto& share : shares_) weights.push_back(share.present() ? share.dma_weight : 0);
  return deal_engines(weights, config_.dma.engines);
}

Partition CardShares::physical() const {
  Partition left = config_.partition(0);
  if (divided()) {
    const auto range = engines().front();
    left.first_engine = range.first;
    left.dma_engines = range.count;
  }
  if (divided()) left.aicpus = totals().aicpus;
  for (const auto& share : shares_) {
    if (!share.present()) continue;
    for (unsigned i = share.first_cluster; i < share.first_cluster + share.clusters; ++i) {
      left.lent_clusters[i / 64] |= std::uint64_t{1} << i % 64;
    }
    for (unsigned i = share.first_aicpu; i < share.first_aicpu + share.aicpus; ++i) {
      left.lent_aicpus |= std::uint64_t{1} << i;
    }
    left.lent_memory.push_back({share.memory_base, share.memory});
  }
  return left;
}

Partition CardShares::partition(const FunctionShare& share) const {
  if (!share.present()) return {};
  const auto whole = config_.partition(0);
  return {share.memory_base,
          share.memory,
          share.memory - kReserved,
          share.first_cluster,
          share.clusters,
          share.first_aicpu,
          share.aicpus,
          whole.doorbell_pages,
          whole.first_engine,
          whole.dma_engines,
          {},
          0,
          {}};
}

}  // namespace npu::model
