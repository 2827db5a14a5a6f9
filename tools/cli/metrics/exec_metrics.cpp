// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/metrics/exec_metrics.hpp"

namespace npu::cli {

void ExecMetrics::watch_cards(std::vector<std::unique_ptr<driver::ManagementAccess>> cards) {
  cards_.emplace(std::move(cards));
}

void ExecMetrics::forget() {
  programs_ = {};
  cards_.reset();
}

void ExecMetrics::answer() {
  server_->answer([this] {
    MetricFamilies families(prefix_);
    if (cards_) cards_->add_to(families);
    if (programs_) add_sharing(families, programs_());
    return families.text();
  });
}

}  // namespace npu::cli
