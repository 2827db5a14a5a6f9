// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/races/call_sites.hpp"

#include <cxxabi.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

namespace npu::exec::races {
namespace {

constexpr std::size_t kShownFrames = 6;

std::string maps_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/maps", process));
  return {std::istreambuf_iterator<char>(file), {}};
}

// What is beside the file itself is not looked for: that may ask the network.
int find_nothing(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word,
                 char**) {
  return -1;
}

std::string_view file_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// Libraries between a program and npusim, and those that call the program back.
bool is_left_out(std::string_view module) {
  for (const char* const name :
       {"libnpuclient.so", "libascendcl.so", "libacl_rt.so", "libruntime.so", "libascend_hal.so",
        "libnpudsmi.so", "libc.so", "libstdc++.so", "[vdso]"}) {
    if (file_of(module).rfind(name, 0) == 0) return true;
  }
  return false;
}

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

// The modules of a process, by its maps.
class Modules {
 public:
  explicit Modules(const std::string& maps) : dwfl_(::dwfl_begin(&kCallbacks)) {
    if (dwfl_ == nullptr || maps.empty()) return;
    std::string text = maps;
    FILE* const file = ::fmemopen(text.data(), text.size(), "r");
    if (file == nullptr) return;
    ::dwfl_report_begin(dwfl_);
    ::dwfl_linux_proc_maps_report(dwfl_, file);
    ::dwfl_report_end(dwfl_, nullptr, nullptr);
    std::fclose(file);
  }
  ~Modules() {
    if (dwfl_ != nullptr) ::dwfl_end(dwfl_);
  }
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;

  // Of code at the address; empty: left out, or unknown.
  std::string text_of(std::uint64_t address) const {
    auto* const module = dwfl_ == nullptr ? nullptr : ::dwfl_addrmodule(dwfl_, address);
    if (module == nullptr) return {};
    const char* const path =
        ::dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
    if (path == nullptr || is_left_out(path)) return {};
    GElf_Addr bias = 0;
    static_cast<void>(::dwfl_module_getelf(module, &bias));
    const char* const symbol = ::dwfl_module_addrname(module, address);
    const std::string function = symbol == nullptr ? "?" : plain_name(symbol);
    int line = 0;
    auto* const source = ::dwfl_module_getsrc(module, address);
    const char* const name =
        source == nullptr ? nullptr
                          : ::dwfl_lineinfo(source, nullptr, &line, nullptr, nullptr, nullptr);
    if (name != nullptr && std::string_view(name).rfind("/usr/", 0) == 0) return {};
    if (name == nullptr) {
      return fmt::format("{} ({}+{:#x})", function, file_of(path), address - bias);
    }
    return fmt::format("{} ({}:{})", function, file_of(name), line);
  }

 private:
  static const Dwfl_Callbacks kCallbacks;

  Dwfl* const dwfl_;
};

const Dwfl_Callbacks Modules::kCallbacks{::dwfl_linux_proc_find_elf, find_nothing, nullptr,
                                         nullptr};

}  // namespace

std::uint32_t CallSites::place(const std::string& program, const std::string& thread, pid_t process,
                               compat::Call call, Frames frames) {
  const auto next = static_cast<std::uint32_t>(places_.size());
  const auto [known, is_new] = known_.try_emplace(Key{program, call, frames}, next);
  if (!is_new) return known->second;
  auto maps = std::make_shared<const std::string>(maps_of(process));
  const auto& before = places_.back().maps;
  if (before != nullptr && *before == *maps) maps = before;
  places_.push_back({program, thread, call, std::move(frames), std::move(maps)});
  return next;
}

std::string CallSites::stack_of(std::uint32_t place) const {
  const auto& site = places_[place];
  if (site.maps == nullptr) return {};
  const Modules modules(*site.maps);
  std::string text;
  std::size_t shown = 0;
  for (const auto frame : site.frames) {
    // Return addresses are behind the call. An access of the program's own is where it is: behind
    // the frame of the signal.
    const bool exact = site.call == compat::Call::kHostAccess && shown == 0;
    const auto line = modules.text_of(exact ? frame : frame - 1);
    if (line.empty()) continue;
    if (line.rfind("_start ", 0) == 0) break;
    text += (text.empty() ? "" : " < ") + line;
    if (++shown == kShownFrames || line.rfind("main (", 0) == 0) break;
  }
  return text;
}

}  // namespace npu::exec::races
