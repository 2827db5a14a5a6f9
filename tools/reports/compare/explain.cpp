// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/compare/explain.hpp"

#include <algorithm>

#include "npu/base/text.hpp"
#include "tools/reports/compare/amounts.hpp"

namespace npu::reports {
namespace {

std::string before_last(const std::string& name, char separator) {
  return name.substr(0, std::min(name.rfind(separator), name.size()));
}

// The part's own name: of "dma.h2d.64B.breakdown.entry_store_ns" in ns "entry_store".
std::string part_name(const Change& part) {
  const auto dot = part.name.rfind('.');
  std::string name = part.name.substr(dot == std::string::npos ? 0 : dot + 1);
  if (!part.unit.empty() && ends_with(name, "_" + part.unit)) {
    name.resize(name.size() - part.unit.size() - 1);
  }
  return name;
}

bool is_part(const Change& change) {
  return !change.counter && change.name.find(".breakdown.") != std::string::npos;
}

// A part that went the other way has made less of it.
bool may_explain(const Change& part, const Change& metric) {
  const bool same_way = (part.difference().value() > 0) == (metric.difference().value() > 0);
  return same_way || part.unit != metric.unit;
}

const Change* largest(const std::vector<const Change*>& parts) {
  const auto it =
      std::max_element(parts.begin(), parts.end(), [](const Change* a, const Change* b) {
        const Number first = a->difference(), second = b->difference();
        return std::abs(first.value()) < std::abs(second.value());
      });
  return it == parts.end() ? nullptr : *it;
}

std::string amount(const Change& change) {
  const std::string unit = change.unit.empty() ? "" : " " + change.unit;
  return signed_text(change.difference()) + unit;
}

void append(std::string& text, const std::string& more) {
  if (!more.empty()) text += (text.empty() ? "" : "; ") + more;
}

class Explainer {
 public:
  explicit Explainer(const std::vector<Change>& changes) {
    for (const auto& change : changes) {
      if (is_part(change)) parts_.push_back(&change);
      if (!change.counter) metrics_.push_back(&change);
      if (change.counter) counters_.push_back(&change);
    }
  }

  std::string of_metric(const Change& metric) const {
    std::string why;
    if (is_part(metric)) return why;
    if (const Change* part = largest(parts_of(metric)))
      append(why, part_name(*part) + " " + amount(*part));
    for (const auto* counter : counters_) {
      // Rounds of polls are the time that is waited itself.
      const bool access = ends_with(counter->name, "_per_submission") &&
                          counter->name != "host.polls_per_submission";
      if (!access || counter->verdict != Verdict::kRegression) continue;
      append(why, counter->name + " " + amount(*counter));
    }
    return why;
  }

  // "host.mmio_reads_per_submission" is explained by "host.mmio_reads_bar0".
  std::string of_counter(const Change& counter) const {
    std::string why;
    std::string stem = counter.name;
    if (ends_with(stem, "_per_submission")) stem = before_last(before_last(stem, '_'), '_');
    for (const auto* each : counters_) {
      if (starts_with(each->name, stem + "_bar")) append(why, each->name + " " + amount(*each));
    }
    if (const Change* part = largest(parts_);
        part != nullptr && starts_with(counter.name, "host.")) {
      const auto owner = part->name.substr(0, part->name.find(".breakdown."));
      append(why, part_name(*part) + " " + amount(*part) + " in " + owner);
    }
    return why;
  }

 private:
  // Of its breakdown, its limits, or, for a total, what it is the total of.
  std::vector<const Change*> parts_of(const Change& metric) const {
    const std::string prefix = before_last(metric.name, '.') + ".";
    std::vector<const Change*> found;
    for (const std::string inner : {"breakdown.", "limit."}) {
      for (const auto* each : metrics_) {
        if (starts_with(each->name, prefix + inner) && may_explain(*each, metric)) {
          found.push_back(each);
        }
      }
      if (!found.empty()) return found;
    }
    const std::string last = metric.name.substr(prefix.size() - 1);
    const bool total = starts_with(last, ".total_") || starts_with(last, ".pause_");
    for (const auto* each : metrics_) {
      if (total && each != &metric && each->unit == metric.unit &&
          starts_with(each->name, prefix)) {
        found.push_back(each);
      }
    }
    return found;
  }

  std::vector<const Change*> metrics_, counters_, parts_;
};

}  // namespace

void explain(std::vector<Change>& changes) {
  const Explainer explainer(changes);
  for (auto& change : changes) {
    change.why = change.counter ? explainer.of_counter(change) : explainer.of_metric(change);
  }
}

}  // namespace npu::reports
