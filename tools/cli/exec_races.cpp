// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/exec_races.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include "model/core/work_watch.hpp"
#include "model/system.hpp"
#include "npu/abi/dma.hpp"
#include "npu/abi/page_table.hpp"
#include "tools/cli/extents.hpp"

namespace npu::cli {
namespace {

using exec::races::Piece;
using exec::races::Work;
using model::WorkWatch;

// What platform::queue_cause() says.
constexpr unsigned kDeviceShift = 56, kQueueShift = 40;
constexpr std::uint64_t kDeviceMask = 0x7F, kQueueMask = 0xFFFF, kIndexMask = 0xFF'FFFF'FFFF;

}  // namespace

// What is kept of a run.
class ExecRaces::Cards final : public WorkWatch {
 public:
  Cards()
      : detector_([](const std::string& line) {
          std::fputs(("npusim: " + line + "\n").c_str(), stderr);
        }) {}
  ~Cards() override {
    if (model::detail::work_watch == this) model::detail::work_watch = nullptr;
  }
  Cards(const Cards&) = delete;
  Cards& operator=(const Cards&) = delete;

  void attach(model::System& system) {
    system_ = &system;
    model::detail::work_watch = this;
    detector_.set_translation(
        [this](std::uint32_t device, std::uint32_t space, std::uint64_t begin, Bytes size) {
          std::vector<Piece> pieces;
          translate(device, static_cast<model::SpaceId>(space), begin, begin + size, true, pieces);
          return pieces;
        });
  }

  void accessed(const Access& access) override {
    auto& kernel = kernels_[access.by.cause];
    auto& extents = access.write ? kernel.writes : kernel.reads;
    for (Bytes row = 0; row < access.rows; ++row) {
      const auto begin = access.first + row * access.pitch;
      extents.add(begin, begin + access.row);
    }
  }

  void created(std::uint64_t cause) override {
    detector_.created(device_of(cause), queue_of(cause), now());
  }

  void ended(const Entry& entry) override {
    Work work;
    work.device = device_of(entry.cause);
    work.queue = queue_of(entry.cause);
    work.index = entry.cause & kIndexMask;
    work.space = entry.space;
    add_signal(entry.entry, work);
    add_copy(entry, work);
    add_kernel(entry, work);
    detector_.ended(std::move(work), now());
  }

  exec::races::Detector& detector() { return detector_; }
  const exec::races::Detector& detector() const { return detector_; }

 private:
  static std::uint32_t device_of(std::uint64_t cause) {
    return static_cast<std::uint32_t>(cause >> kDeviceShift & kDeviceMask);
  }
  static std::uint32_t queue_of(std::uint64_t cause) {
    return static_cast<std::uint32_t>(cause >> kQueueShift & kQueueMask);
  }
  static Instant now() { return Instant(Picoseconds(static_cast<std::int64_t>(model::sim_now()))); }

  struct Kernel {
    Extents reads, writes;
  };

  static void add_signal(const abi::QueueEntry& entry, Work& work) {
    const auto opcode = static_cast<abi::QueueOpcode>(entry.opcode);
    if (opcode == abi::QueueOpcode::kEventRecord) {
      const auto signal = entry.get<abi::SignalPayload>();
      work.kind = Work::Kind::kRecord;
      work.signal = signal.slot;
      work.value = signal.value;
    } else if (opcode == abi::QueueOpcode::kEventWait) {
      const auto wait = entry.get<abi::WaitPayload>();
      work.kind = Work::Kind::kWait;
      work.signal = wait.slot;
      work.condition = wait.condition;
      work.value = wait.value;
    }
  }

  void add_copy(const Entry& entry, Work& work) {
    const auto* const operation = abi::find_dma_operation(entry.entry.opcode);
    if (operation == nullptr) return;
    if (operation->source == abi::DmaSide::kPattern) {
      const auto fill = entry.entry.get<abi::FillPayload>();
      return add(work, entry.space, abi::DmaSide::kDevice, fill.destination, fill.size, true);
    }
    const auto copy = entry.entry.get<abi::CopyPayload>();
    add(work, entry.space, operation->source, copy.source, copy.size, false);
    add(work, entry.space, operation->target, copy.destination, copy.size, true);
  }

  void add(Work& work, model::SpaceId space, abi::DmaSide side, std::uint64_t address, Bytes size,
           bool write) {
    if (side == abi::DmaSide::kHost) {
      work.pieces.push_back({true, write, address, 0, size});
    } else {
      translate(work.device, space, address, address + size, write, work.pieces);
    }
  }

  void add_kernel(const Entry& entry, Work& work) {
    const auto found = kernels_.find(entry.cause);
    if (found == kernels_.end()) return;
    for (const auto& [begin, end] : found->second.reads.merge()) {
      translate(work.device, entry.space, begin, end, false, work.pieces);
    }
    for (const auto& [begin, end] : found->second.writes.merge()) {
      translate(work.device, entry.space, begin, end, true, work.pieces);
    }
    kernels_.erase(found);
  }

  // What is not in the card's memory is left out.
  void translate(std::uint32_t device, model::SpaceId space, std::uint64_t begin, std::uint64_t end,
                 bool write, std::vector<Piece>& pieces) {
    auto& memory = system_->card(device).mmu().memory();
    while (begin < end) {
      const auto page_end = ((begin >> abi::kPageShift) + 1) << abi::kPageShift;
      const auto next = std::min<std::uint64_t>(end, page_end);
      if (const auto local = memory.local(space, begin)) {
        auto* const last = pieces.empty() ? nullptr : &pieces.back();
        const bool goes_on = last != nullptr && !last->host && last->write == write &&
                             last->address + last->size == begin &&
                             last->local + last->size == *local;
        if (goes_on) {
          last->size += next - begin;
        } else {
          pieces.push_back({false, write, begin, *local, next - begin});
        }
      }
      begin = next;
    }
  }

  exec::races::Detector detector_;
  model::System* system_ = nullptr;
  std::map<std::uint64_t, Kernel> kernels_;  // by cause
};

ExecRaces::ExecRaces(const std::string& mode)
    : mode_(mode), cards_(mode.empty() ? nullptr : std::make_unique<Cards>()) {}
ExecRaces::~ExecRaces() = default;

exec::races::Detector* ExecRaces::detector() {
  return cards_ == nullptr ? nullptr : &cards_->detector();
}

void ExecRaces::watch(model::System& system) {
  if (cards_ != nullptr) cards_->attach(system);
}

void ExecRaces::add_to(reports::Report& report) const {
  if (cards_ == nullptr) return;
  const auto& detector = cards_->detector();
  report.add_metric("races.found", reports::Number::count(detector.races().count()), "");
  auto& table = report.add_table("races", {"times", "race"});
  for (const auto& row : detector.races().rows(detector.sites())) {
    table.rows.push_back({std::to_string(row.times), row.text});
  }
}

Outcome ExecRaces::outcome() const {
  if (mode_ != "fail" || cards_->detector().races().count() == 0) return {};
  const auto count = cards_->detector().races().count();
  return failure(fmt::format("exec: {} race{}, the report names {}", count, count == 1 ? "" : "s",
                             count == 1 ? "it" : "them"));
}

}  // namespace npu::cli
