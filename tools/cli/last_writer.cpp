// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/last_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "model/aicore/hazards/hazard_text.hpp"
#include "model/core/work_watch.hpp"
#include "model/system.hpp"
#include "npu/abi/dma.hpp"
#include "tools/timeline/cause.hpp"

namespace npu::cli {
namespace {

using model::HazardPlace;
using model::SpaceId;
using model::WorkWatch;

// The bytes that an entry of a queue writes and reads, in words.
std::string copy_text(const abi::QueueEntry& entry) {
  const auto* const operation = abi::find_dma_operation(entry.opcode);
  if (operation == nullptr) return {};
  if (operation->source == abi::DmaSide::kPattern) {
    const auto fill = entry.get<abi::FillPayload>();
    return fmt::format("a fill of {} bytes with {:#x} from {:#x} on", fill.size, fill.pattern,
                       fill.destination);
  }
  const auto copy = entry.get<abi::CopyPayload>();
  if (operation->target == abi::DmaSide::kCache) {
    return fmt::format("a prefetch of {} bytes from {:#x} on", copy.size, copy.source);
  }
  return fmt::format("a copy ({}) of {} bytes from {:#x} to {:#x}", operation->name, copy.size,
                     copy.source, copy.destination);
}

}  // namespace

class LastWriter::Watch final : public WorkWatch, public model::MemoryWatch::Snooper {
 public:
  Watch(unsigned card, std::uint64_t address, Instant until)
      : card_(card), address_(address), until_(until) {}
  ~Watch() override { detach(); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void attach(model::System& system) {
    auto& card = system.card(card_);
    memory_ = &card.mmu().memory();
    programs_ = &card.aicore_programs();
    aicpus_ = &card.aicpu_programs();
    card.memory_watch().add_snooper(*this);
    model::detail::work_watch = this;
  }
  void detach() {
    if (model::detail::work_watch == this) model::detail::work_watch = nullptr;
  }

  // --- kernels
  void issued(const Instruction& by, const HazardPlace& place) override {
    if (is_here(by.cause)) places_[{by.core, by.pipe}][by.number] = place;
  }
  void accessed(const Access& access) override {
    if (!is_here(access.by.cause)) return;
    auto& places = places_[{access.by.core, access.by.pipe}];
    const bool meets = access.write && met(access);
    const auto place = places.find(access.by.number);
    if (meets) {
      note("");
      cause_ = access.by.cause;
      place_ = place == places.end() ? std::nullopt : std::optional(place->second);
      core_ = access.by.core;
    }
    // A pipe comes to its instructions in their order.
    if (place != places.end()) places.erase(places.begin(), place);
  }

  // --- everybody else
  void created(std::uint64_t) override {}
  void ended(const Entry& entry) override {
    if (place_ || entry.cause != cause_ || cause_ == 0) return;
    const auto text = copy_text(entry.entry);
    if (!text.empty() && copy_.empty()) copy_ = text;
  }
  void snoop(model::Writer writer, SpaceId space, std::uint64_t address, Bytes length) override {
    if (writer != model::Writer::kAicpu && writer != model::Writer::kAicpuAtomic) return;
    if (!covers(space, address, length)) return;
    // Stores leave a buffer: whatever program runs now need not be theirs.
    note(fmt::format("{} of AICPU {}",
                     writer == model::Writer::kAicpu ? "a store" : "an atomic access",
                     aicpus_->writer()));
  }
  void snoop_local(std::uint64_t address, Bytes length) override {
    if (!covers_local(address, length)) return;
    const auto cause = model::detail::write_cause;
    note(cause == 0 ? "a store of the host or of another card"
                    : "DMA for " + timeline::cause_text(cause));
    cause_ = cause;
  }

  std::string text() {
    const auto where = fmt::format("{:#x} of card{}", address_, card_);
    if (!when_) return "nobody has written " + where + "\n";
    auto who = text_;
    if (who.empty()) {
      model::HazardText words(programs_->hazards(), programs_->loader());
      who = place_ ? "a kernel at " + words.site_of(*place_) : fmt::format("core {}", core_);
      who += " for " + timeline::cause_text(cause_);
    }
    if (!copy_.empty()) who += ", " + copy_;
    return fmt::format("{}: written last at {:.6f} us by {}\n", where, when_->us(), who);
  }

 private:
  static Instant now() { return Instant(Picoseconds(static_cast<std::int64_t>(model::sim_now()))); }
  bool is_here(std::uint64_t cause) const {
    return platform::QueueCause::card(cause) == card_ && now() <= until_;
  }
  void note(std::string text) {
    text_ = std::move(text);
    when_ = now();
    copy_.clear();
    place_.reset();
    cause_ = 0;
  }
  bool met(const Access& access) const {
    for (Bytes row = 0; row < access.rows; ++row) {
      if (covers(access.space, access.first + row * access.pitch, access.row)) return true;
    }
    return false;
  }
  // The address may be one of the space's, or a device-local one. A piece lies in one page.
  bool covers(SpaceId space, std::uint64_t begin, Bytes length) const {
    if (now() > until_ || length == 0) return false;
    if (begin <= address_ && address_ - begin < length) return true;
    const auto local = memory_->local(space, begin);
    return local && *local <= address_ && address_ - *local < length;
  }
  bool covers_local(std::uint64_t begin, Bytes length) const {
    if (now() > until_) return false;
    const auto meets = [&](std::uint64_t at) { return begin <= at && at - begin < length; };
    if (meets(address_)) return true;
    for (SpaceId space = 1; space < abi::kVmids; ++space) {
      const auto local = memory_->local(space, address_);
      if (local && meets(*local)) return true;
    }
    return false;
  }

  const unsigned card_;
  const std::uint64_t address_;
  const Instant until_;
  model::DeviceMemoryPort* memory_ = nullptr;
  model::AiCorePrograms* programs_ = nullptr;
  model::AicpuPrograms* aicpus_ = nullptr;
  // By core and pipe: instructions that have been issued and have not accessed memory yet.
  std::map<std::pair<unsigned, unsigned>, std::map<std::uint32_t, HazardPlace>> places_;
  // Of the last write.
  std::optional<Instant> when_;
  std::string text_, copy_;
  std::optional<HazardPlace> place_;
  std::uint64_t cause_ = 0;
  unsigned core_ = 0;
};

LastWriter::LastWriter(unsigned card, std::uint64_t address, Instant until)
    : watch_(std::make_unique<Watch>(card, address, until)) {}
LastWriter::~LastWriter() = default;

void LastWriter::watch(model::System& system) {
  watch_->attach(system);
}

std::string LastWriter::text() {
  watch_->detach();
  return watch_->text();
}

}  // namespace npu::cli
