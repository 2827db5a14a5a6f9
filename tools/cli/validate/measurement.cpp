// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/validate/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <numeric>
#include <sstream>

#include "npu/base/shortened.hpp"
#include "tools/reports/csv_file.hpp"

namespace npu::validate {
namespace {

using nlohmann::json;

const std::vector<std::string> kColumns{"id",    "sku",    "op",    "shape",
                                        "dtype", "metric", "value", "unit"};
const std::vector<std::string> kNetworkColumns{"sku",    "cards", "model_op", "shape_batch_context",
                                               "metric", "value", "unit"};

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// "S0=S1=1024", "D128": the number at the end belongs to all names before it.
void add_sides(const std::string& word, std::map<std::string, std::uint64_t>& sides) {
  const auto equals = word.rfind('=');
  auto digits = equals == std::string::npos ? word.size() : equals + 1;
  if (equals == std::string::npos) {
    while (digits > 0 && is_digit(word[digits - 1])) --digits;
  }
  std::string number = word.substr(digits);
  const std::string unit = number.size() > 3 ? number.substr(number.size() - 3) : std::string();
  const std::uint64_t factor = unit == "KiB" ? 1024 : unit == "MiB" ? 1024 * 1024 : 1;
  if (factor != 1) number.resize(number.size() - 3);
  const bool whole =
      !number.empty() && number.size() < 16 && std::all_of(number.begin(), number.end(), is_digit);
  if (!whole) return;
  std::istringstream names(word.substr(0, equals == std::string::npos ? digits : equals));
  for (std::string name; std::getline(names, name, '=');)
    sides[name] = factor * std::stoull(number);
}

std::vector<std::uint64_t> sides_of(const json& tensor) {
  std::vector<std::uint64_t> sides;
  if (!tensor.is_array()) return sides;
  for (const auto& side : tensor) {
    if (!side.is_number_unsigned()) return {};
    sides.push_back(side.get<std::uint64_t>());
  }
  return sides;
}

void read_shape(Measurement& row) {
  const auto list = json::parse(row.shape, nullptr, false);
  if (list.is_array() && !list.empty()) {
    const bool single = list[0].is_number();  // the shape of one tensor
    for (const auto& tensor : single ? json::array({list}) : list) {
      row.tensors.push_back(sides_of(tensor));
    }
    return;
  }
  std::istringstream words(row.shape);
  // "x=[1024,1024] w=[32,1024,4096]"
  std::istringstream tensors(row.shape);
  for (std::string word; tensors >> word;) {
    const auto begin = word.find("=[");
    if (begin == std::string::npos) continue;
    const auto sides = json::parse(word.substr(begin + 1), nullptr, false);
    if (sides.is_array()) row.tensors.push_back(sides_of(sides));
  }
  if (!row.tensors.empty()) return;
  std::string before;
  for (std::string word; words >> word; before = word) {
    while (!word.empty() && word.back() == ',') word.pop_back();
    if (word == "elements") add_sides(word + "=" + before, row.sides);  // "4096 elements"
    if (!word.empty() && is_digit(word[0])) {                           // "64KiB"
      const auto unit = word.find_first_not_of("0123456789");
      if (unit != std::string::npos) {
        add_sides(word.substr(unit) + "=" + word.substr(0, unit), row.sides);
      }
    }
    add_sides(word, row.sides);
  }
}

void read_types(Measurement& row, const std::string& text) {
  const auto list = json::parse(text, nullptr, false);
  if (!list.is_array()) {
    row.types.push_back(text);
    return;
  }
  for (const auto& type : list) row.types.push_back(type.is_string() ? type : json(""));
}

Result<double> number_of(const std::string& text) {
  try {
    std::size_t used = 0;
    const double value = std::stod(text, &used);
    if (used == text.size() && std::isfinite(value) && value > 0) return value;
  } catch (const std::exception&) {  // said below
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("value: found '{}'; wanted is a number above 0", shortened(text)));
}

Result<Measurement> network_row_of(const reports::CsvRow& fields) {
  Measurement row;
  row.network = true;
  row.id = fmt::format("row-{}", fields.line);
  row.sku = fields.at("sku");
  row.cards = fields.at("cards");
  row.op = fields.at("model_op");
  row.shape = fields.at("shape_batch_context");
  row.metric = fields.at("metric");
  row.unit = fields.at("unit");
  row.note = fields.at("note");
  row.source = fields.at("source");
  row.text = fields.at("value");
  const auto value = number_of(row.text);
  if (!value) return forward_error(value);
  row.value = *value;
  return row;
}

Result<Measurement> measurement_of(const reports::CsvRow& fields) {
  Measurement row;
  row.id = fields.at("id");
  row.sku = fields.at("sku");
  row.op = fields.at("op");
  row.metric = fields.at("metric");
  row.unit = fields.at("unit");
  row.note = fields.at("note") + fields.at("notes");
  row.cache = fields.at("l2");
  row.text = fields.at("value");
  row.shape = fields.at("shape");
  const auto value = number_of(row.text);
  if (!value) return forward_error(value);
  row.value = *value;
  auto attributes = nlohmann::json::parse(fields.at("attrs"), nullptr, false);
  if (attributes.is_object()) row.attributes = std::move(attributes);
  read_shape(row);
  read_types(row, fields.at("dtype"));
  return row;
}

}  // namespace

std::uint64_t Measurement::elements(std::size_t tensor) const {
  if (!has(tensor)) return 0;
  const auto& all = tensors[tensor];
  return std::accumulate(all.begin(), all.end(), std::uint64_t{1}, std::multiplies<>());
}

Result<std::vector<Measurement>> load_measurements(const std::string& path) {
  const auto table = reports::load_csv(path);
  if (!table) return forward_error(table);
  std::vector<Measurement> rows;
  for (const auto& fields : *table) {
    const auto refuse = [&](const std::string& why) {
      return fail(ErrorCode::kInvalidArgument, fmt::format("{}:{}: {}", path, fields.line, why));
    };
    const bool network = fields.fields.count("model_op") != 0;
    for (const auto& column : network ? kNetworkColumns : kColumns) {
      if (fields.fields.count(column) == 0) return refuse(fmt::format("no column '{}'", column));
    }
    auto row = network ? network_row_of(fields) : measurement_of(fields);
    if (!row) return refuse(row.error().context);
    row->file = path;
    row->line = fields.line;
    rows.push_back(std::move(*row));
  }
  return rows;
}

}  // namespace npu::validate
