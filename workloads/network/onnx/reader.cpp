// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/onnx/reader.hpp"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <fstream>
#include <set>

#include "npu/base/checked.hpp"

namespace npu::network {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> refuse(std::string why) {
  return fail(ErrorCode::kInvalidArgument, std::move(why));
}

template <class Message>
Result<Message> parse(const fs::path& file, const char* what) {
  std::ifstream stream(file, std::ios::binary);
  std::error_code code;
  if (!stream || fs::is_directory(file, code)) {
    return fail(ErrorCode::kNotFound, file.string() + ": no such file");
  }
  Message message;
  if (message.ParseFromIstream(&stream)) return message;
  return refuse(fmt::format("{}: no ONNX {}", file.string(), what));
}

// Elements that the format keeps in a wider field, one for each.
template <class Narrow, class Field>
void narrow(const Field& field, std::vector<std::byte>& bytes) {
  bytes.resize(static_cast<std::size_t>(field.size()) * sizeof(Narrow));
  for (int i = 0; i < field.size(); ++i) {
    const auto value = static_cast<Narrow>(field[i]);
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof value, &value, sizeof value);
  }
}

void take_fields(const onnx::TensorProto& proto, Tensor& tensor) {
  switch (tensor.type) {
    case ElementType::kFloat:
      return narrow<float>(proto.float_data(), tensor.bytes);
    case ElementType::kDouble:
      return narrow<double>(proto.double_data(), tensor.bytes);
    case ElementType::kInt64:
      return narrow<std::int64_t>(proto.int64_data(), tensor.bytes);
    case ElementType::kUint32:
      return narrow<std::uint32_t>(proto.uint64_data(), tensor.bytes);
    case ElementType::kUint64:
      return narrow<std::uint64_t>(proto.uint64_data(), tensor.bytes);
    case ElementType::kInt32:
      return narrow<std::int32_t>(proto.int32_data(), tensor.bytes);
    case ElementType::kUint8:
    case ElementType::kInt8:
    case ElementType::kBool:
      return narrow<std::uint8_t>(proto.int32_data(), tensor.bytes);
    case ElementType::kUint16:
    case ElementType::kInt16:
    case ElementType::kFloat16:
    case ElementType::kBfloat16:
      return narrow<std::uint16_t>(proto.int32_data(), tensor.bytes);
    case ElementType::kString:
      tensor.strings.assign(proto.string_data().begin(), proto.string_data().end());
  }
}

// Bytes of a file beside the model (external data).
Status take_file(const onnx::TensorProto& proto, const fs::path& folder, Bytes size,
                 Tensor& tensor) {
  std::string location;
  std::uint64_t offset = 0, length = size;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") location = entry.value();
    char* end = nullptr;
    if (entry.key() == "offset") offset = std::strtoull(entry.value().c_str(), &end, 10);
    if (entry.key() == "length") length = std::strtoull(entry.value().c_str(), &end, 10);
  }
  // The standard allows none that leaves the model's folder.
  const fs::path below = fs::path(location).lexically_normal();
  if (location.empty() || below.is_absolute() || *below.begin() == "..") {
    return refuse(fmt::format("{}: external data at '{}'", proto.name(), location));
  }
  std::ifstream stream(folder / below, std::ios::binary);
  if (!stream) return fail(ErrorCode::kNotFound, (folder / below).string() + ": no such file");
  if (length != size) {
    return refuse(fmt::format("{}: {} bytes of external data for {}", proto.name(), length, size));
  }
  std::error_code code;
  const auto there = fs::file_size(folder / below, code);
  if (code || offset > there || size > there - offset) {
    return refuse(fmt::format("{}: {} ends early", proto.name(), (folder / below).string()));
  }
  tensor.bytes.resize(size);
  stream.seekg(static_cast<std::streamoff>(offset));
  stream.read(reinterpret_cast<char*>(tensor.bytes.data()), static_cast<std::streamsize>(size));
  if (stream) return {};
  return refuse(fmt::format("{}: {} cannot be read", proto.name(), (folder / below).string()));
}

constexpr Bytes kMostBytes = Bytes{1} << 40;

Result<Tensor> tensor_of(const onnx::TensorProto& proto, const fs::path& folder) {
  const auto* const row = find_type(proto.data_type());
  if (row == nullptr) {
    return refuse(fmt::format("{}: elements of type {}", proto.name(), proto.data_type()));
  }
  Tensor tensor;
  tensor.type = row->type;
  std::uint64_t elements = 1;
  for (const auto side : proto.dims()) {
    const auto more =
        side < 0 ? std::nullopt : checked_mul(elements, static_cast<std::uint64_t>(side));
    if (!more || *more > kMostBytes)
      return refuse(proto.name() + ": a side of " + std::to_string(side));
    elements = *more;
    tensor.sides.push_back(static_cast<std::uint64_t>(side));
  }
  const Bytes size = elements * row->bytes;
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    if (auto ok = take_file(proto, folder, size, tensor); !ok) return forward_error(ok);
  } else if (proto.has_raw_data()) {
    const auto& raw = proto.raw_data();
    const auto* const begin = reinterpret_cast<const std::byte*>(raw.data());
    tensor.bytes.assign(begin, begin + raw.size());
  } else {
    take_fields(proto, tensor);
  }
  const bool fits =
      row->bytes == 0 ? tensor.strings.size() == elements : tensor.bytes.size() == size;
  if (fits) return tensor;
  return refuse(fmt::format("{}: the data does not fit {}", proto.name(), text_of(tensor.sides)));
}

Result<Attribute> attribute_of(const onnx::AttributeProto& proto, const fs::path& folder) {
  using Proto = onnx::AttributeProto;
  switch (proto.type()) {
    case Proto::INT:
      return Attribute(std::int64_t{proto.i()});
    case Proto::FLOAT:
      return Attribute(proto.f());
    case Proto::STRING:
      return Attribute(std::string(proto.s()));
    case Proto::INTS:
      return Attribute(std::vector<std::int64_t>(proto.ints().begin(), proto.ints().end()));
    case Proto::FLOATS:
      return Attribute(std::vector<float>(proto.floats().begin(), proto.floats().end()));
    case Proto::STRINGS:
      return Attribute(std::vector<std::string>(proto.strings().begin(), proto.strings().end()));
    case Proto::TENSOR: {
      auto tensor = tensor_of(proto.t(), folder);
      if (!tensor) return forward_error(tensor);
      return Attribute(std::move(*tensor));
    }
    default:
      return Attribute();
  }
}

Result<NamedValue> value_of(const onnx::ValueInfoProto& proto) {
  NamedValue value;
  value.name = proto.name();
  if (!proto.type().has_tensor_type()) return refuse(value.name + ": no tensor");
  const auto& type = proto.type().tensor_type();
  const auto* const row = find_type(type.elem_type());
  if (row == nullptr) {
    return refuse(fmt::format("{}: elements of type {}", value.name, type.elem_type()));
  }
  value.type = row->type;
  value.has_shape = type.has_shape();
  for (const auto& side : type.shape().dim()) {
    value.sides.push_back(side.has_dim_value() ? side.dim_value() : -1);
  }
  return value;
}

Result<Node> node_of(const onnx::NodeProto& proto, const fs::path& folder) {
  Node node;
  node.name = proto.name();
  node.op = proto.op_type();
  node.domain = proto.domain() == "ai.onnx" ? "" : proto.domain();
  node.inputs.assign(proto.input().begin(), proto.input().end());
  node.outputs.assign(proto.output().begin(), proto.output().end());
  for (const auto& each : proto.attribute()) {
    auto attribute = attribute_of(each, folder);
    if (!attribute) return forward_error(attribute);
    node.attributes[each.name()] = std::move(*attribute);
  }
  return node;
}

Status take_graph(const onnx::GraphProto& proto, const fs::path& folder, Graph& graph) {
  for (const auto& each : proto.initializer()) {
    auto tensor = tensor_of(each, folder);
    if (!tensor) return forward_error(tensor);
    graph.constants[each.name()] = std::move(*tensor);
  }
  for (const auto& each : proto.node()) {
    auto node = node_of(each, folder);
    if (!node) return forward_error(node);
    graph.nodes.push_back(std::move(*node));
  }
  for (const auto& each : proto.input()) {
    if (graph.constants.count(each.name()) != 0) continue;
    auto value = value_of(each);
    if (!value) return forward_error(value);
    graph.inputs.push_back(std::move(*value));
  }
  for (const auto& each : proto.output()) {
    auto value = value_of(each);
    if (!value) return forward_error(value);
    graph.outputs.push_back(std::move(*value));
  }
  return {};
}

// A value is the result of one node, and is there before it is taken (ONNX: nodes are sorted).
Status check_order(const Graph& graph) {
  std::set<std::string> known{""};
  for (const auto& [name, tensor] : graph.constants) {
    if (name.empty()) return refuse("an initializer has no name");
    known.insert(name);
  }
  for (const auto& input : graph.inputs) {
    if (input.name.empty()) return refuse("an input has no name");
    if (!known.insert(input.name).second)
      return refuse("input '" + input.name + "' is there twice");
  }
  for (const auto& node : graph.nodes) {
    for (const auto& input : node.inputs) {
      if (known.count(input) != 0) continue;
      return refuse(fmt::format("{} {} takes '{}', which nothing before it gives", node.op,
                                node.name, input));
    }
    for (const auto& output : node.outputs) {
      if (output.empty() || known.insert(output).second) continue;
      return refuse(fmt::format("'{}' is given twice", output));
    }
  }
  for (const auto& output : graph.outputs) {
    if (output.name.empty()) return refuse("an output has no name");
    if (known.count(output.name) == 0) return refuse("nothing gives '" + output.name + "'");
  }
  return {};
}

tl::unexpected<Error> in_file(const fs::path& file, const Error& error) {
  return fail(error.code, fmt::format("{}: {}", file.string(), error.context));
}

Result<Graph> read_model(const fs::path& file) {
  const auto model = parse<onnx::ModelProto>(file, "model");
  if (!model) return forward_error(model);
  if (!model->has_graph()) return refuse(file.string() + ": no ONNX model");
  Graph graph;
  for (const auto& opset : model->opset_import()) {
    if (opset.domain().empty() || opset.domain() == "ai.onnx") graph.opset = opset.version();
  }
  if (auto ok = take_graph(model->graph(), file.parent_path(), graph); !ok) {
    return in_file(file, ok.error());
  }
  if (auto ok = check_order(graph); !ok) return in_file(file, ok.error());
  return graph;
}

Result<Tensor> read_tensor(const fs::path& file) {
  const auto proto = parse<onnx::TensorProto>(file, "tensor");
  if (!proto) return forward_error(proto);
  auto tensor = tensor_of(*proto, file.parent_path());
  if (!tensor) return in_file(file, tensor.error());
  return tensor;
}

}  // namespace
}  // namespace npu::network

void npu_onnx_read_model(const std::filesystem::path& file,
                         npu::Result<npu::network::Graph>& graph) {
  graph = npu::network::read_model(file);
}

void npu_onnx_read_tensor(const std::filesystem::path& file,
                          npu::Result<npu::network::Tensor>& tensor) {
  tensor = npu::network::read_tensor(file);
}
