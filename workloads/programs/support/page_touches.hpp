// SPDX-License-Identifier: Apache-2.0
// A managed array that the card touches page by page, with a copy on the host of what it holds.
#pragma once

#include <cstring>
#include <vector>

#include "npu/driver/managed.hpp"
#include "workloads/framework/random.hpp"
#include "workloads/programs/support/queue_session.hpp"

namespace npu::workloads {

class PageTouches {
 public:
  static constexpr Bytes kTouched = 4096;

  PageTouches(Context& context, QueueSession& session, driver::ManagedMemory& managed,
              std::uint64_t pages)
      : context_(context), session_(session), managed_(managed), pages_(pages) {}

  // Filled by the host, if asked for.
  Status open(bool filled) {
    auto queue = session_.create_queue();
    if (!queue) return forward_error(queue);
    queue_ = std::move(*queue);
    const auto room = session_.allocate(kTouched);
    if (!room) return forward_error(room);
    room_ = *room;
    const auto at = managed_.allocate(pages_ * driver::kPageSize);
    if (!at) return forward_error(at);
    begin_ = *at;
    if (!filled) return {};
    shadow_.resize(static_cast<std::size_t>(pages_));
    for (std::uint64_t i = 0; i < pages_; ++i) {
      auto& page = shadow_[static_cast<std::size_t>(i)];
      page.resize(driver::kPageSize);
      fill_pattern({page.data(), page.size()}, context_.seed + i);
      if (auto ok = managed_.write(place(i), {page.data(), page.size()}); !ok) return ok;
    }
    return {};
  }

  // A copy of the card's from the page, or within it.
  Status touch(std::uint64_t page, bool writes) {
    const Bytes to = kTouched * (1 + count_++ % (driver::kPageSize / kTouched - 1));
    if (!writes) return copy(place(page), room_);
    if (!shadow_.empty()) {
      auto* const bytes = shadow_[static_cast<std::size_t>(page)].data();
      std::memcpy(bytes + to, bytes, kTouched);
    }
    return copy(place(page), place(page) + to);
  }

  // By the host, every byte.
  Status check() {
    if (!context_.functional) return {};
    std::vector<std::byte> found(driver::kPageSize);
    for (std::uint64_t i = 0; i < shadow_.size(); ++i) {
      if (auto ok = managed_.read(place(i), {found.data(), found.size()}); !ok) return ok;
      const auto& expected = shadow_[static_cast<std::size_t>(i)];
      auto same = check_equal({expected.data(), expected.size()}, {found.data(), found.size()},
                              fmt::format("page {}", i));
      if (!same) return same;
    }
    return {};
  }

  Status close() {
    queue_.reset();
    return managed_.free(begin_);
  }
  driver::DeviceAddress place(std::uint64_t page) const {
    return begin_ + page * driver::kPageSize;
  }

 private:
  Status copy(driver::DeviceAddress from, driver::DeviceAddress to) {
    const auto deadline = deadline_of(context_);
    const auto ticket =
        queue_->submit(driver::entries::copy_on_device(from, to, kTouched), deadline);
    if (!ticket) return forward_error(ticket);
    return queue_->wait(*ticket, driver::WaitPolicy::kPolling, deadline);
  }

  Context& context_;
  QueueSession& session_;
  driver::ManagedMemory& managed_;
  const std::uint64_t pages_;
  std::uint64_t count_ = 0;
  std::unique_ptr<driver::Queue> queue_;
  driver::DeviceAddress begin_, room_;
  std::vector<std::vector<std::byte>> shadow_;  // by page; empty: not filled
};

}  // namespace npu::workloads
