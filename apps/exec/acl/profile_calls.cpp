// SPDX-License-Identifier: Apache-2.0
// What a program is told of its kernels' times; its device memory, kept and put back.
#include <fmt/format.h>

#include <algorithm>

#include "apps/exec/acl/copy_order.hpp"
#include "apps/exec/acl/handlers.hpp"
#include "apps/exec/acl/models.hpp"

namespace npu::exec::acl {

ProfiledLaunch::ProfiledLaunch(KernelProfile& profile, ProcessCard& card, ProgramStream& stream,
                               std::string name)
    : profile_(profile), card_(card), stream_(stream) {
  const bool meant = card.index() < 64 && (profile.devices >> card.index() & 1) != 0;
  if (!meant || takes_launches(stream)) return;
  run_.begin = take();
  run_.name = std::move(name);
}

ProfiledLaunch::~ProfiledLaunch() {
  if (run_.begin == nullptr) return;
  run_.end = take();
  if (run_.end == nullptr) return;
  run_.device = card_.index();
  run_.stream = stream_.number;
  run_.done = stream_.stream->last();
  profile_.runs.push_back(std::move(run_));
}

std::shared_ptr<const TimePlace> ProfiledLaunch::take() {
  const auto time = card_.take_time();
  if (!time) return nullptr;
  const auto entry = driver::entries::timestamp((*time)->bus());
  return submit(stream_, &entry, 1, *time) ? *time : nullptr;
}

Outcome serve(Caller& caller, const CallOf<Call::kProfileStart>& call) {
  caller.process().profile.devices = call.number;
  return {};
}

// Lines of the window: name, device, stream, begin and end in ns of the card's time. The answer is
// their bytes; 0: that was all, and the program profiles nothing any more.
Value<wire::Number> serve(Caller& caller, const CallOf<Call::kProfileTake>& call) {
  auto& profile = caller.process().profile;
  profile.devices = 0;
  std::string lines;
  std::size_t taken = 0;
  for (; taken < profile.runs.size(); ++taken) {
    const auto run = profile.runs[taken];
    if (!run.done.is_done()) continue;
    const auto line = fmt::format("{},{},{},{},{}\n", run.name, run.device, run.stream,
                                  run.begin->nanoseconds(), run.end->nanoseconds());
    if (lines.size() + line.size() > call.window.size) break;
    lines += line;
  }
  profile.runs.erase(profile.runs.begin(),
                     profile.runs.begin() + static_cast<std::ptrdiff_t>(taken));
  call.give(lines.data(), lines.size());
  return wire::Number{lines.size()};
}

namespace {

constexpr std::uint64_t kEnd = 0, kKeep = 1;  // else: put back

Outcome move(Caller& caller, ProcessCard& card, driver::DeviceAddress at, ByteSpan bytes,
             bool to_device) {
  auto order = CopyOrder::of(caller, card, {});
  if (!order) return forward_fault(order);
  return order->move(at, bytes, to_device);
}

Outcome keep(Caller& caller) {
  auto& process = caller.process();
  std::map<std::uint64_t, KeptMemory> kept;
  for (auto* const card : process.cards()) {
    for (const auto& each : process.book.of(card->index())) {
      if (!card->has(each.begin, each.size)) continue;  // managed
      auto& memory = kept[each.begin.value];
      memory.device = card->index();
      memory.bytes.resize(each.size);
      auto moved = move(caller, *card, each.begin, {memory.bytes.data(), each.size}, false);
      if (!moved) return fault(kSnapshotBackup, moved.error().text);
    }
  }
  process.kept_memory = std::move(kept);
  return {};
}

Outcome put_back(Caller& caller) {
  auto& process = caller.process();
  if (!process.kept_memory) return fault(kSnapshotRestore, "there is no backup");
  auto kept = *process.kept_memory;
  for (auto& [address, memory] : kept) {
    auto* const card = process.card(memory.device);
    const driver::DeviceAddress at{address};
    const auto known = process.book.find(at);
    if (card == nullptr || !known || known->begin != at || known->size != memory.bytes.size()) {
      return fault(kSnapshotRestore, fmt::format("{:#x} was freed since the backup", address));
    }
  }
  for (auto& [address, memory] : kept) {
    auto moved = move(caller, *process.card(memory.device), driver::DeviceAddress{address},
                      {memory.bytes.data(), memory.bytes.size()}, true);
    if (!moved) return fault(kSnapshotRestore, moved.error().text);
  }
  return {};
}

}  // namespace

Outcome serve(Caller& caller, const CallOf<Call::kSnapshot>& call) {
  if (call.number == kKeep) return keep(caller);
  if (call.number != kEnd) return put_back(caller);
  for (const auto& [handle, stream] : caller.process().streams.all()) {
    if (stream->model == nullptr) static_cast<void>(stream->stream->last().wait(Instant::never()));
  }
  return {};
}

}  // namespace npu::exec::acl
