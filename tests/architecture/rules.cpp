// SPDX-License-Identifier: Apache-2.0
#include "tests/architecture/rules.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>

namespace npu::architecture {
namespace {

constexpr std::size_t kMaxLines = 400;
constexpr std::size_t kMaxReadmeLines = 40;
constexpr std::size_t kMaxRootReadmeLines = 110;  // two screens

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

Violations matches(const SourceFile& file, const std::regex& pattern, const std::string& rule) {
  Violations violations;
  const auto lines = lines_of(code_of(file.text));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::smatch match;
    if (std::regex_search(lines[i], match, pattern)) {
      violations.push_back({file.path, i + 1, rule + " (" + match.str() + ")"});
    }
  }
  return violations;
}

// The end of the string or character literal that begins at `begin`.
std::size_t literal_end(std::string_view text, std::size_t begin) {
  const char quote = text[begin];
  std::size_t i = begin + 1;
  while (i < text.size() && text[i] != quote && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
  return std::min(i + 1, text.size());
}

std::size_t raw_literal_end(std::string_view text, std::size_t begin) {
  const std::size_t open = text.find('(', begin);
  if (open == std::string_view::npos) return text.size();
  const std::string close = ")" + std::string(text.substr(begin + 2, open - begin - 2)) + "\"";
  const std::size_t end = text.find(close, open);
  return end == std::string_view::npos ? text.size() : end + close.size();
}

bool is_digit_separator(std::string_view text, std::size_t i) {
  const auto is_hex = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
  return i > 0 && i + 1 < text.size() && is_hex(text[i - 1]) && is_hex(text[i + 1]);
}

// The end of the comment or literal that begins at `i`; `i` itself if there is none.
std::size_t skip_end(std::string_view text, std::size_t i) {
  const auto rest = text.substr(i);
  if (starts_with(rest, "//")) return std::min(text.find('\n', i), text.size());
  if (starts_with(rest, "/*")) {
    const std::size_t end = text.find("*/", i + 2);
    return end == std::string_view::npos ? text.size() : end + 2;
  }
  if (starts_with(rest, "R\"")) return raw_literal_end(text, i);
  if (text[i] == '"') return literal_end(text, i);
  if (text[i] == '\'' && !is_digit_separator(text, i)) return literal_end(text, i);
  return i;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

}  // namespace

std::string code_of(std::string_view text) {
  std::string code;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = skip_end(text, i);
    if (end == i) {
      code += text[i++];
      continue;
    }
    for (; i < end; ++i) {
      if (text[i] == '\n') code += '\n';
    }
    code += ' ';
  }
  return code;
}

Violations check_parts(const SourceFile& file) {
  static const std::regex kWhole(R"(\bDevice::Impl\b|driver/device/device_impl\.hpp)");
  static const std::regex kPart(R"(\bDeviceParts::(\w+))");
  static const std::map<std::string, std::set<std::string>> kAsked{
      {"driver/managed", {"features", "link", "memory", "services", "vectors"}},
      {"driver/management", {"link", "memory"}},
      {"driver/queue",
       {"adaptive", "compactor", "features", "link", "memory", "services", "vectors"}},
      {"driver/runtime", {"link"}},
      {"driver/time_slices", {"features", "link"}},
      {"driver/virtual", {"link", "memory"}}};
  const auto folder = folder_of(file.path);
  if (folder == "driver/device" || starts_with(file.path, "tests/architecture/")) return {};
  const auto row = kAsked.find(folder);
  Violations violations;
  const auto lines = lines_of(file.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::smatch match;
    if (std::regex_search(lines[i], kWhole)) {
      violations.push_back({file.path, i + 1, "names the whole of a device"});
    }
    if (!std::regex_search(lines[i], match, kPart)) continue;
    if (row != kAsked.end() && row->second.count(match[1]) != 0) continue;
    violations.push_back({file.path, i + 1, "has no row for the part " + match.str(1)});
  }
  return violations;
}

Violations check_wall_clock(const SourceFile& file) {
  static const std::regex kClock(
      R"(\b(system_clock|steady_clock|high_resolution_clock|this_thread|sleep_for|usleep|nanosleep)"
      R"(|gettimeofday|clock_gettime|timespec_get|time\s*\(\s*(NULL|nullptr|0)\s*\)))"
      R"(|(^|[^A-Za-z0-9_>])::sleep\s*\(|include\s*<(chrono|ctime|time\.h|sys/time\.h|thread)>)");
  // Linux VFIO is the one backend whose time is the machine's.
  if (starts_with(file.path, "driver/vfio/")) return {};
  // A compiler's time-out and what it took are wall time, and told apart from all simulated time.
  if (starts_with(file.path, "include/npu/jit/")) return {};
  // The guard against programs that hang; it ends the process and no result sees it.
  if (file.path == "model/core/program_guard.cpp") return {};
  for (const auto* folder :
       {"driver/", "firmware/", "model/", "tools/reports/", "workloads/", "include/"}) {
    if (starts_with(file.path, folder))
      return matches(file, kClock, "the wall clock is out of bounds");
  }
  return {};
}

Violations check_simulator_conditionals(const SourceFile& file) {
  static const std::regex kConditional(R"(^\s*#\s*(if|ifdef|ifndef|elif)\b.*SIM)");
  if (!starts_with(file.path, "driver/") && !starts_with(file.path, "firmware/")) return {};
  return matches(file, kConditional, "driver and firmware have no code for the simulator");
}

Violations check_device_faults(const SourceFile& file) {
  static const std::regex kMade(R"((\bfail\(|[?:]|\breturn)\s*ErrorCode::kDeviceFault)");
  if (!starts_with(file.path, "workloads/") && !starts_with(file.path, "tests/performance/"))
    return {};
  Violations violations;
  const std::string code = code_of(file.text);
  for (std::sregex_iterator at(code.begin(), code.end(), kMade), end; at != end; ++at) {
    const auto line = std::count(code.begin(), code.begin() + at->position(), '\n') + 1;
    violations.push_back({file.path, static_cast<std::size_t>(line),
                          "a device fault is what a device has reported; say kWrongData"});
  }
  return violations;
}

Violations check_figures(const SourceFile& file) {
  static const std::regex kByHand(R"(\badd_metric\(|[^_.]\bmark\()");
  if (!starts_with(file.path, "workloads/programs/")) return {};
  return matches(file, kByHand, "a figure is a row of workloads/framework/figures.hpp");
}

Violations check_composition(const SourceFile& file) {
  static const std::regex kSystem(R"(\bmodel::System\s+\w+\s*[({;]|<model::System>\()");
  for (const auto* place : {"machine/", "model/", "tests/bench/", "tests/architecture/"}) {
    if (starts_with(file.path, place)) return {};
  }
  return matches(file, kSystem, "a machine is composed in machine/composed_machine.hpp");
}

Violations check_functions(const SourceFile& file) {
  static const std::regex kOneOfAll(R"(\bfunctions_\s*\[\s*0\s*\])");
  static const std::regex kRegisters(R"(#include "model/registers/)");
  // The front ends of a function; `command_types` lends them to the slots.
  static const std::regex kFront(
      R"(^model/(registers/|card_function|dma/(page_copies|ring_front_end)|mmu/(mmu_context|page_faults)|control/)"
      R"(|command/(queue_front_end|command_types)|partitions/partition_unit|ats/shared_spaces))");
  Violations violations;
  if (!starts_with(file.path, "model/")) return violations;
  const bool in_front = std::regex_search(file.path, kFront);
  const auto lines = lines_of(file.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& line = lines[i];
    if (std::regex_search(line, kOneOfAll)) {
      violations.push_back({file.path, i + 1, "picks function 0 instead of the one concerned"});
    }
    if (!in_front && std::regex_search(line, kRegisters)) {
      violations.push_back({file.path, i + 1, "an engine sees a function's registers"});
    }
  }
  return violations;
}

Violations check_form(const SourceFile& file) {
  Violations violations;
  const auto lines = lines_of(file.text);
  if (lines.size() > kMaxLines) violations.push_back({file.path, kMaxLines + 1, "over 400 lines"});
  // A script's first line says who runs it.
  const std::size_t first = !lines.empty() && starts_with(lines[0], "#!") ? 1 : 0;
  static const std::regex kLicence(R"(^(//|#) SPDX-License-Identifier: Apache-2\.0$)");
  if (lines.size() <= first || !std::regex_match(lines[first], kLicence)) {
    violations.push_back({file.path, first + 1, "the SPDX line is missing"});
  }
  return violations;
}

Violations check_readmes(const Tree& tree, const std::vector<SourceFile>& readmes) {
  std::map<std::string, std::size_t> length;
  for (const auto& readme : readmes) {
    length[folder_of(readme.path)] = lines_of(readme.text).size();
  }
  std::set<std::string> folders;
  for (const auto& path : tree) folders.insert(folder_of(path));
  Violations violations;
  for (const auto& folder : folders) {
    if (starts_with(folder, ".")) continue;
    const auto found = length.find(folder);
    const std::size_t most = folder.empty() ? kMaxRootReadmeLines : kMaxReadmeLines;
    const std::string path = folder.empty() ? "README.md" : folder + "/README.md";
    if (found == length.end()) {
      violations.push_back({path, 0, "is missing"});
    } else if (found->second > most) {
      violations.push_back({path, most + 1, "over " + std::to_string(most) + " lines"});
    }
  }
  return violations;
}

std::vector<std::string> foreign_symbols(std::string_view nm_output) {
  // Demangled or mangled: _ZN7sc_core..., _ZN3tlm..., _ZN3npu5model...
  static const std::regex kForeign(
      R"(\b(sc_core|sc_dt|tlm|tlm_utils|npu::model)::|[0-9](sc_core|sc_dt)"
      R"(|tlm|tlm_utils)[0-9]|3npu5model)");
  std::vector<std::string> found;
  for (const auto& line : lines_of(nm_output)) {
    if (std::regex_search(line, kForeign)) found.push_back(line);
  }
  return found;
}

}  // namespace npu::architecture
