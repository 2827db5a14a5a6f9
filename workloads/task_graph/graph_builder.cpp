// SPDX-License-Identifier: Apache-2.0
#include "workloads/task_graph/graph_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "workloads/task_graph/evaluator.hpp"

namespace npu::workloads {
namespace {

using driver::ArgumentKind;

ArgumentKind kind_of(ArgumentType type) {
  switch (type) {
    case ArgumentType::kRead:
      return ArgumentKind::kInput;
    case ArgumentType::kWrite:
      return ArgumentKind::kOutput;
    case ArgumentType::kUpdate:
      return ArgumentKind::kInOut;
    default:
      return ArgumentKind::kScalar;
  }
}

class Builder {
 public:
  Builder(const GraphSpec& spec, const std::vector<Tensor>& tensors)
      : spec_(spec), tensors_(tensors) {
    values_.values = spec.values;
  }

  model::ConfigResult<BuiltGraph> run() {
    for (const auto& entry : spec_.tasks) expand(entry);
    for (const auto& wait : pending_) resolve(wait);
    if (!values_.mistake()) {
      built_.longest_path = longest_path(built_.graph);
      check_cycle();
      check_counts();
    }
    if (values_.mistake()) return tl::unexpected(*values_.mistake());
    return std::move(built_);
  }

 private:
  // A task that waits for one whose name came later.
  struct Pending {
    std::uint32_t task;
    std::string producer;
    const SourcePlace* place;
  };

  void expand(const TaskEntry& entry) {
    values_.rounds(entry.loops, entry.when, [&] {
      if (entry.group.empty()) return add(entry);
      for (const auto& inner : entry.group) expand(inner);
    });
  }

  void add(const TaskEntry& entry) {
    driver::TaskOptions options;
    const auto id = static_cast<std::uint32_t>(built_.graph.tasks());
    options.blocks =
        static_cast<std::uint32_t>(values_.number(entry.blocks, "blocks", 1, abi::kMaxTaskBlocks));
    options.cooperative = entry.cooperative;
    options.user = id;
    if (entry.predicate) {
      const Tile tile = resolve(*entry.predicate);
      if (tile.type != DataType::kInt32) {
        values_.refuse(entry.predicate->place, "predicate", "is no tensor of int32");
      }
      options.predicate = {tile.address};
    }
    std::string name = entry.name ? values_.text(*entry.name) : std::string();
    collect_producers(entry, id, options);
    const auto words = arguments(entry);
    if (values_.mistake()) return;
    const auto kernel = entry.kernel != nullptr ? id_of(*entry.kernel) : driver::kNoKernel;
    const auto added = built_.graph.add(kernel, entry.shape, words, options);
    if (!added) return values_.refuse(entry.place, "tasks", added.error().context);
    if (!name.empty() && !ids_.emplace(name, id).second) {
      values_.refuse(entry.name->place, "tasks.name", "a task '" + name + "' is there already");
    }
    built_.names.push_back(std::move(name));
  }

  void collect_producers(const TaskEntry& entry, std::uint32_t id, driver::TaskOptions& options) {
    for (const auto& after : entry.after) {
      values_.rounds(after.loops, after.when, [&] {
        std::string name = values_.text(after.task);
        const auto known = ids_.find(name);
        if (known != ids_.end()) {
          options.after.push_back({known->second});
        } else {
          pending_.push_back({id, std::move(name), &after.task.place});
        }
      });
    }
  }

  void resolve(const Pending& wait) {
    if (values_.mistake()) return;
    const auto known = ids_.find(wait.producer);
    if (known == ids_.end()) {
      return values_.refuse(*wait.place, "after", "no task is called '" + wait.producer + "'");
    }
    const auto added = built_.graph.depend({wait.task}, {known->second});
    if (!added) values_.refuse(*wait.place, "after", added.error().context);
  }

  Tile resolve(const TileReference& reference) {
    const Tensor& tensor = tensors_[reference.tensor];
    const bool tiled = tensor.spec->tile.has_value();
    if (tiled == reference.index.empty()) {
      values_.refuse(reference.place, tensor.spec->name,
                     tiled ? "has tiles; name one, [i] or [i, j]" : "has no tiles");
      return {};
    }
    std::uint64_t index = 0;
    if (reference.index.size() == 2) {
      index = within(reference.index[0], tensor, tensor.grid_rows()) * tensor.grid_columns() +
              within(reference.index[1], tensor, tensor.grid_columns());
    } else if (tiled) {
      index = within(reference.index[0], tensor, tensor.grid_rows() * tensor.grid_columns());
    }
    Tile tile;
    tile.rows = static_cast<std::uint32_t>(tensor.tile_rows);
    tile.columns = static_cast<std::uint32_t>(tensor.tile_columns);
    tile.type = tensor.spec->type;
    tile.address = (tensor.address + index * tile.elements() * platform::bytes_of(tile.type)).value;
    return tile;
  }
  std::uint64_t within(const PlacedExpression& index, const Tensor& tensor, std::uint64_t tiles) {
    return static_cast<std::uint64_t>(values_.number(index, "tile of " + tensor.spec->name, 0,
                                                     static_cast<std::int64_t>(tiles) - 1));
  }

  std::vector<driver::TaskArgument> arguments(const TaskEntry& entry) {
    if (entry.kernel == nullptr) return {};
    const auto& declared = entry.kernel->arguments;
    BoundArguments bound(declared.size());
    for (std::size_t i = 0; i < declared.size() && i < entry.arguments.size(); ++i) {
      if (!entry.arguments[i]) continue;
      const ArgumentSpec& given = *entry.arguments[i];
      bound[i].given = true;
      bound[i].kind =
          given.ordered ? kind_of(declared[i].type) : driver::ArgumentKind::kNoDependency;
      if (given.tile) bound[i].tile = resolve(*given.tile);
      if (given.integer) bound[i].integer = values_.number(*given.integer);
      bound[i].number = given.number;
      bound[i].operation = given.operation;
    }
    if (values_.mistake()) return {};
    auto made = entry.kernel->words(bound);
    if (!made.problem.empty()) {
      const auto& blamed = entry.arguments[made.argument];
      values_.refuse(blamed ? blamed->place : entry.place,
                     std::string(declared[made.argument].name), made.problem);
    }
    return std::move(made.words);
  }

  // Only a task that waits for a later one can close a cycle.
  void check_cycle() {
    if (built_.longest_path != 0 || built_.graph.tasks() == 0) return;
    for (const auto& wait : pending_) {
      if (!reaches(ids_.at(wait.producer), wait.task)) continue;
      const std::string& name = built_.names[wait.task];
      values_.refuse(*wait.place, "after",
                     fmt::format("'{}' comes after task {} itself: a cycle", wait.producer,
                                 name.empty() ? std::to_string(wait.task) : "'" + name + "'"));
      return;
    }
  }
  // `task` waits, over others or not, for `producer`, or is it.
  bool reaches(std::uint32_t task, std::uint32_t producer) const {
    std::vector<bool> seen(built_.graph.tasks());
    std::vector<std::uint32_t> open{task};
    seen[task] = true;
    while (!open.empty()) {
      const std::uint32_t next = open.back();
      open.pop_back();
      if (next == producer) return true;
      for (const auto before : built_.graph.task({next}).producers) {
        if (!seen[before]) open.push_back(before);
        seen[before] = true;
      }
    }
    return false;
  }

  void check_counts() {
    const CheckSpec& check = spec_.check;
    check_count(check.tasks, "tasks", built_.graph.tasks());
    check_count(check.edges, "edges", built_.graph.edges());
    check_count(check.longest_path, "longest_path", built_.longest_path);
  }
  void check_count(const std::optional<PlacedExpression>& expected, const char* what,
                   std::uint64_t found) {
    if (!expected || values_.mistake()) return;
    const std::int64_t value = values_.number(*expected);
    if (value < 0 || static_cast<std::uint64_t>(value) != found) {
      values_.refuse(expected->place, what, fmt::format("the graph has {}, not {}", found, value));
    }
  }

  const GraphSpec& spec_;
  const std::vector<Tensor>& tensors_;
  Evaluator values_;
  BuiltGraph built_;
  std::unordered_map<std::string, std::uint32_t> ids_;  // only looked up
  std::vector<Pending> pending_;
};

}  // namespace

model::ConfigResult<std::vector<Tensor>> make_tensors(const GraphSpec& spec) {
  constexpr std::int64_t kLongestSide = 1 << 30;
  constexpr Bytes kLargest = 64_GiB;
  constexpr std::uint64_t kApart = 1ULL << 40;
  Evaluator values;
  values.values = spec.values;
  std::vector<Tensor> tensors;
  for (const auto& described : spec.tensors) {
    const std::string key = "tensors." + described.name;
    const auto side = [&](const PlacedExpression& expression) {
      return static_cast<std::uint64_t>(values.number(expression, key, 1, kLongestSide));
    };
    Tensor tensor;
    tensor.spec = &described;
    tensor.tile_rows = tensor.rows = side(described.rows);
    tensor.tile_columns = tensor.columns = side(described.columns);
    if (described.tile) {
      tensor.tile_rows = side(described.tile->first);
      tensor.tile_columns = side(described.tile->second);
    }
    if (tensor.rows % tensor.tile_rows != 0 || tensor.columns % tensor.tile_columns != 0) {
      values.refuse(described.place, key,
                    fmt::format("{} x {} are no whole tiles of {} x {}", tensor.rows,
                                tensor.columns, tensor.tile_rows, tensor.tile_columns));
    }
    if (tensor.bytes() > kLargest) values.refuse(described.place, key, "is larger than 64 GiB");
    tensor.address = {kApart * (tensors.size() + 1)};
    tensors.push_back(tensor);
  }
  if (values.mistake()) return tl::unexpected(*values.mistake());
  return tensors;
}

model::ConfigResult<BuiltGraph> build_graph(const GraphSpec& spec,
                                            const std::vector<Tensor>& tensors) {
  return Builder(spec, tensors).run();
}

std::uint64_t longest_path(const driver::TaskGraph& graph) {
  const auto tasks = static_cast<std::uint32_t>(graph.tasks());
  std::vector<std::uint32_t> open(tasks), first(tasks + 1), depth(tasks, 1);
  for (std::uint32_t i = 0; i < tasks; ++i) {
    open[i] = static_cast<std::uint32_t>(graph.task({i}).producers.size());
    for (const auto producer : graph.task({i}).producers) ++first[producer + 1];
  }
  for (std::uint32_t i = 0; i < tasks; ++i) first[i + 1] += first[i];
  std::vector<std::uint32_t> consumers(first[tasks]), next(first.begin(), first.end());
  std::vector<std::uint32_t> ready;
  for (std::uint32_t i = 0; i < tasks; ++i) {
    for (const auto producer : graph.task({i}).producers) consumers[next[producer]++] = i;
    if (open[i] == 0) ready.push_back(i);
  }
  std::uint64_t longest = 0;
  std::uint32_t done = 0;
  for (; done < ready.size(); ++done) {
    const std::uint32_t task = ready[done];
    longest = std::max<std::uint64_t>(longest, depth[task]);
    for (std::uint32_t k = first[task]; k < first[task + 1]; ++k) {
      const std::uint32_t consumer = consumers[k];
      depth[consumer] = std::max(depth[consumer], depth[task] + 1);
      if (--open[consumer] == 0) ready.push_back(consumer);
    }
  }
  return done == tasks ? longest : 0;
}

}  // namespace npu::workloads
