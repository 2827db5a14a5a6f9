// SPDX-License-Identifier: Apache-2.0
// An open card and what belongs to it: memory, streams, events, tickets. The package's device.py
// says what they are to its users.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "apps/python/native/session.hpp"
#include "npu/driver/device_context.hpp"

namespace npu::python {

class Card : public std::enable_shared_from_this<Card> {
 public:
  static std::shared_ptr<Card> open(std::shared_ptr<Session> session, unsigned index);
  ~Card();
  Card(const Card&) = delete;
  Card& operator=(const Card&) = delete;

  unsigned index() const { return index_; }
  bool closed() const { return context_ == nullptr; }
  // kBusy: host memory is in use.
  void close();

  Session& session() { return *session_; }
  const std::shared_ptr<Session>& shared_session() const { return session_; }
  driver::DeviceContext& context();
  driver::Device& device() { return context().device(); }
  // `f` of the context, as a host task.
  template <class F>
  auto with(F f) {
    auto& all = context();
    return session_->call([&](platform::Platform&) { return f(all); });
  }

  pybind11::dict info();
  std::uint64_t allocate(Bytes size);
  void free(std::uint64_t address);
  void write(std::uint64_t address, const pybind11::buffer& from);
  void read(const pybind11::buffer& to, std::uint64_t address);
  void set_firmware(const pybind11::buffer& scheduler, const pybind11::buffer& executor);
  void register_kernel(std::uint32_t id, const pybind11::buffer& object);
  void unregister_kernel(std::uint32_t id);
  void count_host_memory(int change) { host_memories_ += change; }

 private:
  Card(std::shared_ptr<Session> session, unsigned index)
      : session_(std::move(session)), index_(index) {}

  std::shared_ptr<Session> session_;
  unsigned index_;
  std::unique_ptr<driver::DeviceContext> context_;
  int host_memories_ = 0;
};

// The bytes of an object that has them in one piece. `writable`: TypeError unless it is.
pybind11::buffer_info bytes_of(const pybind11::buffer& object, bool writable = false);

}  // namespace npu::python
