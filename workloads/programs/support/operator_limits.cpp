// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/operator_limits.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/programs/support/core_limits.hpp"

namespace npu::workloads {

// "0": not given.
std::vector<std::uint64_t> group_ends_of(const ParameterSet& parameters) {
  const auto& ends = parameters.integers("group_ends");
  return ends == std::vector<std::uint64_t>{0} ? std::vector<std::uint64_t>{} : ends;
}

Status check_group_ends(const operators::NormalisedCall& call,
                        const std::vector<std::uint64_t>& ends) {
  if (ends.empty()) return {};
  const auto refuse = [](const std::string& why) {
    return fail(ErrorCode::kInvalidArgument, "group_ends: " + why);
  };
  if (call.row->family != operators::Family::kGrouped) return refuse("is of grouped_matmul");
  if (ends.size() != call.batch) {
    return refuse(fmt::format("{} ends; there are {} groups", ends.size(), call.batch));
  }
  const std::uint64_t side = call.call.slice_k ? call.k : call.m;
  if (!std::is_sorted(ends.begin(), ends.end()) || ends.back() > side) {
    return refuse(fmt::format("ends rise, to {} at most", side));
  }
  return {};
}

Status check_size(const operators::OperatorCall& call) {
  constexpr double kMost = 1ULL << 54;
  double elements = 1;
  for (const auto side : call.shape)
    elements *= static_cast<double>(std::max<std::uint64_t>(side, 1));
  if (elements <= kMost) return {};
  return fail(ErrorCode::kInvalidArgument, "shape: the product of its sides is above 2^54");
}

operators::CardCores cores_of(const model::ChipConfig& chip) {
  const unsigned vectors = chip.core.type == model::ProgramCoreKind::kSplit ? 2 : 0;
  return operators::CardCores::of(chip.ai_cores, vectors, core_limits(chip));
}

std::string published_name(const operators::OperatorCall& call) {
  if (call.name == "basic_matmul") return "matmul";
  if (call.name != "flash_attention") return call.name;
  constexpr std::size_t kHeads = 1, kKvHeads = 2;  // of the shape
  return call.shape[kHeads] == call.shape[kKvHeads] ? "mha" : "gqa";
}

}  // namespace npu::workloads
