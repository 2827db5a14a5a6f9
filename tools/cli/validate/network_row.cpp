// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/validate/network_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "tools/cli/validate/network_text.hpp"
#include "tools/cli/validate/recipe.hpp"

namespace npu::validate::network {
namespace {

struct Refused {
  std::string_view words;  // of the column model_op
  const char* reason;
};
// Before anything else: what these say may look like something that can be run.
constexpr Refused kRefused[] = {
    {"allgather+matmul", "a kernel does not compute and talk to other cards at once"},
    {"matmul+allreduce", "a kernel does not compute and talk to other cards at once"},
    {"matmul+reducescatter", "a kernel does not compute and talk to other cards at once"},
    {"dispatchffncombine", "a kernel does not compute and talk to other cards at once"},
    {"MoE dispatch normal", "moe_dispatch() brings up to 512 tokens of a rank"},
    {"MoE combine normal", "moe_combine() brings up to 512 tokens of a rank"},
    {"split_qkv_rmsnorm_rope", "one fused kernel, where npusim has slices, norms and rope apart"},
    {"MLAProlog", "its products are not one kernel here, and its shape is not published"},
    {"KvRmsNormRopeCache", "one fused kernel, where npusim has norm, rope and cache apart"},
    {"MoeGatingTopK", "no such operator"},
    {"Sort", "no operator sorts whole rows"},
    {"op by op", "its time is that of a framework on the host, which is not modelled"},
    {"eager", "its time is that of a framework on the host, which is not modelled"}};

// Names of models as sources write them, without case; the longest one that is there counts.
struct Alias {
  std::string_view published, here;
};
constexpr Alias kAliases[] = {{"llama2-7b", "llama-2-7b"},     {"llama3-8b", "llama-3-8b"},
                              {"llama-3.1-8b", "llama-3-8b"},  {"llama3.1-8b", "llama-3-8b"},
                              {"llama3-70b", "llama-3-70b"},   {"llama-3.1-70b", "llama-3-70b"},
                              {"llama3.1-70b", "llama-3-70b"}, {"qwen2-7b", "qwen2.5-7b"},
                              {"qwen2-0.5b", "qwen2.5-0.5b"}};

std::optional<Model> model_in(std::string_view text) {
  for (const auto& name : workloads::transformer::known_models()) {
    if (name == "tiny" || !says(text, name)) continue;
    if (auto model = workloads::transformer::read_model(name)) return *model;
  }
  for (const auto& alias : kAliases) {
    if (!says(text, alias.published)) continue;
    if (auto model = workloads::transformer::read_model(std::string(alias.here))) return *model;
  }
  return std::nullopt;
}

// "8", or "EP/2", which is none.
std::uint64_t cards_in(const std::string& text) {
  const auto number = number_behind(text, "");
  return number && *number <= 4096 ? *number : 0;
}

}  // namespace

tl::expected<Facts, std::string> facts_of(const Measurement& row) {
  const auto part = part_here(row.sku);
  if (!part) return refuse("no configuration of this part");
  Facts facts;
  facts.part = *part;
  constexpr std::uint64_t kDiesOf910C = 2;
  const auto cards = cards_in(row.cards);
  facts.dies = *part == "910c" ? cards * kDiesOf910C : cards;
  facts.model = model_in(row.op);
  if (!facts.model) facts.model = model_in(row.source);
  for (const auto& text : {row.op, row.shape, row.source, row.note}) {
    const auto divided = number_behind(text, "TP");
    if (!divided || *divided == 0) continue;
    facts.divided = *divided;
    break;
  }
  facts.type = type_in({row.op, row.shape, row.note});
  if (facts.type.empty()) facts.type = "bfloat16";
  return facts;
}

std::optional<System> system_of(const std::string& part, std::uint64_t dies) {
  struct Shipped {
    std::string_view part;
    std::uint64_t dies;
    const char* name;
    std::vector<std::pair<std::string, std::string>> keys;
  };
  static const std::vector<Shipped> kSystems = {
      {"910c", 2, "system-2x910c", {}},
      {"910c", 16, "system-16x910c", {}},
      {"910c", 64, "system-64x910c", {}},
      {"910b2", 2, "system-2x910b2", {}},
      {"910b2", 16, "system-16x910b2", {}},                     // two servers of eight
      {"910b3", 16, "system-16x910b2", {{"ai_cores", "20"}}}};  // as 910b3.yaml
  for (const auto& system : kSystems) {
    if (system.part == part && dies <= system.dies) return System{system.name, system.keys};
  }
  return std::nullopt;
}

Made operation_of(const Measurement& row) {
  for (const auto* text : {&row.op, &row.shape, &row.note, &row.source}) {
    if (text->size() > kLongestText) return refuse("a text is longer than 4096 characters");
  }
  const auto* const refused =
      std::find_if(std::begin(kRefused), std::end(kRefused),
                   [&](const Refused& known) { return says(row.op, known.words); });
  if (refused != std::end(kRefused)) return refuse(refused->reason);
  const auto facts = facts_of(row);
  if (!facts) return refuse(facts.error());
  for (const auto make : {experts, collective, kernel, step}) {
    auto made = make(row, *facts);
    if (!made) continue;
    const bool rate = row.unit == "GB/s" && *made && (*made)->bytes > 0;
    if (*made && (*made)->scale == 0 && microseconds_in(row.unit) == 0 && !rate) {
      return refuse(fmt::format("the unit '{}' is not the figure's", row.unit));
    }
    return *made;
  }
  return refuse(facts->model ? "no such operator, and no figure of a step"
                             : "no such operator, and no such model");
}

}  // namespace npu::validate::network
