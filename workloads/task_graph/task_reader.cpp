// SPDX-License-Identifier: Apache-2.0
#include "workloads/task_graph/task_reader.hpp"

namespace npu::workloads {
namespace {

using driver::TaskShape;

const std::vector<std::string> kTaskKeys = {"for",       "when",      "tasks",  "name",
                                            "kernel",    "shape",     "blocks", "together",
                                            "predicate", "arguments", "after"};
const std::vector<std::string> kGroupKeys = {"for", "when", "tasks"};
const std::vector<std::string> kShapes = {"none", "aic", "aiv", "mixed"};

}  // namespace

std::vector<TaskEntry> TaskReader::list(const YamlNode& node) {
  std::vector<TaskEntry> made;
  if (node.kind != YamlNode::Kind::kSequence || node.items.empty()) {
    reader_.refuse(node.place, "tasks", "", describe(node), "a list of tasks");
    return made;
  }
  constexpr unsigned kDeepest = 8;
  if (++depth_ > kDeepest) {
    reader_.refuse(node.place, "tasks", "too many groups inside each other");
  } else {
    for (const auto& item : node.items) made.push_back(entry(item));
  }
  --depth_;
  return made;
}

TaskEntry TaskReader::entry(const YamlNode& node) {
  TaskEntry made;
  made.place = node.place;
  made.blocks.expression = Expression(1);
  made.blocks.place = node.place;
  const bool is_group = node.find("tasks") != nullptr;
  if (!reader_.check_section(node, "tasks", is_group ? kGroupKeys : kTaskKeys, {})) return made;
  const std::size_t outside = reader_.names.size();
  if (const auto* loops = node.find("for")) made.loops = reader_.loops(loops->value);
  if (const auto* when = node.find("when")) {
    made.when = reader_.expression(when->value, "tasks.when");
  }
  if (is_group) {
    made.group = list(node.find("tasks")->value);
  } else {
    read_task(node, made);
  }
  reader_.names.resize(outside);
  return made;
}

void TaskReader::read_task(const YamlNode& node, TaskEntry& task) {
  if (const auto* name = node.find("name")) {
    task.name = reader_.name_template(name->value, "tasks.name");
  }
  if (const auto* blocks = node.find("blocks")) {
    task.blocks = reader_.expression(blocks->value, "tasks.blocks");
  }
  if (const auto* together = node.find("together")) {
    task.cooperative = reader_.flag(together->value, "tasks.together");
  }
  if (const auto* predicate = node.find("predicate")) {
    task.predicate = reader_.tile(predicate->value, "tasks.predicate", tensors_);
  }
  if (const auto* producers = node.find("after")) task.after = after(producers->value);
  read_kernel(node, task);
}

void TaskReader::read_kernel(const YamlNode& node, TaskEntry& task) {
  const auto *kernel = node.find("kernel"), *shape = node.find("shape");
  if (kernel != nullptr) {
    std::vector<std::string> names;
    for (const auto& known : kernel_table()) names.emplace_back(known.name);
    task.kernel =
        &kernel_table()[reader_.known_name(kernel->value, "tasks.kernel", "kernel", names)];
    task.shape = task.kernel->shape;
  }
  if (shape != nullptr) {
    const auto index = reader_.known_name(shape->value, "tasks.shape", "shape", kShapes);
    task.shape = static_cast<TaskShape>(index);
    if (kernel == nullptr && task.shape != TaskShape::kNone) {
      reader_.refuse(shape->value.place, "tasks.shape", "only 'none' runs no kernel");
    } else if (kernel != nullptr && task.shape != TaskShape::kNone &&
               task.shape != task.kernel->shape) {
      const auto& fits = kShapes[static_cast<std::size_t>(task.kernel->shape)];
      reader_.refuse(shape->value.place, "tasks.shape",
                     "kernel " + std::string(task.kernel->name) + " is made for other cores",
                     kShapes[index], fits + ", or none");
    }
  }
  if (kernel == nullptr) {
    for (const auto* key : {"arguments", "blocks", "together"}) {
      if (const auto* entry = node.find(key)) {
        reader_.refuse(entry->place, "tasks", "without a kernel there are none", key);
      }
    }
    return;
  }
  const auto* arguments = node.find("arguments");
  if (arguments != nullptr) {
    read_arguments(arguments->value, task);
  } else {
    reader_.refuse(node.place, "tasks", "missing key 'arguments'");
  }
}

void TaskReader::read_arguments(const YamlNode& node, TaskEntry& task) {
  std::vector<std::string> known, required;
  for (const auto& argument : task.kernel->arguments) {
    known.emplace_back(argument.name);
    if (argument.required) required.emplace_back(argument.name);
  }
  const std::string what = "arguments of " + std::string(task.kernel->name);
  if (!reader_.check_section(node, what, known, required)) return;
  for (const auto& declared : task.kernel->arguments) {
    const auto* entry = node.find(std::string(declared.name));
    task.arguments.emplace_back();
    if (entry != nullptr) task.arguments.back() = argument(entry->value, declared);
  }
}

ArgumentSpec TaskReader::argument(const YamlNode& node, const KernelArgument& declared) {
  const std::string key(declared.name);
  ArgumentSpec made;
  made.place = node.place;
  switch (declared.type) {
    case ArgumentType::kInteger:
      made.integer = reader_.expression(node, key);
      return made;
    case ArgumentType::kNumber:
      made.number = reader_.number(node, key);
      return made;
    case ArgumentType::kOperation: {
      std::vector<std::string> names;
      for (const auto& operation : vector_operations()) names.emplace_back(operation.name);
      made.operation =
          vector_operations()[reader_.known_name(node, key, "operation", names)].operation;
      return made;
    }
    default:
      break;
  }
  const YamlNode* tile = &node;
  if (node.kind == YamlNode::Kind::kMap) {
    reader_.check_section(node, key, {"tile", "ordered"}, {"tile"});
    if (const auto* ordered = node.find("ordered")) {
      made.ordered = reader_.flag(ordered->value, key);
    }
    if (const auto* inner = node.find("tile")) tile = &inner->value;
  }
  made.tile = reader_.tile(*tile, key, tensors_);
  return made;
}

std::vector<AfterSpec> TaskReader::after(const YamlNode& node) {
  std::vector<AfterSpec> made;
  if (node.kind != YamlNode::Kind::kSequence) {
    reader_.refuse(node.place, "after", "", describe(node), "a list of tasks' names");
    return made;
  }
  for (const auto& item : node.items) {
    AfterSpec one;
    const std::size_t outside = reader_.names.size();
    if (item.kind == YamlNode::Kind::kMap) {
      reader_.check_section(item, "after", {"for", "when", "task"}, {"task"});
      if (const auto* loops = item.find("for")) one.loops = reader_.loops(loops->value);
      if (const auto* when = item.find("when")) one.when = reader_.expression(when->value, "after");
      if (const auto* task = item.find("task")) {
        one.task = reader_.name_template(task->value, "after");
      }
    } else {
      one.task = reader_.name_template(item, "after");
    }
    reader_.names.resize(outside);
    made.push_back(std::move(one));
  }
  return made;
}

}  // namespace npu::workloads
