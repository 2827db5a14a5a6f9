// SPDX-License-Identifier: Apache-2.0
#include "workloads/simulator/kernel_use_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "tools/reports/breakdown_tables.hpp"
#include "tools/reports/json_text.hpp"
#include "workloads/simulator/used_parts.hpp"

namespace npu::workloads {
namespace {

using reports::Number;

constexpr const char* kSection = "kernel_use";

std::uint64_t count(Picoseconds time) {
  return static_cast<std::uint64_t>(time.count());
}

Number rate_of(double bytes_per_second) {
  return Number::scaled(std::llround(bytes_per_second / 1e6), 3);  // GB/s
}

// Of the time of the kernels.
Number percent(Picoseconds part, Picoseconds whole) {
  return Number::percent(count(part), count(whole));
}

class UseReport {
 public:
  UseReport(reports::Report& report, const std::string& subject, const timeline::KernelUse& use,
            const model::ChipConfig& chip, std::vector<UsedPart> parts, const KernelWork& work)
      : report_(report),
        subject_(subject),
        use_(use),
        chip_(chip),
        parts_(std::move(parts)),
        work_(work) {}

  void add() {
    // What is printed in place of the metrics when there are tables.
    if (report_.tables().empty() && report_.breakdowns().empty()) {
      auto& table = report_.add_table("", {});
      table = reports::metric_table("metrics", report_.metrics());
    }
    add_metrics();
    add_table();
    add_note();
    report_.add_section({kSection, json()});
  }

 private:
  void metric(const std::string& name, Number value, const std::string& unit) {
    const auto full = subject_ + "." + name;
    if (report_.find(full) == nullptr) report_.add_metric(full, value, unit);
  }

  void add_metrics() {
    for (const auto& part : parts_) {
      if (part.busy) metric("pipe." + part.name + "_percent", percent(*part.busy, use_.time), "%");
    }
    metric("l2_bytes", Number::count(use_.l2.read + use_.l2.written), "B");
    metric("hbm_bytes", Number::count(hbm_bytes()), "B");
    if (const auto hits = l2_hits()) metric("l2_hit_percent", *hits, "%");
    if (const auto acts = acts_per_line()) metric("acts_per_line", *acts, "");
    if (work_.operations) metric("tflops", tflops(), "TFLOP/s");
    if (const auto* const part = narrowest(parts_)) {
      metric("attainable_us", Number::microseconds(part->least), "us");
      metric("attainable_percent", percent(part->least, use_.time), "%");
    }
  }

  void add_table() {
    auto& table = report_.add_table(
        fmt::format("What {} used in {} us", subject_, Number::microseconds(use_.time).text()),
        {"part", "cores", "busy us", "busy %", "bytes", "GB/s", "at most GB/s", "of it %"});
    for (const auto& part : parts_) {
      std::vector<std::string> row{part.name, part.cores == 0 ? "" : std::to_string(part.cores)};
      row.push_back(part.busy ? Number::microseconds(*part.busy).text() : "");
      row.push_back(part.busy ? percent(*part.busy, use_.time).text() : "");
      row.push_back(part.bytes ? std::to_string(*part.bytes) : "");
      row.push_back(part.bytes ? Number::gb_per_s(*part.bytes, use_.time).text() : "");
      const bool known = part.bytes && part.bytes_per_second > 0;
      row.push_back(known ? rate_of(part.bytes_per_second).text() : "");
      row.push_back(known ? percent(part.least, use_.time).text() : "");
      table.rows.push_back(std::move(row));
    }
  }

  void add_note() {
    std::vector<std::string> facts;
    if (const auto* const part = narrowest(parts_)) {
      facts.push_back(fmt::format("{} us would do if {} alone took time, {} % of {} us",
                                  Number::microseconds(part->least).text(), part->name,
                                  percent(part->least, use_.time).text(),
                                  Number::microseconds(use_.time).text()));
    }
    if (const auto hits = l2_hits()) {
      facts.push_back(fmt::format("L2: {} % of lines hit", hits->text()));
    }
    if (const auto acts = acts_per_line()) {
      facts.push_back(fmt::format("HBM: {} ACTs a line of {} B", acts->text(), chip_.l2.line));
    }
    if (work_.operations && hbm_bytes() != 0) {
      facts.push_back(fmt::format("{} TFLOP/s at {} operations a byte of HBM", tflops().text(),
                                  Number::quotient(*work_.operations, hbm_bytes(), 1).text()));
    }
    report_.add_note(fmt::format("{}: {}", subject_, fmt::join(facts, "; ")));
  }

  std::string json() const {
    std::vector<std::string> pipes, memories;
    for (const auto& part : parts_) {
      (part.busy ? pipes : memories).push_back(part.busy ? pipe_json(part) : memory_json(part));
    }
    std::string text = fmt::format(
        "{{\"subject\": {}, \"time_ps\": {}, \"cores\": {}, \"programs\": {},\n    "
        "\"pipes\": [{}],\n    \"memories\": [{}]",
        reports::json_string(subject_), use_.time.count(), use_.cores, use_.programs,
        fmt::join(pipes, ",\n      "), fmt::join(memories, ",\n      "));
    if (const auto* const part = narrowest(parts_)) {
      text += fmt::format(",\n    \"attainable\": {{\"ps\": {}, \"by\": \"{}\", \"percent\": {}}}",
                          part->least.count(), part->name, percent(part->least, use_.time).text());
    }
    if (work_.operations) text += fmt::format(", \"operations\": {}", *work_.operations);
    return text + "}";
  }

  std::string bytes_json(const UsedPart& part) const {
    std::string text = fmt::format("\"bytes\": {}, \"gb_per_s\": {}", *part.bytes,
                                   Number::gb_per_s(*part.bytes, use_.time).text());
    if (part.bytes_per_second == 0) return text;
    return text + fmt::format(", \"most_gb_per_s\": {}, \"percent\": {}",
                              rate_of(part.bytes_per_second).text(),
                              percent(part.least, use_.time).text());
  }
  std::string pipe_json(const UsedPart& part) const {
    return fmt::format(
        "{{\"name\": \"{}\", \"cores\": {}, \"busy_ps\": {}, \"busy_percent\": {}{}}}", part.name,
        part.cores, part.busy->count(), percent(*part.busy, use_.time).text(),
        part.bytes ? ", " + bytes_json(part) : "");
  }
  std::string memory_json(const UsedPart& part) const {
    const bool l2 = part.name == "l2";
    const auto& use = l2 ? use_.l2 : use_.hbm;
    std::string text = fmt::format("{{\"name\": \"{}\", \"read\": {}, \"written\": {}, {}",
                                   part.name, use.read, use.written, bytes_json(part));
    if (l2) text += fmt::format(", \"hits\": {}, \"misses\": {}", use.hits, use.misses);
    if (!l2 && work_.activates) {
      text += fmt::format(", \"acts\": {}, \"acts_per_line\": {}", *work_.activates,
                          acts_per_line().value_or(Number()).text());
    }
    return text + "}";
  }

  Bytes hbm_bytes() const { return use_.hbm.read + use_.hbm.written; }
  std::optional<Number> l2_hits() const {
    const auto lines = use_.l2.hits + use_.l2.misses;
    if (lines == 0) return std::nullopt;
    return Number::percent(use_.l2.hits, lines);
  }
  std::optional<Number> acts_per_line() const {
    if (!work_.activates || work_.memory_bytes == 0) return std::nullopt;
    return Number::quotient(*work_.activates * chip_.l2.line, work_.memory_bytes, 3);
  }
  // Operations per picosecond are 10^12 of them per second.
  Number tflops() const { return Number::quotient(*work_.operations, count(use_.time), 3); }

  reports::Report& report_;
  const std::string& subject_;
  const timeline::KernelUse& use_;
  const model::ChipConfig& chip_;
  const std::vector<UsedPart> parts_;
  const KernelWork& work_;
};

// "card3" -> 3.
std::size_t index_of(const std::string& card) {
  constexpr std::size_t kPrefix = 4;
  std::size_t index = 0;
  if (card.size() > kPrefix) {
    std::from_chars(card.data() + kPrefix, card.data() + card.size(), index);
  }
  return index;
}

}  // namespace

bool has_kernel_use(const reports::Report& report) {
  const auto& sections = report.sections();
  return std::any_of(sections.begin(), sections.end(),
                     [](const auto& each) { return each.name == kSection; });
}

void add_kernel_use(reports::Report& report, const std::string& subject,
                    const timeline::KernelUse& use, const model::SystemConfig& config,
                    const TrackCapacities& capacities, const KernelWork& work) {
  const auto card = index_of(use.card);
  if (use.time.count() == 0 || card >= config.cards.size()) return;
  if (has_kernel_use(report)) return;
  const auto& chip = config.cards[card];
  auto parts =
      used_parts(use, chip, capacities.of(use.card + ".l2"), capacities.of(use.card + ".hbm"));
  UseReport(report, subject, use, chip, std::move(parts), work).add();
}

}  // namespace npu::workloads
