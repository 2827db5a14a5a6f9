// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/smi/metrics_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/cli/smi/card_counters.hpp"

namespace npu::cli {
namespace {

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
  CardMetrics(MetricFamilies& families, const CardFacts& card) : families_(families), card_(card) {}

  void add(const char* name, const char* help, double value, const Labels& more) {
    Labels labels = {{"id", fmt::format("{}", card_.id)},
                     {"model_name", card_.name()},
                     {"pcie_bus_info", card_.bus_address()}};
    labels.insert(labels.end(), more.begin(), more.end());
    families_.add(name, help, labels, value);
  }
  void add(Place first, Place last) {
    for (auto place = first; place <= last;
         place = static_cast<Place>(static_cast<int>(place) + 1)) {
      add(place, [this](const CardCounter& row) { return row.of(card_); });
    }
  }
  // Rates between two looks; of one alone there are none, nor while the card's clock stands still.
  void add_rates() {
    const auto& now = card_.traffic;
    CardFacts before = card_;
    before.traffic = card_.traffic_before;
    if (!now || !before.traffic || now->time_ns <= before.traffic->time_ns) return;
    const double seconds = static_cast<double>(now->time_ns - before.traffic->time_ns) / 1e9;
    add(Place::kRate, [&](const CardCounter& row) {
      const auto moved = static_cast<double>(*row.of(card_) - *row.of(before));
      return std::optional(moved / seconds / 1e6);
    });
  }

 private:
  template <class Read>
  void add(Place place, Read read) {
    for (const auto& row : kCardCounters) {
      for (const auto& metric : row.metrics) {
        if (metric.name == nullptr || metric.place != place) continue;
        const auto value = read(row);
        if (!value) continue;
        Labels labels;
        for (const auto& [label, content] : metric.labels) {
          if (label != nullptr) labels.emplace_back(label, content);
        }
        add(metric.name, metric.help, static_cast<double>(*value) * metric.times / metric.by,
            labels);
      }
    }
  }

  MetricFamilies& families_;
  const CardFacts& card_;
};

void add_alarms_and_processes(CardMetrics& to, const CardFacts& card) {
  for (const auto code : card.error_codes) {
    to.add("npu_chip_info_error_code", "codes of alarms", code,
           {{"error_code", fmt::format("{:X}", code)}});
  }
  if (!card.processes) return;
  for (const auto& process : *card.processes) {
    to.add("npu_chip_info_process_info", "HBM of a process, MB",
           static_cast<double>(process.memory.value_or(0)) / (1 << 20),
           {{"process_id", fmt::format("{}", process.pid)}});
  }
}

void add_cores(CardMetrics& to, const CardFacts& card) {
  const char* const help = "share of the interval with a block of a kernel";
  const auto each = [&](const std::vector<unsigned>& uses, const char* kind) {
    for (std::size_t i = 0; i < uses.size(); ++i) {
      to.add("npusim_core_utilization_ratio", help, uses[i] / 100.0,
             {{"kind", kind}, {"core", fmt::format("{}", i)}});
    }
  };
  each(card.cores, "ai_core");
  each(card.vector_cores, "vector");
  if (!card.aicpus) return;
  const auto told = std::min<unsigned>(card.aicpus->aicpuNum, TAISHAN_CORE_NUM);
  for (unsigned i = 0; i < told; ++i) {
    to.add("npusim_aicpu_utilization_ratio", help, card.aicpus->utilRate[i] / 100.0,
           {{"aicpu", fmt::format("{}", i)}});
  }
}

}  // namespace

void MetricFamilies::add(const std::string& own_name, const char* help, const Labels& labels,
                         double value) {
  const std::string own_prefix = std::string(kMetricsPrefix) + "_";
  const bool own = own_name.compare(0, own_prefix.size(), own_prefix) == 0;
  const std::string name = own ? prefix_ + own_name.substr(own_prefix.size() - 1) : own_name;
  auto family =
      std::find_if(all_.begin(), all_.end(), [&](const Family& one) { return one.name == name; });
  if (family == all_.end()) family = all_.insert(all_.end(), {name, help, ""});
  std::string text;
  for (const auto& [label, content] : labels) {
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", label, escaped(content, true));
  }
  family->samples += name + (text.empty() ? "" : "{" + text + "}") + " " + number(value) + "\n";
}

std::string MetricFamilies::text() const {
  static const std::string kCounterEnd = "_total";
  std::string text;
  for (const auto& [name, help, samples] : all_) {
    const bool counts = name.size() > kCounterEnd.size() &&
                        name.compare(name.size() - kCounterEnd.size(), name.npos, kCounterEnd) == 0;
    text += fmt::format("# HELP {} {}\n# TYPE {} {}\n{}", name, escaped(help, false), name,
                        counts ? "counter" : "gauge", samples);
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
  families.add("machine_npu_nums", "cards of the machine", {}, static_cast<double>(cards.size()));
  for (const auto& card : cards) {
    CardMetrics to(families, card);
    to.add(Place::kUse, Place::kState);
    add_alarms_and_processes(to, card);
    to.add(Place::kMemory, Place::kMemory);
    to.add_rates();
    to.add(Place::kHealth, Place::kHealth);
    add_cores(to, card);
    to.add(Place::kOwn, Place::kOwn);
  }
  return families.text();
}

}  // namespace npu::cli
