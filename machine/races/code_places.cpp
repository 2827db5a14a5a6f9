// SPDX-License-Identifier: Apache-2.0
#include "machine/races/code_places.hpp"

#include <cxxabi.h>
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

std::string CodePlaces::text_of(std::uint64_t address) const {
  auto* const module = dwfl_ == nullptr ? nullptr : ::dwfl_addrmodule(dwfl_, address);
  if (module == nullptr) return {};
  const char* const path =
      ::dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  if (path == nullptr || is_left_out_(path)) return {};
  GElf_Addr bias = 0;
  static_cast<void>(::dwfl_module_getelf(module, &bias));
  const char* const symbol = ::dwfl_module_addrname(module, address);
  const std::string function = symbol == nullptr ? "?" : plain_name(symbol);
  int line = 0;
  auto* const source = ::dwfl_module_getsrc(module, address);
  const char* const name = source == nullptr
                               ? nullptr
                               : ::dwfl_lineinfo(source, nullptr, &line, nullptr, nullptr, nullptr);
  if (name != nullptr && std::string_view(name).rfind("/usr/", 0) == 0) return {};
  if (name == nullptr) {
    return fmt::format("{} ({}+{:#x})", function, file_of(path), address - bias);
  }
  return fmt::format("{} ({}:{})", function, file_of(name), line);
}

}  // namespace npu::races
