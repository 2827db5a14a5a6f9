// SPDX-License-Identifier: Apache-2.0
#include "driver/virtual/partition_placement.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "npu/driver/memory.hpp"

namespace npu::driver {

std::vector<PlacedRange> free_runs(std::uint64_t total, std::vector<PlacedRange> taken) {
  std::sort(taken.begin(), taken.end(),
            [](const PlacedRange& a, const PlacedRange& b) { return a.begin < b.begin; });
  std::vector<PlacedRange> runs;
  std::uint64_t at = 0;
  for (const auto& range : taken) {
    if (range.begin > at) runs.push_back({at, range.begin - at});
    at = std::max(at, range.begin + range.size);
  }
  if (at < total) runs.push_back({at, total - at});
  std::stable_sort(runs.begin(), runs.end(), [](const PlacedRange& a, const PlacedRange& b) {
    return a.size != b.size ? a.size < b.size : a.begin > b.begin;
  });
  return runs;
}

std::optional<std::uint64_t> place_run(std::uint64_t total, const std::vector<PlacedRange>& taken,
                                       std::uint64_t size) {
  for (const auto& run : free_runs(total, taken)) {
    if (run.size >= size) return run.begin + run.size - size;
  }
  return std::nullopt;
}

std::vector<Bytes> memory_places(Bytes total, const std::vector<PlacedRange>& taken, Bytes size) {
  std::vector<Bytes> places;
  for (const auto& run : free_runs(total, taken)) {
    if (run.size < size) continue;
    // From its end downwards, in steps that are small against a device's memory.
    constexpr Bytes kStep = 32 * kPageSize;
    for (Bytes slack = run.size - size;; slack -= kStep) {
      places.push_back(run.begin + slack);
      if (slack < kStep) break;
    }
    if (places.back() != run.begin) places.push_back(run.begin);
  }
  return places;
}

std::string missing(const CardPartition& wanted, const CardPartition& left) {
  const std::pair<const char*, std::pair<std::uint32_t, std::uint32_t>> amounts[] = {
      {"AI Cores", {wanted.ai_cores, left.ai_cores}}, {"AICPUs", {wanted.aicpus, left.aicpus}},
      {"VPC units", {wanted.vpc, left.vpc}},          {"JPEG decoders", {wanted.jpegd, left.jpegd}},
      {"JPEG encoders", {wanted.jpege, left.jpege}},  {"video encoders", {wanted.venc, left.venc}},
      {"video decoders", {wanted.vdec, left.vdec}}};
  for (const auto& [name, amount] : amounts) {
    if (amount.first <= amount.second) continue;
    return fmt::format("{} {} wanted, {} are free", amount.first, name, amount.second);
  }
  return {};
}

}  // namespace npu::driver
