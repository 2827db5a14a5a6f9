// SPDX-License-Identifier: Apache-2.0
#include "kernels/operators/description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "kernels/operators/tensor_reader.hpp"
#include "model/config/yaml_document.hpp"
#include "npu/base/nearest_name.hpp"
#include "npu/base/shortened.hpp"
#include "npu/base/text.hpp"
#include "npu/operators/tensor_params.hpp"

namespace npu::operators {
namespace {

using model::YamlNode;

// In the order of Family.
constexpr const char* kFamilies[] = {"matmul",
                                     "batched",
                                     "grouped",
                                     "splitk",
                                     "quant",
                                     "gemv",
                                     "vector",
                                     "softmax",
                                     "rms_norm",
                                     "swi_glu",
                                     "dynamic_quant",
                                     "add_rms_norm",
                                     "add_rms_norm_dynamic_quant",
                                     "dequant_swiglu_quant",
                                     "attention",
                                     "broadcast",
                                     "transpose",
                                     "softmax_axis",
                                     "group_norm",
                                     "adam_w",
                                     "layer_norm",
                                     "gather",
                                     "cache_write",
                                     "tensors"};
constexpr const char* kCores[] = {"cube", "vector", "mixed"};  // in the order of KernelType
constexpr std::size_t kLongestName = 64;
constexpr std::uint64_t kMostRoundings = 65'536;
// What every operator is compiled with, and what its headers define (device/common/macros.hpp).
constexpr const char* kOwnMacros[] = {"KERNEL_NAME", "ELEMENT_A", "ELEMENT_C", "ELEMENTS",
                                      "LAYOUTS",     "TEXT",      "QUOTE"};

bool is_name(const std::string& text) {
  return text.size() <= kLongestName && is_identifier(text);
}

// One operator. What is wrong is thrown away with it: the first error is kept.
class RowReader {
 public:
  RowReader(std::string file, std::string folder) : file_(std::move(file)) {
    row_.folder = std::move(folder);
    row_.file = std::filesystem::path(file_).stem().string() + ".cpp";
  }

  Result<OperatorRow> read(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::kMap) return refuse(node, "", "a map with a name");
    std::set<std::string> seen;
    for (const auto& [key, place, value] : node.entries) {
      if (!seen.insert(key).second) {
        return error({place.file, place.line, place.column, key, "is there twice", "", "", ""});
      }
      if (auto ok = take(key, place, value); !ok) return forward_error(ok);
    }
    for (const char* needed : {"name", "sides", "inputs"}) {
      if (seen.count(needed) == 0) return refuse(node, needed, "it is missing");
    }
    if (seen.count("results") == 0) {
      if (row_.described()) return refuse(node, "results", "it is missing");
      row_.results.push_back({"result", "", "", ""});
    }
    if (!row_.described()) return row_;
    if (auto ok = tensors_.check(row_); !ok) return forward_error(ok);
    return row_;
  }

 private:
  static tl::unexpected<Error> error(const model::ConfigError& what) {
    return fail(ErrorCode::kInvalidArgument, what.message());
  }
  static tl::unexpected<Error> refuse(const YamlNode& at, const std::string& key,
                                      const std::string& problem) {
    return error({at.place.file, at.place.line, at.place.column, key, problem, "", "", ""});
  }
  static tl::unexpected<Error> found(const YamlNode& at, const std::string& key,
                                     const std::string& allowed) {
    return error(
        {at.place.file, at.place.line, at.place.column, key, "", describe(at), allowed, ""});
  }

  Status take(const std::string& key, const model::SourcePlace& place, const YamlNode& value) {
    if (key == "inputs" || key == "results") {
      return tensors_.take(key, value, !row_.described(), row_);
    }
    if (key == "macros") return take_macros(value);
    struct Text {
      const char* key;
      Status (RowReader::*take)(const YamlNode&);
    };
    constexpr Text kTexts[] = {{"name", &RowReader::take_name},
                               {"source", &RowReader::take_source},
                               {"cores", &RowReader::take_cores},
                               {"sides", &RowReader::take_sides},
                               {"out", &RowReader::take_out},
                               {"types", &RowReader::take_types},
                               {"roundings", &RowReader::take_roundings},
                               {"parameters", &RowReader::take_family},
                               {"expression", &RowReader::take_expression}};
    std::vector<std::string> known{"inputs", "results", "macros"};
    const std::size_t own = row_.described() ? 2 : 0;  // the last two are of npusim's own
    for (std::size_t i = 0; i + own < std::size(kTexts); ++i) {
      const Text& text = kTexts[i];
      if (key != text.key) {
        known.emplace_back(text.key);
        continue;
      }
      if (value.kind != YamlNode::Kind::kScalar) return found(value, key, "text");
      return (this->*text.take)(value);
    }
    return error({place.file, place.line, place.column, key, "no such key", "", "",
                  nearest_name(key, known)});
  }

  Status take_name(const YamlNode& value) {
    row_.name = value.text;
    if (is_name(row_.name)) return {};
    return found(value, "name", fmt::format("a C identifier of at most {} letters", kLongestName));
  }
  Status take_source(const YamlNode& value) {
    row_.file = value.text;
    return {};
  }
  Status take_expression(const YamlNode& value) {
    row_.expression = value.text;
    return {};
  }
  Status take_cores(const YamlNode& value) {
    const auto* at = std::find(std::begin(kCores), std::end(kCores), value.text);
    if (at == std::end(kCores)) return found(value, "cores", "cube, vector, mixed");
    row_.type = static_cast<jit::KernelType>(at - std::begin(kCores));
    return {};
  }
  Status take_family(const YamlNode& value) {
    const auto* at = std::find(std::begin(kFamilies), std::end(kFamilies), value.text);
    if (at == std::end(kFamilies)) return found(value, "parameters", "a family's name");
    row_.family = static_cast<Family>(at - std::begin(kFamilies));
    return {};
  }
  Status take_sides(const YamlNode& value) {
    row_.sides = value.text;
    if (!row_.described()) return {};
    const auto names = names_of(row_.sides);
    const bool named = std::all_of(names.begin(), names.end(), is_name);
    const bool once = std::set<std::string>(names.begin(), names.end()).size() == names.size();
    if (named && once && names.size() <= kTensorSides) return {};
    return found(value, "sides", fmt::format("1 to {} names, each once", kTensorSides));
  }
  Status take_out(const YamlNode& value) {
    const auto type = parse_type(value.text);
    if (!type) return refuse(value, "out", type.error().context);
    row_.out = value.text;
    return {};
  }
  Status take_types(const YamlNode& value) {
    for (const auto& name : names_of(value.text)) {
      const auto type = parse_type(name);
      if (!type) return refuse(value, "types", type.error().context);
      row_.types.push_back(*type);
    }
    return {};
  }
  Status take_roundings(const YamlNode& value) {
    const auto read = read_number<decltype(row_.roundings)>(value.text);
    if (!read || *read > kMostRoundings) {
      return found(value, "roundings", fmt::format("0 to {}", kMostRoundings));
    }
    row_.roundings = *read;
    return {};
  }

  Status take_macros(const YamlNode& value) {
    if (value.kind != YamlNode::Kind::kMap) return found(value, "macros", "a map");
    for (const auto& [name, place, text] : value.entries) {
      if (text.kind != YamlNode::Kind::kScalar) return found(text, "macros." + name, "text");
      const bool is_own =
          std::find(std::begin(kOwnMacros), std::end(kOwnMacros), name) != std::end(kOwnMacros);
      if (row_.described() && is_own) {
        return error({place.file, place.line, place.column, "macros." + name,
                      name + " is npusim's own", "", "", ""});
      }
      if (row_.macros.count("NPU_JIT_" + name) != 0) {
        return error(
            {place.file, place.line, place.column, "macros." + name, "is there twice", "", "", ""});
      }
      row_.macros["NPU_JIT_" + name] = text.text;
      // Its own rules: no '&', no control characters.
      const auto key = jit::key_text({{"NPU_JIT_" + name, text.text}}, 0, row_.type);
      if (!key) return refuse(text, "macros." + name, key.error().context);
    }
    return {};
  }

  const std::string file_;
  OperatorRow row_;
  TensorReader tensors_;
};

}  // namespace

bool is_tensor_name(const std::string& text) {
  return is_name(text);
}

Result<std::vector<OperatorRow>> read_descriptions(const std::string& file,
                                                   const std::string& folder) {
  const auto document = model::read_yaml_file(file);
  if (!document) return fail(ErrorCode::kInvalidArgument, document.error().message());
  const bool several = document->kind == YamlNode::Kind::kSequence;
  std::vector<OperatorRow> rows;
  for (std::size_t i = 0; i < (several ? document->items.size() : 1); ++i) {
    auto row = RowReader(file, folder).read(several ? document->items[i] : *document);
    if (!row) return forward_error(row);
    rows.push_back(std::move(*row));
  }
  return rows;
}

}  // namespace npu::operators
