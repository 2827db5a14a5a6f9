// SPDX-License-Identifier: Apache-2.0
#include "apps/python/native/session.hpp"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>
#include <utility>

#include "apps/python/native/second_interrupt.hpp"

namespace npu::python {
namespace py = pybind11;

Session::Session(const std::string& config, const std::vector<std::string>& overrides) {
  auto made = sim::Simulator::create(config, overrides);
  if (!made && made.error().code == ErrorCode::kInvalidArgument) {
    throw py::value_error(made.error().context);
  }
  if (!made) {
    raise(made.error().code, "a process has one simulator in its life, and this one has had it");
  }
  simulator_ = std::move(*made);
  simulator_->attend(attention_->raised(), [this] { return look(); });
}

Session::~Session() {
  try {
    close();
  } catch (const std::exception&) {
    // The card could not be told; nobody is left to hear of it.
  }
  // Tasks of a machine that was stopped still hold what they had; nothing can be asked of them.
  if (ended_ || forked() || !ending_.empty()) static_cast<void>(simulator_.release());
  // Its thread, which nobody can join here, is the other process's.
  if (forked()) static_cast<void>(attention_.release());
}

std::shared_ptr<driver::UnifiedAddresses> Session::addresses() {
  auto shared = addresses_.lock();
  if (shared == nullptr) addresses_ = shared = driver::UnifiedAddresses::make();
  return shared;
}

void Session::check_usable() const {
  if (std::this_thread::get_id() != owner_) {
    throw std::runtime_error("a simulator belongs to the thread that has made it");
  }
  if (forked()) throw std::runtime_error("a simulator belongs to the process that has made it");
  if (busy_) throw std::runtime_error("the simulator is in a call, which a signal has interrupted");
  if (closed_) throw std::runtime_error("the simulator is closed");
  if (ended_) raise(ErrorCode::kAborted, "the simulation has ended: " + ended_->message());
}

bool Session::look() {
  attention_->clear();
  SecondInterrupt::looked();
  const py::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() == 0) return false;
  raised_.emplace();
  return true;
}

void Session::run(const std::function<void(platform::Platform&)>& work) {
  check_usable();
  std::vector<std::function<void()>> ending;
  {
    const std::lock_guard lock(mutex_);
    ending.swap(ending_);
  }
  busy_ = true;
  std::exception_ptr thrown;
  Status ran;
  {
    const py::gil_scoped_release unlocked;
    attention_->wanted(true);
    const SecondInterrupt second;
    const auto begin = std::chrono::steady_clock::now();
    try {
      ran = simulator_->run([&](platform::Platform& host) {
        try {
          for (const auto& end : ending) end();
          work(host);
        } catch (...) {
          thrown = std::current_exception();
        }
      });
    } catch (const std::exception& error) {  // of the kernel of the simulation
      ran = fail(ErrorCode::kAborted, error.what());
    }
    inside_ += std::chrono::steady_clock::now() - begin;
    attention_->wanted(false);
  }
  busy_ = false;
  ++calls_;
  if (ran && thrown) std::rethrow_exception(thrown);
  if (ran) return;
  ended_ = ran.error();
  // Frames that stay where they are refer to what was ending.
  static_cast<void>(new std::vector<std::function<void()>>(std::move(ending)));
  if (raised_) throw py::error_already_set(*std::exchange(raised_, std::nullopt));
  throw Failure(*ended_);
}

void Session::end_later(std::function<void()> end) {
  const std::lock_guard lock(mutex_);
  ending_.push_back(std::move(end));
}

void Session::close() {
  if (closed_) return;
  const bool work = std::this_thread::get_id() == owner_ && !busy_ && !ended_ && !ending_.empty();
  if (work) run([](platform::Platform&) {});
  closed_ = true;
}

void Session::take_card(unsigned index) {
  if (index >= cards()) {
    raise(ErrorCode::kNotFound, fmt::format("no card {}: the machine has {}", index, cards()));
  }
  if (!taken_.insert(index).second) {
    raise(ErrorCode::kBusy, fmt::format("card {} is open in this process", index));
  }
}

}  // namespace npu::python
