// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/completion.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "kernels/operators/table.hpp"
#include "model/config/load.hpp"
#include "npu/abi/register_reference.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/option_table.hpp"
#include "workloads/framework/registry.hpp"

namespace npu::cli {
namespace {

using Words = std::vector<std::string>;

// What stands before the cursor.
struct Line {
  std::string command;
  Words arguments;                  // of the command
  std::set<std::string> given;      // options, without "--"
  const OptionRow* open = nullptr;  // the option whose value the cursor is at
};

bool takes_value(const OptionRow& option) {
  return option.kind != Value::kNone && option.kind != Value::kRepeatable;
}

// Of any command, while none is known.
const OptionRow* look_up(const std::string& name, const std::string& command) {
  if (!command.empty()) return find_option(name, command);
  for (const auto& row : option_table()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

Line read_line(const Words& before) {
  Line line;
  for (std::size_t i = 1; i < before.size(); ++i) {
    const std::string& word = before[i];
    line.open = nullptr;
    if (word.rfind("--", 0) == 0 && word.size() > 2) {
      const auto equals = word.find('=');
      const std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
      line.given.insert(name);
      const OptionRow* option = look_up(name, line.command);
      if (option == nullptr || !takes_value(*option) || equals != std::string::npos) continue;
      if (option->kind == Value::kMode) continue;  // its value stands behind "="
      if (i + 1 == before.size()) line.open = option;
      ++i;
    } else if (word.empty() || word[0] != '-') {
      if (line.command.empty()) {
        line.command = word;
      } else {
        line.arguments.push_back(word);
      }
    }
  }
  return line;
}

void add_configurations(Candidates& found) {
  namespace fs = std::filesystem;
  std::set<std::string> names;
  Words folders = config_directories();
  folders.emplace_back("configs");
  for (const auto& folder : folders) {
    std::error_code code;
    for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
      // A machine without its chip is no configuration.
      if (at->path().extension() == ".yaml" && at->path().stem() != "single-card") {
        names.insert(at->path().stem().string());
      }
    }
  }
  found.words.insert(found.words.end(), names.begin(), names.end());
  found.files = true;
}

const workloads::Workload* workload_of(const Line& line) {
  if (line.command != "run" || line.arguments.empty()) return nullptr;
  const auto workload = workloads::all_workloads().find(line.arguments[0]);
  return workload ? *workload : nullptr;
}

Words values_of(const workloads::ParameterSpec& spec) {
  if (spec.type == workloads::ParameterType::kFlag) return {"on", "off"};
  if (!spec.choices.empty()) return spec.choices;
  if (spec.default_value.empty()) return {};
  return {spec.default_value};
}

// "key=" while the key is not complete, then "key=value"; of a list what stands before the last
// comma stays.
void add_assignments(const Line& line, const std::string& at, Candidates& found) {
  const auto equals = at.find('=');
  const workloads::Workload* workload = workload_of(line);
  if (equals == std::string::npos) {
    if (workload != nullptr) {
      for (const auto& spec : workload->parameters) found.words.push_back(spec.name + "=");
    }
    for (const auto& key : model::override_keys()) found.words.push_back(key + "=");
    found.go_on = true;
    return;
  }
  const std::string key = at.substr(0, equals);
  const auto comma = at.rfind(',');
  const std::string kept =
      at.substr(0, comma == std::string::npos ? equals + 1 : std::max(comma, equals) + 1);
  Words values = model::override_words(key);
  bool any_text = false;
  if (workload != nullptr) {
    for (const auto& spec : workload->parameters) {
      if (spec.name != key) continue;
      values = values_of(spec);
      any_text = spec.type == workloads::ParameterType::kText;
    }
  }
  for (const auto& value : values) found.words.push_back(kept + value);
  found.files = any_text;
}

void add_workloads(Candidates& found) {
  for (const auto& workload : workloads::all_workloads().all()) {
    found.words.push_back(workload.name);
  }
}

void add_registers(Candidates& found) {
  for (const auto& block : abi::kRegisterBlocks) {
    for (const auto* row = block.begin; row != block.end; ++row)
      found.words.emplace_back(row->name);
  }
}

void add_operators(Candidates& found) {
  const auto table = operators::operator_table();
  if (!table) return;
  for (const auto& row : **table) found.words.push_back(row.name);
}

void add_values(Value kind, const Line& line, const std::string& at, Candidates& found) {
  switch (kind) {
    case Value::kConfiguration:
      return add_configurations(found);
    case Value::kAssignment:
      return add_assignments(line, at, found);
    case Value::kInputFile:
    case Value::kOutputFile:
    case Value::kSweepFile:
      found.files = true;
      return;
    case Value::kFolder:
      found.folders = true;
      return;
    default:
      return;
  }
}

void add_arguments(const Line& line, const std::string& at, Candidates& found) {
  const CommandRow* command = find_command(line.command);
  if (command == nullptr) return;
  const std::size_t count = line.arguments.size();
  switch (command->words) {
    case Value::kWorkload:
      if (count == 0) add_workloads(found);
      return;
    case Value::kShell:
      if (count == 0) found.words = {"bash", "zsh"};
      return;
    case Value::kCommand:
      for (const auto& row : command_table()) {
        if (count == 0 && row.name != line.command) found.words.emplace_back(row.name);
      }
      return;
    case Value::kRegister:
      if (count == 0) add_registers(found);
      return;
    case Value::kOperator:
      if (count == 0) add_operators(found);
      return;
    case Value::kSmiAction:
      found.words = {"info", "watch", "create-vnpu", "destroy-vnpu"};
      return;
    case Value::kConfigAction:
      if (count == 0) found.words = {"check", "keys", "show"};
      if (count == 1 && line.arguments[0] != "keys") add_configurations(found);
      return;
    default:
      if (count < (line.command == "compare" ? 2U : 1U)) {
        add_values(command->words, line, at, found);
      }
  }
}

void add_options(const Line& line, Candidates& found) {
  std::set<std::string_view> there;
  for (const auto& row : option_table()) {
    if (!line.command.empty() && !belongs(row, line.command)) continue;
    if (line.given.count(std::string(row.name)) != 0 && !row.many) continue;
    if (there.insert(row.name).second) found.words.push_back("--" + std::string(row.name));
  }
}

void add_value(const OptionRow& option, const Line& line, const std::string& at,
               Candidates& found) {
  if (option.kind == Value::kChoice || option.kind == Value::kMode)
    found.words = choices_of(option);
  add_values(option.kind, line, at, found);
}

}  // namespace

Words joined(const Words& parts) {
  Words words;
  bool glue = false;
  for (const auto& part : parts) {
    const bool breaks = part == "=" || part == ":" || part == "==" || part == "=:";
    if (words.size() > 1 && (breaks || glue)) {
      words.back() += part;
    } else {
      words.push_back(part);
    }
    glue = breaks;
  }
  return words;
}

Candidates complete(const Words& words) {
  Candidates found;
  if (words.size() < 2) return found;
  const std::string& at = words.back();
  const Line line = read_line({words.begin(), words.end() - 1});
  const auto equals = at.find('=');
  std::string before;  // of the word at the cursor, "--config="
  if (line.open != nullptr) {
    add_value(*line.open, line, at, found);
  } else if (at.rfind("--", 0) == 0 && equals != std::string::npos) {
    before = at.substr(0, equals + 1);
    const OptionRow* option = look_up(at.substr(2, equals - 2), line.command);
    if (option == nullptr || !takes_value(*option)) return found;
    add_value(*option, line, at.substr(equals + 1), found);
  } else if (!at.empty() && at[0] == '-') {
    add_options(line, found);
  } else if (line.command.empty()) {
    for (const auto& row : command_table()) found.words.emplace_back(row.name);
  } else {
    add_arguments(line, at, found);
  }
  Words fitting;
  for (const auto& word : found.words) {
    if ((before + word).rfind(at, 0) == 0) fitting.push_back(before + word);
  }
  found.words = std::move(fitting);
  return found;
}

}  // namespace npu::cli
