// SPDX-License-Identifier: Apache-2.0
// The simulator as Python holds it: each call of the driver runs as a host task of the machine,
// without the interpreter's lock, and simulated time passes in it and nowhere else.
#pragma once

#include <pybind11/pybind11.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "apps/python/native/attention.hpp"
#include "apps/python/native/errors.hpp"
#include "npu/driver/unified_addresses.hpp"
#include "npu/sim/simulator.hpp"

namespace npu::python {

class Session {
 public:
  // Throws ValueError with the one line that the npusim program would print, Failure.
  Session(const std::string& config, const std::vector<std::string>& overrides);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Called with the interpreter's lock, by the thread that made the session. A signal whose Python
  // handler raises ends the machine for good, and its exception is thrown; so does a program that
  // waits for what cannot happen any more (Failure, kTimeout).
  template <class F>
  auto call(F f) {
    using R = std::invoke_result_t<F, platform::Platform&>;
    if constexpr (std::is_void_v<R>) {
      run([&](platform::Platform& host) { f(host); });
    } else {
      std::optional<R> found;
      run([&](platform::Platform& host) { found.emplace(f(host)); });
      return std::move(*found);
    }
  }

  // For a handler of a fault of the owner's thread, with the interpreter's lock or without: `f` as
  // a host task, or in the one that has met the fault. Throws nothing.
  template <class T, class F>
  Result<T> in_task(F f) {
    if (std::this_thread::get_id() != owner_ || forked() || ended_) {
      return fail(ErrorCode::kAborted, "nothing can be asked of the machine");
    }
    if (busy_) return f();
    Result<T> found = fail(ErrorCode::kAborted, "nothing was asked");
    busy_ = true;
    const auto ran = simulator_->run([&](platform::Platform&) { found = f(); });
    busy_ = false;
    ++calls_;
    if (!ran) ended_ = ran.error();
    return ran ? found : forward_error(ran);
  }

  // `end` gives a driver's object back. From any thread, at any time: it is done by the next call,
  // before anything else. After the machine has ended it is never done, nor is `end` destroyed.
  void end_later(std::function<void()> end);
  // Throws what a call would throw before it does anything.
  void check_usable() const;
  // Gives back what is ending; every later call fails.
  void close();
  bool closed() const { return closed_; }
  // Nothing can be asked of the machine any more.
  bool ended() const { return ended_.has_value(); }

  // Cards that are open. kBusy.
  void take_card(unsigned index);
  void leave_card(unsigned index) { taken_.erase(index); }

  // An address says which of the program's cards it is on. By a call: the driver's code runs there.
  std::shared_ptr<driver::UnifiedAddresses> addresses();

  // A sink hears every event between the two.
  void listen(platform::TraceSink& sink) const { simulator_->add(sink); }
  void leave(platform::TraceSink& sink) const { simulator_->remove(sink); }

  std::int64_t now() const { return simulator_->now().since_power_up().count(); }
  unsigned cards() const { return simulator_->cards(); }
  std::string report(const std::string& workload) const { return simulator_->report(workload); }
  void record() const { simulator_->record(); }
  std::string profile(const std::string& workload) const { return simulator_->profile(workload); }
  // Throw Failure.
  void begin_trace(const std::string& path) { check(simulator_->begin_trace(path)); }
  void end_trace(const std::string& workload) { check(simulator_->end_trace(workload)); }
  void write_page(const std::string& path, const std::string& report) {
    check(sim::Simulator::write_page(path, report));
  }
  // Wall time spent in calls so far, without what Python does around them. For benchmarks only.
  std::int64_t inside_ns() const { return inside_.count(); }
  std::uint64_t calls() const { return calls_; }

 private:
  void run(const std::function<void(platform::Platform&)>& work);
  bool forked() const { return getpid() != process_; }
  bool look();

  std::unique_ptr<sim::Simulator> simulator_;
  std::weak_ptr<driver::UnifiedAddresses> addresses_;  // open cards have it
  const std::thread::id owner_ = std::this_thread::get_id();
  const pid_t process_ = getpid();
  std::unique_ptr<Attention> attention_ = std::make_unique<Attention>();
  std::optional<pybind11::error_already_set> raised_;  // by a handler of a signal
  std::optional<Error> ended_;                         // the machine has, with this
  bool closed_ = false, busy_ = false;
  std::mutex mutex_;
  std::vector<std::function<void()>> ending_;  // under mutex_
  std::set<unsigned> taken_;
  std::chrono::nanoseconds inside_{0};
  std::uint64_t calls_ = 0;
};

}  // namespace npu::python
