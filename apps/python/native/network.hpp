// SPDX-License-Identifier: Apache-2.0
// A network from an ONNX file on an open card: weights stay there from run to run.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <vector>

#include "apps/python/native/operators.hpp"
#include "workloads/network/node_times.hpp"

namespace npu::python {

class NetworkHost {
 public:
  // `passes`: names; `aicpu_program`: firmware/tensors, used by nodes that need it.
  // Throws ValueError for an unknown pass, Failure for what cannot be read, mapped or prepared.
  NetworkHost(std::shared_ptr<OperatorHost> host, const std::string& file,
              const std::vector<std::string>& passes, bool unmapped_on_host,
              std::string aicpu_program);
  ~NetworkHost();
  NetworkHost(const NetworkHost&) = delete;
  NetworkHost& operator=(const NetworkHost&) = delete;

  // Of the model: a list of (name, type, sides or None, -1 for open ones).
  pybind11::list inputs() const;
  // (name, type, sides, bytes) of each input, and of each result.
  pybind11::list run(const pybind11::list& inputs);
  // Of the last run that has ended well.
  pybind11::dict times() const;
  bool used_aicpu() const;
  void close();

 private:
  struct Parts {
    explicit Parts(network::Graph read) : graph(std::move(read)) {}
    network::Graph graph;
    std::string aicpu_program;
    bool used_aicpu = false;
    std::unique_ptr<network::CardRunner> card;
    std::unique_ptr<network::Steps> steps;
    std::unique_ptr<network::NodeTimer> timer;
    std::unique_ptr<network::Network> network;
    network::RunTimes times;
  };

  Parts& usable() const;
  static Status open(Parts& parts, OperatorHost& host, platform::Platform& platform);

  std::shared_ptr<OperatorHost> host_;
  std::unique_ptr<Parts> parts_;
};

void bind_network(pybind11::module_& module);

}  // namespace npu::python
