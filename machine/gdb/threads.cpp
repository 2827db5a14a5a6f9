// SPDX-License-Identifier: Apache-2.0
#include "machine/gdb/threads.hpp"

#include <fmt/format.h>
#include <unwind.h>

#include <algorithm>

namespace npu::gdb {
namespace {

// DWARF's numbers of what functions leave as it was, and gdb's.
constexpr std::array<std::array<unsigned, 2>, 6> kKept{
    {{3, kRbx}, {6, kRbp}, {12, kR12}, {13, kR12 + 1}, {14, kR12 + 2}, {15, kR12 + 3}}};

struct Search {
  const Code& code;
  Context found, outside;
  std::uint64_t entry = 0;
};

// `frame`, with the code at `place`.
Context registers_of(_Unwind_Context* frame, std::uint64_t place) {
  Context context;
  context.set(kRip, place);
  context.set(kRsp, _Unwind_GetCFA(frame));
  for (const auto& [dwarf, number] : kKept) {
    context.set(number, _Unwind_GetGR(frame, static_cast<int>(dwarf)));
  }
  return context;
}

_Unwind_Reason_Code look(_Unwind_Context* frame, void* data) {
  auto& search = *static_cast<Search*>(data);
  const std::uint64_t place = _Unwind_GetIP(frame);
  if (!search.code.contains(place)) {
    if (search.found.empty()) return _URC_NO_REASON;
    search.entry = _Unwind_GetCFA(frame) - sizeof place;
    search.outside = registers_of(frame, kOutside);
    return _URC_NORMAL_STOP;
  }
  if (search.found.empty()) search.found = registers_of(frame, place);
  return _URC_NO_REASON;
}

}  // namespace

Thread& Threads::of(model::ProgramRun& run) {
  for (auto& thread : threads_) {
    if (thread.run == &run) return thread;
  }
  threads_.push_back(
      {static_cast<unsigned>(threads_.size()) + kHost + 1, &run, false, false, {}, {}, 0});
  return threads_.back();
}

Thread* Threads::find(std::uint64_t id) {
  const std::uint64_t first = kHost + 1;
  return id < first || id - first >= threads_.size() ? nullptr : &threads_[id - first];
}

void Threads::begins(model::ProgramRun& run) {
  Thread& thread = of(run);
  thread.active = true;
  thread.returned = false;
  thread.left = thread.outside = {};
}

void Threads::leaves(model::ProgramRun& run) {
  Thread& thread = of(run);
  if (thread.returned) return;
  Search search{code_, {}, {}, 0};
  _Unwind_Backtrace(&look, &search);
  thread.left = search.found;
  thread.entry = search.entry;
  if (!search.outside.empty()) thread.outside = search.outside;
}

bool Threads::returns(model::ProgramRun& run) {
  Thread& thread = of(run);
  thread.returned = !thread.outside.empty();
  thread.left = thread.outside;
  return thread.returned;
}

void Threads::hide(std::uint64_t address, unsigned char* data, std::size_t bytes) const {
  for (const auto& thread : threads_) {
    if (!thread.active || thread.entry == 0) continue;
    for (std::uint64_t at = thread.entry; at < thread.entry + sizeof at; ++at) {
      if (at >= address && at - address < bytes) data[at - address] = 0;
    }
  }
}

Thread* Threads::find(const model::DeviceMemoryPort* memory, unsigned core) {
  for (auto& thread : threads_) {
    auto* const of = thread.run->core();
    const bool aicpu = of != nullptr && of->debug_name().rfind("aicpu", 0) == 0;
    if (of != nullptr && !aicpu && &of->debug_memory() == memory && of->debug_number() == core) {
      return &thread;
    }
  }
  return nullptr;
}

std::string Threads::name(const Thread& thread) const {
  auto* const core = thread.run->core();
  if (core == nullptr) return fmt::format("core {}", thread.run->identity().number);
  if (cards_.size() < 2) return core->debug_name();
  const auto card = std::find(cards_.begin(), cards_.end(), &core->debug_memory());
  return fmt::format("card{} {}", card - cards_.begin(), core->debug_name());
}

std::string Threads::list() const {
  std::string text = fmt::format("<threads><thread id=\"{}\" name=\"host\"/>", kHost);
  for (const auto& thread : threads_) {
    if (!thread.active) continue;
    const auto& who = thread.run->identity();
    text += fmt::format("<thread id=\"{:x}\" name=\"{}\">block {} of {}{}</thread>", thread.id,
                        name(thread), who.block, who.blocks,
                        thread.left.empty() ? "" : ", in its port");
  }
  return text + "</threads>";
}

}  // namespace npu::gdb
