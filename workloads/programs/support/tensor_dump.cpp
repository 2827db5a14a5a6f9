// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/tensor_dump.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tools/reports/output_file.hpp"
#include "workloads/programs/support/elements.hpp"

namespace npu::workloads {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string data_of(const std::string& path) {
  return path + ".bin";
}

// Names are the file's, whatever bytes they consist of.
std::string text_of(const Json& json) {
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

Result<reports::OutputFile> open_file(const std::string& path) {
  return reports::OutputFile::open("dump_tensors=", path);
}

const Tensor* tensor_at(const std::vector<Tensor>& tensors, std::uint64_t address) {
  const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const Tensor& tensor) {
    return address >= tensor.address.value && address - tensor.address.value < tensor.bytes();
  });
  return found == tensors.end() ? nullptr : &*found;
}

Json entry_of(const driver::TensorCopy& copy, const std::string& name, const Tensor* tensor) {
  Json entry;
  entry["task"] = copy.task.value;
  entry["name"] = name;
  entry["argument"] = copy.argument;
  entry["stage"] =
      copy.stage == abi::DumpStage::kBeforeDispatch ? "before_dispatch" : "after_completion";
  if (tensor != nullptr) {
    const Bytes size = platform::bytes_of(tensor->spec->type);
    entry["tensor"] = tensor->spec->name;
    entry["type"] = name_of(tensor->spec->type);
    entry["first_element"] = (copy.tensor.value - tensor->address.value) / size;
    entry["elements"] = copy.bytes.size() / size;
  }
  entry["ticks"] = copy.ticks;
  return entry;
}

}  // namespace

Status check_tensor_dump(const std::string& path) {
  for (const auto& file : {path, data_of(path)}) {
    if (const auto opened = open_file(file); !opened) return forward_error(opened);
  }
  return {};
}

Status write_tensor_dump(const std::string& path, const std::vector<driver::TensorCopy>& copies,
                         const std::vector<std::string>& names,
                         const std::vector<Tensor>& tensors) {
  auto data = open_file(data_of(path));
  if (!data) return forward_error(data);
  auto index = open_file(path);
  if (!index) return forward_error(index);
  std::string text = std::string("{\n  \"schema\": \"") + kTensorDumpSchema +
                     "\",\n  \"data\": " + text_of(fs::path(data_of(path)).filename().string()) +
                     ",\n  \"tensors\": [";
  Bytes offset = 0;
  const char* between = "\n    ";
  for (const auto& copy : copies) {
    if (!copy.taken) continue;
    const auto task = copy.task.value;
    auto entry = entry_of(copy, task < names.size() ? names[task] : std::string(),
                          tensor_at(tensors, copy.tensor.value));
    entry["offset"] = offset;
    entry["bytes"] = copy.bytes.size();
    text += between + text_of(entry);
    between = ",\n    ";
    if (auto ok = data->append({copy.bytes.data(), copy.bytes.size()}); !ok) return ok;
    offset += copy.bytes.size();
  }
  if (auto ok = index->append(text + "\n  ]\n}\n"); !ok) return ok;
  if (auto ok = data->commit(); !ok) return ok;
  return index->commit();
}

}  // namespace npu::workloads
