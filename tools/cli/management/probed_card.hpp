// SPDX-License-Identifier: Apache-2.0
// A card of the simulated machine as one looks at it from outside: through TLM's debug transport,
// which takes no time and leaves no trace. So looking changes no report.
#pragma once

#include <memory>
#include <vector>

#include "model/system.hpp"
#include "npu/driver/management.hpp"

namespace npu::cli {

class ProbedCard : public driver::ManagementAccess {
 public:
  // Function 0 of the card. `system` outlives it; nobody may call while the simulation runs, but
  // its tasks and handlers, and who attends it.
  ProbedCard(model::System& system, unsigned card);
  ~ProbedCard() override;

  platform::Bdf bdf() const override { return bdf_; }
  platform::MmioRegion& registers() override { return *registers_; }
  platform::MmioRegion& memory() { return *memory_; }
  std::uint32_t read_config(std::uint32_t offset) override;
  // By the page tables: whose driver they are is not known here.
  Result<driver::MemoryUse> memory_use() override;
  Result<std::vector<driver::CardProcess>> processes() override;

 private:
  model::System& system_;
  const platform::Bdf bdf_;
  std::unique_ptr<platform::MmioRegion> registers_, memory_;
};

std::vector<std::unique_ptr<driver::ManagementAccess>> probe_cards(model::System& system);

}  // namespace npu::cli
