// SPDX-License-Identifier: Apache-2.0
#include "model/partitions/card_partitions.hpp"

#include <algorithm>

#include "npu/abi/page_table.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

using abi::PartitionStatus;

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

CardPartitions::CardPartitions(const ChipConfig& config)
    : config_(config), partitions_(config.pci.sriov_total_vfs) {}

FunctionPartition CardPartitions::totals() const {
  FunctionPartition all;
  all.clusters = config_.ai_cores;
  all.aicpus = std::max(config_.aicpus, config_.virtual_functions.aicpus);
  all.memory = config_.hbm.usable;
  all.media = config_.virtual_functions.media;
  return all;
}

FunctionPartition CardPartitions::of_template(unsigned number) const {
  const auto& made_by = config_.virtual_functions.templates[number];
  FunctionPartition partition;
  std::copy(made_by.name.begin(), made_by.name.end(), partition.name.begin());
  partition.clusters = made_by.ai_cores;
  partition.aicpus = made_by.aicpus;
  partition.memory = made_by.memory;
  partition.media = made_by.media;
  return partition;
}

PartitionStatus CardPartitions::check(unsigned index, const FunctionPartition& partition) const {
  if (index >= partitions_.size()) return PartitionStatus::kIndex;
  if (partitions_[index].present()) return PartitionStatus::kPresent;
  if (partition.dma_weight == 0 || partition.hbm_weight == 0 || partition.link_weight == 0) {
    return PartitionStatus::kWeight;
  }
  if (partition.in_group() && partition.group >= abi::kPartitionGroups)
    return PartitionStatus::kGroup;
  if (partition.in_group() && (partition.token == 0 || partition.token_max < partition.token)) {
    return PartitionStatus::kToken;
  }
  if (!group_fits(partition)) return PartitionStatus::kGroup;
  if (!cores_free(partition)) return PartitionStatus::kCores;
  if (!aicpus_free(partition)) return PartitionStatus::kAicpus;
  if (!memory_free(partition)) return PartitionStatus::kMemory;
  if (!media_free(partition.media)) return PartitionStatus::kMedia;
  return PartitionStatus::kSuccess;
}

PartitionStatus CardPartitions::create(unsigned index, const FunctionPartition& partition) {
  const auto status = check(index, partition);
  if (status == PartitionStatus::kSuccess) partitions_[index] = partition;
  return status;
}

// All members of a group have the cores of the first.
bool CardPartitions::group_fits(const FunctionPartition& partition) const {
  return std::all_of(
      partitions_.begin(), partitions_.end(), [&partition](const FunctionPartition& other) {
        const bool mates = other.present() && other.in_group() && other.group == partition.group;
        return !mates || (other.first_cluster == partition.first_cluster &&
                          other.clusters == partition.clusters);
      });
}

bool CardPartitions::cores_free(const FunctionPartition& partition) const {
  if (partition.clusters == 0 ||
      !range_fits(partition.first_cluster, partition.clusters, config_.ai_cores)) {
    return false;
  }
  return std::none_of(partitions_.begin(), partitions_.end(),
                      [&partition](const FunctionPartition& other) {
                        const bool mates = partition.in_group() && other.group == partition.group;
                        return other.present() && !mates &&
                               overlap(partition.first_cluster, partition.clusters,
                                       other.first_cluster, other.clusters);
                      });
}

bool CardPartitions::aicpus_free(const FunctionPartition& partition) const {
  if (partition.aicpus == 0 ||
      !range_fits(partition.first_aicpu, partition.aicpus, totals().aicpus)) {
    return false;
  }
  return std::none_of(
      partitions_.begin(), partitions_.end(), [&partition](const FunctionPartition& other) {
        return other.present() &&
               overlap(partition.first_aicpu, partition.aicpus, other.first_aicpu, other.aicpus);
      });
}

// Its driver needs a page at least, and all of it in its BAR.
bool CardPartitions::memory_free(const FunctionPartition& partition) const {
  if (partition.memory < kReserved + kPage || partition.memory > config_.pci.sriov_vf_bar2_size ||
      partition.memory % kPage != 0 || partition.memory_base % kPage != 0 ||
      !range_fits(partition.memory_base, partition.memory, config_.hbm.usable)) {
    return false;
  }
  return std::none_of(
      partitions_.begin(), partitions_.end(), [&partition](const FunctionPartition& other) {
        return other.present() &&
               overlap(partition.memory_base, partition.memory, other.memory_base, other.memory);
      });
}

bool CardPartitions::media_free(const MediaUnits& wanted) const {
  MediaUnits used;
  for (const auto& partition : partitions_) {
    used.vpc += partition.media.vpc;
    used.jpegd += partition.media.jpegd;
    used.jpege += partition.media.jpege;
    used.venc += partition.media.venc;
    used.vdec += partition.media.vdec;
  }
  return fits(config_.virtual_functions.media, used, wanted);
}

bool CardPartitions::divided() const {
  return std::any_of(partitions_.begin(), partitions_.end(),
                     [](const FunctionPartition& partition) { return partition.present(); });
}

std::vector<EngineRange> CardPartitions::engines() const {
  std::vector<unsigned> weights{config_.virtual_functions.dma_weight};
  for (const auto& partition : partitions_)
    weights.push_back(partition.present() ? partition.dma_weight : 0);
  return deal_engines(weights, config_.dma.engines);
}

Partition CardPartitions::physical() const {
  Partition left = config_.partition(0);
  if (divided()) {
    const auto range = engines().front();
    left.first_engine = range.first;
    left.dma_engines = range.count;
  }
  if (divided()) left.aicpus = totals().aicpus;
  for (const auto& partition : partitions_) {
    if (!partition.present()) continue;
    for (unsigned i = partition.first_cluster; i < partition.first_cluster + partition.clusters;
         ++i) {
      left.lent_clusters[i / 64] |= std::uint64_t{1} << i % 64;
    }
    for (unsigned i = partition.first_aicpu; i < partition.first_aicpu + partition.aicpus; ++i) {
      left.lent_aicpus |= std::uint64_t{1} << i;
    }
    left.lent_memory.push_back({partition.memory_base, partition.memory});
  }
  return left;
}

Partition CardPartitions::partition(const FunctionPartition& partition) const {
  if (!partition.present()) return {};
  const auto whole = config_.partition(0);
  return {partition.memory_base,
          partition.memory,
          partition.memory - kReserved,
          partition.first_cluster,
          partition.clusters,
          partition.first_aicpu,
          partition.aicpus,
          whole.doorbell_pages,
          whole.first_engine,
          whole.dma_engines,
          {},
          0,
          {}};
}

}  // namespace npu::model
