// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/smi/metrics_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/cli/smi/card_counters.hpp"

namespace npu::cli {
namespace {

constexpr const char *kGauge = "gauge", *kCounter = "counter";

std::string escaped(const std::string& text, bool in_quotes) {
  std::string result;
  for (const char letter : text) {
    if (letter == '\\') {
      result += "\\\\";
    } else if (letter == '\n') {
      result += "\\n";
    } else if (letter == '"' && in_quotes) {
      result += "\\\"";
    } else {
      result += letter;
    }
  }
  return result;
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

// One card's samples.
class CardMetrics {
 public:
  CardMetrics(MetricFamilies& families, const CardFacts& card) : families_(families), card_(card) {
    labels_ = {{"id", fmt::format("{}", card.id)},
               {"model_name", card.name()},
               {"pcie_bus_info", card.bus_address()}};
  }
  template <class T>
  void gauge(const std::string& name, const char* help, const std::optional<T>& value,
             const Labels& more = {}) {
    if (value) add(name, kGauge, help, static_cast<double>(*value), more);
  }
  void gauge(const std::string& name, const char* help, double value, const Labels& more = {}) {
    add(name, kGauge, help, value, more);
  }
  void counter(const std::string& name, const char* help, double value, const Labels& more = {}) {
    add(name, kCounter, help, value, more);
  }
  template <class Part, std::size_t kRows>
  void errors(const std::optional<Part>& counts, const ErrorCounter<Part> (&rows)[kRows]) {
    if (!counts) return;
    for (const auto& row : rows) {
      const Labels more = row.kind == nullptr ? Labels{} : Labels{{"kind", row.kind}};
      add(row.metric, row.type, row.help, static_cast<double>((*counts).*row.count), more);
    }
  }
  const CardFacts& card() const { return card_; }

 private:
  void add(const std::string& name, const char* type, const char* help, double value,
           const Labels& more) {
    Labels labels = labels_;
    labels.insert(labels.end(), more.begin(), more.end());
    families_.add(name, type, help, labels, value);
  }

  MetricFamilies& families_;
  const CardFacts& card_;
  Labels labels_;
};

void add_exporter_uses(CardMetrics& to) {
  const auto& card = to.card();
  to.gauge("npu_chip_info_utilization", "AI Cores in use, percent", card.ai_core);
  to.gauge("npu_chip_info_overall_utilization", "all cores in use, percent", card.overall);
  to.gauge("npu_chip_info_vector_utilization", "vector cores in use, percent", card.vector);
  to.gauge("npu_chip_info_cube_utilization", "cube cores in use, percent", card.cube);
  to.gauge("npu_chip_info_temperature", "degrees Celsius", card.temperature);
  if (card.power) to.gauge("npu_chip_info_power", "watt", *card.power / 10.0);
  if (card.core_clock) {
    to.gauge("npu_chip_info_aicore_current_freq", "AI Core clock, MHz",
             static_cast<double>(card.core_clock->curfreq));
  }
  if (card.health) {
    to.gauge("npu_chip_info_health_status", "1: no alarm, 0: there are",
             *card.health == 0 ? 1.0 : 0.0);
  }
  for (const auto code : card.error_codes) {
    to.gauge("npu_chip_info_error_code", "codes of alarms", static_cast<double>(code),
             {{"error_code", fmt::format("{:X}", code)}});
  }
  if (!card.processes) return;
  for (const auto& process : *card.processes) {
    to.gauge("npu_chip_info_process_info", "HBM of a process, MB",
             static_cast<double>(process.memory.value_or(0)) / (1 << 20),
             {{"process_id", fmt::format("{}", process.pid)}});
  }
}

void add_exporter_memory(CardMetrics& to) {
  const auto& card = to.card();
  if (card.memory) {
    to.gauge("npu_chip_info_hbm_total_memory", "HBM, MB",
             static_cast<double>(card.memory->memory_size) / 1024);
    to.gauge("npu_chip_info_hbm_used_memory", "HBM in use, MB",
             static_cast<double>(card.memory->memory_usage) / 1024);
  }
  to.gauge("npu_chip_info_hbm_utilization", "HBM in use, percent", card.hbm);
  to.gauge("npu_chip_info_hbm_bandwidth_utilization", "of the HBM's peak rate, percent",
           card.hbm_bandwidth);
  if (!card.ecc) return;
  to.gauge("npu_chip_info_hbm_ecc_enable_flag", "1: errors are corrected",
           static_cast<double>(card.ecc->enable_flag));
  to.errors(card.ecc, kErrorsSinceReset);
}

// Rates between two looks; of one alone there are none, nor while the card's clock stands still.
void add_exporter_link(CardMetrics& to) {
  const auto& now = to.card().traffic;
  const auto& before = to.card().traffic_before;
  if (!now || !before || now->time_ns <= before->time_ns) return;
  const double seconds = static_cast<double>(now->time_ns - before->time_ns) / 1e9;
  for (const auto& row : kLinkCounters) {
    const auto moved = static_cast<double>((*now).*row.bytes - (*before).*row.bytes);
    to.gauge(fmt::format("npu_chip_info_pcie_{}_bw", row.exporter), "bytes of TLPs, MB/s",
             moved / seconds / 1e6);
  }
}

void add_own_uses(CardMetrics& to) {
  const auto& card = to.card();
  to.gauge("npusim_health", "0 good, 1 minor, 2 major, 3 critical", card.health);
  const auto each = [&](const std::vector<unsigned>& uses, const char* kind) {
    for (std::size_t i = 0; i < uses.size(); ++i) {
      to.gauge("npusim_core_utilization_ratio", "share of the interval with a block of a kernel",
               uses[i] / 100.0, {{"kind", kind}, {"core", fmt::format("{}", i)}});
    }
  };
  each(card.cores, "ai_core");
  each(card.vector_cores, "vector");
  if (!card.aicpus) return;
  const auto told = std::min<unsigned>(card.aicpus->aicpuNum, TAISHAN_CORE_NUM);
  for (unsigned i = 0; i < told; ++i) {
    to.gauge("npusim_aicpu_utilization_ratio", "share of the interval with a block of a kernel",
             card.aicpus->utilRate[i] / 100.0, {{"aicpu", fmt::format("{}", i)}});
  }
}

void add_own_memory(CardMetrics& to) {
  const auto& card = to.card();
  if (card.memory) {
    to.gauge("npusim_hbm_size_bytes", "HBM that can be allocated",
             static_cast<double>(card.memory->memory_size) * 1024);
    to.gauge("npusim_hbm_used_bytes", "HBM in use",
             static_cast<double>(card.memory->memory_usage) * 1024);
  }
  to.errors(card.pages, kErrorsOnRecord);
}

void add_own_traffic(CardMetrics& to) {
  if (!to.card().traffic) return;
  const auto& now = *to.card().traffic;
  const char* const moved = "bytes that requests have moved";
  to.counter("npusim_hbm_bytes_total", moved, static_cast<double>(now.hbm_read),
             {{"direction", "read"}});
  to.counter("npusim_hbm_bytes_total", moved, static_cast<double>(now.hbm_written),
             {{"direction", "written"}});
  for (const auto& row : kLinkCounters) {
    to.counter("npusim_pcie_bytes_total", "bytes of TLPs, as the card sees them",
               static_cast<double>(now.*row.bytes),
               {{"direction", row.direction}, {"kind", row.kind}});
  }
  to.counter("npusim_device_seconds_total", "simulated time since the card's reset",
             static_cast<double>(now.time_ns) / 1e9);
}

}  // namespace

void MetricFamilies::add(const std::string& own_name, const char* type, const char* help,
                         const Labels& labels, double value) {
  const std::string own_prefix = std::string(kMetricsPrefix) + "_";
  const bool own = own_name.compare(0, own_prefix.size(), own_prefix) == 0;
  const std::string name = own ? prefix_ + own_name.substr(own_prefix.size() - 1) : own_name;
  auto family =
      std::find_if(all_.begin(), all_.end(), [&](const Family& one) { return one.name == name; });
  if (family == all_.end()) family = all_.insert(all_.end(), {name, type, help, ""});
  std::string text;
  for (const auto& [label, content] : labels) {
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", label, escaped(content, true));
  }
  family->samples += name + (text.empty() ? "" : "{" + text + "}") + " " + number(value) + "\n";
}

std::string MetricFamilies::text() const {
  std::string text;
  for (const auto& family : all_) {
    text += fmt::format("# HELP {} {}\n# TYPE {} {}\n{}", family.name, escaped(family.help, false),
                        family.name, family.type, family.samples);
  }
  return text;
}

bool is_metrics_prefix(const std::string& prefix) {
  const auto may = [](char letter, bool digit) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_' ||
           letter == ':' || (digit && letter >= '0' && letter <= '9');
  };
  return !prefix.empty() && may(prefix[0], false) &&
         std::all_of(prefix.begin(), prefix.end(), [&](char letter) { return may(letter, true); });
}

std::string metrics_text(const std::vector<CardFacts>& cards, const std::string& prefix) {
  MetricFamilies families(prefix);
  families.add("machine_npu_nums", kGauge, "cards of the machine", {},
               static_cast<double>(cards.size()));
  for (const auto& card : cards) {
    CardMetrics to(families, card);
    add_exporter_uses(to);
    add_exporter_memory(to);
    add_exporter_link(to);
    add_own_uses(to);
    add_own_memory(to);
    add_own_traffic(to);
  }
  return families.text();
}

}  // namespace npu::cli
