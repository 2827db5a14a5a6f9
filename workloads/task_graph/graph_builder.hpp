// SPDX-License-Identifier: Apache-2.0
// From a graph file to tensors and tasks: loops are run, expressions evaluated.
#pragma once

#include <string>
#include <vector>

#include "npu/base/units.hpp"
#include "workloads/task_graph/graph_spec.hpp"

namespace npu::workloads {

// A tensor with its numbers. Its tiles lie one behind the other, row of tiles by row of tiles, each
// row by row, so that every tile is one piece of memory. Without `tile` it is one tile.
struct Tensor {
  const TensorSpec* spec = nullptr;
  std::uint64_t rows = 0, columns = 0;
  std::uint64_t tile_rows = 0, tile_columns = 0;
  driver::DeviceAddress address;  // given before tasks are made

  std::uint64_t elements() const { return rows * columns; }
  Bytes bytes() const { return elements() * platform::bytes_of(spec->type); }
  std::uint64_t grid_columns() const { return tile_columns == 0 ? 0 : columns / tile_columns; }
  std::uint64_t grid_rows() const { return tile_rows == 0 ? 0 : rows / tile_rows; }
  // Of an element, counted in elements from the tensor's beginning.
  std::uint64_t offset(std::uint64_t row, std::uint64_t column) const {
    const std::uint64_t tile = row / tile_rows * grid_columns() + column / tile_columns;
    return (tile * tile_rows + row % tile_rows) * tile_columns + column % tile_columns;
  }
};

struct BuiltGraph {
  driver::TaskGraph graph;
  std::vector<std::string> names;  // of tasks; empty: it has none
  std::uint64_t longest_path = 0;  // in tasks
};

// `spec` outlives what it returns. Addresses are some, and differ.
model::ConfigResult<std::vector<Tensor>> make_tensors(const GraphSpec& spec);

// The tasks in the order of the file, loops inside out; then what they come after, which may be
// named before it is there. Errors: a tile that is not there, tiles that do not fit their kernel,
// names that are taken or nobody's, a cycle, abi limits, and counts other than those in `check`.
model::ConfigResult<BuiltGraph> build_graph(const GraphSpec& spec,
                                            const std::vector<Tensor>& tensors);

// Of the graph's longest chain of tasks; 0: it has a cycle, or no tasks.
std::uint64_t longest_path(const driver::TaskGraph& graph);

}  // namespace npu::workloads
