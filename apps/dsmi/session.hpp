// SPDX-License-Identifier: Apache-2.0
// What is attached: the cards, and what the library keeps of each between calls.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "apps/dsmi/event_reader.hpp"
#include "npu/dsmi/attach.hpp"

namespace npu::dsmi {

// Who asks for the use of something in the interval since he last did.
using MeterKey = unsigned;

struct CardSession {
  explicit CardSession(std::unique_ptr<driver::ManagementAccess> card)
      : access(std::move(card)), management(*access) {}

  // With intervals of its own.
  driver::Management& meter(MeterKey key) {
    auto& meter = meters[key];
    if (!meter) meter = std::make_unique<driver::Management>(*access);
    return *meter;
  }

  std::unique_ptr<driver::ManagementAccess> access;
  driver::Management management;  // for all that has no interval
  std::map<MeterKey, std::unique_ptr<driver::Management>> meters;
  std::map<std::pair<unsigned, unsigned>, std::vector<unsigned char>> settings;  // by command
  EventReader events;  // of dsmi_read_fault_event()
};

class Subscription;

class Session {
 public:
  explicit Session(Machine machine);
  ~Session();

  std::size_t count() const { return cards_.size(); }
  CardSession& card(std::size_t id) { return *cards_[id]; }
  // Around whatever reaches a card.
  platform::Mutex& mutex() { return *mutex_; }
  platform::Clock& clock() { return *machine_.clock; }
  VirtualDevices* virtual_devices() { return machine_.virtual_devices.get(); }
  // In place of one that the device had.
  Status subscribe(std::size_t device, const dsmi_event_filter& filter,
                   fault_event_callback handler);

 private:
  Machine machine_;
  std::unique_ptr<platform::Mutex> mutex_;
  std::vector<std::unique_ptr<CardSession>> cards_;
  std::map<std::size_t, std::unique_ptr<Subscription>> subscriptions_;
};

// Null: nothing is attached, and NPUSIM_MANAGEMENT names nothing that could be.
Session* current_session();
void replace_session(std::unique_ptr<Session> session);

}  // namespace npu::dsmi
