// SPDX-License-Identifier: Apache-2.0
// A card that programs share: opened once, by the first that uses it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/exec/acl/driver_settings.hpp"
#include "apps/exec/acl/outcome.hpp"
#include "npu/driver/device.hpp"
#include "npu/driver/execution_stream.hpp"
#include "npu/driver/queue_types.hpp"
#include "npu/driver/scan.hpp"
#include "npu/driver/time_slices.hpp"

namespace npu::dsmi {
class DriverDevices;
}

namespace npu::exec::acl {

class ProcessCard;

using Cores = driver::LaunchCores;
inline constexpr std::size_t kCoreKinds = 2;  // without mixed launches

struct Card {
  Card();
  ~Card();
  Card(Card&&) noexcept;
  Card& operator=(Card&&) noexcept;

  std::unique_ptr<driver::Device> device;
  std::array<std::uint32_t, kCoreKinds> cores{};  // by Cores; coupled cores count as both
  std::array<std::uint32_t, kCoreKinds> first{};  // number of the first one
  std::uint32_t aicpus = 0;
  Bytes used_before = 0;  // of its memory, when it was opened

  // Its virtual devices, from the first program on that asks for them; one call at a time.
  std::unique_ptr<platform::Mutex> dividing;
  std::unique_ptr<dsmi::DriverDevices> divided;

  // From the first program on that has a quota, or the first token.
  std::unique_ptr<driver::TimeSliceScheduler> time_slices;
  std::unique_ptr<platform::Mutex> sharing;  // while somebody joins, comes or goes
  std::vector<ProcessCard*> users;

  Result<driver::TimeSliceScheduler*> time_slices_of(const driver::TimeSliceOptions& options);
  // driver::ManagementAccess::token(); whoever is on the card takes turns from the first one on
  // that is not the whole.
  unsigned token() const;
  Status set_token(unsigned token);
  // The first `count` cores of the kind.
  driver::CoreMask mask(Cores kind, std::uint32_t count) const;
};

class Cards {
 public:
  // `settings` outlive them.
  Cards(platform::Platform& platform, std::vector<std::string> soc_names,
        const DriverSettings& settings);
  // One function, wherever it is, as the only one.
  Cards(platform::Platform& platform, std::string soc_name, platform::Bdf function,
        const DriverSettings& settings);

  std::uint32_t count() const { return static_cast<std::uint32_t>(cards_.size()); }
  const DriverSettings& settings() const { return settings_; }
  const std::string& soc_name(std::uint32_t index) const { return soc_names_[index]; }
  // kInvalidDevice; kDriver: it cannot be opened.
  Value<Card*> open(std::int64_t index);
  // Null: nobody has joined any.
  const driver::TimeSliceScheduler* time_slices(std::uint32_t index) const {
    return cards_[index].time_slices.get();
  }
  // What is in use of their memory, besides what was before programs came.
  Bytes memory_left() const;
  void close();

 private:
  Status prepare(Card& card, std::uint32_t index);
  Result<platform::Bdf> place_of(std::uint32_t index);

  platform::Platform& platform_;
  const DriverSettings& settings_;
  std::vector<std::string> soc_names_;
  const std::optional<platform::Bdf> function_;
  std::optional<std::vector<driver::CardInfo>> found_;  // none: nobody has looked yet
  std::unique_ptr<platform::Mutex> lock_;
  std::vector<Card> cards_;
};

}  // namespace npu::exec::acl
