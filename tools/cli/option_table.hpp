// SPDX-License-Identifier: Apache-2.0
// The commands and options of npusim, one row each. The parser, the checks of what belongs
// together, help, shell completion and the test of the manual page are made from these tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace npu::cli {

// What an option's value, or the words behind a command, stand for.
enum class Value {
  kNone,           // a switch; no words
  kRepeatable,     // -v, -vv: how often it is given
  kText,           // anything
  kNumber,         // what is none is refused by the command
  kChoice,         // one of OptionRow::value, which are parted by '|'
  kMode,           // the same, and the first one if there is none; --option=VALUE
  kConfiguration,  // a file or a name
  kAssignment,     // KEY=VALUE
  kInputFile,
  kOutputFile,  // two of them must not be the same
  kFolder,
  kWorkload,
  kSweepFile,
  kConfigAction,  // show, check, keys, and a configuration
  kShell,         // bash, zsh
  kSmiAction,     // info, watch, create-vnpu, destroy-vnpu
  kCommand,       // a command of npusim
  kRegister,      // a name of a register, or a pattern of them
  kOperator,      // a name of an operator, or a pattern of them
};

struct OptionRow {
  std::string_view name;  // without "--"
  char letter;            // of "-x"; 0: none
  Value kind;
  bool many;                 // may be repeated
  std::string_view value;    // what help calls the value
  std::string_view command;  // the commands it belongs to, parted by blanks; empty: all
  std::string_view help;
};

struct CommandRow {
  std::string_view name;
  Value words;
  std::string_view help;
};

// A name has several rows if it means different things to different commands.
const std::vector<OptionRow>& option_table();
const std::vector<CommandRow>& command_table();

bool belongs(const OptionRow& option, std::string_view command);
// Null: there is none.
const CommandRow* find_command(std::string_view name);
const OptionRow* find_option(std::string_view name, std::string_view command);
// Of a row of kind kChoice.
std::vector<std::string> choices_of(const OptionRow& option);

// A line or more per option of the command, for its help.
std::string options_help(std::string_view command);
// A line per command.
std::string commands_help();

}  // namespace npu::cli
