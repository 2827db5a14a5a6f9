// SPDX-License-Identifier: Apache-2.0
// A machine's cards, and the programs that share them, as Prometheus reads them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/exec/snapshot.hpp"
#include "npu/driver/management.hpp"
#include "tools/cli/smi/metrics_text.hpp"

namespace npu::cli {

// Looks at cards through TLM's debug transport: at no simulated time.
class CardWatch {
 public:
  explicit CardWatch(std::vector<std::unique_ptr<driver::ManagementAccess>> cards);
  // npusim_device_*. What is not known has no sample.
  void add_to(MetricFamilies& families);

 private:
  std::vector<std::unique_ptr<driver::ManagementAccess>> cards_;
  std::vector<std::unique_ptr<driver::Management>> managements_;
};

// npusim_client_* and npusim_scheduler_*. Programs that have ended have no samples.
void add_sharing(MetricFamilies& families, const exec::ServerSnapshot& now);

}  // namespace npu::cli
