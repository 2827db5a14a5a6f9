// SPDX-License-Identifier: Apache-2.0
#include "machine/gdb/monitor.hpp"

#include <fmt/format.h>

#include "machine/gdb/session.hpp"
#include "model/core/agenda.hpp"

namespace npu::gdb {
namespace {

constexpr char kHelp[] =
    "time        simulated time\n"
    "cores       what each core does that has a program\n"
    "memory      where local buffers and global memory of these cores are\n"
    "last-write  who has written last to what is watched\n"
    "only CORE   breakpoints stop this core alone, such as aiv 7; all: every core\n";

std::string time() {
  constexpr std::uint64_t kNanosecond = 1000;
  const auto now = model::sim_now();
  return fmt::format("{}.{:03} ns\n", now / kNanosecond, now % kNanosecond);
}

std::string cores(const Target& target, const std::deque<Thread>& threads) {
  std::string text;
  for (const auto& each : threads) {
    if (!each.active) continue;
    const auto& who = each.run->identity();
    text += fmt::format("{}: block {} of {}", target.threads.name(each), who.block, who.blocks);
    if (who.name[0] != 0) text += fmt::format(" of {}", who.name.data());
    auto* const core = each.run->core();
    if (core != nullptr) text += fmt::format(", arguments at {:#x}", core->debug_arguments());
    if (each.run == model::detail::running_program && each.run->in_program()) {
      text += ", runs\n";
      continue;
    }
    if (!each.left.empty()) text += fmt::format(", at {:#x}", each.left.value[kRip]);
    if (core != nullptr) text += ", " + core->debug_state();
    text += "\n";
  }
  return text.empty() ? "no core has a program\n" : text;
}

std::string only(const std::string& name, Target& target) {
  if (name == "all") {
    target.only = 0;
    return "breakpoints stop every core\n";
  }
  for (const auto& each : target.threads.all()) {
    if (target.threads.name(each) != name) continue;
    target.only = each.id;
    return "breakpoints stop " + name + " alone\n";
  }
  return "no core that has had a program is called '" + name + "'\n";
}

}  // namespace

std::string monitor(const std::string& command, Target& target) {
  if (command == "help") return kHelp;
  if (command == "time") return time();
  if (command == "cores") return cores(target, target.threads.all());
  if (command == "memory") {
    std::string text;
    for (const auto& each : target.threads.all()) {
      if (each.active) text += target.spaces.windows(each);
    }
    return text.empty() ? "no core has a program\n" : text;
  }
  if (command == "last-write") {
    return target.last_write.empty() ? "nobody has written to what is watched\n"
                                     : target.last_write;
  }
  if (command.rfind("only ", 0) == 0) return only(command.substr(5), target);
  return "there is no '" + command + "'; monitor help lists what there is\n";
}

}  // namespace npu::gdb
