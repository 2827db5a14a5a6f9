// SPDX-License-Identifier: Apache-2.0
// Where the card writes the times of a program's event records: host memory, a page more when all
// places are in use. A record has its place until it is done and nobody asks for its time any more.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "npu/driver/process.hpp"

namespace npu::exec::acl {

class TimePages;

class TimePlace {
 public:
  TimePlace(std::shared_ptr<TimePages> pages, std::size_t number)
      : pages_(std::move(pages)), number_(number) {}
  ~TimePlace();
  TimePlace(const TimePlace&) = delete;
  TimePlace& operator=(const TimePlace&) = delete;

  platform::BusAddress bus() const;
  std::uint64_t nanoseconds() const;

 private:
  const std::shared_ptr<TimePages> pages_;
  const std::size_t number_;
};

class TimePages : public std::enable_shared_from_this<TimePages> {
 public:
  explicit TimePages(driver::ProcessContext& process) : process_(process) {}

  Result<std::shared_ptr<const TimePlace>> take();

 private:
  friend class TimePlace;
  static constexpr Bytes kPage = 64_KiB;
  static constexpr std::size_t kPlaces = kPage / sizeof(std::uint64_t);

  driver::ProcessContext& process_;
  std::vector<std::unique_ptr<platform::DmaMemory>> pages_;
  std::size_t next_ = 0;
  std::vector<std::size_t> free_;  // by number
};

}  // namespace npu::exec::acl
