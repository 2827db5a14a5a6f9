// SPDX-License-Identifier: Apache-2.0
// The tasks of a graph file.
#pragma once

#include <string>
#include <vector>

#include "workloads/task_graph/node_reader.hpp"

namespace npu::workloads {

class TaskReader {
 public:
  TaskReader(NodeReader& reader, const std::vector<std::string>& tensors)
      : reader_(reader), tensors_(tensors) {}

  std::vector<TaskEntry> list(const YamlNode& node);

 private:
  TaskEntry entry(const YamlNode& node);
  void read_task(const YamlNode& node, TaskEntry& task);
  void read_kernel(const YamlNode& node, TaskEntry& task);
  void read_arguments(const YamlNode& node, TaskEntry& task);
  ArgumentSpec argument(const YamlNode& node, const KernelArgument& declared);
  std::vector<AfterSpec> after(const YamlNode& node);

  NodeReader& reader_;
  const std::vector<std::string>& tensors_;
  unsigned depth_ = 0;  // of groups inside each other
};

}  // namespace npu::workloads
