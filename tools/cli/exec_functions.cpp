// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/exec_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "npu/base/shortened.hpp"
#include "npu/base/text.hpp"

namespace npu::cli {
namespace {

std::optional<std::size_t> number_of(std::string_view text, std::size_t end) {
  const auto number = read_number<std::size_t>(text);
  return number && *number < end ? number : std::nullopt;
}

std::string names_of(const std::vector<model::VirtualTemplateConfig>& templates) {
  std::string names;
  for (const auto& each : templates) names += (names.empty() ? "" : ", ") + each.name;
  return names;
}

// "[PROGRAM=]N[,TEMPLATE]"
struct Wish {
  std::optional<std::size_t> program;  // none: all
  exec::CardFunction function;
};

tl::expected<Wish, Failure> read_wish(const std::string& text, const model::ChipConfig& card,
                                      std::size_t programs) {
  const auto bad = [&](const std::string& what) {
    return bad_input("exec: --vf " + shortened(text) + ": " + what);
  };
  Wish wish;
  std::string_view rest = text;
  if (const auto equals = rest.find('='); equals != std::string_view::npos) {
    const auto name = rest.substr(0, equals);
    if (!name.empty() && name[0] == 'p') wish.program = number_of(name.substr(1), programs);
    if (!wish.program) return bad(fmt::format("the programs are p0 to p{}", programs - 1));
    rest.remove_prefix(equals + 1);
  }
  const auto comma = std::min(rest.find(','), rest.size());
  const auto number = number_of(rest.substr(0, comma), card.pci.sriov_total_vfs);
  if (!number) {
    return bad(
        fmt::format("expected [PROGRAM=]NUMBER[,TEMPLATE]; the card's virtual functions are "
                    "0 to {}",
                    card.pci.sriov_total_vfs - 1));
  }
  wish.function.index = static_cast<std::uint32_t>(*number);
  const auto& templates = card.virtual_functions.templates;
  const auto name =
      comma == rest.size() ? std::string_view(templates[0].name) : rest.substr(comma + 1);
  const bool known = std::any_of(templates.begin(), templates.end(),
                                 [&](const auto& each) { return each.name == name; });
  if (!known) return bad("no such template; there are " + names_of(templates));
  wish.function.resource_template = name;
  return wish;
}

}  // namespace

Outcome read_functions(const std::vector<std::string>& words, const model::SystemConfig& config,
                       std::size_t programs, exec::ServerOptions& server) {
  if (words.empty()) return {};
  const auto& card = config.cards[0];
  if (card.pci.sriov_total_vfs == 0 || card.virtual_functions.templates.empty()) {
    return bad_input("exec: --vf: the configuration's card has no virtual functions");
  }
  std::vector<std::optional<exec::CardFunction>> wanted(programs);  // the last word counts
  for (const auto& text : words) {
    const auto wish = read_wish(text, card, programs);
    if (!wish) return tl::unexpected(wish.error());
    for (std::size_t i = 0; i < programs; ++i) {
      if (!wish->program || *wish->program == i) wanted[i] = wish->function;
    }
  }
  for (const auto& function : wanted) {
    server.function_of.emplace_back();
    if (!function) continue;
    auto& all = server.functions;
    auto found = std::find_if(all.begin(), all.end(),
                              [&](const auto& each) { return each.index == function->index; });
    if (found == all.end()) found = all.insert(all.end(), *function);
    if (found->resource_template != function->resource_template) {
      return bad_input(fmt::format("exec: --vf: function {} is to be {} and {}", function->index,
                                   found->resource_template, function->resource_template));
    }
    server.function_of.back() = static_cast<std::size_t>(found - all.begin());
  }
  return {};
}

}  // namespace npu::cli
