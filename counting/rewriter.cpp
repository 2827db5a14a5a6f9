// SPDX-License-Identifier: Apache-2.0
#include "counting/rewriter.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "counting/library_calls.hpp"

namespace npu::counting {
namespace {

constexpr std::string_view kMark = "__sanitizer_cov_trace_pc";
constexpr std::string_view kBlanks = " \t";

struct Instruction {
  std::string_view mnemonic, operands;
};

// Nothing for labels, directives, comments and blank lines.
std::optional<Instruction> instruction_of(std::string_view line) {
  const auto begin = line.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return std::nullopt;
  line.remove_prefix(begin);
  const char first = line.front();
  if (first < 'a' || first > 'z') return std::nullopt;
  const auto end = std::min(line.find_first_of(kBlanks), line.size());
  const auto mnemonic = line.substr(0, end);
  if (mnemonic.back() == ':') return std::nullopt;
  const auto operands = std::min(line.find_first_not_of(kBlanks, end), line.size());
  return Instruction{mnemonic, line.substr(operands)};
}

// The function that an instruction calls or goes to for good; none for addresses in registers.
std::string_view target_of(const Instruction& instruction) {
  if (instruction.mnemonic != "call" && instruction.mnemonic != "jmp") return {};
  auto target = instruction.operands;
  if (target.empty() || target.front() == '*' || target.front() == '.') return {};
  return target.substr(0, std::min(target.find_first_of("@ \t"), target.size()));
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
  void take(std::string_view line) {
    if (line.find(".cfi_startproc") != std::string_view::npos ||
        line.find(".cfi_endproc") != std::string_view::npos) {
      end_block();
      instructions_ = 0;
    }
    const auto instruction = instruction_of(line);
    if (!instruction) return lines_.emplace_back(line), void();
    const auto target = target_of(*instruction);
    if (target == kMark) return begin_block(instruction->mnemonic == "jmp");
    ++instructions_;
    if (!target.empty()) add_library_call(lines_, target);
    lines_.emplace_back(line);
  }

  std::string result() {
    end_block();
    std::string text;
    for (const auto& line : lines_) (text += line) += '\n';
    return text + access();
  }

 private:
  void begin_block(bool returns) {
    if (mark_) end_block();
    mark_ = lines_.size();
    lines_.emplace_back();
    if (!returns) return;
    lines_.emplace_back("\tret");
    ++instructions_;
  }
  void end_block() {
    if (mark_ && instructions_ != 0) lines_[*mark_] = add("$" + std::to_string(instructions_));
    if (mark_) instructions_ = 0;
    mark_.reset();
  }
  // Weak, for each object of a module brings it.
  static std::string access() {
    const std::string name(kCounterAccess), counter(kCounter);
    return "\t.hidden\t" + counter + "\n\t.comm\t" + counter + ",8,8\n" + "\t.section\t.text." +
           name + ",\"axG\",@progbits," + name + ",comdat\n" + "\t.weak\t" + name + "\n\t.type\t" +
           name + ", @function\n" + name + ":\n" + "\tleaq\t" + counter +
           "(%rip), %rax\n\tret\n\t.size\t" + name + ", .-" + name + "\n";
  }

  std::vector<std::string> lines_;
  std::optional<std::size_t> mark_;  // the line of the addition that begins the block
  std::uint64_t instructions_ = 0;
};

}  // namespace

std::string count_instructions(std::string_view assembly) {
  Rewriter rewriter;
  while (!assembly.empty()) {
    const auto end = std::min(assembly.find('\n'), assembly.size());
    rewriter.take(assembly.substr(0, end));
    assembly.remove_prefix(std::min(end + 1, assembly.size()));
  }
  return rewriter.result();
}

}  // namespace npu::counting
