// SPDX-License-Identifier: Apache-2.0
// What the engines of a card have done, as front ends ask for it: busy times of the cores, traffic
// of memory and link. Reading takes no time and changes nothing.
#pragma once

#include <array>
#include <cstdint>

#include "model/aicore/programs.hpp"
#include "model/aicpu/aicpu_programs.hpp"
#include "model/config/chip_config.hpp"
#include "model/hbm/hbm.hpp"
#include "model/pcie/link.hpp"

namespace npu::model {

class CardTelemetry {
 public:
  using LinkBytes = std::array<Bytes, kTlpKinds>;

  // All outlive it.
  CardTelemetry(const AiCorePrograms& cores, const AicpuPrograms& aicpus, Hbm& hbm)
      : cores_(cores), aicpus_(aicpus), hbm_(hbm) {}

  // The card's own link; until then nothing is known of it.
  void connect(const Link& link) { link_ = &link; }
  bool has_link() const { return link_ != nullptr; }
  LinkState link() const { return link_->state(Link::End::kLower); }

  std::uint64_t core_mhz() const { return cores_.clock_mhz(); }
  SimTime core_busy(unsigned core) const { return cores_.busy(core); }
  SimTime space_busy(SpaceId space) const { return cores_.space_busy(space); }
  SimTime aicpu_busy(unsigned aicpu) const { return aicpus_.busy(aicpu); }
  // What a pipe of the core has taken in.
  SimTime pipe_busy(unsigned core, platform::Pipe pipe) const {
    return cores_.statistics(core).busy[static_cast<std::size_t>(pipe)];
  }
  HbmBytes memory() const { return hbm_.traffic(); }
  // By TlpKind; towards the card and from it.
  LinkBytes received() const { return bytes_of(link_->downstream_statistics()); }
  LinkBytes sent() const { return bytes_of(link_->upstream_statistics()); }

  // False: no such memory.
  bool inject_error(std::uint64_t address, unsigned bits) {
    return hbm_.ecc().inject(address, bits);
  }

 private:
  static LinkBytes bytes_of(const LinkStatistics& link) { return link.bytes_by_kind; }

  const AiCorePrograms& cores_;
  const AicpuPrograms& aicpus_;
  Hbm& hbm_;
  const Link* link_ = nullptr;
};

}  // namespace npu::model
