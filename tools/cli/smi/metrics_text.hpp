// SPDX-License-Identifier: Apache-2.0
// Cards as Prometheus reads them: text format 0.0.4.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/cli/smi/card_facts.hpp"

namespace npu::cli {

using Labels = std::vector<std::pair<std::string, std::string>>;

inline constexpr const char* kMetricsPrefix = "npusim";
// Whoever looks at a card says it.
inline constexpr const char* kDeviceSeconds = "npusim_device_seconds_total";
inline constexpr const char* kDeviceSecondsHelp = "simulated time since the card's reset";

// Families in the order of their first sample, each with its lines together. Those whose name
// begins with npusim_ begin with `prefix` instead of npusim.
class MetricFamilies {
 public:
  explicit MetricFamilies(std::string prefix = kMetricsPrefix) : prefix_(std::move(prefix)) {}
  // A family has one help. What ends with _total is a counter, all else a gauge.
  void add(const std::string& name, const char* help, const Labels& labels, double value);
  std::string text() const;

 private:
  struct Family {
    std::string name, help, samples;
  };
  const std::string prefix_;
  std::vector<Family> all_;
};

// npu_chip_info_* as npu-exporter names them, and npusim_* in base units. What is not known has no
// sample.
std::string metrics_text(const std::vector<CardFacts>& cards,
                         const std::string& prefix = kMetricsPrefix);

// As Prometheus allows it for a name: letters, digits, '_' and ':', no digit first.
bool is_metrics_prefix(const std::string& prefix);

}  // namespace npu::cli
