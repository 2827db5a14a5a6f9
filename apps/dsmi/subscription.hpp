// SPDX-License-Identifier: Apache-2.0
// A task that looks for events of a device and hands them to a function of the program's.
#pragma once

#include <atomic>
#include <memory>

#include "apps/dsmi/session.hpp"

namespace npu::dsmi {

class Subscription {
 public:
  // Hears of what comes from now on. kOutOfResources, and what the card's registers say.
  static Result<std::unique_ptr<Subscription>> begin(Session& session, platform::Tasks& tasks,
                                                     std::size_t device,
                                                     const dsmi_event_filter& filter,
                                                     fault_event_callback handler);
  ~Subscription();  // waits for the task
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;

 private:
  Subscription(Session& session, std::size_t device, const dsmi_event_filter& filter,
               fault_event_callback handler)
      : session_(session), device_(device), filter_(filter), handler_(handler) {}
  void watch();
  void look();

  Session& session_;
  const std::size_t device_;
  const dsmi_event_filter filter_;
  const fault_event_callback handler_;
  EventReader reader_;
  std::atomic<bool> ended_{false};
  std::unique_ptr<platform::Task> task_;
};

}  // namespace npu::dsmi
