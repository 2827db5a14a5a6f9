// SPDX-License-Identifier: Apache-2.0
#include "npu/abi/register_reference.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include "npu/base/shortened.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "workloads/framework/suggestion.hpp"

namespace npu::cli {
namespace {

bool matches(std::string_view name, const std::string& pattern) {
  return pattern.empty() || fnmatch(pattern.c_str(), std::string(name).c_str(), FNM_CASEFOLD) == 0;
}

std::string bits_of(const abi::FieldInfo& field) {
  return field.high == field.low ? std::to_string(field.low)
                                 : fmt::format("{}:{}", field.high, field.low);
}

// "ProducerIndex  slot after the last valid entry", or "bytes: memory" of a whole register.
std::string what(const abi::FieldInfo& field) {
  return field.name.empty() ? fmt::format("{}: {}", field.unit, field.meaning)
                            : fmt::format("{:14} {}", field.name, field.meaning);
}

std::string lines_of(const abi::RegisterBlock& block, const std::string& pattern) {
  std::string lines;
  const auto* field = block.fields;
  for (const auto* row = block.begin; row != block.end; ++row) {
    const bool is_listed = matches(row->name, pattern);
    if (is_listed) {
      lines += fmt::format("  {:#06x}  {:4}  {:6}  {:#5x}  {}\n", row->offset, row->size,
                           abi::to_string(row->access), row->reset, row->name);
    }
    for (; field != block.fields_end && field->of == row->name; ++field) {
      if (!is_listed) continue;
      lines += fmt::format("{:>14}  {:6}  {:#5x}    {}\n", bits_of(*field),
                           abi::to_string(field->access), field->reset, what(*field));
    }
  }
  if (lines.empty()) return lines;
  return fmt::format(
      "{}\n  offset  size  access  reset  name\n          bits  access  reset    field\n{}",
      block.title, lines);
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const auto& block : abi::kRegisterBlocks) {
    for (const auto* row = block.begin; row != block.end; ++row) names.emplace_back(row->name);
  }
  return names;
}

}  // namespace

Outcome list_registers(const Options& options) {
  if (auto ok = expect_at_most(1, "registers", options.arguments); !ok) return ok;
  const std::string pattern = options.arguments.empty() ? "" : options.arguments[0];
  std::string text;
  for (const auto& block : abi::kRegisterBlocks) {
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
