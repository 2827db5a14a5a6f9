// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/collective_values.hpp"

#include <algorithm>
#include <cstring>

#include "workloads/programs/support/elements.hpp"

namespace npu::workloads {
namespace {

using driver::CollectiveAlgorithm;
using driver::CollectiveOperation;
using driver::CollectiveType;
using driver::Reduction;

struct NamedType {
  const char* name;
  CollectiveType type;
};
constexpr NamedType kTypes[] = {
    {"fp32", CollectiveType::kFp32},   {"fp16", CollectiveType::kFp16},
    {"bf16", CollectiveType::kBf16},   {"int8", CollectiveType::kInt8},
    {"int16", CollectiveType::kInt16}, {"int32", CollectiveType::kInt32}};

constexpr CollectiveOperation kOperations[] = {
    CollectiveOperation::kAllReduce,     CollectiveOperation::kAllGather,
    CollectiveOperation::kReduceScatter, CollectiveOperation::kBroadcast,
    CollectiveOperation::kReduce,        CollectiveOperation::kScatter,
    CollectiveOperation::kAllToAll};

template <class Integer>
void store(std::byte* at, std::int64_t value) {
  const auto stored = static_cast<Integer>(value);
  std::memcpy(at, &stored, sizeof stored);
}

}  // namespace

driver::CollectiveType collective_type(const std::string& name) {
  for (const auto& each : kTypes) {
    if (name == each.name) return each.type;
  }
  return CollectiveType::kFp32;
}

std::string name_of(CollectiveType type) {
  for (const auto& each : kTypes) {
    if (type == each.type) return each.name;
  }
  return "?";
}

driver::CollectiveOperation collective_operation(const std::string& name) {
  for (const auto each : kOperations) {
    if (name == to_string(each)) return each;
  }
  return CollectiveOperation::kBarrier;
}

driver::CollectiveAlgorithm collective_algorithm(const std::string& name) {
  for (std::size_t i = 0; i < driver::kCollectiveAlgorithms; ++i) {
    const auto each = static_cast<CollectiveAlgorithm>(i);
    if (name == to_string(each)) return each;
  }
  return CollectiveAlgorithm::kAutomatic;
}

driver::Reduction collective_reduction(const std::string& name) {
  return name == "max" ? Reduction::kMax : name == "min" ? Reduction::kMin : Reduction::kSum;
}

std::vector<std::string> collective_types() {
  std::vector<std::string> names;
  for (const auto& each : kTypes) names.emplace_back(each.name);
  return names;
}

std::vector<std::string> collective_operations() {
  std::vector<std::string> names;
  for (const auto each : kOperations) names.emplace_back(to_string(each));
  return names;
}

std::vector<std::string> collective_algorithms() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < driver::kCollectiveAlgorithms; ++i) {
    names.emplace_back(to_string(static_cast<CollectiveAlgorithm>(i)));
  }
  return names;
}

unsigned CollectiveProblem::blocks_from() const {
  const bool many = operation == CollectiveOperation::kReduceScatter ||
                    operation == CollectiveOperation::kScatter ||
                    operation == CollectiveOperation::kAllToAll;
  return many ? ranks : 1;
}

unsigned CollectiveProblem::blocks_to() const {
  const bool many =
      operation == CollectiveOperation::kAllGather || operation == CollectiveOperation::kAllToAll;
  return many ? ranks : 1;
}

std::uint64_t CollectiveProblem::bus_factor() const {
  if (operation == CollectiveOperation::kAllReduce) return 2 * (ranks - 1);
  const bool whole =
      operation == CollectiveOperation::kBroadcast || operation == CollectiveOperation::kReduce;
  return whole ? ranks : ranks - 1;
}

// -3 .. 3, by a hash.
std::int64_t CollectiveProblem::input(unsigned rank, unsigned block, std::uint64_t index) const {
  std::uint64_t x = seed * 0x9E3779B97F4A7C15U + (std::uint64_t{rank} << 48) +
                    (std::uint64_t{block} << 40) + index;
  x ^= x >> 31;
  x *= 0xBF58476D1CE4E5B9U;
  x ^= x >> 27;
  return static_cast<std::int64_t>(x % 7) - 3;
}

std::int64_t CollectiveProblem::reduced(unsigned block, std::uint64_t index) const {
  std::int64_t value = input(0, block, index);
  for (unsigned rank = 1; rank < ranks; ++rank) {
    const auto next = input(rank, block, index);
    if (reduction == Reduction::kSum) value += next;
    if (reduction == Reduction::kMax) value = std::max(value, next);
    if (reduction == Reduction::kMin) value = std::min(value, next);
  }
  return value;
}

void store_small(CollectiveType type, std::byte* at, std::int64_t value) {
  switch (abi::element_size(type)) {
    case 1:
      return store<std::uint8_t>(at, value);
    case 2:
      if (type == CollectiveType::kFp16) {
        return store_element(DataType::kFp16, at, 0, static_cast<double>(value));
      }
      if (type == CollectiveType::kBf16) {
        return store_element(DataType::kBf16, at, 0, static_cast<double>(value));
      }
      return store<std::uint16_t>(at, value);
    default:
      if (type == CollectiveType::kFp32) {
        return store_element(DataType::kFp32, at, 0, static_cast<double>(value));
      }
      return store<std::uint32_t>(at, value);
  }
}

void CollectiveProblem::fill(unsigned rank, unsigned block, std::uint64_t first,
                             ByteSpan bytes) const {
  const Bytes size = abi::element_size(type);
  for (Bytes at = 0; at < bytes.size; at += size) {
    store_small(type, bytes.data + at, input(rank, block, first + at / size));
  }
}

bool CollectiveProblem::expect(unsigned rank, unsigned block, std::uint64_t first,
                               ByteSpan bytes) const {
  const auto value = [&](std::uint64_t index) -> std::int64_t {
    switch (operation) {
      case CollectiveOperation::kAllGather:
        return input(block, 0, index);
      case CollectiveOperation::kReduceScatter:
        return reduced(rank, index);
      case CollectiveOperation::kBroadcast:
        return input(root, 0, index);
      case CollectiveOperation::kScatter:
        return input(root, rank, index);
      case CollectiveOperation::kAllToAll:
        return input(block, rank, index);
      default:
        return reduced(0, index);
    }
  };
  if (operation == CollectiveOperation::kReduce && rank != root) return false;
  const Bytes size = abi::element_size(type);
  for (Bytes at = 0; at < bytes.size; at += size) {
    store_small(type, bytes.data + at, value(first + at / size));
  }
  return true;
}

}  // namespace npu::workloads
