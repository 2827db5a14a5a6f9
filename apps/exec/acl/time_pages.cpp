// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/acl/time_pages.hpp"

namespace npu::exec::acl {

TimePlace::~TimePlace() {
  pages_->free_.push_back(number_);
}

platform::BusAddress TimePlace::bus() const {
  const auto& page = *pages_->pages_[number_ / TimePages::kPlaces];
  return page.bus() + number_ % TimePages::kPlaces * sizeof(std::uint64_t);
}

std::uint64_t TimePlace::nanoseconds() const {
  const auto& page = *pages_->pages_[number_ / TimePages::kPlaces];
  return page.load<std::uint64_t>(number_ % TimePages::kPlaces * sizeof(std::uint64_t));
}

Result<std::shared_ptr<const TimePlace>> TimePages::take() {
  std::size_t number = next_;
  if (free_.empty()) {
    ++next_;
  } else {
    number = free_.back();
    free_.pop_back();
  }
  // Another task may come while this one waits for the memory, and takes the next place.
  while (number / kPlaces >= pages_.size()) {
    auto page = process_.allocate_host(kPage, platform::DmaDirection::kDeviceWrites);
    if (!page) {
      free_.push_back(number);
      return forward_error(page);
    }
    pages_.push_back(std::move(*page));
  }
  return std::make_shared<const TimePlace>(shared_from_this(), number);
}

}  // namespace npu::exec::acl
