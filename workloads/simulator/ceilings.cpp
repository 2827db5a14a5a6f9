// SPDX-License-Identifier: Apache-2.0
#include "workloads/simulator/ceilings.hpp"

#include <fmt/format.h>

#include <vector>

#include "model/config/link_rate.hpp"
#include "tools/reports/number.hpp"

namespace npu::workloads {
namespace {

using reports::Number;

std::string ceiling(const std::string& name, const std::string& kind, const Number& value,
                    const std::string& unit) {
  return fmt::format(R"({{"name": "{}", "kind": "{}", "value": {}, "unit": "{}"}})", name, kind,
                     value.text(), unit);
}

void add_card(std::vector<std::string>& all, const std::string& card,
              const model::ChipConfig& chip) {
  constexpr std::uint64_t kGiga = 1'000'000'000;
  const auto rate = [](std::uint64_t bytes) { return Number::quotient(bytes, kGiga, 3); };
  // A multiplication and an addition per clock, in 10^12 per second.
  const auto cube = [&](unsigned macs) {
    return Number::quotient(2 * std::uint64_t{macs} * chip.ai_cores * (chip.aicore.clock_hz / 1000),
                            kGiga, 3);
  };
  const auto& macs = chip.core.cube;
  all.push_back(ceiling(card + ".link", "link", rate(link_bytes_per_second(chip.link)), "GB/s"));
  all.push_back(ceiling(card + ".hbm", "hbm", rate(hbm_bytes_per_second(chip.hbm)), "GB/s"));
  all.push_back(ceiling(card + ".cube.fp16", "compute", cube(macs.fp16_macs), "TFLOP/s"));
  all.push_back(ceiling(card + ".cube.int8", "compute", cube(macs.int8_macs), "TOP/s"));
  if (macs.fp32_macs == 0) return;  // not native
  all.push_back(ceiling(card + ".cube.fp32", "compute", cube(macs.fp32_macs), "TFLOP/s"));
}

}  // namespace

std::string ceilings_json(const model::SystemConfig& config) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < config.cards.size(); ++i) {
    add_card(all, fmt::format("card{}", i), config.cards[i]);
  }
  return "[" + fmt::format("{}", fmt::join(all, ",\n    ")) + "]";
}

}  // namespace npu::workloads
