// SPDX-License-Identifier: Apache-2.0
// Which AI Cores a chip has, by index of their register windows. Split: `ai_cores` clusters, cube
// core i with the vector cores 2i and 2i + 1, cube cores first. Coupled: each core is a cluster.
#pragma once

#include <vector>

#include "model/config/chip_config.hpp"
#include "npu/abi/core_registers.hpp"

namespace npu::model {

class CoreLayout {
 public:
  CoreLayout(ProgramCoreKind kind, unsigned clusters) : kind_(kind), clusters_(clusters) {}
  explicit CoreLayout(const ChipConfig& chip) : CoreLayout(chip.core.type, chip.ai_cores) {}

  unsigned clusters() const { return clusters_; }
  unsigned vector_cores() const { return kind_ == ProgramCoreKind::kSplit ? 2 : 0; }  // per cluster
  unsigned cores() const { return kind_ == ProgramCoreKind::kSplit ? 3 * clusters_ : clusters_; }
  abi::CoreType type(unsigned core) const {
    if (kind_ == ProgramCoreKind::kCoupled) return abi::CoreType::kCoupled;
    return core < clusters_ ? abi::CoreType::kAic : abi::CoreType::kAiv;
  }
  unsigned cluster(unsigned core) const { return core < clusters_ ? core : (core - clusters_) / 2; }
  // Those of a function, in the order in which its software numbers them.
  std::vector<unsigned> cores_of(const Partition& partition) const {
    std::vector<unsigned> owned;
    for (unsigned core = 0; core < cores(); ++core) {
      if (partition.has_cluster(cluster(core))) owned.push_back(core);
    }
    return owned;
  }
  // Place in its cluster: 0 cube or coupled core, 1 and 2 vector cores.
  unsigned role(unsigned core) const { return core < clusters_ ? 0 : 1 + (core - clusters_) % 2; }

 private:
  ProgramCoreKind kind_;
  unsigned clusters_;
};

}  // namespace npu::model
