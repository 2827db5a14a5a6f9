// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/acl/card.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/dsmi/driver_devices.hpp"
#include "apps/exec/acl/guard.hpp"
#include "apps/exec/acl/process_card.hpp"
#include "npu/abi/queue_registers.hpp"

namespace npu::exec::acl {

Card::Card() = default;
Card::~Card() = default;
Card::Card(Card&&) noexcept = default;
Card& Card::operator=(Card&&) noexcept = default;

Result<driver::TimeSliceScheduler*> Card::time_slices_of(const driver::TimeSliceOptions& options) {
  if (time_slices == nullptr) {
    auto opened = driver::TimeSliceScheduler::open(*device, options);
    if (!opened) return forward_error(opened);
    time_slices = std::move(*opened);
  }
  return time_slices.get();
}

unsigned Card::token() const {
  return time_slices == nullptr ? driver::kWholeToken : time_slices->card_token();
}

Status Card::set_token(unsigned token) {
  const Guard held(*sharing);
  if (time_slices == nullptr && token == driver::kWholeToken) return {};
  // Nobody has asked for a part of the time: what one leaves is the others'.
  driver::TimeSliceOptions options;
  options.policy = driver::SharingPolicy::kElastic;
  const auto scheduler = time_slices_of(options);
  if (!scheduler) return forward_error(scheduler);
  const unsigned before = (*scheduler)->card_token();
  if (auto set = (*scheduler)->set_card_token(token); !set) return set;
  for (auto* const user : users) {
    auto joined = user->join(**scheduler);
    if (joined) continue;
    static_cast<void>((*scheduler)->set_card_token(before));
    return joined;
  }
  return {};
}

driver::CoreMask Card::mask(Cores kind, std::uint32_t count) const {
  driver::CoreMask mask{};
  const auto begin = first[static_cast<std::size_t>(kind)];
  const auto all = cores[static_cast<std::size_t>(kind)];
  for (auto core = begin; core < begin + std::min(count, all) && core < driver::kMostCores;
       ++core) {
    mask[core / 64] |= std::uint64_t{1} << core % 64;
  }
  return mask;
}

Cards::Cards(platform::Platform& platform, std::vector<std::string> soc_names,
             const DriverSettings& settings)
    : platform_(platform),
      settings_(settings),
      soc_names_(std::move(soc_names)),
      lock_(platform.tasks().make_mutex()),
      cards_(soc_names_.size()) {}

Cards::Cards(platform::Platform& platform, std::string soc_name, platform::Bdf function,
             const DriverSettings& settings)
    : platform_(platform),
      settings_(settings),
      soc_names_{std::move(soc_name)},
      function_(function),
      lock_(platform.tasks().make_mutex()),
      cards_(1) {}

// A scan switches decoding off at every card, to see how large its BARs are. So there is one,
// before any card is in use.
Result<platform::Bdf> Cards::place_of(std::uint32_t index) {
  if (function_) return *function_;
  if (!found_) {
    auto found = driver::scan(platform_);
    if (!found) return forward_error(found);
    found_ = std::move(found->cards);
  }
  for (const auto& card : *found_) {
    if (card.device_index == index) return card.bdf();
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("no card with device index {}: {} usable", index, found_->size()));
}

Status Cards::prepare(Card& card, std::uint32_t index) {
  const auto place = place_of(index);
  if (!place) return forward_error(place);
  auto device = driver::Device::open(platform_, *place, settings_.device_options());
  if (!device) return forward_error(device);
  auto registers = platform_.map_bar((*device)->info().bdf(), abi::kRegisterBar, 0,
                                     abi::kDoorbellPageSize, platform::Caching::kUncached);
  if (!registers) return forward_error(registers);
  const auto topology =
      abi::CoreTopology::from_raw((*registers)->read32(abi::CoreTopology::kOffset));
  const auto counts = abi::QueueCores::from_raw((*registers)->read32(abi::QueueCores::kOffset));
  const std::uint32_t clusters = topology.get<abi::CoreTopology::Clusters>();
  const std::uint32_t vectors = topology.get<abi::CoreTopology::VectorCores>();
  card.cores = {vectors == 0 ? clusters : clusters * vectors, clusters};
  card.first = {vectors == 0 ? 0 : clusters, 0};
  card.aicpus = counts.get<abi::QueueCores::Aicpus>();
  card.used_before = (*device)->memory_statistics().used();
  card.dividing = platform_.tasks().make_mutex();
  card.sharing = platform_.tasks().make_mutex();
  card.device = std::move(*device);
  return {};
}

Value<Card*> Cards::open(std::int64_t index) {
  if (index < 0 || index >= count()) {
    return fault(kInvalidDevice, fmt::format("device {}: there are {}", index, count()));
  }
  auto& card = cards_[static_cast<std::size_t>(index)];
  if (card.device != nullptr) return &card;
  lock_->lock();
  Status ready;
  if (card.device == nullptr) ready = prepare(card, static_cast<std::uint32_t>(index));
  lock_->unlock();
  if (!ready) return fault(kDriver, ready.error().message());
  return &card;
}

Bytes Cards::memory_left() const {
  Bytes left = 0;
  for (const auto& card : cards_) {
    if (card.device == nullptr) continue;
    const Bytes used = card.device->memory_statistics().used();
    left += used - std::min(used, card.used_before);
  }
  return left;
}

void Cards::close() {
  for (auto& card : cards_) {
    card.time_slices.reset();
    card.divided.reset();
    card.device.reset();
  }
}

}  // namespace npu::exec::acl
