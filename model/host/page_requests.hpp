// SPDX-License-Identifier: Apache-2.0
// The IOMMU's queue of page requests, in host memory, and its interrupt. Requests of a function
// that nobody serves, or of processes that it does not share, are answered by the IOMMU itself; so
// are those that find the queue full, which the function then makes again.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "model/core/ports.hpp"
#include "model/core/simulation.hpp"
#include "model/host/interrupts.hpp"
#include "npu/platform/process_addresses.hpp"

namespace npu::model {

class PageRequests {
 public:
  // Linux gives the queue 2^7 pages, of entries of 32 bytes (intel/prq.c, virtualisation.md S7).
  static constexpr std::size_t kEntries = 16384;

  struct Request {
    std::uint32_t requester = 0;  // packed BDF
    std::uint32_t pasid = 0;
    std::uint64_t address = 0;
    PageRequestMessage message;
    std::uint64_t cause = 0;
    SimTime since = 0;
  };
  using Respond =
      std::function<void(std::uint32_t, const PageResponseMessage&, std::uint64_t cause)>;

  explicit PageRequests(Simulation& sim);
  // How responses get to functions, and who is interrupted. Before the simulation starts.
  void connect(Interrupts& interrupts, Respond respond);

  // Requests of the function are served from now on; the vector that tells of them. Null: they are.
  std::shared_ptr<VectorState> open(std::uint32_t requester);
  // No longer: what is open is answered with kInvalid.
  void close(std::uint32_t requester);
  bool served(std::uint32_t requester) const { return open_.count(requester) != 0; }

  // One has come, of a process that the function shares or not; at `written` it is in the queue.
  void come(const Request& request, bool known, SimTime written);
  // The function's oldest; nothing: there is none.
  std::optional<Request> take(std::uint32_t requester);
  // Of one that was taken.
  void respond(std::uint32_t requester, std::uint32_t pasid, std::uint16_t group,
               platform::PageResponse response);

 private:
  struct Served {
    std::shared_ptr<VectorState> vector;
    std::deque<Request> queue;
    std::vector<Request> taken;
  };

  void write(std::uint64_t number);
  void answer(const Request& request, platform::PageResponse response);

  Simulation& sim_;
  const std::uint32_t track_;
  Interrupts* interrupts_ = nullptr;
  Respond respond_;
  std::map<std::uint32_t, Served> open_;
  std::map<std::uint64_t, Request> coming_;  // on their way to memory, by number
  std::uint64_t numbers_ = 0;
  std::size_t queued_ = 0;
};

}  // namespace npu::model
