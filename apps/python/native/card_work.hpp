// SPDX-License-Identifier: Apache-2.0
// Work of several cards at the same simulated time: each piece is a host task of its own, which
// goes on whenever the machine runs. What Python does between two calls takes no simulated time.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/python/native/host_runtime.hpp"

namespace npu::python {

// A tensor of a callable: memory of the card's, or of the host's, for which the card has memory
// during the run, to which and from which it is copied as is wanted.
struct CallTensor {
  std::uint64_t address = 0;
  bool on_card = false;
  Bytes size = 0;
  bool to_card = false, from_card = false;
};

// A callable with all that a run of it takes.
struct CallOrder {
  std::vector<std::pair<std::uint32_t, std::string>> kernels;  // to register first
  std::shared_ptr<Orchestration> orchestration;
  std::vector<CallTensor> tensors;
  std::vector<std::uint64_t> scalars;
  npu_run_config config{};
  std::string scheduler, executor;  // empty: those of the run before
};

class CardWork {
 public:
  explicit CardWork(std::shared_ptr<Session> session);
  ~CardWork();
  CardWork(const CardWork&) = delete;
  CardWork& operator=(const CardWork&) = delete;

  // Begins a piece; its number. A card has one at a time.
  std::uint64_t call(const std::shared_ptr<HostRuntime>& card, CallOrder order);
  std::uint64_t allocate(const std::shared_ptr<HostRuntime>& card, std::size_t size);
  std::uint64_t free(const std::shared_ptr<HostRuntime>& card, std::uint64_t address);
  std::uint64_t copy_to(const std::shared_ptr<HostRuntime>& card, std::uint64_t device,
                        std::uint64_t host, std::size_t size);
  std::uint64_t copy_from(const std::shared_ptr<HostRuntime>& card, std::uint64_t host,
                          std::uint64_t device, std::size_t size);

  // Lets the machine run until a piece has ended. Those that have ended since the last call, in the
  // order in which they did: number, value, when it began and ended (ps), code and context of the
  // error; no code if there is none. Empty: none is in flight.
  pybind11::list wait();

 private:
  // Of a piece: what it answers, 0 if that is nothing.
  using Body = std::function<Result<std::uint64_t>(HostRuntime& card)>;
  struct Ended {
    std::uint64_t number = 0;
    Result<std::uint64_t> value{0};
    Instant begun{}, ended{};
  };
  // Bodies refer to it, also when nobody else does any more.
  struct Shared {
    std::unique_ptr<platform::Mutex> mutex;
    std::unique_ptr<platform::Condition> changed;
    std::vector<Ended> ended;
  };
  using Tasks = std::map<std::uint64_t, std::unique_ptr<platform::Task>>;
  std::uint64_t begin(const std::shared_ptr<HostRuntime>& card, Body body);

  std::shared_ptr<Session> session_;
  std::shared_ptr<Shared> shared_;
  std::unique_ptr<Tasks> tasks_;  // in flight, by their numbers
  std::uint64_t next_ = 0;
};

void bind_card_work(pybind11::module_& module);

}  // namespace npu::python
