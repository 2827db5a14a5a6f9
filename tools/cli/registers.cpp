// SPDX-License-Identifier: Apache-2.0
#include "npu/abi/registers.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include "npu/abi/stream.hpp"
#include "npu/base/shortened.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "workloads/framework/suggestion.hpp"

namespace npu::cli {
namespace {

struct Block {
  std::string_view title;
  const abi::RegisterInfo* begin;
  const abi::RegisterInfo* end;
};

const Block kBlocks[] = {
    {"BAR0: offsets from its start", abi::kBar0Table.begin(), abi::kBar0Table.end()},
    {"stream window in BAR2: offsets from the start of the window", abi::kStreamTable.begin(),
     abi::kStreamTable.end()},
};

bool matches(std::string_view name, const std::string& pattern) {
  return pattern.empty() || fnmatch(pattern.c_str(), std::string(name).c_str(), FNM_CASEFOLD) == 0;
}

std::string lines_of(const Block& block, const std::string& pattern) {
  std::string lines;
  for (const auto* row = block.begin; row != block.end; ++row) {
    if (!matches(row->name, pattern)) continue;
    lines += fmt::format("  {:#06x}  {:4}  {:6}  {:#5x}  {}\n", row->offset, row->size,
                         abi::to_string(row->access), row->reset, row->name);
  }
  if (lines.empty()) return lines;
  return fmt::format("{}\n  offset  size  access  reset  name\n{}", block.title, lines);
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const auto& block : kBlocks) {
    for (const auto* row = block.begin; row != block.end; ++row) names.emplace_back(row->name);
  }
  return names;
}

}  // namespace

Outcome list_registers(const Options& options) {
  if (options.arguments.size() > 1) {
    return bad_input("registers: unexpected '" + shortened(options.arguments[1]) + "'");
  }
  const std::string pattern = options.arguments.empty() ? "" : options.arguments[0];
  std::string text;
  for (const auto& block : kBlocks) {
    const std::string lines = lines_of(block, pattern);
    if (!text.empty() && !lines.empty()) text += "\n";
    text += lines;
  }
  if (text.empty()) {
    return bad_input("no register '" + shortened(pattern) + "'" +
                     workloads::suggestion(pattern, all_names()));
  }
  return print(text);
}

}  // namespace npu::cli
