// SPDX-License-Identifier: Apache-2.0
// The kernels that graph files can name, their arguments, and the words these become.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "npu/driver/task_graph.hpp"
#include "npu/platform/aicore_port.hpp"

namespace npu::workloads {

enum class ArgumentType : std::uint8_t {
  kRead,       // a tile the kernel reads
  kWrite,      // a tile it writes
  kUpdate,     // a tile it reads and writes
  kInteger,    // an expression
  kNumber,     // any number
  kOperation,  // a vector operation by name
};

struct KernelArgument {
  std::string_view name;
  ArgumentType type = ArgumentType::kRead;
  bool required = true;
};

// A tile in device memory, its rows one behind the other.
struct Tile {
  std::uint64_t address = 0;
  std::uint32_t rows = 0, columns = 0;
  platform::DataType type = platform::DataType::kFp32;

  std::uint64_t elements() const { return std::uint64_t{rows} * columns; }
};

struct BoundArgument {
  bool given = false;
  Tile tile;
  driver::ArgumentKind kind = driver::ArgumentKind::kScalar;
  std::int64_t integer = 0;
  double number = 0;
  platform::VectorOp operation = platform::VectorOp::kCopy;

  driver::TaskArgument address() const {
    return {tile.address, kind, tile.elements() * platform::bytes_of(tile.type)};
  }
};
// In the order of Kernel::arguments.
using BoundArguments = std::vector<BoundArgument>;

// The task's words, or what does not fit, and which argument is to blame.
struct KernelWords {
  std::vector<driver::TaskArgument> words;
  std::string problem;       // empty: all is well
  std::size_t argument = 0;  // of the problem
};

struct Kernel {
  std::string_view name;  // in graph files, and of the program that npusim carries
  driver::TaskShape shape = driver::TaskShape::kNone;  // unless the file says another
  std::vector<KernelArgument> arguments;
  KernelWords (*words)(const BoundArguments&) = nullptr;
};

// Kernel i is registered under the id i.
const std::vector<Kernel>& kernel_table();
const Kernel* find_kernel(std::string_view name);  // null: none
driver::KernelId id_of(const Kernel& kernel);

// Vector operations by their names in graph files, "add" .. "reciprocal".
struct NamedOperation {
  std::string_view name;
  platform::VectorOp operation;
  unsigned operands;  // tensors: 0 (duplicate), 1 or 2
};
const std::vector<NamedOperation>& vector_operations();

}  // namespace npu::workloads
