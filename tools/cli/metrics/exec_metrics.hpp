// SPDX-License-Identifier: Apache-2.0
// `npusim exec --metrics`: answers who asks for metrics, between two events of the simulation or
// while that waits for programs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tools/cli/metrics/http_server.hpp"
#include "tools/cli/metrics/sharing_metrics.hpp"

namespace npu::cli {

class ExecMetrics {
 public:
  // `prefix`: MetricFamilies.
  ExecMetrics(std::unique_ptr<MetricsServer> server, std::string prefix)
      : server_(std::move(server)), prefix_(std::move(prefix)) {}

  // Before and behind the run; nothing: there is no server any more.
  void watch_cards(std::vector<std::unique_ptr<driver::ManagementAccess>> cards);
  void watch_programs(std::function<exec::ServerSnapshot()> look) { programs_ = std::move(look); }
  void forget();

  // Set when somebody waits for an answer.
  void tell(std::atomic<bool>& raised) { server_->tell(raised); }
  void answer();

 private:
  std::unique_ptr<MetricsServer> server_;
  const std::string prefix_;
  std::optional<CardWatch> cards_;
  std::function<exec::ServerSnapshot()> programs_;
};

}  // namespace npu::cli
