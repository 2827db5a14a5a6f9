// SPDX-License-Identifier: Apache-2.0
// A graph holds work of an execution stream that was captured once, and that runs many times. A run
// submits all of it at once, with one doorbell for each kind of cores. The arguments of its kernels
// stay in the card's memory, and a run copies only those that have changed.
//
//   StreamGraph graph(arguments);
//   stream.begin_capture(graph);   // submit() and launch() add to the graph now
//   ...
//   stream.end_capture();
//   stream.run(graph);             // as often as wanted
//   stream.begin_update(graph, 3); // launch() replaces the graph's fourth launch, then its fifth
//   ...
//   stream.end_capture();
//
// Any stream of the process may add to a graph, update it and run it. The caller orders runs on
// several streams by records, since a run copies arguments. One task at a time uses a graph. It may
// end before its runs have ended.
#pragma once

#include <cstddef>
#include <memory>

#include "npu/driver/argument_pool.hpp"
#include "npu/driver/export.hpp"

namespace npu::driver {

class NPU_API StreamGraph {
 public:
  // `arguments`: the pool of the stream's process. It outlives the graph and its runs.
  explicit StreamGraph(ArgumentPool& arguments);
  ~StreamGraph();
  StreamGraph(const StreamGraph&) = delete;
  StreamGraph& operator=(const StreamGraph&) = delete;

  std::size_t launches() const;  // kernels
  // What was captured: kernels, and entries of submit(). A run adds copies of arguments, and waits
  // and records where the kind of cores changes.
  std::size_t entries() const;

  struct Impl;  // the driver's own

 private:
  friend class ExecutionStream;
  std::shared_ptr<Impl> impl_;
};

}  // namespace npu::driver
