// SPDX-License-Identifier: Apache-2.0
// Operations of several cards, by `run collective` and `run moe_exchange`.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "tools/cli/validate/network_row.hpp"
#include "tools/cli/validate/network_text.hpp"
#include "tools/cli/validate/recipe.hpp"
#include "tools/reports/number.hpp"

namespace npu::validate::network {
namespace {

constexpr Bytes kMostOfRank = 320_MiB;  // some minutes of a run
// Above this the memory is computed in closed form, as fidelity.csv has it for collectives.
constexpr Bytes kExactUpTo = 8_MiB;
// Vector cores of a card that gather in the published kernel (docs/sources/hccl.md E5).
constexpr const char* kCopyingCores = "16";

struct NamedCollective {
  std::string_view words, here;  // of the column model_op, without what stands between letters
  bool sharded;                  // the larger side of a rank is that of all ranks
};
constexpr NamedCollective kCollectives[] = {{"allreduce", "all_reduce", false},
                                            {"allgather", "all_gather", true},
                                            {"reducescatter", "reduce_scatter", true},
                                            {"alltoall", "all_to_all", false},
                                            {"broadcast", "broadcast", false}};

const NamedCollective* collective_named(const std::string& op) {
  std::string letters;
  for (const char c : lower(op)) {
    if (c != '_' && c != '-') letters += c;
  }
  const auto* const found = std::find_if(
      std::begin(kCollectives), std::end(kCollectives),
      [&](const NamedCollective& known) { return letters.find(known.words) != std::string::npos; });
  return found == std::end(kCollectives) ? nullptr : found;
}

std::uint64_t ranks_of(const Measurement& row, const Facts& facts) {
  for (const auto& text : {row.shape, row.note}) {
    for (const auto* word : {"ranks", "dies"}) {
      if (const auto ranks = number_before(text, word)) return *ranks;
    }
  }
  return facts.dies;
}

// A rank's shard of a gather beside a product: M rows of K bytes.
std::optional<Bytes> shard_of_product(const Measurement& row) {
  const auto m = number_behind(row.shape, "M"), k = number_behind(row.shape, "K");
  if (!m || !k) return std::nullopt;
  return *m * *k;
}

bool is_of_operation(const std::string& metric) {
  constexpr std::string_view kOperationMetrics[] = {
      "bench",   "in-network median", "in-network mean", "device time",
      "latency", "bandwidth",         "kernel"};
  return std::find(std::begin(kOperationMetrics), std::end(kOperationMetrics), metric) !=
         std::end(kOperationMetrics);
}

Made collective_run(const Measurement& row, const Facts& facts, const NamedCollective& operation) {
  if (!is_of_operation(row.metric)) {
    return refuse(
        fmt::format("the metric '{}' is none of an operation of several cards", row.metric));
  }
  const auto ranks = ranks_of(row, facts);
  if (ranks < 2) return refuse("the number of ranks is not published");
  const auto shard = shard_of_product(row);
  auto bytes = shard ? shard : bytes_in(row.shape);
  if (!bytes) return refuse("the bytes of a rank are not published, or beyond 8 GiB");
  const bool shards = shard || says(row.note, "shard") || says(row.note, "per-rank shard");
  if (operation.sharded && shards) *bytes *= ranks;
  if (*bytes == 0) return refuse("the operation moves no bytes");
  if (*bytes > kMostOfRank) return refuse("beyond 320 MiB of a rank the simulation takes too long");
  const auto system = system_of(facts.part, ranks);
  if (!system) return refuse(fmt::format("no system of {} dies of this part", ranks));
  const std::string type = shard || facts.type == "int8" ? "int8"
                           : facts.type == "float32"     ? "fp32"
                           : facts.type == "float16"     ? "fp16"
                                                         : "bf16";
  const auto size = reports::size_name(*bytes);
  const std::string algorithm = says(row.note, "AIV copy") ? "aiv" : "automatic";
  Operation made;
  made.configuration = system->name;
  made.workload = "collective";
  made.settings = {{"op", std::string(operation.here)},
                   {"ranks", std::to_string(ranks)},
                   {"type", type},
                   {"sizes", size},
                   {"functional", "off"}};
  if (algorithm == "aiv") {
    made.settings.emplace_back("algorithm", algorithm);
    made.settings.emplace_back("blocks", kCopyingCores);
  }
  // Short ones follow one another, as in a benchmark; long ones take a run of minutes each.
  made.settings.emplace_back("iterations", *bytes > kExactUpTo ? "1" : "4");
  if (*bytes > kExactUpTo) made.settings.emplace_back("hbm.fidelity", "run");
  for (const auto& key : system->keys) made.settings.push_back(key);
  made.metric =
      fmt::format("collective.{}.{}.{}.{}.time_us", operation.here, algorithm, type, size);
  made.bytes = static_cast<double>(*bytes);
  if (shard) made.left_out = "the product beside it";
  if (row.metric.rfind("in-network", 0) == 0) made.left_out = "that ranks do not come together";
  return made;
}

}  // namespace

// Tokens to experts and back, as the published tests of DeepEP's kernels have them.
std::optional<Made> experts(const Measurement& row, const Facts& facts) {
  const bool sends = says(row.op, "MoE dispatch");
  if (!sends && !says(row.op, "MoE combine")) return std::nullopt;
  if (row.metric != "latency") return refuse(fmt::format("the metric '{}' is no time", row.metric));
  const auto tokens = number_before(row.shape, "tokens"), ranks = number_behind(row.shape, "EP");
  const auto hidden = number_behind(row.note, "hidden"), chosen = number_behind(row.note, "top-");
  if (!tokens || !ranks || *ranks < 2 || !hidden || !chosen) {
    return refuse("the tokens, the ranks, the hidden size or the experts of a token are missing");
  }
  const auto system = system_of(facts.part, *ranks);
  if (!system) return refuse(fmt::format("no system of {} dies of this part", *ranks));
  Operation made;
  made.configuration = system->name;
  made.workload = "moe_exchange";
  made.settings = {{"ranks", std::to_string(*ranks)},
                   {"tokens", std::to_string(*tokens)},
                   {"hidden", std::to_string(*hidden)},
                   {"chosen", std::to_string(*chosen)},
                   {"quantised", says(row.note, "INT8 dispatch") ? "on" : "off"},
                   {"iterations", "2"},
                   {"functional", "off"}};
  for (const auto& key : system->keys) made.settings.push_back(key);
  made.metric = fmt::format("moe_exchange.{}.{}.time_us", *tokens, sends ? "dispatch" : "combine");
  made.left_out = "the number of experts is not published, 256 assumed";
  return made;
}

std::optional<Made> collective(const Measurement& row, const Facts& facts) {
  const auto* const operation = collective_named(row.op);
  if (operation == nullptr) return std::nullopt;
  return collective_run(row, facts, *operation);
}

}  // namespace npu::validate::network
