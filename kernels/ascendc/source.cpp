// SPDX-License-Identifier: Apache-2.0
#include "kernels/ascendc/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "kernels/ascendc/tokens.hpp"

namespace npu::ascendc {
namespace {

constexpr const char* kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
constexpr const char* kPointer = "::AscendC::GmPointer<";

tl::unexpected<Error> wrong(const TokenReader& reader, const std::string& what) {
  return fail(ErrorCode::kInvalidArgument, reader.where() + ": " + what);
}

class Rewriter {
 public:
  explicit Rewriter(std::string_view text) : reader_(text) { out_.reserve(text.size()); }

  Result<DeviceSource> run() {
    for (Token token = next(); token.kind != TokenKind::kEnd; token = next()) {
      if (auto ok = take(token); !ok) return forward_error(ok);
    }
    if (kernels_.size() > abi::kMostKernels) {
      return fail(ErrorCode::kInvalidArgument, fmt::format("{} kernels in one file, at most {}",
                                                           kernels_.size(), abi::kMostKernels));
    }
    if (variables_.size() > abi::kMostVariables) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{} variables with __gm__ in one file, at most {}", variables_.size(),
                              abi::kMostVariables));
    }
    const auto usual =
        all_.value_or(multiplies_ ? abi::KernelCores::kCube : abi::KernelCores::kVector);
    DeviceSource source{std::move(out_), {}, std::move(variables_)};
    for (auto& kernel : kernels_) {
      source.kernels.push_back({std::move(kernel.name), kernel.cores.value_or(usual), kernel.site});
    }
    return source;
  }

 private:
  struct Kernel {
    std::string name;
    std::optional<abi::KernelCores> cores;
    int site = -1;
  };

  Token next() {
    const Token token = reader_.next();
    if (token.kind == TokenKind::kLine) reader_.take_line(token.text);
    reader_.count(token.text);
    return token;
  }
  Token next_word() {
    Token token = next();
    while (token.kind == TokenKind::kSpace) {
      if (token.is("\n")) out_ += '\n';
      token = next();
    }
    return token;
  }

  Status take(const Token& token) {
    // What a macro of a header becomes counts as the header's.
    if (token.is("__gm__")) return take_global();
    if (reader_.in_system_header() ||
        (token.kind != TokenKind::kWord && token.kind != TokenKind::kSign)) {
      out_ += token.text;
      return {};
    }
    if (token.is("<<<")) return take_launch();
    if (token.is("reinterpret_cast")) return take_cast();
    if (token.is("asm") || token.is("__asm__")) return take_assembly();
    if (token.is("__global__")) {
      global_ = true;
      return {};
    }
    if (token.is("__vector__")) return set(abi::KernelCores::kVector);
    if (token.is("__cube__")) return set(abi::KernelCores::kCube);
    if (token.is("__mix__")) return take_mix();
    if (token.is("KERNEL_TASK_TYPE_DEFAULT")) return take_task_type();
    if (token.is("Mmad")) multiplies_ = true;
    if (token.is("template")) template_ = true;
    if (token.is(";") || token.is("{") || token.is("}")) template_ = global_ = false;
    if (token.is("const")) const_at_ = out_.size();
    const bool name = global_ && token.kind == TokenKind::kWord && reader_.peek().is("(") &&
                      !token.is("__attribute__");
    out_ += token.text;
    return name ? take_kernel(std::string(token.text)) : Status{};
  }

  Status set(abi::KernelCores cores) {
    cores_ = cores;
    return {};
  }

  // The words between the brackets that follow.
  std::string in_brackets() {
    std::string inside;
    int depth = 0;
    for (Token token = next_word(); token.kind != TokenKind::kEnd; token = next_word()) {
      if (token.is("(") && depth++ == 0) continue;
      if (token.is(")") && --depth == 0) break;
      if (depth == 0) break;
      inside += token.text;
    }
    return inside;
  }

  Status take_mix() {
    const std::string parts = in_brackets();
    if (parts == "1,2") return set(abi::KernelCores::kMixed);
    if (parts == "1,0") return set(abi::KernelCores::kCube);
    if (parts == "0,1") return set(abi::KernelCores::kVector);
    return wrong(reader_, "__mix__(" + parts + "): (1, 2), (1, 0) and (0, 1) are possible");
  }

  Status take_task_type() {
    const std::string type = in_brackets();
    out_ += "((void)0)";
    if (type == "KERNEL_TYPE_AIC_ONLY") {
      all_ = abi::KernelCores::kCube;
    } else if (type == "KERNEL_TYPE_AIV_ONLY") {
      all_ = abi::KernelCores::kVector;
    } else if (type == "KERNEL_TYPE_MIX_AIC_1_2") {
      all_ = abi::KernelCores::kMixed;
    } else {
      return wrong(reader_, type +
                                ": KERNEL_TYPE_AIC_ONLY, KERNEL_TYPE_AIV_ONLY and "
                                "KERNEL_TYPE_MIX_AIC_1_2 are possible");
    }
    return {};
  }

  // The card's instructions are not the host's.
  Status take_assembly() {
    const std::string where = reader_.where();
    if (reader_.peek().is("volatile")) next_word();
    if (in_brackets() != "\"trap\"") {
      return fail(ErrorCode::kInvalidArgument, where + ": asm: asm(\"trap\") is all there is");
    }
    out_ += "::npu::ascendc::trap()";
    return {};
  }

  // reinterpret_cast makes no classes.
  Status take_cast() {
    TokenReader ahead = reader_;
    const auto word = [&ahead] {
      Token token = ahead.next();
      while (token.kind == TokenKind::kSpace) token = ahead.next();
      return token;
    };
    const bool opens = word().is("<");
    Token first = word();
    if (first.is("const")) first = word();
    out_ += opens && first.is("__gm__") ? "static_cast" : "reinterpret_cast";
    return {};
  }

  // A pointer or a variable: the type is what stands in front of * or of the variable's name.
  Status take_global() {
    const std::string where = reader_.where();
    std::string type, lines;
    int depth = 0;
    Token token = next();
    for (;; token = next()) {
      if (depth == 0 && (token.is("*") || token.is("[") || token.is("=") || token.is(";"))) break;
      if (token.kind == TokenKind::kLine) {
        lines += token.text;
        continue;
      }
      if (token.is("<")) ++depth;
      if (token.is(">")) --depth;
      const bool part = token.kind == TokenKind::kWord || token.kind == TokenKind::kSpace ||
                        token.is("<") || token.is(">") || token.is(":") ||
                        (depth > 0 && token.kind == TokenKind::kSign && !token.is(";"));
      if (token.is("{") && depth == 0) break;
      if (!part || depth < 0) {
        return fail(ErrorCode::kInvalidArgument,
                    where + ": __gm__ of neither a pointer nor a variable of a file");
      }
      (token.is("\n") ? lines : type) += token.text;
    }
    // const __gm__ T
    constexpr std::string_view kConst = "const";
    const bool constant =
        const_at_ != std::string::npos &&
        out_.find_first_not_of(' ', const_at_ + kConst.size()) == std::string::npos;
    if (constant) out_.replace(const_at_, kConst.size(), "");
    const_at_ = std::string::npos;
    type.insert(0, constant ? "const " : "");
    if (!token.is("*")) return take_variable(token, type, lines, where);
    out_ += kPointer + type + ">" + lines;
    return {};
  }

  // From behind its name on, to the semicolon.
  Status take_variable(Token token, const std::string& declared, std::string lines,
                       const std::string& where) {
    const auto end = declared.find_last_not_of(' ') + 1;
    const auto first = declared.find_last_not_of(kLetters, end == 0 ? 0 : end - 1) + 1;
    const std::string name = declared.substr(first, end - first);
    std::string bounds, value;
    bool has_value = false;
    for (int depth = 0; depth > 0 || !token.is(";"); token = next()) {
      if (token.kind == TokenKind::kEnd) return wrong(reader_, name + ": no end of the variable");
      if (token.kind == TokenKind::kLine || token.is("\n")) {
        lines += token.text;
        continue;
      }
      if (depth == 0 && !has_value && (token.is("=") || token.is("{"))) {
        has_value = true;
        if (token.is("=")) continue;
      }
      if (depth == 0 && token.is(",")) {
        return wrong(reader_, name + ": one variable in a declaration with __gm__");
      }
      depth += token.is("{") || token.is("(") || token.is("[") ? 1 : 0;
      depth -= token.is("}") || token.is(")") || token.is("]") ? 1 : 0;
      (has_value ? value : bounds) += token.text;
    }
    if (first == 0 || name.empty()) {
      return fail(ErrorCode::kInvalidArgument, where + ": __gm__ of a variable without a name");
    }
    if (name.size() >= sizeof abi::KernelFileVariable::name) {
      return wrong(reader_, name + ": a variable's name has at most 111 characters");
    }
    if (std::find(variables_.begin(), variables_.end(), name) != variables_.end()) {
      return wrong(reader_, name + ": a second variable of this name with __gm__");
    }
    const std::string type = declared.substr(0, first);
    if (bounds.rfind("[]", 0) == 0 && has_value) {
      const std::string inner = fmt::format("::npu::ascendc::Same<{}{}>", type, bounds.substr(2));
      bounds.insert(1,
                    fmt::format("decltype(::npu::ascendc::count_of<{}>({}))::value", inner, value));
    }
    out_ += fmt::format(
        "::AscendC::GmVariable<::npu::ascendc::Same<{0}{1}>> {2} asm(\"{3}{2}\") "
        "__attribute__((section(\"{4}\"), used, retain, aligned(64))) = {{{5}}}; "
        "[[maybe_unused]] static const ::npu::ascendc::VariableSymbol npusim_gm_symbol_{2}("
        "__builtin_addressof({2}), \"{2}\");{6}",
        type, bounds, name, kVariablePrefix, kVariableSection, value, lines);
    variables_.push_back(name);
    return {};
  }

  // Where the kernel that is launched begins in out_: its name, of a template with its arguments.
  std::size_t launched_at(std::size_t end) const {
    std::size_t last = end;
    for (int depth = 0; last != 0 && (depth != 0 || out_[last - 1] == '>'); --last) {
      depth += out_[last - 1] == '>' ? 1 : out_[last - 1] == '<' ? -1 : 0;
      if (depth == 0) {
        --last;
        break;
      }
    }
    const auto before = last == 0 ? std::string::npos : out_.find_last_not_of(kLetters, last - 1);
    const auto first = before == std::string::npos ? 0 : before + 1;
    return first < last ? first : std::string::npos;
  }

  // The kernel was what is in front; its arguments follow.
  Status take_launch() {
    const std::string where = reader_.where();
    const auto end = out_.find_last_not_of(" \n") + 1;
    const auto first = launched_at(end);
    if (first == std::string::npos) {
      return fail(ErrorCode::kInvalidArgument, where + ": a launch of no kernel");
    }
    std::string how;
    for (int depth = 0, closing = 0; closing < 3;) {
      const Token token = next();
      if (token.kind == TokenKind::kEnd) {
        return fail(ErrorCode::kInvalidArgument, where + ": a launch without >>>");
      }
      depth += token.is("(") ? 1 : token.is(")") ? -1 : 0;
      closing = depth == 0 && token.is(">") ? closing + 1 : 0;
      how += token.text;
    }
    how.resize(how.size() - 3);
    const std::string kernel = out_.substr(first, end - first);
    const std::string name = kernel.substr(0, kernel.find_first_not_of(kLetters));
    out_.resize(first);
    if (name == kernel) {
      out_ += fmt::format("::npu::ascendc::launch(&{0}, \"{0}\", {1})", name, how);
      return {};
    }
    const auto found = templates_.find(name);
    if (found == templates_.end()) {
      return fail(ErrorCode::kInvalidArgument, where + ": no kernel " + name + " in front of <<<");
    }
    const auto site = static_cast<int>(sites_++);
    const std::string instance = site == 0 ? name : fmt::format("{}_{}", name, site);
    kernels_.push_back({instance, found->second, site});
    out_ += fmt::format("::npu::ascendc::launch_instance<{}, &{}>(\"{}\", {})", site, kernel,
                        instance, how);
    return {};
  }

  // The name was taken; a declaration has no body.
  Status take_kernel(std::string name) {
    global_ = false;
    TokenReader ahead = reader_;
    int depth = 0;
    Token token = ahead.next();
    for (; token.kind != TokenKind::kEnd; token = ahead.next()) {
      if (token.is("(")) ++depth;
      if (token.is(")") && --depth == 0) break;
    }
    const auto cores = std::exchange(cores_, std::nullopt);
    if (!ahead.peek().is("{")) return {};
    if (name.size() >= sizeof abi::KernelFileEntry::name) {
      return wrong(reader_, name + ": a kernel's name has at most 59 characters");
    }
    if (template_) {
      templates_[name] = cores;
    } else {
      kernels_.push_back({std::move(name), cores});
    }
    return {};
  }

  TokenReader reader_;
  std::string out_;
  std::vector<Kernel> kernels_;
  std::vector<std::string> variables_;
  std::map<std::string, std::optional<abi::KernelCores>> templates_;  // kernels that are templates
  unsigned sites_ = 0;                                                // launches of them
  std::optional<abi::KernelCores> cores_, all_;  // of the next kernel, of all others
  bool global_ = false, template_ = false, multiplies_ = false;
  std::size_t const_at_ = std::string::npos;  // the last one in out_
};

}  // namespace

Result<DeviceSource> device_source(const std::string& preprocessed) {
  return Rewriter(preprocessed).run();
}

std::string entry_of(const FoundKernel& kernel) {
  constexpr const char* kEntry = R"(
# 1 "entry of {0}"
__attribute__((used, section(".note.npusim"), aligned(4))) static const npu::abi::KernelNote
    npu_kernel_note = npu::abi::kernel_note("{0}", npu::abi::kAnyWords);
extern "C" {{
__attribute__((used, retain, section(".data.npusim"))) volatile npu::abi::KernelLayout {3} =
    npu::ascendc::{4};
}}
extern "C" __attribute__((visibility("default"))) int npu_aicore_main(
    npu::platform::AicorePort& port) {{
  return npu::ascendc::{1}, {2});
}}
)";
  const std::string run = kernel.site < 0 ? "run(port, &::" + kernel.name
                                          : fmt::format("run_site<{}>(port", kernel.site);
  const std::string layout =
      kernel.site < 0 ? "layout_of(&::" + kernel.name + ")" : "unknown_layout()";
  return fmt::format(kEntry, kernel.name, run,
                     kernel.cores == abi::KernelCores::kMixed ? "true" : "false", kLayoutSymbol,
                     layout);
}

std::string kernels_of_host(const std::string& path, const std::vector<FoundKernel>& kernels) {
  constexpr const char* kFile = R"(
# 1 "kernels of the host"
asm(".pushsection .rodata\n.balign 16\n.hidden npusim_kernels_begin\nnpusim_kernels_begin:\n"
    ".incbin \"{0}\"\nnpusim_kernels_end:\n.popsection\n");
)";
  std::string text = fmt::format(kFile, path);
  for (const auto& kernel : kernels) {
    if (kernel.site >= 0) continue;
    text += fmt::format(
        "[[maybe_unused]] static const ::npu::ascendc::KernelSymbol npusim_symbol_of_{0}("
        "reinterpret_cast<const void*>(&::{0}), \"{0}\");\n",
        kernel.name);
  }
  return text;
}

}  // namespace npu::ascendc
