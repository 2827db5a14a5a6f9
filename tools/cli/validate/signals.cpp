// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/validate/signals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "tools/cli/validate/recipe.hpp"

namespace npu::validate {
namespace {

// "block 16K, total 128 MiB", "32KiB", "632 B": the first number of bytes as workloads write it.
std::optional<std::string> bytes_in(const std::string& shape) {
  const auto begin = std::find_if(shape.begin(), shape.end(),
                                  [](unsigned char c) { return std::isdigit(c) != 0; });
  auto end = begin;
  while (end != shape.end() && std::isdigit(static_cast<unsigned char>(*end)) != 0) ++end;
  if (begin == end) return std::nullopt;
  const std::string number(begin, end);
  while (end != shape.end() && *end == ' ') ++end;
  const char unit = end == shape.end() ? '?' : *end;
  if (unit == 'B') return number + "B";
  return unit == 'K' || unit == 'M' ? std::optional(number + unit + "iB") : std::nullopt;
}

Operation run_of(std::string configuration, std::string workload, std::string metric,
                 std::vector<std::pair<std::string, std::string>> settings) {
  Operation made;
  made.configuration = std::move(configuration);
  made.workload = std::move(workload);
  made.metric = std::move(metric);
  made.settings = std::move(settings);
  return made;
}

// From the dispatch, which the row does not count, to the first copy.
Made first_copy(const Measurement&) {
  constexpr double kDispatchUs = 0.2;
  Operation made = run_of("910b2", "vector_operator", "operator.start_us",
                          {{"op", "sigmoid"},
                           {"type", "fp32"},
                           {"elements", "64"},
                           {"tiling", "constant"},
                           {"functional", "off"}});
  made.minus = kDispatchUs;
  return made;
}

// One way between two cards.
Made between_cards(const Measurement& row, const char* configuration, const char* operation) {
  const auto size = bytes_in(row.shape);
  if (!size) return refuse("the shape is no number of bytes");
  const bool rate = row.metric == "bandwidth";
  return run_of(configuration, "p2p_bandwidth",
                fmt::format("p2p_bandwidth.one_way.{}.{}.{}", operation, *size,
                            rate ? "bandwidth_gb_per_s" : "latency_ns"),
                {{"patterns", "one_way"}, {"sizes", *size}, {"operations", operation}});
}
Made written_by_hccs(const Measurement& row) {
  auto made = between_cards(row, "system-2x910b2", "write");
  if (made) made->settings.emplace_back("bytes", "128MiB");
  return made;
}
Made read_by_hccs(const Measurement& row) {
  auto made = between_cards(row, "system-2x910b2", "read");
  if (made) made->settings.emplace_back("bytes", "128MiB");
  return made;
}
// Of another card: its link, not that of the dies of one. Rates are those of 32 blocks at a time.
Made sdma(const Measurement& row) {
  auto made = between_cards(row, "system-2x910c", "write");
  if (!made) return made;
  made->settings.emplace_back("hccs.rate_gb_per_s", "196");
  made->settings.emplace_back("bytes", bytes_in(row.shape) == "32KiB" ? "1MiB" : "16MiB");
  if (row.metric == "bandwidth") made->settings.emplace_back("depth", "32");
  return made;
}

Made to_the_card(const Measurement& row) {
  const auto size = bytes_in(row.shape);
  if (!size) return refuse("the shape is no number of bytes");
  return run_of("910c", "dma_latency", fmt::format("dma.h2d.{}.latency_ns", *size),
                {{"directions", "h2d"}, {"sizes", *size}});
}

Made tasks(const char* metric) {
  return run_of("910c", "dispatch_latency", metric, {{"tasks", "352"}, {"aicpu_thread_num", "1"}});
}
Made task_setup(const Measurement&) {
  return tasks("dispatch.register.chain.receive_to_start_us");
}
Made task_time(const Measurement&) {
  return tasks("dispatch.register.parallel.per_task_us");
}

struct SignalRow {
  std::string_view op;
  Made (*make)(const Measurement&);
  std::string_view reason;  // if nothing makes it
};

constexpr std::string_view kNoProgram =
    "no workload programs an AICPU; tests/system/signals measures it on the models alone";

constexpr SignalRow kSignals[] = {
    {"kernel init before first MTE2 (const tiling)", first_copy, ""},
    {"HCCS hixl_cs D2rD", written_by_hccs, ""},
    {"HCCS hixl_cs rD2D", read_by_hccs, ""},
    {"SDMA transfer", sdma, ""},
    {"H2D copy of 632 B (arena_h2d)", to_the_card, ""},
    {"AICore task setup (payload invalidate + ack)", task_setup, ""},
    {"AICPU scheduler thread total per task", task_time, ""},
    {"AI core scheduler dispatch", nullptr, "is the key aicore.dispatch_ns"},
    {"AI core hardware init", nullptr, "is the key aicore.init_ns"},
    {"kernel software init", nullptr, "is the key aicore.software_init_ns"},
    {"completion report after all cores end", nullptr, "is the key aicore.report_ns"},
    {"AICPU orchestrator task submit", nullptr,
     "no orchestrator runs on the card: the host submits tasks"},
    {"AICPU posted STR to AICore register (burst of 1000)", nullptr, kNoProgram},
    {"AICPU LDR of AICore COND register", nullptr, kNoProgram},
    {"AICPU->AICore signal (write DMB, AICore sees)", nullptr, kNoProgram},
    {"AICore->AICPU signal via COND (avg)", nullptr, kNoProgram},
    {"AICore->AICPU signal via GM+dcci (avg)", nullptr, kNoProgram}};

const SignalRow* signal_row(const std::string& op) {
  const auto* const found = std::find_if(std::begin(kSignals), std::end(kSignals),
                                         [&](const SignalRow& row) { return row.op == op; });
  return found == std::end(kSignals) ? nullptr : found;
}

// From the unit of a metric, by its name, to the row's; 0: they are not of one kind.
double scale_of(const Operation& operation, const std::string& unit) {
  const auto ends = [&](std::string_view tail) {
    const auto& name = operation.metric;
    return name.size() >= tail.size() &&
           name.compare(name.size() - tail.size(), tail.size(), tail) == 0;
  };
  if (ends("gb_per_s")) return unit == "GB/s" ? 1 : 0;
  const double us = microseconds_in(unit);
  if (us == 0) return 0;
  return (ends("_ns") ? 1e-3 : 1) / us;
}

}  // namespace

bool is_signal(const Measurement& row) {
  return signal_row(row.op) != nullptr;
}

tl::expected<Operation, std::string> signal_of(const Measurement& row) {
  const SignalRow& known = *signal_row(row.op);
  if (known.make == nullptr) return refuse(std::string(known.reason));
  auto made = known.make(row);
  if (!made) return made;
  made->scale = scale_of(*made, row.unit);
  if (made->scale == 0) return refuse(fmt::format("the unit '{}' is not the figure's", row.unit));
  return made;
}

}  // namespace npu::validate
