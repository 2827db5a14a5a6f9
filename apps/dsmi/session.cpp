// SPDX-License-Identifier: Apache-2.0
#include "apps/dsmi/session.hpp"

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "apps/dsmi/client/socket_machine.hpp"
#include "apps/dsmi/driver_devices.hpp"
#include "apps/dsmi/machine_elsewhere.hpp"
#include "apps/dsmi/subscription.hpp"

namespace npu::dsmi {

int VirtualDevices::activity(unsigned, unsigned, unsigned&) {
  return DSMI_ERROR_NOT_SUPPORT;
}
int VirtualDevices::sriov(unsigned, bool&) {
  return DSMI_ERROR_NOT_SUPPORT;
}
int VirtualDevices::set_sriov(unsigned, bool) {
  return DSMI_ERROR_NOT_SUPPORT;
}

namespace {

std::unique_ptr<Session> attached;
std::atomic<Session*> current{nullptr};  // the same
std::mutex environment_lock;
bool environment_asked = false;

void set_attached(std::unique_ptr<Session> session) {
  attached = std::move(session);
  current.store(attached.get());
}

// The socket that the environment names, or who has started this program.
void attach_environment() {
  const std::lock_guard<std::mutex> held(environment_lock);
  if (environment_asked || current.load() != nullptr) return;
  environment_asked = true;
  const char* const path = std::getenv("NPUSIM_MANAGEMENT");
  const auto maker = program_machine_maker();
  if (path == nullptr && maker == nullptr) return;
  auto machine = path != nullptr ? socket_machine(path) : maker();
  if (machine) set_attached(std::make_unique<Session>(std::move(*machine)));
}

}  // namespace

Session::Session(Machine machine)
    : machine_(std::move(machine)), mutex_(machine_.tasks->make_mutex()) {
  for (auto& card : machine_.cards) {
    cards_.push_back(std::make_unique<CardSession>(std::move(card)));
    // Events from before are somebody else's.
    auto& made = *cards_.back();
    made.events.begin(made.management.event_count().value_or(0));
  }
}

Session::~Session() = default;

Status Session::subscribe(std::size_t device, const dsmi_event_filter& filter,
                          fault_event_callback handler) {
  subscriptions_.erase(device);
  auto made = Subscription::begin(*this, *machine_.tasks, device, filter, handler);
  if (!made) return forward_error(made);
  subscriptions_[device] = std::move(*made);
  return {};
}

Session* current_session() {
  if (current.load() == nullptr) attach_environment();
  return current.load();
}

MachineMaker& program_machine_maker() {
  static MachineMaker maker = nullptr;
  return maker;
}

void hold_session() {
  environment_lock.lock();
}

void release_session() {
  environment_lock.unlock();
}

// Not ended: it would wait for threads that there are not.
void forget_session() {
  static_cast<void>(attached.release());
  current.store(nullptr);
  environment_asked = false;
  environment_lock.unlock();
}

void replace_session(std::unique_ptr<Session> session) {
  current.store(nullptr);
  attached.reset();  // what it holds ends before the next one begins
  set_attached(std::move(session));
}

Status attach(Machine machine) {
  if (machine.clock == nullptr || machine.tasks == nullptr) {
    return fail(ErrorCode::kInvalidArgument, "a machine without clock or tasks");
  }
  if (machine.cards.size() > MAX_DEVICE_COUNT) {
    return fail(ErrorCode::kInvalidArgument, "more cards than MAX_DEVICE_COUNT");
  }
  replace_session(nullptr);
  replace_session(std::make_unique<Session>(std::move(machine)));
  return {};
}

Status attach(platform::Platform& platform, const std::vector<driver::Device*>& devices) {
  Machine machine;
  for (auto* const device : devices) machine.cards.push_back(driver::manage(*device));
  machine.clock = &platform.clock();
  machine.tasks = &platform.tasks();
  machine.virtual_devices = std::make_shared<DriverDevices>(devices);
  return attach(std::move(machine));
}

void detach() {
  replace_session(nullptr);
}

}  // namespace npu::dsmi

extern "C" {

int npu_dsmi_attach_socket(const char* path) {
  if (path == nullptr) return DSMI_ERROR_PARAMETER;
  auto machine = npu::dsmi::socket_machine(path);
  if (!machine || !npu::dsmi::attach(std::move(*machine))) return DSMI_ERROR_NO_DEVICE;
  return DSMI_OK;
}

void npu_dsmi_detach(void) {
  npu::dsmi::detach();
}

}  // extern "C"
