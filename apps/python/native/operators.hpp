// SPDX-License-Identifier: Apache-2.0
// Operators on an open card: compiled on demand, launched, waited for.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <vector>

#include "apps/python/native/card.hpp"
#include "kernels/operators/runner.hpp"

namespace npu::python {

class OperatorHost {
 public:
  // `folder`: of compiled kernels, empty for none. The card's limits are of its configuration.
  OperatorHost(std::shared_ptr<Card> card, const std::string& folder,
               const operators::CoreLimits& limits);
  ~OperatorHost();
  OperatorHost(const OperatorHost&) = delete;
  OperatorHost& operator=(const OperatorHost&) = delete;

  // Returns when the result is there: the kernel's key, who had it, and what it took.
  // While it captures, the launches go into the graph and nothing runs: there are no times.
  pybind11::dict run(const operators::OperatorCall& call);
  // A graph of what is run until end_capture(). Its number.
  std::size_t begin_capture();
  void end_capture();
  // Runs it and waits: launches, device_ps, total_ps.
  pybind11::dict run_graph(std::size_t number);
  // The graph is not run any more.
  void drop_graph(std::size_t number);
  pybind11::dict counters() const;
  void close();
  unsigned card() const { return card_->index(); }

  // For networks, whose nodes are such operators. Not behind close().
  void check_usable() const;
  bool closed() const { return parts_ == nullptr || card_->closed(); }
  Session& session() { return card_->session(); }
  driver::ProcessContext& process() { return card_->context().process(); }
  operators::Launcher& launcher() { return *parts_->launcher; }
  operators::OperatorRunner& runner() { return *parts_->runner; }

 private:
  jit::Loaded find(const operators::OperatorCall& call);

  struct Parts {
    Parts(jit::Toolchain toolchain, jit::CacheOptions options)
        : cache(std::move(toolchain), std::move(options)) {}
    jit::KernelCache cache;
    std::unique_ptr<operators::Launcher> launcher;
    std::unique_ptr<operators::OperatorRunner> runner;
    std::vector<std::unique_ptr<driver::StreamGraph>> graphs;  // by number; null: dropped
    bool captures = false;
  };

  std::shared_ptr<Card> card_;
  std::unique_ptr<Parts> parts_;
  bool finding_ = false;  // a handler of a signal may call meanwhile
};

void bind_operators(pybind11::module_& module);

}  // namespace npu::python
