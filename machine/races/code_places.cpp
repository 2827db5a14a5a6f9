// SPDX-License-Identifier: Apache-2.0
#include "machine/races/code_places.hpp"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>

namespace npu::races {
namespace {

// What is beside the file itself is not looked for: that may ask the network.
int find_nothing(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word,
                 char**) {
  return -1;
}

const Dwfl_Callbacks kCallbacks{::dwfl_linux_proc_find_elf, find_nothing, nullptr, nullptr};

std::string plain_name(const char* symbol) {
  int status = 0;
  char* const name = ::abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  std::string text = status == 0 ? name : symbol;
  std::free(name);
  constexpr std::string_view kNamespace = "(anonymous namespace)::";
  for (std::size_t at = 0; (at = text.find(kNamespace)) != std::string::npos;) {
    text.erase(at, kNamespace.size());
  }
  text.resize(std::min({text.find("::{lambda"), text.find('('), text.find('<'), text.size()}));
  return text.substr(text.rfind(' ') + 1);  // a template's has the type of its result in front
}

struct Line {
  const char* file = nullptr;
  int number = 0;
};
// A function whose code is in another one, in place of a call.
struct Inlined {
  std::string function;
  Line call;
};

std::string inlined_name(Dwarf_Die* die) {
  Dwarf_Attribute found;
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_name}) {
    auto* const attribute = ::dwarf_attr_integrate(die, name, &found);
    const char* const text = attribute == nullptr ? nullptr : ::dwarf_formstring(attribute);
    if (text != nullptr) return plain_name(text);
  }
  return "?";
}

Line call_of(Dwarf_Die* unit, Dwarf_Die* die) {
  Dwarf_Attribute found;
  Dwarf_Word file = 0, number = 0;
  Dwarf_Files* files = nullptr;
  ::dwarf_formudata(::dwarf_attr(die, DW_AT_call_file, &found), &file);
  ::dwarf_formudata(::dwarf_attr(die, DW_AT_call_line, &found), &number);
  if (::dwarf_getsrcfiles(unit, &files, nullptr) != 0) return {};
  return {::dwarf_filesrc(files, file, nullptr, nullptr), static_cast<int>(number)};
}

// From the innermost one outwards.
std::vector<Inlined> inlined_at(Dwfl_Module* module, Dwarf_Addr address) {
  Dwarf_Addr bias = 0;
  auto* const unit = ::dwfl_module_addrdie(module, address, &bias);
  Dwarf_Die* scopes = nullptr;
  if (unit == nullptr || ::dwarf_getscopes(unit, address - bias, &scopes) <= 0) return {};
  // Outside of an inlined function these are where it is written, not where it is called.
  Dwarf_Die innermost = scopes[0];
  std::free(scopes);
  const int count = ::dwarf_getscopes_die(&innermost, &scopes);
  std::vector<Inlined> all;
  for (int i = 0; i < count; ++i) {
    if (::dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine) continue;
    all.push_back({inlined_name(&scopes[i]), call_of(unit, &scopes[i])});
  }
  if (count > 0) std::free(scopes);
  return all;
}

// Of functions of the system's headers nothing is said.
void add_text(const std::string& function, const Line& line, std::vector<std::string>& texts) {
  if (line.file == nullptr || std::string_view(line.file).rfind("/usr/", 0) == 0) return;
  texts.push_back(fmt::format("{} ({}:{})", function, file_of(line.file), line.number));
}

}  // namespace

std::string maps_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/maps", process));
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string_view file_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

CodePlaces::CodePlaces(const std::string& maps, std::function<bool(std::string_view)> is_left_out)
    : dwfl_(::dwfl_begin(&kCallbacks)), is_left_out_(std::move(is_left_out)) {
  if (dwfl_ == nullptr || maps.empty()) return;
  std::string text = maps;
  FILE* const file = ::fmemopen(text.data(), text.size(), "r");
  if (file == nullptr) return;
  ::dwfl_report_begin(dwfl_);
  ::dwfl_linux_proc_maps_report(dwfl_, file);
  ::dwfl_report_end(dwfl_, nullptr, nullptr);
  std::fclose(file);
}

CodePlaces::~CodePlaces() {
  if (dwfl_ != nullptr) ::dwfl_end(dwfl_);
}

std::vector<std::string> CodePlaces::texts_of(std::uint64_t address) const {
  auto* const module = dwfl_ == nullptr ? nullptr : ::dwfl_addrmodule(dwfl_, address);
  if (module == nullptr) return {};
  const char* const path =
      ::dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  if (path == nullptr || is_left_out_(path)) return {};
  GElf_Addr bias = 0;
  static_cast<void>(::dwfl_module_getelf(module, &bias));
  const char* const symbol = ::dwfl_module_addrname(module, address);
  const std::string function = symbol == nullptr ? "?" : plain_name(symbol);
  auto* const source = ::dwfl_module_getsrc(module, address);
  Line line;
  if (source != nullptr) {
    line.file = ::dwfl_lineinfo(source, nullptr, &line.number, nullptr, nullptr, nullptr);
  }
  if (line.file == nullptr) {
    return {fmt::format("{} ({}+{:#x})", function, file_of(path), address - bias)};
  }
  std::vector<std::string> texts;
  for (auto& inlined : inlined_at(module, address)) {
    add_text(inlined.function, line, texts);
    line = inlined.call;
  }
  add_text(function, line, texts);
  return texts;
}

// --- stacks --------------------------------------------------------------------------------------

void StackText::add(const std::vector<std::string>& lines) {
  constexpr std::size_t kShownFrames = 6;
  for (const auto& line : lines) {
    if (complete_) return;
    complete_ = line.rfind("_start ", 0) == 0 || (!end_.empty() && line.rfind(end_, 0) == 0);
    if (complete_) return;
    text_ += (text_.empty() ? "" : " < ") + line;
    complete_ = ++shown_ == kShownFrames || line.rfind("main (", 0) == 0;
  }
}

}  // namespace npu::races
