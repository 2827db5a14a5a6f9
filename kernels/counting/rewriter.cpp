// SPDX-License-Identifier: Apache-2.0
#include "kernels/counting/rewriter.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "kernels/counting/flags.hpp"
#include "kernels/counting/library_calls.hpp"

namespace npu::counting {
namespace {

constexpr std::string_view kBlanks = " \t";

struct Statement {
  std::string_view name, operands;  // of a label the name has its colon
};

// Nothing for comments and blank lines.
std::optional<Statement> statement_of(std::string_view line) {
  const auto begin = line.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos || line[begin] == '#') return std::nullopt;
  line.remove_prefix(begin);
  const auto end = std::min(line.find_first_of(kBlanks), line.size());
  const auto operands = std::min(line.find_first_not_of(kBlanks, end), line.size());
  return Statement{line.substr(0, end), line.substr(operands)};
}

bool is_label(const Statement& statement) {
  return statement.name.back() == ':';
}
bool is_directive(const Statement& statement) {
  return statement.name.front() == '.' && !is_label(statement);
}
bool is_jump(const Statement& statement) {
  return statement.name.front() == 'j' || statement.name == "notrack";
}
bool is_always(const Statement& jump) {
  return jump.name == "jmp" || jump.name == "notrack";
}

bool changes_section(const Statement& directive) {
  const auto name = directive.name;
  return name == ".section" || name == ".text" || name == ".data" || name == ".bss" ||
         name == ".previous";
}

// The function that an instruction calls or goes to for good; none for addresses in registers.
std::string_view target_of(const Statement& instruction) {
  if (instruction.name != "call" && instruction.name != "jmp") return {};
  const auto target = instruction.operands;
  if (target.empty() || target.front() == '*' || target.front() == '.') return {};
  return target.substr(0, std::min(target.find_first_of("@ \t"), target.size()));
}

// Debug information names labels that nobody goes to. What is counted does not depend on it.
bool is_debug_section(const Statement& statement) {
  return statement.name == ".section" && statement.operands.substr(0, 6) == ".debug";
}

// Labels that a jump, a table of a switch or a landing pad names.
std::set<std::string_view> targets_in(const std::vector<std::string_view>& lines) {
  std::set<std::string_view> found;
  bool debug = false;
  for (const auto line : lines) {
    const auto statement = statement_of(line);
    if (!statement || is_label(*statement)) continue;
    if (changes_section(*statement)) debug = is_debug_section(*statement);
    if (debug) continue;
    const bool table =
        statement->name == ".long" || statement->name == ".quad" || statement->name == ".uleb128";
    if (!table && !is_jump(*statement)) continue;
    auto rest = statement->operands;
    const auto end = std::min(rest.find_first_of("-+ \t"), rest.size());
    rest = rest.substr(0, end);
    if (rest.substr(0, 2) == ".L") found.insert(rest);
  }
  return found;
}

std::string add(const std::string& amount) {
  return "\taddq\t" + amount + ", " + std::string(kCounter) + "(%rip)";
}

// r11 is nobody's at a call, and so are the flags.
void add_library_call(std::vector<std::string>& lines, std::string_view symbol) {
  const auto* const call =
      std::find_if(kLibraryCalls.begin(), kLibraryCalls.end(),
                   [symbol](const LibraryCall& row) { return row.symbol == symbol; });
  if (call == kLibraryCalls.end()) return;
  const std::string instructions = "$" + std::to_string(call->instructions);
  if (call->size.empty()) return lines.push_back(add(instructions));
  lines.push_back("\timulq\t$" + std::to_string(call->of_16_bytes) + ", " +
                  std::string(call->size) + ", %r11");
  lines.emplace_back("\tshrq\t$4, %r11");
  lines.push_back("\taddq\t" + instructions + ", %r11");
  lines.push_back(add("%r11"));
}

class Rewriter {
 public:
  explicit Rewriter(const std::vector<std::string_view>& lines) : targets_(targets_in(lines)) {
    for (const auto line : lines) take(line);
    end_block();
  }

  std::string result() const {
    std::string text;
    for (const auto& line : lines_) (text += line) += '\n';
    return text + access();
  }

 private:
  void take(std::string_view line) {
    const auto statement = statement_of(line);
    if (!statement) return lines_.emplace_back(line), void();
    if (is_directive(*statement)) return take_directive(*statement, line);
    if (is_label(*statement)) return take_label(statement->name, line);
    if (in_text_) return take_instruction(*statement, line);
    lines_.emplace_back(line);
  }
  void take_directive(const Statement& statement, std::string_view line) {
    if (changes_section(statement)) {
      end_block();
      in_text_ = statement.name == ".section" ? statement.operands.substr(0, 5) == ".text"
                                              : statement.name == ".text";
    }
    lines_.emplace_back(line);
  }
  void take_label(std::string_view label, std::string_view line) {
    label.remove_suffix(1);
    const bool entered = label.substr(0, 2) != ".L" || targets_.count(label) != 0;
    if (entered) end_block();
    lines_.emplace_back(line);
    if (entered && in_text_) begin_block();
  }
  void take_instruction(const Statement& instruction, std::string_view line) {
    if (!mark_) begin_block();
    ++instructions_;
    const Flags flags = flags_of(instruction.name, instruction.operands);
    const auto target = target_of(instruction);
    // Nobody reads flags of a caller's or of a function that has returned.
    const bool leaves = instruction.name == "ret" || !target.empty();
    if (!flags_known_ && (leaves || flags != Flags::kLeaves)) {
      flags_known_ = true;
      flags_free_ = flags != Flags::kReads || leaves;
    }
    if (!target.empty()) add_library_call(lines_, target);
    lines_.emplace_back(line);
    const bool call = instruction.name == "call";
    const bool jump = is_jump(instruction);
    if (!call && !jump && instruction.name != "ret") return;
    end_block();
    if (call || (jump && !is_always(instruction))) begin_block();
    if (call) flags_known_ = flags_free_ = true;
  }
  void begin_block() {
    mark_ = lines_.size();
    lines_.emplace_back();
    instructions_ = 0;
    flags_known_ = flags_free_ = false;
  }
  void end_block() {
    if (!mark_) return;
    if (instructions_ != 0) lines_[*mark_] = addition();
    mark_.reset();
  }
  std::string addition() const {
    const std::string amount = std::to_string(instructions_), counter(kCounter);
    if (flags_free_) return add("$" + amount);
    return "\tmovq\t" + counter + "(%rip), %r11\n\tleaq\t" + amount +
           "(%r11), %r11\n\tmovq\t%r11, " + counter + "(%rip)";
  }
  // Weak, for each object of a module brings it.
  static std::string access() {
    const std::string name(kCounterAccess), counter(kCounter);
    return "\t.hidden\t" + counter + "\n\t.comm\t" + counter + ",8,8\n" + "\t.section\t.text." +
           name + ",\"axG\",@progbits," + name + ",comdat\n" + "\t.weak\t" + name + "\n\t.type\t" +
           name + ", @function\n" + name + ":\n" + "\tleaq\t" + counter +
           "(%rip), %rax\n\tret\n\t.size\t" + name + ", .-" + name + "\n";
  }

  const std::set<std::string_view> targets_;
  std::vector<std::string> lines_;
  bool in_text_ = false;
  std::optional<std::size_t> mark_;  // the line of the addition that begins the block
  std::uint64_t instructions_ = 0;
  bool flags_known_ = false, flags_free_ = false;  // where the block begins
};

}  // namespace

std::string count_instructions(std::string_view assembly) {
  std::vector<std::string_view> lines;
  while (!assembly.empty()) {
    const auto end = std::min(assembly.find('\n'), assembly.size());
    lines.push_back(assembly.substr(0, end));
    assembly.remove_prefix(std::min(end + 1, assembly.size()));
  }
  return Rewriter(lines).result();
}

}  // namespace npu::counting
