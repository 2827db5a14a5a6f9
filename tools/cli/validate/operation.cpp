// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/validate/operation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "tools/cli/validate/network_row.hpp"
#include "tools/cli/validate/recipe.hpp"
#include "tools/cli/validate/signals.hpp"

namespace npu::validate {
namespace {

struct Part {
  std::string_view published, here;
};

// The column sku, or its first word. A part that is not stated more exactly is the one whose
// measurements are public. What sources call A5 copies 3 TB/s from memory, which a 950PR cannot.
constexpr Part kParts[] = {{"910B1", "910b1"}, {"910B2", "910b2"}, {"910B3", "910b3"},
                           {"910B4", "910b4"}, {"910C", "910c"},   {"A3", "910c"},
                           {"910B", "910b2"},  {"A2", "910b2"},    {"A2/A3", "910b2"},
                           {"950PR", "950pr"}, {"950DT", "950dt"}, {"950 (A5)", "950dt"},
                           {"950", "950pr"},   {"Ascend", "910b2"}};

struct Metric {
  std::string_view name;
  Interval interval;
};
constexpr Metric kMetrics[] = {{"task_duration", Interval::kDevice},
                               {"kernel", Interval::kDevice},
                               {"compute", Interval::kDevice},
                               {"latency", Interval::kDevice},
                               {"bandwidth", Interval::kDevice},
                               {"fraction_of_copy", Interval::kDevice},
                               {"wall_per_call", Interval::kWall},
                               {"wall_by_events", Interval::kWall},
                               {"median", Interval::kWall},
                               {"total", Interval::kDevice},
                               {"peak", Interval::kWall}};

std::string first_word(const std::string& text) {
  return text.substr(0, text.find_first_of(" ,"));
}

// A row is a name in the column op.
struct Recipe {
  std::string_view op;
  Made (*make)(const Measurement&);
};
constexpr Recipe kRecipes[] = {{"exp", elementwise},
                               {"gelu", elementwise},
                               {"sigmoid", elementwise},
                               {"mish", elementwise},
                               {"maximum", elementwise},
                               {"matmul", matmul},
                               {"gemm", matmul},
                               {"quant_matmul", quant_matmul},
                               {"softmax", softmax},
                               {"transpose", transpose},
                               {"group_norm", group_norm},
                               {"apply_adam_w", apply_adam_w},
                               {"swi_glu", on_last_axis},
                               {"rms_norm", on_rows},
                               {"add_rms_norm", on_rows},
                               {"dynamic_quant", on_rows},
                               {"add_rms_norm_dynamic_quant", on_rows},
                               {"dequant_swiglu_quant", dequant_swiglu_quant},
                               {"grouped_matmul", grouped_matmul},
                               {"mha", attention},
                               {"gqa", attention},
                               {"flash_attention", attention},
                               {"gemma_rms_norm", gemma_rms_norm},
                               {"rms_norm_cast", on_rows},
                               {"hadamard", hadamard},
                               {"copy D2D", copy_on_card},
                               {"causal_conv1d", causal_conv1d},
                               {"remote_get", remote_get},
                               {"mhc_post", hyper_connection},
                               {"mhc_res", hyper_connection},
                               {"transpose_batch_matmul", transpose_batch_matmul},
                               {"gdn chunk_cumsum", gdn_cumsum},
                               {"gdn scaled_dot_kkt", gdn_kkt},
                               {"gdn solve_tril", gdn_solve_tril},
                               {"gdn wy_fast", gdn_wy_fast},
                               {"gdn chunk_o", gdn_chunk_o},
                               {"triangular_inverse", triangular_inverse}};

// Of operators without a recipe, where more can be said than that.
struct Missing {
  std::string_view begin;  // of the column op
  const char* reason;
};
constexpr Missing kMissing[] = {
    {"conv2d", "convolutions with several channels are not modelled"},
    {"allgather_gemm", "a kernel does not compute and talk to other cards at once"},
    {"gemm_allreduce", "a kernel does not compute and talk to other cards at once"},
    {"allreduce", "of a kernel of the source's own, not the library's operation"},
    {"moe_dispatch", "no system of several 950PR: nothing is published of their links"},
    {"moe_combine", "no system of several 950PR: nothing is published of their links"},
    {"moe_init_routing", "sorting by SIMT threads is not modelled"},
    {"histogram", "SIMT threads are not modelled"},
    {"mx_quant", "the vector unit has no elements of 4 bits"},
    {"gdn chunk_h", "chunks follow one another: no launch has both kinds of cores for them"},
    {"gdn one fused kernel", "no launch has both kinds of cores for all steps"},
    {"host metadata", "code of the host that is not published"},
    {"cube-vector hand-over", "no launch has both kinds of cores and nothing else to do"},
    {"attention (native, unfused)", "the size of a head is not published"},
    {"ffn", "its shape is not published"},
    {"flash_attention_score", "its shape is not published"},
    {"mla_decode", "its shape is not published"},
    {"sparse attention", "which keys it reads is not published"},
};
const char* why_missing(const std::string& op) {
  const auto* const found =
      std::find_if(std::begin(kMissing), std::end(kMissing), [&](const Missing& row) {
        return std::string_view(op).substr(0, row.begin.size()) == row.begin;
      });
  return found == std::end(kMissing) ? "no such operator" : found->reason;
}

// Whether a run of the operation has a value in the row's unit.
std::string unit_fault(const Measurement& row, const Operation& made) {
  if (microseconds_in(row.unit) != 0 || !made.reference.empty()) return {};
  if (row.unit == "GB/s") return made.bytes > 0 ? "" : "what the rate counts is not known";
  if (row.unit == "TFLOPS") return made.operations > 0 ? "" : "what the rate counts is not known";
  return fmt::format("the unit '{}' is no time and no rate", row.unit);
}

}  // namespace

double microseconds_in(std::string_view unit) {
  if (unit == "us") return 1;
  if (unit == "ms") return 1e3;
  if (unit == "ticks of 50 MHz") return 0.02;
  return unit == "ns" ? 1e-3 : 0;
}

std::optional<std::string> part_here(const std::string& sku) {
  const auto word = first_word(sku);
  const auto* const part = std::find_if(
      std::begin(kParts), std::end(kParts),
      [&](const Part& known) { return known.published == sku || known.published == word; });
  if (part == std::end(kParts)) return std::nullopt;
  return std::string(part->here);
}

tl::expected<Operation, std::string> operation_of(const Measurement& row) {
  if (row.network) return network::operation_of(row);
  if (is_signal(row)) return signal_of(row);
  const auto* const recipe = std::find_if(std::begin(kRecipes), std::end(kRecipes),
                                          [&](const Recipe& known) { return known.op == row.op; });
  if (recipe == std::end(kRecipes)) return refuse(why_missing(row.op));
  const auto part = part_here(row.sku);
  if (!part) return refuse("no configuration of this part");
  const auto* const metric =
      std::find_if(std::begin(kMetrics), std::end(kMetrics),
                   [&](const Metric& known) { return known.name == row.metric; });
  if (metric == std::end(kMetrics)) {
    return refuse(fmt::format("the metric '{}' is none of a run", row.metric));
  }
  auto made = recipe->make(row);
  if (!made) return made;
  if (auto fault = unit_fault(row, *made); !fault.empty()) return refuse(std::move(fault));
  switch (made->interval.value_or(metric->interval)) {
    case Interval::kDevice:
      made->metric = made->device_metric;
      break;
    case Interval::kWall:
      made->metric = made->wall_metric;
      break;
    case Interval::kPipes:
      made->metric = made->pipes_metric;
      break;
  }
  if (made->metric.empty()) {
    return refuse(fmt::format("the metric '{}' is none of its run", row.metric));
  }
  if (made->configuration.empty()) made->configuration = *part;
  // Cores do not compute data; times are those of cores that do, up to phases of refreshes.
  made->settings.emplace_back("functional", "off");
  if (!made->reference.empty()) made->reference.emplace_back("functional", "off");
  return made;
}

double predicted(const Measurement& row, const Operation& operation, double microseconds,
                 double reference) {
  if (!operation.reference.empty()) return reference / microseconds;
  if (operation.scale != 0) return (microseconds - operation.minus) * operation.scale;
  if (row.unit == "GB/s") return operation.bytes / microseconds * 1e-3;
  if (row.unit == "TFLOPS") return operation.operations / microseconds * 1e-6;
  return microseconds / microseconds_in(row.unit);
}

}  // namespace npu::validate
