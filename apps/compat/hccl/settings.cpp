// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/hccl/settings.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>

#include "apps/compat/hccl/config.hpp"
#include "apps/compat/hccl/outcome.hpp"

namespace npu::compat::hccl {
namespace {

constexpr std::uint64_t kMib = std::uint64_t{1} << 20;
constexpr std::uint64_t kSmallestBuffer = 2 * kMib;  // pages of the card
constexpr unsigned kAlgorithmBits = 4;

// A number of a variable. HCCL_E_PARA.
HcclResult read_variable(const char* name, std::uint64_t least, std::uint64_t most,
                         std::uint64_t* number) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return HCCL_SUCCESS;
  const std::string_view digits(text);
  const bool is_number = !digits.empty() && digits.size() <= 10 &&
                         digits.find_first_not_of("0123456789") == std::string_view::npos;
  const std::uint64_t read = is_number ? std::strtoull(text, nullptr, 10) : 0;
  if (!is_number || read < least || read > most) {
    return refuse(HCCL_E_PARA, "%s=%s is no number from %llu to %llu", name, text,
                  static_cast<unsigned long long>(least), static_cast<unsigned long long>(most));
  }
  *number = read;
  return HCCL_SUCCESS;
}

struct Named {
  std::string_view name;
  std::uint64_t number;
};

// By wire::CommunicatorJoin::algorithms, under the names of HCCL_ALGO.
constexpr Named kOperations[] = {{"allreduce", 0}, {"allgather", 1}, {"reducescatter", 2},
                                 {"broadcast", 3}, {"reduce", 4},    {"alltoall", 5},
                                 {"scatter", 6},   {"alltoallv", 7}};
constexpr std::uint64_t kEveryOperation = 8;

// By driver::CollectiveAlgorithm: what level 0 may be.
constexpr Named kInside[] = {{"NA", 0},   {"null", 0},  {"fullmesh", 2}, {"mesh", 2},
                             {"ring", 3}, {"H-D_R", 4}, {"NHR", 5},      {"pairwise", 6}};
// Between servers, of which there is one.
constexpr Named kBetween[] = {{"NA", 0},       {"null", 0},   {"ring", 0}, {"H-D_R", 0},
                              {"NHR", 0},      {"NHR_V1", 0}, {"NB", 0},   {"pipeline", 0},
                              {"pairwise", 0}, {"AHC", 0},    {"star", 0}, {"fullmesh", 0}};

// Values of HCCL_OP_EXPANSION_MODE. The cards have no CCU.
constexpr Named kExpansions[] = {{"HOST", 1}, {"HOST_TS", 1},  {"AI_CPU", 1}, {"AICPU_TS", 1},
                                 {"AIV", 2},  {"AIV_ONLY", 2}, {"CCU_MS", 0}, {"CCU_SCHED", 0}};
// By HcclCommConfig::hcclOpExpansionMode: not set, HOST_TS, AICPU_TS, AIV, AIV_ONLY, CCU_MS,
// CCU_SCHED, AI_CPU.
constexpr std::uint64_t kExpansionModes[] = {0, 1, 1, 2, 2, 0, 0, 1};

template <std::size_t kCount>
const Named* find(const Named (&all)[kCount], std::string_view name) {
  const auto* const found =
      std::find_if(all, all + kCount, [name](const Named& one) { return one.name == name; });
  return found == all + kCount ? nullptr : found;
}

// The text up to the mark, which is taken off.
std::string_view take(std::string_view* text, char mark) {
  const auto end = std::min(text->find(mark), text->size());
  const auto first = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return first;
}

// "level0:ring;level1:NHR". False: it is none.
bool parse_levels(std::string_view text, std::uint64_t* inside) {
  if (text.empty()) return false;
  while (!text.empty()) {
    auto level = take(&text, ';');
    const auto which = take(&level, ':');
    const bool is_inside = which == "level0";
    if (!is_inside && which != "level1" && which != "level2") return false;
    const auto* const found = is_inside ? find(kInside, level) : find(kBetween, level);
    if (found == nullptr) return false;
    if (is_inside) *inside = found->number;
  }
  return true;
}

std::uint64_t place_of(std::uint64_t operation, std::uint64_t algorithm) {
  return algorithm << (operation * kAlgorithmBits);
}

HcclResult read_config(const HcclCommConfig& config, Settings* settings) {
  if (!is_initialised(config)) {
    return refuse(HCCL_E_PARA, "a configuration that HcclCommConfigInit() has not filled in");
  }
  if (config.hcclBufferSize != HCCL_COMM_BUFFSIZE_CONFIG_NOT_SET) {
    if (config.hcclBufferSize == 0) return refuse(HCCL_E_PARA, "hcclBufferSize is 0");
    settings->buffer_bytes = config.hcclBufferSize * kMib;
  }
  if (config.hcclExecTimeOut != HCCL_COMM_EXECTIMEOUT_CONFIG_NOT_SET) {
    if (config.hcclExecTimeOut < 0) return refuse(HCCL_E_PARA, "hcclExecTimeOut is negative");
    settings->exec_seconds = static_cast<std::uint64_t>(config.hcclExecTimeOut);
  }
  if (strnlen(config.hcclCommName, COMM_NAME_MAX_LENGTH) == COMM_NAME_MAX_LENGTH ||
      strnlen(config.hcclAlgo, HCCL_COMM_ALGO_MAX_LENGTH) == HCCL_COMM_ALGO_MAX_LENGTH) {
    return refuse(HCCL_E_PARA, "a text of the configuration does not end");
  }
  settings->name = config.hcclCommName;
  if (config.hcclOpExpansionMode >= std::size(kExpansionModes)) {
    return refuse(HCCL_E_PARA, "hcclOpExpansionMode is %u", config.hcclOpExpansionMode);
  }
  if (config.hcclOpExpansionMode != HCCL_COMM_DEFAULT_OP_EXPANSION_MODE) {
    settings->expansion = static_cast<wire::Expansion>(kExpansionModes[config.hcclOpExpansionMode]);
  }
  if (config.hcclAlgo[0] != 0 && !parse_algorithms(config.hcclAlgo, &settings->algorithms)) {
    return refuse(HCCL_E_PARA, "hcclAlgo: %s names no algorithms", config.hcclAlgo);
  }
  return HCCL_SUCCESS;
}

}  // namespace

bool parse_algorithms(const char* text, std::uint64_t* algorithms) {
  std::string_view left(text);
  std::uint64_t all = 0;
  if (left.find('=') == std::string_view::npos) {
    std::uint64_t inside = 0;
    if (!parse_levels(left, &inside)) return false;
    for (const auto& operation : kOperations) all |= place_of(operation.number, inside);
    *algorithms = all;
    return true;
  }
  std::uint64_t others = 0, named = 0;
  while (!left.empty()) {
    auto one = take(&left, '/');
    const auto name = take(&one, '=');
    const auto* const operation = find(kOperations, name);
    std::uint64_t inside = 0;
    const bool is_known = operation != nullptr || name == "others";
    if (!is_known || !parse_levels(one, &inside)) return false;
    const auto number = operation == nullptr ? kEveryOperation : operation->number;
    if (number == kEveryOperation) {
      others = inside;
    } else {
      named |= std::uint64_t{1} << number;
      all |= place_of(number, inside);
    }
  }
  for (const auto& operation : kOperations) {
    const bool has_own = (named >> operation.number & 1U) != 0;
    if (!has_own) all |= place_of(operation.number, others);
  }
  *algorithms = all;
  return true;
}

HcclResult read_settings(const HcclCommConfig* config, Settings* settings) {
  constexpr std::uint64_t kMost = 0x7FFF'FFFF;
  std::uint64_t buffer = HCCL_COMM_DEFAULT_BUFFSIZE;
  *settings = {};
  settings->exec_seconds = 1836;
  settings->connect_seconds = 120;
  auto read = read_variable("HCCL_BUFFSIZE", 1, kMost, &buffer);
  if (read == HCCL_SUCCESS) {
    read = read_variable("HCCL_EXEC_TIMEOUT", 0, kMost, &settings->exec_seconds);
  }
  if (read == HCCL_SUCCESS) {
    read = read_variable("HCCL_CONNECT_TIMEOUT", 120, 7200, &settings->connect_seconds);
  }
  if (read != HCCL_SUCCESS) return read;
  settings->buffer_bytes = buffer * kMib;
  const char* const algorithms = std::getenv("HCCL_ALGO");
  if (algorithms != nullptr && !parse_algorithms(algorithms, &settings->algorithms)) {
    return refuse(HCCL_E_PARA, "HCCL_ALGO=%s names no algorithms", algorithms);
  }
  if (const char* const mode = std::getenv("HCCL_OP_EXPANSION_MODE"); mode != nullptr) {
    const auto* const found = find(kExpansions, mode);
    if (found == nullptr) {
      return refuse(HCCL_E_PARA, "HCCL_OP_EXPANSION_MODE=%s is no mode", mode);
    }
    settings->expansion = static_cast<wire::Expansion>(found->number);
  }
  if (config != nullptr) read = read_config(*config, settings);
  settings->buffer_bytes = std::max(settings->buffer_bytes, kSmallestBuffer);
  return read;
}

}  // namespace npu::compat::hccl
