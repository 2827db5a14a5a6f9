// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/tensor_dump.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

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

tl::unexpected<Error> cannot_write(const std::string& file) {
  return fail(ErrorCode::kInvalidArgument, "dump_tensors=" + file + ": cannot be written");
}

bool can_write(const std::string& file) {
  std::error_code code;
  const bool is_new = fs::symlink_status(file, code).type() == fs::file_type::not_found;
  const bool opened = std::ofstream(file, std::ios::binary | std::ios::app).is_open();
  if (opened && is_new) fs::remove(file, code);
  return opened;
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
    if (!can_write(file)) return cannot_write(file);
  }
  return {};
}

Status write_tensor_dump(const std::string& path, const std::vector<driver::TensorCopy>& copies,
                         const std::vector<std::string>& names,
                         const std::vector<Tensor>& tensors) {
  std::ofstream data(data_of(path), std::ios::binary);
  std::ofstream index(path, std::ios::binary);
  index << "{\n  \"schema\": \"" << kTensorDumpSchema
        << "\",\n  \"data\": " << text_of(fs::path(data_of(path)).filename().string())
        << ",\n  \"tensors\": [";
  Bytes offset = 0;
  const char* between = "\n    ";
  for (const auto& copy : copies) {
    if (!copy.taken) continue;
    const auto task = copy.task.value;
    auto entry = entry_of(copy, task < names.size() ? names[task] : std::string(),
                          tensor_at(tensors, copy.tensor.value));
    entry["offset"] = offset;
    entry["bytes"] = copy.bytes.size();
    index << between << text_of(entry);
    between = ",\n    ";
    data.write(reinterpret_cast<const char*>(copy.bytes.data()),
               static_cast<std::streamsize>(copy.bytes.size()));
    offset += copy.bytes.size();
  }
  index << "\n  ]\n}\n" << std::flush;
  if (!data.flush()) return cannot_write(data_of(path));
  if (!index) return cannot_write(path);
  return {};
}

}  // namespace npu::workloads
